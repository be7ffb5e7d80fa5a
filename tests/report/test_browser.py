"""The report in a real browser: no request, no error, usable by keyboard, readable at any width and on paper.

Runs on the Chromium that is installed; `make test` sets one up, and says loudly where it cannot.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.releases import Recoding
from tests.browsers import NONE, find_chromium
from tests.report.test_page import KINDS, NASTY, pages, with_record

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=NONE),
    pytest.mark.xdist_group("browser"),
]

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
DESKTOP, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 740}

# Text whose contrast with the background behind it is below 4.5 (WCAG AA), as [contrast, text].
LOW_CONTRAST = """() => {
  const light = (c) => {
    const [r, g, b] = c.map(v => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
    return .2126 * r + .7152 * g + .0722 * b };
  const parts = (c) => c.match(/[\\d.]+/g).map(Number);
  const behind = (e) => {
    const block = e.closest('.block rect, .block');
    if (block) { const c = getComputedStyle(block.querySelector('rect')).fill;
      if (c !== 'none') return parts(c).slice(0, 3) }
    for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c.slice(0, 3) } return [255, 255, 255] };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
    if (!text || ['SCRIPT', 'STYLE', 'title'].includes(e.tagName)) continue;
    const style = getComputedStyle(e), ink = e.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [a, b] = [light(parts(ink)), light(behind(e))].sort((x, y) => y - x);
    const contrast = (a + .05) / (b + .05);
    if (contrast < 4.5) found.push([contrast, text]);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


class Visit:
    """A page that was opened, and everything it asked for or complained about."""

    def __init__(self, browser: Browser, path: Path, viewport: dict[str, int] = DESKTOP, **options: Any) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page: Page = browser.new_page(viewport=viewport, **options)  # type: ignore[arg-type]
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.address = path.as_uri()
        self.page.goto(self.address)


def written(kind: str, folder: Path) -> tuple[Path, Path]:
    """The two pages of a release: public, internal."""
    pages(KINDS[kind](), folder)
    return folder / "out" / "report.html", folder / "out.internal" / "report.html"


@pytest.mark.parametrize("kind", KINDS)
def test_opens_alone_and_fits_every_width(browser: Browser, kind: str, tmp_path: Path) -> None:
    for path in written(kind, tmp_path):
        for viewport in (DESKTOP, PHONE):
            visit = Visit(browser, path, viewport)
            page = visit.page
            assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
            picture = page.screenshot(full_page=True)
            assert picture.startswith(b"\x89PNG")
            assert page.locator("h1").inner_text().startswith("Guarantee met")
            for question in ("Guarantee", "Residual risk", "Utility"):  # answered on the first screen
                light = (
                    page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=question)).bounding_box()
                )
                assert light is not None
                assert light["y"] < 1100
            box = page.locator("h1").bounding_box()
            assert box is not None
            assert box["y"] < 200  # first thing on the page
            assert visit.requests == [visit.address]
            assert visit.complaints == []
            page.close()


@pytest.mark.parametrize("kind", ["recoding", "grouping"])
def test_everything_has_a_name_and_contrast(browser: Browser, kind: str, tmp_path: Path) -> None:
    _, path = written(kind, tmp_path)
    page = Visit(browser, path).page
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    assert page.evaluate(LOW_CONTRAST) == []
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in zip(levels, levels[1:], strict=False))
    charts = page.locator("svg:not([aria-hidden])")
    assert charts.count() >= 4
    for number in range(charts.count()):
        assert charts.nth(number).get_attribute("aria-label")
    assert page.get_by_role("group", name="Chart: records singled out").count() == 1
    assert page.get_by_role("navigation").count() == 1
    assert page.get_by_role("searchbox").count() == page.locator("input").count()
    page.close()
    page = Visit(browser, path, color_scheme="dark").page
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    assert page.evaluate(LOW_CONTRAST) == []
    page.close()


def test_parts_open_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    _, path = written("recoding", tmp_path)
    page = Visit(browser, path).page
    part = page.locator("#published-items details").first
    assert not part.locator("p").is_visible()
    part.locator("summary").focus()
    page.keyboard.press("Enter")
    assert part.locator("p").is_visible()
    assert part.locator("p").inner_text() == "apple, pear, plum"
    page.keyboard.press("Space")
    assert not part.locator("p").is_visible()
    example = page.locator("#examples summary").first
    example.focus()
    page.keyboard.press("Enter")
    assert page.locator("#examples details[open]").count() == 1
    page.close()


