"""Charts for notebooks, drawn by Matplotlib where it is installed.

Reports have a drawer of their own (``charts.py``): they need no further package, and equal figures give equal bytes.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from setveil.errors import InputError

MOST_ITEMS = 20  # shown in the chart of a release
Rows = list[dict[str, Any]]


def plot_risk(table: Any) -> Any:
    """The share of people who are singled out, by the number of known items."""
    rows = [
        {"known items": row.known, "share": row.singled_out, "series": "singled out"}
        for row in table.rows
        if row.singled_out is not None
    ] + [
        {"known items": row.known, "share": row.below_k, "series": f"fewer than {table.k} records match"}
        for row in table.rows
        if row.below_k is not None
    ]
    return _draw("line", rows, "known items", "share", "What known items of a person reveal")


def plot_release(release: Any) -> Any:
    """How many records show the most frequent items, in the original (where it is at hand) and in the release."""
    published = release.rows
    after = dict(zip(published.vocabulary, published.supports.tolist(), strict=True))
    before = after
    if release.record is not None:
        original = release.record.data.rows
        before = dict(zip(original.vocabulary, original.supports.tolist(), strict=True))
    shown = sorted(before, key=lambda label: (-before[label], label))[:MOST_ITEMS]
    series = [("published", after)] if before is after else [("original", before), ("published", after)]
    rows = [
        {"item": label, "records": counts.get(label, 0), "series": name} for label in shown for name, counts in series
    ]
    return _draw("bar", rows, "item", "records", "Records that show an item under its own name")


def plot_comparison(fronts: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> Any:
    """Risk against loss of every setting, by algorithm; of the first kind of settings that has both."""
    if not fronts:
        raise InputError("no setting gave a release with known risk and loss, so that there is nothing to draw.")
    by = fronts[0][0]
    points = [
        {by.loss_words: row[by.loss], by.risk_words: row[by.risk], "series": row["algorithm"]}
        for row in rows
        if row.get(by.loss) is not None and row.get(by.risk) is not None
    ]
    return _draw("point", points, by.loss_words, by.risk_words, "Risk and loss of all settings")


def _draw(mark: str, rows: Rows, x: str, y: str, title: str) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plot() needs Matplotlib; pip install matplotlib.") from None

    class Chart(Figure):
        """A figure that a notebook shows without further settings."""

        def _repr_png_(self) -> bytes:
            content = io.BytesIO()
            self.savefig(content, format="png", dpi=80)
            return content.getvalue()

    figure = Chart(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    series = list(dict.fromkeys(row["series"] for row in rows))
    names = list(dict.fromkeys(row[x] for row in rows))
    for place, name in enumerate(series):
        own = [row for row in rows if row["series"] == name]
        values = [row[y] for row in own]
        if mark == "bar":
            offsets = np.arange(len(names)) + (place - (len(series) - 1) / 2) * 0.8 / len(series)
            axes.bar(offsets, values, 0.8 / len(series), label=name)
        elif mark == "line":
            axes.plot([row[x] for row in own], values, marker="o", label=name)
        else:
            axes.scatter([row[x] for row in own], values, label=name)
    if mark == "bar":
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    elif mark == "line":
        axes.set_xticks(names)
    axes.set(xlabel=x, ylabel=y, title=title, ylim=(0, None))
    axes.legend()
    return figure
