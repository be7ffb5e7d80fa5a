"""Writing: every layout, the same bytes for the same data, and the way back."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.core import Layout, Transactions
from setveil.errors import InputError
from setveil.io.formats.registry import written_format
from setveil.io.transactions import parquet as parquet_module
from setveil.io.transactions import writing as writing_module
from setveil.io.transactions.reading import layout_for, read_transactions, read_written, write_transactions
from setveil.io.transactions.writing import write_chunks

LAYOUTS = [
    Layout("spmf"),
    Layout("basket", ","),
    Layout("basket", " "),
    Layout("long", ",", "id", "item"),
    Layout("long", "\t", 'my "id"', "the,item"),
    Layout("jsonl"),
    Layout("parquet", item_column="items"),
    Layout("parquet", id_column="who", item_column="what", long=True),
]
WITH_IDS = [layout for layout in LAYOUTS if layout.name in ("long", "jsonl", "parquet")]

NASTY = "ab ,;|=@#{[07-\\'\"\t\n\ré\U0001f600\ufeff\u2028\x85\x1f"
CHARACTERS = st.sampled_from(NASTY) | st.characters(exclude_categories=["Cs"], exclude_characters="\0")
LABELS = st.sampled_from(["NaN", "null", "true", "007", "7", "-1"]) | st.text(CHARACTERS, min_size=1, max_size=12)


def written(data: Transactions, layout: Layout, path: Path, **options: object) -> bytes:
    write_transactions(data, path, layout, **options)  # type: ignore[arg-type]
    return path.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@pytest.mark.filterwarnings("ignore::setveil.errors.SetveilWarning")
@pytest.mark.parametrize(
    "layout", LAYOUTS, ids=lambda layout: f"{layout.name}{ord(layout.delimiter)}{'-long' * layout.long}"
)
@given(data=st.data())
def test_what_is_written_is_read_back(layout: Layout, data: st.DataObject, folder: Path) -> None:
    labels = data.draw(st.lists(LABELS, min_size=1, max_size=5, unique=True))
    records = data.draw(st.lists(st.lists(st.sampled_from(labels), max_size=5), min_size=1, max_size=6))
    given_data = Transactions.from_lists(records)
    if layout.name == "spmf" and any(set(label) & {"\r", "\n"} for label in given_data.vocabulary):
        with pytest.raises(InputError, match="line breaks"):
            write_transactions(given_data, folder / "a", layout)
        return
    path = folder / ("a" + written_format(layout.name).suffix)
    write_transactions(given_data, path, layout)
    again = read_written(path, layout)
    assert again.to_lists() == given_data.to_lists()
    assert again.vocabulary == given_data.vocabulary
    assert again.layout == layout
    if layout.name in ("long", "jsonl", "parquet"):
        ids = data.draw(st.lists(LABELS, min_size=len(records), max_size=len(records), unique=True))
        write_transactions(given_data, path, layout, ids=ids)
        again = read_written(path, layout, keep_ids=True)
        assert again.to_lists() == given_data.to_lists()
        assert again.ids == tuple(ids)


@pytest.mark.parametrize(
    "layout",
    [Layout("fimi"), *LAYOUTS],
    ids=lambda layout: f"{layout.name}{ord(layout.delimiter)}{'-long' * layout.long}",
)
def test_order_chunks_and_row_groups(layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    data = Transactions.from_lists([[str(rng.randrange(90)) for _ in range(rng.randrange(5))] for _ in range(100)])
    order = np.array(rng.sample(range(100), 60))
    expected = [data.to_lists()[record] for record in order.tolist()]
    whole = written(data, layout, tmp_path / "whole", order=order)
    assert read_written(tmp_path / "whole", layout).to_lists() == expected
    monkeypatch.setattr(writing_module, "CHUNK", 7)
    monkeypatch.setattr(parquet_module, "ROW_GROUP", 7)
    monkeypatch.setattr(parquet_module, "AT_ONCE", 5)
    parts = written(data, layout, tmp_path / "parts", order=order)
    assert written(data, layout, tmp_path / "again", order=order) == parts
    assert read_written(tmp_path / "parts", layout).to_lists() == expected
    if layout.name != "parquet":
        assert parts == whole
    if layout in WITH_IDS:
        ids = [f"id{record}" for record in range(100)]
        write_transactions(data, tmp_path / "ids", layout, order=order, ids=ids)
        assert read_written(tmp_path / "ids", layout, keep_ids=True).ids == tuple(f"id{record}" for record in order)


@pytest.mark.parametrize(
    "layout", [Layout("fimi"), Layout("basket", ";"), Layout("jsonl"), Layout("long")], ids=lambda layout: layout.name
)
def test_chunks_make_the_same_file(layout: Layout, tmp_path: Path) -> None:
    data = Transactions.from_lists([[1, 2], [], [3], [2], []])
    parts = [data.select(np.array(records)) for records in ([0, 1], [2], [3, 4])]
    assert write_chunks(parts, tmp_path / "parts", layout) == 5
    assert (tmp_path / "parts").read_bytes() == written(data, layout, tmp_path / "whole")
    named = [
        Transactions(part.indptr, part.items, part.vocabulary, ids)
        for part, ids in zip(parts, [("a", "b"), ("c",), ("d", "e")], strict=True)
    ]
    if layout.name in ("long", "jsonl"):
        write_chunks(named, tmp_path / "parts", layout)
        assert (tmp_path / "parts").read_bytes() == written(data, layout, tmp_path / "whole", ids=list("abcde"))
    with pytest.raises(InputError, match="piece by piece"):
        write_chunks(parts, tmp_path / "parts", Layout("parquet"))


def test_golden_bytes(tmp_path: Path) -> None:
    data = Transactions.from_lists([["milk", "a,b"], [], ['say "hi"'], ["milk"]])
    numbers = Transactions.from_lists([[10, 2], [], ["007", 7]])
    path = tmp_path / "a"
    assert written(numbers, Layout("fimi"), path) == b"2 10\n\n007 7\n"
    assert written(numbers, Layout("spmf"), path) == b"2 10\n\n007 7\n"
    assert written(data, Layout("spmf"), path) == (
        b'@CONVERTED_FROM_TEXT\n@ITEM=1=a,b\n@ITEM=2=milk\n@ITEM=3=say "hi"\n1 2\n\n3\n2\n'
    )
    assert written(data, Layout("basket"), path) == b'"a,b",milk\n\n"say ""hi"""\nmilk\n'
    assert written(data, Layout("basket", ";"), path) == b'"a,b";milk\n\n"say ""hi"""\nmilk\n'
    assert written(data, Layout("long"), path) == b'id,item\n1,"a,b"\n1,milk\n2,\n3,"say ""hi"""\n4,milk\n'
    assert written(
        data, Layout("long", "\t", "who", "what"), path, order=np.array([3, 1]), ids=["w", "x", "y", "z"]
    ) == (b"who\twhat\nz\tmilk\nx\t\n")
    assert written(data, Layout("jsonl"), path) == (
        b'{"items": ["a,b", "milk"]}\n{"items": []}\n{"items": ["say \\"hi\\""]}\n{"items": ["milk"]}\n'
    )
    assert written(data, Layout("jsonl"), path, order=np.array([1, 3]), ids=["w", "x", "y", "zé"]) == (
        '{"id": "x", "items": []}\n{"id": "zé", "items": ["milk"]}\n'.encode()
    )


