"""Releases on the move: only the public folder is packed, kept releases can be repeated, hostile archives are
refused.
"""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

import setveil as sv
from setveil.errors import InputError
from setveil.workflows import handover

RECORDS = [["a", "b"], ["a", "b", "c"], ["a", "c"], ["b", "c"], ["a", "b"], ["c"]] * 3


@pytest.fixture
def release(tmp_path: Path) -> Path:
    tree = tmp_path / "tree.csv"
    tree.write_text("a,x,ALL\nb,x,ALL\nc,y,ALL\n")
    made = sv.anonymize(RECORDS, "km", k=2, m=2, algorithm="aa", hierarchy=str(tree))
    sv.publish(made, tmp_path / "out")
    return tmp_path / "out"


def test_an_archive_holds_the_public_folder_and_always_the_same_bytes(release: Path, tmp_path: Path) -> None:
    first = handover.zip_public(release, tmp_path / "1.zip").read_bytes()
    (release / "certificate.json").touch()
    assert handover.zip_public(release, tmp_path / "2.zip").read_bytes() == first
    assert {name.partition("/")[2] for name in zipfile.ZipFile(tmp_path / "1.zip").namelist()} == {
        path.name for path in release.iterdir()
    }
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    assert sv.verify_folder(handover.unpack_release(tmp_path / "1.zip", unpacked)).holds is True


def test_a_folder_that_is_not_intact_is_not_packed(release: Path, tmp_path: Path) -> None:
    (release / "notes.txt").write_text("who is who")
    with pytest.raises(InputError, match="not an intact release"):
        handover.zip_public(release, tmp_path / "1.zip")


def test_a_sign_off_goes_into_what_stays_in_the_house_and_nowhere_else(tmp_path: Path) -> None:
    made = sv.publish(sv.anonymize(RECORDS, "km", k=2, m=2, algorithm="trim"), tmp_path / "out")
    before = {path.name: path.read_bytes() for path in made.path.iterdir()}
    assert made.facts is not None
    handover.sign_off(made.path, made.facts, {"responsible": "The data office <b>"})
    assert "The data office &lt;b&gt;" in (made.internal / "report.html").read_text()
    assert sv.Policy.from_file(made.internal / "policy.toml").about.responsible == "The data office <b>"
    assert {path.name: path.read_bytes() for path in made.path.iterdir()} == before


def test_a_kept_release_is_whole_private_and_can_be_repeated(release: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    public, internal = handover.keep_release(release, tmp_path / "kept" / "for-good")
    (tmp_path / "tree.csv").unlink()  # it was temporary
    assert sv.verify_folder(public).holds is True
    assert stat.S_IMODE(internal.stat().st_mode) == 0o700
    assert {path.name for path in public.iterdir()} == {path.name for path in release.iterdir()}
    policy = sv.Policy.from_file(internal / "policy.toml")
    again = sv.run(policy, RECORDS, tmp_path / "again")
    assert (again.path / "certificate.json").read_bytes() == (public / "certificate.json").read_bytes()
    with pytest.raises(InputError, match="exists already"):
        handover.keep_release(release, public)


def packed(path: Path, *entries: tuple[str, bytes], mode: int = stat.S_IFREG | 0o644) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (("certificate.json", b"{}"), *entries):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (mode if name != "certificate.json" else stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/evil", "a/../../evil", "a/b/c", "..\\evil", "C:evil", "other/certificate.json", "a/./b"],
)
def test_paths_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    target = tmp_path / "in" / "side"
    target.mkdir(parents=True)
    with pytest.raises(InputError, match="archive"):
        handover.unpack_release(packed(tmp_path / "x.zip", (name, b"x")), target)
    assert not list(target.iterdir())
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["side"]


FINDER = ("release/.DS_Store", "release/._report.html", "__MACOSX/._release", "__MACOSX/release/._published.csv")


def test_what_macos_adds_is_ignored_and_named(release: Path, tmp_path: Path) -> None:
    archive = handover.zip_public(release, tmp_path / "release.zip")
    with zipfile.ZipFile(archive, "a") as opened:
        for name in FINDER:
            opened.writestr(name, b"\0\5\x16\7")
    target = tmp_path / "unpacked"
    target.mkdir()
    with pytest.warns(sv.SetveilWarning, match=r"4 entries that macOS adds, such as \"release/.DS_Store\"\. They"):
        handover.unpack_release(archive, target)
    assert {path.name for path in target.iterdir()} == {path.name for path in release.iterdir()}
    assert sv.verify_folder(target).holds is True


@pytest.mark.parametrize(
    "name",
    [
        "__MACOSX/release/published.csv",  # what is no entry of the Finder, in its folder
        "__MACOSX/release/deeper/._x",
        "release/deeper/._x",
        "release/deeper/.DS_Store",
        "../._x",
        "__MACOSX/../._x",
        "a\\._x",
        "release/Thumbs.db",
        "release/_x",
        "release/.ds_store/x",
    ],
)
def test_nothing_else_is_ignored(tmp_path: Path, name: str) -> None:
    (tmp_path / "target").mkdir()
    with pytest.raises(InputError, match="archive"):
        handover.unpack_release(packed(tmp_path / "x.zip", (name, b"x")), tmp_path / "target")
    assert not [*(tmp_path / "target").iterdir()]


def test_links_and_masses_that_look_like_macos_are_refused(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    link = packed(tmp_path / "1.zip", ("._x", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777)
    with pytest.raises(InputError, match="not a file of a release"):
        handover.unpack_release(link, tmp_path / "target")
    many = packed(tmp_path / "2.zip", *((f"._{n}", b"") for n in range(300)))
    with pytest.raises(InputError, match="more than a release has"):
        handover.unpack_release(many, tmp_path / "target")


def test_links_bombs_and_other_archives_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(InputError, match="not a file of a release"):
        handover.unpack_release(packed(tmp_path / "1.zip", ("link", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), target)
    with pytest.warns(UserWarning, match="Duplicate name"):  # Python's own
        twice = packed(tmp_path / "twice.zip", ("certificate.json", b"{}"))
    with pytest.raises(InputError, match="or a file twice"):
        handover.unpack_release(twice, target)
    with pytest.raises(InputError, match="more than a release has"):
        handover.unpack_release(packed(tmp_path / "2.zip", *((f"f{n}", b"") for n in range(200))), target)
    (tmp_path / "3.zip").write_bytes(b"not an archive")
    with pytest.raises(InputError, match="is not a ZIP archive"):
        handover.unpack_release(tmp_path / "3.zip", target)
    with zipfile.ZipFile(tmp_path / "4.zip", "w") as archive:
        archive.writestr("other.txt", b"x")
    with pytest.raises(InputError, match=r"no certificate\.json"):
        handover.unpack_release(tmp_path / "4.zip", target)
    monkeypatch.setattr(handover, "MAX_UNPACKED", 1_000_000)
    bomb = packed(tmp_path / "5.zip", ("zeros", b"\0" * 5_000_000))
    with pytest.raises(InputError, match="unpacks to more"):
        handover.unpack_release(bomb, target)
    lying = bomb.read_bytes().replace((5_000_000).to_bytes(4, "little"), (50).to_bytes(4, "little"))
    bomb.write_bytes(lying)  # says it is small
    with pytest.raises(InputError, match=r"unpacks to more|is damaged"):
        handover.unpack_release(bomb, target)
    assert sum(path.stat().st_size for path in target.iterdir()) <= 1_000_000 + 2
