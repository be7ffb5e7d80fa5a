"""``report.html``: one self-contained page, in a public and an internal version."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil.report.charts import bars, curve
from setveil.report.facts import Facts
from setveil.report.prose import advice_of, alternatives_of, analyses_of, glossary_of
from setveil.report.words import ACHIEVED, METRICS, figure, percent, put, short

MOVES = 100  # steps of the algorithm shown
LISTED = 20  # parts of a long parameter shown

# Only comfort: the page says everything without it.
SCRIPT = """
document.querySelectorAll('[data-needs-script]').forEach(function (part) { part.hidden = false; });
function openAll(within, open) { within.querySelectorAll('details').forEach(function (part) { part.open = open; }); }
document.querySelectorAll('button[data-open]').forEach(function (button) {
  button.addEventListener('click', function () { openAll(button.closest('section'), button.dataset.open === 'yes'); });
});
document.querySelectorAll('input[data-filter]').forEach(function (input) {
  var rows = document.getElementById(input.dataset.filter).tBodies[0].rows;
  input.addEventListener('input', function () {
    var wanted = input.value.toLowerCase(), shown = 0;
    Array.prototype.forEach.call(rows, function (row) {
      row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
      if (!row.hidden) { shown += 1; }
    });
    document.getElementById(input.dataset.filter + '-shown').textContent = shown + ' of ' + rows.length + ' rows';
  });
});
var opened = [];
window.addEventListener('beforeprint', function () {
  document.querySelectorAll('details:not([open])').forEach(function (part) { opened.push(part); part.open = true; });
});
window.addEventListener('afterprint', function () {
  opened.forEach(function (part) { part.open = false; });
  opened = [];
});
"""


def write_report(facts: Facts, path: Path) -> None:
    """Render the page; the same facts give the same bytes."""
    from setveil.report.template import report_template

    page = report_template().render(
        facts=facts,
        script=SCRIPT,
        script_hash=base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode(),
        attacker=facts.attacker,
        analyses=analyses_of(facts),
        advice=advice_of(facts),
        alternatives=alternatives_of(facts),
        glossary=glossary_of(facts),
        headline=_headline(facts),
        risk_charts=_risk_charts(facts),
        has_promise=facts.reach is not None,
        size_chart=_size_chart(facts),
        histograms=_histograms(facts.histograms),
        details=[
            (name.replace("_", " "), value)
            for name, value in facts.details.items()
            if isinstance(value, int | float | str) and name not in facts.metrics
        ],
        moves=[_move(move) for move in facts.details.get("moves", ())[:MOVES]],
        metrics=[
            (put(name, METRICS), value)
            for name, value in facts.metrics.items()
            if name in METRICS and value is not None
        ],
        achieved=[(put(name, ACHIEVED), value) for name, value in facts.achieved.items()],
        options=_shown_options(facts),
    )
    path.write_text(page, encoding="utf-8", newline="\n")


def _headline(facts: Facts) -> list[tuple[str, str]]:
    """Three or four figures that say it all, each with its caption."""
    shown = [(figure(facts.records), "records published")]
    for name in ("smallest_support", "smallest_class", "privacy_degree"):
        if facts.achieved.get(name) is not None:
            shown.append((figure(facts.achieved[name]), put(name, ACHIEVED)))
    if facts.kind != "grouping":
        pairs = [row for row in facts.risk_after if row["known"] == 2 and row["singled_out"] is not None]
        if pairs:
            after = percent(pairs[0]["singled_out"])
            before = [row["singled_out"] for row in facts.risk_before if row["known"] == 2]
            shown.append(
                (f"{percent(before[0])} → {after}", "singled out by two known items, before and after")
                if before
                else (after, "of published records are singled out by two known items")
            )
    for name, words in (
        ("ncp", "information lost (NCP)"),
        ("il_ratio", "items added or removed, per item of the original"),
    ):
        value = facts.metrics.get(name)
        if value is not None:
            shown.append((percent(value) if facts.is_internal else f"about {round(100 * value, 6):g} %", words))
    return shown


def _risk_charts(facts: Facts) -> list[str]:
    """Two curves over the number of known items: singled out, and the mean chance to be found."""
    charts = []
    for key, words in (
        ("singled_out", "records singled out"),
        ("mean_inverse_support", "mean chance to pick the right record"),
    ):
        lines = []
        for name, rows in (("before", facts.risk_before), ("after", facts.risk_after)):
            points = [(row["known"], row[key]) for row in rows if row[key] is not None]
            if points:
                lines.append((name, points, name))
        told = "; ".join(
            f"{name}: " + ", ".join(f"{percent(y)} at {x}" for x, y in points) for name, points, _ in lines
        )
        charts.append(
            curve(
                lines,
                "items of a person the attacker knows",
                words,
                f"Chart: {words} by number of known items. {told}.",
                facts.reach,
            )
        )
    return [chart for chart in charts if chart]


def _size_chart(facts: Facts) -> str:
    """How large classes or groups are."""
    shape = facts.shape
    if not shape.get("count"):
        return ""
    what = "groups" if facts.kind == "grouping" else "classes"
    return bars(
        [(what, shape["count"], "after")],
        _bins(shape["from"], shape["to"]),
        "records in it",
        what,
        f"Chart: {what} by number of records, from {shape['smallest']:,} to {shape['largest']:,}; half have at least "
        f"{shape['middle']:,}.",
    )


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


def _move(move: Mapping[str, Any]) -> dict[str, str]:
    """A step of the algorithm: what it did and because of what."""
    done = [
        f"{words} " + ", ".join(short(str(label)) for label in move[key])
        for key, words in (("raised", "raised to"), ("merged", "merged"), ("suppressed", "left out"))
        if move.get(key)
    ]
    witness = " + ".join(short(str(label)) for label in move.get("witness", ())[:LISTED])
    return {"done": "; ".join(done), "witness": witness, "support": figure(move.get("support"))}


def _shown_options(facts: Facts) -> list[tuple[str, Any]]:
    shown = []
    for name, value in facts.model_options.items():
        if isinstance(value, list):
            text = ", ".join(
                short(part) if isinstance(part, str) else "{" + ", ".join(map(short, part[:LISTED])) + "}"
                for part in value[:LISTED]
            )
            value = text + (f" … ({len(value):,} in all)" if len(value) > LISTED else "") or "none"
        shown.append((name, value))
    return shown
