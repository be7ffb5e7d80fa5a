"""Mean error of counts of pairs with and without item counts: python -m benchmarks.item_counts FILE [-k K]."""

from __future__ import annotations

import argparse
from dataclasses import replace

import setveil as sv
from setveil.utility.avg_re import least_error


def main() -> None:
    """Print a table: a row without counts, a row with them, a column for each m."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--algorithm", default="pcta+")
    asked = parser.parse_args()
    data = sv.read(asked.file)
    releases = [sv.anonymize(data, "km", k=asked.k, m=m, algorithm=asked.algorithm) for m in asked.m]
    print("| | " + " | ".join(f"m={m}" for m in asked.m) + " |")
    print("|---" * (len(asked.m) + 1) + "|")
    for name, found in (
        ("without item counts", [replace(release, item_counts={}) for release in releases]),
        ("with item counts", releases),
    ):
        print(f"| {name} | " + " | ".join(f"{100 * (least_error(data, one) or 0):.0f} %" for one in found) + " |")


if __name__ == "__main__":
    main()
