"""What one browser has open: data sets, each with its own decisions and runs, and notices about other browsers."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.errors import InputError, one_line
from setveil.web import texts as t
from setveil.web.dataset import Dataset
from setveil.web.workspace import Workspace, safe_name

if TYPE_CHECKING:
    from nicegui.elements.upload_files import FileUpload


MAX_FILES = 100  # of a release folder
PLAIN = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._-]{1,100}")  # names of files directly in a release folder


class Session:
    """The data sets of one browser; there is always one, which may be without a file."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.uploads: dict[str, str] = {}  # where each lies, and the name it came with
        self.notice = ""  # about another browser
        self.is_touring = False
        self.step = "start"  # where a new tab opens
        self._n_made = 0
        self.datasets: list[Dataset] = []
        self.dataset = self._new()  # the one that was shown last

    def _new(self) -> Dataset:
        self._n_made += 1
        made = Dataset(self.workspace, self._n_made, self.uploads)
        self.datasets.append(made)
        return made

    def find(self, number: int) -> Dataset | None:
        """The data set of that number."""
        return next((dataset for dataset in self.datasets if dataset.number == number), None)

    async def receive(self, file: FileUpload, stem: str) -> Path:
        """Keep an upload under a name of our own; InputError where the disk is full."""
        name = safe_name(file.name, stem)
        path = await self._store({name: file}, one_line(file.name)) / name
        self.uploads[str(path)] = one_line(file.name)
        return path

    async def _store(self, files: Mapping[str, FileUpload], called: str) -> Path:
        folder = self.workspace.new_folder()
        try:
            for name, file in files.items():
                await file.save(folder / name)
        except OSError as problem:
            shutil.rmtree(folder, ignore_errors=True)
            raise InputError(t.NOT_SAVED.format(name=called, reason=problem.strerror)) from None
        return folder

    def copy_of(self, path: Path, name: str) -> Path:
        """A file of a kept workspace, as if it had been uploaded now."""
        copy = self.workspace.new_folder() / path.name
        shutil.copyfile(path, copy)
        self.uploads[str(copy)] = one_line(name)
        return copy

    async def receive_folder(self, files: Sequence[FileUpload]) -> Path:
        """Keep the files of a release folder under their names, which must be plain."""
        if len(files) > MAX_FILES:
            raise InputError(t.FOLDER_TOO_MANY.format(n=len(files), most=MAX_FILES))
        for file in files:
            if not PLAIN.fullmatch(file.name):
                raise InputError(t.FOLDER_ODD.format(name=one_line(file.name)))
        return await self._store({file.name: file for file in files}, t.FOLDER_NAME)

    def open(self, shown: Dataset, path: Path, name: str, **given: Any) -> Dataset:
        """Read a file as a data set of its own, in place of ``shown`` where that has no file or could not be read."""
        made = shown if shown.path is None else self._new()
        if made is not shown and shown.read is None and not shown.runs:
            self.remove(shown)
        made.open(path, name, **given)
        self.dataset = made
        return made

    def read_again(self, shown: Dataset, options: dict[str, Any]) -> Dataset:
        """Read the same file in another way. Where there are runs this is another data set: runs stay with the records
        they were made from.
        """
        if not shown.runs:
            shown.options, shown.is_reading = options, True
            shown.begin(shown.reread())
            return shown
        assert shown.path is not None
        made = self.open(
            shown,
            shown.path,
            shown.name,
            options=options,
            hierarchy=shown.hierarchy,
            hierarchy_name=shown.hierarchy_name,
        )
        made.decide_as(shown)
        return made

    def remove(self, dataset: Dataset) -> Dataset:
        """Close a data set with its runs and files; gives the one to show instead."""
        if dataset not in self.datasets:  # another tab did so
            return self.dataset
        self.datasets.remove(dataset)
        is_shared = any(other.path == dataset.path for other in self.datasets)
        dataset.close(keeps_upload=is_shared)
        self.dataset = self.datasets[-1] if self.datasets else self._new()
        return self.dataset

    def close(self) -> None:
        """Close everything."""
        for dataset in self.datasets:
            dataset.close()
