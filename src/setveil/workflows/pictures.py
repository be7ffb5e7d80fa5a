"""Charts for the web page, from the one drawer; what they show also stands in figures beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from setveil.report.charts import Mark, Series, bars, curve, icicle, plane, swatch
from setveil.report.compare_page import floor_lines, front_charts, front_of, name_of, yardstick_of
from setveil.report.facts import Facts
from setveil.report.page import LEGEND
from setveil.report.template import shared_style
from setveil.report.words import figure, metric_lines, percent, short_percent
from setveil.workflows.compare import Point, pareto_front, row_of

__all__ = [
    "Proposed",
    "cut_picture",
    "drawn_items",
    "figure",
    "length_chart",
    "metric_rows",
    "percent",
    "proposals_chart",
    "risk_chart",
    "runs_chart",
    "seconds",
    "shared_style",
    "short_percent",
    "support_chart",
]


def metric_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a release cost, in words and figures, as everywhere."""
    return metric_lines(metrics)


def seconds(value: float | None) -> str:
    """A duration with the digits that matter: 0.8 s, 14 s, 3 min 5 s."""
    if value is None:
        return "–"
    if value < 9.95:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


Settings = Sequence[Mapping[str, Any]]


def risk_chart(before: Settings, after: Settings = (), reach: float | None = None) -> str:
    """The share of people that known items single out, before and after."""
    series: list[Series] = []
    for name, rows in (("before", before), ("after", after)):
        points = [(row["known"], row["singled_out"]) for row in rows if row["singled_out"] is not None]
        if points:
            series.append((name, points, name))
    parts = "; ".join(f"{name}: " + ", ".join(f"{percent(y)} at {x}" for x, y in line) for name, line, _ in series)
    words = "people singled out, of those with as many items"
    return curve(series, "items of a person that the attacker knows", words, f"Chart: {words}. {parts}.", reach)


def length_chart(counts: Sequence[int], labels: Sequence[str], who: str = "people") -> str:
    """People by how many items they have; ``who`` are visits where records are."""
    return bars(
        [(who, counts, "plain")],
        labels,
        "items in the record",
        who,
        f"Chart: {who} by how many items they have. "
        + ", ".join(f"{count:,} with {label}" for count, label in zip(counts, labels, strict=True)),
    )


def support_chart(counts: Sequence[int], who: str = "people") -> str:
    """Items by how many people have them; ``counts`` over 1, 2–4, 5–9, 10–99, 100 and more people."""
    return bars(
        [("items", counts, "plain")],
        SUPPORTS,
        f"{who} with the item",
        "items",
        f"Chart: items by how many {who} have them. "
        + ", ".join(f"{count:,} at {label}" for count, label in zip(counts, SUPPORTS, strict=True)),
    )


SUPPORTS = ("1", "2–4", "5–9", "10–99", "100+")


def runs_chart(
    points: Sequence[Point], known: int, labels: Mapping[str, str], floors: Mapping[int, float]
) -> tuple[str, list[tuple[str, str]], list[dict[str, Any]]]:
    """Runs by risk and loss with the front and the floors, groups in a picture of their own, marks named by ``labels``;
    their key; a row per run, with its name.
    """
    front = pareto_front(points)
    rows = [{**row_of(point, point.id in front)} for point in points]
    for row in rows:
        row["name"] = name_of(row)
    good = [row for row in rows if yardstick_of(row).measures(row)]
    look = {name: number for number, name in enumerate(dict.fromkeys(row["algorithm"] for row in good))}
    charts = "".join(picture["chart"] for picture in front_charts(good, look, known, labels, floors))
    return charts, [(swatch(number), name) for name, number in look.items()], rows


class Proposed(NamedTuple):
    """A setting in the plane of risk and loss: its letter, its words, and both figures."""

    letter: str
    words: str
    risk: float
    loss: float


def proposals_chart(
    proposed: Sequence[Proposed], original: Proposed, floors: Mapping[int, float], who: str = "people"
) -> str:
    """Proposals by residual risk and loss, beside the original data; lines across are what no release can beat."""
    marks = [
        Mark(one.risk, one.loss, number, f"{one.letter}: {one.words}", one.letter, one.letter)
        for number, one in enumerate([*proposed, original])
    ]
    front = front_of((one.risk, one.loss) for one in proposed)
    figures = "; ".join(f"{one.letter}: {percent(one.risk)}, {percent(one.loss)}" for one in [*proposed, original])
    across, up = f"{who} singled out by the worst attacker tried", "mean error of pair counts"
    words = f"Chart: {across}, and {up}. {figures}."
    return plane(marks, front, across, up, words, short_percent, short_percent, floor_lines(floors))


def cut_picture(facts: Facts) -> tuple[str, list[tuple[str, str]]]:
    """How items are published, from the top of the hierarchy down; the colours that occur in it, with their meaning."""
    return drawn_items(facts.changes)


def drawn_items(changes: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """The same, from what became of the items."""
    blocks = changes.get("picture") or ()
    legend = [(css, words) for css, words in LEGEND if any(block.css == css for block in blocks)]
    return icicle(blocks, "Picture: items and their categories; the codebook has every item."), legend
