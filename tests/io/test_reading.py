"""Reading every layout, by detection and by option."""

from __future__ import annotations

import gzip
import io
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setveil.core import Layout, Transactions
from setveil.errors import InputError, SetveilWarning
from setveil.io import source as source_module
from setveil.io.transactions.reading import read_transactions
from tests.naive import io as naive


def sets(data: Transactions) -> list[set[str]]:
    return [set(row) for row in data.to_lists()]


def read(text: str | bytes, name: str = "data.txt", **options: object) -> Transactions:
    stream = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    stream.name = name
    return read_transactions(stream, **options)  # type: ignore[arg-type]


# -- where from --------------------------------------------------------------------------------------------------------


def test_reads_path_stream_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.dat"
    path.write_bytes(b"1 2\n3\n")
    expected = [["1", "2"], ["3"]]
    assert read_transactions(path).to_lists() == expected
    assert read_transactions(str(path)).to_lists() == expected
    with open(path, "rb") as file:
        assert read_transactions(file).to_lists() == expected
        assert not file.closed
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 2\n3\n")))
    assert read_transactions("-").to_lists() == expected


def test_reads_python_objects() -> None:
    assert read_transactions([["b", "a"], []]).to_lists() == [["a", "b"], []]
    with pytest.raises(InputError, match="for files and frames"):
        read_transactions([["a"]], format="fimi")


