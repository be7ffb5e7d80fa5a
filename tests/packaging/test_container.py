"""The recipe of the container image and the workflow, as far as they can be checked without an engine."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()


def copied() -> list[str]:
    """What the image is built from, of this folder."""
    lines = [shlex.split(line)[1:] for line in RECIPE.splitlines() if line.startswith("COPY ")]
    return [name for parts in lines if not parts[0].startswith("--from") for name in parts[:-1]]


def test_everything_that_the_wheel_needs_is_copied() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    needed = [*build["targets"]["wheel"]["packages"], *build["targets"]["wheel"]["force-include"]]
    for name in copied():
        assert (ROOT / name).exists() and name not in IGNORED, name
    for name in needed:
        assert any(name == part or name.startswith(f"{part}/") for part in copied()), name


@pytest.mark.slow
def test_the_wheel_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "-w", str(tmp_path / "built"), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_what_exists_is_called() -> None:
    for module in re.findall(r"-m (setveil[\w.]*)", RECIPE):
        assert find_spec(module) is not None, module


def test_images_and_actions_are_named_by_digest() -> None:
    images = re.findall(r"^FROM (\S+)", RECIPE, re.MULTILINE)
    assert images and all(re.search(r"@sha256:[0-9a-f]{64}$", image) for image in images)
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        actions = re.findall(r"uses: (\S+)", path.read_text(encoding="utf-8"))
        assert actions and all(re.search(r"@[0-9a-f]{40}$", action) for action in actions), path.name
