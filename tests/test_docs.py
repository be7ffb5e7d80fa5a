"""Documentation that runs: every ``console`` and ``python`` block of README and docs is executed, in order, in one
folder.

A line ``$ setveil …`` must end with exit code 0 (or with the code announced as ``# exit 3`` at its end). Where output
lines follow a command, they must be what it prints.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")

# Pages whose commands take half a minute and more.
LONG = ["docs/tutorial.md", "docs/tutorial-medical.md", "docs/howto/frames.md", "docs/howto/choosing-k-and-m.md"]

# Bytecode and kernels are cached beside the sources; every command starts a fresh interpreter, as a user's does.
SETVEIL = [sys.executable, "-c", "from setveil.cli.main import main; main()"]


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def pages_that_run() -> list[object]:
    names = [str(page.relative_to(ROOT)) for page in PAGES if blocks(page)]
    return [pytest.param(ROOT / name, id=name, marks=pytest.mark.long if name in LONG else ()) for name in names]


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_that_run())
def test_commands_and_code_of_the_page_run(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path, dirs_exist_ok=True)
    for language, text in blocks(page):
        if language == "python":
            subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True, capture_output=True, text=True)
            continue
        for command, expected in commands(text):
            run_command(command, expected, tmp_path)


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Commands with the output lines that follow each; a backslash continues a command."""
    found: list[tuple[str, list[str]]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip() and found:
            found[-1][1].append(line.rstrip())
    return found


def run_command(command: str, expected: list[str], folder: Path) -> None:
    command, _, status = command.partition("  # exit ")
    words = command.replace("setveil ", "", 1) if command.startswith("setveil ") else None
    if words is None:
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    else:
        launcher = " ".join(f"'{part}'" for part in SETVEIL)
        done = subprocess.run(f"{launcher} {words}", shell=True, cwd=folder, capture_output=True, text=True)
    assert done.returncode == int(status or 0), f"{command}\n{done.stdout}{done.stderr}"
    if expected:
        printed = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines() if line.strip())
        assert re.fullmatch(pattern_of(expected), printed), f"{command}\n{printed}"


def pattern_of(expected: list[str]) -> str:
    """Output lines as a page shows them: ``…`` stands for the rest of a line, and alone for any lines."""
    lines = ["(?:.*\n)*?" if line == "…" else re.escape(line).replace(re.escape("…"), ".*") + "\n" for line in expected]
    return "".join(lines)


def test_shortened_output_is_still_compared() -> None:
    pattern = pattern_of(["…", "Utility: good. …", "…"])
    assert re.fullmatch(pattern, "Verified.\nUtility: good. All.\nMore.\n")
    assert not re.fullmatch(pattern, "Verified.\nUtility: poor. All.\n")
    assert not re.fullmatch(pattern_of(["a"]), "a\nb\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
