"""Releases at addresses: uploaded whole, the certificate last, or not at all; nothing internal is uploaded."""

from __future__ import annotations

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
    assert "would be beside it" in capsys.readouterr().err


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
    put, remove = FsspecStore.put, FsspecStore.remove

    def stop_at(store: FsspecStore, path: Path, name: str) -> None:
        if name == last:
            raise Stop
        put(store, path, name)

    monkeypatch.setattr(FsspecStore, "put", stop_at)
    if dies:  # nothing is taken back
        monkeypatch.setattr(FsspecStore, "remove", lambda store, name: name == UPLOADING or remove(store, name))
    with pytest.raises(Stop):
        release.publish(PLACE)
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert CERTIFICATE not in lake.sizes() and not (tmp_path / "out.internal").exists()
    assert dies or not lake.sizes()
    release.publish(PLACE)  # the next run takes over what is left
    assert set(lake.sizes()) == PUBLIC
    assert sv.verify_folder(PLACE).holds


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
