"""``compare.html``: every setting of a comparison by what an attacker can do and what an analyst loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil.models import NUMBERS
from setveil.report.charts import Mark, panel, plane, swatch
from setveil.report.words import figure, percent

Row = Mapping[str, Any]

# Columns of the table: heading, key of the row, how it is shown. What is kept comes before measures of loss.
COLUMNS = (
    ("published exactly", "exact_ratio", percent),
    ("largest set", "largest_set", figure),
    ("chance", "mean_chance", percent),
    ("singled out", "singled_out", percent),
    ("error of pair counts", "avg_re", percent),
    ("NCP", "ncp", figure),
    ("UL log2", "ul_log2", figure),
    ("left out", "suppression_ratio", percent),
    ("IL", "il_ratio", figure),
    ("KL", "kl", figure),
    ("items", "published_items", figure),
    ("seconds", "seconds", figure),
    ("MB", "peak_mb", figure),
)
FIGURES = (  # what a setting gave; settings that gave the same are one line
    "exact_ratio",
    "largest_set",
    "singled_out",
    "mean_chance",
    "avg_re",
    "ncp",
    "ul_log2",
    "suppression_ratio",
    "il_ratio",
    "kl",
    "published_items",
)


def write_compare_page(
    rows: Sequence[Row], source: str, known: int, path: Path, commands: Mapping[str, str] | None = None
) -> None:
    """One offline page: the picture, small multiples, the table, and how to repeat each setting.

    ``commands``: by the id of a setting, the command that repeats it.
    """
    from setveil.report.template import write_page

    good = [row for row in rows if row["status"] == "ok" and None not in (row["avg_re"], row["mean_chance"])]
    lines = merged(row for row in rows if row["status"] == "ok")
    look = {name: number for number, name in enumerate(dict.fromkeys(row["algorithm"] for row in good))}
    shown = [column for column in COLUMNS if any(row[column[1]] is not None for row in good)]
    write_page(
        "compare.html.j2",
        path,
        source=source,
        known=known,
        n_settings=len(rows),
        n_good=sum(row["status"] == "ok" for row in rows),
        n_failed=sum(row["status"] != "ok" for row in rows),
        n_merged=sum(len(same) - 1 for same in lines),
        best=_best(good),
        chart=front_chart(good, look, known),
        key=[(swatch(number), name) for name, number in look.items()],
        panels=_panels(good, look),
        columns=[("setting", False), *((name, True) for name, _, _ in shown)],
        rows=[_line(same, shown) for same in lines],
        failed=[(name_of(row), row["status"], row["reason"]) for row in rows if row["status"] != "ok"],
        commands=[
            (name_of(row), (commands or {})[row["id"]])
            for row in rows
            if row["status"] == "ok" and row["id"] in (commands or {})
        ],
    )


def merged(rows: Any) -> list[list[Row]]:
    """Settings with equal figures together, in order; they differ only in what was asked for."""
    lines: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        lines.setdefault(tuple(row.get(key) for key in FIGURES), []).append(row)
    return list(lines.values())


def name_of(row: Row) -> str:
    """A setting in a few words."""
    told = [f"{name}={row[name]}" for name in NUMBERS if row[name] is not None]
    words = " ".join([row["algorithm"], *told, row["hierarchy"], row["options"]]).strip()
    words += " (guessable)" if row.get("guessable") else ""
    return f"{words} (one item for everything)" if row.get("published_items") in (0, 1) else words


def _line(same: Sequence[Row], shown: Sequence[Any]) -> dict[str, Any]:
    """A line of the table for settings with equal figures."""
    names = "; ".join(name_of(row) for row in same)
    is_front = any(row["pareto"] for row in same)
    cells: list[tuple[str, Any, bool]] = [(names + (" ★" if is_front else ""), names, False)]
    for _, key, show in shown:
        value = same[0][key]
        cells.append((show(value), "" if value is None else value, True))
    return {"id": same[0]["id"], "is_front": is_front, "cells": cells}


def _best(rows: Sequence[Row]) -> str:
    """The setting on the front that keeps most entries exact for the chance it leaves an attacker, in a sentence."""
    front = [row for row in rows if row["pareto"] and row["exact_ratio"] is not None]
    if not front:
        return ""
    best = max(front, key=lambda row: row["exact_ratio"] - row["mean_chance"])
    return (
        f"{name_of(best)}: {percent(best['exact_ratio'])} of the entries are published exactly, the "
        f"attacker's chance is {percent(best['mean_chance'])}, and counts of pairs are off by "
        f"{percent(best['avg_re'])} on average."
    )


def front_chart(
    rows: Sequence[Row], look: Mapping[str, int], known: int, labels: Mapping[str, str] | None = None
) -> str:
    """Every setting by risk and loss, and the front; ``look`` numbers algorithms, ``labels`` names settings by id."""
    targets = {id(row): same[0]["id"] for same in merged(rows) for row in same}
    marks = [
        Mark(
            row["mean_chance"],
            row["avg_re"],
            look[row["algorithm"]],
            (f"{labels[row['id']]}, " if labels else "")
            + f"{name_of(row)}: chance {percent(row['mean_chance'])}, error of pair counts {percent(row['avg_re'])}",
            f"p{row['id'] if labels else targets[id(row)]}",
            (labels or {}).get(row["id"], ""),
        )
        for row in rows
    ]
    front = sorted((row["mean_chance"], row["avg_re"]) for row in rows if row["pareto"])
    return plane(
        marks,
        front,
        f"mean chance of an attacker who knows {known} items",
        "mean relative error of pair counts",
        "Risk and loss of every setting; the table below has the figures.",
        _tick,
        _tick,
    )


def _tick(share: float) -> str:
    return f"{100 * share:g} %"


def _panels(rows: Sequence[Row], look: Mapping[str, int]) -> list[str]:
    """One small chart of query error over the crowd size per model, m and hierarchy."""
    panels: dict[str, list[Row]] = {}
    for row in rows:
        told = [f"{name}={row[name]}" for name in ("m", "l", "h") if row[name] is not None]
        panels.setdefault(" ".join([row["model"], *told, row["hierarchy"]]).strip(), []).append(row)
    drawn = []
    for name, some in panels.items():
        crowd = "k" if any(row["k"] is not None for row in some) else "p"
        lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for row in some:
            if row[crowd] is not None:
                lines.setdefault((row["algorithm"], row["options"]), []).append((row[crowd], row["avg_re"]))
        if len({x for line in lines.values() for x, _ in line}) > 1:  # a single place shows no course
            series = [(look[algorithm], sorted(line)) for (algorithm, _), line in lines.items()]
            drawn.append(panel(name, series, crowd, "error of pair counts", percent))
    return drawn
