"""Sensitive items: reconstruction error and time of every algorithm for the privacy degree.

    python -m benchmarks.sensitive --data DIR              two data sets, p=10, 10 sensitive items, r=4, 5 seeds
    python -m benchmarks.sensitive --data DIR --full       also over p, m, r and the number of records, 20 seeds
    python -m benchmarks.sensitive --data DIR --random-holders   sensitive items dealt to records drawn at random
    python -m benchmarks.sensitive --data DIR --support N  sensitive items drawn from those that N records have
    python -m benchmarks.sensitive --data DIR --commands   only whole commands: CPU time and memory, up to ten million
                                                           records

A seed decides which sensitive items are drawn (uniformly, without repeats) and which queries are asked; all algorithms
get the same. Error: mean divergence of 1,000 queries per seed and protocol, then the mean over seeds. Time: CPU
seconds of the algorithm alone, after a first run that compiles. An algorithm *beats* another if its mean error is
lower. Longest, typical: how often that record of a group holds its sensitive item (``setveil attack``); 100/p by
chance.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import setveil as sv
from benchmarks.commands import SETVEIL, run_measured
from setveil.algorithms import Context, find, make_algorithm
from setveil.core import Transactions
from setveil.errors import InfeasibleError
from setveil.generate.quest import quest
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from setveil.risk.guesses import deal_anew, guess_holders
from setveil.utility.reconstruction import PROTOCOLS, draw_queries, kl_divergences
from setveil.workflows.samples import generate_quest

CASES: tuple[tuple[str, dict[str, object]], ...] = (
    ("blocks", {}),
    ("nn+", {}),
    ("nn", {"distance": "jaccard"}),
    ("nn", {}),
    ("lsh", {}),
    ("cahd", {}),
    ("cahd", {"ordering": "rcm"}),
    ("permmondrian", {}),
    ("random", {}),
)
EVERY = frozenset(name for name, _ in CASES)
GUESSERS = ("longest", "most alike")
SETS = ("BMS1.dat.gz", "BMS2.dat.gz")


def draw_sensitive(data: Transactions, m: int, seed: int, support: int = 1) -> list[str]:
    """The seed's sensitive items, of those that so many records have."""
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(data.supports >= support), size=m, replace=False)
    return [data.vocabulary[int(item)] for item in chosen]


def make_baskets(n_records: int) -> Transactions:
    """Quest baskets of five items on average."""
    chunks = list(quest(D=n_records, T=5))
    lengths = np.concatenate([chunk.lengths for chunk in chunks])
    items = np.concatenate([chunk.items for chunk in chunks])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return Transactions(indptr, items, chunks[0].vocabulary).used_items()


def run_once(
    data: Transactions, name: str, options: dict[str, object], p: int, m: int, seed: int, support: int = 1
) -> tuple[Grouping, float]:
    """The release and its CPU seconds."""
    model = PrivacyDegree(p, draw_sensitive(data, m, seed, support))
    algorithm = make_algorithm(find(name).load(), name, options)
    start = time.process_time()
    release = algorithm.run(data, model, Context(seed=seed))
    return release, time.process_time() - start  # type: ignore[return-value]


def compare(
    title: str,
    given: Transactions,
    p: int,
    m: int,
    rs: Iterable[int],
    seeds: range,
    wanted: frozenset[str] = EVERY,
    *,
    random_holders: bool = False,
    support: int = 1,
) -> None:
    """Errors and times of all algorithms, one line each, over the seeds for which the ask is feasible."""
    data = given
    asked = list(rs)
    errors: dict[str, list[list[float]]] = {}
    seconds: dict[str, list[float]] = {}
    for name, options in CASES:
        if name not in wanted:
            continue
        label = " ".join([name, *(str(value) for value in options.values())])
        for seed in seeds:
            if random_holders:
                chosen = given.vocabulary.numbers(draw_sensitive(given, m, seed, support))
                data = deal_anew(given, np.isin(np.arange(given.n_items), chosen), seed)
            try:
                release, cpu = run_once(data, name, options, p, m, seed, support)
            except InfeasibleError:
                continue
            row = []
            for r in asked:
                for protocol in PROTOCOLS:
                    queries = draw_queries(data, release.sensitive, protocol, r, 1000, seed)
                    row.append(float(kl_divergences(data, release, queries).mean()))
            published = data.select(Grouping.publishable(data, release.sensitive))
            guess = guess_holders(published, release)
            row += [100 * guess.rate(name).value for name in GUESSERS] if guess else [np.nan, np.nan]
            errors.setdefault(label, []).append(row)
            seconds.setdefault(label, []).append(cpu)
    columns = "".join(f"{protocol + ' r=' + str(r):>18}" for r in asked for protocol in PROTOCOLS)
    columns += f"{'longest %':>12}{'typical %':>12}"
    print(f"\n{title}: {data.n_records:,} records, p={p}, m={m}, {len(seeds)} seeds\n{'':16}{columns}{'CPU s':>9}")
    for label, rows in errors.items():
        *mean_errors, longest, typical = np.nanmean(rows, axis=0)
        means = "".join(f"{mean:>18.5f}" for mean in mean_errors) + f"{longest:>12.1f}{typical:>12.1f}"
        print(f"{label:16}{means}{np.median(seconds[label]):>9.2f}", flush=True)


