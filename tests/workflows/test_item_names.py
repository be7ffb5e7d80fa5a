"""Names beside codes, from a list that the owner gives: codebook, reports, and what the verifier accepts."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.io.hierarchies.names import read_names

CODES = ["E11.9", "E11.8", "E10.1", "I10", "I25.1", "C50.1"]
LIST = "code,description\nE119,Sugar of adults\nE118,Sugar with more\nI10,High pressure\nE11,Sugar\nC501,=1+1\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"P{n:03d},{CODES[(n * step) % 6]}" for n in range(60) for step in (1, 2)]
    Path("visits.csv").write_text("\n".join(["patient,code", *dict.fromkeys(rows)]) + "\n")
    Path("list.csv").write_text(LIST)
    return tmp_path


def anonymize(*more: str) -> int:
    ask = ["--model", "km", "-k", "3", "-m", "2", "--algorithm", "aa", "--hierarchy", "icd10"]
    return _run(["anonymize", "visits.csv", "-o", "out", *ask, *more])


def rows_of(folder: str = "out") -> list[dict[str, str]]:
    with open(f"{folder}/codebook.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_codebook_and_reports_show_names(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert anonymize("--names", "list.csv") == 0
    names = {row["item"]: row["name"] for row in rows_of()}
    assert names["E11.9"] == "Sugar of adults" and names["I10"] == "High pressure" and names["I25.1"] == ""
    assert names["C50.1"] == "'=1+1"  # no spreadsheet runs it
    assert "Sugar of adults" in Path("out.internal/report.html").read_text()
    assert _run(["verify", "out", "--original", "visits.csv"]) == 0
    assert dict(sv.open_release("out").names)["E11.9"] == "Sugar of adults"
    assert 'names = "../list.csv"' in Path("out.internal/policy.toml").read_text()


def test_names_of_categories_and_sensitive_items(here: Path) -> None:
    """In the codebook, the public report and the assessment; published records are the same bytes."""
    rare = [f"Q{n:03d},{code}" for n in range(40) for code in ("I10", "E11.9" if n % 20 else "E11.8")]
    Path("visits.csv").write_text("\n".join(["patient,code", *rare]) + "\n")
    ask = ["--model", "k-anonymity", "-k", "3", "--sensitive", "I10", "--algorithm", "lg", "--hierarchy", "icd10"]
    assert _run(["anonymize", "visits.csv", "-o", "out", *ask]) == 0
    published = Path("out/published.csv").read_bytes()
    assert _run(["anonymize", "visits.csv", "-o", "out", *ask, "--names", "list.csv", "--force"]) == 0
    assert Path("out/published.csv").read_bytes() == published
    categories = {
        row["published_item"]: row["published_name"] for row in rows_of() if row["published_item"] != row["item"]
    }
    assert categories == {"E11.-": "Sugar"}
    assert {row["published_name"] for row in rows_of() if row["published_item"] == row["item"]} == {""}
    public, assessment = Path("out/report.html").read_text(), Path("out.internal/assessment.html").read_text()
    assert "E11.- Sugar" in public and "I10 High pressure" in public
    assert "I10 High pressure" in assessment
    assert _run(["verify", "out", "--original", "visits.csv"]) == 0


def test_without_a_list_nothing_changes(here: Path) -> None:
    assert anonymize("--names", "list.csv") == 0
    published, named = Path("out/published.csv").read_bytes(), rows_of()
    assert anonymize("--force") == 0
    assert Path("out/published.csv").read_bytes() == published
    assert [list(row) for row in rows_of()[:1]] == [["published_item", "item"]]
    assert [(row["published_item"], row["item"]) for row in rows_of()] == [
        (row["published_item"], row["item"]) for row in named
    ]


def test_an_item_has_one_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second name would be a place to hide something in: an item of a local recoding has several rows."""
    chance = random.Random(0)
    rows = [f"P{n:03d},{code}" for n in range(60) for code in chance.sample(CODES, chance.randint(1, 4))]
    Path("visits.csv").write_text("\n".join(["patient,code", *dict.fromkeys(rows)]) + "\n")
    ask = ["--model", "k-anonymity", "-k", "5", "--algorithm", "lg", "--hierarchy", "icd10", "--names", "list.csv"]
    assert _run(["anonymize", "visits.csv", "-o", "out", *ask]) == 0
    times = [row["item"] for row in rows_of()]
    twice = next(item for item in times if times.count(item) > 1)
    lines = Path("out/codebook.csv").read_text().splitlines()
    place = max(n for n, line in enumerate(lines) if f",{twice}," in line)
    lines[place] = lines[place].rpartition(",")[0] + ",hidden"
    Path("out/codebook.csv").write_text("\n".join(lines) + "\n")
    assert _run(["verify", "out"]) == 1
    assert "codebook.csv" in capsys.readouterr().out


def test_names_from_python(here: Path) -> None:
    release = sv.anonymize(
        "visits.csv", "km", k=3, m=1, algorithm="aa", hierarchy="icd10", names={"E11.9": "Sugar", "nobody": "x"}
    )
    assert dict(release.names) == {"E11.9": "Sugar"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ROW_ID,ICD9_CODE,SHORT_TITLE,LONG_TITLE\n1,4019,HTN,Hypertension\n", {"401.9": "Hypertension"}),
        ("401.9;Hypertension\n250.0;Diabetes\n", {"401.9": "Hypertension", "250.0": "Diabetes", "250.-": ""}),
        ('4019\t"Hyper\ntension"\n', {"401.9": "Hyper tension"}),
        ("Hypertension,4019\nDiabetes,250\n", {"401.9": "Hypertension", "250.-": "Diabetes"}),
    ],
)
def test_lists_of_many_shapes(here: Path, text: str, expected: dict[str, str]) -> None:
    Path("names.csv").write_text(text)
    found = read_names("names.csv", expected)
    assert found == {label: name for label, name in expected.items() if name}


@pytest.mark.parametrize(("text", "said"), [("a,b\nc,d\n", "names none of the items"), ("401.9\n", "one column only")])
def test_lists_that_do_not_help(here: Path, text: str, said: str) -> None:
    Path("names.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_names("names.csv", ["401.9"])