def test_points_of_a_chart_show_their_figure_on_focus(browser: Browser, tmp_path: Path) -> None:
    _, path = written("recoding", tmp_path)
    page = Visit(browser, path).page
    points = page.locator("#risk svg .point")
    first, second = points.nth(0), points.nth(1)
    first.focus()
    assert first.locator(".tip").is_visible()
    page.keyboard.press("Tab")
    assert not first.locator(".tip").is_visible()
    assert second.locator(".tip").is_visible()
    assert str(second.locator(".tip").text_content()) in str(second.get_attribute("aria-label"))
    page.close()


def test_tables_can_be_searched_and_all_parts_opened(browser: Browser, tmp_path: Path) -> None:
    _, path = written("local-recoding", tmp_path)
    page = Visit(browser, path).page
    rows = page.locator("#published-items tbody tr")
    assert rows.count() == 2
    search = page.get_by_label("Find in this table").first
    search.fill("GREENS")
    assert [row.is_visible() for row in rows.all()].count(True) == 1
    assert page.locator("#published-items-shown").inner_text() == "1 of 2 rows"
    search.fill("")
    page.get_by_role("button", name="open all").click()
    assert page.locator("#changed details:not([open])").count() == 0
    page.get_by_role("button", name="close all").click()
    assert page.locator("#changed details[open]").count() == 0
    page.close()


def test_the_picture_can_be_searched(browser: Browser, tmp_path: Path) -> None:
    _, path = written("recoding", tmp_path)
    page = Visit(browser, path).page
    page.get_by_label("Find an item or group").fill("PLUM")
    assert page.locator("#tree .block.found").count() == 1
    assert page.locator("#tree-found").inner_text() == "plum: published as a category"
    page.get_by_label("Find an item or group").fill("zebra")
    assert page.locator("#tree .block.found").count() == 0
    assert "look in the table" in page.locator("#tree-found").inner_text()
    page.close()


def test_navigation_stays_in_view_and_long_tables_fold(browser: Browser, tmp_path: Path) -> None:
    rows = [[f"item{number:02d}"] for number in range(60)] * 6
    data = Transactions.from_lists(rows)
    release = with_record(Recoding.from_clusters(data, np.arange(60) // 2), data, sv.KmAnonymity(k=5, m=2))
    pages(release, tmp_path)
    for viewport in (DESKTOP, PHONE):
        page = Visit(browser, tmp_path / "out.internal" / "report.html", viewport).page
        table = page.locator("#every-item tbody tr")
        assert table.count() == 60
        assert page.locator("#every-item tbody tr:visible").count() == 20
        page.locator("#every-item + button").click()
        assert page.locator("#every-item tbody tr:visible").count() == 60
        page.evaluate("window.scrollTo(0, document.body.scrollHeight / 2)")
        box = page.get_by_role("navigation").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < viewport["height"]
        page.close()


def test_everything_is_there_without_script(browser: Browser, tmp_path: Path) -> None:
    _, path = written("recoding", tmp_path)
    visit = Visit(browser, path, java_script_enabled=False)
    assert visit.page.locator("h2").count() >= 12
    assert not visit.page.locator(".controls").first.is_visible()  # no dead buttons
    visit.page.locator("#published-items summary").first.click()
    assert visit.page.locator("#published-items details p").first.is_visible()
    visit.page.close()


def test_paper_shows_closed_parts_and_no_controls(browser: Browser, tmp_path: Path) -> None:
    _, path = written("recoding", tmp_path)
    page = Visit(browser, path).page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator("#published-items details p").first.is_visible()
    assert not page.locator(".controls").first.is_visible()
    assert page.pdf().startswith(b"%PDF")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    page.close()


def test_nasty_labels_stay_text(browser: Browser, tmp_path: Path) -> None:
    nasty = (*NASTY, "<img src=x onerror=alert(2)>", '"><svg onload=alert(3)>')
    data = Transactions.from_lists([list(nasty)] * 5)
    numbers = [number // 3 for number in range(len(nasty))]
    release = with_record(Recoding.from_clusters(data, np.array(numbers)), data, sv.KmAnonymity(k=5, m=2))
    pages(release, tmp_path, to="jsonl")
    for folder in ("out", "out.internal"):
        visit = Visit(browser, tmp_path / folder / "report.html")
        assert visit.requests == [visit.address]
        assert visit.complaints == []
        assert visit.page.locator("img").count() == 0
        visit.page.close()
