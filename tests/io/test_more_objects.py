"""Habits of data engineers: an index that holds ids, datasets, folders of Parquet files, DuckDB."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import setveil as sv

LONG = pd.DataFrame({"id": [7, 7, 8, 9], "item": ["a", "b", "a", "b"]})
RECORDS = [["a", "b"], ["a"], ["b"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part, rows in enumerate((LONG[:2], LONG[2:])):
        (tmp_path / f"day={part}").mkdir()
        pa.parquet.write_table(pa.Table.from_pandas(rows, preserve_index=False), tmp_path / f"day={part}" / "x.parquet")
    return tmp_path


def test_an_index_may_hold_the_ids() -> None:
    for frame in (LONG.set_index("id"), LONG.set_index("id")["item"]):
        data = sv.read(frame, keep_ids=True)
        assert data.to_lists() == RECORDS and data.ids == ("7", "8", "9")
    hot = pd.DataFrame({"a": [True, True], "b": [True, False]}, index=pd.Index(["x", "y"], name="person"))
    assert sv.read(hot, keep_ids=True).ids == ("x", "y")
    assert sv.read(hot).to_lists() == [["a", "b"], ["a"]]
    named = LONG.rename_axis("row")  # an index that is no id
    assert sv.read(named).to_lists() == RECORDS
    lists = pd.DataFrame({"basket": [["a"], ["b", "a"]]}, index=pd.Index([3, 4], name="customer"))
    assert sv.read(lists, id_column="customer", keep_ids=True).ids == ("3", "4")


def test_datasets_and_folders_of_parquet_files(folder: Path) -> None:
    dataset: Any = pa.dataset.dataset(sorted(map(str, folder.rglob("*.parquet"))))
    assert sv.read(dataset).to_lists() == sv.read(dataset.scanner()).to_lists() == RECORDS
    assert sv.read(folder).to_lists() == RECORDS
    assert folder.name in sv.read(folder).summary()


def test_folders_without_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(sv.InputError, match="is a folder"):
        sv.read(tmp_path)


def test_a_release_folder_is_not_read_as_data(folder: Path) -> None:
    (folder / "certificate.json").write_text("{}")
    with pytest.raises(sv.InputError, match="is a folder"):
        sv.read(folder)


def test_relations_of_duckdb() -> None:
    assert sv.read(duckdb.from_arrow(pl.from_pandas(LONG).to_arrow())).to_lists() == RECORDS


# -- tables that are no frames ----------------------------------------------------------------------------------------

SOLD = [(1_000 + number // 3, ("milk", "bread", "beer", "tea")[number % 4]) for number in range(90)]
PEOPLE = sv.read(pd.DataFrame(SOLD, columns=["customer", "product"])).to_lists()


def test_rows_of_a_cursor_are_no_sets_of_items() -> None:
    with sqlite3.connect(":memory:") as base:
        base.execute("create table sales (customer int, product text)")
        base.executemany("insert into sales values (?, ?)", SOLD)
        rows = base.execute("select customer, product from sales").fetchall()
        with pytest.raises(sv.InputError, match=r"rows of a table.*--person 1, --item 2.*--labels-as-they-are"):
            sv.read(rows)
        with pytest.raises(sv.InputError, match="look like rows of a table"):
            sv.anonymize((row for row in rows), "km", k=5, m=2)
        assert sv.read(rows, person=1, item=2).to_lists() == PEOPLE
        assert sv.read(base.execute("select customer, product from sales"), person=1, item=2).to_lists() == PEOPLE
        assert "Read Cursor as a long table" in sv.read(base.execute("select * from sales")).summary()
        base.row_factory = sqlite3.Row  # rows that know their columns
        named = base.execute("select customer, product from sales").fetchall()
        assert sv.read(named).to_lists() == PEOPLE
    with pytest.raises(sv.InputError, match="look like rows of a table"):
        sv.read([list(row) for row in rows])
    assert sv.read([(1, 2), (1, 3), (2, 2)], person=1, item=2).to_lists() == [["2", "3"], ["2"]]  # no header again
    numbers = [
        (customer, place % 25 + 1_000) for place, (customer, _) in enumerate(SOLD)
    ]  # ids and items are numbers of one range
    with pytest.raises(sv.InputError, match="databases give such rows"):
        sv.read(numbers)
    with pytest.warns(sv.SetveilWarning, match="ordered by the first one"):
        sv.read([list(row) for row in numbers])
    assert sv.read(rows, labels_as_they_are=True).n_records == len(rows)
    baskets = [["a", "b"], ["b", "c"], ["c", "a"]] * 20  # equally long, and no rows
    assert sv.read(baskets).n_records == 60


def test_a_dict_of_columns_is_no_dict_of_people() -> None:
    columns = {"customer": [row[0] for row in SOLD], "product": [row[1] for row in SOLD]}
    assert sv.read(columns).to_lists() == PEOPLE
    assert sv.read({name: pd.Series(values) for name, values in columns.items()}).to_lists() == PEOPLE
    with pytest.raises(sv.InputError, match="2 lists of 90 values each, as columns of a table"):
        sv.read({"a": columns["customer"], "b": columns["product"]})
    assert sv.read({"a": columns["customer"], "b": columns["product"]}, person="a", item="b").to_lists() == PEOPLE
    assert sv.read({"anna": ["milk", "tea"], "bert": ["milk", "beer"]}).n_records == 2
    assert sv.read({"id": [1, 1, 2], "items": [["a"], ["b"], ["c"]]}).to_lists() == [["a", "b"], ["c"]]


def test_visits_are_not_counted_as_people() -> None:
    visits = pd.DataFrame({"patient": [7, 7, 8], "codes": [["a"], ["b"], ["a"]], "age": [30, 30, 40]})
    wanted = [["a", "b"], ["a"]]
    for frame in (visits, visits[["patient", "codes"]], visits.set_index("patient"), visits.to_dict("records")):
        assert sv.read(frame).to_lists() == wanted
    assert sv.read(pl.from_pandas(visits)).to_lists() == sv.read(pa.Table.from_pandas(visits)).to_lists() == wanted
    known = sv.read(visits, known=["age"]).columns
    assert known is not None and [column.name for column in known] == ["age"]
    with pytest.warns(sv.SetveilWarning, match='"who" is not used. If it identifies people, use --person "who"'):
        sv.read(visits[["patient", "codes"]].rename(columns={"patient": "who"}))


@pytest.mark.parametrize("text", ['{"patient": 7, "items": ["a"]}\n{"patient": 7, "items": ["b"]}\n'])
def test_json_lines_ask_for_the_person(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(sv.InputError, match='"patient" is not used; use --person "patient"'):
        sv.read(tmp_path / "x.jsonl")
    assert sv.read(tmp_path / "x.jsonl", person="patient").n_records == 1
    (tmp_path / "x.json").write_text("[" + ",".join(text.splitlines()) + "]")
    assert sv.read(tmp_path / "x.json").n_records == 1
    (tmp_path / "pairs.json").write_text(json.dumps(SOLD))
    with pytest.raises(sv.InputError, match="look like rows of a table"):
        sv.read(tmp_path / "pairs.json")


def test_objects_with_columns_are_read_twice() -> None:
    rows = [{"customer": customer, "product": product} for customer, product in SOLD]
    for data in (rows, {"customer": [row[0] for row in SOLD], "product": [row[1] for row in SOLD]}):
        record = sv.anonymize(data, "km", k=2, m=1).record
        assert record is not None and record.data.reading is not None
        assert record.data.reading.second is not None and record.data.reading.second.rows_compared == len(PEOPLE)
