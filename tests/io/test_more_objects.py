"""Habits of data engineers: an index that holds ids, datasets, folders of Parquet files, DuckDB."""

from __future__ import annotations

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
