"""Privacy and utility constraints: CPU time, peak memory and loss of pcta, pcta+, coat and aa.

    python -m benchmarks.constraints --data DIR            BMS-WebView-1: k, m, PR1–PR9, UR1–UR5; a few minutes
    python -m benchmarks.constraints --data DIR --full     also more k and m, parts of the data, BMS-WebView-2

Every line is one run in a process of its own, with kernels compiled by earlier runs. CPU time is that of the algorithm
alone. Memory is the peak of the process. AvgRE is the mean relative error of 1,000 queries for five items, workloads T
and I.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import setveil as sv
from setveil.algorithms.constraints.generators import PAIR_SHARES, SIZE_SHARES, occurring, random_mix, random_pairs
from setveil.core import Transactions
from setveil.utility.avg_re import avg_re, workload_i, workload_t

UTILITY_SIZES = {"UR1": 25, "UR2": 50, "UR3": 125, "UR4": 250, "UR5": 500}
HEADER = (
    f"{'data':8}{'ask':14}{'algorithm':11}{'k':>4}{'CPU s':>8}{'MB':>6}"
    f"{'NCP':>9}{'UL log2':>10}{'T':>9}{'I':>9}{'gone':>6}"
)


@dataclass(frozen=True)
class Run:
    """One algorithm on one ask: ``m=2``, ``PR1`` … ``PR9``, or ``UR1`` … ``UR5`` (utility groups, all pairs)."""

    path: Path
    algorithm: str
    k: int
    ask: str
    part: float = 1.0  # of the records, the first of a random order

    def measure(self) -> str:
        """The line of the table."""
        data = sv.read(self.path)
        if self.part < 1:
            order = np.random.default_rng(0).permutation(data.n_records)
            data = data.select(np.sort(order[: int(self.part * data.n_records)])).used_items()
        head = f"{self.path.name.partition('.')[0]:8}{self._ask():14}{self.algorithm:11}{self.k:>4}"
        model = self._model(data)
        hierarchy = "fanout:5" if self.algorithm == "aa" else None
        started = time.process_time()
        try:
            release = sv.anonymize(data, model, self.algorithm, hierarchy)
        except sv.InfeasibleError as problem:
            return f"{head}  infeasible: {problem}"
        seconds = time.process_time() - started
        metrics = sv.measure(data, release)
        errors = [avg_re(data, release, workload(data)) for workload in (workload_t, workload_i)]
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        loss = metrics.get("ul_log2")
        return (
            f"{head}{seconds:>8.2f}{megabytes:>6.0f}{metrics['ncp']:>9.5f}"
            f"{loss if loss is not None else float('nan'):>10.1f}"
            f"{errors[0]:>9.2f}{errors[1]:>9.2f}{release.details.get('suppressed_items', 0):>6}"
        )

    def _ask(self) -> str:
        return self.ask if self.part == 1 else f"{self.ask} {self.part:.0%}"

    def _model(self, data: Transactions) -> sv.PrivacyModel:
        if self.ask.startswith("m=") or self.algorithm == "aa":  # aa knows no constraints: all pairs
            return sv.KmAnonymity(self.k, int(self.ask[2:]) if self.ask.startswith("m=") else 2)
        if self.ask in UTILITY_SIZES:
            labels, size = list(data.vocabulary), UTILITY_SIZES[self.ask]
            groups = [labels[begin : begin + size] for begin in range(0, len(labels), size)]
            return sv.ConstraintAnonymity(self.k, list(occurring(data, 2)), groups, 15)
        if self.ask in PAIR_SHARES:
            return sv.ConstraintAnonymity(self.k, list(random_pairs(data, PAIR_SHARES[self.ask])))
        return sv.ConstraintAnonymity(self.k, list(random_mix(data, SIZE_SHARES[self.ask])))


def runs(folder: Path, full: bool) -> Iterator[Run]:
    """The table's lines, in order."""
    for name in ("BMS1.dat.gz", "BMS2.dat.gz")[: 2 if full else 1]:
        path = folder / name
        for k in (2, 5, 10, 25, 50) if full else (5, 25):
            yield from (Run(path, algorithm, k, "m=2") for algorithm in ("pcta", "pcta+", "coat", "aa"))
        for m in (1, 3) if full else (3,):
            yield from (Run(path, algorithm, 5, f"m={m}") for algorithm in ("pcta", "pcta+", "coat", "aa"))
        for ask in (*PAIR_SHARES, *SIZE_SHARES):
            yield from (Run(path, algorithm, 5, ask) for algorithm in ("pcta", "pcta+", "coat"))
        for ask in UTILITY_SIZES:
            yield from (Run(path, algorithm, 5, ask) for algorithm in ("upcta", "pcta+", "coat"))
        for part in (0.25, 0.5, 0.75) if full else ():
            yield from (Run(path, algorithm, 5, "m=2", part) for algorithm in ("pcta", "pcta+", "coat", "aa"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with BMS1.dat.gz and BMS2.dat.gz")
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    print(HEADER, flush=True)
    spawn = multiprocessing.get_context("spawn")
    for run in runs(arguments.data, arguments.full):
        with spawn.Pool(1) as pool:
            print(pool.apply(run.measure), flush=True)


if __name__ == "__main__":
    main()