def test_parquet_is_plain_parquet(tmp_path: Path) -> None:
    data = Transactions.from_lists([["b", "a"], [], ["é"]])
    path = tmp_path / "a.parquet"
    first = written(data, Layout("parquet", item_column="items"), path, ids=["x", "y", "z"])
    assert pq.read_table(path).to_pylist() == [
        {"id": "x", "items": ["a", "b"]}, {"id": "y", "items": []}, {"id": "z", "items": ["é"]},
    ]  # fmt: skip
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"
    assert first == written(data, Layout("parquet", item_column="items"), path, ids=["x", "y", "z"])
    write_transactions(data, path, Layout("parquet", long=True))
    assert pq.read_table(path).to_pylist() == [
        {"id": 1, "item": "a"}, {"id": 1, "item": "b"}, {"id": 2, "item": ""}, {"id": 3, "item": "é"},
    ]  # fmt: skip
    nothing = Transactions.from_lists([[], []])
    for layout in (Layout("parquet", item_column="items"), Layout("parquet", long=True)):
        write_transactions(nothing, path, layout)
        assert pq.read_table(path).num_rows == 2
        assert read_transactions(path).to_lists() == [[], []]


@pytest.mark.parametrize("n_labels", [1, 2, 3, 8, 9, 255, 256, 257, 70_000])
def test_parquet_of_any_dictionary_size(n_labels: int, tmp_path: Path) -> None:
    data = Transactions.from_lists(
        [list(range(start, min(start + 100, n_labels))) for start in range(0, n_labels, 100)]
    )
    path = tmp_path / "a.parquet"
    write_transactions(data, path, Layout("parquet", item_column="items"))
    assert [row["items"] for row in pq.read_table(path).to_pylist()] == data.to_lists()
    assert read_transactions(path, labels_as_they_are=True).to_lists() == data.to_lists()


