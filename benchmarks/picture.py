"""The README's picture: what an attacker finds before and after, and which settings no other beats.

    python -m benchmarks.picture            writes docs/picture.svg from the bundled baskets, in about a minute

To the left one release (AA, k=5, m=3); to the right a grid of k^m settings, as `setveil compare` runs it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import setveil as sv
from setveil.report.charts import curve, mark_of
from setveil.report.compare_page import front_charts
from setveil.workflows.compare import compare, pareto_front, read_grid
from setveil.workflows.samples import demo_files

K, M, KNOWN = 5, 3, 3
GRID = """
schema = 1
known = {known}

[[grid]]
model = "km"
k = [2, 3, 5, 10, 25, 50, 100]
m = {m}
algorithm = ["aa", "optimal", "mhghs"]
hierarchy = "{taxonomy}"

[[grid]]
model = "km"
k = [2, 3, 5, 10, 25, 50, 100]
m = {m}
algorithm = ["pcta", "pcta+"]
"""
STYLE = """
text{font:13px system-ui,sans-serif;fill:#566173}text.title{font-weight:700;font-size:16px;fill:#1c2430}
.tip{display:none}
.grid{stroke:#d5dbe3}polyline{fill:none;stroke-width:2.5}.front{stroke:#1c2430;stroke-width:1.5;stroke-dasharray:5 4}
.guaranteed{fill:#e3eef8}polyline.before{stroke:#a3201d;stroke-dasharray:6 4}polyline.after{stroke:#14693a}
.point.before rect{fill:#fff;stroke:#a3201d;stroke-width:2.5}.point.after circle{fill:#14693a}
.b{fill:#a3201d}.a{fill:#14693a}.s0{fill:#1f5fa8}.s1{fill:#a3201d}.s2{fill:#14693a}.s3{fill:#7a4b00}.s4{fill:#5b2a86}
"""
WIDTH, HEIGHT = 1120, 440


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, draw, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.picture", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parents[1] / "docs" / "picture.svg")
    output = parser.parse_args(arguments).output
    output.write_text(draw(risk_curves(), settings()), encoding="utf-8", newline="\n")
    print(f"{output} written")
    return 0


def risk_curves() -> str:
    """Records singled out by one to four known items, before and after."""
    baskets, taxonomy = demo_files()
    data = sv.read(baskets)
    model = sv.KmAnonymity(k=K, m=M)
    release = sv.anonymize(data, model, algorithm="aa", hierarchy=str(taxonomy))
    assert sv.verify(release, model).holds
    lines = [
        (name, [(row.known, row.singled_out) for row in sv.risk(what).rows if row.singled_out is not None], name)
        for name, what in (("before", data), ("after", release))
    ]
    return curve(
        lines, "items of a person an attacker knows", "records singled out", "Risk before and after", promised=M
    )


def settings() -> list[dict[str, Any]]:
    """One row per setting: algorithm, chance and query error, and whether no other setting beats it."""
    baskets, taxonomy = demo_files()
    with TemporaryDirectory() as folder:
        grid = Path(folder, "grid.toml")
        grid.write_text(GRID.format(known=KNOWN, m=M, taxonomy=taxonomy.as_posix()))
        points = [point for point in compare(str(baskets), read_grid(grid), Path(folder, "out")) if point.is_ok]
    front = pareto_front(points)
    return [
        {
            "id": point.id,
            "algorithm": point.policy.algorithm.name,
            "hierarchy": "",
            "options": "",
            "pareto": point.id in front,
            "k": point.policy.model.k,
            "m": None,
            "l": None,
            "p": None,
            "h": None,
            "mean_chance": point.result["mean_chance"],
            "avg_re": point.result["avg_re"],
        }
        for point in points
    ]


def draw(risk: str, rows: Sequence[dict[str, Any]]) -> str:
    """Both charts on one card."""
    look = {name: number for number, name in enumerate(dict.fromkeys(row["algorithm"] for row in rows))}
    front = front_charts(rows, look, KNOWN)[0]["chart"]
    key = "".join(
        f'{mark_of(532 + 84 * number, 50, number)}<text x="{542 + 84 * number}" y="54">{name}</text>'
        for name, number in look.items()
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" '
        'aria-label="Left: records singled out before and after. Right: risk and loss of many settings, '
        'and the front.">'
        f'<style>{STYLE}</style><rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#fff"/>'
        '<text class="title" x="28" y="30">What an attacker finds</text>'
        '<text class="b" x="28" y="54">□ – – the original</text><text class="a" x="160" y="54">● —— published</text>'
        f'<text x="300" y="54">shaded: guaranteed (k={K}, m={M})</text>'
        f"{_at(risk, 10, 70, 480, 360)}"
        '<text class="title" x="525" y="30">What each setting costs</text>'
        '<text x="940" y="54">– – none is better in both</text>'
        f"{key}{_at(front, 500, 62, 600, 371)}</svg>\n"
    )


def _at(chart: str, x: int, y: int, width: int, height: int) -> str:
    return chart.replace("<svg ", f'<svg x="{x}" y="{y}" width="{width}" height="{height}" ', 1)


if __name__ == "__main__":
    sys.exit(main())
