"""Reading and writing: the same baskets in every layout, beside Polars that only loads or saves the file.

    python -m benchmarks.reading                      a million baskets
    python -m benchmarks.reading --records 10000000   ten million

Quest baskets (T10.I4, 1,000 items). Every line is one process, with kernels compiled: seconds on the clock, CPU
seconds, peak memory, with one thread and with all. Polars loads columns of text; it does not check lines,
number items or sort records. Writing starts from a file of numbers: reading that is part of every second line.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.commands import SETVEIL, run_timed

LAYOUTS = {"fimi": ".dat", "long": ".csv", "parquet": ".parquet"}
WRITE = """
import sys, setveil
from setveil.core import Layout
from setveil.io.transactions.writing import write_transactions
write_transactions(setveil.read(sys.argv[1], format="fimi"), sys.argv[2], Layout(sys.argv[3]))
"""
READ = "import sys, setveil; print(setveil.read(sys.argv[1], format=sys.argv[2]))"
SAVED = {
    "long": 'pl.DataFrame({"item": items}).with_row_index("id").explode("item").write_csv(sys.argv[2])',
    "parquet": 'pl.DataFrame({"items": items}).write_parquet(sys.argv[2])',
}
LOADED = {
    "fimi": 'pl.read_csv(sys.argv[1], has_header=False, separator="\\t").to_series().str.split(" ")',
    "long": "pl.read_csv(sys.argv[1], infer_schema=False)",
    "parquet": "pl.read_parquet(sys.argv[1])",
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time and memory of reading the same baskets in several layouts.")
    parser.add_argument("--records", type=int, default=1_000_000)
    n_records = parser.parse_args().records
    print(f"{'layout':12}{'who':10}{'threads':>8}{'seconds':>9}{'CPU s':>9}{'MB':>7}")
    with tempfile.TemporaryDirectory() as temporary:
        baskets, out = Path(temporary) / "quest.dat", Path(temporary) / "stdout"
        run_timed([*SETVEIL, "generate", "quest", "-D", str(n_records), "-o", str(baskets)], out, {})
        for layout, suffix in LAYOUTS.items():
            path = baskets.with_suffix(suffix)
            if layout != "fimi":
                saved = f"import sys, polars as pl; items = {LOADED['fimi']}; {SAVED[layout]}"
                programs = {"Polars": saved, "setveil": WRITE}  # the file that is read next comes last
                measure(f"to {layout}", programs, [str(baskets), str(path), layout], out)
            programs = {"Polars": f"import sys, polars as pl; {LOADED[layout]}", "setveil": READ}
            measure(layout, programs, [str(path), layout], out)


def measure(what: str, programs: dict[str, str], arguments: list[str], out: Path) -> None:
    """A line for each program and number of threads."""
    for who, program in programs.items():
        for n_threads in (1, os.cpu_count() or 1):
            environment = {"NUMBA_NUM_THREADS": str(n_threads), "POLARS_MAX_THREADS": str(n_threads)}
            command = [sys.executable, "-c", program, *arguments]
            status, seconds, cpu, megabytes = run_timed(command, out, environment)
            shown = f"{seconds:>9.1f}{cpu:>9.1f}{megabytes:>7.0f}" if status == 0 else f"  exit {status}"
            print(f"{what:12}{who:10}{n_threads:>8}{shown}", flush=True)


if __name__ == "__main__":
    main()
