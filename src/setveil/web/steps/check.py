"""Check a release of any origin: an archive or a folder, and the verdict with its three answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nicegui import ui

from setveil.errors import SetveilError
from setveil.web import texts as t
from setveil.web.children import Child
from setveil.web.elements import Text, bullets, button, card_title, heading, in_fields, paragraph, sentence, shown
from setveil.web.guard import MAX_UPLOAD, MEGABYTE
from setveil.web.uploads import CHOSEN, drop_place

if TYPE_CHECKING:
    from nicegui.elements.upload_files import FileUpload

    from setveil.web.dataset import Dataset
    from setveil.web.page import Page

# Whatever lies deeper in a folder gets a colon in its name, and the server refuses that: the part of a name in front of
# a slash does not arrive there.
DROPPED = """
const entries = [...e.dataTransfer.items].map(item => item.webkitGetAsEntry && item.webkitGetAsEntry());
const folder = entries.find(entry => entry && entry.isDirectory);
if (!folder) return e.dataTransfer.files.length && send(e.dataTransfer.files);
const files = [], reader = folder.createReader();
let waiting = 1;
const settle = () => { waiting -= 1; if (!waiting) send(files, folder.name); };
const next = () => reader.readEntries((some) => {
  if (!some.length) return settle();
  for (const entry of some)
    if (entry.isFile) { waiting += 1; entry.file((file) => { files.push(file); settle(); }, settle); }
    else files.push(new File([''], entry.name + ':'));
  next();
});
next();
"""
CHOSEN_FOLDER = """
const input = document.createElement('input');
input.type = 'file'; input.webkitdirectory = true;
input.onchange = () => {
  const parts = (file) => file.webkitRelativePath.split('/');
  const files = [...input.files];
  if (files.length) send(files.map(file => parts(file).length > 2
    ? new File([''], parts(file).slice(1).join(':')) : file), parts(files[0])[0]);
};
input.click();
"""


def build(page: Page) -> None:
    """The step."""
    dataset = page.dataset
    if dataset.checked is not None:
        _verdict(dataset.checked)
        heading(t.CHECK_ANOTHER)

    async def receive(files: list[FileUpload], folder: str) -> None:
        if len(files) == 1 and files[0].name.lower().endswith(".zip"):
            path, name = await page.session.receive(files[0], "archive"), files[0].name
        else:
            path, name = await page.session.receive_folder(files), folder or t.FOLDER_NAME
        dataset.begin(_check(dataset, path, shown(name)))

    def refuse(why: str) -> None:
        """The verdict about another release must not stand beside it."""
        dataset.checked, dataset.problems["check"] = None, why
        dataset.touch("check")

    def check_path() -> None:
        path = Path((field.value or "").strip()).expanduser()
        if not path.is_dir():
            field.error = t.NO_SUCH_FOLDER.format(path=shown(path, 200))
            return
        dataset.begin(_check(dataset, path.absolute(), shown(path.name)))

    level = 2 if dataset.checked is None else 3
    with ui.element("div").classes("cards"):
        with ui.element("section").classes("card"):
            card_title(t.CHECK_DROP, level)
            buttons = {t.CHOOSE_ARCHIVE: CHOSEN, t.CHOOSE_FOLDER: CHOSEN_FOLDER}
            given: Any = {"takes_many": True, "dropped": DROPPED, "buttons": buttons}
            drop_place(page, "release", t.DROP_RELEASE, receive, **given).refuse = refuse
            paragraph(t.DROP_RELEASE_NOTE.format(megabytes=MAX_UPLOAD // MEGABYTE), "soft")
        with ui.element("section").classes("card"):
            card_title(t.CHECK_FOLDER, level)
            field = ui.input(label=t.CHECK_PATH)
            field.on("keydown.enter", check_path)
            button(t.CHECK, check_path)
        with ui.element("section").classes("card"):
            _check_file(page, level)
    if dataset.read is not None:
        ui.checkbox(t.CHECK_ORIGINAL.format(name=shown(dataset.name))).bind_value(dataset, "with_original")


def _check_file(page: Page, level: int) -> None:
    """Whether the open file, whoever made it, meets the guarantee that is chosen."""
    dataset = page.dataset
    card_title(t.CHECK_FILE, level)
    if dataset.read is None:
        paragraph(t.CHECK_FILE_HOW, "soft")
        button(t.GO_TO.format(step=t.STEPS["start"][0]), lambda: page.go("start"))
        return
    paragraph(t.CHECK_FILE_ASK.format(name=shown(dataset.name)))
    try:
        words = guarantee = dataset.form.privacy_model().guarantee()
    except SetveilError as reason:
        words, guarantee = shown(str(reason), 300), ""
    paragraph(words, "soft")
    with ui.element("div").classes("row-of-buttons"):
        if guarantee:
            button(t.CHECK_FILE_START, lambda: dataset.begin(_audit(page, guarantee)))
        button(t.RUN_CHANGE, lambda: page.go("protect"))


async def _audit(page: Page, guarantee: str) -> None:
    dataset = page.dataset
    found = await dataset.ask(t.CHECKING, "check", "audit", model=dataset.policy()["model"])
    if found is not None and dataset.read is not None:
        notes = [t.ABOUT_VISITS] if dataset.read["are_visits"] else []
        nothing: dict[str, Any] = dict.fromkeys(("problems", "cannot_be_checked", "guessing", "publisher_says"), ())
        found = {**nothing, **found, "name": shown(dataset.name), "sentence": guarantee, "notes": notes}
    dataset.checked = found
    dataset.touch("check")


async def _check(dataset: Dataset, path: Path, name: str) -> None:
    if dataset.checked is not None:
        dataset.checked = None
        dataset.touch("check")
    with_original = dataset.read is not None and dataset.with_original
    child = Child()
    original = str(dataset.path) if with_original else None
    given: dict[str, Any] = {"path": str(path), "original": original, "options": dataset.options}
    with dataset.working(t.CHECKING, "check") as progress:
        found, _ = await child.ask("check", given, progress)
        dataset.checked = {**found, "name": name}
    await child.end()
    if dataset.checked is not None:  # else the step shows the same: what is typed there stays
        dataset.touch("check")


def _verdict(found: dict[str, Any]) -> None:
    """The answer and every sentence that comes with it."""
    holds, but = found["holds"], found["guessing"] or found["nothing_left"]
    answer = t.ANSWERS["yes" if holds else "unknown" if holds is None else "no"]
    if holds and but:
        answer = t.ANSWER_GUESSABLE if found["guessing"] else t.ANSWER_EMPTY
    light = "bad" if holds is False else "care" if holds is None or but else "good"
    with ui.element("section").classes(f"card verdict {light}") as card:
        card.props("aria-live=polite")
        Text("h2", answer.format(name=found["name"]))
        if holds and found["sentence"]:
            Text("p", shown(found["sentence"], 600), "sentence")
        if holds and found["guessing"]:  # the sentence above has a condition, and here it is not met
            paragraph(shown(found["guessing"], 400))
        bullets([shown(in_fields(line), 500) for line in (*found["problems"], found["reason"]) if line])
        bullets([t.UNCHECKED.format(line=shown(line, 400)) for line in found["cannot_be_checked"]])
        for line in found["notes"]:
            paragraph(sentence(shown(line, 400)), "note")
        if holds is not False and found["publisher_says"]:
            said = found["publisher_says"]
            words = t.PUBLISHER.format(
                version=shown(said.get("setveil", "")), algorithm=shown(said.get("algorithm", ""))
            )
            paragraph(words, "soft")
            bullets([shown(line, 400) for line in said.get("not_protected", ()) if line != found["guessing"]], "soft")
