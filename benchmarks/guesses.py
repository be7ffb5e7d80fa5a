"""Guessing who of a group holds its sensitive item: every guesser against every algorithm for the privacy degree.

    python -m benchmarks.guesses --data DIR            two data sets, p=10, 10 sensitive items, one seed
    python -m benchmarks.guesses --data DIR --seeds 3  the mean of three
    python -m benchmarks.guesses --data DIR --algorithms blocks,nn --sets BMS1.dat.gz
    python -m benchmarks.guesses --data DIR --deals 30 only `blocks` and random holders of items that twenty records
                                                       have: the mean of thirty deals and its standard error

Sensitive items are drawn as in ``benchmarks.sensitive``. *Random*: they are dealt anew to records drawn at random and
the release is made anew, so whoever is ahead of 10 % learned it from the groups. *Real*: they stay where they are.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

import setveil as sv
from benchmarks.sensitive import SETS, draw_sensitive
from setveil.algorithms import Context
from setveil.algorithms.degree.blocks import BlocksOfRecords
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from setveil.risk.guesses import Guesses, deal_anew, guess_both, guess_holders
from setveil.workflows.assess import guessing_options

ALGORITHMS = ("blocks", "random", "nn", "cahd", "nn+", "lsh", "permmondrian")


def measure(data: Transactions, algorithm: str, seed: int) -> tuple[Guesses | None, Guesses | None]:
    """Guesses on random and on real holders."""
    release = sv.anonymize(
        data, "degree", algorithm=algorithm, p=10, sensitive=draw_sensitive(data, 10, seed), seed=seed
    )
    assert isinstance(release, Grouping) and release.record is not None
    left_out = {name: release.details.get(name, 0) for name in ("left_out_records",)}
    print(f"{algorithm}, seed {seed}: {left_out}", file=sys.stderr)
    table = guess_both(release.record.data, release, seed=seed, **guessing_options(release.record))
    return table.random, table.real


def show_deals(data: Transactions, n_deals: int) -> None:
    """Guesses at `blocks` with random holders: mean and standard error over so many deals."""
    rates: dict[str, list[float]] = {}
    for seed in range(100, 100 + n_deals):  # none of those above
        sensitive = draw_sensitive(data, 10, seed, support=20)
        dealt = deal_anew(data, np.isin(np.arange(data.n_items), data.vocabulary.numbers(sensitive)), seed)
        release = BlocksOfRecords().run(dealt, PrivacyDegree(10, sensitive), Context(seed=seed))
        guesses = guess_holders(dealt.select(Grouping.publishable(dealt, release.sensitive)), release)
        assert guesses is not None
        for guesser in guesses.guessers:
            rates.setdefault(guesser.name, []).append(100 * guesses.rate(guesser.name).value)
    for name, values in rates.items():
        print(f"{name:16}{np.mean(values):>8.2f} ± {np.std(values) / len(values) ** 0.5:.2f}")


def main(arguments: list[str] | None = None) -> int:
    """Print a table per data set and kind of holder: guessers down, algorithms across, % right."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guesses", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with " + " and ".join(SETS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--deals", type=int, help="only `blocks` and random holders, so often")
    parser.add_argument("--algorithms", help="only these, separated by commas")
    parser.add_argument("--sets", default=",".join(SETS), help="files in the folder, separated by commas")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    algorithms = tuple(given.algorithms.split(",")) if given.algorithms else ALGORITHMS
    for name in given.sets.split(","):
        data = sv.read(given.data / name)
        if given.deals:
            print(f"\n{name}, {given.deals} deals, % right")
            show_deals(data, given.deals)
            continue
        found = {a: [measure(data, a, seed) for seed in range(given.seeds)] for a in algorithms}
        for place, title in enumerate(("random", "real")):
            print(f"\n{name}, {title} holders, % right\n{'':16}" + "".join(f"{a:>13}" for a in algorithms))
            parts = {a: [pair[place] for pair in pairs if pair[place] is not None] for a, pairs in found.items()}
            first = parts[algorithms[0]][0]
            assert first is not None
            for guesser in (guesser.name for guesser in first.guessers):
                rates = [np.mean([part.rate(guesser).value for part in parts[a] if part]) for a in algorithms]
                print(f"{guesser:16}" + "".join(f"{100 * rate:>13.1f}" for rate in rates), flush=True)
            chance = [np.mean([part.at_random for part in parts[a] if part]) for a in algorithms]
            print(f"{'anybody':16}" + "".join(f"{100 * rate:>13.1f}" for rate in chance), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
