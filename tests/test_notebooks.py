"""The notebooks are kept with their outputs, and running them gives the same outputs again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
sys.path.insert(0, str(FOLDER))
from run import executed  # type: ignore[import-not-found]  # noqa: E402

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
UPDATE = "run `python docs/notebooks/run.py`"


def outputs_of(notebook: Any) -> list[str]:
    """What each code cell shows, pictures and their sizes aside."""
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {"text/plain": output.get("text", "")})
            shown += [f"{kind}: {''.join(text)}" for kind, text in sorted(data.items()) if not kind.startswith("image")]
    return shown


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_kept_and_short(path: Path) -> None:
    notebook: Any = nbformat.read(  # type: ignore[no-untyped-call]
        path, as_version=4
    )
    assert any(cell.get("outputs") for cell in notebook.cells), UPDATE
    assert not any(output.output_type == "error" for cell in notebook.cells for output in cell.get("outputs", []))
    assert all(len(text) < 20_000 for text in outputs_of(notebook))
    assert "/tmp" not in path.read_text(encoding="utf-8")


def test_there_are_pictures() -> None:
    pictures = [path.stem for path in NOTEBOOKS if "image/png" in path.read_text(encoding="utf-8")]
    assert len(pictures) >= 3


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of the kernel's own libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_stale(path: Path, tmp_path: Path) -> None:
    assert outputs_of(executed(path, tmp_path)) == outputs_of(
        nbformat.read(  # type: ignore[no-untyped-call]
            path, as_version=4
        )
    ), UPDATE