def test_without_named_delimiter_written_files_are_read_back(tmp_path: Path) -> None:
    data = Transactions.from_lists([["a;b", "c|d"], ["e,f"], ["g\th"], []])
    for delimiter in ",;\t|":
        for name in ("basket", "long"):
            write_transactions(data, tmp_path / "a", Layout(name, delimiter))
            assert read_transactions(tmp_path / "a", format=name).to_lists() == data.to_lists()


def test_refusals(tmp_path: Path) -> None:
    data = Transactions.from_lists([["a"], ["b"]])
    path = tmp_path / "a"
    for layout, options, message in [
        (Layout("fimi"), {}, "fimi holds whole numbers only"),
        (Layout("fimi"), {"ids": ["1", "2"]}, "cannot contain record ids"),
        (Layout("basket", ",,"), {}, "give one character"),
        (Layout("long"), {"ids": ["1", "1"]}, "distinct"),
        (Layout("long"), {"ids": ["1", ""]}, "not empty"),
        (Layout("long"), {"ids": ["1", "\ud800"]}, "incomplete Unicode"),
        (Layout("excel"), {}, "unknown format"),
    ]:
        with pytest.raises(InputError, match=message):
            write_transactions(data, path, layout, **options)  # type: ignore[arg-type]
        assert not path.exists()
    for label in ("a\0", "\udfff"):
        with pytest.raises(InputError, match="a label holds a NUL or an incomplete Unicode character"):
            write_transactions(Transactions.from_lists([[label]]), path, Layout("jsonl"))
    with pytest.raises(InputError, match="cannot be written"):
        write_transactions(data, tmp_path / "no" / "folder", Layout("jsonl"))


def test_layout_for() -> None:
    assert layout_for("jsonl", Layout("fimi")) == Layout("jsonl")
    assert layout_for("parquet", Layout("fimi")) == Layout("parquet", item_column="items")
    tabbed = Layout("long", "\t", "who", "what")
    assert layout_for("long", tabbed) == tabbed
    assert layout_for("basket", tabbed) == Layout("basket")
    assert layout_for("parquet", tabbed) == Layout("parquet", ",", "who", "what", long=True)
    assert layout_for("long", layout_for("parquet", tabbed)) == Layout("long", ",", "who", "what")
    assert layout_for("long", Layout("parquet", item_column="things")) == Layout("long")
    assert [written_format(name).suffix for name in ("fimi", "spmf", "long", "basket", "jsonl", "parquet")] == [
        ".dat", ".txt", ".csv", ".csv", ".jsonl", ".parquet",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "layout", LAYOUTS, ids=lambda layout: f"{layout.name}{ord(layout.delimiter)}{'-long' * layout.long}"
)
def test_gzipped_files_are_read_back(layout: Layout, tmp_path: Path) -> None:
    import gzip

    data = Transactions.from_lists([["a", "b"], [], ["b"]])
    content = written(data, layout, tmp_path / "a")
    stream = io.BytesIO(gzip.compress(content))
    assert (
        read_transactions(
            stream, format=layout.name, delimiter=layout.delimiter if layout.name in ("basket", "long") else None
        ).to_lists()
        == data.to_lists()
    )
