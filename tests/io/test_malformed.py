"""A corpus of malformed files: each gives one line that names the file, the line where there is one, and the fix."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

import setveil as sv
from setveil.core import Layout, Transactions
from setveil.errors import InputError
from setveil.io import source
from setveil.io.formats.registry import FORMATS
from setveil.io.transactions.reading import read_transactions, write_transactions


@dataclass(frozen=True)
class Case:
    name: str  # of the file
    content: bytes
    line: int | None  # that the message must name
    says: str  # part of the message
    options: dict[str, object] = field(default_factory=dict)


FIMI, SPMF, LONG, BASKET, JSONL = ({"format": name} for name in ("fimi", "spmf", "long", "basket", "jsonl"))
GOOD = {
    "fimi": ("a.dat", b"1 2 3\n4 5\n6\n", FIMI),
    "spmf": ("a.txt", b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n1\n", SPMF),
    "long": ("a.csv", b"id,item\n1,milk\n2,beer\n", LONG),
    "long-tab": ("a.tsv", b"id\titem\n1\tmilk\n2\tbeer\n", LONG),
    "basket": ("a.csv", b"milk,beer\ntea,milk\nbeer\n", BASKET),
    "jsonl": ("a.jsonl", b'{"items": ["a"]}\n{"items": []}\n["b"]\n', JSONL),
}


def generic_cases() -> list[Case]:
    """What can go wrong in any text layout: each with and without a named format."""
    cases = []
    for name, content, named in GOOD.values():
        lines = content.split(b"\n")
        for options in ({}, named):
            cases += [
                Case(name, b"", None, "the file is empty", options),
                Case(name, content[:-2] + b"\0\n", 3, "NUL byte", options),
                Case(name, b"\0" * 50, 1, "NUL byte", named),
                Case(name, b"\n".join([*lines[:2], lines[2] + b"\xff\xfe", b""]), 3, "not UTF-8", options),
                Case(name, b"\n".join([lines[0], lines[1] + b"\x81", lines[2], b""]), 2, "not UTF-8", options),
                Case(name, "\ufeff".join(["", content.decode()]).encode("utf-16"), None, "UTF-16", options),
                Case(name, b"PK\x03\x04" + content, None, "zip archive", options),
                Case(name, b"BZh9" + content, None, "bzip2", options),
                Case(name, b"\xfd7zXZ\0" + content, None, "xz", options),
                Case(name, b"\x28\xb5\x2f\xfd" + content, None, "Zstandard", options),
                Case(name, content + b"1" * 5000 + b"\n", 4, "longer than", options),
                Case(name, b"7" * 5000, 1, "longer than", options),
            ]  # fmt: skip
    return cases


CASES = [
    *generic_cases(),
    # fimi
    Case("a.dat", b"1 2\n3 x 4\n", 2, '"x" is not a whole number'),
    Case("a.dat", b"1 2\n3 4.5\n", 2, '"4.5" is not a whole number'),
    Case("a.dat", b"1 2\n\n3,4\n", 3, '"3,4" is not a whole number'),
    Case("a.dat", b"1 2\n+3\n", 2, '"+3" is not a whole number'),
    Case("a.dat", "1 2\n１\n".encode(), 2, '"１" is not a whole number'),
    Case("a.dat", "1\u00a02\n".encode(), 1, "is not a whole number", FIMI),
    Case("a.dat", b"1 2\n3 -1\n", 2, "--format spmf", FIMI),
    Case("a.dat", b"1 2\n3 -7\n", 2, '"-7" is not a whole number'),
    Case("a.dat", b"1 2\n-\n", 2, '"-" is not a whole number'),
    Case("a.dat", b"1 2\n3\r\r\n", 2, "carriage return"),
    Case("a.dat", b"1 2\n3\x0b4\n", 2, r'"3\x0b4" is not a whole number'),
    Case("a.dat", b"1 2\n" + b"9" * 50 + b"y\n", 2, "is not a whole number"),
    Case("a.dat", b"milk bread\n", 1, "is not a whole number", FIMI),
    Case("a.dat", b"1\t2\n3\t4\n", 1, "--format fimi"),
    # spmf
    Case("a.txt", b"@ITEM=1=milk\n@ITEM=1=beer\n1\n", 2, "two names"),
    Case("a.txt", b"@ITEM=1=milk\n@ITEM=2=milk\n1\n", 2, "the same name"),
    Case("a.txt", b"@ITEM=1=milk\n1\n1 2\n", 3, "no @ITEM line"),
    Case("a.txt", b"@ITEM=1=milk\n01\n", 2, "item 01 has no @ITEM line"),
    Case("a.txt", b"@ITEM=1\n1\n", 1, "must look like"),
    Case("a.txt", b"@ITEM=1=\n1\n", 1, "must look like"),
    Case("a.txt", b"@ITEM=x=milk\n1\n", 1, "must look like"),
    Case("a.txt", b"@ITEM==milk\n1\n", 1, "must look like"),
    Case("a.txt", b"1 -1 2 -2 3 -1 -2\n", 1, "-2 ends a record"),
    Case("a.txt", b"1 -2\n1 -2 -2\n", 2, "-2 ends a record"),
    Case("a.txt", b"1 -1\n-3\n", 2, '"-3" is not an item'),
    Case("a.txt", b"1 -1\n1-2\n", 2, '"1-2" is not an item'),
    Case("a.txt", b"1 -1\n-1-1\n", 2, '"-1-1" is not an item'),
    Case("a.txt", b"1 -1\n--1\n", 2, '"--1" is not an item'),
    Case("a.txt", b"1 -1 -\n", 1, '"-" is not an item', SPMF),
    Case("a.txt", b"1 -2\n3:10:5\n", 2, '"3:10:5" is not a whole number'),
    Case("a.txt", b"1 -2\n @ITEM=1=a\n", 2, '"@ITEM=1=a" is not a whole number'),
    Case("a.txt", b"@CONVERTED_FROM_TEXT\n@ITEM=1=a\n", None, "no records"),
    Case("a.txt", b"@CONVERTED_FROM_TEXT\rITEM\r1\n2\r3\n", 2, "carriage return"),
    # long
    Case("a.csv", b"id,item\n1,a\n2\n", 3, "the row has 1 field, the header has 2"),
    Case("a.csv", b"id,item\n1,a\n2,b,c\n", 3, "the row has 3 fields, the header has 2"),
    Case("a.csv", b"id,item\n1,a\n2,b,\n", 3, "the row has 3 fields"),
    Case("a.csv", b'id,item\n1,"a\nb"\n2\n', 4, "the row has 1 field"),
    Case("a.csv", b"id,item\n1,a\n\n2,b\n", 3, "empty line between rows"),
    Case("a.csv", b"id,item\n1,a\n,b\n", 3, "the row has no id"),
    Case("a.csv", b'id,item\n1,a\n"",b\n', 3, "the row has no id"),
    Case("a.csv", b"id,item\n1,a\n,\n", 3, "the row has no id"),
    Case("a.csv", b'id,item\n1,5" pipe\n', 2, "a quote inside a field"),
    Case("a.csv", b'id,item\n1,"5" pipe"\n', 2, "text after a closing quote"),
    Case("a.csv", b'id,item\n1,a\n2,"b\n3,c\n', 3, "does not end"),
    Case("a.csv", b'id,item\n1,"a""\n', 2, "does not end"),
    Case("a.csv", b'id,item\n1,"a" \n', 2, "text after a closing quote"),
    Case("a.csv", b'id,item\n1, "a"\n', 2, "a quote inside a field"),
    Case("a.csv", b"id,item\n1,a\rb\n", 2, "carriage return"),
    Case("a.csv", b"id,item\n", 1, "no rows"),
    Case("a.csv", b"sep=;\nid;item\n1;a\n1;b\n", 1, 'a note for a spreadsheet ("sep=")'),
    Case("a.csv", b"sep=;\nid;item\n1;a\n1;b\n", 1, 'a note for a spreadsheet ("sep=")', LONG),
    Case("a.csv", b"id,item\n\n\n", 1, "no rows"),
    Case("a.csv", b"id,item", 1, "no rows"),
    Case("a.csv", b"id\n1\n", 1, "the header has 1 column", LONG),
    Case("a.csv", b"id item\n1 a\n", 1, "the header has 1 column", LONG),
    Case("a.csv", b"id,thing,day\n1,a,2\n", 1, "--person and --item"),
    Case("a.csv", b"id,product,drug\n1,a,2\n", 1, "--person and --item"),
    Case("a.csv", b"id,item,day\n1,a,2\n2,b\n", 3, "the row has 2 fields"),
    Case("a.csv", b"a,b,c\n1,a,2\n", 1, "--person and --item", LONG),
    Case("a.csv", b"id,item,day\n1,a,2\n", 1, 'no column "who"', {"id_column": "who"}),
    Case("a.csv", b"id,item,day\n1,a,2\n", 1, 'no column "what"', {"item_column": "what", "id_column": "id"}),
    Case("a.csv", b"id,thing,day\n1,a,2\n", 1, "add --item ", {"id_column": "id"}),
    Case("a.csv", b"id,item,day\n1,a,2\n", 1, "add --person", {"item_column": "item"}),
    Case("a.csv", b"id,item,id\n1,a,2\n", 1, '"id" 2 times', {"id_column": "id", "item_column": "item"}),
    Case("a.csv", b"id,item,day\n1,a,2\n", 1, "the same column", {"id_column": "id", "item_column": "id"}),
    Case("a.csv", b"id,item,day\n1,a,2\n1,b\n", 3, "the row has 2 fields", {"id_column": "id", "item_column": "item"}),
    Case("a.csv", b"id;item\n1;a\n", 1, "--delimiter", {"format": "long", "delimiter": ","}),
    Case("a.csv", b"item,id\na,1\nb,1\n", 1, "--person and --item"),
    Case("a.csv", b"1,5\n1,6\n2,5\n", 1, "--format"),
    Case("a.csv", b"1,5\n1,6\n2,5\n", 1, "the first line holds a number", LONG),
    Case("a.csv", b"ann,milk\nann,beer\n", 1, "the first line looks like a row", LONG),
    Case("a.csv", b"a,b;c\n1,2;3\n", 1, "--delimiter", LONG),
    Case("a.csv", b"id,item\n" + b"x" * 4097 + b",a\n", 2, "the id is longer than"),
    Case("a.tsv", b"id,item\n1,a\n", 1, "--format"),
    Case("a.tsv", b"id\titem\n1\ta\tb\n", 2, "the row has 3 fields"),
    # basket
    Case("a.csv", b"a,b\nc,,a\n", 2, "an empty field before an item", BASKET),
    Case("a.csv", b"a,b\n,c,a\n", 2, "an empty field before an item", BASKET),
    Case("a.csv", b'a,b\na\n"",c\n', 3, "an empty field before an item", BASKET),
    Case("a.csv", b"a  b\n", 1, "an empty field before an item", {"format": "basket", "delimiter": " "}),
    Case("a.csv", b'a,b\nc"d,a\n', 2, "a quote inside a field", BASKET),
    Case("a.csv", b'a,b\n"c"d,a\n', 2, "text after a closing quote", BASKET),
    Case("a.csv", b'a,b\n"c,a\nd\n', 2, "does not end", BASKET),
    Case("a.csv", b"a,b\nc\rd\n", 2, "carriage return", BASKET),
    Case("a.csv", b"a,b;c\nb;c,a\n", 1, "--delimiter", BASKET),
    Case("a.csv", b"a,b\nc,d\n", 1, "--format"),
    Case("a.csv", b"a,b,c\nd,e\n", 1, "--format"),
    Case("a.txt", b"milk bread\n", 1, "--format"),
    Case("a.txt", b"\n\n\n", 1, "--format"),
    # jsonl
    Case("a.jsonl", b'{"items": ["a"]}\n{"items": ["a"]\n', 2, "does not end on its line"),
    Case("a.jsonl", b'{"items": ["a"]}\n{"items": ["a"}\n', 2, "invalid JSON at character 15"),
    Case("a.jsonl", b'{"items": ["a"]} x\n', 1, "something follows"),
    Case("a.jsonl", b'{"items": ["a"]} {"items": []}\n', 1, "something follows"),
    Case("a.jsonl", b"['a']\n", 1, "invalid JSON at character 2"),
    Case("a.jsonl", b"milk\n", 1, "invalid JSON at character 1"),
    Case("a.jsonl", b'["a",]\n', 1, "invalid JSON"),
    Case("a.jsonl", b'["a\tb"]\n', 1, "invalid JSON"),
    Case("a.jsonl", b'["\\x"]\n', 1, "invalid JSON"),
    Case("a.jsonl", b'["a"]\n[007]\n', 2, "invalid JSON"),
    Case("a.jsonl", b'{\n  "items": ["a"]\n}\n', 1, "does not end on its line"),
    Case("a.json", b'[["a"], [["b"]]]\n', None, "record 1 holds something else"),
    Case("a.jsonl", b'"abc"\n', 1, "neither an object"),
    Case("a.jsonl", b"[]\n5\n", 2, "neither an object"),
    Case("a.jsonl", b"[]\nnull\n", 2, "neither an object"),
    Case("a.jsonl", b'{"item": ["a"]}\n', 1, 'no "items"'),
    Case("a.jsonl", b'{"items": ["a"]}\n', 1, 'no "bought"', {"item_column": "bought"}),
    Case("a.jsonl", b'{"items": "a"}\n', 1, "not an array"),
    Case("a.jsonl", b'{"items": 7}\n', 1, "not an array"),
    Case("a.jsonl", b'{"items": null}\n', 1, "not an array"),
    Case("a.jsonl", b'{"items": {"a": 1}}\n', 1, "not an array"),
    Case("a.jsonl", b'{"items": ["a"], "items": ["b"]}\n', 1, "the same key twice"),
    Case("a.jsonl", b'["a"]\n["b", null]\n', 2, "null or NaN"),
    Case("a.jsonl", b'["a"]\n[NaN]\n', 2, "null or NaN"),
    Case("a.jsonl", b'["a"]\n[1.5]\n', 2, "a decimal number"),
    Case("a.jsonl", b'["a"]\n[1e3]\n', 2, "a decimal number"),
    Case("a.jsonl", b'["a"]\n[Infinity]\n', 2, "a decimal number"),
    Case("a.jsonl", b'["a"]\n[true]\n', 2, "true or false"),
    Case("a.jsonl", b'["a"]\n[{}]\n', 2, "an object"),
    Case("a.jsonl", b'["a"]\n[""]\n', 2, "an item label is empty"),
    Case("a.jsonl", b'["a"]\n["b\\u0000"]\n', 2, "a NUL or an incomplete Unicode character"),
    Case("a.jsonl", b'["a"]\n["\\ud800"]\n', 2, "a NUL or an incomplete Unicode character"),
    Case("a.jsonl", b'["a"]\n\n["b"]\n', 2, "an empty line"),
    Case("a.jsonl", b"\n\n", None, "no records"),
    Case("a.jsonl", b'{"id": 1, "items": []}\n{"items": []}\n', 2, 'has no "id"'),
    Case("a.jsonl", b'{"items": []}\n{"id": 1, "items": []}\n', 2, 'has an "id"'),
    Case("a.jsonl", b'{"id": 1, "items": []}\n[]\n', 2, 'has no "id"'),
    Case("a.jsonl", b'{"id": null, "items": []}\n', 1, 'has no "id"', {"id_column": "id"}),
    Case("a.jsonl", b'{"id": [1], "items": []}\n', 1, '"id" must be'),
    Case("a.jsonl", b'{"id": 1.5, "items": []}\n', 1, '"id" must be'),
    Case("a.jsonl", b'{"id": true, "items": []}\n', 1, '"id" must be'),
    Case("a.jsonl", b'{"id": "", "items": []}\n', 1, '"id" must be'),
    Case("a.jsonl", b'{"id": "\\ud800", "items": []}\n', 1, '"id" must be'),
    Case("a.jsonl", b'["a"]\n', 1, "--keep-ids", {"keep_ids": True}),
]


def parquet(**columns: object) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns, strict=False).write_parquet(file)
    return file.getvalue()


WHOLE = parquet(items=[["a", "b"], ["c"]] * 50)
CASES += [
    Case("a.parquet", b"", None, "the file is empty"),
    Case("a.parquet", b"id,item\n1,a\n", None, "is not a Parquet file"),
    Case("a.csv", b"id,item\n1,a\n", None, "is not a Parquet file", {"format": "parquet"}),
    Case("a.parquet", b"PAR1", None, "damaged"),
    Case("a.parquet", b"PAR1PAR1", None, "damaged"),
    Case("a.parquet", b"PAR1" + b"garbage" * 20 + b"PAR1", None, "damaged"),
    Case("a.parquet", WHOLE[:-20], None, "damaged"),
    Case("a.parquet", WHOLE[: len(WHOLE) // 2], None, "damaged"),
    Case("a.parquet", WHOLE[:-8] + b"\xff\xff\xff\x7fPAR1", None, "damaged"),
    Case("a.parquet", WHOLE[:20] + bytes(len(WHOLE) - 20 - 400) + WHOLE[-400:], None, "damaged"),
    Case("a.parquet", parquet(items=pl.Series([], dtype=pl.List(pl.String))), None, "no records"),
    Case("a.parquet", parquet(items=[["a"], None]), None, "row 2"),
    Case("a.parquet", parquet(items=[["a"], ["b", None]]), None, "row 2"),
    Case("a.parquet", parquet(items=[["a"], ["b", ""]]), None, "row 2"),
    Case("a.parquet", parquet(items=[[1.0], [float("nan")]]), None, "row 2"),
    Case("a.parquet", parquet(items=[[1.0], [0.5]]), None, "Float64"),
    Case("a.parquet", parquet(items=[[True]]), None, "Boolean"),
    Case("a.parquet", parquet(items=[[["a"]]]), None, "List(String)"),
    Case("a.parquet", parquet(items=[["a\0"]]), None, "NUL"),
    Case("a.parquet", parquet(a=[["a"]], b=[["b"]]), None, "several list columns"),
    Case("a.parquet", parquet(a=["a"]), None, "--person and --item"),
    Case("a.parquet", parquet(a=[1], b=["b"], c=["c"]), None, "--person and --item"),
    Case("a.parquet", parquet(id=[1, 2], item=["a", None]), None, "row 2"),
    Case("a.parquet", parquet(id=[1, None], item=["a", "b"]), None, "row 2"),
    Case("a.parquet", parquet(id=["1", ""], item=["a", "b"]), None, "row 2"),
    Case("a.parquet", parquet(id=[1, 2], item=[0.5, float("nan")]), None, "row 2"),
    Case("a.parquet", parquet(id=[1, 2], item=[0.5, 1.5]), None, "Float64"),
    Case("a.parquet", parquet(id=[0.5, 1.5], item=["a", "b"]), None, "Float64"),
    Case("a.parquet", parquet(id=[1], item=["a"]), None, 'no column "who"', {"id_column": "who"}),
    Case("a.parquet", parquet(id=[1], item=["a"]), None, 'no column "what"', {"item_column": "what"}),
    Case("a.parquet", parquet(id=[1], item=["a"]), None, "the same column", {"id_column": "id", "item_column": "id"}),
    Case("a.parquet", parquet(items=[["a"]]), None, "no id column to keep", {"keep_ids": True}),
    Case("a.parquet", parquet(items=[["a"]]), None, "--delimiter", {"delimiter": ","}),
]  # fmt: skip


def check(path: Path, options: dict[str, object], line: int | None, says: str) -> None:
    with pytest.raises(InputError) as problem:
        read_transactions(path, **options)  # type: ignore[arg-type]
    message = str(problem.value)
    assert problem.value.exit_code == 2
    assert "\n" not in message and "\r" not in message
    assert says in message
    assert message.endswith(".")
    if message.startswith("--"):
        assert says.startswith("--")  # an option is wrong whatever the file
    else:
        assert message.startswith(str(path) + (":" if line is None else f":{line}: "))
    assert problem.value.__cause__ is None


@pytest.fixture(autouse=True)
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_LINE", 4500)
    monkeypatch.setattr(source, "BLOCK", 1000)


def test_corpus_is_large() -> None:
    assert 2 * len(CASES) >= 400


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("number", range(len(CASES)))
def test_malformed(number: int, packed: bool, tmp_path: Path) -> None:
    case = CASES[number]
    path = tmp_path / (case.name + ".gz" * packed)
    path.write_bytes(gzip.compress(case.content) if packed else case.content)
    check(path, case.options, case.line, case.says)


@pytest.mark.parametrize("named", [False, True], ids=["detected", "named"])
@pytest.mark.parametrize("layout", GOOD)
@pytest.mark.parametrize("fault", ["cut", "cut early", "changed", "checksum", "garbage after", "no gzip", "only magic"])
def test_damaged_gzip(layout: str, fault: str, named: bool, tmp_path: Path) -> None:
    name, content, options = GOOD[layout]
    lines = content.split(b"\n")[1:-1] if layout.startswith("long") else content.split(b"\n")[:-1]
    packed = gzip.compress(content + b"\n".join(random.Random(1).choices(lines[-2:], k=5000)) + b"\n")
    damaged, says = {
        "cut": (packed[:-20], "ends too early"),
        "cut early": (packed[:15], "ends too early"),
        "changed": (packed[:60] + b"\xff" * 20 + packed[80:], "damaged"),
        "checksum": (packed[:-8] + b"1234" + packed[-4:], "damaged"),
        "garbage after": (packed + b"garbage", "damaged"),
        "no gzip": (content, "holds no gzip data"),
        "only magic": (b"\x1f\x8b", "ends too early"),
    }[fault]
    path = tmp_path / (name + ".gz")
    path.write_bytes(damaged)
    check(path, options if named else {}, None, says)


def test_gzip_faults_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.dat.gz"
    text = "".join(f"{number}\n" for number in random.Random(1).choices(range(10**9), k=20_000)).encode()
    packed = gzip.compress(text)
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=rf"^{path}:(\d+): the gzip data ends too early") as problem:
        read_transactions(path)
    line = int(str(problem.value).removeprefix(str(path)).split(":")[1])
    assert 8_000 < line < 12_000


def test_members_and_padding_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.dat.gz"
    path.write_bytes(gzip.compress(b"1 2\n3") + gzip.compress(b" 4\n") + gzip.compress(b"") + b"\0" * 100)
    assert read_transactions(path).to_lists() == [["1", "2"], ["3", "4"]]


@pytest.mark.parametrize("suffix", [".dat", ".txt", ".csv", ".jsonl", ".parquet", ".dat.gz", ""])
@pytest.mark.parametrize("named", [None, "fimi", "parquet"])
def test_no_file_a_folder_no_permission(
    suffix: str, named: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("a" + suffix)
    check(path, {"format": named}, None, "no such file; check the path.")
    check(path / "b", {"format": named}, None, "no such file; check the path.")
    path.mkdir()
    check(path, {"format": named}, None, "is a folder; name a file.")
    path.rmdir()
    path.write_bytes(b"1 2\n")
    check(path / "b", {"format": named}, None, "cannot be opened (Not a directory); check the path.")
    path.chmod(0)
    if os.access(path, os.R_OK):  # an administrator may read everything

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    check(path, {"format": named}, None, "no permission to read the file")


@pytest.mark.parametrize("name", ["", "a\nb", "a\0b", "x" * 5000])
def test_odd_paths(name: str) -> None:
    with pytest.raises(InputError) as problem:
        read_transactions(name)
    assert "\n" not in str(problem.value) and str(problem.value).endswith(".")


def test_text_streams_are_refused() -> None:
    with pytest.raises(InputError, match=r"^<stream>: the stream is open for text; open it in binary mode\.$"):
        read_transactions(io.StringIO("1 2\n"))
    closed = io.BytesIO(b"1 2\n")
    closed.close()
    with pytest.raises(InputError, match=r"^<stream>: cannot be read"):
        read_transactions(closed)


GOLDEN = [
    (
        "a.dat",
        b"1 2\n3 x 4\n",
        {},
        'a.dat:2: "x" is not a whole number, as fimi needs them; use --format basket for names.',
    ),
    ("a.dat", b"1 2\n3\0\n", {}, "a.dat:2: a NUL byte; the file is damaged or not a text file."),
    (
        "a.csv",
        b"id,item\n1,caf\x81\n",
        {},
        "a.csv:2: bytes that are not UTF-8; name the encoding, as in --encoding latin-1, or save the file as UTF-8.",
    ),
    ("a.csv", b"", {}, "a.csv: the file is empty."),
    (
        "a.csv",
        b"id,item\n1,a\n2,b,c\n",
        {},
        "a.csv:3: the row has 3 fields, the header has 2; quote fields that contain the delimiter, or set --delimiter.",
    ),
    (
        "a.csv",
        b'id,item\n1,5" pipe\n',
        {},
        "a.csv:2: a quote inside a field that is not quoted; put the field in quotes and double the quotes in it.",
    ),
    (
        "a.csv",
        b'id,item\n1,"a\n',
        {},
        "a.csv:2: a quoted field does not end; close the quote. If this is the last line, the file may be truncated.",
    ),
    (
        "a.csv",
        b"id,thing,day\n1,a,2\n",
        {"format": "long"},
        'a.csv:1: the header has 3 columns ("id", "thing", "day"); state which columns hold ids and items with '
        "--person and --item.",
    ),
    (
        "a.csv",
        b"id,item\n1,a\n",
        {"id_column": "who"},
        'a.csv:1: the header has 2 columns ("id", "item") and no column "who"; correct --person.',
    ),
    (
        "a.csv",
        b"milk,bread\nbeer,wine\n",
        {},
        "a.csv:1: rows can be ids and items, or baskets of two items; use --format long (with "
        "--no-header if the first line is a row) or --format basket.",
    ),
    (
        "a.txt",
        b"milk bread\nbeer\n",
        {},
        "a.txt:1: the layout cannot be detected; use --format with one of long, wide, onehot, table, basket, jsonl, "
        'json, parquet, gmt, arff, spmf, fimi, or --format basket --delimiter " " for words between blanks.',
    ),
    ("a.csv", b"a,,b\n", {"format": "basket"}, "a.csv:1: an empty field before an item; name the item or remove it."),
    (
        "a.csv",
        b"a,b;c\n",
        {"format": "basket"},
        "a.csv:1: the delimiter cannot be detected; name one of , ; with --delimiter.",
    ),
    ("a.txt", b"@ITEM=1=milk\n1 2\n", {}, 'a.txt:2: item 2 has no @ITEM line; add "@ITEM=2=name".'),
    (
        "a.jsonl",
        b'{"items": ["a"}\n',
        {},
        "a.jsonl:1: invalid JSON at character 15 (Expecting ',' delimiter); write one object or array per line.",
    ),
    ("a.jsonl", b'{"items": [null]}\n', {}, "a.jsonl:1: an item is null or NaN; drop it or give it a name."),
    ("a.jsonl", b'{"basket": []}\n', {}, 'a.jsonl:1: the object has no "items"; use --item basket.'),
    ("a.parquet", b"not parquet", {}, "a.parquet: is not a Parquet file; name its layout with --format."),
    (
        "a.dat.gz",
        gzip.compress(b"1 2\n3 4\n", mtime=0)[:-9],
        {},
        "a.dat.gz:3: the gzip data ends too early; copy or compress the file again.",
    ),
    ("a.dat", b"1 2\n" + b"1 " * 3000, {}, "a.dat:2: the line is longer than 0 MiB; write one record per line."),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), GOLDEN, ids=range(len(GOLDEN)))
def test_golden_messages(
    name: str, content: bytes, options: dict[str, object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    with pytest.raises(InputError, match="^" + re.escape(message) + "$"):
        read_transactions(name, **options)  # type: ignore[arg-type]


class Endless(io.RawIOBase):
    """Two gigabytes of one line."""

    name = "endless.dat"
    n_read = 0

    def __init__(self, pattern: bytes) -> None:
        self.pattern = pattern

    def read(self, size: int = -1) -> bytes:
        self.n_read += size
        return self.pattern * (size // len(self.pattern)) if self.n_read <= 2**31 else b""


def test_deep_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with pytest.raises(
        InputError, match=r"^<stream>:1: the JSON is nested too deeply; write one list of items per line\.$"
    ):
        read_transactions(io.BytesIO(b"[" * 300_000))


@pytest.mark.parametrize("named", [None, "fimi", "long", "basket", "jsonl"])
@pytest.mark.parametrize("pattern", [b"1 ", b"a,", b'"'])
def test_one_endless_line(pattern: bytes, named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(source, "MAX_LINE", 1 << 22)
    monkeypatch.setattr(source, "BLOCK", 1 << 20)
    stream = Endless(pattern)
    with pytest.raises(
        InputError, match=r"^endless\.dat:1: the line is longer than 4 MiB; write one record per line\.$"
    ):
        read_transactions(stream, format=named)  # type: ignore[arg-type]
    assert stream.n_read <= 1 << 23


def test_a_quote_that_never_ends_is_found_in_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Endless(b'1,"a\n')
    stream.n_read = 2**31 - 100_000
    message = r"^endless\.dat:1: .*(does not end|after a closing quote|longer than)"
    with pytest.raises(InputError, match=message):
        read_transactions(stream, format="basket", delimiter=",")  # type: ignore[arg-type]
    text = b"id,item\n1,a\n" + b'2,"b\n' + b"3,c\n" * 5000
    with pytest.raises(InputError, match=r"^<stream>:3: a quoted field does not end"):
        read_transactions(io.BytesIO(text), format="long")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::setveil.errors.SetveilWarning")
def test_broken_files_are_read_or_refused(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Random damage to good files: whatever comes, it is data or an InputError, and nothing is printed."""
    rng = random.Random(seed)
    data = Transactions.from_lists([["milk", "a, b"], [], ['say "hi"', "é"], ["milk", "7"]])
    layouts = [
        Layout("spmf"),
        Layout("basket"),
        Layout("long"),
        Layout("jsonl"),
        Layout("parquet", item_column="items"),
    ]
    good = [(layout.name, b"") for layout in layouts]
    for place, layout in enumerate(layouts):
        write_transactions(data, tmp_path / "a", layout)
        good[place] = (layout.name, (tmp_path / "a").read_bytes())
    good.append(("fimi", b"1 2 3\n\n4 07\n"))
    pieces = [
        b'"',
        b",",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"\t",
        b"-1",
        b"-2",
        b"@ITEM=",
        b"{",
        b"]",
        b"null",
        b"1.5",
        b" ",
        b"\xef\xbb\xbf",
    ]
    outcomes = {"read": 0, "refused": 0}
    for _ in range(400):
        name, content = rng.choice(good)
        if rng.random() < 0.2:
            content = gzip.compress(content)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(content) + 1)
            left, right = content[:place], content[place:]
            content = rng.choice(
                [
                    left + rng.choice(pieces) + right,
                    left + right[rng.randint(1, 6) :],
                    left + rng.randbytes(1) + right[1:],
                    left or b"x",
                ]
            )
        monkeypatch.setattr(source, "BLOCK", rng.choice([3, 50, 1 << 20]))
        for format in (None, name):
            try:
                read_transactions(io.BytesIO(content), format=format)
                outcomes["read"] += 1
            except InputError as problem:
                assert str(problem).startswith("<stream>:") and "\n" not in str(problem)
                outcomes["refused"] += 1
    assert min(outcomes.values()) > 50
    assert capfd.readouterr() == ("", "")


