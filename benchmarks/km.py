"""k^m-anonymity: CPU time, memory and loss of whole commands (start, read, anonymize, verify, write).

    python -m benchmarks.km --data DIR             the data sets of the papers, a few minutes
    python -m benchmarks.km --data DIR --full      also growth in records, items, m and k, and cold starts

Every line is one run of ``setveil anonymize`` in a process of its own. Warm means that kernels have been compiled by
an earlier run, cold that the folder for compiled kernels is empty. CPU time is user plus system time of that process.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import setveil as sv
from benchmarks.commands import SETVEIL, run_measured

ALGORITHMS = ("aa", "aa+refine", "optimal")
HEADER = f"{'data':24}{'algorithm':14}{'k':>4}{'m':>4}{'CPU s':>9}{'MB':>7}{'NCP':>11}  note"


@dataclass(frozen=True)
class Run:
    """One command to measure."""

    name: str
    path: Path
    algorithm: str
    k: int
    m: int
    hierarchy: str = "fanout:5"
    environment: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def measure(self, folder: Path) -> str:
        """The line of the table."""
        command = [*SETVEIL, "anonymize", str(self.path), "-o", str(folder / "out"), "--force", "--json"]
        command += ["--model", "km", "-k", str(self.k), "-m", str(self.m)]
        command += ["--algorithm", self.algorithm, "--hierarchy", self.hierarchy]
        status, cpu, megabytes, output = run_measured(command, folder / "stdout", self.environment)
        head = f"{self.name:24}{self.algorithm:14}{self.k:>4}{self.m:>4}{cpu:>9.2f}{megabytes:>7.0f}"
        if status:
            return f"{head}{'':>11}  exit {status}"
        answer = json.loads(output)
        details = answer.get("details", {})
        proven = "" if self.algorithm != "optimal" else "proven" if details["proven"] else f"gap {details['gap']:.4f}"
        return f"{head}{answer['metrics']['ncp']:>11.6f}  {self.note}{proven}"


def data_sets(data: Path, algorithms: tuple[str, ...]) -> Iterator[Run]:
    """The data sets of the papers, each with all algorithms."""
    taxonomy = str(data / "groceries_taxonomy.csv")
    for name, file, hierarchy in (
        ("BMS-WebView-1", "BMS1.dat.gz", "fanout:5"),
        ("BMS-WebView-2", "BMS2.dat.gz", "fanout:5"),
        ("groceries, taxonomy", "groceries.csv.gz", taxonomy),
        ("mushroom", "mushroom.dat.gz", "fanout:5"),
        ("BMS-WebView-1, auto", "BMS1.dat.gz", "auto"),
    ):
        for m in (2, 3):
            for algorithm in algorithms:
                yield Run(name, data / file, algorithm, 5, m, hierarchy)


def growth(data: Path, folder: Path, algorithms: tuple[str, ...]) -> Iterator[Run]:
    """One thing grows, the others stay: records, items, m, k."""
    bms2 = sv.read(data / "BMS2.dat.gz")
    rows = [bms2.record(number).tolist() for number in range(bms2.n_records)]
    for n_records in (10_000, 20_000, 40_000, bms2.n_records):
        path = write_fimi(folder / f"records{n_records}.dat", rows[:n_records])
        for algorithm in algorithms:
            yield Run(f"{n_records:,} records", path, algorithm, 5, 2)
    for n_items in (50, 200, 800, bms2.n_items):
        path = write_fimi(folder / f"items{n_items}.dat", [{item % n_items for item in row} for row in rows])
        for algorithm in algorithms:
            yield Run(f"{n_items:,} items", path, algorithm, 5, 2)
    for m in (1, 2, 3, 4):
        for algorithm in algorithms:
            yield Run("growing m", data / "BMS1.dat.gz", algorithm, 5, m)
    for k in (2, 5, 10, 25, 50, 100):
        for algorithm in algorithms:
            yield Run("growing k", data / "BMS1.dat.gz", algorithm, k, 2)


def cold_starts(data: Path, folder: Path, algorithms: tuple[str, ...]) -> Iterator[Run]:
    """The first run of all: kernels are compiled."""
    for algorithm in algorithms:
        environment = {"NUMBA_CACHE_DIR": tempfile.mkdtemp(dir=folder)}
        yield Run("BMS-WebView-1", data / "BMS1.dat.gz", algorithm, 5, 2, environment=environment, note="cold ")


def write_fimi(path: Path, rows: list[list[int]] | list[set[int]]) -> Path:
    """Records as lines of numbers."""
    path.write_text("".join(" ".join(map(str, sorted(row))) + "\n" for row in rows))
    return path


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="CPU time, memory and loss of k^m-anonymity.")
    parser.add_argument("--data", type=Path, default=os.environ.get("SETVEIL_DATA"), help="folder of the data sets")
    parser.add_argument("--full", action="store_true", help="also growth and cold starts")
    parser.add_argument("--algorithms", default=",".join(ALGORITHMS), help="which, separated by commas")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data DIR or set SETVEIL_DATA")
    algorithms = tuple(options.algorithms.split(","))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for algorithm in algorithms:  # so that the rest is warm
            Run("", options.data / "mushroom.dat.gz", algorithm, 5, 3).measure(folder)
        print(HEADER)
        for run in data_sets(options.data, algorithms):
            print(run.measure(folder), flush=True)
        if options.full:
            for run in (*growth(options.data, folder, algorithms), *cold_starts(options.data, folder, algorithms)):
                print(run.measure(folder), flush=True)


if __name__ == "__main__":
    main()
