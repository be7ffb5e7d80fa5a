"""``compare.html``: every setting of a comparison by what an attacker can do and what an analyst loses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from setveil.models import NUMBERS
from setveil.report.charts import Mark, panel, plane, swatch
from setveil.report.words import figure, percent, short_percent

Row = Mapping[str, Any]

# Columns of the table: heading, key of the row, how it is shown. What is kept comes before measures of loss.
COLUMNS = (
    ("entries unchanged", "exact_ratio", percent),
    ("broadest category", "largest_set", figure),
    ("linked, of all people", "mean_chance", percent),
    ("singled out, of all people", "singled_out", percent),
    ("probability of a sensitive item", "sensitive_chance", percent),
    ("mean error of pair counts", "avg_re", percent),
    ("mean error of counts by columns and items", "mixed_re", percent),
    ("NCP of columns", "ncp_columns", figure),
    ("reconstruction error", "kl", figure),
    ("NCP", "ncp", figure),
    ("UL log2", "ul_log2", figure),
    ("suppressed", "suppression_ratio", percent),
    ("IL", "il_ratio", percent),
    ("labels", "published_items", figure),
    ("seconds", "seconds", figure),
    ("MB", "peak_mb", figure),
)
FIGURES = (  # what a setting gave; settings that gave the same are one line
    "exact_ratio",
    "largest_set",
    "singled_out",
    "mean_chance",
    "sensitive_chance",
    "avg_re",
    "mixed_re",
    "ncp_columns",
    "ncp",
    "ul_log2",
    "suppression_ratio",
    "il_ratio",
    "kl",
    "published_items",
)


def _share(share: float) -> str:
    return f"{100 * share:,.6g} %"


@dataclass(frozen=True)
class Yardstick:
    """What settings of one kind are ranked by, among themselves: keys of a row, and their words."""

    what: str
    risk: str
    loss: str
    risk_words: str
    loss_words: str
    risk_axis: str
    loss_axis: str
    show_loss: Callable[[Any], str]
    loss_tick: Callable[[float], str]
    how: str

    def measures(self, row: Row) -> bool:
        """Whether a setting is ranked by it: it gave a release of this kind, and both figures are known."""
        is_known = row.get(self.risk) is not None and row.get(self.loss) is not None
        return row["status"] == "ok" and yardstick_of(row) is self and is_known

    def place(self, row: Row) -> tuple[float, float]:
        """Risk and loss of a setting; less is better."""
        return row[self.risk], row[self.loss]


RECORDS = Yardstick(
    "settings",
    "mean_chance",
    "avg_re",
    "linked, of all people",
    "mean error of pair counts",
    "probability of linking a person, worst attacker with {known} items",
    "mean relative error of pair counts",
    percent,
    _share,
    "Further left is less risk: the mean probability that the worst attacker who knows {known} items of a person picks "
    "the right record. Further down is less loss: the mean relative error of pair counts, with the reading of "
    "categories that suits a release best.",
)
GROUPS = Yardstick(
    "groups",
    "sensitive_chance",
    "kl",
    "probability of a sensitive item",
    "reconstruction error",
    "highest probability of a sensitive item",
    "mean reconstruction error (KL)",
    figure,
    "{:g}".format,
    "Groups are ranked separately: they publish public items unchanged and hide only who has the sensitive items. "
    "Further left is less risk: the largest share of a group with the same sensitive item. Further down is less loss: "
    "the mean KL divergence of the sensitive counts of groups from the truth. Groups that can be guessed reveal more "
    "to an attacker who knows the algorithm; they are drawn, but are never best.",
)
PEOPLE = replace(
    RECORDS,
    loss="mixed_re",
    loss_words="mean error of counts by columns and items",
    loss_axis="mean relative error of counts by columns and items",
    how="Further left is less risk: the mean probability that the worst attacker who knows the columns and {known} "
    "items of a person picks the right record. Further down is less loss: the mean relative error of counts of people "
    "by columns and items together.",
)  # where columns are published: counts of items alone would be best without any column
YARDSTICKS = (RECORDS, PEOPLE, GROUPS)


def yardstick_of(row: Row) -> Yardstick:
    """Groups alone have sensitive items to reconstruct; counts of public items tell next to nothing about them."""
    if row.get("kl") is not None:
        return GROUPS
    return RECORDS if row.get("mixed_re") is None else PEOPLE


MAP = (
    "Every privacy model on one plane. Further left is less risk: the share of all people whom the worst attacker "
    "tried singles out with up to four known items. Further down is less loss: the mean relative error of pair counts. "
    "A line across is a floor: counts shown by a release without pairs of fewer than k people cannot have a smaller "
    "error. A setting below the floor of its k shows such pairs, or its counts of these pairs are estimates."
)
MAP_OF_GROUPS = (
    "Groupings (degree) publish public items unchanged, so an attacker who knows these singles records out. They hide "
    "who has a sensitive item."
)


def front_of(places: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of places by risk and loss those that no other beats in both, each once, ascending."""
    every = set(places)
    return sorted(
        one for one in every if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in every)
    )


