"""``report.html``: one self-contained page, in a public and an internal version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil.report.charts import bars, curve, icicle, shifts
from setveil.report.facts import Facts
from setveil.report.figures import (
    SIZES,
    inference_by_known,
    residual_of,
    unchanged_of,
    utility_of,
    worst_by_known,
    worst_inference,
)
from setveil.report.lights import headline_of, kept_words, lights_of, risk_words
from setveil.report.prose import advice_of, alternatives_of, analyses_of, glossary_of
from setveil.report.words import achieved_lines, figure, metric_lines, named, percent

MOVES = 100  # steps of the algorithm shown
LISTED = 6  # parts of a long parameter shown

ABOUT = (("title", "Data set"), ("date", "Date"), ("responsible", "Responsible"), ("purpose", "Purpose"))
REASON = "reason", "Reason for a release with a red light"  # shown where one was given
LEGEND = (
    ("intact", "published unchanged"),
    ("general", "published as a category"),
    ("mixed", "some entries unchanged, some generalized"),
    ("hidden", "covered by a category"),
    ("gone", "suppressed"),
    ("absent", "not in the data"),
)
SHIFTS = 20  # items whose counts changed most, drawn


def write_report(facts: Facts, path: Path) -> None:
    """Write the page."""
    path.write_text(render_report(facts), encoding="utf-8", newline="\n")


def render_report(facts: Facts) -> str:
    """The page; the same facts give the same text."""
    from setveil.report.template import render_page

    blocks = facts.changes.get("picture") or facts.shape.get("picture") or ()
    found = utility_of(facts.query_errors)
    return render_page(
        "report.html.j2",
        facts=facts,
        headline=headline_of(facts),
        lights=lights_of(facts),
        kept=kept_words(facts.kept),
        about=[
            (words, facts.about.get(name))
            for name, words in (*ABOUT, REASON)
            if name in facts.about or name != REASON[0]
        ],
        attacker=facts.attacker,
        attacks=_attacks(facts),
        residual=residual_of(facts),
        risk_words=risk_words,
        worst=worst_by_known(facts.attacks, facts.risk_after, facts.risk_before),
        inferred=worst_inference(facts.attacks),
        inferences=inference_by_known(facts.attacks),
        analyses=analyses_of(facts),
        advice=advice_of(facts) if facts.is_internal else [],  # it is for the owner
        alternatives=alternatives_of(facts),
        glossary=glossary_of(facts),
        risk_charts=_risk_charts(facts),
        has_guarantee=facts.reach is not None,
        picture=icicle(blocks, "Picture: items and their categories; codebook.csv has every item."),
        legend=[(css, words) for css, words in LEGEND if any(block.css == css for block in blocks)],
        size_chart=_size_chart(facts),
        shift_chart=_shift_chart(facts),
        histograms=_histograms(facts.histograms),
        unchanged=unchanged_of(facts),
        utility=found,
        query_errors=[
            (words, facts.query_errors[size], found.errors[size])
            for size, words in SIZES.items()
            if facts.query_errors.get(size)
        ],
        details=[
            (name.replace("_", " "), value)
            for name, value in facts.details.items()
            if isinstance(value, int | float | str) and name not in facts.metrics and name != "optimum"
        ],
        portfolio=_portfolio(facts),
        moves=[_move(move, facts.names) for move in facts.details.get("moves", ())[:MOVES]],
        metrics=metric_lines(facts.metrics),
        achieved=achieved_lines(facts.achieved),
        options=_shown_options(facts),
    )


def _attacks(facts: Facts) -> list[dict[str, Any]]:
    """The attacks carried out, each beside what the guarantee says about it."""
    reach, crowd = facts.reach, facts.crowd
    rows = []
    for row in facts.attacks:
        guaranteed = "no limit"
        if crowd and reach is not None and row["known"] <= reach:
            guaranteed = f"linked with at most {percent(1 / crowd)}"
        if crowd and facts.traits.has_groups and row["right_guess"] is not None:
            guaranteed = f"guessed right with at most {percent(1 / crowd)}"
        rows.append({**row, "guaranteed": guaranteed})
    return rows


def _portfolio(facts: Facts) -> dict[str, Any]:
    """What was tried before the release was chosen, the smallest figure first; {} if the algorithm was named."""
    portfolio = facts.details.get("portfolio")
    if not portfolio:
        return {}
    tried = [
        {
            "words": " ".join((row["algorithm"], *(f"{name}={value}" for name, value in row["options"].items()))),
            "figure": row["figure"],
            "refused": row.get("refused", ""),
            "is_chosen": (row["algorithm"], row["options"]) == (portfolio["chosen"], portfolio["options"]),
        }
        for row in portfolio["tried"]
    ]
    ordered = sorted(tried, key=lambda row: (row["figure"] is None, row["figure"] or 0.0, not row["is_chosen"]))
    return {
        "yardstick": portfolio["yardstick"],
        "means": portfolio["means"],
        "effort": portfolio["effort"],
        "tried": ordered,
    }


def _risk_charts(facts: Facts) -> list[str]:
    """Two curves over the number of known items: singled out, and the mean probability of being linked."""
    charts = []
    for key, words in (
        ("singled_out", "records singled out"),
        ("mean_inverse_support", "mean probability of picking the right record"),
    ):
        lines = []
        for name, rows in (("before", facts.risk_before), ("after", facts.risk_after)):
            points = [(row["known"], row[key]) for row in rows if row[key] is not None]
            if points:
                lines.append((name, points, name))
        text = "; ".join(
            f"{name}: " + ", ".join(f"{percent(y)} at {x}" for x, y in points) for name, points, _ in lines
        )
        charts.append(
            curve(
                lines,
                "items (before) or labels (after) that the attacker knows"
                if facts.risk_before
                else "labels that the attacker knows",
                words,
                f"Chart: {words} by number of known items. {text}.",
                facts.reach,
            )
        )
    return [chart for chart in charts if chart]


def _size_chart(facts: Facts) -> str:
    """How large classes or groups are."""
    shape = facts.shape
    if not shape.get("count"):
        return ""
    what = facts.traits.class_noun
    return bars(
        [(what, shape["count"], "after")],
        _bins(shape["from"], shape["to"]),
        "records in it",
        what,
        f"Chart: {what} by number of records, from {shape['smallest']:,} to {shape['largest']:,}; half have at least "
        f"{shape['middle']:,}.",
    )


def _shift_chart(facts: Facts) -> str:
    """The items whose counts a replacement changed most."""
    rows = [(row["label"], row["before"], row["after"]) for row in facts.changes.get("supports", ())[:SHIFTS]]
    return shifts(rows, "records with the item", "Chart: items that gained or lost most records; figures below.")


def _histograms(histograms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Charts of record sizes and supports, with their tables."""
    shown = []
    for name, title, x_label, y_label in (
        ("sizes", "Items per record", "items in a record", "records"),
        ("supports", "Records per item", "records with the item", "items"),
    ):
        bins = histograms.get(name)
        if not bins:
            continue
        filled = [place for place, pair in enumerate(zip(bins["before"], bins["after"], strict=True)) if any(pair)]
        if filled:
            part = slice(filled[0], filled[-1] + 1)
            labels = _bins(bins["from"][part], bins["to"][part])
            series = [(side, bins[side][part], side) for side in ("before", "after")]
            chart = bars(series, labels, x_label, y_label, f"Chart: {title.lower()}, before and after; figures below.")
            rows = list(zip(labels, bins["before"][part], bins["after"][part], strict=True))
            shown.append({"title": title, "x": x_label, "y": y_label, "chart": chart, "rows": rows})
    return shown


