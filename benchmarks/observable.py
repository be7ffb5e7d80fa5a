"""What a list of observable items saves: python -m benchmarks.observable FILE [-k K] [-m M] [--shares 30,50,100]."""

from __future__ import annotations

import argparse

import numpy as np

import setveil as sv
from setveil.utility.avg_re import least_error


def main() -> None:
    """Print a table: a row for each share of observable items, drawn at random."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", default="all")
    parser.add_argument("--algorithm", default="trim")
    parser.add_argument("--shares", default="30,50,100")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    data = sv.read(asked.file)
    m = asked.m if asked.m == "all" else int(asked.m)
    drawn = np.random.default_rng(asked.seed).permutation(list(data.vocabulary)).tolist()
    print("| observable items | entries unchanged | counts of pairs: mean error |\n|---|---|---|")
    for share in map(int, asked.shares.split(",")):
        listed = drawn[: max(1, len(drawn) * share // 100)]
        release = sv.anonymize(data, "km", k=asked.k, m=m, observable=listed, algorithm=asked.algorithm)
        unchanged = sv.measure(data, release)["exact_ratio"]
        print(f"| {share} % | {100 * unchanged:.0f} % | {100 * (least_error(data, release) or 0):.0f} % |")


if __name__ == "__main__":
    main()
