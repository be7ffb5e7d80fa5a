"""Every step at every width, light and dark: nothing sticks out, everything has a name, all text can be read.

``make screens`` keeps the pictures, to be looked at.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browsers import NONE, find_chromium
from tests.web.walk import RUN, STEPS, audit, give_reason, go, run_and_wait, upload

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=NONE),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]
WIDTHS = (390, 1280, 2560)


def folder_of_screens(otherwise: Path) -> Path:
    """Where pictures are kept; ``otherwise`` where nobody asks for them."""
    kept = Path(os.environ.get("SETVEIL_SCREENS") or otherwise)
    kept.mkdir(exist_ok=True)
    return kept


def test_every_step_at_every_width_light_and_dark(page: Page, tmp_path: Path) -> None:
    kept = folder_of_screens(tmp_path)
    _fill(page, tmp_path)
    wrong: dict[str, Any] = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844 if width == 390 else 900})
            for number, step in enumerate(STEPS, 1):
                go(page, step)
                _settle(page, step)
                name = f"{number}-{step.lower().replace(' ', '-')}-{width}-{scheme}"
                if found := audit(page):
                    wrong[name] = found
                page.screenshot(path=kept / f"{name}.png", full_page=True)
    page.get_by_role("button", name="What is this?").click()  # beside the work, at the last width
    page.get_by_role("complementary", name="Help").wait_for()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 844 if width == 390 else 900})
        if found := audit(page):
            wrong[f"help-{width}"] = found
        page.screenshot(path=kept / f"help-{width}-dark.png", full_page=True)
    page.evaluate("Quasar.LoadingBar.start()")  # as while a file is sent
    page.locator(".q-loading-bar:not([aria-hidden=true])").wait_for()
    if found := audit(page):
        wrong["sending"] = found
    assert not wrong, "\n".join(f"{name}: {found}" for name, found in wrong.items())


def test_the_whole_way_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    """From the file dialog to a checked archive: Tab, Enter, the space bar and arrows, and text that is typed."""
    rows = dict.fromkeys(f"p{person},item {person * step % 7}" for person in range(300) for step in (1, 2, 3))
    (tmp_path / "people.csv").write_text("person,item\n" + "\n".join(rows) + "\n")
    page.reload()  # the keyboard starts at the top
    page.get_by_role("heading", name="Open your data").wait_for()
    with page.expect_file_chooser() as chooser:
        press(page, "Choose a file")
    chooser.value.set_files(tmp_path / "people.csv")
    page.get_by_role("heading", name="Overview of your data").wait_for()
    page.get_by_text("300 people").first.wait_for()
    press(page, "Next: Risk")
    page.get_by_text("Look for a person").wait_for()
    press(page, "Search an item", "item 3", "Enter")
    page.get_by_text("people match").wait_for()
    press(page, "Next: Protect")
    page.get_by_role("heading", name="Privacy model").wait_for()
    press(page, "k: smallest number of matching people", "ArrowRight")  # the slider
    page.locator(".guarantee .sentence", has_text="at least 6").wait_for()
    press(page, "Next: Hierarchy")
    press(page, "Build: Categories of equal size, items in order")
    page.get_by_text("7 items in").wait_for()
    press(page, "Unfold item 0..item 4")
    page.get_by_text("item 0: ").wait_for()
    press(page, "Next: Run")
    page.get_by_role("heading", name="Make the release").wait_for()
    press(page, "Start")
    page.get_by_role("heading", name="Run 1: guarantee verified").wait_for(timeout=RUN)
    press(page, "Compare")
    page.locator(".runs a[aria-pressed=true]").wait_for()
    press(page, "Run 1, ", " ")
    page.locator(".runs a[aria-pressed=false]").wait_for()
    press(page, "Hand over")
    page.get_by_role("heading", name="Hand over a release").wait_for()
    press(page, "Responsible", "me", "Tab")
    press(page, "Add to the report")
    page.get_by_text("Added to the report of run 1").wait_for()
    with page.expect_download() as download:
        press(page, "Download the archive")
    download.value.save_as(tmp_path / "release.zip")
    press(page, "Check")
    page.get_by_role("heading", name="Check a release").wait_for()
    with page.expect_file_chooser() as chooser:
        press(page, "Choose an archive")
    chooser.value.set_files(tmp_path / "release.zip")
    page.get_by_role("heading", name="release.zip: verified").wait_for(timeout=RUN)


def press(page: Page, name: str, *keys: str) -> None:
    """Tab to what a screen reader calls so, as far as it takes, and press keys there: Enter if none are given."""
    wanted = """(name) => { const e = document.activeElement, label = e.ariaLabel || e.labels?.[0]?.textContent
      || e.closest('label')?.textContent || e.textContent || '';
      return label.trim().replace(/^\\d /, '').startsWith(name) }"""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate(wanted, name):
            break
    else:
        raise AssertionError(f"{name}: not reached with Tab")
    for key in keys or ("Enter",):
        page.keyboard.type(key) if len(key) > 1 and key not in KEYS else page.keyboard.press(key)


KEYS = ("Enter", "Tab", "ArrowRight")


def _fill(page: Page, folder: Path) -> None:
    """Walk through the sample once, so that every step has something to show."""
    page.get_by_role("button", name="Open the sample").click()
    page.get_by_role("region", name="Data set").get_by_text("5,000 people").wait_for()
    go(page, "Risk")
    search = page.get_by_role("textbox", name="Search an item")
    for typed, item in (("pregn", "pregnancy test"), ("sleep", "sleeping pills")):
        search.fill(typed)
        page.get_by_role("button", name=f"Add {item}").click()
        page.get_by_role("button", name=f"Remove {item}").wait_for()
    go(page, "Hierarchy")
    page.get_by_role("button", name="Show taxonomy.csv").click()
    page.get_by_text("Search items and categories").wait_for()
    page.get_by_role("button", name="Show a preview").click()
    page.locator(".previewed .result").wait_for(timeout=RUN)
    run_and_wait(page, 1, "guarantee verified")
    go(page, "Protect")
    page.get_by_role("button", name="Suggest settings").click()
    page.get_by_role("heading", name="Proposal").wait_for(timeout=RUN)
    page.get_by_role("spinbutton", name="k: smallest number of matching people").fill("20")
    page.locator(".guarantee .sentence", has_text="at least 20").wait_for()
    run_and_wait(page, 2, "guarantee verified")
    go(page, "Hand over")
    give_reason(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the archive").click()
    download.value.save_as(folder / "release.zip")
    go(page, "Check")
    upload(page, "release.zip", (folder / "release.zip").read_bytes())
    page.get_by_role("heading", name="release.zip: verified").wait_for(timeout=RUN)


def _settle(page: Page, step: str) -> None:
    """Wait until a step that asks for figures shows them."""
    if step == "Risk":
        page.get_by_text("people match").wait_for()
    elif step == "Compare":
        page.locator(".runs a[aria-pressed=true]").first.wait_for()


def test_a_hospital_file_from_its_columns_to_a_verdict(page: Page, tmp_path: Path) -> None:
    """The first journey: roles are proposed and confirmed, columns make people stand out, the guarantee covers them."""
    draws = random.Random(1)
    rows = []
    for person in range(400):
        own = f"p{person},{draws.randint(20, 89)},{draws.choice('fm')},{draws.choice(('north', 'south'))}"
        rows += [f"{own},E{10 + code}" for code in sorted(draws.sample(range(8), draws.randint(1, 4)))]
    go(page, "Columns")  # with nothing to show: that is not a look at the roles
    go(page, "Workspaces")
    upload(page, "hospital.csv", ("patient,age,sex,region,code\n" + "\n".join(rows) + "\n").encode())
    page.get_by_role("heading", name="Say what each column is").wait_for()  # before any figure looks safe
    page.get_by_role("combobox", name="Role of age").wait_for()
    assert page.locator("nav button.done", has_text="Overview").count() == 0  # nobody has seen it
    assert page.get_by_role("textbox", name="Hierarchy of age").input_value().startswith("bands:")
    assert audit(page) == []
    page.screenshot(path=folder_of_screens(tmp_path) / "2-columns-hospital-1280-light.png", full_page=True)
    page.get_by_role("button", name="Read the file with these settings").click()
    page.get_by_text("known columns: age, sex, region").wait_for()
    page.get_by_role("button", name="Next: Overview").click()
    page.get_by_role("heading", name="Columns besides the items").wait_for()
    go(page, "Risk")
    page.locator(".sentence", has_text="age, sex, region and 4 items").wait_for()
    page.get_by_role("slider").fill("0")
    page.locator(".sentence", has_text="who knows age, sex and region.").wait_for()
    page.get_by_role("button", name="Try age").first.click()
    page.get_by_text("Exactly one person matches").wait_for()
    go(page, "Protect")
    assert page.locator(".models input:checked").get_attribute("value") == "kkm"
    assert page.locator(".model.refused").count() >= 1
    run_and_wait(page, 1, "guarantee verified")
    page.get_by_role("button", name="Show these records").wait_for()
    assert page.get_by_role("table", name="Records before and after").count() == 0  # not sent until asked for
    assert audit(page) == []
