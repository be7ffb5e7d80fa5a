"""Start: open a file, the sample or a workspace; keep workspaces, and delete them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.errors import SetveilError
from setveil.io.formats.registry import FORMATS, is_grid
from setveil.web import kept
from setveil.web import texts as t
from setveil.web.elements import Text, button, card_title, heading, paragraph, shown
from setveil.web.guard import MAX_UPLOAD, MEGABYTE
from setveil.web.uploads import uploader

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset
    from setveil.web.page import Page


def build(page: Page) -> None:
    """The step."""
    session = page.session
    page.add_part(lambda: _open(page), lambda: (_limit(page), _is_first(page)))
    page.add_part(
        lambda: _opened(page),
        lambda: [(one.title(), one.description(), len(one.runs), one.kept) for one in session.datasets],
    )
    page.add_part(lambda: _kept(page), lambda: [one.kept for one in session.datasets])


def _open(page: Page) -> None:
    session = page.session
    limit, is_first = _limit(page), _is_first(page)

    def open_file(path: Path, name: str, **given: Any) -> None:
        page.dataset.problems.pop("start", None)
        page.show_dataset(session.open(page.dataset, path, name, **given), "overview")

    def open_path() -> None:
        path = Path((field.value or "").strip()).expanduser()
        if not path.is_file():
            field.error = t.NO_SUCH_FILE.format(path=shown(path, 200))
            return
        open_file(path.absolute(), shown(path.name))

    def open_sample(*, with_tour: bool = False) -> None:
        from setveil.workflows.samples import DEMO_ROLES, demo_files

        session.is_touring = with_tour
        baskets, taxonomy = demo_files()
        open_file(baskets, baskets.name, hierarchy=str(taxonomy), options=dict(DEMO_ROLES))

    with ui.element("div").classes("cards four"):
        with ui.element("section").classes("card"):
            card_title(t.DROP_TITLE)
            uploader(page, t.DROP_HERE, "input", open_file, limit=limit, main=is_first)
            formats = [format.shown.partition(":")[0] for name, format in FORMATS.items() if _has_own_form(name)]
            paragraph(t.DROP_NOTE.format(formats=", ".join(formats)), "soft")
            note = t.DROP_LIMIT if limit == MAX_UPLOAD else t.DROP_LIMIT_DISK
            paragraph(note.format(megabytes=limit // MEGABYTE), "soft")
        with ui.element("section").classes("card"):
            card_title(t.PATH_TITLE)
            field = ui.input(label=t.PATH_LABEL)
            field.on("keydown.enter", open_path)
            button(t.PATH_OPEN, open_path)
            paragraph(t.PATH_NOTE, "soft")
        with ui.element("section").classes("card"):
            card_title(t.SAMPLE_TITLE)
            paragraph(t.SAMPLE_NOTE)
            with ui.element("div").classes("row-of-buttons"):
                button(t.SAMPLE_OPEN, lambda: open_sample(), main=is_first)
                button(t.TOUR_START, lambda: open_sample(with_tour=True))
        with ui.element("section").classes("card"):
            card_title(t.RECEIVED_TITLE)
            paragraph(t.RECEIVED_NOTE)
            button(t.RECEIVED_CHECK, lambda: page.go("check"))


def _limit(page: Page) -> int:
    """How large an upload may be, in bytes; to the megabyte, so that it does not change all the time."""
    limit = page.session.workspace.max_upload(MAX_UPLOAD)
    return limit - limit % MEGABYTE


def _is_first(page: Page) -> bool:
    return all(dataset.read is None for dataset in page.session.datasets)


def _opened(page: Page) -> None:
    """The data sets that are open, each with its runs: return to one, keep it, or close it."""

    def close(dataset: Dataset) -> None:
        following = page.session.remove(dataset)
        page.show_dataset(following if dataset is page.dataset else page.dataset)

    async def keep(dataset: Dataset) -> None:
        page.dataset.problems.pop("start", None)
        try:
            dataset.kept = await asyncio.to_thread(kept.keep, dataset)
        except SetveilError as problem:
            page.dataset.problems["start"] = str(problem)
        page.refresh()

    opened = [dataset for dataset in page.session.datasets if dataset.path is not None]
    heading(t.DATASETS)
    if not opened:
        paragraph(t.DATASETS_NONE, "soft")
        return
    paragraph(t.DATASETS_NOTE, "soft")
    with ui.element("ul").classes("datasets"):
        for one in opened:
            keeps = {} if one.read is None else {t.DATASET_KEEP if one.kept is None else t.DATASET_KEEP_AGAIN: keep}
            acts = {t.DATASET_SHOW: lambda dataset: page.show_dataset(dataset, "overview"), **keeps, t.CLOSE: close}
            _line(one.title(), _facts(one.description(), len(one.runs)), one, acts)


def _kept(page: Page) -> None:
    """The workspaces on the disk: open one, or delete it."""
    open_already = [dataset.kept for dataset in page.session.datasets]
    heading(t.KEPT_TITLE)
    found = kept.kept_workspaces()
    if not found:
        paragraph(t.KEPT_NONE.format(place=shown(kept.place(), 200)), "soft")
        return

    async def reopen(workspace: kept.Kept) -> None:
        page.dataset.problems.pop("start", None)
        try:
            page.show_dataset(kept.reopen(page.session, page.dataset, workspace.folder), "overview")
        except SetveilError as problem:
            page.dataset.problems["start"] = str(problem)

    def delete(workspace: kept.Kept) -> None:
        kept.delete(workspace.folder)
        for dataset in page.session.datasets:
            dataset.kept = None if dataset.kept == workspace.folder else dataset.kept
        page.refresh()

    paragraph(t.KEPT_NOTE.format(place=shown(kept.place(), 200)), "soft")
    with ui.element("ul").classes("datasets"):
        for one in found:
            opens = {} if one.folder in open_already else {t.KEPT_OPEN: reopen}
            facts = _facts(shown(one.facts, 200), one.n_runs)
            _line(shown(one.name), facts, one, {**opens, t.KEPT_DELETE: delete})


def _line(name: str, facts: str, one: Any, acts: Mapping[str, Callable[[Any], Any]]) -> None:
    """A workspace, and what can be done with it."""
    with ui.element("li"):
        Text("span", name, "which")
        Text("span", facts, "soft")
        with ui.element("span").classes("acts"):
            for words, act in acts.items():
                button(words, partial(act, one), name=f"{words}: {name}")


def _has_own_form(format: str) -> bool:
    """Whether a format is more than a way to lay out a table."""
    return FORMATS[format].suffix != ".csv" and not is_grid(format)


def _facts(description: str, n_runs: int) -> str:
    return " · ".join(part for part in (description, t.DATASET_RUNS[n_runs == 1].format(n=n_runs)) if part)
