"""Commands that only look change nothing on disk: not the data, not a release, not what lies beside it."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.io.releases.folders import partial_folder_of
from setveil.io.releases.marks import mark

ROWS = [["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"], ["a"]] * 4
LOOKING = [
    ["risk", "data.jsonl"],
    ["verify", "out"],
    ["verify", "out", "--original", "data.jsonl"],
    ["verify", "out", "--json", "--time-limit", "0"],
    ["verify", "data.jsonl", "--model", "km", "-k", "2", "-m", "1"],
    ["measure", "data.jsonl", "out"],
    ["attack", "data.jsonl", "out", "--known", "1", "--targets", "3"],
    ["query", "out", "--with", "a"],
    ["suggest", "data.jsonl"],
    ["hierarchy", "check", "tree.csv"],
    ["algorithms", "aa"],
]


def state_of(place: Path) -> dict[str, tuple[object, ...]]:
    """Everything that can be seen of every file and folder, except when it was last read."""
    found: dict[str, tuple[object, ...]] = {}
    for path in (place, *place.rglob("*")):
        now = path.lstat()
        content: object = None
        if stat.S_ISREG(now.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(now.st_mode):
            content = path.readlink()
        found[str(path)] = (
            now.st_ino, now.st_mode, now.st_nlink, now.st_uid, now.st_size, now.st_mtime_ns, now.st_ctime_ns, content
        )  # fmt: skip
    return found


def nothing(place: Path) -> None:
    """A release, and nothing beside it."""


def reported(place: Path) -> None:
    """Somebody's folder in place of a release, and a sign that a copy was interrupted."""
    (place / "out").rename(place / "elsewhere")
    (place / "out").mkdir()
    (place / "out" / "thesis").write_text("years of work")
    partial_folder_of(place / "out").mkdir()
    (partial_folder_of(place / "out") / "copying").touch()


def left_by_a_run(place: Path) -> None:
    """A real run died before both folders were in place."""
    partial = partial_folder_of(place / "out")
    partial.mkdir(mode=0o700)
    mark(partial)
    (place / "out.internal").rename(partial / "internal")
    (partial / "copying").touch()


def only_an_internal_folder(place: Path) -> None:
    partial = partial_folder_of(place / "out")
    partial.mkdir(mode=0o700)
    mark(partial)
    (place / "out").rename(partial / "public")


def links_and_pipes(place: Path) -> None:
    partial = partial_folder_of(place / "out")
    partial.symlink_to(place)
    (place / "out.internal" / "run.json").unlink()
    os.mkfifo(place / "out.internal" / "run.json")
    (place / "out" / "codebook.csv").unlink()
    (place / "out" / "codebook.csv").symlink_to("/dev/zero")


@pytest.fixture(params=[nothing, reported, left_by_a_run, only_an_internal_folder, links_and_pipes])
def tree(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with data and a release, prepared in some way, in which nothing may be written."""
    prepare: Callable[[Path], None] = request.param
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "tree.csv").write_text("a,x,all\nb,y,all\nc,y,all\n")
    sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2").publish(tmp_path / "out", to="jsonl")
    prepare(tmp_path)
    folders = [path for path in (tmp_path, *tmp_path.rglob("*")) if path.is_dir() and not path.is_symlink()]
    for folder in folders:
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) & 0o555)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for folder in folders:
        folder.chmod(stat.S_IMODE(folder.stat().st_mode) | 0o700)


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_whoever_looks_changes_nothing(tree: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    before = state_of(tree)
    status = _run(command)
    assert status in (0, 1, 2, 5), capsys.readouterr().err
    if not partial_folder_of(tree / "out").exists():  # a release, and nothing beside it
        assert status == (5 if "--time-limit" in command else 0), capsys.readouterr().err
    assert state_of(tree) == before


def test_the_library_alike(tree: Path) -> None:
    before = state_of(tree)
    for original in (None, ROWS):
        sv.verify_folder(tree / "out", original)
    for in_input_order in (True, False):
        with contextlib.suppress(sv.SetveilError):
            sv.open_release(tree / "out", in_input_order=in_input_order)
    assert state_of(tree) == before
