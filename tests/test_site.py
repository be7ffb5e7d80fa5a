"""The site builds: strictly, from this tree, and without anything from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FETCHED = re.compile(
    r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//|<link[^>]+rel=["']?(?:stylesheet|preconnect)[^>]+//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.slow
def test_nothing_is_fetched(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        assert not FETCHED.search(page.read_text(encoding="utf-8")), page
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert not any(re.search(r"@import|url\(['\"]?https?:", style) for style in styles)


@pytest.mark.slow
def test_reference_pages_say_what_the_code_says(site: Path) -> None:
    import setveil as sv
    from setveil.algorithms import ENTRIES
    from setveil.models import PARAMETERS

    library = (site / "reference" / "library.html").read_text(encoding="utf-8")
    for name in set(sv.__all__) - {"__version__"}:
        assert f"sv.{name}" in library, name
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for option in ("--hierarchy-columns", "--keep-order", "--purpose", "generate patients"):
        assert option in commands, option
    overview = (site / "reference" / "algorithms.html").read_text(encoding="utf-8")
    assert all(entry.name in overview for entry in ENTRIES)
    policy = (site / "reference" / "policy.html").read_text(encoding="utf-8")
    assert all(name in policy for name in PARAMETERS)
    assert "not_protected" in (site / "reference" / "certificate-schema.html").read_text(encoding="utf-8")
    assert "GuaranteeError" in (site / "reference" / "exit-codes.html").read_text(encoding="utf-8")
