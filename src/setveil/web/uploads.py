"""Places to drop files. What sends them lies outside of the steps: a step may be built anew while a file is dragged,
chosen or sent, and the file arrives all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from nicegui import events, ui

from setveil.errors import SetveilError
from setveil.web import texts as t
from setveil.web.elements import MAIN, Text, shown
from setveil.web.guard import MAX_UPLOAD, MEGABYTE

if TYPE_CHECKING:
    from nicegui.elements.upload_files import FileUpload

    from setveil.web.page import Page

# Gives files to what sends them; those of the last time are forgotten there.
SEND = """const sender = getElement(SENDER);
const send = (files, name) => {
  const queue = sender.$refs.qRef;
  queue.removeUploadedFiles(); queue.removeQueuedFiles();
  sender.$emit('named', name || '');
  queue.addFiles([...files]);
};"""
MARKED = "e.currentTarget.classList.toggle('over', e.type === 'dragover')"
DROPPED = "if (e.dataTransfer.files.length) send(e.dataTransfer.files);"
CHOSEN = "field.click();"
NAMES = "(info) => emit(info.files.map(file => file.name))"
Receive = Callable[[list["FileUpload"], str], Any]


class Sender:
    """Sends the files of one place, for as long as its tab is open."""

    def __init__(self, page: Page, limit: int, *, takes_many: bool) -> None:
        self.page, self.folder = page, ""  # the name of the folder that was dropped, if it was one
        self.receive: Receive = lambda files, folder: None  # as the step has it that was built last
        self.refuse: Callable[[str], Any] = lambda why: None
        with page.senders:
            self.field = ui.upload(multiple=takes_many, auto_upload=True, on_multi_upload=self._receive)
        self.field.props["max-total-size" if takes_many else "max-file-size"] = limit
        self.field.on_rejected(lambda: self.refuse(t.TOO_LARGE.format(megabytes=limit // MEGABYTE)))
        self.field.on("named", lambda event: setattr(self, "folder", str(event.args)))
        self.field.on("uploading", lambda event: self._say(event.args), js_handler=NAMES)
        self.field.on("finish", lambda: self._say(()), args=[])
        self.field.on("failed", lambda event: self._fail(event.args), js_handler=NAMES)

    async def _receive(self, event: events.MultiUploadEventArguments) -> None:
        try:
            answer = self.receive(event.files, self.folder)
            if isinstance(answer, Awaitable):
                await answer
        except SetveilError as problem:
            self.refuse(str(problem))

    def _say(self, names: Any) -> None:
        self.page.sending = t.SENDING_FILE.format(name=shown(names[0])) if names else ""

    def _fail(self, names: Any) -> None:
        self.refuse(t.NOT_SENT.format(name=shown(names[0] if names else "")))


def drop_place(
    page: Page,
    stem: str,
    label: str,
    receive: Receive,
    *,
    limit: int = MAX_UPLOAD,
    takes_many: bool = False,
    dropped: str = DROPPED,
    buttons: Mapping[str, str] = MappingProxyType({t.CHOOSE_FILE: CHOSEN}),
    main: bool = True,
) -> Sender:
    """A place to drop files, with buttons and what they do in the browser. ``receive`` gets the files, and the name of
    their folder if it was one. The step shows what goes wrong.
    """
    key, problems, step = (page.dataset.number, page.step, stem), page.dataset.problems, page.step
    sender = page.sent_by.get(key) or Sender(page, limit, takes_many=takes_many)
    page.sent_by[key] = sender
    sender.receive, sender.refuse = receive, lambda why: problems.update({step: why})
    with ui.element("div").classes("drop") as frame:
        Text("p", label, "dropzone")
        field = ui.element("input").props("type=file hidden" + (" multiple" if takes_many else ""))
        known = SEND.replace("SENDER", str(sender.field.id)) + f"const field = getHtmlElement({field.id});"
        with ui.element("div").classes("row-of-buttons"):
            for number, (words, script) in enumerate(buttons.items()):
                chooser = ui.button(words).props(MAIN if main and not number else "no-caps outline")
                chooser.on("click", js_handler=f"(e) => {{{known}{script}}}")
    field.on("change", js_handler=f"(e) => {{{known}send(e.target.files); e.target.value = ''}}")
    frame.on("dragover", js_handler=f"(e) => {{e.preventDefault(); {MARKED}}}")
    frame.on("dragleave", js_handler=f"(e) => {{{MARKED}}}")
    frame.on("drop", js_handler=f"(e) => {{e.preventDefault(); {MARKED}; {known}{dropped}}}")
    return sender


def uploader(
    page: Page,
    label: str,
    stem: str,
    take: Callable[[Path, str], Any],
    *,
    limit: int = MAX_UPLOAD,
    main: bool = False,
) -> None:
    """A place for one file. ``take`` gets the path and the name that the file came with; ``stem`` is its name here."""

    async def receive(files: list[FileUpload], folder: str) -> None:
        path = await page.session.receive(files[0], stem)
        answer = take(path, shown(files[0].name))
        if isinstance(answer, Awaitable):
            await answer

    drop_place(page, stem, label, receive, limit=limit, main=main)
