"""What an interrupted run has left, and folders that somebody prepared to look like it: looking changes nothing, and a
run removes only what a run wrote.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import setveil as sv
from setveil.io.releases import folders
from setveil.io.releases.folders import Staging, internal_folder_of, partial_folder_of
from setveil.io.releases.marks import MARK, STATEMENT, is_marked, mark

ROWS = [["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"], ["a"]] * 4

Snapshot = dict[str, tuple[int, int, int, int, bytes]]


def snapshot(place: Path) -> Snapshot:
    """Every file and folder: its number, mode, size, time of change and content."""
    found = {}
    for path in (place, *place.rglob("*")):
        state = path.lstat()
        content = b""
        if stat.S_ISREG(state.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(state.st_mode):
            content = os.fsencode(path.readlink())
        size = state.st_size if stat.S_ISREG(state.st_mode) else 0
        found[str(path)] = (state.st_ino, state.st_mode, size, state.st_mtime_ns, content)
    return found


def released(place: Path, name: str = "out") -> Path:
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2")
    release.publish(place / name)
    return place / name


class Died(BaseException):
    """A run that ends before its time."""


def leave(out: Path, *, copying: bool = False, until: int | None = None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run leaves that was killed during its commit: after ``until`` steps, or while it copied."""
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=4, m=1), "aa", "fanout:2")
    n_renamed = 0
    rename = Path.rename

    def renamed(path: Path, target: Path) -> Path:
        nonlocal n_renamed
        if copying:
            raise OSError(errno.EXDEV, "no rename")
        if n_renamed == until:
            raise Died
        n_renamed += 1
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", renamed)
        patch.setattr(Staging, "_leave", lambda self: os.close(self._lock))
        patch.setattr(folders, "_take_back", lambda *_: None)
        if copying:
            copied = folders.shutil.copyfileobj

            def half(source, file):  # type: ignore[no-untyped-def]
                if "certificate" in str(file.name):
                    raise Died
                copied(source, file)

            patch.setattr(folders.shutil, "copyfileobj", half)
        patch.setattr(folders, "_settle", lambda out: None)
        patch.setattr(
            folders, "_renaming", lambda old, new: ((lambda: old.rename(new)), (lambda: None))
        )  # nothing is undone
        with pytest.raises(Died):
            release.publish(out)


def thesis(place: Path) -> None:
    """The folder of the report: files of somebody else, and a sign that a copy was interrupted."""
    (place / "out").mkdir()
    (place / "out" / "thesis").touch()
    (place / "out.internal").mkdir()
    (place / "out.internal" / "notes").touch()
    partial_folder_of(place / "out").mkdir(mode=0o700)
    (partial_folder_of(place / "out") / "copying").touch()


def thesis_in_an_archive(place: Path) -> None:
    """The same with marks that a real run made elsewhere, unpacked here."""
    thesis(place)
    real = place / "real"
    real.mkdir(mode=0o700)
    mark(real)
    for name in (MARK, STATEMENT):
        shutil.copy2(real / name, partial_folder_of(place / "out") / name)
    shutil.rmtree(real)


def thesis_with_sources(place: Path) -> None:
    """The same with what would have been copied."""
    thesis_in_an_archive(place)
    shutil.copytree(place / "out", partial_folder_of(place / "out") / "public")
    shutil.copytree(place / "out.internal", partial_folder_of(place / "out") / "internal")


def internal_alone(place: Path) -> None:
    """An internal folder that seems to wait for its public one."""
    released(place)
    partial_folder_of(place / "out").mkdir(mode=0o700)
    (place / "out").rename(partial_folder_of(place / "out") / "public")


def linked(place: Path) -> None:
    """The partial folder is a link to somebody's files."""
    (place / "precious").mkdir(mode=0o700)
    (place / "precious" / "file").touch()
    partial_folder_of(place / "out").symlink_to(place / "precious")


def readable_by_all(place: Path) -> None:
    thesis(place)
    mark(partial_folder_of(place / "out"))
    partial_folder_of(place / "out").chmod(0o755)


def with_a_stranger(place: Path) -> None:
    """A real partial folder into which somebody has put something."""
    partial_folder_of(place / "out").mkdir(mode=0o700)
    mark(partial_folder_of(place / "out"))
    (partial_folder_of(place / "out") / "thesis").touch()


