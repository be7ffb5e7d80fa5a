"""Line charts as SVG files: no script, one white card that reads the same on light and dark pages.

Lines differ by marker as well as by colour, and each is named at its end. Where lines lie on each other, earlier ones are
drawn wider, so that all of them can be seen. What a paper prints is dashed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10

from experiments.experiment import Line, Outcome, Panel
from setveil.report.words import figure

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 470, 300, 62, 58, 48
LETTER = 7.0  # mean width of a letter, in pixels, at the size of the labels
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#2f9bd6", "#444444")  # told apart by everyone
MARKS: tuple[Callable[[float, float, float], str], ...] = (
    lambda x, y, r: f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"',
    lambda x, y, r: f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r}" height="{2 * r}"',
    lambda x, y, r: _polygon(x, y, ((0, -1.3 * r), (1.2 * r, r), (-1.2 * r, r))),
    lambda x, y, r: _polygon(x, y, ((0, -1.4 * r), (1.4 * r, 0), (0, 1.4 * r), (-1.4 * r, 0))),
    lambda x, y, r: _polygon(x, y, ((0, 1.3 * r), (1.2 * r, -r), (-1.2 * r, -r))),
    lambda x, y, r: _polygon(x, y, ((-r, -r), (0, -0.4 * r), (r, -r), (0.4 * r, 0), (r, r), (0, 0.4 * r), (-r, r), (-0.4 * r, 0))),
)  # fmt: skip


def draw(panel: Panel) -> str:
    """The picture of a panel that has at least one point."""
    values = [y for line in panel.lines for _, y in line.points if y is not None]
    xs = axis_of(panel.lines)
    ticks, share = scale_of(values, panel.log_y)
    right = 36 + LETTER * max(len(line.name) for line in panel.lines)
    width = max(WIDTH, round(LEFT + right + 46 * len(xs)))
    step = (width - LEFT - right) / len(xs)

    def across(x: float | str) -> float:
        return round(LEFT + (xs.index(x) + 0.5) * step, 1)

    def up(y: float) -> float:
        return round(HEIGHT - BOTTOM - share(y) * (HEIGHT - BOTTOM - TOP), 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" viewBox="0 0 {width} {HEIGHT}" role="img" '
        f'aria-label="{escape(alternative(panel))}" '
        'font-family="system-ui, -apple-system, sans-serif" font-size="12" fill="#333">',
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{HEIGHT - 1}" rx="6" fill="#fff" stroke="#d9d9d9"/>',
        f'<text x="14" y="22" font-size="13.5" font-weight="600" fill="#111">{escape(panel.title)}</text>',
        f'<text x="14" y="{TOP - 15}" fill="#555">{escape(panel.y_label)}{" (log scale)" if panel.log_y else ""}</text>',
    ]
    for value, label in ticks:
        parts.append(
            f'<line x1="{LEFT}" x2="{width - right:.1f}" y1="{up(value)}" y2="{up(value)}" stroke="#e4e4e4"/>'
            f'<text x="{LEFT - 7}" y="{up(value) + 4:.1f}" text-anchor="end">{label}</text>'
        )
    parts += _x_labels(xs, panel.x_label, across, step, (LEFT + width - right) / 2)
    is_ordered = sum(not isinstance(x, str) for x in xs) * 2 > len(xs)  # between names there is no way to draw
    ends = []
    for number, (line, style) in enumerate(zip(panel.lines, styles_of(panel.lines), strict=True)):
        shift = 0.0 if is_ordered else (number - (len(panel.lines) - 1) / 2) * min(11, step * 0.8 / len(panel.lines))
        places = [(across(x) + shift, up(y), x, y) for x, y in line.points if y is not None]
        if not places:
            continue
        colour = COLOURS[style % len(COLOURS)]
        if is_ordered:
            parts.append(_strokes(line, across, up, colour, _thin(3.4, number)))
        for x, y, at, value in places:
            told = f"{escape(line.name)}: {figure(value)} at {escape(name_of(at))}"
            parts.append(_mark(style, x, y, _thin(5.4, number), colour, told))
        end, y, at, _ = places[-1]
        ends.append((y, end if at == xs[-1] else None, style, line.name, colour))
    parts += _names(ends, width - right + 12)
    return "".join(parts) + "</svg>\n"


def alternative(panel: Panel) -> str:
    """What the picture shows, for those who do not see it; the numbers stand in a table beside it."""
    return f"{panel.title}: {panel.y_label}" + (f" over {panel.x_label}" if panel.x_label else "")


def plot_names(name: str, outcome: Outcome) -> list[tuple[Panel, str]]:
    """The panels that have something to draw, each with the name of its file."""
    panels = [panel for panel in outcome.panels if any(y is not None for line in panel.lines for _, y in line.points)]
    if len(panels) == 1:
        return [(panels[0], f"{name}.svg")]
    return [(panel, f"{name}-{number}.svg") for number, panel in enumerate(panels, start=1)]


def axis_of(lines: Sequence[Line]) -> list[float | str]:
    """The places on the x axis, at equal distances: numbers in ascending order, then words as they come."""
    seen = list(dict.fromkeys(x for line in lines for x, _ in line.points))
    return sorted(x for x in seen if not isinstance(x, str)) + [x for x in seen if isinstance(x, str)]


def scale_of(values: Sequence[float], log: bool) -> tuple[list[tuple[float, str]], Callable[[float], float]]:
    """Round ticks with their labels, and where a value lies between the first and the last of them (0 to 1)."""
    if log and any(value > 0 for value in values):
        positive = [value for value in values if value > 0]
        low, high = floor(log10(min(positive))), ceil(log10(max(positive)))
        high = max(high, low + 1)
        every = ceil((high - low) / 6)
        decades = [10.0**power for power in range(low, high + 1, every)]
        between = [tick * part for tick in decades[:-1] for part in (2, 5)] if high - low <= 2 else []
        top = 10.0**high
        return (
            [(tick, _short(tick)) for tick in sorted(decades + between)],
            # what is 0 cannot be shown on such an axis: it lies at the bottom
            lambda value: (log10(min(max(value, 10.0**low), top)) - low) / (high - low),
        )
    least, most = min(0.0, *values), max(0.0, *values)
    if max(values) < 0 and max(values) - min(values) < 0.5 * abs(max(values)):
        least, most = min(values), max(values)  # far below zero: show the differences
    step = _round_step((most - least) / 5 or abs(most) / 5 or 1.0)
    first = floor(least / step + 1e-9)
    last = max(ceil(most / step - 1e-9), first + 1)
    digits = max(0, -floor(log10(step)))
    ticks = [
        (number * step, f"{number * step:,.{digits}f}" if digits else _short(number * step))
        for number in range(first, last + 1)
    ]
    return ticks, lambda value: (value / step - first) / (last - first)


def styles_of(lines: Sequence[Line]) -> list[int]:
    """The number of each line's colour and marker; what a paper prints about a method looks like that method."""
    own = {line.name: number for number, line in enumerate(lines) if not line.is_paper}
    styles = []
    for number, line in enumerate(lines):
        partners = [name for name in own if line.is_paper and name in line.name]
        styles.append(own[max(partners, key=len)] if partners else number)
    return styles