POOLS = [
    ["0", "1"],
    ["t", "?"],
    ["a", "b", "c", ""],
    ["1", "2", "3", "10"],
    ["x|y", "y|z", "x"],
    ["E11 I10", "I10"],
    ["", "2.5", "3"],
]
HEADERS = [[], ["id", "dx1", "dx2", "age", "x"], ["userId", "movieId", "rating", "t", "z"], ["a", "b", "c", "d", "e"]]
SAID: dict[str, list[object]] = {
    "format": [*FORMATS, None, None, None],
    "no_header": [True, False, False],
    "split": ["|", " ", None, None],
    "strip": [True, False],
    "id_column": ["1", "id", "x", None, None, None],
    "item_column": ["2", "item", None, None, None, None],
    "item_columns": ["*", "dx*", None, None, None, None],
    "keep_ids": [True, False, False],
    "labels_as_they_are": [True, False],
}


@pytest.mark.filterwarnings("ignore::setveil.errors.SetveilWarning")
@pytest.mark.parametrize("seed", range(3))
def test_no_table_leads_to_anything_but_records_or_one_line(seed: int) -> None:
    rng = random.Random(seed)
    n_read = 0
    for _ in range(400):
        delimiter, width, pool = rng.choice(",;\t| "), rng.randint(1, 5), rng.choice(POOLS)
        rows = [[rng.choice([*pool, str(row)]) for _ in range(width)] for row in range(rng.randint(0, 12))]
        header = rng.choice(HEADERS)[:width]
        text = "".join(delimiter.join(row) + "\n" for row in ([header] if header else []) + rows)
        stream = io.BytesIO(text.encode())
        stream.name = rng.choice(["a.csv", "a.txt", "a.json", "a.arff", "a.gmt", "a.basket", "a.dat", "a.tsv"])
        options = {name: rng.choice(values) for name, values in SAID.items()}
        try:
            data = read_transactions(stream, **options)  # type: ignore[arg-type]
        except InputError as problem:
            assert "\n" not in str(problem) and str(problem).endswith(".")
        else:
            n_read += 1
            assert "" not in data.vocabulary and data.n_records <= len(rows) + 1
            assert data.summary().endswith(".") and "\n" not in data.summary()
    assert n_read > 10


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (b"id,item\n1,a\n<<<<<<< HEAD\n2,b\n=======\n2,c\n>>>>>>> other\n", 3, "merge conflict"),
        (b"<<<<<<< HEAD\nid,item\n1,a\n", 1, "merge conflict"),
        (b"id,item\n" + b"1,a\n2,b\n" * 9 + b"Total,18\n", 20, '"Total", as a total or a note'),
        (b"id,item\n" + b"1,a\n2,b\n" * 9 + b"(18 rows affected),\n", 20, "as a total or a note"),
        (b"id,item\n" + b"1,a\n2,b\n" * 9 + b"Average,2.3\n", 20, "as a total or a note"),
        (b"id,item\n" + b"1,a\n2,b\n" * 9 + b"Page 1 of 3,\n", 20, "as a total or a note"),
        (b"id,item,x\n" + b"1,a,2\n" * 9 + b"Source: hospital register 2020,,\n", 11, "as a total or a note"),
        (b"id,item,x\n" + b"1,a,2\n" * 9 + b",,\nNumbers are preliminary until May,,\n", 12, "as a total or a note"),
        (b"id,item\n1,a\n2,b\n\nname,code\n5,c\n", 4, "an empty line"),
        (b"id,item,x\n1,a,2\n2,b,3\n3,c\n", 4, "the file may be truncated"),
    ],
)
def test_what_does_not_belong_to_the_table_is_named_by_line(text: bytes, line: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text)
    for options in ({}, {"person": "id", "item": "item"}):
        with pytest.raises(InputError) as refusal:
            sv.read(tmp_path / "a.csv", **options)
        assert f"a.csv:{line}: " in str(refusal.value) and says in str(refusal.value)
    if "total" in says:
        sv.read(tmp_path / "a.csv", person="id", item="item", labels_as_they_are=True, missing_person="drop")
