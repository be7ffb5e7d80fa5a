"""The page in a real browser: every step, a reload during a run, cancel, a broken file, an ask nobody can keep.

Runs on the Chromium that is installed; without one the tests are skipped.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import setveil as sv
from setveil.workflows.samples import demo_files
from tests.browsers import NONE, find_chromium
from tests.web.conftest import Server
from tests.web.walk import RUN, STEPS, audit, expect, give_reason, go, run_and_wait, upload

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = find_chromium()
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=NONE),
    pytest.mark.xdist_group("browser"),
]

NASTY = ["<img src=x onerror=alert(1)>", "</script><b>bold", "a\u202eb", "\x1b[31mred", "{{ 7*7 }}"]


def small_data(n: int = 300) -> bytes:
    """Few items, many people: every run is quick."""
    rows = [f"p{person},item {(person * step) % 7}" for person in range(n) for step in (1, 2, 3)]
    return ("person,item\n" + "\n".join(dict.fromkeys(rows)) + "\n").encode()


def next_stop(page: Page, number: int) -> None:
    """Where the tour leads next."""
    tour = page.get_by_role("complementary", name="Tour")
    tour.get_by_role("button", name="Next stop of the tour").click()
    page.locator(f"nav button[aria-current]:text('{STEPS[number]}')").wait_for()
    tour.get_by_text(f"Tour, stop {number} of 9").wait_for()


# A folder with one file is dropped; only the browser itself can make a real one.
DROP_FOLDER = """(place) => {
  const batches = [[{isFile: true, file: (take) => take(new File(['{}'], 'certificate.json'))}], []];
  const folder = {isDirectory: true, name: 'dropped',
    createReader: () => ({readEntries: (take) => take(batches.shift())})};
  const event = new Event('drop', {bubbles: true, cancelable: true});
  event.dataTransfer = {items: [{webkitGetAsEntry: () => folder}], files: []};
  place.querySelector('.dropzone').dispatchEvent(event);
}"""


def test_from_the_sample_to_a_checked_archive(page: Page, server: Server, tmp_path: Path) -> None:
    assert "token" not in page.url
    page.get_by_role("button", name="Take the tour").click()
    page.get_by_role("region", name="Data set").get_by_text("5,000 people").wait_for()
    page.get_by_text("Tour, stop 2 of 9").wait_for()
    next_stop(page, 3)
    page.get_by_role("textbox", name="Search an item").fill("pregn")
    page.get_by_role("button", name="Add pregnancy test").click()
    page.locator(".fits", has_text="people match").wait_for()
    next_stop(page, 4)
    page.locator(".guarantee .sentence", has_text="at least 5").wait_for()
    page.get_by_role("spinbutton", name="k: smallest number of matching people").fill("6")
    page.locator(".guarantee .sentence", has_text="at least 6").wait_for()
    page.get_by_text("Advanced: algorithm").click()
    page.get_by_role("combobox", name="Algorithm").click()
    page.get_by_role("option", name="aa: apriori").click()
    page.get_by_role("combobox", name="Search effort").wait_for(state="detached")  # the step is built anew
    next_stop(page, 5)
    next_stop(page, 6)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Run 1: working").wait_for()
    page.reload()  # it goes on, and is still there
    page.get_by_role("heading", name="Run 1: guarantee verified").wait_for(timeout=RUN)
    next_stop(page, 7)
    page.get_by_role("columnheader", name="Run 1 ★").wait_for()
    next_stop(page, 8)
    expect(page.locator("code")).to_have_text("setveil anonymize baskets.csv.gz -o OUT --policy policy.toml")
    give_reason(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the archive").click()
    archive = tmp_path / "release.zip"
    download.value.save_as(archive)
    names = {name.partition("/")[2] for name in zipfile.ZipFile(archive).namelist()}
    public = {"published.csv", "codebook.csv", "certificate.json", "report.html"}  # and nothing internal
    assert names - {"item_counts.csv"} == public
    for name in ("policy.toml", "hierarchy.csv"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        download.value.save_as(tmp_path / name)
    repeated = sv.run(sv.Policy.from_file(tmp_path / "policy.toml"), demo_files()[0], tmp_path / "again")
    for name in names:  # the same bytes without the page
        assert (repeated.path / name).read_bytes() == zipfile.ZipFile(archive).read(f"release/{name}")
    page.get_by_role("textbox", name="Folder to create").fill(str(tmp_path / "kept"))
    page.get_by_role("button", name="Copy to this folder").click()
    page.get_by_text("Internal use only: ").wait_for()
    assert (tmp_path / "kept.internal" / "policy.toml").is_file()
    next_stop(page, 9)
    tour = page.get_by_role("complementary", name="Tour")
    tour.get_by_role("button", name="End the tour").click()
    tour.wait_for(state="detached")
    upload(page, "release.zip", archive.read_bytes())
    page.get_by_role("heading", name="release.zip: verified").wait_for()
    hostile = io.BytesIO()
    with zipfile.ZipFile(hostile, "w") as packed:
        packed.writestr("release/../../../escaped", "x")
    upload(page, "hostile.zip", hostile.getvalue())
    page.get_by_role("alert").get_by_text("not a file of a release folder").wait_for()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(tmp_path / "kept")
    page.get_by_role("heading", name="kept: verified").wait_for()
    (tmp_path / "kept" / "deeper").mkdir()
    (tmp_path / "kept" / "deeper" / "published.csv").write_text("x")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a folder").click()
    chooser.value.set_files(tmp_path / "kept")
    page.get_by_role("alert").get_by_text("not a file of a release folder").wait_for()
    page.locator(".drop").evaluate(DROP_FOLDER)
    page.get_by_role("heading", name="dropped: not verified").wait_for()
    page.get_by_role("textbox", name="Path of the release folder").fill(str(tmp_path / "kept"))
    (tmp_path / "kept" / "published.csv").write_text("basket,item\n1,milk\n")
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("heading", name="kept: not verified").wait_for()
    with page.context.expect_page() as opened:
        go(page, "Hand over")
        page.get_by_role("link", name="Open the internal report").click()
    opened.value.locator("h1").first.wait_for()
    other = {"cookie": server.new_cookie()}  # another session does not find it
    assert server.ask("/data/1/run/1/report/internal", **other)[0] == 404
    assert b"baskets.csv.gz" not in server.ask("/", **other)[2]
    assert server.ask("/data/1/run/1/release.zip", **other)[0] == 404


def test_cancel_within_a_second_and_an_ask_nobody_can_keep(page: Page, tmp_path: Path) -> None:
    draws = random.Random(1)  # few of the pairs are shared by enough people: a run has seconds of work
    rows = [f"p{person},item {item}\n" for person in range(6000) for item in draws.sample(range(300), 12)]
    (tmp_path / "people.csv").write_text("person,item\n" + "".join(rows))
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(tmp_path / "people.csv")
    page.get_by_text("6,000 people").first.wait_for()
    go(page, "Run")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Start another run").click()
    page.get_by_role("button", name="Cancel run 2").wait_for()  # both at the same time
    page.get_by_role("button", name="Cancel run 1").click()
    page.get_by_role("heading", name="Run 1: cancelled, nothing was written").wait_for()
    page.get_by_role("heading", name="Run 2: guarantee verified").wait_for(timeout=RUN)
    go(page, "Protect")
    page.get_by_role("spinbutton", name="k: smallest number of matching people").fill("9000")
    page.locator(".guarantee .sentence", has_text="at least 9000").wait_for()
    go(page, "Run")
    page.get_by_role("button", name="Start another run").click()
    page.get_by_role("heading", name="Run 3: no release").wait_for(timeout=RUN)
    page.get_by_text("No release can meet this guarantee").wait_for()


def header_of(page: Page) -> Any:
    return page.get_by_role("region", name="Data set")


def test_runs_of_one_file_never_show_up_under_another(page: Page) -> None:
    upload(page, "first.csv", small_data())
    header_of(page).get_by_text("Data set 1: first.csv").wait_for()
    header_of(page).get_by_text("300 people, 7 items. One record per value of column “person”.").wait_for()
    run_and_wait(page, 1, "guarantee verified")
    go(page, "Workspaces")
    upload(page, "second.csv", small_data(200))
    header_of(page).get_by_text("200 people").wait_for()
    for step, words in (("Run", None), ("Compare", "There is no release of"), ("Hand over", "There is no release of")):
        go(page, step)
        header_of(page).get_by_text("Data set 2: second.csv").first.wait_for()
        page.get_by_text(words).wait_for() if words else None
        expect(page.locator(".run, .columns .q-expansion-item, code")).to_have_count(0)
    run_and_wait(page, 1, "guarantee verified")
    go(page, "Hand over")
    expect(page.locator("code")).to_contain_text("second.csv")
    header_of(page).get_by_role("combobox").click()
    page.get_by_role("option", name="Data set 1: first.csv").click()
    header_of(page).get_by_text("300 people").wait_for()
    page.locator("code", has_text="first.csv").wait_for()  # the run of the first file, with its own name
    page.wait_for_url("**/data/1/handover")
    page.go_back()  # Back and Forward lead through steps and data sets
    page.wait_for_url("**/data/2/handover")
    page.locator("code", has_text="second.csv").wait_for()
    page.go_back()
    page.get_by_role("heading", name="Make the release").wait_for()
    page.go_forward()
    page.get_by_role("heading", name="Hand over a release").wait_for()
    page.reload()
    page.locator("code", has_text="second.csv").wait_for()
    other = page.context.new_page()  # another tab with another data set, at the same time
    other.goto(page.url.replace("/data/2/handover", "/data/1/compare"))
    header_of(other).get_by_text("Data set 1: first.csv").first.wait_for()
    other.get_by_role("columnheader", name="Run 1 ★").wait_for()
    page.get_by_role("button", name="Add to the report").click()
    page.get_by_text("Added to the report of run 1").wait_for()
    header_of(page).get_by_text("Data set 2: second.csv").first.wait_for()
    go(page, "Workspaces")
    page.get_by_role("button", name="Close: Data set 1: first.csv").click()
    page.get_by_role("button", name="Close: Data set 1: first.csv").wait_for(state="detached")
    header_of(other).get_by_text("Data set 2: second.csv").wait_for()  # the other tab follows


def test_a_workspace_is_kept_when_asked_reopened_and_deleted_by_one_click(page: Page) -> None:
    page.get_by_role("heading", name="Kept workspaces").wait_for()
    upload(page, "kept.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    page.get_by_role("button", name="What is this?").click()  # help opens beside the work, and stays open
    page.get_by_role("complementary", name="Help").get_by_text("Rare items").wait_for()
    page.get_by_role("textbox", name="Recipient").fill("A university")
    page.get_by_role("button", name="Next: Risk").click()
    page.get_by_role("complementary", name="Help").get_by_text("Average and worst").wait_for()
    page.get_by_role("button", name="Back: Overview").click()
    page.locator("nav button.done", has_text="Risk").wait_for()
    go(page, "Workspaces")
    page.get_by_role("button", name="Keep: Data set 1: kept.csv").click()
    page.get_by_role("button", name="Keep the changes: Data set 1: kept.csv").wait_for()
    page.get_by_role("button", name="Close: Data set 1: kept.csv").click()
    page.get_by_text("Nothing is open").wait_for()
    page.get_by_role("button", name="Open: kept.csv").click()
    header_of(page).get_by_text("300 people").wait_for()
    expect(page.get_by_role("textbox", name="Recipient")).to_have_value("A university")
    go(page, "Workspaces")
    page.get_by_role("button", name="Delete: kept.csv").click()
    page.get_by_text("“Keep” stores a workspace in").wait_for()
    assert audit(page) == []


def test_a_red_run_needs_a_reason_which_is_recorded(page: Page, tmp_path: Path) -> None:
    draws = random.Random(3)  # every pair is frequent, and four items single out many
    rows = [f"p{person},item {item}\n" for person in range(200) for item in draws.sample(range(40), 12)]
    upload(page, "red.csv", ("person,item\n" + "".join(rows)).encode())
    header_of(page).get_by_text("200 people").wait_for()
    run_and_wait(page, 1, "guarantee verified")
    page.locator(".run .lights .bad").first.wait_for()
    expect(page.locator(".run h2")).not_to_have_text("Run 1: guarantee verified")  # the heading names what is red
    go(page, "Compare")
    page.locator(".comparison td .small-lights .bad").first.wait_for()
    go(page, "Hand over")
    page.locator(".lights .bad").first.wait_for()
    archive, keep = (page.get_by_role("button", name=name) for name in ("Download the archive", "Copy to this folder"))
    expect(archive).to_be_disabled()
    expect(keep).to_be_disabled()
    target = page.get_by_role("textbox", name="Folder to create")
    target.fill(str(tmp_path / "kept"))
    target.press("Enter")  # no way round
    page.get_by_role("alert").get_by_text("Record a reason").wait_for()
    page.get_by_role("textbox", name="Reason", exact=True).fill("so")
    page.get_by_role("button", name="Record the reason").click()
    page.get_by_role("alert").get_by_text("too short").wait_for()
    expect(archive).to_be_disabled()
    reason = "The committee agreed on 3 May; the recipient signed a data use agreement."
    page.get_by_role("textbox", name="Reason", exact=True).fill(reason)
    page.get_by_role("button", name="Record the reason").click()
    page.get_by_text("recorded in the internal report of run 1").wait_for()
    key = page.get_by_role("textbox", name="Path of the private key")
    key.fill("/nowhere/key")
    page.get_by_role("button", name="Sign the certificate").click()
    wrong = page.get_by_text("there is no such file")  # at its field, in the words of the page
    expect(wrong).to_contain_text("“Path of the private key”")
    assert audit(page) == []  # nothing lies over it
    key.fill("")
    wrong.wait_for(state="detached")  # and gone when it is mended
    page.get_by_role("textbox", name="Responsible").fill("The data office")
    page.get_by_role("button", name="Add to the report").click()  # neither overwrites the other
    page.get_by_text("Added to the report of run 1").wait_for()
    keep.click()
    page.get_by_text("Internal use only: ").wait_for()
    internal = tmp_path / "kept.internal"
    about = {"reason": reason, "responsible": "The data office"}
    assert json.loads((internal / "run.json").read_text())["about"] == about
    assert sv.Policy.from_file(internal / "policy.toml").about.model_dump(exclude_none=True) == about
    assert reason in (internal / "report.html").read_text()
    assert all(reason.encode() not in file.read_bytes() for file in (tmp_path / "kept").iterdir())  # nothing public
    with page.expect_download():
        archive.click()


def test_a_broken_file_is_explained_and_read_again(page: Page) -> None:
    upload(page, "broken.csv.gz", gzip.compress(b"x" * 1000)[:20])
    page.get_by_role("heading", name="Say what each column is").wait_for()  # where it can be mended
    expect(page.get_by_role("alert")).to_have_text(re.compile("^broken.csv.gz:"))  # not where it lies on the server
    go(page, "Workspaces")
    expect(page.get_by_role("alert")).to_have_count(0)  # it stands where it arose
    upload(page, "lists.csv", b"person;codes\n" + b"".join(b"%d;a|b|c%d\n" % (n, n % 3) for n in range(60)))
    header_of(page).get_by_text("lists.csv").wait_for()
    go(page, "Columns")
    page.get_by_role("textbox", name="Separator of items inside a cell").fill("|")
    page.get_by_role("button", name="Read the file with these settings").click()
    header_of(page).get_by_text("60 people").wait_for()
    expect(page.get_by_role("alert")).to_have_count(0)
    roles_of_columns_are_changed(page)


def roles_of_columns_are_changed(page: Page) -> None:
    rows = "".join(f"{n},{n % 20},code {n % 3},day {n % 7}\n" for n in range(60))
    go(page, "Workspaces")
    upload(page, "visits.csv", f"visit_id,patient_id,code,day\n{rows}".encode())
    page.get_by_text("could identify a person. Check the roles below").wait_for()
    page.get_by_role("button", name="Read the file with these settings").click()  # as it is proposed
    header_of(page).get_by_text("per value of column “patient_id”").wait_for()
    header_of(page).get_by_text("20 people").wait_for()
    for column, role in (("visit_id", "person"), ("patient_id", "drop"), ("day", "item")):
        page.get_by_role("combobox", name=f"Role of {column}").select_option(role)
    page.get_by_role("button", name="Read the file with these settings").click()
    header_of(page).get_by_text("per value of column “visit_id”").wait_for()
    header_of(page).get_by_text("60 visits, not people").wait_for()
    go(page, "Overview")
    page.get_by_role("cell", name="code 0, day 0").first.wait_for()
    page.get_by_text("dropped: patient_id").wait_for()
    page.get_by_role("columnheader", name="visit", exact=True).wait_for()  # what stands below are numbers, no ids


def test_labels_and_warnings_are_shown_as_the_file_has_them(page: Page) -> None:
    lines = [json.dumps([NASTY[n % 5], NASTY[(n + 1) % 5], "plain"]) for n in range(60)]
    upload(page, '"><script>alert(1)</script>.jsonl', "\n".join(lines).encode())
    page.get_by_role("cell", name="<img src=x onerror=alert(1)>").first.wait_for()
    text = page.locator("#step").inner_text()  # labels are text, whatever they hold
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u202e" in text
    assert "{{ 7*7 }}" in text
    assert page.locator("#step img, #step script, #step b").count() == 0
    go(page, "Workspaces")
    upload(page, "rows.csv", b"row,item\n" + b"".join(b"%d,item %d\n" % (n, n % 5) for n in range(300)))
    warning = page.get_by_text('rows.csv: every "row" has one item only')
    warning.wait_for()
    assert "“Person”" in warning.inner_text()
    go(page, "Risk")  # a warning stands beside figures that look safe
    page.get_by_role("heading", name="Who can be singled out").wait_for()
    warning.wait_for()
    labels = ["_" * n + "end" for n in range(80, 92)]
    rows = "".join(f"{n},{labels[n % 12]}\n{n},{labels[n % 5]}\n" for n in range(120))
    go(page, "Workspaces")
    upload(page, "long.csv", b"id,item\n" + rows.encode())
    page.get_by_text("120 people").first.wait_for()
    go(page, "Hierarchy")
    page.get_by_role("button", name="Categories of equal size, items in order").click()
    page.get_by_text("12 items in").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    assert audit(page) == []  # labels without a blank stay inside a narrow window


def test_without_data_by_keyboard_narrow_dark_and_beside_another_session(
    page: Page, server: Server, tmp_path: Path
) -> None:
    page.reload()  # the keyboard starts at the top
    page.get_by_role("heading", name="Open your data").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the step"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for width in (390, 2560):
            page.set_viewport_size({"width": width, "height": 844})
            for step in ("Workspaces", "Check"):
                button = page.get_by_role("navigation", name="Steps").get_by_role("button", name=step)
                button.focus()
                page.keyboard.press("Enter")
                page.locator(f"nav button[aria-current]:text('{step}')").wait_for()
                page.wait_for_function("document.activeElement.tagName === 'H1'")
                assert audit(page) == []
    assert page.locator(".notice").count() == 0
    cookie = server.new_cookie()
    page.get_by_role("alert").get_by_text("Another browser opened this page").wait_for()
    assert b"Another browser opened this page" in server.ask("/", cookie=cookie)[2]  # and the second knows of the first
    page.get_by_role("button", name="Dismiss").click()
    page.locator(".notice").wait_for(state="detached")
    guessable_groups_are_not_shown_in_green(page, tmp_path)


def guessable_groups_are_not_shown_in_green(page: Page, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(small_data() + b"".join(b"p%d,rare test\n" % n for n in range(0, 300, 20)))
    release = sv.anonymize(tmp_path / "people.csv", "degree", p=4, sensitive=["rare test"], algorithm="cahd")
    out = release.publish(tmp_path / "groups", accept_guessable=True)
    page.get_by_role("textbox", name="Path of the release folder").fill(str(out))
    page.get_by_role("button", name="Check it").click()
    page.get_by_role("heading", name="groups: verified, but an attacker can guess who has a sensitive item").wait_for(
        timeout=RUN
    )
    expect(page.locator(".verdict.care p:not(.soft)", has_text="Guessing: ")).to_have_count(1)
    assert page.locator(".verdict.good").count() == 0
    assert page.locator(".verdict", has_text="Guessing: ").inner_text().count("Guessing: ") == 1


def test_a_hierarchy_is_changed_by_hand_and_taken_back(page: Page) -> None:
    upload(page, "people.csv", small_data())
    page.get_by_text("300 people").first.wait_for()
    go(page, "Hierarchy")
    page.get_by_role("button", name="Categories of equal size, items in order").click()
    page.get_by_text("7 items in").wait_for()
    page.get_by_text("Change the hierarchy", exact=True).click()
    group = page.locator(".nodes li").first
    group.get_by_role("button", name="Unfold").click()
    group.get_by_text("item 0: ").wait_for()  # a tree: what is in it stands below it
    group.get_by_role("button", name="Unfold").click()
    group.get_by_text("item 0: ").wait_for(state="detached")
    first = group.get_by_role("button", name="Open")
    label = first.inner_text()
    first.click()
    page.get_by_role("button", name=f"Rename {label}").wait_for()  # the group is open
    page.get_by_role("textbox", name="Name", exact=True).fill("the first ones")
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("navigation", name="Path to this category").get_by_role("button", name="the first ones").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").wait_for(state="detached")
    page.get_by_text("Name categories without a name").click()
    page.get_by_role("textbox", name="Name of the category of item 0").first.fill("named")
    page.get_by_role("button", name="Set name of item 0..item 4").click()
    way = page.get_by_role("navigation", name="Path to this category")
    way.get_by_role("button", name="named").wait_for()
    groups_are_merged_moved_split_and_dissolved(page)
    page.get_by_role("button", name="Show a preview").click()
    page.locator(".previewed .result", has_text="items").wait_for(timeout=RUN)
    assert audit(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    assert len(Path(download.value.path()).read_text().splitlines()) >= 7


def groups_are_merged_moved_split_and_dissolved(page: Page) -> None:
    """Within the group “named”, which holds items 0 to 4 and is open."""
    way = page.get_by_role("navigation", name="Path to this category")

    def choose(*items: str) -> None:
        for item in items:
            page.get_by_role("checkbox", name=f"Select {item}").click()

    choose("item 0", "item 1")
    page.get_by_role("textbox", name="Name", exact=True).fill("pair")
    page.get_by_role("button", name="Put the selection into a new category").click()
    page.get_by_role("button", name="Open pair").wait_for()
    choose("item 2")
    page.get_by_role("button", name="Open pair").click()
    page.get_by_text("Selected: item 2.").wait_for()  # it stays chosen while one looks elsewhere
    page.get_by_role("button", name="Move the selection into pair").click()
    page.get_by_text("item 2: ").wait_for()
    way.get_by_role("button", name="named").click()
    page.get_by_role("button", name="Open pair").wait_for()
    carried = page.evaluate_handle("() => new DataTransfer()")  # the mouse is too quick for a busy machine
    page.locator(".node", has_text="item 3: ").dispatch_event("dragstart", {"dataTransfer": carried})
    for event in ("dragover", "drop"):
        page.locator(".node", has_text="pair").dispatch_event(event, {"dataTransfer": carried})
    way.get_by_role("button", name="pair").wait_for()
    page.get_by_text("item 3: ").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Open named").click()
    page.get_by_role("button", name="Open pair").click()
    choose("item 2")
    page.get_by_role("textbox", name="Name", exact=True).fill("apart")
    page.get_by_role("button", name="Move the selection out").click()
    way.get_by_role("button", name="apart").wait_for()
    page.get_by_text("item 2: ").wait_for()
    page.get_by_role("button", name="Dissolve apart").click()
    page.get_by_role("button", name="Open named").click()
    page.get_by_role("button", name="Open pair").wait_for()
    page.get_by_text("item 2: ").wait_for()


TREE = b"item 0,low\nitem 1,low\nitem 2,low\nitem 3,high\nitem 4,high\nitem 5,high\nitem 6,high\nrare test,tests\n"
MODELS = {
    "degree": "Hide who has a sensitive item",
    "k-anonymity": "Publish every record at least k times",
    "coherence": "Protect records and sensitive items",
    "constraints": "Protect only the combinations",
}


def choose_model(page: Page, model: str) -> None:
    go(page, "Protect")
    page.get_by_role("radio", name=MODELS[model]).click()
    page.locator(f".models input[value={model}][checked]").wait_for()  # as the page was built anew


def test_every_model_from_choice_to_verdict(page: Page) -> None:
    upload(page, "people.csv", small_data() + b"".join(b"p%d,rare test\n" % n for n in range(0, 300, 20)))
    page.get_by_text("300 people").first.wait_for()
    go(page, "Hierarchy")
    upload(page, "tree.csv", TREE.replace(b"item 6,high", b"item 6,high\nitem 6,low"))
    page.get_by_role("cell", name="item 6,low").wait_for()  # the fault, in its line
    upload(page, "tree.csv", TREE)
    page.get_by_text("8 items in").wait_for()
    choose_model(page, "degree")
    search = page.get_by_role("textbox", name="Search sensitive items")
    search.fill("tests")
    page.get_by_role("button", name="Add all 1 of tests").click()  # by subtree
    page.get_by_role("button", name="Remove rare test").wait_for()
    run_and_wait(page, 1, "guarantee verified")
    go(page, "Protect")
    page.get_by_text("Advanced: algorithm").click()
    page.get_by_role("combobox", name="Algorithm").click()
    page.get_by_role("option", name="cahd").click()
    page.get_by_role("checkbox", name="I accept this").wait_for()
    run_and_wait(page, 2, "no release")  # nobody has accepted
    page.get_by_text("“Algorithm”").wait_for()
    go(page, "Protect")
    page.get_by_role("checkbox", name="I accept this").click()
    page.get_by_role("checkbox", name="I accept this", checked=True).wait_for()
    run_and_wait(page, 3, "guarantee verified")
    choose_model(page, "k-anonymity")
    run_and_wait(page, 4, "guarantee verified")
    choose_model(page, "coherence")
    run_and_wait(page, 5, "guarantee verified")
    choose_model(page, "constraints")
    search = page.get_by_role("textbox", name="Search items for one entry of constraints")
    search.fill("item 1")  # by search
    page.get_by_role("button", name="Add item 1").click()
    page.get_by_role("button", name="Remove item 1").wait_for()
    search.fill("tests")
    page.get_by_role("button", name="Add all 1 of tests").click()
    page.get_by_role("button", name="Remove item 1 + rare test").wait_for()
    page.get_by_text("Utility groups", exact=True).click()
    page.get_by_role("textbox", name="Search items for one entry of utility groups").fill("low")
    page.get_by_role("button", name="Add all 3 of low").click()
    page.get_by_role("button", name="Remove item 2").wait_for()
    page.get_by_role("button", name="Add to utility groups").click()
    page.get_by_role("button", name="Remove item 0 + item 1 + item 2").wait_for()
    run_and_wait(page, 6, "guarantee verified")
    go(page, "Compare")
    page.get_by_role("region", name="All runs of this data set").wait_for()
    choose_runs_in_the_picture(page)
    go(page, "Hand over")
    page.get_by_role("textbox", name="Responsible").fill("The data office")
    page.get_by_role("button", name="Add to the report").click()
    page.get_by_text("Added to the report of run 6").wait_for()
    go(page, "Compare")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Report of run 6").click()
    opened.value.get_by_text("The data office").first.wait_for()  # signed


def choose_runs_in_the_picture(page: Page) -> None:
    """By mouse, Enter and the space bar; buttons say the same."""
    chosen = page.get_by_role("button", name="Run 1", exact=True)
    expect(chosen).to_have_attribute("aria-pressed", "false")
    mark = page.locator(".runs").get_by_role("button", name="Run 1, ")
    column = page.locator(".columns .q-expansion-item", has_text="Run 1 in detail")
    for key, is_chosen in ((None, "true"), ("Enter", "false"), (" ", "true")):
        mark.press(key) if key else mark.locator("text").click()
        page.locator(f".runs a[aria-pressed={is_chosen}][aria-label^='Run 1,']").wait_for()
        column.wait_for(state="visible" if is_chosen == "true" else "detached")
        expect(chosen).to_have_attribute("aria-pressed", is_chosen)
    expect(mark).to_be_focused()  # whoever chooses by keyboard stays there
    column.get_by_text("Run 1 in detail").click()
    column.get_by_text("A few short records that changed").wait_for()
    column.get_by_text("at most one in 5 people of a group may have it").first.wait_for()  # the cause
    assert audit(page) == []  # details stand side by side, not over each other


def test_a_proposal_is_tried_taken_and_kept(page: Page) -> None:
    rows = dict.fromkeys(b"p%d,item %d\n" % (n, n * step % 5) for n in range(60) for step in (1, 2))
    upload(page, "few.csv", b"person,item\n" + b"".join(rows))
    page.get_by_text("60 people").first.wait_for()
    go(page, "Protect")
    page.get_by_role("button", name="Suggest settings").click()
    page.get_by_role("heading", name="Proposal").wait_for(timeout=RUN)
    page.locator(".proposals svg").get_by_text("floor at k=").first.wait_for()
    sentence = page.locator(".proposal .sentence").first.inner_text()
    page.get_by_role("button", name="Use this").first.click()
    page.locator(".guarantee .sentence", has_text=sentence).wait_for()  # the guarantee is now that of the proposal
    run_and_wait(page, 1, "guarantee verified")
    page.locator(".run").get_by_text(sentence).first.wait_for()