def _short(value: float) -> str:
    """A round number in few letters: 20k, 5M."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):,g}{letter}"
    return f"{value:,g}"


def _round_step(about: float) -> float:
    power: float = 10.0 ** floor(log10(about))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= about * 0.999)


def _thin(most: float, number: int) -> float:
    """Each further line is a little thinner than the one before, so that it does not hide it."""
    return most * max(0.86**number, 0.45)


def _strokes(
    line: Line, across: Callable[[float | str], float], up: Callable[[float], float], colour: str, width: float
) -> str:
    """The line itself, broken where it has no value."""
    runs: list[list[str]] = [[]]
    for x, y in line.points:
        if y is None:
            runs.append([])
        else:
            runs[-1].append(f"{across(x)},{up(y)}")
    dashes = ' stroke-dasharray="6 4"' if line.is_paper else ""
    return "".join(
        f'<polyline points="{" ".join(run)}" fill="none" stroke="{colour}" stroke-width="{width:.1f}"{dashes}/>'
        for run in runs
        if len(run) > 1
    )


def _x_labels(
    xs: Sequence[float | str], title: str, across: Callable[[float | str], float], step: float, middle: float
) -> list[str]:
    labels = [name_of(x) for x in xs]
    is_tight = any(len(label) * LETTER > step - 4 for label in labels)
    parts = []
    for x, label in zip(xs, labels, strict=True):
        lines = _fold(label, int((step - 4) / LETTER)) if is_tight else [label]
        spans = "".join(
            f'<tspan x="{across(x)}" dy="{0 if number == 0 else 13}">{escape(part)}</tspan>'
            for number, part in enumerate(lines)
        )
        parts.append(f'<text y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{spans}</text>')
    parts.append(
        f'<text x="{middle:.1f}" y="{HEIGHT - 7}" text-anchor="middle" fill="#555">{escape(title)}</text>'
        if title
        else ""
    )
    return parts


def name_of(x: float | str) -> str:
    """A place on the x axis in words."""
    return x if isinstance(x, str) else f"{x:,g}" if abs(x) < 1e6 else f"{x:,.0f}"


def _fold(label: str, most: int) -> list[str]:
    """A long label in at most two lines, broken at a space or a hyphen near its middle."""
    if len(label) <= most:
        return [label]
    breaks = [place + 1 for place, letter in enumerate(label) if letter in " -"]
    if not breaks:
        return [label]
    at = min(breaks, key=lambda place: abs(place - len(label) / 2))
    return [label[:at].strip(), label[at:].strip()]


def _names(ends: Sequence[tuple[float, float | None, int, str, str]], x: float) -> list[str]:
    """The names of the lines beside their ends, moved apart where they would touch."""
    gap = 16.0
    ordered = sorted(ends, key=lambda end: end[0])
    places = [end[0] for end in ordered]
    for _ in range(200):
        moved = False
        for one in range(len(places) - 1):
            overlap = gap - (places[one + 1] - places[one])
            if overlap > 0.01:
                places[one] -= overlap / 2
                places[one + 1] += overlap / 2
                moved = True
        if not moved:
            break
    if places:  # stay on the card
        places = [place + max(0.0, TOP - 6 - places[0]) for place in places]
        places = [place - max(0.0, places[-1] - (HEIGHT - 12)) for place in places]
    parts = []
    for (y, end, style, name, colour), place in zip(ordered, places, strict=True):
        if end is not None:  # from lines that end early it would cross the others
            parts.append(
                f'<line x1="{end + 7:.1f}" y1="{y:.1f}" x2="{x - 7:.1f}" y2="{place:.1f}" stroke="#bbb" stroke-width="0.8"/>'
            )
        parts.append(_mark(style, x, place, 4, colour, ""))
        parts.append(f'<text x="{x + 9:.1f}" y="{place + 4:.1f}" fill="#222">{escape(name)}</text>')
    return parts


def _mark(style: int, x: float, y: float, radius: float, colour: str, told: str) -> str:
    """A marker; what is told appears while the mouse is on it."""
    shape = MARKS[style % len(MARKS)](x, y, round(radius, 1))
    painted = f'{shape} fill="#fff" stroke="{colour}" stroke-width="1.8"'
    return f"{painted}><title>{told}</title></{shape[1:].split(' ', 1)[0]}>" if told else f"{painted}/>"


def _polygon(x: float, y: float, corners: Sequence[tuple[float, float]]) -> str:
    return '<polygon points="' + " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners) + '"'
