"""What keeps versions honest: the changelog, lower bounds, pinned actions, and what the workflows run."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import setveil as sv

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_tag_version_and_changelog_must_agree() -> None:
    problems = runpy.run_path(str(ROOT / ".ci" / "version.py"))["problems"]
    source = (ROOT / "src" / "setveil" / "__init__.py").read_text(encoding="utf-8")
    assert problems(f"v{sv.__version__}", source, CHANGELOG) == []
    assert len(problems("v99.0.0", source, CHANGELOG)) == 2


def test_every_version_of_the_changelog_fits_on_a_page() -> None:
    assert CHANGELOG.index("## Unreleased") < CHANGELOG.index("## 0.1.0")
    versions = CHANGELOG.split("\n## ")[1:]
    assert max(len(version.splitlines()) for version in versions) < 60


def test_every_dependency_has_a_lower_bound_that_is_tested() -> None:
    lowest = runpy.run_path(str(ROOT / ".ci" / "lowest.py"))["lowest"]
    assert len(lowest(PROJECT["dependencies"])) == len(PROJECT["dependencies"])
    with pytest.raises(SystemExit, match="has no lower bound"):
        lowest(["numpy"])
    core = re.search(r"^CORE := ((?:.*\\\n)*.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert core is not None
    paths = core[1].replace("\\\n", " ").split()
    assert paths and all((ROOT / path).exists() for path in paths)
    marks = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"][
        "markers"
    ]
    assert any(mark.startswith("xdist_group:") for mark in marks)  # pytest-xdist, which knows it, is not there


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_digest_and_paths_exist(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, comment in used:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) and re.match(r" # v\d", comment), action
    assert all((ROOT / path).is_file() for path in re.findall(r"\.ci/[\w.]+", text))


def test_every_python_that_is_declared_is_tested() -> None:
    named = {text.split(" :: ")[-1] for text in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", text)}
    for workflow in WORKFLOWS:
        jobs: dict[str, Any] = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
        assert set(jobs["test"]["strategy"]["matrix"]["python"]) == named, workflow.name
    newest = max(int(version.split(".")[1]) for version in named)
    assert PROJECT["requires-python"] == f">=3.11,<3.{newest + 1}"
