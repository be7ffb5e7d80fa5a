"""What people expect of any command: switches anywhere, quiet, no colours, completion, a list of commands in full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.cli.main import _run, app

BASKETS = str(Path(__file__).parents[2] / "docs" / "examples" / "baskets.txt")


def test_quiet_stands_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--quiet", "risk", BASKETS, "--known", "1"], ["risk", BASKETS, "--known", "1", "--quiet"]):
        assert _run(words) == 0
        told = capsys.readouterr()
        assert told.err == "" and "known items" in told.out
    assert _run(["risk", BASKETS, "--known", "1"]) == 0
    assert "Read baskets.txt" in capsys.readouterr().err


def test_problems_are_told_in_spite_of_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["risk", "nowhere.csv", "--quiet"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_verbose_stands_anywhere(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SETVEIL_VERBOSE", "")

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("setveil.read", broken)
    assert _run(["risk", BASKETS, "-v"]) == 4
    assert "Traceback" in capsys.readouterr().err


def test_every_command_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "..." not in told.replace("[ARGS]...", "")
    for command in app.registered_commands:
        assert command.short_help and command.short_help in told


def test_pages_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["help"]) == 0
    listed = capsys.readouterr().out
    assert "threat-model" in listed and "frames" in listed
    assert _run(["help", "threat-model"]) == 0
    assert len(capsys.readouterr().out) > 1000
    assert _run(["help", "nonsense"]) == 2
    assert "`setveil help` lists the pages" in capsys.readouterr().err
    assert _run(["help", "anonymize"]) == 2
    assert "setveil anonymize --help" in capsys.readouterr().err


def run(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from setveil.cli.main import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def test_commands_are_completed() -> None:
    done = run([], _SETVEIL_COMPLETE="complete_bash", COMP_WORDS="setveil me", COMP_CWORD="1")
    assert (done.returncode, done.stdout.split()) == (0, ["measure"])


def test_no_color() -> None:
    done = run(["risk", BASKETS, "--known", "1"], NO_COLOR="1", FORCE_COLOR="1")
    assert "\x1b[3" not in done.stdout and "known items" in done.stdout


def test_old_spellings_are_understood_and_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--hierarchy``: what a tree is made of; ``--hierarchy-format``: how its file is read; ``--to``: what is made."""
    tree, edges = str(tmp_path / "tree.csv"), str(tmp_path / "edges.csv")
    assert _run(["hierarchy", "build", BASKETS, "--hierarchy", "fanout:2", "-o", tree]) == 0
    expected = Path(tree).read_bytes()
    assert _run(["hierarchy", "build", BASKETS, "--how", "fanout:2", "-o", tree]) == 0
    assert Path(tree).read_bytes() == expected
    assert "--how is now called --hierarchy" in capsys.readouterr().err
    assert _run(["hierarchy", "convert", tree, "--from", "csv", "--to", "edges", "-o", edges]) == 0
    assert "--from is now called --hierarchy-format" in capsys.readouterr().err
    for command in ("build", "check", "convert"):
        assert _run(["hierarchy", command, "--help"]) == 0
        shown = capsys.readouterr().out
        assert "--from" not in shown and "--how" not in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["risk", "good.csv", "--delimiter", ";"], '";" does not occur; omit --delimiter'),
        (["risk", "cut.csv"], "If this is the last row, the file may be truncated"),
        (["anonymize", "good.csv", "-o", "o", "--model", "km", "-k", "50", "-m", "2"], "3 records have items, fewer"),
        (["anonymize", "good.csv", "-o", "o", "--policy", "."], "is a folder; name the policy file in it"),
        (["anonymize", "good.csv", "-o", "no/o", "--model", "km", "-k", "2", "-m", "1"], "no: there is no such folder"),
        (
            ["anonymize", "good.csv", "-o", "o", "--model", "degree", "-p", "2", "--sensitive", "a"],
            "--option suppress_excess=true",
        ),
        (["suggest", "good.csv"], "With 3 people no release of these data is both safe and useful"),
    ],
)
def test_errors_name_what_to_change(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text("id,item\n1,a\n1,b\n2,a\n2,b\n3,a\n3,b\n")
    Path("cut.csv").write_text("id,item\n1,a\n1,b\n2,a\n2")
    assert _run(words) in (2, 3)
    assert told in capsys.readouterr().err.replace("\n", " ")
    assert not Path("no").exists() and not Path("o").exists()


def test_the_demo_shows_a_decision_without_a_red_light(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run(["demo"]) == 0
    told = capsys.readouterr().out
    assert told.index("Risk of the original data") < told.index("Candidates") < told.index("would publish: candidate C")
    assert "reject" in told and "Residual risk: moderate" in told and "Residual risk: high" not in told
    assert _run(["verify", "demo-out"]) == 0
