"""Releases of earlier versions stay verifiable for ever: ``earlier/VERSION/*.zip`` are never made again.

Each archive was published by that version, one per model and kind of release. A later version adds a folder of its own.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import setveil as sv
from setveil.report.certificate import seal, write_json
from setveil.report.template import _dress
from setveil.verify.pages import SCRIPTS
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


def page_in(archive: Path) -> str:
    with zipfile.ZipFile(archive) as parts:
        return parts.read(next(name for name in parts.namelist() if name.endswith("report.html"))).decode()


def page_with(old: str, new: str) -> Callable[[str], str]:
    def change(page: str) -> str:
        assert old in page
        return page.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (page_with("script-src 'sha256-8", "script-src 'unsafe-inline' 'sha256-8"), "does not begin"),
        (page_with("<script>", "<script>alert(1);"), "does not begin"),
        (page_with("<style>", "<script src='https://example.org/x.js'></script><style>"), "has a tag"),
        (page_with("<body", '<meta http-equiv="refresh" content="0;url=https://example.org"><body'), "has a tag"),
        (page_with("</body>", '<a href="https://example.org">details</a></body>'), "has a tag"),
        (page_with("</body>", '<a title=">" HREF = "//example.org">details</a></body>'), "has a tag"),
        (page_with("</body>", "<a title='>' href=/x>details</a></body>"), "has a tag"),
        (page_with("</body>", '<script src="x.js"></script></body>'), "has a tag"),
        (lambda page: page_in(ARCHIVES[1]), "not about this release"),
        (lambda page: "", "does not begin"),
    ],
)
@pytest.mark.parametrize("archive", ARCHIVES[:: len(ARCHIVES) - 2], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_page_of_an_earlier_release_is_no_other_page(
    archive: Path, change: Callable[[str], str], said: str, tmp_path: Path
) -> None:
    """Whoever seals a certificate anew can put any page beside it, but none with a script of their own."""
    folder = unpack_release(archive, tmp_path)
    page = folder / "report.html"
    page.write_text(change(page.read_text()))
    path = folder / "certificate.json"
    certificate = json.loads(path.read_text())
    certificate["files"]["report.html"] = hashlib.sha256(page.read_bytes()).hexdigest()
    write_json(seal(certificate), path)
    found = sv.verify_folder(folder)
    assert found.holds is False
    assert [problem for problem in found.problems if said in problem] == list(found.problems)


def test_later_versions_will_know_the_script_of_pages() -> None:
    assert _dress()["script_hash"] in SCRIPTS, "add it; those of earlier versions stay"
