"""Check a release of any origin: an archive or a folder, and the verdict with its three answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from setveil.web import texts as t
from setveil.web.children import Child
from setveil.web.elements import Text, bullets, button, card_title, heading, paragraph, shown, uploader
from setveil.web.guard import MAX_UPLOAD, MEGABYTE

if TYPE_CHECKING:
    from setveil.web.page import Page


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    if dataset.checked is not None:
        _verdict(dataset.checked)
        heading(t.CHECK_ANOTHER)

    async def receive(event: events.UploadEventArguments) -> None:
        path = await page.session.receive(event.file, "archive")
        unpacked = path.parent / "unpacked"
        unpacked.mkdir(mode=0o700)
        dataset.begin(_check(page, str(path), str(unpacked), shown(event.file.name)))

    def too_large() -> None:
        dataset.problem = t.TOO_LARGE.format(megabytes=MAX_UPLOAD // MEGABYTE)

    def check_path() -> None:
        path = Path((field.value or "").strip()).expanduser()
        if not path.is_dir():
            dataset.problem = t.NO_SUCH_FOLDER.format(path=shown(path, 200))
            return
        dataset.begin(_check(page, str(path.absolute()), None, shown(path.name)))

    level = 2 if dataset.checked is None else 3
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(t.CHECK_ZIP, level)
            uploader(t.DROP_ZIP, MAX_UPLOAD, receive, too_large)
        with ui.element("section").classes("card"):
            card_title(t.CHECK_FOLDER, level)
            field = ui.input(label=t.CHECK_PATH).props("outlined dense")
            field.on("keydown.enter", check_path)
            button(t.CHECK, check_path)
    if dataset.read is not None:
        ui.checkbox(t.CHECK_ORIGINAL.format(name=shown(dataset.name))).bind_value(dataset, "with_original")


async def _check(page: Page, path: str, unpacked: str | None, name: str) -> None:
    dataset = page.dataset
    dataset.checked = None
    dataset.touch("check")
    with_original = dataset.read is not None and dataset.with_original
    child = Child()
    given: dict[str, Any] = {
        "path": path,
        "unpacked": unpacked,
        "original": str(dataset.path) if with_original else None,
        "options": dataset.options,
    }
    with dataset.working(t.CHECKING) as progress:
        found, _ = await child.ask("check", given, progress)
        dataset.checked = {**found, "name": name}
    await child.end()
    dataset.touch("check")


def _verdict(found: dict[str, Any]) -> None:
    holds = found["holds"]
    answer = t.ANSWERS["yes" if holds else "unknown" if holds is None else "no"]
    guessing = found["guessing"] if holds else ""
    light = "bad" if holds is False else "care" if holds is None or guessing else "good"
    with ui.element("section").classes(f"card verdict {light}") as card:
        card.props("aria-live=polite")
        Text("h2", (t.ANSWER_GUESSABLE if guessing else answer).format(name=found["name"]))
        if holds and found["sentence"]:
            Text("p", shown(found["sentence"], 600), "sentence")
        if guessing:  # the sentence above has a condition, and here it is not met
            paragraph(shown(guessing, 400))
        lines = [*found["problems"], *([found["reason"]] if found["reason"] else [])]
        bullets([shown(line, 500) for line in lines])
        bullets([t.UNCHECKED.format(line=shown(line, 400)) for line in found["unchecked"]])
        for line in found["notes"]:
            paragraph(shown(line, 400), "soft")
        if holds is not False and found["publisher_says"]:
            said = found["publisher_says"]
            paragraph(
                t.PUBLISHER.format(version=shown(said.get("setveil", "")), algorithm=shown(said.get("algorithm", ""))),
                "soft",
            )
            bullets([shown(line, 400) for line in said.get("not_protected", ()) if line != guessing], "soft")
