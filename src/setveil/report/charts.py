"""Small charts as inline SVG: no script, no network, printable, with text alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

Series = tuple[str, Sequence[tuple[float, float]], str]  # name, points (x, y in 0..1), CSS class


def curve(series: Sequence[Series], x_label: str, y_label: str, alternative: str) -> str:
    """Lines over a few x values with y shown as percent."""
    points = [point for _, line, _ in series for point in line]
    if not points:
        return ""
    width, height, left, bottom, top, right = 520, 260, 56, 44, 14, 14
    xs = sorted({x for x, _ in points})
    y_top, n_steps = _round_top(max(y for _, y in points))
    span = max(xs[-1] - xs[0], 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (x - xs[0]) / span * (width - left - right)
        up = height - bottom - y / y_top * (height - bottom - top)
        return round(across, 1), round(up, 1)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(alternative)}">']
    for step in range(n_steps + 1):
        y = y_top * step / n_steps
        _, up = place(xs[0], y)
        parts.append(f'<line class="grid" x1="{left}" x2="{width - right}" y1="{up}" y2="{up}"/>')
        digits = 0 if y_top >= 0.05 else 1 if y_top >= 0.005 else 2
        parts.append(f'<text x="{left - 6}" y="{up + 4}" text-anchor="end">{100 * y:.{digits}f} %</text>')
    for x in xs:
        across, base = place(x, 0)
        parts.append(f'<text x="{across}" y="{base + 18}" text-anchor="middle">{x:g}</text>')
    for name, line, css in series:
        path = " ".join(f"{place(x, y)[0]},{place(x, y)[1]}" for x, y in line)
        parts.append(f'<polyline class="{css}" points="{path}"/>')
        for x, y in line:
            across, up = place(x, y)
            parts.append(
                f'<circle class="{css}" cx="{across}" cy="{up}" r="4"><title>{escape(name)}: {100 * y:.2f} % at {x:g}</title></circle>'
            )
    middle = (left + width - right) / 2
    parts.append(f'<text x="{middle}" y="{height - 6}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(f'<text x="{left}" y="{top - 3}">{escape(y_label)}</text></svg>')
    return "".join(parts)


def _round_top(highest: float) -> tuple[float, int]:
    """A round number not below ``highest``, and into how many round steps it is divided."""
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
