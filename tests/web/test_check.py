"""The step Check takes what strangers send: archives and folders, within limits."""

from __future__ import annotations

import asyncio
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.errors import InputError
from setveil.web.session import MAX_FILES, Session
from setveil.web.tasks import Tasks
from setveil.web.workspace import Workspace
from setveil.workflows import bounded


class Upload:
    """A file as the browser sends it."""

    def __init__(self, name: str, content: bytes = b"x") -> None:
        self.name, self.content = name, content

    async def save(self, path: Path) -> None:
        path.write_bytes(self.content)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = sv.Transactions.from_lists([["a", "b"], ["a", "b"], ["a"], ["b"]] * 3)
    out = tmp_path_factory.mktemp("made") / "out"
    sv.anonymize(data, sv.KmAnonymity(k=3, m=2), algorithm="aa", hierarchy="fanout:2").publish(out)
    return out


def check(path: Path) -> dict[str, Any]:
    return Tasks(lambda stage, share: None).do_check(str(path), None, {})


def test_three_answers(release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(release)["holds"] is True
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as packed:
        for file in release.iterdir():
            packed.write(file, f"release/{file.name}")
    answer = check(tmp_path / "release.zip")
    assert answer["holds"] is True
    assert not any("macOS" in note for note in answer["notes"])
    with zipfile.ZipFile(tmp_path / "release.zip", "a") as packed:
        packed.writestr("__MACOSX/release/._published.csv", "x")
    answer = check(tmp_path / "release.zip")  # as macOS packs it
    assert answer["holds"] is True
    assert any("macOS" in note for note in answer["notes"])
    shutil.copytree(release, tmp_path / "changed")
    (tmp_path / "changed" / "more.csv").write_text("x")
    answer = check(tmp_path / "changed")
    assert answer["holds"] is False
    assert answer["problems"]
    next((tmp_path / "changed").glob("published.*")).write_text("1,2\n3\n")
    with zipfile.ZipFile(tmp_path / "changed.zip", "w") as packed:
        for file in (tmp_path / "changed").iterdir():
            packed.write(file, file.name)
    for path in (tmp_path / "changed", tmp_path / "changed.zip"):  # names of files, not of where they lie for now
        answer = check(path)
        assert answer["holds"] is False
        assert not any("/" in line for line in answer["problems"]), answer["problems"]
    monkeypatch.setattr(bounded, "seconds_for", lambda folder: 0.0)
    monkeypatch.setattr(bounded, "GRACE", 0.0)
    answer = check(release)  # a folder that takes too long
    assert answer["holds"] is None
    assert answer["cannot_be_checked"]


def test_a_folder_keeps_plain_names_and_nothing_else(tmp_path: Path) -> None:
    with Workspace(tmp_path) as workspace:
        session = Session(workspace)

        def receive(*names: str) -> Path:
            return asyncio.run(session.receive_folder([Upload(name) for name in names]))  # type: ignore[misc]

        folder = receive("certificate.json", "published.csv.gz", ".DS_Store")
        assert sorted(path.name for path in folder.iterdir()) == [".DS_Store", "certificate.json", "published.csv.gz"]
        before = sorted(tmp_path.rglob("*"))
        for name in ("../escaped", "deeper/published.csv", "deeper/", "..", ".", "", "a\\b", "C:x", "a\nb", "ü" * 90):
            with pytest.raises(InputError, match="not a file of a release folder"):
                receive("certificate.json", name)
        with pytest.raises(InputError, match="at most"):
            receive(*(f"{n}.csv" for n in range(MAX_FILES + 1)))
        assert sorted(tmp_path.rglob("*")) == before  # nothing was written
        session.close()
