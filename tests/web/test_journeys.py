"""What people come for, each from the first look to the end with the buttons that the page offers, and no help text."""

from __future__ import annotations

import io
import random
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browsers import NONE, find_chromium
from tests.web.test_browser import header_of
from tests.web.walk import RUN, audit, expect, give_reason, go, run_and_wait, upload
from tests.workbooks import Cell, workbook

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason=NONE),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]


def shop_file() -> bytes:
    draws = random.Random(2)
    rows = [
        f"{basket},item {item}"
        for basket in range(600)
        for item in sorted({int(draws.triangular(0, 12, 0)) for _ in range(draws.randint(1, 5))})
    ]
    return ("basket,item\n" + "\n".join(rows) + "\n").encode()


def follow(page: Page, step: str) -> None:
    """Go on with the button at the end of the step."""
    page.get_by_role("button", name=f"Next: {step}").click()
    page.locator(f"nav button[aria-current]:text('{step}')").wait_for()


def test_a_shop_file_is_protected_compared_handed_over_and_checked(page: Page, tmp_path: Path) -> None:
    upload(page, "shop.csv", shop_file())
    header_of(page).get_by_text("600 visits, not people").wait_for()  # the name of the column says so
    page.locator(".tiles").get_by_text("items per visit").wait_for()
    follow(page, "Risk")
    page.get_by_role("heading", name="Who can be singled out").wait_for()
    page.locator(".sentence", has_text="Of 100 visits with at least").wait_for()
    follow(page, "Protect")
    page.get_by_role("button", name="Suggest settings").click()
    page.get_by_role("button", name="Cancel the search").wait_for()
    page.get_by_role("heading", name="A: Proposal").wait_for(timeout=RUN)
    page.locator(".proposal").get_by_text("of all visits are singled out").first.wait_for()
    page.get_by_role("button", name="Use this: ").first.click()
    page.get_by_role("button", name="In use: ").wait_for()  # it is marked
    assert audit(page) == []
    if page.get_by_role("button", name="Next: Hierarchy").count():
        follow(page, "Hierarchy")
    follow(page, "Run")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Run 1: guarantee verified").wait_for(timeout=RUN)
    follow(page, "Compare")
    go(page, "Protect")
    page.get_by_role("spinbutton").first.fill("3")
    page.get_by_role("button", name="In use: ").wait_for(state="detached")  # it is another guarantee now
    run_and_wait(page, 2, "guarantee verified")
    follow(page, "Compare")
    page.get_by_role("columnheader", name="Run 2").wait_for()
    assert page.locator(".comparison strong").count()  # what is best is marked
    assert page.evaluate("document.documentElement.scrollHeight") <= 900  # one screen
    follow(page, "Hand over")
    page.get_by_role("textbox", name="Responsible").fill("the data office")
    page.get_by_role("checkbox").first.click()  # ticked once the page has answered
    page.get_by_role("checkbox", checked=True).first.wait_for()
    page.get_by_role("button", name="Add to the report").click()
    page.get_by_text("Added to the report of run").wait_for()
    give_reason(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the archive").click()
    download.value.save_as(tmp_path / "release.zip")
    follow(page, "Check")
    upload(page, "release.zip", (tmp_path / "release.zip").read_bytes())
    page.get_by_role("heading", name="release.zip: verified").wait_for(timeout=RUN)
    changed = io.BytesIO()  # as if somebody had changed a file on its way
    with zipfile.ZipFile(tmp_path / "release.zip") as given, zipfile.ZipFile(changed, "w") as made:
        for entry in given.infolist():
            content = given.read(entry)
            made.writestr(entry, content[:-9] + b"9,item 0\n" if entry.filename.endswith("published.csv") else content)
    upload(page, "changed.zip", changed.getvalue())
    page.get_by_role("heading", name="changed.zip: not verified").wait_for(timeout=RUN)


def test_a_foreign_release_is_checked_without_data_of_ones_own(page: Page) -> None:
    page.get_by_role("button", name="Check a release").click()
    page.get_by_role("heading", name="Check a release").wait_for()
    upload(page, "table.csv", shop_file())  # no release at all
    page.get_by_role("heading", name=re.compile(r"(not|cannot be) verified")).or_(page.get_by_role("alert")).wait_for(
        timeout=RUN
    )
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("release/published.csv", "record,item\n1,a\n2,a\n3,b\n")
    upload(page, "foreign.zip", archive.getvalue())  # made by something else, without a certificate
    page.get_by_role("heading", name=re.compile("foreign.zip: (not|cannot be) verified")).or_(
        page.get_by_role("alert")
    ).wait_for(timeout=RUN)
    assert audit(page) == []
    page.get_by_role("button", name="Go to Workspaces").click()  # its data file alone, with a guarantee to check
    page.locator("nav button[aria-current]:text('Workspaces')").wait_for()
    for name, rows, answer in (("good.csv", 5, "verified"), ("bad.csv", 4, "not verified")):
        if name == "bad.csv":
            go(page, "Workspaces")
        upload(page, name, ("person,item\n" + "".join(f"p{n},a\np{n},b\n" for n in range(rows)) + "q,a\n").encode())
        header_of(page).get_by_text(f"{rows + 1} people").wait_for()
        go(page, "Check")
        page.get_by_role("button", name="Check this file").click()
        page.get_by_role("heading", name=f"{name}: {answer}").wait_for(timeout=RUN)
    page.locator(".verdict").get_by_text("b").first.wait_for()  # the itemset that shows it
    assert audit(page) == []


def test_a_file_of_46_columns_gets_its_roles_by_family(page: Page) -> None:
    draws = random.Random(3)
    names = ["patient_id", "age", "sex", *(f"diag_{n}" for n in range(1, 6)), *(f"lab_{n}" for n in range(1, 39))]
    assert len(names) == 46
    rows = [
        f"P{person:04d},{draws.randint(20, 90)},{draws.choice('FM')},"
        + ",".join(f"E{draws.randint(10, 29)}" for _ in range(5))
        + ","
        + ",".join(str(draws.randint(0, 200)) for _ in range(38))
        for person in range(300)
    ]
    upload(page, "wide.csv", (",".join(names) + "\n" + "\n".join(rows) + "\n").encode())
    role = page.get_by_role("combobox", name="Role of lab_1", exact=True)
    role.select_option("drop")
    page.get_by_role("button", name="The same for all 38 columns lab_").click()
    expect(page.get_by_role("combobox", name="Role of lab_38")).to_have_value("drop")
    assert page.evaluate("document.documentElement.scrollHeight") < 2000  # the table scrolls inside itself
    assert audit(page) == []
    page.get_by_role("button", name="Read the file with these settings").click()
    page.locator(".result", has_text="known columns: age, sex").wait_for()
    header_of(page).get_by_text("300 people").wait_for()


def test_a_workbook_whose_people_are_unclear_is_read_with_the_roles_that_are_proposed(page: Page) -> None:
    """A red message about the command line would end the journey here: the page asks instead, where it can be said."""
    draws = random.Random(4)
    visits: list[list[Cell]] = [["case_no", "patient_id", "sex", "ward", "dx1", "dx2"]]
    for case in range(400):
        person = case if case < 360 else draws.randrange(360)
        codes = draws.sample(("E11.9", "I10", "J44.9", "K21.9", "M54.5", "N39.0"), 2)
        visits.append([f"C{case}", f"P{person}", "FM"[person % 2], draws.choice(("north", "south", "east")), *codes])
    upload(page, "visits.xlsx", workbook({"Visits": visits, "Notes": [["written by", "someone"]]}))
    page.get_by_role("alert").get_by_text("“Sheet of a workbook”").wait_for()
    assert page.url.endswith("/columns")  # the address is that of what is shown
    page.get_by_label("Sheet of a workbook").click()
    page.get_by_role("option", name="Visits").click()
    page.get_by_role("button", name="Read the file with these settings").click()
    header_of(page).get_by_text("Not read yet: state the roles of its columns.").wait_for()
    page.get_by_text('"patient_id" and "case_no" could identify a person. Check the roles below').wait_for()
    assert page.get_by_role("alert").count() == 0  # nothing is wrong with the file
    assert "--" not in page.locator("#step").inner_text()  # the page speaks of its fields
    page.get_by_label("Value per person").click()  # the ward differs between visits
    page.get_by_role("option", name="most", exact=True).click()
    page.get_by_role("button", name="Read the file with these settings").click()
    header_of(page).get_by_text("360 people").wait_for()
    page.get_by_text("The file was read with these roles.").wait_for()
    assert audit(page) == []
