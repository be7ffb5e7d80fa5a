"""Small charts as inline SVG: no script, no network, printable, with text alternatives.

A chart is a labelled group; what it shows also stands in a table beside it. Points can be reached with the keyboard and
then show their figure. Series differ by shape and pattern as well as by colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Series = tuple[str, Sequence[tuple[float, float]], str]  # name, points (x, y in 0..1), CSS class
Bars = tuple[str, Sequence[int], str]  # name, a count per place, CSS class

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 460, 250, 58, 44, 24, 16
MARK = 4.5  # half the width of a point


def curve(series: Sequence[Series], x_label: str, y_label: str, alternative: str, promised: float | None = None) -> str:
    """Lines over a few x values with y shown as percent; the part up to ``promised`` is shaded."""
    points = [point for _, line, _ in series for point in line]
    if not points:
        return ""
    xs = sorted({x for x, _ in points})
    y_top, n_steps = _round_top(max(y for _, y in points))
    span = max(xs[-1] - xs[0], 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + 8 + (x - xs[0]) / span * (WIDTH - LEFT - RIGHT - 16)
        return round(across, 1), _height(y / y_top)

    digits = 0 if y_top >= 0.05 else 1 if y_top >= 0.005 else 2
    parts = [_opening(alternative, "group")]
    if promised is not None and promised >= xs[0]:
        end = WIDTH - RIGHT if promised >= xs[-1] else place(promised + 0.5, 0)[0]
        parts.append(
            f'<rect class="promised" x="{LEFT}" y="{TOP}" width="{end - LEFT:.1f}" height="{HEIGHT - BOTTOM - TOP}"/>'
        )
    parts += _grid([f"{100 * y_top * step / n_steps:.{digits}f} %" for step in range(n_steps + 1)])
    for x in xs:
        parts.append(f'<text x="{place(x, 0)[0]}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    for name, line, css in series:
        path = " ".join(f"{across},{up}" for across, up in (place(x, y) for x, y in line))
        parts.append(f'<polyline class="{css}" points="{path}"/>')
        for x, y in line:
            parts.append(_point(*place(x, y), css, name, f"{100 * y:.2f} %", f"{x:g}"))
    parts += _titles(x_label, y_label)
    return "".join(parts)


def bars(series: Sequence[Bars], labels: Sequence[str], x_label: str, y_label: str, alternative: str) -> str:
    """Counts side by side per label; labels are thinned where they would touch."""
    highest = max((count for _, counts, _ in series for count in counts), default=0)
    if not highest:
        return ""
    y_top, n_steps = _round_count(highest)
    slot = (WIDTH - LEFT - RIGHT) / len(labels)
    width = min(slot * 0.84, 60) / len(series)
    every = -(-max(map(len, labels)) * 8 * len(labels) // (WIDTH - LEFT - RIGHT))
    parts = [_opening(alternative, "img")]
    parts += _grid([f"{y_top * step // n_steps:,}" for step in range(n_steps + 1)])
    for place, label in enumerate(labels):
        start = LEFT + place * slot
        if place % max(every, 1) == 0:
            middle = round(start + slot / 2, 1)
            parts.append(f'<text x="{middle}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{escape(label)}</text>')
        for number, (name, counts, css) in enumerate(series):
            if counts[place]:
                up = _height(counts[place] / y_top)
                parts.append(
                    f'<rect class="{css}" x="{start + slot / 2 + (number - len(series) / 2) * width:.1f}" y="{up}" width="{width:.1f}" '
                    f'height="{HEIGHT - BOTTOM - up:.1f}"><title>{escape(name)}: {counts[place]:,} at {escape(label)}'
                    "</title></rect>"
                )
    parts += _titles(x_label, y_label)
    return "".join(parts)


def _opening(alternative: str, role: str) -> str:
    """``group`` where parts can be reached one by one, ``img`` where the chart is one thing."""
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="{role}" aria-label="{escape(alternative)}">'


def _height(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)


def _grid(labels: Sequence[str]) -> list[str]:
    """Lines from bottom to top, each with its label."""
    parts = []
    for step, label in enumerate(labels):
        up = _height(step / (len(labels) - 1))
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up}" y2="{up}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{up + 4:.1f}" text-anchor="end">{label}</text>')
    return parts


def _titles(x_label: str, y_label: str) -> list[str]:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [
        f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text x="{LEFT}" y="{TOP - 11}">{escape(y_label)}</text></svg>',
    ]


def _point(across: float, up: float, css: str, name: str, value: str, x: str) -> str:
    """A mark with its figure, shown while the keyboard or the mouse is on it."""
    if css == "before":
        mark = f'<rect x="{across - MARK:.1f}" y="{up - MARK:.1f}" width="{2 * MARK}" height="{2 * MARK}"/>'
    else:
        mark = f'<circle cx="{across}" cy="{up}" r="{MARK}"/>'
    words = f"{escape(name)}: {value} at {escape(x)}"
    anchor = "end" if across > WIDTH / 2 else "start"
    return (
        f'<g class="point {css}" tabindex="0" role="img" aria-label="{words}"><title>{words}</title>{mark}'
        f'<text class="tip" x="{across}" y="{max(up - 9, 12):.1f}" text-anchor="{anchor}">{value}</text></g>'
    )


def _round_top(highest: float) -> tuple[float, int]:
    """A round share not below ``highest``, and into how many round steps it is divided."""
    for top, n_steps in (
        (0.001, 5),
        (0.002, 4),
        (0.005, 5),
        (0.01, 5),
        (0.02, 4),
        (0.05, 5),
        (0.1, 5),
        (0.2, 4),
        (0.5, 5),
    ):
        if highest <= top:
            return top, n_steps
    return 1.0, 4


def _round_count(highest: int) -> tuple[int, int]:
    """The same for counts."""
    if highest <= 5:
        return highest, highest
    power = 10 ** (len(str(highest)) - 1)
    for top, n_steps in ((1, 5), (2, 4), (3, 3), (4, 4), (5, 5), (6, 3), (8, 4), (10, 5)):
        if highest <= top * power:
            return top * power, n_steps
    raise AssertionError("a number has fewer than ten times its leading power of ten")