def floor_lines(floors: Mapping[int, float]) -> list[tuple[float, str]]:
    """The lines that no release can go below, with their words."""
    return [(floor, f"floor at k={k}: {short_percent(floor)}") for k, floor in sorted(floors.items())]


def map_chart(rows: Sequence[Row], floors: Mapping[int, float]) -> dict[str, Any] | None:
    """All settings that gave a release, by the worst attacker's success and the error of pair counts; a mark for each
    model. ``floors``: the least error at each k. None where nothing can be drawn.
    """
    known = [row for row in rows if row["status"] == "ok" and None not in (row["singled_out"], row["avg_re"])]
    if not known:
        return None
    look = {name: number for number, name in enumerate(dict.fromkeys(row["model"] for row in known))}
    first = {id(row): same[0]["id"] for same in merged(known) for row in same}
    marks = [
        Mark(
            row["singled_out"],
            row["avg_re"],
            look[row["model"]],
            f"{row['model']}, {name_of(row)}: singled out {percent(row['singled_out'])}, pair counts off by "
            f"{percent(row['avg_re'])}",
            f"p{first[id(row)]}",
        )
        for row in known
    ]
    chart = plane(
        marks,
        front_of((row["singled_out"], row["avg_re"]) for row in known),
        "singled out by the worst attacker, of all people",
        "mean relative error of pair counts",
        "Worst attacker and error of pair counts of all settings; the table below has the figures.",
        _share,
        _share,
        floor_lines(floors),
    )
    sentences = [MAP]
    if any(row["singled_out"] == 0 for row in known):
        sentences.append("Settings at the left edge single out nobody.")
    if any(row.get("kl") is not None for row in known):
        sentences.append(MAP_OF_GROUPS)
    return {
        "how": " ".join(sentences),
        "chart": chart,
        "key": [(swatch(number), name) for name, number in look.items()],
    }