@pytest.mark.parametrize(
    ("name", "content", "layout"),
    [
        ("a.dat", "1 3 4\n2\n", "fimi"),
        ("a.txt", "1 3 4 \r\n\r\n2\r\n", "fimi"),
        ("noextension", "12\n13\n", "fimi"),
        ("a.txt", "@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n1\n", "spmf"),
        ("a.txt", "1 -1 2 -1 -2\n", "spmf"),
        ("a.csv", "id,item\n1,milk\n", "long"),
        ("a.csv", "TransactionID;Product\n1;milk\n", "long"),
        ("a.csv", '"id","item"\n"1","milk"\n', "long"),
        ("a.tsv", "patient\tcode\n1\tA00\n", "long"),
        ("a.txt", "patient\tcode\n1\tA00\n", "long"),
        ("a.csv", "who,what\n1,milk\n1,bread\n2,milk\n", "long"),  # ids are numbers, names above them are not
        ("a.csv", "who,what\nann,milk\nann,bread\nbob,milk\n", "long"),  # ids repeat and are not items
        ("a.csv", "milk,bread\nbeer\nmilk,beer,wine\n", "basket"),
        ("a.csv", "milk;bread;beer\nmilk\n", "basket"),
        ("a.txt", "milk\nbeer,milk\n", "basket"),
        ("a.csv", "1,3,4\n2,3\n", "basket"),
        ("a.basket", "milk,bread\n", "basket"),
        ("a.jsonl", '{"items": ["a"]}\n', "jsonl"),
        ("a.ndjson", '["a"]\n', "jsonl"),
        ("a.txt", '{"items": ["a"]}\n', "jsonl"),
        ("a.json", '["a", "b"]\n["c"]\n', "jsonl"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.filterwarnings("ignore:.*is read as the names of the columns:setveil.errors.SetveilWarning")
def test_detects_layout(name: str, content: str, layout: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (name + ".gz" if packed else name)
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    assert read_transactions(path).layout.name == layout
    anonymous = tmp_path / "anonymous"  # gzip is told by its first bytes, too
    anonymous.write_bytes(path.read_bytes())
    assert read_transactions(anonymous, format=layout).to_lists() == read_transactions(path).to_lists()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "1,5\n1,6\n2,5\n"),  # a table without header, or pairs
        ("a.csv", "ann,milk\nann,bread\nbob,milk\n"),
        ("a.tsv", "1\t5\n1\t6\n"),
        ("a.txt", "1\t5\n1\t6\n"),
        ("a.csv", "milk,bread\nbeer,wine\n"),
        ("a.csv", "a,b,c\nd,e,f\n"),
        ("a.csv", "who,what\n1,a\n2,b,c\n"),  # a ragged table, or baskets
        ("a.txt", "milk bread\nbeer\n"),
        ("a.csv", "a,b;c\nb;c,a\n"),  # either delimiter
        ("a.txt", "\n\n"),
    ],
)
def test_asks_where_layouts_cannot_be_told_apart(name: str, content: str) -> None:
    with pytest.raises(InputError, match=rf"^{name}:1: .*(--format|--delimiter)"):
        read(content, name)


# -- fimi and spmf ----------------------------------------------------------------------------------------------------


def test_fimi_keeps_labels_as_they_are() -> None:
    data = read("007 7 7 12\n\n 3\t007 \r\n99999999999999999999 5")
    assert data.to_lists() == [["007", "7", "12"], [], ["3", "007"], ["5", "99999999999999999999"]]
    assert data.vocabulary.labels == ("3", "5", "007", "7", "12", "99999999999999999999")
    assert data.layout == Layout("fimi")
    assert data.ids is None


def test_spmf_names_and_separators() -> None:
    text = "@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=a=b, \n@ITEM=-1=|\n# remark\n1 -1 2 -1 -2\n\n2 1 1\n-2\n"
    assert read(text).to_lists() == [["a=b, ", "milk"], [], ["a=b, ", "milk"], []]
    assert read("1 -1 2 -2\n3 -2", format="spmf").to_lists() == [["1", "2"], ["3"]]
    assert read("% remark\n1 2\n", format="spmf").to_lists() == [["1", "2"]]
    assert read("1 2\n3", format="spmf").layout == Layout("spmf")


@pytest.mark.parametrize(
    ("name", "records", "items", "occurrences"),
    [
        ("BMS1.dat.gz", 59602, 497, 149639),
        ("BMS2.dat.gz", 77512, 3340, 358278),
        ("chess.dat.gz", 3196, 75, 118252),
        ("mushroom.dat.gz", 8124, 112, 170604),
        ("groceries.csv.gz", 9835, 169, 43367),
    ],
)
def test_real_data(name: str, records: int, items: int, occurrences: int, real_data: Callable[[str], Path]) -> None:
    path = real_data(name)
    data = read_transactions(path)
    assert (data.n_records, data.n_items, data.n_occurrences) == (records, items, occurrences)
    text = gzip.decompress(path.read_bytes()).decode()
    if ".csv" in name:
        assert data.layout == Layout("long", ",", "basket", "item")
        assert sets(data) == [set(record) for record in naive.read_long(text).values()]
    else:
        assert sets(data) == naive.as_sets(naive.read_fimi(text))


# -- long -------------------------------------------------------------------------------------------------------------


def test_long_rows_of_one_id_need_not_be_adjacent() -> None:
    text = 'id,item\nb,milk\na,"x, ""y"""\nb,beer\nc,\na,milk\nb,milk\nc,\n'
    data = read(text, keep_ids=True)
    assert data.ids == ("b", "a", "c")
    assert data.to_lists() == [["beer", "milk"], ["milk", 'x, "y"'], []]
    assert read(text).ids is None
    assert data.layout == Layout("long", ",", "id", "item")


def test_long_with_more_columns() -> None:
    text = "day;person;thing;price\n1;ann;milk;2\n1;bob;beer;3\n2;ann;tea;4\n"
    options = {"id_column": "person", "item_column": "thing"}
    for more in ({}, {"format": "long"}, {"delimiter": ";"}):
        data = read(text, "a.csv", **options, **more)
        assert data.to_lists() == [["milk", "tea"], ["beer"]]
        assert data.layout == Layout("long", ";", "person", "thing")
    turned = read("item,id\nmilk,1\n", id_column="id")
    assert turned.to_lists() == [["milk"]] and turned.layout == Layout("long", ",", "id", "item")
    assert read("item,id\nmilk,1\n", item_column="item").to_lists() == [["milk"]]


def test_long_keeps_labels_as_they_are() -> None:
    text = 'id,item\n1,NaN\n1,null\n1,007\n1,7\n1,1e3\n1," a"\n1,é\n1,e\u0301\n1,"a\nb"\n1,"c\r\nd"\n1,\u2028\n'
    assert set(read(text, missing="value").to_lists()[0]) == {
        "NaN",
        "null",
        "007",
        "7",
        "1e3",
        " a",
        "é",
        "e\u0301",
        "a\nb",
        "c\r\nd",
        "\u2028",
    }


def test_blanks_around_labels_stay_and_are_told() -> None:
    with pytest.warns(SetveilWarning, match='1 label differs from another one in white space only: " milk"'):
        data = read("id,item\n1,milk\n2, milk\n")
    assert data.to_lists() == [["milk"], [" milk"]]


def test_byte_order_mark_line_ends_and_empty_lines_at_the_end() -> None:
    assert read(b"\xef\xbb\xbfid,item\r\n1,a\r\n2,b\r\n\r\n\n").to_lists() == [["a"], ["b"]]
    assert read(b"\xef\xbb\xbf1 2\n").to_lists() == [["1", "2"]]
    assert read(b"\xef\xbb\xbf" + b'{"items": ["a"]}\n').to_lists() == [["a"]]


# -- basket and jsonl ------------------------------------------------------------------------------------------------


def test_basket() -> None:
    text = 'milk,"a, b",milk\n\nbeer,,\n,,\n"say ""hi"""\n'
    data = read(text, "a.basket")
    assert data.to_lists() == [["a, b", "milk"], [], ["beer"], [], ['say "hi"']]
    assert data.layout == Layout("basket", ",")
    assert read("a b\nb\n", format="basket", delimiter=" ").to_lists() == [["a", "b"], ["b"]]
    assert read("a\tb\n", format="basket", delimiter="\\t").to_lists() == [["a", "b"]]
    assert read("a b\nb\n", format="basket").to_lists() == [["a b"], ["b"]]
    assert read("a;b\n", format="basket").layout.delimiter == ";"
    assert read('"a,b";c\n', format="basket").to_lists() == [["a,b", "c"]]


def test_json_lines() -> None:
    text = '{"items": ["b", "a", "b"], "age": 3.5}\n ["NaN", 12, 007]\n'
    with pytest.raises(InputError):
        read(text)
    data = read(text.replace("007", '"007"') + "[]\r\n\n\n")
    assert data.to_lists() == [["a", "b"], ["007", "12", "NaN"], []]
    assert data.layout == Layout("jsonl")
    data = read('{"id": "x", "items": ["a"]}\n{"id": 7, "items": []}\n{"id": "x", "items": ["b"]}\n', keep_ids=True)
    assert data.ids == ("x", "7")
    assert data.to_lists() == [["a", "b"], []]
    data = read('{"who": "x", "bought": ["a"]}\n', id_column="who", item_column="bought", keep_ids=True)
    assert (data.ids, data.to_lists()) == (("x",), [["a"]])


# -- the same as the twin, wherever chunks end -------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::setveil.errors.SetveilWarning")
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_twin_on_random_texts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    for _ in range(250):
        monkeypatch.setattr(source_module, "BLOCK", rng.choice([1, 2, 3, 7, 20, 1 << 20]))
        end = rng.choice(["\n", "\r\n"])
        words = [random_label(rng) for _ in range(rng.randint(1, 6))]
        records = [rng.choices(words, k=rng.randint(0, 4)) for _ in range(rng.randint(1, 6))]
        delimiter = rng.choice(",;\t|")

        text = end.join(delimiter.join(quote(rng, label, delimiter) for label in row) for row in records) + end
        assert sets(read(text, format="basket", delimiter=delimiter, labels_as_they_are=True)) == naive.as_sets(
            naive.read_basket(text, delimiter)
        )

        ids = [rng.choice(["1", "2", "x y", "a much longer id", "a much longer ie"]) for _ in records]
        rows = [(who, label) for who, row in zip(ids, records, strict=True) for label in row or [""]]
        rng.shuffle(rows)
        text = end.join(
            ["id" + delimiter + "item"]
            + [quote(rng, who, delimiter) + delimiter + quote(rng, label, delimiter) for who, label in rows]
        )
        expected = naive.read_long(text, delimiter)
        data = read(text + end, format="long", delimiter=delimiter, keep_ids=True, labels_as_they_are=True)
        assert data.ids == tuple(expected)
        assert sets(data) == [set(record) for record in expected.values()]

        numbers = [[str(rng.choice([1, 7, "07", 12345678, 123456789])) for _ in row] for row in records]
        text = end.join(rng.choice(["", " "]) + rng.choice([" ", "\t", "  "]).join(row) + " " for row in numbers)
        assert sets(read(text, format="fimi")) == naive.as_sets(naive.read_fimi(text))
        text = "@ITEM=1=one" + end + end.join(" -1 ".join(row) + rng.choice(["", " -2"]) for row in numbers) + end
        text = "".join(f"@ITEM={name}=n{name}{end}" for name in ("7", "07", "12345678", "123456789")) + text
        assert sets(read(text, format="spmf")) == naive.as_sets(naive.read_spmf(text))

        text = end.join(
            json.dumps(rng.choice([row, {"items": row}]), ensure_ascii=rng.random() < 0.5) for row in records
        )
        assert sets(read(text, format="jsonl", labels_as_they_are=True)) == naive.as_sets(naive.read_json_lines(text))


def random_label(rng: random.Random) -> str:
    return "".join(
        rng.choices(
            ["a", "b", "é", "\U0001f600", ",", ";", '"', "\t", " x ", "\n", "\r\n", "longer than a word"],
            k=rng.randint(1, 3),
        )
    )


def quote(rng: random.Random, text: str, delimiter: str) -> str:
    if rng.random() < 0.3 or set(text) & {delimiter, '"', "\n", "\r"}:
        return '"' + text.replace('"', '""') + '"'
    return text


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"format": "excel"},
            'unknown format "excel"; choose one of long, wide, onehot, table, basket, jsonl, json, parquet, gmt, arff, '
            "spmf, fimi.",
        ),
        ({"delimiter": ",,"}, "--delimiter ',,': give one character, such as , or ; or \\t."),
        ({"delimiter": ""}, "--delimiter '': give one character, such as , or ; or \\t."),
        ({"delimiter": '"'}, "--delimiter '\"': give one character, such as , or ; or \\t."),
        ({"delimiter": "§"}, "--delimiter '§': give one character, such as , or ; or \\t."),
        (
            {"format": "fimi", "delimiter": ","},
            "--delimiter is for long, wide, onehot, table and basket, not for fimi; remove it.",
        ),
        (
            {"format": "fimi", "id_column": "x"},
            "--id-column is for long, wide, onehot, table, jsonl, json and parquet, not for fimi; remove it.",
        ),
        (
            {"format": "arff", "item_column": "x"},  # was taken and had no effect
            "--item-column is for long, jsonl, json and parquet, not for arff; name the columns of items with "
            "--item-columns.",
        ),
        (
            {"format": "basket", "keep_ids": True},
            "--keep-ids is for long, wide, onehot, table, jsonl, json, parquet and gmt, not for basket; remove it.",
        ),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as problem:
        read("1 2\n", **options)
    assert str(problem.value) == message


