"""Excel workbooks: read like any other table, and a second time with the standard library alone."""

from __future__ import annotations

import random
import sys
from datetime import date, datetime
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError
from setveil.verify.originals import compare_readings, read_again
from setveil.verify.originals.workbooks import sheet_rows
from tests.shapes import online_retail, uci_hospital
from tests.workbooks import Cell, workbook

pytest.importorskip("fastexcel")
ROWS: list[list[Cell]] = [
    ["who", "day", "when", "amount", "share", "flag", "what"],
    [17, date(2024, 3, 31), datetime(2010, 12, 1, 8, 26), 17850, 250.01, True, 'a, "b"'],
    [18, date(2024, 4, 2), datetime(2010, 12, 1), 10**15, 0.1, False, " x "],
    [19, date(2024, 4, 1), None, 3, 2.0, None, "été"],
    [19, None, None, -7, 1e-7, None, 'a, "b"'],
]
SHOWN = [
    ["who", "day", "when", "amount", "share", "flag", "what"],
    ["17", "2024-03-31", "2010-12-01 08:26:00", "17850", "250.01", "true", 'a, "b"'],
    ["18", "2024-04-02", "2010-12-01", "1000000000000000", "0.1", "false", " x "],
    ["19", "2024-04-01", "", "3", "2", "", "été"],
    ["19", "", "", "-7", "0.0000001", "", 'a, "b"'],
]


def test_cells_as_shown(tmp_path: Path) -> None:
    from setveil.io.workbooks import sheet_as_text

    for first in (1, 4):
        content = workbook({"data": ROWS, "empty": []}, first_row=first)
        assert sheet_rows(content, None) == SHOWN
        text = sheet_as_text(content, None, "x.xlsx").decode()
        import csv
        import io

        assert list(csv.reader(io.StringIO(text))) == SHOWN


@pytest.mark.parametrize("seed", range(3))
def test_the_same_records_as_from_text(seed: int, tmp_path: Path) -> None:
    shape = (uci_hospital, online_retail)[seed % 2](random.Random(seed))
    (tmp_path / "x.csv").write_text(shape.text())
    cells: list[list[Cell]] = [[int(cell) if cell.isdecimal() else cell or None for cell in row] for row in shape.rows]
    (tmp_path / "x.xlsx").write_bytes(workbook({"Sheet 1": [list(shape.names), *cells]}))
    options = {"person": shape.person, "item": shape.items, "missing": "drop", "missing_person": "drop"}
    plain, found = (sv.read(tmp_path / name, **options) for name in ("x.csv", "x.xlsx"))
    assert found.to_lists() == plain.to_lists()
    checked = compare_readings(found)
    assert checked.reading is not None and checked.reading.second is not None
    assert not checked.reading.second.not_compared and checked.reading.second.entries_compared == found.n_occurrences
    assert read_again(found)[1] == []
    assert sv.roles(tmp_path / "x.xlsx").proposal.person == shape.person


def test_a_release_from_a_workbook(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [["id", "item"], *([n // 2, f"i{n % 4}"] for n in range(40))]
    (tmp_path / "x.xlsx").write_bytes(workbook({"a": rows, "notes": [["nothing"]]}))
    command = [
        "anonymize",
        str(tmp_path / "x.xlsx"),
        "-o",
        str(tmp_path / "out"),
        "--model",
        "km",
        "-k",
        "3",
        "-m",
        "1",
    ]
    assert _run(command) == 2
    assert _run([*command, "--sheet", "a", "--algorithm", "aa", "--hierarchy", "fanout:2"]) == 0
    assert (tmp_path / "out" / "published.csv").exists()
    assert _run(["verify", str(tmp_path / "out"), "--original", str(tmp_path / "x.xlsx"), "--sheet", "a"]) == 0


def test_what_is_wrong_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two: list[list[Cell]] = [["id", "item", None, "x"], [1, "a", None, 5], [2, "b", None, 6]]
    below: list[list[Cell]] = [["id", "item"], [1, "a"], [None, None], ["name", "code"], [5, "c"]]
    file = tmp_path / "x.xlsx"
    for content, options, says in (
        (workbook({"a": two}), {}, "x.xlsx:1: column 3 is empty, as between two tables"),
        (workbook({"a": below}), {}, "x.xlsx:3: an empty line"),
        (workbook({"a": [["id", "item"]], "b": [["x"]]}), {}, 'several sheets ("a", "b"); name one with --sheet'),
        (workbook({"a": [["id", "item"]]}), {"sheet": "z"}, 'no sheet "z" among "a"'),
        (workbook({"a": []}), {}, "the sheet is empty"),
        (b"PK\x03\x04 not a workbook", {}, "is not a workbook, or is damaged"),
    ):
        file.write_bytes(content)
        with pytest.raises(InputError) as refusal:
            sv.read(file, **options)
        assert says.replace("--", "") in str(refusal.value).replace("--", "") and "\n" not in str(refusal.value)
    (tmp_path / "x.csv").write_text("id,item\n1,a\n")
    with pytest.raises(InputError, match="not an Excel workbook"):
        sv.read(tmp_path / "x.csv", sheet="a")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(InputError, match=r'pip install "setveil\[excel\]"'):
        sv.read(file)
