"""The default of k^m-anonymity on every data set, beside ``aa`` and beside reading and counting alone.

    python -m benchmarks.default --data DIR                       all data sets, k = 5, m = 2
    python -m benchmarks.default --data DIR --only retail --repeat 3

Whole commands in processes of their own, one after the other, ``--repeat`` times; the least CPU time (user plus system)
of each counts. The yardstick reads the file with Polars and counts all pairs of items with SciPy. Columns: CPU seconds
of the yardstick, of ``aa``, of the default with the hierarchy and without one; then the default as a multiple of
``aa``, and without a hierarchy as a multiple of the yardstick.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.commands import SETVEIL, run_measured
from benchmarks.data_sets import DataSet, data_sets

YARDSTICK = """
import sys
import numpy as np
import polars as pl
from scipy.sparse import csr_array
if ".csv" in sys.argv[1]:
    long = pl.read_csv(sys.argv[1])
    long = long.select(pl.col(long.columns[0]).rank("dense").alias("record") - 1, pl.col(long.columns[1]).alias("row"))
else:
    rows = pl.read_csv(sys.argv[1], has_header=False, separator="\\t", new_columns=["row"]).with_row_index("record")
    long = rows.with_columns(pl.col("row").str.split(" ")).explode("row")
item = long["row"].cast(pl.Categorical).to_physical().to_numpy()
entries = csr_array((np.ones(len(item), dtype=np.int32), (long["record"].to_numpy(), item)))
pairs = entries.T @ entries
print(np.count_nonzero(pairs.data < 5))
"""


def commands(data: DataSet, out: Path) -> dict[str, list[str]]:
    """What is measured, by name."""
    anonymize = [
        *SETVEIL,
        "anonymize",
        str(data.path),
        "-o",
        str(out),
        "--force",
        "--model",
        "km",
        "-k",
        "5",
        "-m",
        "2",
    ]
    return {
        "yardstick": [sys.executable, "-c", YARDSTICK, str(data.path)],
        "aa": [*anonymize, "--algorithm", "aa", "--hierarchy", data.hierarchy],
        "default": [*anonymize, "--hierarchy", data.hierarchy],
        "no tree": anonymize,
    }


def measure(data: DataSet, folder: Path, repeat: int, environment: dict[str, str]) -> str:
    """The line of one data set."""
    least: dict[str, float] = {}
    for _ in range(repeat):
        for name, command in commands(data, folder / "out").items():
            status, cpu, _, _ = run_measured(command, folder / "stdout", environment)
            least[name] = min(least.get(name, float("inf")), cpu if status == 0 else float("inf"))
    plain, aa, default, bare = least.values()
    return f"{data.name:12}{plain:>10.2f}{aa:>8.2f}{default:>9.2f}{bare:>9.2f}{default / aa:>8.1f}{bare / plain:>11.1f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The default of k^m-anonymity beside aa and plain counting.")
    parser.add_argument("--data", type=Path, default=os.environ.get("SETVEIL_DATA"), help="folder of the data sets")
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("--repeat", type=int, default=2, help="runs of each command; the first one also compiles")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="threads of each command")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data DIR or set SETVEIL_DATA")
    environment = {"NUMBA_NUM_THREADS": str(options.threads), "POLARS_MAX_THREADS": str(options.threads)}
    print(f"{'data':12}{'yardstick':>10}{'aa':>8}{'default':>9}{'no tree':>9}{'x aa':>8}{'x yardst.':>11}")
    with tempfile.TemporaryDirectory() as temporary:
        for data in data_sets(options.data, Path(temporary)):
            if not options.only or data.name in options.only.split(","):
                print(measure(data, Path(temporary), options.repeat, environment), flush=True)


if __name__ == "__main__":
    main()
