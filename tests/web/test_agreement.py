"""One quantity has one value on the page, too: Run, Compare and Hand over show the figures of the reports."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from setveil.web import kept
from setveil.web.session import Session
from setveil.web.workspace import Workspace
from tests.browsers import NONE, find_chromium
from tests.report.test_agreement import collected, write_baskets
from tests.report.test_page import Reader
from tests.web.conftest import Server
from tests.web.walk import expect, go

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason=NONE),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

ROLES = {"person": "person", "item": "item", "known_columns": "region"}
# A run each: the file, the options of reading, the algorithm, the model and its parameters.
RUNS: tuple[tuple[str, dict[str, str], str | None, dict[str, Any]], ...] = (
    ("baskets.jsonl", {}, "aa", {"model": "km", "k": 4, "m": 2}),
    ("baskets.jsonl", {}, "trim", {"model": "km", "k": 4, "m": 2}),
    ("baskets.jsonl", {}, None, {"model": "degree", "p": 4, "sensitive": ["i00", "i01"]}),
    ("baskets.jsonl", {}, None, {"model": "counts", "k": 20, "m": 2}),
    ("people.csv", ROLES, None, {"model": "kkm", "k": 4, "m": 2}),
)
# Rows of the comparison, and the figures of the report that they show.
COMPARED = {
    "singled out": "singled out, of all people",
    "published unchanged": "share of entries unchanged",
    "error of pair counts": "counts of pairs",
}


async def make_workspaces(folder: Path, temporary: Path) -> None:
    """Make the runs without the page, and keep them where it finds them."""
    with Workspace(temporary) as workspace:
        session = Session(workspace)
        for file in dict.fromkeys(file for file, *_ in RUNS):
            mine = [given for name, *given in RUNS if name == file]
            dataset = session.open(session.dataset, folder / file, file, hierarchy="fanout:3", options=mine[0][0])
            await dataset.settle()
            for _, algorithm, said in mine:
                dataset.form.model = said["model"]
                for name, value in said.items():
                    dataset.form.enter(name, value)
                dataset.choose_algorithm(algorithm)
                run = dataset.start_run()
                await dataset.settle()
                assert run.state == "done", run.problem
            kept.keep(dataset)
            for child in (dataset.child, dataset.spare, *(run.child for run in dataset.runs)):
                if child is not None:
                    await child.end()
        session.close()


def test_the_page_shows_the_figures_of_the_reports(
    page: Page, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(server.folder))
    write_baskets(tmp_path)
    with ThreadPoolExecutor(1) as beside:  # the browser has an event loop of its own here
        beside.submit(asyncio.run, make_workspaces(tmp_path, tmp_path)).result()
    for number, file in enumerate(dict.fromkeys(file for file, *_ in RUNS), 1):
        go(page, "Workspaces")
        page.reload()
        page.get_by_role("button", name=f"Open: {file}").click()
        page.get_by_role("region", name="Data set").get_by_text(f"Data set {number}: {file}").first.wait_for()
        root = f"http://{server.host}{server.root}/data/{number}"
        n_runs = sum(name == file for name, *_ in RUNS)
        page.goto(f"{root}/compare")
        page.locator(".comparison tbody tr").first.wait_for()
        compared = {label: cells for label, *cells in table_of(page)}
        for run in range(1, n_runs + 1):
            texts = {}
            for kind in ("internal", "assessment"):
                page.goto(f"{root}/run/{run}/report/{kind}")
                texts[kind] = Reader(page.content()).text
            # The assessment also has the attacker who knows one item more than the guarantee covers: another figure.
            texts["assessment"] = re.sub(
                r"With one known item more \(\d+\), .*? of all people", "", texts["assessment"]
            )
            page.goto(f"{root}/run/{run}")
            page.get_by_role("heading", name=f"Run {run}: guarantee verified").wait_for()
            texts["run"] = Reader(page.locator("#step").inner_html()).text
            found = collected(texts)
            for name, places in found.items():
                assert len({value for values in places.values() for value in values}) <= 1, (run, name, places)
            both = [name for name, places in found.items() if {"run", "internal"} <= places.keys()]
            assert len(both) >= 4, (run, found)  # the page has them, under the same words
            inside = " ".join(texts["internal"].split())
            answers = page.locator("#step .lights .answer").all_inner_texts()
            for question, answer in zip(("Guarantee", "Residual risk", "Utility"), answers, strict=True):
                assert re.search(rf"{question}\W+{answer}", inside), (run, question, answer)
            for label, name in COMPARED.items():
                shown = compared[label][run - 1] if label in compared else "–"
                values = {value.rpartition("mean error ")[2] for value in found[name].get("internal", ())}
                is_same = shown == "–" or is_rounded(shown, *(values or {"0.00 %"}))
                assert is_same, (run, label, shown, found[name])
            page.goto(f"{root}/handover")
            page.get_by_role("combobox", name="Run to hand over").click()
            page.get_by_role("option", name=f"Run {run}: ").click()
            expect(page.locator("#step .lights .answer")).to_have_text(answers)
    for workspace in kept.kept_workspaces():
        kept.delete(workspace.folder)


def is_rounded(shown: str, value: str) -> bool:
    """Whether a figure is another one with fewer digits."""
    short, long = (float(text.replace("exact", "0").strip("<% ")) for text in (shown, value))
    digits = len(shown.strip("<% ").partition(".")[2])
    return abs(short - long) <= 0.505 * 10**-digits


def table_of(page: Page) -> list[list[str]]:
    """The comparison, a row per figure."""
    rows = page.get_by_role("table", name="All runs of this data set").locator("tbody tr").all()
    cells = [[" ".join(cell.inner_text().split()) for cell in row.locator("td").all()] for row in rows]
    return [[cell.removesuffix("(best)").strip() for cell in row] for row in cells]
