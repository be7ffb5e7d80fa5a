"""Open a file: drop it, name its path, or take a sample; see how it was read, and correct it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from setveil.web import texts as t
from setveil.web.elements import Text, bullets, button, heading, paragraph, shown, table, uploader
from setveil.web.guard import MAX_UPLOAD, MEGABYTE
from setveil.web.workspace import safe_name

if TYPE_CHECKING:
    from setveil.web.page import Page

FORMATS = ("fimi", "spmf", "long", "wide", "onehot", "table", "basket", "gmt", "arff", "jsonl", "json", "parquet")
FIELDS = ("delimiter", "id_column", "item_column", "item_columns", "split", "encoding")
SWITCHES = ("no_header", "strip", "labels_as_they_are")


def build(page: Page) -> None:
    """The step."""
    session = page.session
    if session.read is not None:
        _read(page)
    _choose(page)
    if session.path is not None and not session.is_reading:
        _correct(page)


def _choose(page: Page) -> None:
    session = page.session

    async def receive(event: events.UploadEventArguments) -> None:
        path = session.workspace.new_folder() / safe_name(event.file.name, "input")
        await event.file.save(path)
        session.begin(session.open(path, shown(event.file.name)))

    def too_large() -> None:
        session.problem = t.TOO_LARGE.format(megabytes=MAX_UPLOAD // MEGABYTE)

    def open_path() -> None:
        path = Path((field.value or "").strip()).expanduser()
        if not path.is_file():
            session.problem = t.NO_SUCH_FILE.format(path=shown(path, 200))
            return
        session.begin(session.open(path.absolute(), shown(path.name)))

    def open_sample(*, with_tour: bool = False) -> None:
        from setveil.workflows.samples import demo_files

        session.is_touring = with_tour
        baskets, taxonomy = demo_files()
        session.begin(session.open(baskets, baskets.name, is_sample=True, taxonomy=str(taxonomy)))

    if session.read is not None:
        heading(t.OPEN_ANOTHER)
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            Text("h3", t.DROP_TITLE)
            uploader(t.DROP_HERE, t.CHOOSE_FILE, MAX_UPLOAD, receive, too_large)
            paragraph(t.DROP_NOTE.format(megabytes=MAX_UPLOAD // MEGABYTE), "soft")
        with ui.element("section").classes("card"):
            Text("h3", t.PATH_TITLE)
            field = ui.input(label=t.PATH_LABEL).props("outlined dense")
            field.on("keydown.enter", open_path)
            button(t.PATH_OPEN, open_path)
            paragraph(t.PATH_NOTE, "soft")
        with ui.element("section").classes("card"):
            Text("h3", t.SAMPLE_TITLE)
            paragraph(t.SAMPLE_NOTE)
            with ui.element("div").classes("row-of-buttons"):
                button(t.SAMPLE_OPEN, lambda: open_sample(), main=session.read is None)
                button(t.TOUR_START, lambda: open_sample(with_tour=True))


def _read(page: Page) -> None:
    """How it was read, and ten records."""
    read = page.session.read
    assert read is not None
    facts: dict[str, Any] = read["facts"]
    Text("p", shown(facts["summary"], 600), "result")
    bullets([shown(note, 300) for note in _roles(facts)])
    rows = [
        [shown(name, 30), ", ".join(shown(item, 40) for item in items[:20]) + (t.MORE if len(items) > 20 else "")]
        for name, items in read["records"]
    ]
    table(t.PREVIEW, (facts.get("id_column") or t.PERSON, t.ITEMS), rows)
    button(t.NEXT.format(step=t.STEPS["danger"][0]), lambda: page.go("danger"), main=True)


def _roles(facts: dict[str, Any]) -> list[str]:
    """The columns and what they are used for."""
    told = []
    if facts.get("id_column"):
        told.append(t.ROLE_ID.format(column=facts["id_column"]))
    if facts.get("item_column"):
        told.append(t.ROLE_ITEM.format(column=facts["item_column"]))
    if facts.get("not_used"):
        told.append(t.ROLE_UNUSED.format(columns=", ".join(facts["not_used"][:20])))
    if facts.get("empty_records"):
        told.append(t.EMPTY_RECORDS.format(n=facts["empty_records"]))
    return told


def _correct(page: Page) -> None:
    """What was misunderstood, said better."""
    session = page.session
    wrong = session.read is None
    with ui.expansion(t.CORRECT.format(name=session.name), value=wrong).classes("correct").props("dense"):
        paragraph(t.CORRECT_NOTE, "soft")
        with ui.element("div").classes("fields"):
            choices = {"": t.DETECT, **{name: t.FORMATS[name] for name in FORMATS}}
            format = ui.select(choices, value=session.options.get("format", ""), label=t.OPTIONS["format"])
            format.props("outlined dense")
            fields = {
                name: ui.input(label=t.OPTIONS[name], value=session.options.get(name, "")).props("outlined dense")
                for name in FIELDS
            }
        switches = {name: ui.checkbox(t.OPTIONS[name], value=session.options.get(name, False)) for name in SWITCHES}

        def reread() -> None:
            given: dict[str, Any] = {name: field.value for name, field in fields.items()}
            given |= {"format": format.value, **{name: switch.value for name, switch in switches.items()}}
            session.options = {name: value for name, value in given.items() if value}
            session.begin(session.reread())

        button(t.READ_AGAIN, reread, main=wrong)
