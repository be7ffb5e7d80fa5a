"""What a list of observable items saves: python -m benchmarks.observable FILE [-k K] [-m M] [--shares 30,50,100]."""

from __future__ import annotations

import argparse

import numpy as np

import setveil as sv
from setveil.utility.avg_re import least_error


def main() -> None:
    """Print a table: a row for each share of observable items and each draw of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", default="all")
    parser.add_argument("--algorithm", default="trim")
    parser.add_argument("--shares", default="30,50,100")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--effort", default="fast")
    asked = parser.parse_args()
    data = sv.read(asked.file)
    m = asked.m if asked.m == "all" else int(asked.m)
    print(
        "| observable items | entries of these | entries unchanged | counts of pairs: mean error |\n|---|---|---|---|"
    )
    for share in map(int, asked.shares.split(",")):
        for seed in range(asked.seeds):
            drawn = np.random.default_rng(seed).permutation(list(data.vocabulary)).tolist()
            listed = drawn[: max(1, len(drawn) * share // 100)]
            options = {"effort": asked.effort} if asked.algorithm == "trim" else {}
            release = sv.anonymize(data, "km", asked.algorithm, None, options, k=asked.k, m=m, observable=listed)
            entries = data.supports[data.vocabulary.encode(listed, "item")].sum() / data.n_occurrences
            unchanged, error = sv.measure(data, release)["exact_ratio"], least_error(data, release) or 0
            print(f"| {share} % | {100 * entries:.0f} % | {100 * unchanged:.0f} % | {100 * error:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
