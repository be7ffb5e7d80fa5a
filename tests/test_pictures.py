"""Pictures and figures of the front page are those of this program."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

import setveil as sv
from setveil.report.words import percent
from setveil.workflows.samples import demo_files

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "report.png"
AGAIN = "make it again: python -m benchmarks.report_picture"


def test_the_picture_is_the_one_that_its_figures_belong_to() -> None:
    told = json.loads(PICTURE.with_suffix(".json").read_text(encoding="utf-8"))
    assert hashlib.sha256(PICTURE.read_bytes()).hexdigest() == told["sha256"], AGAIN


def test_the_readme_tells_the_risk_of_the_demo() -> None:
    said = re.search(
        r"the four most identifying items single out ([0-9]+) % of all people",
        (ROOT / "README.md").read_text(encoding="utf-8"),
    )
    (row,) = sv.risk(demo_files()[0], known=(4,), inference=False).rows
    assert said is not None and row.worst_singled_out is not None
    assert int(said[1]) == round(100 * row.worst_singled_out)


@pytest.mark.long
def test_the_picture_shows_what_the_demo_finds(tmp_path: Path) -> None:
    from benchmarks.report_picture import make_demo, shown

    told = json.loads(PICTURE.with_suffix(".json").read_text(encoding="utf-8"))
    assert shown(make_demo(tmp_path)) == told["shows"], AGAIN


def test_the_table_of_item_counts_is_what_the_program_finds() -> None:
    """Of the six baskets; the larger tables come from ``benchmarks``."""
    release = sv.anonymize(
        ROOT / "docs/examples/baskets.txt",
        "km",
        k=2,
        m=2,
        algorithm="aa",
        hierarchy=str(ROOT / "docs/examples/taxonomy.csv"),
    )
    assert release.item_counts == {"beer": 2, "cheese": 2, "milk": 4, "wine": 2}
    assert percent(sv.measure(ROOT / "docs/examples/baskets.txt", release)["exact_ratio"]) == "28.6 %"
