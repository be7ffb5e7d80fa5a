"""Checking a folder that may come from anyone costs what it may cost, and no more; beyond a limit the answer is 5."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.core import regular_files
from setveil.core.text_files import open_text
from setveil.io import source
from setveil.io.releases.folders import internal_folder_of
from setveil.report.certificate import seal, write_json
from setveil.workflows import folder as folders
from setveil.workflows import limits
from setveil.workflows.bounded import BoundedCheck, Listener, Request

ROWS = [["a", "b"], ["a", "b"], ["a", "c"], ["a", "c"], ["a"]] * 4


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("intact")
    return sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2), "aa", "fanout:2").publish(place / "out", to="jsonl")


@pytest.fixture
def out(release: Path, tmp_path: Path) -> Path:
    for folder in (release, internal_folder_of(release)):
        shutil.copytree(folder, tmp_path / folder.name)
    return tmp_path / "out"


def checked(out: Path, listener: Listener | None = None, **request: Any) -> dict[str, Any]:
    with BoundedCheck(Request(str(out), **request)) as check:
        return check.answer(listener or Listener())


def reseal(out: Path) -> None:
    certificate = json.loads((out / "certificate.json").read_text())
    for name in certificate["files"]:
        certificate["files"][name] = hashlib.sha256((out / name).read_bytes()).hexdigest()
    write_json(seal(certificate), out / "certificate.json")


def test_the_answer_is_that_of_the_library(out: Path, tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    heard: list[str] = []
    stages: list[str] = []
    listener = Listener(progress=lambda stage, share: stages.append(stage), read=heard.append)
    answer = checked(out, listener, original=str(data))
    found = sv.verify_folder(out, data)
    assert (answer["holds"], answer["problems"], answer["sentence"]) == (True, [], found.sentence)
    assert answer["input"]["records"] == len(ROWS)
    assert "20 people" in heard[0]
    assert stages, "there is progress to show"
    (out / "codebook.csv").write_text("nonsense")
    answer = checked(out)
    assert answer["holds"] is False
    assert answer["problems"] == list(sv.verify_folder(out).problems)


def test_errors_come_through(out: Path) -> None:
    with pytest.raises(sv.InputError, match="no such file"):
        checked(out, original="nowhere.csv")
    with pytest.raises(sv.InputError, match="no such engine"):
        checked(out, engine="abacus")


def nested(n_bytes: int) -> Callable[[Path], None]:
    def change(out: Path) -> None:
        certificate = (out / "certificate.json").read_text().rstrip().removesuffix("}")
        lists = ",".join(["[]"] * ((n_bytes - len(certificate) - 30) // 3))
        (out / "certificate.json").write_text(f'{certificate}, "more": [{lists}]}}')

    return change


@pytest.mark.parametrize("n_bytes", [36_000_000, regular_files.LARGEST_CERTIFICATE + 1])
def test_a_certificate_beyond_the_limit_is_not_read(
    out: Path, n_bytes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    nested(n_bytes + 100)(out)
    started = time.monotonic()
    assert _run(["verify", str(out), "--time-limit", "3"]) == 5
    assert time.monotonic() - started < 6
    told = capsys.readouterr().out
    assert "certificate.json: is larger than 4,194,304 bytes, which is the limit" in told


def check_and_measure(out: Path, original: Any = None) -> tuple[str, int]:
    """The answer, and the most memory that it took, in MB; rusage would count the process that started it, too."""
    code = (
        "import re, sys, setveil as sv\n"
        "found = sv.verify_folder(sys.argv[1], eval(sys.argv[2]))\n"
        "print(found.holds, int(re.search('VmHWM:\\\\s*(\\\\d+)', open('/proc/self/status').read())[1]) >> 10)\n"
    )
    command = [sys.executable, "-c", code, str(out), repr(original)]
    holds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return holds, int(peak)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell how much memory is used")
def test_a_certificate_within_the_limit_takes_bounded_memory(out: Path) -> None:
    nested(regular_files.LARGEST_CERTIFICATE - 10)(out)
    assert check_and_measure(out)[1] < 600


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell how much memory is used")
def test_what_lies_beside_is_not_read_unasked(out: Path) -> None:
    """A record of 240 MB took six gigabytes; now nobody opens it, and if asked nobody reads so much."""
    with open(internal_folder_of(out) / "run.json", "w") as file:
        file.write("[" + "[]," * 30_000_000 + "[]]")
    for original in (None, ROWS):
        holds, peak = check_and_measure(out, original)
        assert holds == "True"
        assert peak < 400


def test_nothing_outside_the_folder_is_opened_unasked(out: Path) -> None:
    code = (
        "import sys, setveil as sv\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, given: event == 'open' and seen.append(str(given[0])))\n"
        "sv.verify_folder(sys.argv[1])\n"
        "sv.query(sv.open_release(sys.argv[1], in_input_order=False), None, ['a'])\n"
        "print([name for name in seen if 'out.internal' in name or 'partial' in name])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(out)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_folder_of_somebody_else_is_not_the_owners(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = json.loads((out / "certificate.json").read_text())
    assert folders.owners_record(out, certificate) is not None
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    assert folders.owners_record(out, certificate) is None


def test_a_policy_that_cannot_be_followed_tells_nothing(out: Path) -> None:
    """The release may still be right: its owner has moved a file."""
    policy = internal_folder_of(out) / "policy.toml"
    policy.write_text(policy.read_text() + '\n[hierarchy]\nsource = "gone.csv"\n')
    if policy.read_text().count("[hierarchy]") > 1:
        policy.write_text(policy.read_text().replace("fanout:2", "gone.csv").rpartition("\n[hierarchy]")[0])
    found = sv.verify_folder(out, ROWS)
    assert found.holds is None
    assert "policy.toml cannot be used" in found.unchecked[0]


def many_rows(out: Path) -> None:
    """A codebook whose rows take a hundred times as much memory as they take on disk."""
    with open(out / "codebook.csv", "w") as file:
        file.write("published_item,item\n")
        file.writelines(f",{number}\n" for number in range(1_000_000))
    reseal(out)


def test_memory_is_limited(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many_rows(out)
    monkeypatch.setattr(limits, "MEMORY", 600 * 2**20)
    monkeypatch.setattr(limits, "MEMORY_PER_THREAD", 0)
    monkeypatch.setattr(limits, "MEMORY_PER_BYTE", 1)
    answer = checked(out)
    assert not answer["holds"]
    (why,) = answer["cannot_be_checked"]
    assert "memory" in why


def test_time_is_limited_also_where_nobody_asks(out: Path) -> None:
    """Reading a codebook of a million rows never looks at the clock."""
    many_rows(out)
    started = time.monotonic()
    answer = checked(out, time_limit=0.5)
    assert time.monotonic() - started < 4
    assert answer["holds"] is None
    assert "not completed within 0.5 seconds" in answer["cannot_be_checked"][0]


def test_whoever_is_stopped_leaves_no_process(out: Path) -> None:
    many_rows(out)

    def stop(stage: str, share: float | None) -> None:
        raise KeyboardInterrupt

    check = BoundedCheck(Request(str(out)))
    with pytest.raises(KeyboardInterrupt), check:
        check.answer(Listener(progress=stop))
    assert check.process.poll() is not None


# -- files that are none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hierarchy", "list", "input"])
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(regular_files, "PATIENCE", 0.2)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(sv.InputError, match="it is a pipe, and nobody writes to it"):
        if kind == "hierarchy":
            sv.Hierarchy.from_file(tmp_path / "pipe")
        elif kind == "list":
            with open_text(tmp_path / "pipe") as file:
                file.read()
        else:
            sv.read(tmp_path / "pipe")


def test_an_owners_hierarchy_that_is_a_pipe_tells_nothing(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_files, "PATIENCE", 0.2)
    os.mkfifo(out.with_name("pipe"))
    policy = internal_folder_of(out) / "policy.toml"
    assert "fanout:2" in policy.read_text()
    policy.write_text(policy.read_text().replace("fanout:2", "../pipe"))
    found = sv.verify_folder(out, ROWS)
    assert found.holds is None
    assert "not a regular file" in found.unchecked[0]


def test_an_encoding_is_guessed_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of gzip may hold a thousand; the beginning speaks for the rest."""
    packed = gzip.compress(b"caf\xe9 cr\xe8me\n" * 10_000_000, 1)
    assert len(packed) < 2_000_000
    (tmp_path / "cafe.csv.gz").write_bytes(packed)
    monkeypatch.setattr(source, "GUESSED", 2**20)
    tracemalloc.start()
    assert source.guess_encoding(source.beginning_of_text(tmp_path / "cafe.csv.gz")) == "iso8859-1"
    assert tracemalloc.get_traced_memory()[1] < 16 * 2**20
    tracemalloc.stop()