def _bins(starts: Sequence[int], ends: Sequence[int]) -> list[str]:
    return [str(start) if start == end else f"{start}–{end}" for start, end in zip(starts, ends, strict=True)]


def _move(move: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, str]:
    """A step of the algorithm: what it did and because of what."""
    done = [
        f"{words} " + ", ".join(named(str(label), names) for label in move[key])
        for key, words in (("raised", "generalized to"), ("merged", "merged"), ("suppressed", "suppressed"))
        if move.get(key)
    ]
    witness = " + ".join(named(str(label), names) for label in move.get("witness", ())[:LISTED])
    return {"done": "; ".join(done), "witness": witness, "support": figure(move.get("support"))}


def _shown_part(part: Any, names: Mapping[str, str]) -> str:
    """An item, an itemset, or a rule: its two sides, and its own limits."""
    if not isinstance(part, list):
        return named(str(part), names)
    if all(isinstance(one, str) for one in part):
        return "{" + ", ".join(named(one, names) for one in part[:LISTED]) + "}"
    own = f" [k={part[2]}, c={part[3]}]" if len(part) > 2 else ""
    return " => ".join(_shown_part(side, names) for side in part[:2]) + own


def _shown_options(facts: Facts) -> list[tuple[str, Any]]:
    shown = []
    for name, value in facts.model_options.items():
        if isinstance(value, list):
            text = ", ".join(_shown_part(part, facts.names) for part in value[:LISTED])
            value = text + (f" … ({len(value):,} in total)" if len(value) > LISTED else "") or "none"
        shown.append((name, value))
    return shown
