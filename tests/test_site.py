"""What the strict build of the site (a step of `.ci/run`) cannot see: that pages made from the code say all of it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.browsers import NONE, find_chromium

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def made() -> ModuleType:
    place = importlib.util.spec_from_file_location("generated_pages", ROOT / "docs" / "generated_pages.py")
    assert place is not None and place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_reference_pages_say_what_the_code_says(made: ModuleType) -> None:
    import setveil as sv
    from setveil.algorithms import ENTRIES
    from setveil.models import PARAMETERS

    pages = made.pages()
    for name in set(sv.__all__) - {"__version__"}:
        assert f"sv.{name}" in pages["reference/library.md"], name
    for option in ("--hierarchy-columns", "--keep-order", "--purpose", "generate patients"):
        assert option in pages["reference/commands.md"], option
    assert all(entry.name in pages["reference/algorithms.md"] for entry in ENTRIES)
    assert all(name in pages["reference/policy.md"] for name in PARAMETERS)
    assert "not_protected" in pages["reference/certificate-schema.md"]
    assert "GuaranteeError" in pages["reference/exit-codes.md"]


def test_the_build_is_strict_and_a_step_of_every_landing() -> None:
    assert "\nstrict: true\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "\nmake docs\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text", "is_refused"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>', True),
        ("a.html", "<img src='//example.org/x.png'>", True),
        ("a.html", '<link rel="stylesheet" href="https://example.org/x.css">', True),
        ("a.html", '<a href="https://example.org">out</a> <script src="assets/x.js"></script>', False),
        ("a.css", "@import url(https://example.org/x.css);", True),
        ("a.css", "body { background: url('../x.png') }", False),
    ],
)
def test_pages_that_fetch_something_fail_the_build(
    made: ModuleType, tmp_path: Path, name: str, text: str, is_refused: bool
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    if is_refused:
        with pytest.raises(SystemExit, match=name):
            made.on_post_build({"site_dir": str(tmp_path)})
    else:
        made.on_post_build({"site_dir": str(tmp_path)})


@pytest.mark.long
def test_the_search_works_in_pages_that_are_opened_from_the_disk(tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q", "-d", str(tmp_path)], cwd=ROOT, check=True)
    path = find_chromium()
    if path is None:
        pytest.skip(NONE)
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"file://{tmp_path}/algorithms/km/aa.html")
        page.wait_for_timeout(2_000)  # the scripts of the page start
        page.keyboard.press("/")
        page.keyboard.type("uncertainty")
        page.locator(".md-search-result__item").first.wait_for(timeout=20_000)
        assert "matching documents" in page.locator(".md-search-result__meta").inner_text()
        browser.close()