def test_fimi_needs_no_polars(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "a.dat"
    path.write_text("1 2\n3\n")
    code = (
        "import sys; from setveil.io.transactions.reading import read_transactions; read_transactions(sys.argv[1]);"
        "sys.exit(any(name in sys.modules for name in ('polars', 'numba', 'scipy', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0


def test_keys_of_json_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "meals.jsonl"
    path.write_text('{"meal": 1, "from": "Crete", "food": ["egg", "oil"]}\n{"meal": 2, "food": ["egg"]}\n')
    with pytest.raises(InputError, match="use --item food"):
        read_transactions(path)
    summary = read_transactions(path, item_column="food", id_column="meal").summary()
    assert '2 people (column "meal"), 2 items (column "food"), 3 entries; not used: from' in summary
    assert '2 people, 2 items (column "food")' in read_transactions(path, item_column="food").summary()


def test_an_empty_cell_is_no_value() -> None:
    """An empty cell once took the last value of its column."""
    assert read("sex,region\nf,north\nm,\nf,south\n", format="table").to_lists()[1] == ["sex=m"]
    people = "".join(f"{p},{'1' if p < 8 else ''},{p % 2}\n" for p in range(400))
    data = read("id,hiv,tea\n" + people, format="onehot")
    assert sum("hiv" in record for record in data.to_lists()) == 8
    assert read("a,b\n,1\n1,\n", format="onehot").to_lists() == [["b"], ["a"]]  # its first cell is empty
    assert read("a,b\n,1\n1,\n", format="table").to_lists() == [["b=1"], ["a=1"]]


@pytest.mark.parametrize("layout", ["long", "wide", "table", "onehot"])
def test_words_for_missing_are_asked_about(layout: str) -> None:
    text = {"long": "id,item\n1,NA\n2,x\n3,NA\n"}.get(layout, "id,item,b\n1,NA,1\n2,1,0\n3,NA,?\n")
    told = {"format": layout, "id_column": "id"} | ({} if layout == "long" else {"item_columns": "item,b"})
    with pytest.raises(InputError, match=r'column "item": "NA" in 2 cells.* Use --missing drop'):
        read(text, **told)
    dropped = read(text, missing="drop", **told)
    assert not any("NA" in label or "?" in label for label in dropped.vocabulary) and dropped.n_records == 3
    assert '"NA"' in dropped.summary()
    if layout == "onehot":
        with pytest.raises(InputError, match="neither yes nor no"):
            read(text, missing="value", **told)
    else:
        assert any("NA" in label for label in read(text, missing="value", **told).vocabulary)


def test_one_person_in_a_table_of_one_column_is_not_lost() -> None:
    with pytest.raises(InputError, match="a person without items"):
        read('sex\nf\nm\n""\n', format="table")


def test_json_loses_nobody() -> None:
    """Two keys of one name, and ids that are null, were one person."""
    with pytest.raises(InputError, match="the same key twice"):
        read('{"1": ["a"], "1": ["b"]}', format="json")
    with pytest.raises(InputError, match="must be a whole number or text"):
        read('[{"id": null, "items": ["a"]}, {"id": null, "items": ["b"]}]', format="json")


def test_sparse_arff_does_not_mistake_the_first_value() -> None:
    text = "@relation r\n@attribute a {t,f}\n@attribute b {f,t}\n@data\n{1 t}\n"
    with pytest.raises(InputError, match="omits"):
        read(text, format="arff")
