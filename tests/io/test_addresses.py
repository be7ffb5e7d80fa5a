"""Releases at addresses: uploaded whole, the certificate last, or not at all; nothing internal is uploaded."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.io.releases.addresses import UPLOADING, Address, FsspecStore
from setveil.io.releases.folders import CERTIFICATE

fsspec = pytest.importorskip("fsspec")
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ASK = ["--model", "km", "-k", "2", "-m", "2", "--algorithm", "aa", "--hierarchy", str(EXAMPLES / "taxonomy.csv")]
PLACE = "memory://lake/out"
PUBLIC = {CERTIFICATE, "codebook.csv", "item_counts.csv", "published.csv", "report.html"}


@pytest.fixture(autouse=True)
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FsspecStore]:
    monkeypatch.chdir(tmp_path)
    store = FsspecStore(Address(PLACE))
    yield store
    for name in store.sizes():
        store.remove(name)


def publish(*more: str, place: str = PLACE) -> int:
    return _run(["anonymize", str(EXAMPLES / "baskets.txt"), "-o", place, *ASK, *more])


def test_a_release_is_uploaded_and_its_internal_folder_is_not(
    lake: FsspecStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert publish() == 0
    said = capsys.readouterr().out
    assert PLACE in said and str(tmp_path / "out.internal") in said
    assert set(lake.sizes()) == PUBLIC
    assert [path.name for path in tmp_path.iterdir()] == ["out.internal"]
    assert _run(["anonymize", str(EXAMPLES / "baskets.txt"), "-o", "here", *ASK]) == 0
    for name in PUBLIC:  # the same bytes as in a folder
        lake.get(name, tmp_path / name)
        assert (tmp_path / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_it_is_verified_there(lake: FsspecStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish()
    assert sv.verify_folder(PLACE, EXAMPLES / "baskets.txt").holds
    assert _run(["verify", PLACE]) == 0
    assert f"{PLACE}: verified" in capsys.readouterr().out
    (tmp_path / "other").write_text("published_item,item\n")
    lake.put(tmp_path / "other", "codebook.csv")
    assert sv.verify_folder(PLACE).holds is False
    lake.remove(CERTIFICATE)
    assert _run(["verify", PLACE]) == 2
    assert "no certificate.json" in capsys.readouterr().err


def test_nothing_is_overwritten_unasked(
    lake: FsspecStore, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish()
    assert publish() == 6  # the same release is there
    assert publish("--seed", "3") == 2
    assert publish("--to", "jsonl", "--force") == 0
    assert set(lake.sizes()) == PUBLIC - {"published.csv"} | {"published.jsonl"}
    (tmp_path / "mine").write_text("mine")
    lake.put(tmp_path / "mine", "notes.txt")
    assert publish("--force") == 2
    assert "holds notes.txt" in capsys.readouterr().err
    lake.remove("notes.txt")
    lake.remove(CERTIFICATE)
    assert publish("--force") == 2
    assert "not a setveil release" in capsys.readouterr().err
    (tmp_path / "elsewhere" / "out").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert publish("--force") == 2
    assert "would be next to it" in capsys.readouterr().err


class Stop(BaseException):
    """As Ctrl-C, or the end of the process."""


@pytest.mark.parametrize("last", [CERTIFICATE, "published.csv"])
@pytest.mark.parametrize("dies", [False, True], ids=["interrupted", "killed"])
def test_an_upload_that_ends_early_publishes_nothing(
    lake: FsspecStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: str, dies: bool
) -> None:
    release = sv.anonymize(
        EXAMPLES / "baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy=EXAMPLES / "taxonomy.csv"
    )
    put = FsspecStore.put

    def stop_at(store: FsspecStore, path: Path, name: str) -> None:
        if name == last:
            raise Stop
        put(store, path, name)

    monkeypatch.setattr(FsspecStore, "put", stop_at)
    if dies:  # nothing is taken back
        monkeypatch.setattr(FsspecStore, "remove", lambda store, name: None)
    with pytest.raises(Stop):
        release.publish(PLACE)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert CERTIFICATE not in lake.sizes() and not (tmp_path / "out.internal").exists()
    assert dies or not lake.sizes()
    release.publish(PLACE)  # the next run takes over what is left
    assert set(lake.sizes()) == PUBLIC
    assert sv.verify_folder(PLACE).holds


def test_a_replacement_that_ends_early_can_be_done_again(lake: FsspecStore, tmp_path: Path) -> None:
    publish()
    lake.get(CERTIFICATE, tmp_path / "kept")
    digest = json.loads((tmp_path / "kept").read_text())["digest"]
    lake.remove(CERTIFICATE)  # as a run with --force that was killed leaves it
    left = {"files": sorted(PUBLIC - {CERTIFICATE}), "replaces": digest}
    (tmp_path / "mark").write_text(json.dumps(left))
    lake.put(tmp_path / "mark", UPLOADING)
    assert publish() == 2  # the internal folder is there
    assert publish("--force") == 0
    assert set(lake.sizes()) == PUBLIC


def test_a_mark_that_outlived_its_run_does_no_harm(lake: FsspecStore, tmp_path: Path) -> None:
    publish()
    (tmp_path / "mark").write_text('{"files": ["published.csv"]}')
    lake.put(tmp_path / "mark", UPLOADING)
    assert sv.verify_folder(PLACE).holds
    assert publish("--seed", "3", "--force") == 0
    assert set(lake.sizes()) == PUBLIC


def test_a_release_is_opened_measured_attacked_and_applied_there(capsys: pytest.CaptureFixture[str]) -> None:
    publish()
    assert sv.open_release(PLACE).codebook().published("milk") == "dairy"
    baskets = str(EXAMPLES / "baskets.txt")
    for words in (["measure", baskets, PLACE], ["attack", baskets, PLACE], ["query", PLACE, "--with", "milk"]):
        assert _run([*words, "--json"]) == 0
    assert _run(["apply", PLACE, baskets, "-o", "applied"]) == 0
    capsys.readouterr()
    assert _run(["measure", baskets, "memory:/lake/out"]) == 2
    assert "is an address" in capsys.readouterr().err


def test_the_internal_folder_of_another_release_stays(lake: FsspecStore, capsys: pytest.CaptureFixture[str]) -> None:
    publish()
    assert publish("--force", place="memory://lake/next/out") == 2
    assert "belongs to another release than memory://lake/next/out" in capsys.readouterr().err
    assert set(lake.sizes()) == PUBLIC


@pytest.mark.parametrize(
    ("problem", "words"), [(FileNotFoundError("key"), "No such file"), (PermissionError("key"), "Perm")]
)
def test_what_a_driver_raises_is_one_line(
    problem: OSError, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(store: FsspecStore) -> dict[str, int]:
        raise problem

    monkeypatch.setattr(FsspecStore, "sizes", refuse)
    assert publish() == 2
    monkeypatch.undo()
    said = capsys.readouterr().err
    assert f"cannot be reached ({words}" in said and "key" not in said


def test_what_did_not_arrive_whole_is_taken_back(lake: FsspecStore, monkeypatch: pytest.MonkeyPatch) -> None:
    put = FsspecStore.put
    monkeypatch.setattr(FsspecStore, "put", lambda store, path, name: put(store, EXAMPLES / "baskets.txt", name))
    assert publish() == 2
    assert not lake.sizes()


def test_refused_in_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert publish(place="nosuch://user:secret@bucket/out") == 2
    said = capsys.readouterr().err
    assert "there is no driver for nosuch://" in said and "secret" not in said
    assert publish(place="file:///proc/setveil/out") == 2
    assert "cannot be reached" in capsys.readouterr().err
    assert _run(["compare", str(EXAMPLES / "baskets.txt"), "-o", "s3://bucket/out"]) == 2
    assert "is an address" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert publish() == 2
    assert "setveil[remote]" in capsys.readouterr().err
    with pytest.raises(InputError, match="is an address"):
        sv.anonymize([["a"]] * 5, "km", k=2, m=1).publish(Path(PLACE))
    assert not Path("s3:").exists() and not Path("memory:").exists()
