"""Small pictures that privacy models choose from: people, items and what is hidden; without words."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.web import texts as t


def picture_of(name: str) -> str:
    """A picture as SVG, with a name for screen readers; a model without a picture, or with an unknown one, has an
    empty one.
    """
    if name not in _PARTS:
        return '<svg viewBox="0 0 96 40" width="96" height="40" aria-hidden="true"></svg>'
    return (
        f'<svg viewBox="0 0 96 40" width="96" height="40" role="img" aria-label="{t.PICTURES[name]}">'
        f"{''.join(_PARTS[name])}</svg>"
    )


def _person(x: int, css: str = "person") -> str:
    return (
        f'<g class="{css}" transform="translate({x},8)"><circle cx="7" cy="5" r="4"/>'
        '<path d="M1 24v-7a6 6 0 0 1 12 0v7z"/></g>'
    )


def _item(x: int, y: int, css: str = "item") -> str:
    return f'<rect class="{css}" x="{x}" y="{y}" width="9" height="9" rx="1.5"/>'


def _sensitive(x: int, y: int) -> str:
    return f'<path class="sensitive" d="M{x} {y - 6}l6 6l-6 6l-6-6z"/>'


def _frame(x: int, width: int) -> str:
    return f'<rect class="frame" x="{x}" y="2" width="{width}" height="36" rx="6"/>'


def _lens(x: int, y: int) -> str:
    return f'<g class="lens"><circle cx="{x}" cy="{y}" r="10"/><path d="M{x + 7} {y + 7}l8 8"/></g>'


_PARTS: dict[str, Sequence[str]] = {
    "crowd": [*(_person(x) for x in (2, 18, 34, 50, 66)), _lens(72, 17)],
    "group": [_frame(1, 68), *(_person(x) for x in (5, 20, 35, 50)), _sensitive(83, 20)],
    "records": [
        part for row in range(3) for x in (20, 36, 52, 68) for part in (_item(x, 2 + 13 * row, f"item c{x % 3}"),)
    ],
    "both": [*(_person(x) for x in (2, 18, 34, 50)), _lens(54, 17), _sensitive(83, 20)],
    "pair": [
        '<path class="link" d="M34 20h28"/>',
        _item(24, 15, "item strong"),
        _item(62, 15, "item strong"),
        *(_item(x, y, "item faint") for x, y in ((4, 4), (4, 27), (43, 2), (43, 29), (84, 4), (84, 27))),
    ],
}
