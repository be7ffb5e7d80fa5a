"""Slips in a command line: one plain line with what is wrong and how to fix it, and no words of libraries."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from setveil.cli.main import _run

FOREIGN = re.compile(
    r"Input should|unable to parse|\(s\)|calamine|[Pp]olars|[Pp]ydantic|Traceback|Possible options|Errno"
)
ROWS = "id,item\n1,milk\n1,tea\n2,milk\n2,beer\n3,milk\n3,tea\n4,milk\n4,beer\n"
ANONYMIZE = ["anonymize", "data.csv", "-o", "out"]
KM = [*ANONYMIZE, "--model", "km", "-k", "2", "-m", "1"]
SAID: dict[str, tuple[list[str], str]] = {
    "unknown command": (["anonimize"], 'unknown command "anonimize"; similar: "anonymize". See setveil --help.'),
    "unknown option": ([*KM, "--optoin", "x"], "unknown option --optoin; similar: --option, --population, --to."),
    "a letter with two dashes": ([*KM, "--l", "2"], "unknown option --l; similar: -l."),
    "no input": (["risk"], "the argument INPUT is missing."),
    "no output": (["anonymize", "data.csv"], "the option -o or --output is missing."),
    "one argument more": (["risk", "data.csv", "b"], 'unexpected argument "b"; quote names that contain blanks.'),
    "no value": ([*KM, "--seed"], "--seed needs a value."),
    "a value for a switch": ([*KM, "--force=yes"], "--force takes no value."),
    "no number": ([*KM, "--seed", "x"], "the option --seed must be a whole number."),
    "too small": (["attack", "data.csv", "out", "--targets", "0"], "the option --targets must be at least 1."),
    "too large": (["ui", "--port", "99999999"], "the option --port must be at most 65535."),
    "no fraction": (["suggest", "data.csv", "--seconds", "q"], "the option --seconds must be a number."),
    "items given twice": (
        [*ANONYMIZE, "--model", "degree", "-p", "2", "--sensitive", "tea", "--sensitive", "beer"],
        "--sensitive is given twice; give it once. A list is written in one value, as in --sensitive a,b.",
    ),
    "k given twice": ([*KM, "-k5"], "-k is given twice"),
    "a layout": ([*KM, "--to", "exel"], '--to must be one of long, basket, jsonl, parquet, spmf, fimi, not "exel".'),
    "an environment": ([*KM, "--environment", "home"], "--environment must be 'public', 'agreement' or 'secure', not"),
    "a hierarchy": ([*KM, "--hierarchy", "fanuot:2"], "fanuot:2: is not a file, nor one of fanout:…, levels:…"),
    "a person": (["risk", "data.csv", "--person", "who"], 'no column "who"; correct --person.'),
    "a policy": ([*ANONYMIZE, "--policy", "gone.toml"], "gone.toml: no such file; check the path."),
    "observable items": ([*KM, "--observable", "gone.txt"], 'observable: there is no file "gone.txt"'),
    "a workbook": (["risk", "data.xlsx"], "data.xlsx: is not a workbook, or is damaged; save it again, or as CSV."),
    "Parquet": (["risk", "data.parquet"], "data.parquet: the Parquet data is damaged or incomplete;"),
    "an archive": (["verify", "bad.zip"], "bad.zip: is not a ZIP archive, or is damaged or locked;"),
    "an option of other models": (
        [*KM, "--sensitive", "tea"],
        'model "km" has no option "sensitive"; it has k, k_known, m, observable. Models with it: degree, ',
    ),
    "a folder for a list": ([*KM, "--domain", "."], ".: is a folder; name a file."),
    "no folder for a comparison": (["compare", "data.csv", "-o", "gone/c"], "gone: there is no such folder; create"),
    "a page": (["help", "nope"], 'no page "nope"; `setveil help` lists the pages.'),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(ROWS)
    Path("data.parquet").write_bytes(b"PAR1xxxx")
    Path("bad.zip").write_bytes(b"x")
    with zipfile.ZipFile("data.xlsx", "w") as archive:
        archive.writestr("a.txt", "x")


@pytest.mark.parametrize("slip", SAID)
def test_slips_are_said_in_plain_words(slip: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, said = SAID[slip]
    assert _run(arguments) == 2
    *before, line = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert not FOREIGN.search(line) and all(text.startswith("Read ") for text in before)
    assert not Path("out").exists()


def test_a_list_of_which_no_line_applies_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    Path("lists.txt").write_text("tea,wine\nbeer,gin\n")
    assert _run([*ANONYMIZE, "--model", "constraints", "-k", "2", "--constraints", "lists.txt"]) == 0
    shown = capsys.readouterr()
    assert "every line of the list has an item that is not in the data" in shown.err


def test_options_that_may_be_repeated_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run([*KM, "--option", "raising=none", "--option", "nope=1", "--algorithm", "trim"]) == 2
    assert "twice" not in capsys.readouterr().err
    assert _run([*KM, "--hierarchy", "auto", "--", "-k"]) == 2  # an argument, not an option
    assert "unexpected argument" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["", "anonymize", "generate quest", "hierarchy check", "constraints check"])
def test_every_command_helps(command: str) -> None:
    assert _run([*command.split(), "--help"]) == 0
