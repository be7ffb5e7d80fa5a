"""How quick the page is, in a real browser: every figure of docs/ui.md, one after the other.

python -m benchmarks.page [--first] FILE [LARGE]

FILE is dropped (BMS-WebView-2, say); LARGE is opened by its path, and without one a million baskets are made first.
Wall-clock time, so on a machine that does nothing else: the load is printed beside each figure. So are the CPU seconds
that the page's processes spent since the figure before, which mean something on a busy machine, too. ``--first`` lets
everything here go before other work of the machine (Linux, as root): nearly the clock of a machine that does nothing
else.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browsers import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

STEPS = ("Protect", "Risk", "Check", "Run")
LARGE = {"D": 1_000_000, "T": 6, "N": 22_000, "L": 20_000}  # three quarters of the items occur
# Clicks on a step and gives the milliseconds until the page shows it.
CLICK = """(step) => new Promise(done => {
  const heading = document.querySelector('main h1'), start = performance.now();
  new MutationObserver((_, watch) => { watch.disconnect(); done(performance.now() - start) })
    .observe(heading, {childList: true, characterData: true, subtree: true});
  [...document.querySelectorAll('nav li button')].find(b => b.textContent.trim() === step).click();
})"""
# Clicks on a button of that name and gives the milliseconds until the tree shows what it opened, painted.
OPEN = """(name) => new Promise(done => {
  const start = performance.now(), count = () => document.querySelectorAll('.place li').length, before = count();
  new MutationObserver((_, watch) => { if (count() === before) return; watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))) })
    .observe(document.querySelector('.place'), {childList: true, subtree: true});
  document.querySelector(`.place button[aria-label^="${name}"]`).click();
})"""
# Scrolls through the page and gives the longest wait for a frame in milliseconds.
SCROLL = """() => new Promise(done => {
  let last = performance.now(), longest = 0, n = 0;
  const next = (now) => { longest = Math.max(longest, now - last); last = now; scrollBy(0, 120);
    if (++n < 60) requestAnimationFrame(next); else done(longest) };
  requestAnimationFrame(next);
})"""
CPU: dict[str, float] = {}  # the process of the page, and what it had spent when the last figure was printed
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE", help="a file to drop on the page")
    parser.add_argument("large", type=Path, metavar="LARGE", nargs="?", help="a large file; made unless given")
    parser.add_argument("--first", action="store_true", help="go before other work of the machine")
    asked = parser.parse_args()
    if asked.first:
        os.setsid() if os.getpgid(0) != os.getpid() else None  # priority is given to whole sessions
        threading.Thread(target=_go_first, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        large = asked.large or _make_large(Path(folder) / "million.dat")
        with _page() as page:
            _drop_to_verdict(page, asked.file)
            _click_during_a_run(page)
            _cancel(page)
        with _page(quietly=True) as page:
            _large(page, large)
            _tree(page)


@contextmanager
def _page(*, quietly: bool = False) -> Iterator[Page]:
    """A page of its own server, with how long both took to be there."""
    from playwright.sync_api import sync_playwright

    started = time.perf_counter()
    code = "from setveil.cli.main import main; main()"
    server = subprocess.Popen([sys.executable, "-c", code, "ui", "--no-browser"], stderr=subprocess.PIPE, text=True)
    CPU.update(server=server.pid, printed=0.0)
    try:
        assert server.stderr
        found = re.search(r"http://\S+", server.stderr.readline())
        assert found
        if not quietly:
            _tell("start: until the address is printed", time.perf_counter() - started, "3 s")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
            page = browser.new_page()
            page.set_default_timeout(1_200_000)
            for words in ("first paint, nothing loaded before", "first paint, loaded before"):
                page.goto(found.group())
                page.get_by_role("heading", name="Open your data").wait_for()
                if not quietly:
                    _tell(words, page.evaluate(PAINT) / 1000, "0.7 s")
            yield page
            browser.close()
    finally:
        server.terminate()
        server.wait()


def _drop_to_verdict(page: Page, file: Path) -> None:
    page.wait_for_timeout(3000)  # somebody looks for the file
    dropped = time.perf_counter()
    page.locator("main input[type=file]").first.set_input_files(file)
    page.locator(".result").get_by_text(file.name).wait_for()
    _tell("dropped file is read", time.perf_counter() - dropped)
    page.evaluate(CLICK, "Run")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name=re.compile("Run 1: (guarantee|no release)")).wait_for()
    _tell(f"from drop to verdict: {file.name}", time.perf_counter() - dropped, "6 s")


def _click_during_a_run(page: Page) -> None:
    page.get_by_role("button", name="Start another run").click()
    page.get_by_role("heading", name="Run 2: working").wait_for()
    waits: list[float] = []
    before = _cpu(with_children=False)
    while page.get_by_role("heading", name=re.compile("Run 2: (guarantee|no release)")).count() == 0:
        waits += [page.evaluate(CLICK, step) for step in STEPS]
        page.wait_for_timeout(100)
    _tell(f"click during a run, median of {len(waits)}", statistics.median(waits) / 1000, "0.1 s")
    _tell("click during a run, slowest", max(waits) / 1000)
    _tell("CPU of the page's own process for a click", (_cpu(with_children=False) - before) / len(waits))


def _cancel(page: Page) -> None:
    page.get_by_role("button", name="Start another run").click()
    button = page.get_by_role("button", name="Cancel run 3")
    button.wait_for()
    page.wait_for_timeout(1000)
    started = time.perf_counter()
    button.click()
    page.get_by_role("heading", name="Run 3: cancelled").wait_for()
    _tell("cancel, until the page says so", time.perf_counter() - started, "1 s")


def _large(page: Page, file: Path) -> None:
    started = time.perf_counter()
    page.get_by_role("textbox", name="Path on this machine").fill(str(file))
    page.get_by_role("button", name="Open this path").click()
    page.locator(".result").get_by_text(file.name).wait_for()
    _tell(f"opened by path: {page.locator('.result').inner_text()[:70]}", time.perf_counter() - started)
    page.evaluate(CLICK, "Risk")
    page.get_by_role("heading", name="Look for a person").wait_for()
    _tell("… until its risk is shown", time.perf_counter() - started)
    page.evaluate(CLICK, "Run")
    started = time.perf_counter()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name=re.compile("Run 1: (guarantee|no release)")).wait_for()
    _tell("… from start to verdict", time.perf_counter() - started)


def _tree(page: Page) -> None:
    """A hierarchy over all items of the large file."""
    page.evaluate(CLICK, "Hierarchy")
    field = page.get_by_role("spinbutton", name="Categories of equal size, items in order")
    field.fill("200")
    started = time.perf_counter()
    field.press("Enter")
    page.get_by_role("textbox", name="Search items and categories").wait_for()
    _tell(f"tree built and shown: {page.get_by_text('levels above').inner_text()}", time.perf_counter() - started)
    unfolds = [page.evaluate(OPEN, "Unfold") for _ in range(2)]
    _tell("unfold a group of 200, and fold it again, each at most", max(unfolds) / 1000)
    _tell("open a group of 200 items", page.evaluate(OPEN, "Open") / 1000)
    _tell("scroll through it, longest frame", page.evaluate(SCROLL) / 1000)
    started = time.perf_counter()
    page.get_by_role("textbox", name="Search items and categories").fill("99")
    page.locator(".nodes li").get_by_text("99").first.wait_for()
    _tell("search among all of them", time.perf_counter() - started)


def _make_large(path: Path) -> Path:
    code = "from setveil.cli.main import main; main()"
    options = [part for name, value in LARGE.items() for part in (f"-{name}", str(value))]
    subprocess.run([sys.executable, "-c", code, "generate", "quest", *options, "-o", str(path)], check=True)
    return path


def _go_first() -> None:
    """Give this process, and every one that it starts, the highest priority of its session."""
    while True:
        for process in _with_children(os.getpid()):
            with suppress(OSError):  # it has ended
                Path(f"/proc/{process}/autogroup").write_text("-19")
        time.sleep(0.05)


def _with_children(process: int) -> Iterator[int]:
    yield process
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _with_children(int(child))


def _cpu(process: int | None = None, *, with_children: bool = True) -> float:
    """CPU seconds of a process, of those that it started, and of theirs; of the page unless another one is named."""
    process = int(CPU["server"]) if process is None else process
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        return 0.0
    spent = sum(map(int, fields[11 : 15 if with_children else 13])) / os.sysconf("SC_CLK_TCK")
    return spent + (sum(_cpu(int(child)) for child in children) if with_children else 0.0)


def _tell(words: str, seconds: float, promised: str = "") -> None:
    wanted = f"(below {promised})" if promised else ""
    spent = _cpu()
    cpu, CPU["printed"] = spent - CPU["printed"], spent
    print(f"{words:75} {seconds:7.2f} s {wanted:14} CPU {cpu:6.2f} s  load {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
