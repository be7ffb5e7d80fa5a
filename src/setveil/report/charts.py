"""The one chart drawer: small charts as inline SVG for the report, the comparison and the web page.

No script, no network, printable, with text alternatives. What a chart shows also stands in a table beside it. Marks
can be reached with the keyboard and then show their figure. Series differ by shape or pattern as well as by colour;
colours come from the page's style, so that charts follow its light and dark dress.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import floor, log10
from typing import NamedTuple

Series = tuple[str, Sequence[tuple[float, float]], str]  # name, points (x, y in 0..1), CSS class
Bars = tuple[str, Sequence[int], str]  # name, a count per place, CSS class

SHAPES = ("circle", "square", "diamond", "triangle")
N_COLOURS = 8  # classes s0 … s7 of the style
MARK = 4.5  # half the width of a mark


class Frame(NamedTuple):
    """The drawing area and the room around it for labels."""

    width: int = 460
    height: int = 250
    left: int = 58
    bottom: int = 44
    top: int = 24
    right: int = 16
    drop: int = 18  # from the axis down to the labels below it

    def opening(self, alternative: str, role: str) -> str:
        """``group`` where parts can be reached one by one, ``img`` where the chart is one thing."""
        return f'<svg viewBox="0 0 {self.width} {self.height}" role="{role}" aria-label="{escape(alternative)}">'

    def up(self, share: float) -> float:
        """The place of a share of the height."""
        return round(self.height - self.bottom - share * (self.height - self.bottom - self.top), 1)

    def line_across(self, up: float, label: str) -> str:
        """A grid line with its label at the left."""
        return (
            f'<line class="grid" x1="{self.left}" x2="{self.width - self.right}" y1="{up}" y2="{up}"/>'
            f'<text x="{self.left - 6}" y="{up + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        )

    def line_up(self, across: float, label: str) -> str:
        """A grid line with its label below."""
        return (
            f'<line class="grid" x1="{across}" x2="{across}" y1="{self.top}" y2="{self.height - self.bottom}"/>'
            + self.below(across, label)
        )

    def below(self, across: float, label: str) -> str:
        """A label under the drawing."""
        up = self.height - self.bottom + self.drop
        return f'<text x="{across}" y="{up}" text-anchor="middle">{escape(label)}</text>'

    def titles(self, x_label: str, y_label: str) -> str:
        """What the axes are, and the end of the chart."""
        middle = (self.left + self.width - self.right) / 2
        return (
            f'<text x="{middle}" y="{self.height - 6}" text-anchor="middle">{escape(x_label)}</text>'
            f'<text x="{self.left}" y="{self.top - 11}">{escape(y_label)}</text></svg>'
        )


SMALL = Frame()
LARGE = Frame(680, 420, 70, 58, 24, 20, 26)
PANEL = Frame(310, 190, 62, 38, 28, 12)


class Axis:
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
        """A few round values to label."""
        if not self.is_log:
            power = 10.0 ** floor(log10(self.most))
            step = next(base * power for base in (0.1, 0.2, 0.25, 0.5, 1, 2, 2.5) if self.most <= 5 * base * power)
            return [round(number * step, 12) for number in range(floor(self.most * 1.08 / step) + 1)]
        marks = [base * 10.0**power for power in range(-8, 9) for base in (1, 2, 5)]
        inside = [mark for mark in marks if self.least * 0.8 <= mark <= self.most * 1.25]
        return inside if len(inside) <= 7 else [mark for mark in inside if f"{mark:e}".startswith("1.")]


# -- over a few places -------------------------------------------------------------------------------------------------


def curve(series: Sequence[Series], x_label: str, y_label: str, alternative: str, promised: float | None = None) -> str:
    """Lines over a few x values with y shown as percent; the range that the guarantee covers is shaded."""
    points = [point for _, line, _ in series for point in line]
    if not points:
        return ""
    frame = SMALL
    xs = sorted({x for x, _ in points})
    y_top, n_steps = _round_top(max(y for _, y in points))
    span = max(xs[-1] - xs[0], 1)

    def place(x: float, y: float) -> tuple[float, float]:
        across = frame.left + 8 + (x - xs[0]) / span * (frame.width - frame.left - frame.right - 16)
        return round(across, 1), frame.up(y / y_top)

    digits = 0 if y_top >= 0.05 else 1 if y_top >= 0.005 else 2
    parts = [frame.opening(alternative, "group")]
    if promised is not None and promised >= xs[0]:
        end = frame.width - frame.right if promised >= xs[-1] else place(promised + 0.5, 0)[0]
        parts.append(
            f'<rect class="guaranteed" x="{frame.left}" y="{frame.top}" width="{end - frame.left:.1f}" '
            f'height="{frame.height - frame.bottom - frame.top}"/>'
        )
    parts += [
        frame.line_across(frame.up(step / n_steps), f"{100 * y_top * step / n_steps:.{digits}f} %")
        for step in range(n_steps + 1)
    ]
    parts += [frame.below(place(x, 0)[0], f"{x:g}") for x in xs]
    for name, line, css in series:
        path = " ".join(f"{across},{up}" for across, up in (place(x, y) for x, y in line))
        parts.append(f'<polyline class="{css}" points="{path}"/>')
        for x, y in line:
            parts.append(_point(frame, *place(x, y), css, name, f"{100 * y:.2f} %", f"{x:g}"))
    parts.append(frame.titles(x_label, y_label))
    return "".join(parts)


def bars(series: Sequence[Bars], labels: Sequence[str], x_label: str, y_label: str, alternative: str) -> str:
    """Counts side by side per label; labels are thinned where they would touch."""
    highest = max((count for _, counts, _ in series for count in counts), default=0)
    if not highest:
        return ""
    frame = SMALL
    y_top, n_steps = _round_count(highest)
    room = frame.width - frame.left - frame.right
    slot = room / len(labels)
    width = min(slot * 0.84, 60) / len(series)
    every = -(-max(map(len, labels)) * 8 * len(labels) // room)
    parts = [frame.opening(alternative, "img")]
    parts += [
        frame.line_across(frame.up(step / n_steps), f"{y_top * step // n_steps:,}") for step in range(n_steps + 1)
    ]
    for place, label in enumerate(labels):
        start = frame.left + place * slot
        if place % max(every, 1) == 0:
            parts.append(frame.below(round(start + slot / 2, 1), label))
        for number, (name, counts, css) in enumerate(series):
            if counts[place]:
                up = frame.up(counts[place] / y_top)
                across = start + slot / 2 + (number - len(series) / 2) * width
                parts.append(
                    f'<rect class="{css}" x="{across:.1f}" y="{up}" width="{width:.1f}" '
                    f'height="{frame.height - frame.bottom - up:.1f}"><title>{escape(name)}: {counts[place]:,} at '
                    f"{escape(label)}</title></rect>"
                )
    parts.append(frame.titles(x_label, y_label))
    return "".join(parts)


def shifts(rows: Sequence[tuple[str, int, int]], x_label: str, alternative: str) -> str:
    """One line per label from a count before (hollow) to a count after (filled)."""
    if not rows:
        return ""
    step, left, right = 22, 170, 24
    width, height = 680, len(rows) * step + 46
    across = Axis([value for _, *pair in rows for value in pair], left, width - right)
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(alternative)}">']
    for tick in across.ticks():
        parts.append(
            f'<line class="grid" x1="{across(tick)}" x2="{across(tick)}" y1="6" y2="{height - 40}"/>'
            f'<text x="{across(tick)}" y="{height - 24}" text-anchor="middle">{tick:,.0f}</text>'
        )
    for place, (label, before, after) in enumerate(rows):
        up, start, end = place * step + 17, across(before), across(after)
        shown = label if len(label) <= 22 else label[:21] + "…"
        words = f"{label}: {before:,} before, {after:,} after"
        parts.append(
            f'<g><title>{escape(words)}</title><text x="{left - 10}" y="{up + 4}" '
            f'text-anchor="end">{escape(shown)}</text><line class="shift" x1="{start}" x2="{end}" y1="{up}" '
            f'y2="{up}"/><rect class="before" x="{start - MARK:.1f}" y="{up - MARK:.1f}" width="{2 * MARK}" '
            f'height="{2 * MARK}"/><circle class="after" cx="{end}" cy="{up}" r="{MARK}"/></g>'
        )
    parts.append(
        f'<text x="{(left + width - right) / 2}" y="{height - 6}" text-anchor="middle">{escape(x_label)}</text>'
    )
    return "".join(parts) + "</svg>"


# -- many settings -----------------------------------------------------------------------------------------------------


class Mark(NamedTuple):
    """A setting in the plane: its place, the number of its series, its words, where it leads, what stands beside it."""

    x: float
    y: float
    series: int
    words: str
    target: str = ""
    label: str = ""


Label = Callable[[float], str]
APART = 14  # pixels between two marks of equal figures


def plane(
    marks: Sequence[Mark],
    front: Sequence[tuple[float, float]],
    x_label: str,
    y_label: str,
    alternative: str,
    show_x: Label,
    show_y: Label,
    levels: Sequence[tuple[float, str]] = (),
) -> str:
    """Marks by two figures, and the line that joins those no other beats. ``levels``: lines across, and their names."""
    if not marks:
        return ""
    frame = LARGE
    across = Axis([mark.x for mark in marks], frame.left, frame.width - frame.right)
    up = Axis([*(mark.y for mark in marks), *(y for y, _ in levels)], frame.height - frame.bottom, frame.top)
    parts = [frame.opening(alternative, "group")]
    parts += [frame.line_up(across(tick), show_x(tick)) for tick in across.ticks()]
    parts += [frame.line_across(up(tick), show_y(tick)) for tick in up.ticks()]
    line = " ".join(f"{across(x)},{up(y)}" for x, y in front)
    parts.append(f'<polyline class="front" points="{line}"/>')
    labelled: list[tuple[float, float]] = []
    for number, (y, name) in enumerate(levels):  # names of neighbouring lines stand side by side
        ends = f"{frame.left},{up(y)} {frame.width - frame.right},{up(y)}"
        place = frame.left + 8.0 + 190 * (number % 3), up(y) - 6
        labelled += [place, (place[0] + 90, place[1])]
        parts.append(
            f'<polyline class="thin s{N_COLOURS - 1}" points="{ends}"/>'
            f'<text x="{place[0]:.1f}" y="{place[1]:.1f}">{escape(name)}</text>'
        )
    taken: list[tuple[float, float]] = []
    for mark in marks:
        x, y = _free_place(across(mark.x), up(mark.y), taken)
        words, shape = escape(mark.words), mark_of(x, y, mark.series)
        if mark.label:
            shape += _label_next_to(frame, x, y, mark.label, labelled)
        parts.append(f'<a href="#{escape(mark.target)}" aria-label="{words}"><title>{words}</title>{shape}</a>')
    parts.append(frame.titles(x_label, y_label))
    return "".join(parts)


def _free_place(x: float, y: float, taken: list[tuple[float, float]]) -> tuple[float, float]:
    """The place of a mark; beside those that are drawn there already, so that each can be seen and pressed."""
    place = x, y
    for step in range(1, 9):
        if not any(abs(place[0] - other[0]) < APART and abs(place[1] - other[1]) < APART for other in taken):
            break
        place = round(x + (-1) ** step * APART * ((step + 1) // 2), 1), y
    taken.append(place)
    return place


def _label_next_to(frame: Frame, x: float, y: float, label: str, taken: list[tuple[float, float]]) -> str:
    """A label at the right of a mark, or at its left near the edge; below those that stand there already."""
    is_left = x > frame.width * 0.8
    place = x + (-10 if is_left else 10), y - 8
    width = 11 * len(label) + 4
    while any(abs(place[0] - other[0]) < width and abs(place[1] - other[1]) < 24 for other in taken):
        place = place[0], round(place[1] + 5, 1)
    taken.append(place)
    anchor = "end" if is_left else "start"
    return f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" text-anchor="{anchor}">{escape(label)}</text>'


def panel(
    title: str, lines: Sequence[tuple[int, Sequence[tuple[float, float]]]], x_label: str, y_label: str, show_y: Label
) -> str:
    """A small chart of a few lines over the same few x values; ``lines``: number of the series, its points."""
    points = [point for _, line in lines for point in line]
    if not points:
        return ""
    frame = PANEL
    across = Axis([x for x, _ in points], frame.left, frame.width - frame.right)
    up = Axis([y for _, y in points], frame.height - frame.bottom, frame.top)
    parts = [frame.opening(f"{y_label} over {x_label}: {title}", "img")]
    parts += [frame.below(across(x), f"{x:g}") for x in sorted({x for x, _ in points})]
    parts += [frame.line_across(up(tick), show_y(tick)) for tick in up.ticks()[:5]]
    for number, line in lines:
        path = " ".join(f"{across(x)},{up(y)}" for x, y in line)
        parts.append(f'<polyline class="thin s{number % N_COLOURS}" points="{path}"/>')
        parts += [mark_of(across(x), up(y), number, 3.2) for x, y in line]
    parts.append(frame.titles(x_label, title))
    return "".join(parts)


def mark_of(x: float, y: float, number: int, size: float = 5) -> str:
    """The mark of a series: shape and colour."""
    css, shape = f"s{number % N_COLOURS}", SHAPES[number % len(SHAPES)]
    if shape == "circle":
        return f'<circle class="{css}" cx="{x}" cy="{y}" r="{size}"/>'
    corners = {
        "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        "diamond": ((0, -1.4), (1.4, 0), (0, 1.4), (-1.4, 0)),
        "triangle": ((0, -1.3), (1.3, 1), (-1.3, 1)),
    }[shape]
    points = " ".join(f"{x + a * size:.1f},{y + b * size:.1f}" for a, b in corners)
    return f'<polygon class="{css}" points="{points}"/>'


def swatch(number: int) -> str:
    """A mark alone, for a key."""
    return f'<svg class="swatch" viewBox="0 0 14 14" aria-hidden="true">{mark_of(7, 7, number, 4.5)}</svg>'


# -- a tree ------------------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    """A part of an icicle: its level, where it starts and ends (0 to 1), what it is, and its words."""

    level: int
    start: float
    end: float
    css: str
    label: str
    words: str


def icicle(blocks: Sequence[Block], alternative: str) -> str:
    """A tree from the top down: what stands below something stands for part of it."""
    if not blocks:
        return ""
    width, row = 900, 30
    height = (max(block.level for block in blocks) + 1) * row
    parts = [f'<svg class="icicle" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(alternative)}">']
    for block in blocks:
        left, size = block.start * width, (block.end - block.start) * width
        parts.append(
            f'<g class="block {block.css}"><title>{escape(block.words)}</title>'
            f'<rect x="{left:.1f}" y="{block.level * row + 1}" width="{max(size - 1, 0.5):.1f}" height="{row - 2}"/>'
        )
        fitting = int((size - 8) / 7.2)
        if fitting >= 3:
            shown = block.label if len(block.label) <= fitting else block.label[: fitting - 1] + "…"
            parts.append(f'<text x="{left + 4:.1f}" y="{block.level * row + 20}">{escape(shown)}</text>')
        parts.append("</g>")
    return "".join(parts) + "</svg>"


# -- parts -------------------------------------------------------------------------------------------------------------


def _point(frame: Frame, across: float, up: float, css: str, name: str, value: str, x: str) -> str:
    """A mark with its figure, shown while the keyboard or the mouse is on it."""
    if css == "before":
        mark = f'<rect x="{across - MARK:.1f}" y="{up - MARK:.1f}" width="{2 * MARK}" height="{2 * MARK}"/>'
    else:
        mark = f'<circle cx="{across}" cy="{up}" r="{MARK}"/>'
    words = f"{escape(name)}: {value} at {escape(x)}"
    anchor = "end" if across > frame.width / 2 else "start"
    return (
        f'<g class="point {css}" tabindex="0" role="img" aria-label="{words}"><title>{words}</title>{mark}'
        f'<text class="tip" x="{across}" y="{max(up - 9, 12):.1f}" text-anchor="{anchor}">{value}</text></g>'
    )


def _round_top(highest: float) -> tuple[float, int]:
    """A round share not below ``highest``, and into how many round steps it is divided."""
    tops = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    for top, n_steps in zip(tops, (5, 4, 5) * 3, strict=True):
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
