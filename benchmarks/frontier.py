"""The map of what is possible, for several data sets: python -m benchmarks.frontier FILE … writes docs/frontier.md.

Every privacy model that needs nothing but k is tried at one k: k^m-anonymity for several m, by suppression (`trim`)
and by generalization with item counts (`pcta+`), the others with their defaults.
Results are kept below --work, so a second call continues.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import setveil as sv
from setveil.models import MODELS, declared
from setveil.report.compare_page import merged, name_of
from setveil.report.words import percent

PAGE = Path(__file__).parents[1] / "docs" / "frontier.md"
INTRODUCTION = """# What is possible

How much does protection cost? Each table below compares privacy models on one data set, all with k={k}. *Singled out*
is the share of all people whom the worst attacker tried singles out with up to four known items. *Pair counts* is the
mean relative error of counts of two items, with the reading of the release that suits it best. No setting in the table
is better in both than those marked ★.

The *floor* is the least error of pair counts that a release can have if it shows no pair of fewer than k people. Such
a release gives every pair a count of 0 or at least k, so a pair of t < k people is off by min(1, (k − t)/t) or more
(`utility/floor.py`). A setting below the floor shows such pairs: m=1 does not protect them. An estimate that spreads a
category over its items can be nearer to the truth by chance.

A table of counts (`counts`) shows no pair of fewer than k people, either. Its records belong to nobody, so that nobody
is singled out. What it lets attackers conclude is [measured elsewhere](algorithms/counts/tally.md).

`python -m benchmarks.frontier FILE …` makes this page. `setveil compare` draws the same map for your own data.
"""


def settings(k: int, seconds: float) -> dict[str, Any]:
    """A grid: k^m-anonymity for several m, and every other model that needs nothing but numbers."""
    tables: list[dict[str, Any]] = [
        {"model": "km", "k": k, "m": [1, 2, 3, "all"], "algorithm": "trim", "options": {"effort": "fast"}},
        {"model": "km", "k": k, "m": [2, 3], "algorithm": "pcta+"},
    ]
    for name, model in MODELS.items():
        known = declared(model)
        required = [one.name for one in known.values() if one.is_required]
        if name != "km" and required == ["k"]:
            several = {"m": [2, known["m"].default]} if "m" in known else {}
            tables.append({"model": name, "k": k, **several})
    return {"grid": tables, "limits": {"seconds": seconds}, "known": 4}


def section(path: Path, comparison: sv.Comparison, k: int) -> str:
    """Heading, floor and table of a data set."""
    floor = comparison.floors.get(k)
    rows = [row for row in comparison.rows if row["status"] == "ok" and None not in (row["singled_out"], row["avg_re"])]
    places = [(row["singled_out"], row["avg_re"]) for row in rows]
    lines = [f"## {path.name}\n", f"Floor at k={k}: {'–' if floor is None else percent(floor)}.\n"]
    lines += [
        "| model | setting | singled out, of all people | pair counts | entries unchanged |",
        "|---|---|---|---|---|",
    ]
    for same in merged(rows):
        row = same[0]
        here = row["singled_out"], row["avg_re"]
        is_best = not any(other != here and other[0] <= here[0] and other[1] <= here[1] for other in places)
        lines.append(
            f"| {row['model']} | {'; '.join(map(name_of, same))}{' ★' if is_best else ''} | {percent(here[0])} | "
            f"{percent(here[1])} | {percent(row['exact_ratio'])} |"
        )
    failed = [f"{row['model']} {name_of(row)} ({row['status']})" for row in comparison.rows if row["status"] != "ok"]
    if failed:
        lines.append(f"\nWithout a release: {', '.join(failed)}.")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--work", type=Path, default=Path("frontier-results"))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=PAGE)
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    parts = [INTRODUCTION.format(k=asked.k)]
    for path in asked.files:
        grid = settings(asked.k, asked.seconds)
        folder = asked.work / path.name.partition(".")[0]
        parts.append(section(path, sv.compare(path, grid, folder, processes=asked.processes), asked.k))
        asked.output.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