def write_compare_page(
    rows: Sequence[Row],
    source: str,
    known: int,
    path: Path,
    commands: Mapping[str, str] | None = None,
    floors: Mapping[int, float] | None = None,
) -> None:
    """One offline page: the pictures, small multiples, the table, and how to repeat each setting.

    ``commands``: by the id of a setting, the command that repeats it. ``floors``: the least error of pair counts at
    each k.
    """
    from setveil.report.template import write_page

    good = [row for row in rows if yardstick_of(row).measures(row)]
    lines = merged(row for row in rows if row["status"] == "ok")
    look = {name: number for number, name in enumerate(dict.fromkeys(row["algorithm"] for row in good))}
    shown = [column for column in COLUMNS if any(row.get(column[1]) is not None for row in good)]
    write_page(
        "compare.html.j2",
        path,
        source=source,
        n_settings=len(rows),
        n_good=sum(row["status"] == "ok" for row in rows),
        n_failed=sum(row["status"] != "ok" for row in rows),
        n_merged=sum(len(same) - 1 for same in lines),
        best=_best(good),
        map=map_chart(rows, floors or {}),
        pictures=front_charts(good, look, known),
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
    parameters = [f"{name}={row[name]}" for name in NUMBERS if row[name] is not None]
    words = " ".join([row["algorithm"], *parameters, row["hierarchy"], row["options"]]).strip() + _mark_of_guessable(
        row
    )
    return f"{words} (one label for everything)" if row.get("published_items") in (0, 1) else words


def _mark_of_guessable(row: Row) -> str:
    return " (guessable)" if row.get("guessable") else ""


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
    front = [
        row
        for row in rows
        if row["pareto"] and row["exact_ratio"] is not None and (RECORDS.measures(row) or PEOPLE.measures(row))
    ]
    if not front:
        return ""
    best = max(front, key=lambda row: row["exact_ratio"] - row["mean_chance"])
    by = yardstick_of(best)
    return (
        f"{name_of(best)}: {percent(best['exact_ratio'])} of entries are published unchanged, the worst attacker links "
        f"{percent(best['mean_chance'])} of all people, and the {by.loss_words} is {percent(best[by.loss])}."
    )


def front_charts(
    rows: Sequence[Row],
    look: Mapping[str, int],
    known: int,
    labels: Mapping[str, str] | None = None,
    floors: Mapping[int, float] | None = None,
) -> list[dict[str, Any]]:
    """A picture for each kind of settings there is, how to read it, and the key of its marks; ``look`` numbers
    algorithms, ``labels`` names settings by id, ``floors`` are the least errors of pair counts at each k.
    """
    kinds = [(by, [row for row in rows if yardstick_of(row) is by]) for by in YARDSTICKS]
    return [
        {
            "how": by.how.format(known=known),
            "chart": _front_chart(by, some, look, known, labels, floor_lines(floors or {}) if by is RECORDS else ()),
            "key": _key(some, look),
        }
        for by, some in kinds
        if some
    ]


def _key(rows: Sequence[Row], look: Mapping[str, int]) -> list[tuple[str, str]]:
    """The mark of each algorithm, and its name."""
    names = {row["algorithm"]: row["algorithm"] + _mark_of_guessable(row) for row in rows}
    return [(swatch(look[algorithm]), name) for algorithm, name in names.items()]


def _front_chart(
    by: Yardstick,
    rows: Sequence[Row],
    look: Mapping[str, int],
    known: int,
    labels: Mapping[str, str] | None,
    levels: Sequence[tuple[float, str]],
) -> str:
    """Every setting by risk and loss, and the front."""
    targets = {id(row): same[0]["id"] for same in merged(rows) for row in same}
    marks = [
        Mark(
            *by.place(row),
            look[row["algorithm"]],
            (f"{labels[row['id']]}, " if labels else "")
            + f"{name_of(row)}: {by.risk_words} {percent(row[by.risk])}, {by.loss_words} {by.show_loss(row[by.loss])}",
            f"p{row['id'] if labels else targets[id(row)]}",
            (labels or {}).get(row["id"], ""),
        )
        for row in rows
    ]
    front = sorted(by.place(row) for row in rows if row["pareto"])
    return plane(
        marks,
        front,
        by.risk_axis.format(known=known),
        by.loss_axis,
        f"Risk and loss of all {by.what}; the table below has the figures.",
        _share,
        by.loss_tick,
        levels,
    )


def _panels(rows: Sequence[Row], look: Mapping[str, int]) -> list[str]:
    """One small chart of the loss over the crowd size per model, m and hierarchy."""
    panels: dict[str, list[Row]] = {}
    for row in rows:
        parameters = [f"{name}={row[name]}" for name in ("m", "l", "h") if row[name] is not None]
        panels.setdefault(" ".join([row["model"], *parameters, row["hierarchy"]]).strip(), []).append(row)
    drawn = []
    for name, some in panels.items():
        by = yardstick_of(some[0])
        crowd = "k" if any(row["k"] is not None for row in some) else "p"
        lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for row in some:
            if row[crowd] is not None:
                lines.setdefault((row["algorithm"], row["options"]), []).append((row[crowd], row[by.loss]))
        if len({x for line in lines.values() for x, _ in line}) > 1:  # a single place shows no course
            series = [(look[algorithm], sorted(line)) for (algorithm, _), line in lines.items()]
            drawn.append(panel(name, series, crowd, by.loss_words, by.loss_tick))
    return drawn
