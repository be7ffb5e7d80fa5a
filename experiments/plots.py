"""Line charts by Matplotlib, as SVG files that come out the same every time.

Lines differ by marker as well as by colour. What a paper prints is dashed and looks like the method it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from experiments.experiment import OURS, Line, Panel

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#2f9bd6", "#444444")  # told apart by everyone
MARKERS = "os^Dv*PX"
STYLE: dict[str, Any] = {
    "svg.hashsalt": "setveil",  # otherwise ids are drawn at random
    "svg.fonttype": "none",  # text stays text
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so that the layout is the same everywhere
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
}


def draw(panels: Sequence[Panel]) -> bytes:
    """Panels two side by side."""
    import matplotlib
    from matplotlib.figure import Figure

    n_rows, n_columns = -(-len(panels) // 2), min(len(panels), 2)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.2 * n_columns, 3.4 * n_rows), layout="constrained")
        places = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
        for place, panel in zip(places, panels, strict=False):
            _draw_panel(place, panel)
        for place in places[len(panels) :]:
            place.set_visible(False)
        file = BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def _draw_panel(place: Any, panel: Panel) -> None:
    xs = axis_of(panel.lines)
    is_ordered = sum(not isinstance(x, str) for x in xs) * 2 > len(xs)  # between names there is no way to draw
    for line, style in zip(panel.lines, styles_of(panel.lines), strict=True):
        values = [float("nan") if (y := line.at(x)) is None else y for x in xs]
        place.plot(
            range(len(xs)),
            values,
            label=line.name,
            color=COLOURS[style % len(COLOURS)],
            marker=MARKERS[style % len(MARKERS)],
            markersize=6,
            markerfacecolor="white",
            linewidth=2.4 if line.name.startswith(OURS) else 1.4,
            linestyle="--" if line.is_paper else "-" if is_ordered else "",
        )
    place.set_xticks(range(len(xs)), [name_of(x) for x in xs])
    place.set_xlabel(panel.x_label)
    values = [y for line in panel.lines for _, y in line.points if y is not None]
    if panel.log_y and any(y > 0 for y in values):
        place.set_yscale("log")
    elif values and min(values) >= 0:
        place.set_ylim(bottom=0)
    place.set_ylabel(panel.y_label)
    place.set_title(panel.title, loc="left", fontsize=10)
    place.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)


def axis_of(lines: Sequence[Line]) -> list[float | str]:
    """The places on the x axis, at equal distances: numbers in ascending order, then words as they come."""
    seen = list(dict.fromkeys(x for line in lines for x, _ in line.points))
    return sorted(x for x in seen if not isinstance(x, str)) + [x for x in seen if isinstance(x, str)]


def styles_of(lines: Sequence[Line]) -> list[int]:
    """The number of each line's colour and marker; what a paper prints about a method looks like that method."""
    own = {line.name: number for number, line in enumerate(lines) if not line.is_paper}
    styles = []
    for number, line in enumerate(lines):
        partners = [name for name in own if line.is_paper and name in line.name]
        styles.append(own[max(partners, key=len)] if partners else number)
    return styles


def name_of(x: float | str) -> str:
    """A place on the x axis in words."""
    return x if isinstance(x, str) else f"{x:,g}" if abs(x) < 1e6 else f"{x:,.0f}"
