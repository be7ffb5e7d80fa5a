"""Interrupted at every event of the file system, a run leaves a whole release or none, and both folders of the same
one.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.io.releases import folders

DRIVER = Path(__file__).with_name("crash_points.py")


def interrupted(what: str, way: str, folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(DRIVER), what, way, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("what", "way"),
    [("stage", "die"), ("stage", "full"), ("copy", "die"), ("copy", "full"), ("publish", "full")],
)
def test_what_stands_there_is_whole_and_belongs_together(tmp_path: Path, what: str, way: str) -> None:
    found = interrupted(what, way, tmp_path)
    assert len(found) > 15
    final = found[-1]["left"]
    assert final[0] == final[1] is not None
    for left in found:
        public, internal = left["left"]
        # Never a folder beside one it does not belong to; at worst the internal one is still on its way.
        assert public is None or internal in (public, None), left
        assert public in (left["old"][0], final[0]), left
        if way == "full":
            assert public == internal, left
            assert set(left["folder"]) <= {"out", "out.internal", ".out.partial-run"}, left  # it may not be removable
        settled, again, folder = left["next"]
        assert settled in (left["old"], final), left
        assert again == final
        assert folder == ["out", "out.internal"]
    assert any(left["left"] != left["old"] and not left["done"] for left in found) or way == "full"


def test_without_rename_nothing_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = sv.anonymize([["a", "b"], ["a", "b"], ["a"]], "km", k=2, m=1, algorithm="aa", hierarchy="fanout:2")

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "no rename")

    monkeypatch.setattr(Path, "rename", refuse)
    monkeypatch.setattr(folders, "_exchange", refuse)
    release.publish(tmp_path / "out")
    assert sv.verify_folder(tmp_path / "out").holds
    before = (tmp_path / "out" / "certificate.json").read_bytes()
    with pytest.raises(sv.InputError, match="move the old one away first"):
        release.publish(tmp_path / "out", force=True)
    assert (tmp_path / "out" / "certificate.json").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.internal"]


def test_a_disk_that_fills_up_in_the_middle_of_a_file_changes_nothing(tmp_path: Path) -> None:
    """Not the call that opens a file fails, but a later one that writes to it: at the first byte, at a later one."""
    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["a"]] * 50
    old, new = (sv.anonymize(rows, sv.KmAnonymity(k=k, m=2), "aa", "fanout:2") for k in (2, 3))
    old.publish(tmp_path / "out")
    files = [path for folder in tmp_path.iterdir() for path in folder.iterdir()]
    before = {path: path.read_bytes() for path in files}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in sorted({0, 1, *(len(content) - 1 for content in before.values())}):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            with pytest.raises((OSError, sv.InputError), match="too large"):
                new.publish(tmp_path / "out", force=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {path: path.read_bytes() for folder in tmp_path.iterdir() for path in folder.iterdir()} == before, most
    new.publish(tmp_path / "out", force=True)
    assert sv.verify_folder(tmp_path / "out", rows).holds


@pytest.mark.parametrize("failure", [errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EINVAL])
@pytest.mark.parametrize("can_rename", [True, False])
def test_what_did_not_get_to_the_disk_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: int, can_rename: bool
) -> None:
    """The disk tells only when files are flushed that it is full or broken; others (EINVAL) cannot flush at all."""
    release = sv.anonymize([["a", "b"], ["a", "b"], ["a"]], "km", k=2, m=1, algorithm="aa", hierarchy="fanout:2")

    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "no rename")

    if not can_rename:
        monkeypatch.setattr(Path, "rename", refuse)
    flush, n_calls = os.fsync, [0]

    def fail(handle: int, at: int) -> None:
        n_calls[0] += 1
        if n_calls[0] == at:
            raise OSError(failure, os.strerror(failure))
        flush(handle)

    n_refused = 0
    for at in range(1, 100):
        n_calls[0] = 0
        monkeypatch.setattr(os, "fsync", lambda handle, at=at: fail(handle, at))
        folder = tmp_path / str(at)
        folder.mkdir()
        try:
            release.publish(folder / "out")
        except OSError as problem:
            assert problem.errno == failure != errno.EINVAL
            assert list(folder.iterdir()) == []
            n_refused += 1
        else:
            assert sv.verify_folder(folder / "out").holds
            if n_calls[0] < at:
                break
    else:
        raise AssertionError("files are flushed for ever")
    assert n_refused >= 6 or failure == errno.EINVAL


@pytest.mark.parametrize("way", ["die", "full"])
def test_a_comparison_goes_on_where_it_was_interrupted(tmp_path: Path, way: str) -> None:
    found = interrupted("compare", way, tmp_path)
    assert len(found) > 20
    final = found[-1]["left"]
    assert None not in final
    for left in found:
        assert all(file in (None, whole) for file, whole in zip(left["left"], final, strict=True)), left
        assert left["next"][1] == final


RACER = """
import sys
import setveil as sv
rows = [["a", "b"], ["b", "c"], ["a", "c"], ["a"]] * 300
release = sv.anonymize(rows, sv.KmAnonymity(k=3, m=2), "aa", "fanout:2")
print("ready", flush=True)
sys.stdin.readline()
for turn in range(10):
    try:
        release.publish(f"{sys.argv[1]}/{turn}")
        print("won", flush=True)
    except sv.InputError:
        print("refused", flush=True)
    sys.stdin.readline()
"""


def test_of_two_runs_to_one_place_one_wins_and_the_other_is_refused(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for _ in range(10):
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        assert sorted(racer.stdout.readline() for racer in racers if racer.stdout) == ["refused\n", "won\n"]
    for racer in racers:
        racer.communicate("end\n")