def whole_commands(folder: Path, bms2: Path) -> None:
    """Start, read, anonymize, verify, measure and write: CPU seconds and peak memory, kernels compiled."""
    print(f"{'data':24}{'algorithm':20}{'m':>5}{'CPU s':>9}{'MB':>7}")
    for name, options, m in (
        ("cahd", (), 10), ("cahd", ("ordering=rcm",), 10), ("nn", (), 10), ("nn", (), 100), ("nn+", (), 10),
        ("blocks", (), 10),
    ):  # fmt: skip
        print(_command(folder, "BMS-WebView-2", bms2, name, options, m), flush=True)
    for n_records in (100_000, 1_000_000, 10_000_000):
        path = folder / f"quest{n_records}.dat"
        generate_quest(path, "fimi", D=n_records, T=5)
        print(_command(folder, f"quest T=5, {n_records:,}", path, "cahd", (), 10), flush=True)
        path.unlink()


def _command(folder: Path, title: str, path: Path, name: str, options: tuple[str, ...], m: int) -> str:
    sensitive = folder / "sensitive.txt"
    sensitive.write_text("\n".join(draw_sensitive(sv.read(path), m, 0)) + "\n")
    command = [
        *SETVEIL,
        "anonymize",
        str(path),
        "-o",
        str(folder / "out"),
        "--force",
        "--json",
        "--model",
        "degree",
        "-p",
        "10",
    ]
    command += ["--sensitive", str(sensitive), "--algorithm", name, "--accept-guessable"]
    for option in options:
        command += ["--option", option]
    status, cpu, megabytes, _ = run_measured(command, folder / "stdout", {})
    failed = f"  exit {status}" if status else ""
    return f"{title:24}{' '.join((name, *options)):20}{m:>5}{cpu:>9.2f}{megabytes:>7.0f}{failed}"


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sensitive", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with " + " and ".join(SETS))
    parser.add_argument("--full", action="store_true", help="also over p, m, r and the number of records")
    parser.add_argument("--commands", action="store_true", help="only whole commands")
    parser.add_argument("--algorithms", default=",".join(sorted(EVERY)), help="only these, separated by commas")
    parser.add_argument("--random-holders", action="store_true", help="deal sensitive items to records at random")
    parser.add_argument("--support", type=int, default=1, help="draw sensitive items that so many records have")
    parser.add_argument("--seeds", type=int, help="number of seeds (5, with --full 20)")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if given.commands:
        with TemporaryDirectory() as folder:
            whole_commands(Path(folder), given.data / "BMS2.dat.gz")
        return 0
    seeds = range(given.seeds or (20 if given.full else 5))
    wanted = frozenset(given.algorithms.split(","))
    for name in SETS:
        data = sv.read(given.data / name)
        for algorithm, options in CASES:  # compile first
            if algorithm in wanted:
                run_once(data, algorithm, options, 10, 10, 0)
        compare(name, data, 10, 10, [4], seeds, wanted, random_holders=given.random_holders, support=given.support)
        if given.full:
            few = range(min(len(seeds), 5))
            compare(name, data, 10, 10, [2, 6, 8], few)
            for p in (4, 6, 8, 15, 20):
                compare(name, data, p, 10, [4], few)
            for m in (5, 15, 20, 100):
                compare(name, data, 10, m, [4], few)
    if given.full:
        for n_records in (100_000, 1_000_000):
            compare("quest T=5", make_baskets(n_records), 10, 10, [4], range(1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
