"""Releases of earlier versions stay verifiable for ever: ``earlier/VERSION/*.zip`` are never made again.

Each archive was published by that version, one per model and kind of release. A later version adds a folder of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import setveil as sv
from setveil.report.certificate import seal, write_json
from setveil.workflows.handover import unpack_release

ARCHIVES = sorted((Path(__file__).parent / "earlier").glob("*/*.zip"))
ONLY_THE_OWNER_CAN = {"constraints-hidden", "constraints-published", "rules"}


def test_there_are_releases_of_every_model_of_the_first_version() -> None:
    assert len(ARCHIVES) >= 17


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_earlier_release_is_verified_and_opened(archive: Path, tmp_path: Path) -> None:
    folder = unpack_release(archive, tmp_path)
    found = sv.verify_folder(folder)
    assert found.certificate["setveil"] == archive.parent.name != sv.__version__
    assert found.problems == ()
    assert found.holds is (None if archive.stem in ONLY_THE_OWNER_CAN else True)
    assert any("report.html was drawn by setveil" in note for note in found.notes)
    assert found.sentence or archive.stem in ONLY_THE_OWNER_CAN
    release = sv.open_release(folder)
    assert len(release.transactions()) == found.certificate["records"]


@pytest.mark.parametrize("archive", ARCHIVES[::4], ids=lambda path: path.stem)
def test_an_earlier_release_that_was_changed_is_not_verified(archive: Path, tmp_path: Path) -> None:
    folder = unpack_release(archive, tmp_path)
    book = folder / "codebook.csv"
    book.write_bytes(book.read_bytes() + b"x,y\n")
    assert sv.verify_folder(folder).holds is False


def test_a_certificate_of_a_later_version_cannot_be_verified(tmp_path: Path) -> None:
    folder = unpack_release(ARCHIVES[0], tmp_path)
    path = folder / "certificate.json"
    later = {**json.loads(path.read_text()), "schema": 99}
    write_json(seal(later), path)
    found = sv.verify_folder(folder)
    assert found.holds is None
    assert "later version" in found.unchecked[0]
