"""Workspaces that are kept: complete, private, deleted with one call, and never mixed with a file that changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from setveil.errors import InputError
from setveil.web import kept
from setveil.web.children import Child, TaskError
from setveil.web.dataset import Dataset
from setveil.web.runs import Run
from setveil.web.session import Session
from setveil.web.workspace import Workspace


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    async def unread(self: Dataset) -> None:
        """Nothing is read here: what a workspace holds does not depend on it."""

    monkeypatch.setattr(Dataset, "reread", unread)
    (tmp_path / "temporary").mkdir()
    with Workspace(tmp_path / "temporary") as workspace:
        made = Session(workspace)
        yield made
        made.close()


def with_decisions(session: Session, file: Path) -> Dataset:
    """A data set with a guarantee, an own hierarchy file and a run."""

    async def opened() -> Dataset:
        return session.open(session.dataset, file, file.name, options={"format": "fimi"})

    dataset = asyncio.run(opened())
    tree = session.workspace.new_folder() / "hierarchy.csv"
    tree.write_text("1,all\n2,all\n")
    dataset.hierarchy, dataset.hierarchy_name = str(tree), "edited"
    names = tree.with_name("names.csv")
    names.write_text("code,description\n1,one\n")
    dataset.names_list = str(names)
    dataset.form.enter("k", 7)
    dataset.form.sensitive.append("2")
    dataset.recipient, dataset.about, dataset.n_runs = "a partner", {"purpose": "teaching"}, 3
    run = Run(3, dataset.policy(), "a guarantee", dataset.new_folder(), Child(), "", state="done")
    run.result = {"lights": []}
    run.out.mkdir()
    (run.out / "published.dat").write_text("1 2\n")
    dataset.runs.append(run)
    return dataset


def reopened(session: Session, folder: Path) -> Dataset:
    async def opened() -> Dataset:
        return kept.reopen(session, session.dataset, folder)

    return asyncio.run(opened())


def test_a_workspace_comes_back_with_decisions_and_runs(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "data.dat"
    file.write_text("1 2\n2\n")
    first = with_decisions(session, file)
    assert kept.kept_workspaces() == []  # nothing is kept unasked
    first.kept = kept.keep(first)
    assert first.kept.parent == kept.place()
    assert first.kept.stat().st_mode & 0o077 == 0
    (found,) = kept.kept_workspaces()
    assert (found.name, found.n_runs) == ("data.dat", 1)
    again = reopened(session, found.folder)
    assert again is not first
    files = {"hierarchy": None, "output": None}
    assert again.policy() | files == first.policy() | files
    assert Path(again.hierarchy or "").read_text() == "1,all\n2,all\n"
    assert Path(again.names_list or "").read_text() == "code,description\n1,one\n"
    assert {again.hierarchy, again.names_list}.isdisjoint({first.hierarchy, first.names_list})  # copies
    assert (again.recipient, again.about, again.n_runs) == ("a partner", {"purpose": "teaching"}, 3)
    (run,) = again.runs
    assert (run.number, run.state, run.guarantee) == (3, "done", "a guarantee")
    assert (run.out / "published.dat").read_text() == "1 2\n"
    assert run.address == f"/data/{again.number}/run/3"
    first.recipient = "another"
    assert kept.keep(first) == first.kept  # kept again, in its place
    assert reopened(session, found.folder).recipient == "another"
    kept.delete(found.folder)
    assert kept.kept_workspaces() == []
    assert not list(kept.place().iterdir())


def test_runs_are_not_opened_for_a_file_that_changed(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "data.dat"
    file.write_text("1 2\n2\n")
    folder = kept.keep(with_decisions(session, file))
    file.write_text("1 2\n3\n")
    again = reopened(session, folder)
    assert again.runs == []
    assert "changed" in again.reopening
    file.unlink()
    with pytest.raises(InputError, match="There is no file"):
        reopened(session, folder)
    (folder / kept.STATE).write_text("{")
    assert kept.kept_workspaces() == []
    with pytest.raises(InputError, match="cannot be opened"):
        reopened(session, folder)


def test_a_full_disk_leaves_the_earlier_workspace(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "data.dat"
    file.write_text("1 2\n2\n")
    dataset = with_decisions(session, file)
    dataset.kept = kept.keep(dataset)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept.shutil, "copytree", full)
    dataset.recipient = "lost"
    with pytest.raises(InputError, match="No space left"):
        kept.keep(dataset)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert [path.name for path in kept.place().iterdir()] == [dataset.kept.name]
    assert '"a partner"' in (dataset.kept / kept.STATE).read_text()


def test_a_file_that_was_replaced_is_not_mixed_with_what_was_read(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "data.dat"
    file.write_text("1 2\n2\n")
    dataset = with_decisions(session, file)
    dataset._stamp = (0, 0, 0)  # the file was another one when it was read
    with pytest.raises(TaskError, match="changed after it was read"):
        dataset.check_unchanged()

    async def run() -> Run:
        made = dataset.start_run()
        await asyncio.gather(*dataset._works)
        return made

    made = asyncio.run(run())
    assert made.state == "failed"
    assert "changed after it was read" in made.problem
