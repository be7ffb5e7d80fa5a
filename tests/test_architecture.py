"""The map in docs/architecture.md is the tree."""

from __future__ import annotations

import re
from pathlib import Path

from setveil.models import MODELS

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "setveil"


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    on_the_map = re.findall(r"^\| `([a-z_.]+)/?` \|", text, re.MULTILINE)
    rooms = [path.name for path in HOUSE.iterdir() if (path / "__init__.py").exists() or path.suffix == ".py"]
    assert sorted(on_the_map) == sorted(set(rooms) - {"__init__.py"})


def test_files_named_on_the_map_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text):
        assert (HOUSE / name).is_file(), name
    for name in ("inputs.py", "hierarchy.py", "anonymize.py", "publish.py", "assess.py"):
        assert f"`{name}`" in text
        assert (HOUSE / "workflows" / name).is_file()


def test_a_model_is_called_the_same_in_every_room() -> None:
    for name in MODELS:
        folder = name.replace("-", "_")
        assert (HOUSE / "algorithms" / folder).is_dir()
        assert (HOUSE / "verify" / f"{folder}.py").is_file()
        assert (ROOT / "tests" / "algorithms" / folder).is_dir()
