"""Growth in records: whole commands from ten thousand to ten million baskets.

    python -m benchmarks.scale                       10^4 to 10^6 records, some minutes
    python -m benchmarks.scale --largest 10000000    also ten million
    python -m benchmarks.scale --families 1000000    one algorithm of each family, and deep trees, on a million

Quest baskets (T10.I4, 1,000 items), fan-out 5, k = 5. Every line is one command in a process of its own, with kernels
compiled ("cold": with none): seconds on the clock, CPU seconds, peak memory, with one thread and with all. "growth" is
how many times longer it took than with a tenth of the records. The last column sets the command beside a plain program
that only counts all pairs of items of the same file, read by Polars: what anybody would write, and a small part of what
the command does. Two such programs are run: a join in Polars, and a product of sparse matrices in SciPy, which is
faster and counts in that column.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks.commands import SETVEIL, run_timed
from benchmarks.default import YARDSTICK

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
        "verify": [*SETVEIL, "verify", str(out)],  # of the release made last
        "risk, 1 to 4 known": [*SETVEIL, "risk", str(path)],
    }


def families(path: Path, out: Path, sensitive: Path) -> dict[str, list[str]]:
    """One command for each family of algorithms, and ``aa`` with deeper trees."""
    anonymize = [*SETVEIL, "anonymize", str(path), "-o", str(out), "--force", "--model"]
    km = [*anonymize, "km", "-k", "5", "-m", "2", "--algorithm"]
    degree = [*anonymize, "degree", "-p", "10", "--sensitive", str(sensitive), "--accept-guessable", "--algorithm"]
    return {
        "aa, fan-out 5": [*km, "aa", "--hierarchy", "fanout:5"],
        "aa, binary": [*km, "aa", "--hierarchy", "fanout:2"],
        "aa, auto": [*km, "aa", "--hierarchy", "auto"],
        "optimal": [*km, "optimal", "--hierarchy", "fanout:5"],
        "pcta+": [*km, "pcta+"],
        "trim": [*km, "trim"],
        "weave": [*anonymize, "k-anonymity", "-k", "5", "--algorithm", "weave"],
        "blocks": [*degree, "blocks"],
        "nn+": [*degree, "nn+"],
        "pluck, p = 2": [*anonymize, "uncertainty", "--rho", "1/5", "-p", "2", "--sensitive", str(sensitive)],
    }


class Line(NamedTuple):
    """One command, and what it is measured against; 0 where there is nothing."""

    n_records: int
    name: str
    n_threads: int
    before: float = 0.0  # seconds with a tenth of the records
    plain: float = 0.0  # seconds of the plain program

    def measure(self, command: list[str], folder: Path, environment: dict[str, str]) -> float:
        """Run it, print the line, and tell the seconds; 0 if it failed."""
        status, seconds, cpu, megabytes = run_timed(command, folder / "stdout", environment)
        growth = f"{seconds / self.before:.1f}" if self.before else ""
        ratio = f"{seconds / self.plain:.2f}" if self.plain else ""
        shown = (
            f"{seconds:>9.1f}{cpu:>9.1f}{megabytes:>7.0f}{growth:>8}{ratio:>8}" if status == 0 else f"  exit {status}"
        )
        print(f"{self.n_records:>11,}  {self.name:20}{self.n_threads:>8}{shown}", flush=True)
        return seconds if status == 0 else 0.0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Growth of whole commands in the number of records.")
    parser.add_argument("--largest", type=int, default=1_000_000, help="number of records of the largest file")
    parser.add_argument("--plain", type=int, default=1_000_000, help="largest file the plain program is run on")
    parser.add_argument("--families", type=int, metavar="N", help="the families on so many records, and nothing else")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if options.families:
            measure_families(folder, options.families)
            return
        head = f"{'records':>11}  {'command':20}{'threads':>8}{'seconds':>9}{'CPU s':>9}{'MB':>7}{'growth':>8}"
        print(f"{head}  beside SciPy")
        n_records, known = 10_000, dict[tuple[str, int], float]()
        while n_records <= options.largest:
            known = measure(folder, n_records, n_records <= options.plain, known)
            n_records *= 10


def measure(
    folder: Path, n_records: int, with_plain: bool, before: dict[tuple[str, int], float]
) -> dict[tuple[str, int], float]:
    """The lines of one size, and the seconds of each command with each number of threads; ``before``: of a tenth."""
    path, out = folder / f"quest{n_records}.dat", folder / "out"
    run_timed([*SETVEIL, "generate", "quest", "-D", str(n_records), "-o", str(path)], folder / "stdout", {})
    all_threads = os.cpu_count() or 1
    plain, found = 0.0, dict[tuple[str, int], float]()
    if with_plain:
        for name, program in (("pairs in Polars", PLAIN), ("pairs in SciPy", YARDSTICK)):
            command = [sys.executable, "-c", program, str(path)]
            plain = Line(n_records, name, all_threads).measure(command, folder, {})
    asked = commands(path, out)
    if not before:
        fresh = {"NUMBA_CACHE_DIR": str(folder / "nothing-compiled")}
        Line(n_records, "anonymize m=2, cold", all_threads).measure(asked["anonymize m=2"], folder, fresh)
    for name, command in asked.items():
        for n_threads in (1, all_threads):
            environment = {"NUMBA_NUM_THREADS": str(n_threads), "POLARS_MAX_THREADS": str(n_threads)}
            line = Line(n_records, name, n_threads, before.get((name, n_threads), 0.0), plain)
            found[name, n_threads] = line.measure(command, folder, environment)
    path.unlink()
    return found


def measure_families(folder: Path, n_records: int) -> None:
    """One line for each; the items 1 to 10 are the sensitive ones."""
    path, sensitive = folder / "quest.dat", folder / "sensitive.txt"
    sensitive.write_text("".join(f"{item}\n" for item in range(1, 11)), encoding="ascii")
    run_timed([*SETVEIL, "generate", "quest", "-D", str(n_records), "-o", str(path)], folder / "stdout", {})
    print(f"{'algorithm':16}{'seconds':>9}{'CPU s':>9}{'MB':>7}   {n_records:,} records")
    for name, command in families(path, folder / "out", sensitive).items():
        status, seconds, cpu, megabytes = run_timed(command, folder / "stdout", {})
        shown = f"{seconds:>9.1f}{cpu:>9.1f}{megabytes:>7.0f}" if status == 0 else f"  exit {status}"
        print(f"{name:16}{shown}", flush=True)


if __name__ == "__main__":
    main()
