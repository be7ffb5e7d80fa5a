"""``compare.html``: every setting of a comparison by what an attacker can do and what an analyst loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from pathlib import Path
from typing import Any

from setveil.models import NUMBERS
from setveil.report.words import figure, percent

Row = Mapping[str, Any]

# Colours that stay apart for most colour-blind readers and on paper; marks differ by shape as well.
COLOURS = ("#1f5fa8", "#a3201d", "#14693a", "#7a4b00", "#5b2a86", "#00697a", "#8a1f5c", "#3d3d3d")
SHAPES = ("circle", "square", "diamond", "triangle")
STYLE = """
body{font:16px/1.5 system-ui,sans-serif;color:#1c2430;margin:0 auto;max-width:64rem;padding:1.5rem}
h1{font-size:1.5rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid #d5dbe3}
svg{width:100%;height:auto;max-width:44rem;display:block}svg text{font:12px system-ui,sans-serif;fill:#566173}
svg .grid{stroke:#d5dbe3}svg .front{fill:none;stroke:#1c2430;stroke-width:1.5;stroke-dasharray:5 4}
svg a:focus *{stroke:#000;stroke-width:3}
table{border-collapse:collapse;font-size:.9rem;width:100%}th,td{padding:.25rem .5rem;border-bottom:1px solid #d5dbe3;text-align:left}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tr:target{background:#fff3c4}tr.front td:first-child{font-weight:700}
th button{all:unset;cursor:pointer;font-weight:700}th button:focus-visible{outline:2px solid #1f5fa8}
code{font-size:.85rem;overflow-wrap:anywhere}.multiples{display:grid;grid-template-columns:repeat(auto-fit,minmax(19rem,1fr));gap:1rem}
.soft{color:#566173}.key span{margin-right:1.2rem;white-space:nowrap}
@media print{body{max-width:none}th button{font-weight:700}}
"""
SORT = """
document.querySelectorAll('th button').forEach(function(button){button.addEventListener('click',function(){
var cell=button.parentNode,at=cell.cellIndex,body=cell.closest('table').tBodies[0],down=cell.getAttribute('aria-sort')==='ascending';
cell.parentNode.querySelectorAll('th').forEach(function(other){other.removeAttribute('aria-sort')});
cell.setAttribute('aria-sort',down?'descending':'ascending');
Array.from(body.rows).sort(function(a,b){var x=a.cells[at].dataset.v,y=b.cells[at].dataset.v,
n=(x!==''&&y!==''&&!isNaN(x)&&!isNaN(y))?x-y:x<y?-1:x>y?1:0;return down?-n:n}).forEach(function(row){body.appendChild(row)})})});
"""


def write_compare_page(rows: Sequence[Row], source: str, known: int, path: Path) -> None:
    """One offline page: the picture, small multiples, the table, and how to repeat each setting."""
    good = [row for row in rows if row["status"] == "ok" and None not in (row["avg_re"], row["mean_chance"])]
    look = {name: number for number, name in enumerate(dict.fromkeys(row["algorithm"] for row in good))}
    parts = [
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>setveil: comparison of {len(rows)} settings</title>',
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>',
        f"<h1>{len(rows)} settings on {escape(source)}</h1>",
        f"<p>{len(good)} gave a release that verified; {len(rows) - len(good)} did not and are listed with their reason.</p>",
        "<h2>Risk and loss</h2>",
        f"<p>To the left less risk (chance of an attacker who knows {known} items), further down less loss (mean relative error of "
        "COUNT queries on pairs). The dashed line joins the settings no other beats in both.</p>",
        front_chart(good, look, known),
        _key(look),
        "<h2>Over k and m</h2>",
        _multiples(good, look),
        "<h2>All settings</h2>",
        _table(rows, known),
        "<h2>Repeat a setting</h2>",
        _commands(rows, source),
        f"<script>{SORT}</script></body></html>\n",
    ]
    path.write_text("\n".join(parts), encoding="utf-8", newline="\n")


def _name(row: Row) -> str:
    told = [f"{name}={row[name]}" for name in NUMBERS if row[name] is not None]
    return " ".join([row["algorithm"], *told, row["hierarchy"], row["options"]]).strip()


class _Axis:
    """Logarithmic where values spread over more than one power of ten, else linear from zero."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        positive = [value for value in values if value > 0]
        self.least, self.most = (min(positive), max(positive)) if positive else (0.1, 1.0)
        self.is_log = self.most / self.least > 20
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        if self.is_log:
            low, high = log10(self.least) - 0.1, log10(self.most) + 0.1
            share = (log10(max(value, self.least * 0.8)) - low) / (high - low)
        else:
            share = value / (self.most * 1.08)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        if not self.is_log:
            return [self.most * step / 4 for step in range(5)]
        marks = [base * 10.0**power for power in range(-8, 9) for base in (1, 2, 5)]
        inside = [mark for mark in marks if self.least * 0.8 <= mark <= self.most * 1.25]
        return inside if len(inside) <= 7 else [mark for mark in inside if f"{mark:e}".startswith("1.")]


def front_chart(rows: Sequence[Row], look: Mapping[str, int], known: int) -> str:
    """Every setting by risk and loss, and the front; ``look`` numbers the algorithms."""
    if not rows:
        return "<p>No setting gave a release.</p>"
    width, height = 680, 420
    across = _Axis([row["mean_chance"] for row in rows], 70, width - 20)
    up = _Axis([row["avg_re"] for row in rows], height - 50, 20)
    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Risk and loss of every setting; the table below has the figures.">'
    ]
    for tick in across.ticks():
        parts.append(
            f'<line class="grid" x1="{across(tick)}" x2="{across(tick)}" y1="20" y2="{height - 50}"/><text x="{across(tick)}" y="{height - 32}" text-anchor="middle">{percent(tick)}</text>'
        )
    for tick in up.ticks():
        parts.append(
            f'<line class="grid" y1="{up(tick)}" y2="{up(tick)}" x1="70" x2="{width - 20}"/><text x="62" y="{up(tick) + 4}" text-anchor="end">{figure(float(f"{tick:.3g}"))}</text>'
        )
    front = sorted((row for row in rows if row["pareto"]), key=lambda row: row["mean_chance"])
    line = " ".join(f"{across(row['mean_chance'])},{up(row['avg_re'])}" for row in front)
    parts.append(f'<polyline class="front" points="{line}"/>')
    for row in rows:
        title = f"{_name(row)}: chance {percent(row['mean_chance'])}, query error {figure(row['avg_re'])}"
        mark = mark_of(across(row["mean_chance"]), up(row["avg_re"]), look[row["algorithm"]])
        parts.append(f'<a href="#p{row["id"]}" aria-label="{escape(title)}"><title>{escape(title)}</title>{mark}</a>')
    parts.append(
        f'<text x="{width / 2}" y="{height - 10}" text-anchor="middle">mean chance of an attacker who knows {known} items</text>'
    )
    parts.append('<text x="70" y="12">mean relative error of COUNT queries</text></svg>')
    return "".join(parts)


def mark_of(x: float, y: float, number: int, size: float = 5) -> str:
    """The mark of an algorithm: shape and colour."""
    colour, shape = COLOURS[number % len(COLOURS)], SHAPES[number % len(SHAPES)]
    if shape == "circle":
        return f'<circle cx="{x}" cy="{y}" r="{size}" fill="{colour}"/>'
    corners = {
        "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        "diamond": ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
        "triangle": ((0, -1.3), (1.3, 1), (-1.3, 1)),
    }[shape]
    points = " ".join(f"{x + a * size:.1f},{y + b * size:.1f}" for a, b in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def _key(look: Mapping[str, int]) -> str:
    marks = [
        f'<span><svg viewBox="0 0 14 14" style="width:14px;display:inline" aria-hidden="true">{mark_of(7, 7, number, 4.5)}</svg> {escape(name)}</span>'
        for name, number in look.items()
    ]
    return f'<p class="key">{"".join(marks)}</p>'


def _multiples(rows: Sequence[Row], look: Mapping[str, int]) -> str:
    """One small chart of query error over the crowd size per model, m and hierarchy."""
    panels: dict[str, list[Row]] = {}
    for row in rows:
        told = [f"{name}={row[name]}" for name in ("m", "l", "h") if row[name] is not None]
        panels.setdefault(" ".join([row["model"], *told, row["hierarchy"]]).strip(), []).append(row)
    return f'<div class="multiples">{"".join(_panel(name, some, look) for name, some in panels.items())}</div>'


def _panel(name: str, rows: Sequence[Row], look: Mapping[str, int]) -> str:
    crowd = "k" if any(row["k"] is not None for row in rows) else "p"
    rows = [row for row in rows if row[crowd] is not None]
    if not rows:
        return ""
    width, height = 300, 190
    across, up = (
        _Axis([row[crowd] for row in rows], 52, width - 12),
        _Axis([row["avg_re"] for row in rows], height - 34, 26),
    )
    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Query error over {crowd}: {escape(name)}"><text x="8" y="14" style="font-weight:700">{escape(name)}</text>'
    ]
    for value in sorted({row[crowd] for row in rows}):
        parts.append(f'<text x="{across(value)}" y="{height - 18}" text-anchor="middle">{value}</text>')
    for tick in up.ticks()[:5]:
        parts.append(
            f'<line class="grid" x1="52" x2="{width - 12}" y1="{up(tick)}" y2="{up(tick)}"/><text x="46" y="{up(tick) + 4}" text-anchor="end">{figure(float(f"{tick:.2g}"))}</text>'
        )
    lines: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        lines.setdefault((row["algorithm"], row["options"]), []).append(row)
    for (algorithm, _), some in lines.items():
        colour = COLOURS[look[algorithm] % len(COLOURS)]
        some = sorted(some, key=lambda row: row[crowd])
        points = " ".join(f"{across(row[crowd])},{up(row['avg_re'])}" for row in some)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [mark_of(across(row[crowd]), up(row["avg_re"]), look[algorithm], 3.2) for row in some]
    parts.append(f'<text x="{width / 2}" y="{height - 4}" text-anchor="middle">{crowd}</text></svg>')
    return "".join(parts)


def _table(rows: Sequence[Row], known: int) -> str:
    columns = (
        ("setting", None), (f"chance at {known}", "mean_chance"), ("singled out", "singled_out"), ("query error", "avg_re"), ("NCP", "ncp"),
        ("UL log2", "ul_log2"), ("left out", "suppression_ratio"), ("IL", "il_ratio"), ("KL", "kl"), ("items", "published_items"), ("seconds", "seconds"), ("MB", "peak_mb"),
    )  # fmt: skip
    head = "".join(
        f"<th{'' if key is None else ' class=n'}><button>{escape(name)}</button></th>" for name, key in columns
    )
    body = []
    for row in rows:
        cells = [f'<td data-v="{escape(_name(row))}">{escape(_name(row))}{" ★" if row["pareto"] else ""}</td>']
        if row["status"] != "ok":
            cells.append(
                f'<td data-v="" colspan="{len(columns) - 1}">{escape(row["status"])}: {escape(row["reason"])}</td>'
            )
        else:
            for _, key in columns[1:]:
                value = row[str(key)]
                shown = percent(value) if key in ("mean_chance", "singled_out") else figure(value)
                cells.append(f'<td class="n" data-v="{"" if value is None else value}">{shown}</td>')
        css = ' class="front"' if row["pareto"] else ""
        body.append(f'<tr id="p{row["id"]}"{css}>{"".join(cells)}</tr>')
    return f'<table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table><p class="soft">★ no other setting has both less risk and less loss.</p>'


def _commands(rows: Sequence[Row], source: str) -> str:
    lines = [
        f"<li>{escape(_name(row))}: <code>setveil anonymize {escape(source)} --policy points/{row['id']}.toml -o OUT</code></li>"
        for row in rows
        if row["status"] == "ok"
    ]
    return f"<ul>{''.join(lines)}</ul>"
