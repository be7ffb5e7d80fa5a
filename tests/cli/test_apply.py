"""``setveil apply``, and what a scheduler is told about a release that is already there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from setveil.cli.main import _run

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ASK = ["--model", "km", "-k", "2", "-m", "2", "--algorithm", "aa", "--hierarchy", str(EXAMPLES / "taxonomy.csv")]
NEW = "beer,milk\nwine,milk,bread\nbread,cheese\nbeer,cheese\nwine,bread,milk\nbread,milk\n"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    assert _run(["anonymize", str(EXAMPLES / "baskets.txt"), "-o", str(tmp_path / "old"), *ASK]) == 0
    return tmp_path / "old"


def test_new_people_get_the_categories_of_the_earlier_release(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = old.parent / "new.txt"
    new.write_text(NEW)
    out = old.parent / "out"
    capsys.readouterr()
    assert _run(["apply", str(old), str(new), "-o", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verified"] is True
    assert any("earlier release" in line for line in told["warnings"])
    assert {*(out / "published.csv").read_text().replace("\n", ",").strip(",").split(",")} == {
        "alcohol",
        "bread",
        "dairy",
    }
    assert _run(["verify", str(out), "--original", str(new)]) == 0


def test_items_that_the_earlier_release_does_not_know(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = old.parent / "new.txt"
    new.write_text(NEW + "rum,milk\n")
    assert _run(["apply", str(old), str(new), "-o", str(old.parent / "out")]) == 2
    assert 'does not know "rum"' in capsys.readouterr().err
    assert _run(["apply", str(old), str(new), "-o", str(old.parent / "out"), "--unknown-items", "suppress"]) == 0
    said = capsys.readouterr()
    assert said.err.count('"rum"') == 1
    assert "warning: " not in said.out.lower()
    assert "rum" not in (old.parent / "out" / "published.csv").read_text()


def test_people_who_break_the_guarantee_are_not_published(old: Path) -> None:
    new = old.parent / "new.txt"
    new.write_text("beer,milk\nbread\nbread,cheese,milk\nbread\n")
    assert _run(["apply", str(old), str(new), "-o", str(old.parent / "other"), "--format", "basket"]) == 1
    assert not (old.parent / "other").exists()


def test_the_same_request_again_has_nothing_to_do(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in old.iterdir()}
    assert _run(["anonymize", str(EXAMPLES / "baskets.txt"), "-o", str(old), *ASK]) == 6
    assert "nothing to do" in capsys.readouterr().err
    assert _run(["anonymize", str(EXAMPLES / "baskets.txt"), "-o", str(old), *ASK, "--seed", "3"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in old.iterdir()} == before
