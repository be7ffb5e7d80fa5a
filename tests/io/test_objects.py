"""Python objects as transactions."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import setveil as sv
from setveil.core import Layout, Transactions
from setveil.errors import InputError, SetveilWarning
from setveil.io.transactions import columns as columns_module
from setveil.io.transactions.reading import read_transactions
from setveil.io.transactions.reading import read_transactions as from_object
from setveil.verify.originals.comparing import compare_readings

RECORDS = [["milk", "a, b"], [], ["007", "7", "NaN"], ["milk"]]
SORTED = [sorted(record) for record in RECORDS]
LONG = {
    "who": ["x", "x", "y", "z", "z", "z", "w"],
    "what": ["milk", "a, b", "", "007", "7", "NaN", "milk"],
}
MAKERS: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas-string": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "polars": pl.DataFrame,
    "polars-lazy": pl.LazyFrame,
    "arrow": pa.table,
}


@pytest.fixture(params=[1, 2, 500_000])
def slices(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "ROWS_AT_ONCE", request.param)


@pytest.mark.parametrize(
    "obj",
    [
        RECORDS,
        tuple(map(tuple, RECORDS)),
        (iter(record) for record in [*RECORDS]),
        {"x": RECORDS[0], "y": RECORDS[1], 3: RECORDS[2], None: RECORDS[3]},
        [set(record) for record in RECORDS],
        pd.Series(RECORDS),
        pl.Series(RECORDS),
        pa.array(RECORDS),
        pa.chunked_array([RECORDS[:2], RECORDS[2:]]),
        Transactions.from_lists(RECORDS),
    ],
    ids=lambda obj: type(obj).__name__,
)
def test_records(obj: Any) -> None:
    data = from_object(obj)
    assert data.to_lists() == SORTED
    assert data.layout == Layout()
    assert data.ids is None


def test_dict_keys_are_ids() -> None:
    assert from_object({"x": ["a"], 2: []}, keep_ids=True).ids == ("x", "2")
    assert read_transactions({"x": ["a"]}, keep_ids=True).ids == ("x",)


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("maker", MAKERS)
def test_list_column(maker: str) -> None:
    frame = MAKERS[maker]({"age": [1, 2, 3, 4], "bought": RECORDS})
    assert from_object(frame).to_lists() == SORTED
    frame = MAKERS[maker]({"id": [5, 6, 5, 7], "bought": RECORDS})
    data = from_object(frame, keep_ids=True)
    assert data.ids == ("5", "6", "7")
    assert data.to_lists() == [sorted(RECORDS[0] + RECORDS[2]), [], ["milk"]]
    frame = MAKERS[maker]({"a": [["x"]], "b": [["y"]]})
    assert from_object(frame, item_column="b").to_lists() == [["y"]]
    with pytest.raises(InputError, match="several list columns"):
        from_object(frame)


@pytest.mark.usefixtures("slices")
@pytest.mark.parametrize("maker", MAKERS)
def test_long(maker: str) -> None:
    data = from_object(MAKERS[maker](LONG), keep_ids=True)
    assert data.to_lists() == SORTED
    assert data.ids == ("x", "y", "z", "w")
    wide = MAKERS[maker]({"n": list(range(7)), **LONG})
    assert from_object(wide, id_column="who", item_column="what").to_lists() == SORTED
    with pytest.raises(InputError, match="--person and --item"):
        from_object(wide)
    numbers = MAKERS[maker]({"id": [3, 1, 3], "item": [10, 10, 9]})
    assert from_object(numbers, keep_ids=True).to_lists() == [["9", "10"], ["10"]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({key: pd.Categorical(values) for key, values in LONG.items()}),
        pl.DataFrame(LONG).with_columns(pl.all().cast(pl.Categorical)),
        pl.DataFrame(LONG).with_columns(pl.col("what").cast(pl.Enum(sorted(set(LONG["what"]))))),
        pa.table({key: pa.array(values).dictionary_encode() for key, values in LONG.items()}),
    ],
    ids=["pandas", "polars", "enum", "arrow"],
)
def test_long_categories(frame: Any) -> None:
    assert from_object(frame).to_lists() == SORTED


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", [bool, int, float])
def test_one_hot(maker: str, kind: type) -> None:
    columns = {"b": [1, 0, 1], "never": [0, 0, 0], "a": [1, 0, 0]}
    frame = MAKERS[maker]({name: [kind(value) for value in values] for name, values in columns.items()})
    data = from_object(frame)
    assert data.to_lists() == [["a", "b"], [], ["b"]]
    assert data.vocabulary.labels == ("a", "b")


def test_one_hot_of_two_columns_needs_booleans() -> None:
    assert from_object(pd.DataFrame({"a": [True, False], "b": [True, True]})).to_lists() == [["a", "b"], ["b"]]
    with pytest.raises(InputError, match="two columns of 0 and 1 can be"):
        from_object(pd.DataFrame({"a": [1, 0], "b": [1, 1]}))
    assert from_object(pd.DataFrame({10: [True], 9: [True], 8: [False]})).to_lists() == [["9", "10"]]


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.lil_matrix, sp.csr_array])
def test_sparse(make: Any) -> None:
    matrix = make(np.array([[0, 2, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0]]))
    data = from_object(matrix)
    assert data.to_lists() == [["1", "3"], [], ["0"]]
    assert from_object(np.array([[False, True], [False, False]])).to_lists() == [["1"], []]


def test_sparse_entries_are_summed_and_zeros_ignored() -> None:
    stored = sp.coo_matrix(([1, 1, 0], ([0, 0, 1], [5, 5, 5])), shape=(2, 11))
    assert from_object(stored).to_lists() == [["5"], []]


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (5, "cannot read records from int; give a list of lists, a dict or a frame; read() takes files."),
        (["milk"], "record 0 is a string; give a list of items per record."),
        ([["a"], None], "record 1 is null; give an empty list for a record without items."),
        ([["a"], 5], "record 1 is not a list of items but int."),
        ([["a"], {"items": ["a"]}], "record 1 is a dict; give a list of its items."),
        ([["a", None]], "record 0: an item is null or NaN; drop it or give it a name."),
        ([["a"], [float("nan")]], "record 1: an item is null or NaN; drop it or give it a name."),
        ([[1.5]], "record 0: item 1.5 is neither text nor an integer; convert it to text."),
        ([[True]], "record 0: item True is neither text nor an integer; convert it to text."),
        ([[""]], "record 0: an item label is empty; give every item a name."),
        ([["a\0"]], "an item label holds a NUL or an incomplete Unicode character; give it a proper name."),
        ([["\ud800"]], "an item label holds a NUL or an incomplete Unicode character; give it a proper name."),
        ({"x": "abc"}, "record 0 is a string; give a list of items per record."),
        (sp.csr_matrix(np.array([[np.nan]])), "the sparse matrix holds NaN; put 0 or 1."),
        (sp.csr_matrix(np.array([[-1]])), "the sparse matrix holds negative numbers; put 0 or 1."),
        (
            pd.DataFrame({"id": [1, 2], "item": ["a", None]}),
            'DataFrame: row 2, column "item": null or NaN; drop the row or give the item a name.',
        ),
        (
            pd.DataFrame({"id": [1, 2], "item": ["a", float("nan")]}),
            'DataFrame: row 2, column "item": null or NaN; drop the row or give the item a name.',
        ),
        (
            pd.DataFrame({"id": ["x", "y"], "item": [1.0, float("nan")]}),
            'DataFrame: row 2, column "item": null or NaN; drop the row or give the item a name.',
        ),
        (
            pd.DataFrame({"id": ["x", "y"], "item": [1.0, 2.0]}),
            'DataFrame: row 1, column "item": item 1.0 is neither text nor an integer; convert it to text.',
        ),
        (
            pd.DataFrame({"items": [["a"], None]}),
            'DataFrame: row 2, column "items": the list is null; write an empty list for a record without items.',
        ),
        (
            pd.DataFrame({"items": [["a"], ["b", None]]}),
            'DataFrame: row 2, column "items": an item is null or NaN; drop it or give it a name.',
        ),
        (
            pd.DataFrame({"items": [["a"], ["\ud800"]]}),
            'DataFrame: row 2, column "items": an incomplete Unicode character; give the item a proper name.',
        ),
        (pd.DataFrame({"items": [["a"], ["b\0"]]}), 'DataFrame: a NUL character in column "items"; remove it.'),
        (
            pd.DataFrame({"items": [["a"], [""]]}),
            'DataFrame: row 2, column "items": an item label is empty; give every item a name.',
        ),
        (pd.DataFrame(), "DataFrame: the frame has no columns."),
        (
            pd.DataFrame({"a": [True, False], "b": [True, None], "c": [True, True]}),
            'DataFrame: 3 columns ("a", "b", "c") and none holds lists; state which columns hold ids and items with '
            "--person and --item.",
        ),
        (
            pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, float("nan")], "c": [1.0, 1.0]}),
            'DataFrame: row 2, column "b": null or NaN; drop the row or give the item a name.',
        ),
        (
            pd.DataFrame({"id": ["", "y"], "item": ["a", "b"]}),
            'DataFrame: row 1, column "id": the id is empty or longer than 4,096 bytes.',
        ),
        (
            pl.DataFrame({"id": [1, 2], "item": ["a", None]}),
            'DataFrame: row 2, column "item": null or NaN; drop the row or give the item a name.',
        ),
        (
            pl.DataFrame({"id": ["x", "y"], "item": [1.0, float("nan")]}),
            'DataFrame: row 2, column "item": null or NaN; drop the row or give the item a name.',
        ),
        (
            pl.DataFrame({"id": ["x", "y"], "item": [1.0, 2.0]}),
            'DataFrame: row 1, column "item": Float64 is neither text nor a whole number; convert it to text.',
        ),
        (
            pl.DataFrame({"items": [["a"], None]}),
            'DataFrame: row 2, column "items": the list is null; write an empty list for a record without items.',
        ),
        (
            pl.DataFrame({"items": [["a"], [], ["b", None]]}),
            'DataFrame: row 3, column "items": null or NaN; drop the row or give the item a name.',
        ),
        (
            pl.DataFrame({"items": [[], [0.5]]}),
            'DataFrame: row 2, column "items": Float64 is neither text nor a whole number; convert it to text.',
        ),
        (pa.table({"items": [["a"], ["b\0"]]}), 'DataFrame: a NUL character in column "items"; remove it.'),
        (
            pl.DataFrame({"a": [1, None], "b": [1, 0], "c": [0, 0]}),
            'DataFrame: row 2, column "a": null or NaN; drop the row or give the item a name.',
        ),
    ],
)
def test_refusals(obj: Any, message: str) -> None:
    with pytest.raises(InputError) as problem:
        from_object(obj)
    assert str(problem.value) == message


def test_columns_are_for_frames() -> None:
    with pytest.raises(InputError, match="only tables have columns"):
        from_object({("a",)}, item_column="x")
    with pytest.raises(InputError, match='no column "x" among "1"'):
        from_object([["a"]], item_column="x")
    with pytest.raises(InputError, match='no column "x" among "a"; correct --item'):
        from_object(pd.DataFrame({"a": [["x"]]}), item_column="x")
    with pytest.raises(InputError, match="no id column to keep"):
        from_object(pd.DataFrame({"a": [["x"]]}), keep_ids=True)


def test_blanks_are_told() -> None:
    with pytest.warns(SetveilWarning, match="differs from another one in white space only"):
        assert from_object([["a", "a "]]).to_lists() == [["a", "a "]]


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (pl.Int8, [-128, 127, 5]),
        (pl.UInt8, [0, 255, 7]),
        (pl.Int64, [-(2**63), 2**63 - 1, 0]),  # too far apart for a table of all numbers
        (pl.UInt64, [2**64 - 1, 2**64 - 2, 2**64 - 5]),
        (pl.Int32, [-3, 4_000_000, 12]),
    ],
)
def test_lists_of_whole_numbers_of_every_width(kind: Any, numbers: list[int]) -> None:
    lists = [numbers, [], numbers[1:], numbers[:1]]
    read = sv.read(pl.DataFrame({"items": pl.Series(lists, dtype=pl.List(kind))}))
    assert [set(record) for record in read.to_lists()] == [{str(number) for number in some} for some in lists]


@pytest.mark.parametrize("maker", ["pandas", "polars", "arrow"])
def test_every_way_gives_the_same(maker: str) -> None:
    rng = random.Random(3)
    for _ in range(30):
        records = [rng.sample("abcdefgh", rng.randint(0, 5)) for _ in range(rng.randint(1, 12))]
        records[0] = ["a", "b"]
        expected = Transactions.from_lists(records).to_lists()
        make = MAKERS[maker]
        assert from_object(make({"items": records})).to_lists() == expected
        rows = [(str(number), item) for number, record in enumerate(records) for item in record or [""]]
        assert (
            from_object(make({"id": [row[0] for row in rows], "item": [row[1] for row in rows]})).to_lists() == expected
        )
        hot = {item: [item in record for record in records] for item in "abcdefgh"}
        assert from_object(make(hot)).to_lists() == expected
        matrix = sp.csr_matrix(np.array([hot[item] for item in "abcdefgh"]).T)
        assert [["abcdefgh"[int(item)] for item in record] for record in from_object(matrix).to_lists()] == expected


@pytest.mark.parametrize("layout", ["table", "wide", "onehot", "long"])
def test_a_parquet_file_is_read_in_the_layout_that_is_named(tmp_path: Path, layout: str) -> None:
    layouts: dict[str, dict[str, Any]] = {
        "table": {"sex": ["f", "m", None], "region": ["n", "s", "s"]},
        "wide": {"first": ["x", "y", None], "second": ["y", None, "z"]},
        "onehot": {"a": [1, 0, 1], "b": [0, 0, 2]},
        "long": {"p": ["1", "1", "2"], "q": ["x", "y", "x"]},
    }
    columns = layouts[layout]
    expected = {
        "table": [["region=n", "sex=f"], ["region=s", "sex=m"], ["region=s"]],
        "wide": [["x", "y"], ["y"], ["z"]],
        "onehot": [["a"], [], ["a", "b"]],
        "long": [["x", "y"], ["x"]],
    }[layout]
    path = tmp_path / "data.parquet"
    pl.DataFrame(columns).write_parquet(path)
    data = sv.read(path, format=layout)
    assert data.to_lists() == expected
    assert "Parquet" in data.summary()
    assert layout == "long" or f"--format {layout}" in data.summary()
    second = compare_readings(data).reading.second  # type: ignore[union-attr]
    assert second is not None and second.rows_compared == 3 - (layout == "long")
    with pytest.raises(sv.InputError, match="--delimiter is for"):
        sv.read(path, format=layout, delimiter=";")


def test_a_chunked_array_is_read_by_the_library() -> None:
    assert sv.read(pa.chunked_array([RECORDS[:2], RECORDS[2:]])).to_lists() == SORTED


@pytest.mark.parametrize("maker", ["polars", "arrow"])
def test_durations_are_refused_in_one_line(maker: str) -> None:
    frame = MAKERS[maker]({"who": ["x", "y"], "what": ["a", "b"], "stay": [timedelta(days=1), timedelta(days=2)]})
    with pytest.raises(InputError, match='"stay" holds Duration'):
        from_object(frame, person="who", item="what", known_columns="stay")


def test_whole_numbers_of_any_size() -> None:
    rows = [{"who": "x", "what": 2**70}, {"who": "y", "what": 1}]
    assert from_object(rows).to_lists() == [[str(2**70)], ["1"]]
