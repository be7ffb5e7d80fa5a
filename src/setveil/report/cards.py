"""Small cards for notebooks: what a noun has to say about itself, escaped, in the colours of the page around it.

Ink and paper are the notebook's own, so that a card reads well in light and dark themes; only the edge has a colour,
one with enough contrast on both. No script, nothing from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

EDGES = {"": "#6b7a90", "good": "#2e8b57", "care": "#c27c0e", "bad": "#d0453e"}
_LINE = "border-bottom:1px solid rgba(128,128,128,.35)"
_CELL = f"padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top;{_LINE}"
_NUMBER = f"padding:.15rem 0 .15rem .8rem;text-align:right;font-variant-numeric:tabular-nums;{_LINE}"


def card(
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    header: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    note: str = "",
    tone: str = "",
) -> str:
    """A title, some facts, a small table (the first column text, the others numbers) and a closing line."""
    parts = [
        f'<div class="setveil-card" style="display:inline-block;max-width:100%;overflow-x:auto;padding:.5rem 1rem;'
        f'border:1px solid rgba(128,128,128,.35);border-left:.4rem solid {EDGES[tone]};border-radius:.4rem">',
        f'<div style="font-weight:700">{escape(title)}</div>',
    ]
    if facts:
        table_rows = "".join(
            f'<tr><th scope="row" style="{_CELL};font-weight:400;opacity:.75">{escape(name)}</th>'
            f'<td style="{_CELL}">{escape(value)}</td></tr>'
            for name, value in facts
        )
        parts.append(f'<table style="border-collapse:collapse;margin:.3rem 0">{table_rows}</table>')
    if header:
        parts.append(_table(header, rows))
    if note:
        parts.append(f'<div style="opacity:.75">{escape(note)}</div>')
    return "".join([*parts, "</div>"])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        styled = (
            f'<{tag} style="{_NUMBER if place else _CELL}">{escape(cell)}</{tag}>' for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(styled)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    head = line(header, "th")
    return f'<table style="border-collapse:collapse;margin:.3rem 0"><thead>{head}</thead><tbody>{body}</tbody></table>'
