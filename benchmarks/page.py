"""How quick the page is, in a real browser: start, first paint, from a dropped file to the verdict, clicks meanwhile.

python -m benchmarks.page FILE

Wall-clock time, so on a machine that does nothing else. The figures are in docs/ui.md.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browsers import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

STEPS = ("Protect", "Danger", "Check", "Run")
# Clicks on a step and gives the milliseconds until the page shows it.
CLICK = """(step) => new Promise(done => {
  const heading = document.querySelector('main h1'), start = performance.now();
  new MutationObserver((_, watch) => { watch.disconnect(); done(performance.now() - start) })
    .observe(heading, {childList: true, characterData: true, subtree: true});
  [...document.querySelectorAll('nav li button')].find(b => b.textContent.trim() === step).click();
})"""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    file = Path(sys.argv[1])
    started = time.perf_counter()
    code = "from setveil.cli.main import main; main()"
    server = subprocess.Popen([sys.executable, "-c", code, "ui", "--no-browser"], stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        _tell("address printed", time.perf_counter() - started)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(600_000)
            for words in ("first paint, nothing loaded before", "first paint, loaded before"):
                page.goto(found.group())
                page.get_by_role("heading", name="Open your data").wait_for()
                _tell(words, page.evaluate(PAINT) / 1000)
            _drop_to_verdict(page, file)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _drop_to_verdict(page: Page, file: Path) -> None:
    dropped = time.perf_counter()
    page.locator("input[type=file]").first.set_input_files(file)
    page.get_by_text(f"Read {file.name}: ").wait_for()
    _tell("dropped file is read", time.perf_counter() - dropped)
    page.evaluate(CLICK, "Run")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Run 1: working").wait_for()
    waits: list[float] = []
    while page.get_by_role("heading", name=re.compile("Run 1: (the promise|no release)")).count() == 0:
        waits += [page.evaluate(CLICK, step) for step in STEPS]
        page.wait_for_timeout(100)
    _tell("from drop to verdict, clicked at meanwhile", time.perf_counter() - dropped)
    _tell(f"click to step, median of {len(waits)} during the run", statistics.median(waits) / 1000)
    _tell("click to step, slowest", max(waits) / 1000)


def _tell(words: str, seconds: float) -> None:
    print(f"{words:60} {seconds:8.2f} s", flush=True)


if __name__ == "__main__":
    main()
