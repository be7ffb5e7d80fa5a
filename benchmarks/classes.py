"""k-anonymity of whole records: loss and time of weave, pta, gsc and gray-tsp.

    python -m benchmarks.classes --data DIR             mushroom and chess over k and segments, generated baskets; a
                                                        minute
    python -m benchmarks.classes --data DIR --full      all data sets, more k, 100,000 baskets, and one million dense
                                                        records

Without ``--data`` only generated data is used. Loss: items added and removed in percent of the item occurrences of the
original. Time: CPU seconds of the algorithm alone, after a first run that compiles; wall-clock seconds beside them.
Memory: the peak of the process so far.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import setveil as sv
from setveil.algorithms import Context, find, make_algorithm
from setveil.core import Transactions
from setveil.generate import collect, quest
from setveil.models import KAnonymity

HEADER = (
    f"{'data':22}{'k':>4}  {'algorithm':34}{'loss %':>8}{'classes':>9}{'smallest':>9}{'CPU s':>8}{'wall s':>8}{'MB':>7}"
)
Case = tuple[str, dict[str, object]]


def run_case(name: str, data: Transactions, k: int, case: Case) -> float:
    """Print one line; the CPU seconds it took."""
    algorithm = make_algorithm(find(case[0]).load(), *case)
    cpu, wall = time.process_time(), time.perf_counter()
    details = algorithm.run(data, KAnonymity(k), Context()).details
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    text = " ".join([case[0], *(f"{key}={value}" for key, value in case[1].items())])
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    print(
        f"{name:22}{k:>4}  {text:34}{100 * details['loss_ratio']:>8.2f}{details['classes']:>9}"
        f"{details['smallest_class']:>9}{cpu:>8.2f}{wall:>8.2f}{megabytes:>7.0f}",
        flush=True,
    )
    return cpu


def cases(segments: tuple[int, ...]) -> Iterator[Case]:
    """Every algorithm; those that work on segments with several numbers of them, and both bit orders."""
    yield "weave", {}
    for bits in ("frequency", "id"):
        for number in segments:
            yield "pta", {"segments": number, "bits": bits}
    for number in segments:
        yield "gray-tsp", {"segments": number}
    for bits in ("frequency", "id"):
        yield "gsc", {"bits": bits}


def dense_records(data: Transactions, n_records: int, noise: float = 0.03) -> Transactions:
    """Records drawn from dense data; some items of each are lost, and as many random ones come in."""
    random = np.random.default_rng(0)
    drawn = data.select(random.integers(0, data.n_records, n_records))
    kept = random.random(drawn.n_occurrences) >= noise
    n_new = int(noise * drawn.n_occurrences)
    return Transactions.from_pairs(
        np.concatenate((drawn.owners[kept], random.integers(0, n_records, n_new))),
        np.concatenate((drawn.items[kept], random.integers(0, data.n_items, n_new))),
        n_records,
        data.vocabulary,
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with mushroom.dat.gz, chess.dat.gz, …")
    parser.add_argument("--full", action="store_true", help="also what takes minutes")
    options = parser.parse_args()

    small = Transactions.from_lists([["a", "b"], ["a"], ["b", "c"], ["c"]] * 10)
    for case in cases((2,)):  # compile
        make_algorithm(find(case[0]).load(), *case).run(small, KAnonymity(3), Context())
    print(HEADER)
    if options.data:
        for name, numbers in (("mushroom", (100, 150, 200)), ("chess", (40, 60, 80))):
            data = sv.read(options.data / f"{name}.dat.gz")
            for k in (5, 10, 15, 20, 25) if options.full else (5, 15, 25):
                for case in cases(numbers):
                    run_case(name, data, k, case)
    baskets = collect(quest(D=100_000 if options.full else 20_000)).used_items()
    n_segments = baskets.n_records // 100
    for k in (5, 15, 25) if options.full else (15,):
        for case in cases((n_segments,)):
            run_case(f"baskets {baskets.n_records:,}", baskets, k, case)
    if options.data and options.full:
        for file in ("groceries.csv.gz", "BMS1.dat.gz", "BMS2.dat.gz"):
            data = sv.read(options.data / file)
            for k in (5, 15, 25):
                for case in cases((data.n_records // 80,)):
                    run_case(file.split(".")[0], data, k, case)
        dense = dense_records(sv.read(options.data / "mushroom.dat.gz"), 1_000_000)
        for case in (("weave", {}), ("pta", {}), ("gsc", {})):
            run_case("dense 1,000,000", dense, 15, case)


if __name__ == "__main__":
    main()
