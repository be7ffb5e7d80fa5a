"""``report.html``: one self-contained page, in a public and an internal version."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from setveil.report.charts import curve
from setveil.report.facts import Facts
from setveil.report.words import ACHIEVED, METRICS, figure, percent, put


def write_report(facts: Facts, path: Path) -> None:
    """Render the page; the same facts give the same bytes."""
    from jinja2 import Environment, StrictUndefined

    source = resources.files("setveil.report").joinpath("report.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(figure=figure, percent=percent)
    page = environment.from_string(source).render(
        facts=facts,
        risk_chart=_risk_chart(facts),
        metrics=[
            (put(name, METRICS), value)
            for name, value in facts.metrics.items()
            if name in METRICS and value is not None
        ],
        achieved=[(put(name, ACHIEVED), value) for name, value in facts.achieved.items()],
        options=_shown_options(facts),
    )
    path.write_text(page, encoding="utf-8", newline="\n")


def _risk_chart(facts: Facts) -> str:
    lines = []
    for name, rows, css in (("before", facts.risk_before, "before"), ("after", facts.risk_after, "after")):
        points = [(row["known"], row["singled_out"]) for row in rows if row["singled_out"] is not None]
        if points:
            lines.append((name, points, css))
    return curve(
        lines,
        "items of a person the attacker knows",
        "records singled out",
        "Share of records singled out by the number of known items; the same figures stand in the table below.",
    )


def _shown_options(facts: Facts) -> list[tuple[str, Any]]:
    shown = []
    for name, value in facts.model_options.items():
        if isinstance(value, list):
            text = ", ".join(
                str(part) if not isinstance(part, list) else "{" + ", ".join(part) + "}" for part in value[:20]
            )
            value = text + (f" … ({len(value):,} in all)" if len(value) > 20 else "") or "none"
        shown.append((name, value))
    return shown