HOSTILE: list[Callable[[Path], None]] = [
    thesis,
    thesis_in_an_archive,
    thesis_with_sources,
    internal_alone,
    linked,
    readable_by_all,
    with_a_stranger,
]


@pytest.mark.parametrize("prepare", HOSTILE)
def test_a_run_removes_nothing_that_no_run_made(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    prepare(tmp_path)
    before = snapshot(tmp_path)
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2")
    for force in (False, True):
        with pytest.raises(sv.InputError):
            release.publish(tmp_path / "out", force=force)
        assert snapshot(tmp_path) == before


@pytest.mark.parametrize("until", [0, 1])
def test_what_a_run_left_is_settled_by_the_next_one_only(
    tmp_path: Path, until: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave(tmp_path / "out", until=until, monkeypatch=monkeypatch)
    left = snapshot(tmp_path)
    assert is_marked(partial_folder_of(tmp_path / "out"))
    with pytest.raises(sv.InputError):
        sv.open_release(tmp_path / "out")
    assert sv.verify_folder(tmp_path / "out").holds is not True
    assert snapshot(tmp_path) == left
    released(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.internal"]
    assert sv.verify_folder(tmp_path / "out", ROWS).holds


def test_a_copy_that_was_interrupted_is_taken_back_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    leave(out, copying=True, monkeypatch=monkeypatch)
    assert (out / "published.csv").exists() or list(out.iterdir())
    (out / "thesis").write_text("mine")
    kept = snapshot(out)[str(out / "thesis")]
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2")
    with pytest.raises(sv.InputError, match="exists already"):
        release.publish(out)
    assert [path.name for path in out.iterdir()] == ["thesis"]
    assert snapshot(out)[str(out / "thesis")] == kept
    (out / "thesis").unlink()
    release.publish(out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.internal"]


def test_between_two_renames_the_old_release_comes_back(tmp_path: Path) -> None:
    """Where folders cannot be exchanged, the old one is set aside for a moment."""
    out = released(tmp_path)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    partial = partial_folder_of(out)
    partial.mkdir(mode=0o700)
    mark(partial)
    internal_folder_of(out).rename(partial / "old-internal")
    out.rename(partial / "old-public")
    with pytest.raises(ZeroDivisionError), Staging(out, force=True):
        raise ZeroDivisionError
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert sv.verify_folder(out, ROWS).holds
    assert not partial.exists()


@pytest.mark.parametrize("name", ["out/thesis", "out.internal/notes.md", "out/.hidden", "out.internal/more/file"])
def test_force_replaces_releases_and_nothing_besides(tmp_path: Path, name: str) -> None:
    out = released(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    before = snapshot(tmp_path)
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2")
    with pytest.raises(sv.InputError, match="not part of the release"):
        release.publish(out, force=True)
    assert snapshot(tmp_path) == before


def test_a_file_system_that_cannot_lock_keeps_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2")
    with pytest.raises(sv.InputError, match="cannot be written"):
        release.publish(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("can_rename", [True, False])
def test_what_is_internal_is_for_the_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_rename: bool
) -> None:
    (tmp_path / "out.internal").mkdir(mode=0o755)

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "no rename")

    if not can_rename:
        monkeypatch.setattr(Path, "rename", refuse)
    out = released(tmp_path)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in internal_folder_of(out).rglob("*")}
    assert set(modes.values()) == {0o600}, modes
    assert stat.S_IMODE(internal_folder_of(out).stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o044 == 0o044 for path in out.iterdir())


def test_a_mark_is_bound_to_its_place(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir(mode=0o700)
        mark(folder)
        assert is_marked(folder)
    shutil.copy2(first / STATEMENT, second / STATEMENT)
    assert not is_marked(second)
    copy = tmp_path / "copy"
    shutil.copytree(first, copy)
    assert not is_marked(copy)
    said = json.loads((first / STATEMENT).read_text())
    os.utime(first / MARK)  # sets the time of change, which nobody can choose
    assert json.loads((first / STATEMENT).read_text()) == said
    assert not is_marked(first)
