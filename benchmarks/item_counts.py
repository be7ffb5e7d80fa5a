"""Mean error of counts of pairs with and without item counts: python -m benchmarks.item_counts FILE [-k K].

``--ranking [--hierarchy H]``: the candidates of the default at m=2, each with what would change if the default ranked
them with item counts: error of pairs without and with these, share of all people whom the worst attacker (four known
items) singles out, and share of entries unchanged.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import setveil as sv
from setveil.utility.avg_re import least_error
from setveil.workflows.portfolio import candidates


def main() -> None:
    """Print a table: a row without counts, a row with them, a column for each m."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--algorithm", default="pcta+")
    parser.add_argument("--ranking", action="store_true")
    parser.add_argument("--hierarchy")
    asked = parser.parse_args()
    data = sv.read(asked.file)
    if asked.ranking:
        rank(data, asked.k, asked.hierarchy)
        return
    releases = [sv.anonymize(data, "km", k=asked.k, m=m, algorithm=asked.algorithm) for m in asked.m]
    print("| | " + " | ".join(f"m={m}" for m in asked.m) + " |")
    print("|---" * (len(asked.m) + 1) + "|")
    for name, found in (
        ("without item counts", [replace(release, item_counts={}) for release in releases]),
        ("with item counts", releases),
    ):
        print(f"| {name} | " + " | ".join(f"{100 * (least_error(data, one) or 0):.0f} %" for one in found) + " |")


def rank(data: sv.Transactions, k: int, hierarchy: str | None) -> None:
    """Print a row for each candidate."""
    print("| | pairs without item counts | with | singled out | entries unchanged |\n|---|---|---|---|---|")
    for name, options, _ in candidates(data, "normal", "counts", hierarchy is not None):
        release = sv.anonymize(data, "km", name, hierarchy, options, k=k, m=2)
        errors = [100 * (least_error(data, one) or 0) for one in (replace(release, item_counts={}), release)]
        rows = sv.attack(data, release, known=(4,)).rows
        worst = max(row.after.singled_out.value * row.n_people / row.n_all for row in rows if row.after.singled_out)
        unchanged = sv.measure(data, release)["exact_ratio"]
        print(
            f"| {name} | {errors[0]:.1f} % | {errors[1]:.1f} % | {100 * worst:.1f} % | {100 * unchanged:.0f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
