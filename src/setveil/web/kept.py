"""Workspaces that the user asked to keep: a data set with its decisions and runs, in a folder of mode 0700 of its own.

They lie below ``$XDG_DATA_HOME/setveil/workspaces`` (``~/.local/share``). Nothing is written there unless somebody
presses the button, and one click deletes a workspace. Confidential data is among it: uploads and internal folders.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil import __version__
from setveil.errors import InputError, one_line
from setveil.web import texts as t
from setveil.web.children import Child
from setveil.web.runs import Run

if TYPE_CHECKING:
    from setveil.web.dataset import Dataset
    from setveil.web.session import Session

STATE = "workspace.json"
SCHEMA = 1
# What was decided, by the names of the attributes of a data set.
DECIDED = (
    "options",
    "hierarchy_name",
    "algorithm",
    "algorithm_options",
    "effort",
    "accepts_guessable",
    "purpose",
    "profile",
    "recipient",
    "about",
    "compared",
    "n_runs",
    "handed_over",
)
# Files that may be uploads, by the names of the attributes: what they are called in the folder.
FILES = {"hierarchy": t.REPEAT_TREE, "names_list": t.REPEAT_NAMES}
OF_RUN = ("number", "policy", "guarantee", "state", "seconds", "result", "problem", "is_infeasible", "is_handed_over")


@dataclass(frozen=True)
class Kept:
    """A workspace on the disk, as the start screen shows it."""

    folder: Path
    name: str
    facts: str  # people, items and what a record is
    n_runs: int


def place() -> Path:
    """Where workspaces are kept."""
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".local" / "share") / "setveil" / "workspaces"


def kept_workspaces() -> list[Kept]:
    """All of them, the latest first; a folder that is none is skipped."""
    found = []
    for state in place().glob(f"*/{STATE}"):
        try:
            stored = json.loads(state.read_text(encoding="utf-8"))
            changed = state.stat().st_mtime_ns
            found.append((changed, Kept(state.parent, str(stored["name"]), str(stored["facts"]), len(stored["runs"]))))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return [workspace for _, workspace in sorted(found, key=lambda pair: -pair[0])]


def delete(folder: Path) -> None:
    """Remove a kept workspace."""
    if folder.parent == place():
        shutil.rmtree(folder, ignore_errors=True)


def keep(dataset: Dataset, folder: Path | None = None) -> Path:
    """Write a data set with its decisions and finished runs; complete, or not at all. InputError where the disk is
    full, or the file is gone.
    """
    target = folder or dataset.kept or place() / secrets.token_hex(8)
    made = target.with_name(f".{target.name}.partial")
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(mode=0o700)
        state = _state_of(dataset, made)
        (made / STATE).write_text(json.dumps(state), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        made.rename(target)
    except OSError as problem:
        shutil.rmtree(made, ignore_errors=True)
        raise InputError(t.KEEP_FAILED.format(reason=problem.strerror or "?")) from None
    return target


def _state_of(dataset: Dataset, folder: Path) -> dict[str, Any]:
    assert dataset.path is not None
    is_upload = str(dataset.path) in dataset.uploads
    runs = []
    for run in dataset.done():
        shutil.copytree(run.folder, folder / f"run-{run.number}")
        runs.append({name: getattr(run, name) for name in OF_RUN})
    if is_upload:
        shutil.copyfile(dataset.path, folder / dataset.path.name)
    files = {name: getattr(dataset, name) for name in FILES}
    for name, path in files.items():
        if path and Path(path).is_file() and Path(path).is_relative_to(dataset.workspace.folder):
            shutil.copyfile(path, folder / FILES[name])
            files[name] = FILES[name]
    return {
        "schema": SCHEMA,
        "setveil": __version__,
        "name": dataset.name,
        "facts": dataset.description(),
        "is_upload": is_upload,
        "path": dataset.path.name if is_upload else str(dataset.path),
        "sha256": sha256_of(dataset.path),
        **files,
        "form": dataset.form.state(),
        "visited": sorted(dataset.visited),
        **{name: getattr(dataset, name) for name in DECIDED},
        "runs": runs,
    }


def reopen(session: Session, shown: Dataset, folder: Path, *, is_kept: bool = True) -> Dataset:
    """Open a kept workspace as a data set of this session; runs only where their file is still the same."""
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        source = folder / state["path"] if state["is_upload"] else Path(state["path"])
        if state["schema"] != SCHEMA or not source.is_file():
            raise InputError(t.NO_SUCH_FILE.format(path=one_line(str(source), 200)))
        if state["is_upload"]:
            source = session.copy_of(source, state["name"])
        files = {name: state.get(name) for name in FILES}
        for name, path in files.items():
            if path == FILES[name]:
                shown_as = state["hierarchy_name"] if name == "hierarchy" else ""
                files[name] = str(session.copy_of(folder / path, shown_as or path))
        is_same = sha256_of(source) == state["sha256"]
        dataset = session.open(shown, source, state["name"], hierarchy=files["hierarchy"], options=state["options"])
        dataset.names_list = files["names_list"]
        for name in DECIDED:
            setattr(dataset, name, state[name])
        dataset.form.set_state(state["form"])
        dataset.visited = set(state["visited"])
        if is_kept:
            dataset.kept = folder
        if is_same and state["setveil"] == __version__:
            dataset.runs = [_run_of(dataset, stored, folder) for stored in state["runs"]]
        elif state["runs"]:
            dataset.reopening = t.KEPT_CHANGED
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(t.KEPT_BROKEN.format(reason=type(problem).__name__)) from None
    return dataset


def _run_of(dataset: Dataset, stored: dict[str, Any], folder: Path) -> Run:
    own = dataset.new_folder()
    shutil.copytree(folder / f"run-{stored['number']}", own, dirs_exist_ok=True)
    run = Run(
        stored["number"], stored["policy"], stored["guarantee"], own, Child(), dataset.address_of(stored["number"])
    )
    for name in OF_RUN:
        setattr(run, name, stored[name])
    return run


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
