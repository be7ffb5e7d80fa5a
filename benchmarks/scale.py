"""Growth in records: whole commands from ten thousand to ten million baskets.

    python -m benchmarks.scale                       10^4 to 10^6 records, some minutes
    python -m benchmarks.scale --largest 10000000    also ten million

Quest baskets (T10.I4, 1,000 items), fan-out 5, k = 5. Every line is one command in a process of its own, with kernels
compiled: seconds on the clock, CPU seconds, peak memory, with one thread and with all. The last column sets the
command beside a plain Polars program that only counts all pairs of items of the same file, read by Polars too: what
anybody would write, and a small part of what the command does.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.commands import SETVEIL, run_timed

PLAIN = """
import sys
import polars as pl
rows = pl.read_csv(sys.argv[1], has_header=False, separator="\\t", new_columns=["row"]).with_row_index("record")
long = rows.with_columns(pl.col("row").str.split(" ")).explode("row")
long = long.with_columns(pl.col("row").cast(pl.Categorical).to_physical().alias("item")).select("record", "item")
pairs = long.join(long, on="record").filter(pl.col("item") < pl.col("item_right"))
print(pairs.group_by("item", "item_right").len().filter(pl.col("len") < 5).height)
"""


def commands(path: Path, out: Path) -> dict[str, list[str]]:
    """What is measured, by name."""
    anonymize = [*SETVEIL, "anonymize", str(path), "-o", str(out), "--force", "--model", "km", "-k", "5"]
    aa = ["--algorithm", "aa", "--hierarchy", "fanout:5"]
    return {
        "anonymize m=3": [*anonymize, "-m", "3", *aa],
        "anonymize m=2": [*anonymize, "-m", "2", *aa],
        "verify": [*SETVEIL, "verify", str(out)],
        "risk, 1 to 4 known": [*SETVEIL, "risk", str(path)],
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Growth of whole commands in the number of records.")
    parser.add_argument("--largest", type=int, default=1_000_000, help="number of records of the largest file")
    parser.add_argument("--plain", type=int, default=1_000_000, help="largest file the plain program is run on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print(f"{'records':>11}  {'command':20}{'threads':>8}{'seconds':>9}{'CPU s':>9}{'MB':>7}  beside plain Polars")
        n_records = 10_000
        while n_records <= options.largest:
            measure(folder, n_records, n_records <= options.plain)
            n_records *= 10


def measure(folder: Path, n_records: int, with_plain: bool) -> None:
    """The lines of one size."""
    path, out = folder / f"quest{n_records}.dat", folder / "out"
    run_timed([*SETVEIL, "generate", "quest", "-D", str(n_records), "-o", str(path)], folder / "stdout", {})
    plain = 0.0
    if with_plain:
        status, plain, cpu, megabytes = run_timed([sys.executable, "-c", PLAIN, str(path)], folder / "stdout", {})
        shown = f"{plain:>9.1f}{cpu:>9.1f}{megabytes:>7.0f}" if status == 0 else f"  exit {status}"
        print(f"{n_records:>11,}  {'pairs in Polars':20}{os.cpu_count():>8}{shown}", flush=True)
    for name, command in commands(path, out).items():
        for n_threads in (1, os.cpu_count() or 1):
            environment = {"NUMBA_NUM_THREADS": str(n_threads), "POLARS_MAX_THREADS": str(n_threads)}
            status, seconds, cpu, megabytes = run_timed(command, folder / "stdout", environment)
            ratio = f"  {seconds / plain:.2f}" if plain and status == 0 else ""
            shown = f"{seconds:>9.1f}{cpu:>9.1f}{megabytes:>7.0f}{ratio}" if status == 0 else f"  exit {status}"
            print(f"{n_records:>11,}  {name:20}{n_threads:>8}{shown}", flush=True)
    path.unlink()


if __name__ == "__main__":
    main()
