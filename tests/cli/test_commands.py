"""The command line: exit codes, one-line errors, JSON, help."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from setveil import __version__
from setveil.cli.main import _run, app

BASKETS = "bread,milk,beer\nbread,milk,wine\ncheese,wine\nbread,cheese\nmilk,beer\nbread,milk\n"
TREE = "bread,food\nmilk,dairy,food\ncheese,dairy,food\nbeer,alcohol\nwine,alcohol\n"
KM = ["--model", "km", "-k", "2", "-m", "2", "--algorithm", "aa"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "baskets.txt").write_text(BASKETS)
    (tmp_path / "tree.csv").write_text(TREE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def setveil(*arguments: str) -> int:
    return _run(list(arguments))


def publish(*more: str) -> int:
    return setveil("anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "tree.csv", *more)


def commands() -> list[list[str]]:
    import typer

    root = typer.main.get_command(app)
    found: list[list[str]] = [[]]
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        found.append([name])
        found += [[name, part] for part in getattr(command, "commands", {})]
    return found


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert setveil(*command, "--help") == 0
    assert "Example" in capsys.readouterr().out


def test_the_whole_flow_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setveil("risk", "baskets.txt") == 0
    assert "6 people, 5 items" in capsys.readouterr().out
    assert publish() == 0
    shown = capsys.readouterr().out
    assert "Verified: anyone who knows up to 2 items" in shown
    assert "report.html" in shown
    assert setveil("verify", "out", "--original", "baskets.txt") == 0
    assert "out: verified" in capsys.readouterr().out
    assert setveil("measure", "baskets.txt", "out") == 0
    assert "NCP" in capsys.readouterr().out


def test_whoever_checks_groups_that_can_be_guessed_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sick.txt").write_text("a,s\na\nb\nb,c\nc\na,b\n" * 3)
    degree = ("--model", "degree", "-p", "3", "--sensitive", "s", "--algorithm", "nn", "--accept-guessable")
    assert setveil("anonymize", "sick.txt", "--format", "basket", "-o", "out", *degree) == 0
    capsys.readouterr()
    assert setveil("verify", "out") == 0
    told = capsys.readouterr().out
    assert told.startswith("out: verified, but attackers can guess who has a sensitive item\n")
    assert f"not verified: made by setveil {__version__} with nn. Guessing: groups" in told


def test_json_is_one_object_and_nothing_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = [
        ["risk", "baskets.txt", "--json"],
        ["anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "tree.csv", "--json"],
        ["verify", "out", "--json"],
        ["measure", "baskets.txt", "out", "--json"],
        ["algorithms", "--json"],
        ["algorithms", "aa", "--json"],
        ["hierarchy", "check", "tree.csv", "--json"],
    ]
    for call in calls:
        assert setveil(*call) == 0
        captured = capsys.readouterr()
        content = json.loads(captured.out)
        assert isinstance(content, dict)
        if "baskets.txt" in call:
            assert captured.err == content["input"]["summary"] + "\n"
            assert captured.err.startswith("Read baskets.txt as baskets (detected from lines that differ in length ")
        else:
            assert captured.err == ""


def test_standard_input_and_gzip(folder: Path) -> None:
    with gzip.open("baskets.txt.gz", "wt") as file:
        file.write(BASKETS)
    assert setveil("risk", "baskets.txt.gz", "--json") == 0
    command = [
        sys.executable,
        "-c",
        "from setveil.cli.main import main; main()",
        "risk",
        "-",
        "--format",
        "basket",
        "--json",
    ]
    done = subprocess.run(command, input=BASKETS, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["records"] == 6


BAD = {
    "missing file": (["risk", "nowhere.txt"], 2, "nowhere.txt"),
    "missing argument": (["risk"], 2, "INPUT"),
    "unknown command": (["anonymise"], 2, "anonymise"),
    "unknown option": (["risk", "baskets.txt", "--knwon", "2"], 2, "--knwon"),
    "bad number": (["risk", "baskets.txt", "--known", "two"], 2, "--known takes numbers"),
    "no model": (["anonymize", "baskets.txt", "-o", "out"], 2, "--model"),
    "unknown model": (["anonymize", "baskets.txt", "-o", "out", "--model", "kn"], 2, "model"),
    "missing parameter": (["anonymize", "baskets.txt", "-o", "out", "--model", "km", "-k", "2"], 2, "needs m"),
    "bad k": (
        ["anonymize", "baskets.txt", "-o", "out", "--model", "km", "-k", "0", "-m", "2"],
        2,
        "k must be at least 2",
    ),
    "bad m": (["anonymize", "baskets.txt", "-o", "out", "--model", "km", "-k", "2", "-m", "few"], 2, "few"),
    "no hierarchy": (["anonymize", "baskets.txt", "-o", "out", *KM], 2, "needs a hierarchy"),
    "missing hierarchy": (["anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "x.csv"], 2, "x.csv"),
    "bad fanout": (["anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "fanout:1"], 2, "fan-out"),
    "unknown algorithm": (
        ["anonymize", "baskets.txt", "-o", "out", "--model", "km", "-k", "2", "-m", "2", "--algorithm", "bb"],
        2,
        "bb",
    ),
    "wrong model for it": (
        ["anonymize", "baskets.txt", "-o", "out", "--model", "k-anonymity", "-k", "2", "--algorithm", "aa"],
        2,
        "does not support",
    ),
    "bad option": (
        ["anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "tree.csv", "--option", "colour=red"],
        2,
        "colour",
    ),
    "bad option value": (
        ["anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "tree.csv", "--option", "tree_order=red"],
        2,
        "tree_order",
    ),
    "not a pair": (
        ["anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "tree.csv", "--option", "red"],
        2,
        "NAME=VALUE",
    ),
    "infeasible": (
        [
            "anonymize",
            "baskets.txt",
            "-o",
            "out",
            "--model",
            "km",
            "-k",
            "7",
            "-m",
            "2",
            "--algorithm",
            "aa",
            "--hierarchy",
            "tree.csv",
        ],
        3,
        "fewer than k=7",
    ),
    "not verified": (["verify", "baskets.txt", "--model", "km", "-k", "3", "-m", "1"], 1, ""),
    "audit without model": (["verify", "baskets.txt"], 2, "--model km"),
    "no policy file": (["anonymize", "baskets.txt", "-o", "out", "--policy", "p.toml"], 2, "p.toml"),
    "odd share": (["measure", "baskets.txt", "out", "--patterns", "5,much"], 2, "percentages"),
    "no share": (["measure", "baskets.txt", "out", "--patterns", "0"], 2, "more than 0"),
    "missing folder": (["measure", "baskets.txt", "nowhere"], 2, "nowhere"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_asks_end_with_one_line_and_their_exit_code(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, status, words = BAD[name]
    assert setveil(*arguments) == status
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err
    if status in (2, 3):
        lines = captured.err.strip().splitlines()
        assert len([line for line in lines if not line.startswith("Read baskets.txt as ")]) == 1
    assert not (folder / "out").exists()
    assert {path.name for path in folder.iterdir()} == {"baskets.txt", "tree.csv"}


def test_a_changed_byte_is_caught_and_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish() == 0
    for path in sorted((folder / "out").iterdir()):
        whole = path.read_bytes()
        path.write_bytes(whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:])
        capsys.readouterr()
        assert setveil("verify", "out") == 1, path.name
        assert path.name in capsys.readouterr().out
        path.write_bytes(whole)
    (folder / "out" / "extra.txt").write_text("x")
    assert setveil("verify", "out") == 1
    assert "extra.txt" in capsys.readouterr().out
    (folder / "out" / "extra.txt").unlink()
    (folder / "out" / "codebook.csv").unlink()
    assert setveil("verify", "out") == 1
    assert "codebook.csv" in capsys.readouterr().out


def test_a_policy_file_does_the_same_as_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish() == 0
    assert setveil("anonymize", "baskets.txt", "-o", "again", "--policy", "out.internal/policy.toml") == 0
    for path in (folder / "out").iterdir():
        assert path.read_bytes() == (folder / "again" / path.name).read_bytes(), path.name


def test_options_override_the_policy_file(folder: Path) -> None:
    assert publish() == 0
    assert setveil("anonymize", "baskets.txt", "-o", "again", "--policy", "out.internal/policy.toml", "-k", "3") == 0
    certificate = json.loads((folder / "again" / "certificate.json").read_text())
    assert certificate["model"]["options"] == {"k": 3, "m": 2}


def test_k_1_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        setveil(
            "anonymize",
            "baskets.txt",
            "-o",
            "out",
            "--model",
            "km",
            "-k",
            "1",
            "-m",
            "2",
            "--algorithm",
            "aa",
            "--hierarchy",
            "tree.csv",
        )
        == 2
    )
    assert "k must be at least 2, not 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["hierarchy", "build", "baskets.txt", "-o", "link.txt"],
        ["hierarchy", "convert", "tree.csv", "-o", "./tree.csv", "--to", "edges"],
        ["constraints", "generate", "baskets.txt", "--how", "occurring", "-o", "baskets.txt"],
    ],
)
def test_what_is_read_is_not_written_over(command: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("link.txt").symlink_to("baskets.txt")
    before = {name: Path(name).read_bytes() for name in ("baskets.txt", "tree.csv")}
    assert setveil(*command) == 2
    assert "would be overwritten; choose another output" in capsys.readouterr().err
    assert before == {name: Path(name).read_bytes() for name in before}


def test_the_demo_replaces_no_release_but_its_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setveil("anonymize", "baskets.txt", "-o", "out", *KM, "--hierarchy", "tree.csv") == 0
    assert setveil("demo", "-o", "out") == 2
    assert "exists already" in capsys.readouterr().err
    assert setveil("verify", "out", "--original", "baskets.txt") == 0
    assert [setveil("demo"), setveil("demo")] == [0, 0]


def test_violations_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert setveil("verify", "baskets.txt", "--model", "km", "-k", "2", "-m", "2", "--all-violations") == 1
    shown = capsys.readouterr().out
    assert "1\tmilk, wine" in shown


def test_an_internal_error_is_one_line_and_exit_4(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import setveil.workflows.pipeline

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("bug")

    monkeypatch.setattr(setveil.workflows.pipeline, "run", broken)
    assert publish() == 4
    assert capsys.readouterr().err.startswith("setveil: internal error (ZeroDivisionError)")
    monkeypatch.setenv("SETVEIL_VERBOSE", "1")
    assert publish() == 4
    assert "ZeroDivisionError: bug" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("full", ["stdout", "stderr", "both"])
@pytest.mark.parametrize(
    ("command", "usual"),
    [
        (["verify", "out"], 0),
        (["verify", "out", "--json", "--original", "baskets.txt"], 0),
        (["verify", "broken"], 1),
        (["-v", "verify", "broken", "--original", "baskets.txt"], 1),
        (["verify", "nowhere"], 2),
        (["verify", "out", "--nonsense"], 2),
        (["risk", "baskets.txt"], 0),
        (["risk", "nowhere.csv"], 2),
        (["verify", "baskets.txt", "--model", "km", "-k", "50", "-m", "1"], 1),
        (["--version"], 0),
        (["--help"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_answer_that_nobody_sees_is_neither_fine_nor_broken(
    folder: Path, command: list[str], usual: int, full: str
) -> None:
    assert publish() == 0
    shutil.copytree("out", "broken")
    (Path("broken") / "codebook.csv").write_text("changed")
    run = [sys.executable, "-c", "from setveil.cli.main import main; main()", *command]
    with open("/dev/full", "wb") as nowhere:
        streams = {name: nowhere if full in (name, "both") else subprocess.PIPE for name in ("stdout", "stderr")}
        ended = subprocess.run(run, **streams)  # type: ignore[call-overload]
    seen = subprocess.run(run, capture_output=True)
    assert seen.returncode == usual, seen.stderr
    says_something = {"stdout": seen.stdout, "stderr": seen.stderr, "both": seen.stdout + seen.stderr}[full]
    if says_something:
        assert ended.returncode in (2, 4), (ended.stdout, ended.stderr)
    else:
        assert ended.returncode == usual


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_and_a_closed_pipe_are_not_fine(folder: Path) -> None:
    command = [sys.executable, "-c", "from setveil.cli.main import main; main()", "algorithms"]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (ended.returncode, ended.stderr.count("\n")) == (4, 1)
    read_end, write_end = os.pipe()
    os.close(read_end)
    ended = subprocess.run([*command, "--json"], stdout=write_end, stderr=subprocess.PIPE, text=True)
    os.close(write_end)
    assert (ended.returncode, ended.stderr) == (141, "")


@pytest.mark.parametrize(
    ("command", "status"), [(["risk", "baskets.txt"], 0), (["verify", "out"], 0), (["risk", "-"], 2)]
)
def test_closed_streams_change_no_answer(folder: Path, command: list[str], status: int) -> None:
    assert publish() == 0
    run = [sys.executable, "-c", "from setveil.cli.main import main; main()", *command]
    assert subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *run]).returncode == status
