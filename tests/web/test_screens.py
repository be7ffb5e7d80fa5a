"""Every step at every width, light and dark: nothing sticks out, everything has a name, all text can be read.

``make screens`` keeps the pictures, to be looked at.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsers import NONE, find_chromium
from web.walk import RUN, STEPS, audit, go, run_and_wait, upload

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=NONE),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]
WIDTHS = (390, 1280, 2560)


def test_every_step_at_every_width_light_and_dark(page: Page, tmp_path: Path) -> None:
    kept = Path(os.environ.get("SETVEIL_SCREENS") or tmp_path)
    kept.mkdir(exist_ok=True)
    _fill(page, tmp_path)
    wrong: dict[str, Any] = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844 if width == 390 else 900})
            for number, step in enumerate(STEPS, 1):
                go(page, step)
                _settle(page, step)
                name = f"{number}-{step.lower().replace(' ', '-')}-{width}-{scheme}"
                if found := audit(page):
                    wrong[name] = found
                page.screenshot(path=kept / f"{name}.png", full_page=True)
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def _fill(page: Page, folder: Path) -> None:
    """Walk through the sample once, so that every step has something to show."""
    page.get_by_role("button", name="Open the sample").click()
    page.get_by_text("Read baskets.csv.gz: ").wait_for()
    go(page, "Danger")
    search = page.get_by_role("textbox", name="Search an item")
    for typed, item in (("pregn", "pregnancy test"), ("sleep", "sleeping pills")):
        search.fill(typed)
        page.get_by_role("button", name=f"Add {item}").click()
        page.get_by_role("button", name=f"Remove {item}").wait_for()
    go(page, "Hierarchy")
    page.get_by_role("button", name="Show taxonomy.csv").click()
    page.get_by_text("Search items and groups").wait_for()
    run_and_wait(page, 1, "the promise is kept")
    go(page, "Protect")
    page.get_by_role("spinbutton", name="k: people in the crowd").fill("20")
    page.get_by_text("finds at least 20 published records").first.wait_for()
    run_and_wait(page, 2, "the promise is kept")
    go(page, "Hand over")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the archive").click()
    download.value.save_as(folder / "release.zip")
    go(page, "Check")
    upload(page, "release.zip", (folder / "release.zip").read_bytes())
    page.get_by_role("heading", name="release.zip: it holds").wait_for(timeout=RUN)


def _settle(page: Page, step: str) -> None:
    """Wait until a step that asks for figures shows them."""
    if step == "Danger":
        page.get_by_text("people fit").wait_for()
    elif step == "Compare":
        page.locator(".runs a[aria-pressed=true]").first.wait_for()
