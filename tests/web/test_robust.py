"""What may go wrong around the page: processes that are killed, files that are replaced, a lost connection.

Nothing is lost, nothing is mixed, and the page says what happened where it happened.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browsers import NONE, find_chromium
from tests.web.conftest import Server
from tests.web.test_browser import TREE, header_of, small_data
from tests.web.walk import RUN, expect, give_reason, go, run_and_wait, upload

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = [pytest.mark.skipif(find_chromium() is None, reason=NONE), pytest.mark.xdist_group("browser")]


def workers(server: Server) -> list[int]:
    """The child processes of the page."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    return [int(child) for child in children if b"setveil.web.worker" in Path(f"/proc/{child}/cmdline").read_bytes()]


def kill_workers(server: Server) -> list[int]:
    """All of them, and wait until the page has noticed."""
    killed = workers(server)
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    while set(killed) & set(workers(server)):
        time.sleep(0.05)
    return killed


@pytest.mark.long
def test_a_worker_killed_in_every_step_loses_nothing(page: Page, server: Server) -> None:
    upload(page, "people.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    go(page, "Columns")
    page.get_by_role("button", name="Read the file with these settings").wait_for()
    assert kill_workers(server)
    page.get_by_role("button", name="Read the file with these settings").click()
    page.locator("nav button.done", has_text="Columns").wait_for()
    go(page, "Risk")
    page.get_by_role("heading", name="Look for a person").wait_for()
    assert kill_workers(server)
    search = page.get_by_role("textbox", name="Search an item")
    search.fill("item 3")
    page.get_by_role("button", name="Add item 3").click()  # a new process has read the file again
    page.locator(".fits", has_text="people match").wait_for()
    go(page, "Hierarchy")
    page.get_by_role("button", name="Categories of equal size, items in order").click()
    page.get_by_text("7 items in").wait_for()
    assert kill_workers(server)
    page.get_by_role("button", name="Open item 0..item 4").click()  # and the hierarchy
    page.get_by_text("item 0: ").wait_for()
    assert kill_workers(server)  # the one that waits for the next run, too
    run_and_wait(page, 1, "guarantee verified")
    page.get_by_role("button", name="Start another run").click()
    page.get_by_role("button", name="Cancel run 2").wait_for()
    while page.get_by_role("heading", name="Run 2: working").count():  # one that was still starting is replaced
        kill_workers(server)
    page.get_by_role("heading", name="Run 2: no release").wait_for(timeout=RUN)
    page.get_by_text("ended unexpectedly. Try again").wait_for()
    go(page, "Compare")
    page.get_by_role("columnheader", name="Run 1").wait_for()  # the first is still there
    assert kill_workers(server)
    page.reload()
    page.get_by_role("columnheader", name="Run 1").wait_for()
    go(page, "Protect")
    page.get_by_role("button", name="Suggest settings").click()
    page.locator(".status", has_text="…").wait_for()
    assert kill_workers(server)
    page.get_by_role("alert").get_by_text("ended unexpectedly").wait_for()
    go(page, "Hand over")
    page.get_by_role("button", name="Add to the report").click()
    page.get_by_text("Added to the report of run 1").wait_for()
    give_reason(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the archive").click()
    go(page, "Check")
    assert kill_workers(server)
    upload(page, "release.zip", Path(download.value.path()).read_bytes())
    page.get_by_role("heading", name="release.zip: verified").wait_for(timeout=RUN)


@pytest.mark.long
def test_a_file_replaced_while_it_is_open_is_not_mixed_in(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(small_data())
    page.get_by_role("textbox", name="Path on this machine").fill(str(file))
    page.get_by_role("button", name="Open this path").click()
    header_of(page).get_by_text("300 people").wait_for()
    file.write_bytes(small_data(200))
    go(page, "Run")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("heading", name="Run 1: no release").wait_for(timeout=RUN)
    page.get_by_text("people.csv changed after it was read").wait_for()
    go(page, "Columns")
    page.get_by_role("button", name="Read the file with these settings").click()
    header_of(page).get_by_text("200 people").first.wait_for()
    run_and_wait(page, 1, "guarantee verified")


def test_a_full_disk_is_named_where_it_arises(page: Page, server: Server) -> None:
    """The limit on the size of files stands for the disk: whatever the page stores fails in the same way."""
    upload(page, "people.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, most[1]))
    try:
        for step in ("Workspaces", "Hierarchy"):
            go(page, step)
            upload(page, "large.csv", small_data())
            page.get_by_text("“large.csv” could not be stored").wait_for()
    finally:
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, most)
    go(page, "Overview")
    page.get_by_text("Names of codes").click()
    upload(page, "names.csv", b"code,description\nitem 3,the third\nitem 4,the fourth\n")
    page.get_by_text("Descriptions are from names.csv.").wait_for()  # there is room again, and the data is still there
    page.get_by_role("table", name="Most common items").get_by_text("item 3 the third").wait_for()
    go(page, "Risk")
    page.get_by_role("textbox", name="Search an item").fill("fourth")  # found by its name
    page.get_by_role("button", name="Add item 4").wait_for()


def test_a_file_is_not_lost_while_another_one_is_read(page: Page) -> None:
    """What changes meanwhile would build the step anew, and end what is being sent."""
    sent: list[Route] = []
    upload(page, "first.csv", small_data(30_000))  # read for longer than the page needs to notice the second file
    page.route("**/upload/**", lambda route: sent.append(route))  # the file is under way until the route goes on
    go(page, "Workspaces")
    upload(page, "second.csv", small_data(200))
    page.locator(".status", has_text="Sending second.csv").wait_for()  # on a busy machine that takes a while
    header_of(page).get_by_text("30,000 people").wait_for()
    page.wait_for_timeout(1000)  # the page has looked for changes since
    for route in sent:
        route.continue_()
    header_of(page).get_by_text("200 people").wait_for()
    page.unroute("**/upload/**")


def test_what_is_typed_or_chosen_outlives_what_changes_around_it(page: Page) -> None:
    """Another tab changes what the step shows, while a file is being chosen and text is being typed here."""
    upload(page, "people.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    go(page, "Hierarchy")
    prefix = page.get_by_role("textbox", name="Codes: prefix lengths")
    other = page.context.new_page()
    other.goto(page.url)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    other.get_by_role("button", name="Categories of equal size, items in order").click()
    page.get_by_text("7 items in").wait_for()  # the place to drop files is another one now
    chooser.value.set_files({"name": "tree.csv", "mimeType": "text/csv", "buffer": TREE})
    page.get_by_role("heading", name="tree.csv").wait_for()
    page.get_by_text("Use another hierarchy").click()
    prefix.fill("2,4")
    go(other, "Overview")
    other.get_by_text("Names of codes").click()
    upload(other, "names.csv", b"code,description\nitem 3,the third\n")
    other.get_by_text("Descriptions are from").wait_for()
    named = page.get_by_text("item 3 the third: ")
    for _ in range(20):  # the tree is folded anew when the names arrive here, too
        page.get_by_role("button", name="Open high").or_(named).first.click()
        page.wait_for_timeout(500)
        if named.count():
            break
    named.wait_for()
    expect(prefix).to_have_value("2,4")
    go(page, "Workspaces")
    path = page.get_by_role("textbox", name="Path on this machine")
    path.fill("/data/a file that is")
    run_and_wait(other, 1, "guarantee verified")
    page.get_by_text("1 run").wait_for()
    expect(path).to_have_value("/data/a file that is")
    expect(path).to_be_focused()
    other.close()


@pytest.mark.long
def test_a_disk_that_fills_during_a_run_ends_the_run_and_nothing_else(page: Page, server: Server) -> None:
    upload(page, "people.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    run_and_wait(page, 1, "guarantee verified")
    page.wait_for_timeout(2000)  # the process of the next run is there
    every = [server.process.pid, *workers(server)]
    most = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    for process in every:
        resource.prlimit(process, resource.RLIMIT_FSIZE, (1, most[1]))
    try:
        page.get_by_role("button", name="Start another run").click()
        page.get_by_role("heading", name="Run 2: no release").wait_for(timeout=RUN)
    finally:
        for process in {*every, *workers(server)}:
            with suppress(ProcessLookupError):
                resource.prlimit(process, resource.RLIMIT_FSIZE, most)
    go(page, "Compare")
    page.get_by_role("columnheader", name="Run 1").wait_for()  # the first is still there
    go(page, "Run")
    page.get_by_role("button", name="Start another run").click()
    page.get_by_role("heading", name="Run 3: guarantee verified").wait_for(timeout=RUN)


@pytest.mark.long
def test_two_tabs_show_the_same_and_two_data_sets_never_mix(page: Page) -> None:
    upload(page, "people.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    second = page.context.new_page()
    second.goto(page.url)
    header_of(second).get_by_text("300 people").wait_for()
    go(second, "Workspaces")
    upload(second, "other.csv", small_data(200))
    header_of(second).get_by_text("200 people").wait_for()
    run_and_wait(page, 1, "guarantee verified")  # of the first data set, in the first tab
    header_of(page).get_by_text("300 people").wait_for()
    go(second, "Compare")
    second.get_by_text("There is no release of this data set yet").wait_for()
    run_and_wait(second, 1, "guarantee verified")  # of the second
    go(page, "Compare")
    page.get_by_role("columnheader", name="Run 1").wait_for()
    header_of(page).get_by_text("300 people").wait_for()
    second.close()


@pytest.mark.long
def test_a_lost_connection_comes_back_where_it_was(page: Page, server: Server) -> None:
    upload(page, "people.csv", small_data())
    header_of(page).get_by_text("300 people").wait_for()
    go(page, "Protect")
    page.get_by_role("spinbutton", name="k: smallest number of matching people").fill("9")
    page.locator(".guarantee .sentence", has_text="at least 9").wait_for()
    page.evaluate("window.socket.io.engine.close()")  # as when a laptop sleeps
    page.wait_for_function("window.socket.connected")
    page.get_by_role("spinbutton", name="m: items an attacker may know").fill("1")
    page.locator(".guarantee .sentence", has_text="one item").wait_for()
    page.locator(".guarantee .sentence", has_text="at least 9").wait_for()
    page.reload()
    page.locator(".guarantee .sentence", has_text="at least 9").wait_for()
