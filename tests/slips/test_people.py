"""Slips that change how many people there are, or that publish who they are."""

from __future__ import annotations

import gzip
import json
import os
import random
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError, SetveilWarning
from setveil.io import source
from setveil.io.source import beginning_of_text, guess_encoding
from setveil.io.transactions.duplicates import LEAST_DISTINCT, describe_copies

PRODUCTS = ["milk", "bread", "beer", "apples", "tea", "rice", "salt", "eggs", "soap", "ham"]
KM = ["--model", "km", "-k", "2", "-m", "2", "--hierarchy", "auto"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def baskets(n: int = 120, seed: int = 3) -> list[list[str]]:
    rng = random.Random(seed)
    return [sorted(rng.sample(PRODUCTS, rng.randint(1, 5))) for _ in range(n)]


def told(data: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sv.read(data, **options)
    return [str(warning.message) for warning in caught]


# -- copies ------------------------------------------------------------------------------------------------------------


def test_an_export_joined_twice_is_told_in_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    records = baskets()
    twice = records * 2
    random.Random(5).shuffle(twice)
    Path("twice.csv").write_text("".join(",".join(record) + "\n" for record in twice))
    assert _run(["anonymize", "twice.csv", "--format", "basket", "-o", "out", *KM]) == 0
    captured = capsys.readouterr()
    assert "occur an even number of times" in captured.err
    assert "Guarantee: verified, but in doubt. People may be in the data more than once" in captured.out
    record = json.loads(Path("out.internal/run.json").read_text())
    assert any("an even number of times" in text for text in record["warnings"])
    report = Path("out.internal/report.html").read_text()
    assert "people may be in the data more than once" in report and "an even number of times" in report


def test_the_library_tells_copies_too() -> None:
    with pytest.warns(SetveilWarning, match="an even number of times"):
        data = sv.read(baskets() * 2)
    release = sv.anonymize(data, "km", k=2, m=1, hierarchy="auto")
    assert any("an even number of times" in text for text in release.record.warnings)
    assert not told(baskets() * 2, labels_as_they_are=True)


@pytest.mark.parametrize("copies", [2, 3, 4, 5])
def test_copies_of_all_are_found_in_any_order(copies: int) -> None:
    records = baskets() * copies
    random.Random(copies).shuffle(records)
    assert describe_copies(sv.Transactions.from_lists(records))


def test_a_block_that_comes_again_is_found() -> None:
    rng = random.Random(8)
    records = [[str(item) for item in rng.sample(range(300), 5)] for _ in range(400)]
    found = describe_copies(sv.Transactions.from_lists([*records, *records[100:160]]))
    assert found and "60 records occur again 300 records later" in found


@pytest.mark.parametrize("seed", range(20))
def test_equal_records_of_different_people_are_no_copies(seed: int) -> None:
    rng = random.Random(seed)
    n_items = rng.randint(2, 30)
    weights = [1 / (place + 1) for place in range(n_items)]
    records = [
        sorted({str(item) for item in rng.choices(range(n_items), weights, k=rng.randint(0, 4))})
        for _ in range(rng.choice([30, 300, 3000]))
    ]
    assert describe_copies(sv.Transactions.from_lists(records)) is None
    assert describe_copies(sv.Transactions.from_lists(sorted(records))) is None


def test_few_different_records_are_no_evidence() -> None:
    records = [[item] for item in PRODUCTS] * 2
    assert len(records) <= 2 * LEAST_DISTINCT and describe_copies(sv.Transactions.from_lists(records)) is None


@pytest.mark.parametrize("name", ["BMS1.dat.gz", "chess.dat.gz", "groceries.csv.gz", "mushroom.dat.gz"])
def test_real_data_is_read_without_a_word(name: str, real_data: Any) -> None:
    assert told(real_data(name)) == []


def test_made_data_is_read_without_a_word() -> None:
    for arguments in (["quest", "-D", "3000", "-N", "20", "-T", "3"], ["patients", "-n", "2000"]):
        name = f"{arguments[0]}.csv"
        assert _run(["generate", *arguments, "-o", name, "--to", "jsonl"]) == 0
        assert told(name, format="jsonl") == []


# -- headers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("block", [7, 1 << 23])
def test_a_header_in_the_middle_is_no_person(end: str, mark: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "BLOCK", block)
    lines = ["who,what", "1,milk", "2,beer", f"{mark}who,what", "3,milk"]
    Path("a.csv").write_text(end.join(lines) + end, newline="")
    for options in ({"id_column": "who", "item_column": "what"}, {"format": "wide"}, {"format": "table"}):
        with pytest.raises(InputError, match=r"a\.csv:4: the header occurs again"):
            sv.read("a.csv", **options)
    assert sv.read("a.csv", format="table", labels_as_they_are=True).n_records == 4


def test_a_header_in_the_middle_of_a_frame_is_no_person() -> None:
    frame = pd.DataFrame({"id": ["1", "2", "id", "3"], "item": ["milk", "tea", "item", "milk"]})
    with pytest.raises(InputError, match="names of the columns"):
        sv.read(frame)


@pytest.mark.parametrize("again", ["ID,Item", "id, item", "Id ,ITEM"])
def test_a_header_in_the_middle_is_no_person_in_other_spellings(again: str) -> None:
    Path("a.csv").write_text(f"id,item\n1,milk\n2,beer\n{again}\n3,milk\n")
    with pytest.raises(InputError, match="names of the columns"):
        sv.read("a.csv")
    assert sv.read("a.csv", labels_as_they_are=True).n_records == 4


def test_a_first_row_is_not_lost_as_a_header() -> None:
    pairs = "".join(f"p{'abcdefghij'[n]},{item}\n" for n in range(10) for item in baskets(10)[n])
    Path("a.csv").write_text("zoe,milk\n" + pairs)
    with pytest.raises(InputError, match=r'"milk" occurs again below it.*--no-header'):
        sv.read("a.csv", format="long")
    Path("a.csv").write_text("zoe,saffron\n" + pairs)
    with pytest.warns(SetveilWarning, match=r'"zoe", "saffron".*Is it a row\? Use --no-header'):
        sv.read("a.csv", format="long")
    assert sv.read("a.csv", format="long", no_header=True).n_records == 11
    Path("t.csv").write_text("f,north\nm,south\nf,south\nm,north\n")
    with pytest.raises(InputError, match="occurs again below it"):
        sv.read("t.csv", format="table")


# -- ids ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelt", ["{:03}", "{}.0"])
@pytest.mark.parametrize("layout", ["long", "wide", "jsonl"])
def test_one_person_spelt_twice_is_told(spelt: str, layout: str) -> None:
    ids = [(spelt if n % 2 else "{}").format(1 + n // 2) for n in range(30)]
    rows = list(zip(ids, baskets(30), strict=True))
    if layout == "long":
        text = "id,item\n" + "".join(f"{key},{item}\n" for key, items in rows for item in items)
    elif layout == "wide":
        text = "id,dx1,dx2,dx3,dx4,dx5\n" + "".join(
            ",".join([key, *items, *[""] * (5 - len(items))]) + "\n" for key, items in rows
        )
    else:
        text = "".join(json.dumps({"id": key, "items": items}) + "\n" for key, items in rows)
    Path("a.txt").write_text(text)
    with pytest.warns(SetveilWarning, match='15 ids in "id" with the same number as another'):
        data = sv.read("a.txt", format=layout)
    assert data.reading.doubts == ("people may be in the data more than once",)


# -- what items say ----------------------------------------------------------------------------------------------------


def test_items_that_carry_a_month_are_told() -> None:
    months = ["2024-03", "2023/11", "Mar 2024", "03.05.2024", "2024-03-05", "may 5, 2021"]
    records = [
        [f"{item} {months[n % 6]}" if n % 3 == 0 else item for item in items] for n, items in enumerate(baskets())
    ]
    assert any("carry a date or month" in text for text in told(records))
    codes = [[f"{item}-2024" if n % 3 else f"1.{n % 9}.2" for item in items] for n, items in enumerate(baskets())]
    assert not any("carry a date" in text for text in told(codes))


def test_names_of_people_among_items_are_told() -> None:
    first, last = ["Anna", "Jörg", "Mary", "Émile", "Ivan"], ["Schmidt", "O'Neill", "Zola", "Petrov-Ivanov", "Li"]
    names = [f"{one} {other}" for one in first for other in last]
    records = [[*items, names[n // 3]] if n % 3 == 0 and n < 75 else items for n, items in enumerate(baskets())]
    assert any("look like names of people" in text for text in told(records))
    table = pd.DataFrame({"sex": ["f", "m"] * 30, "doctor": [*names, *[""] * 35]})
    assert any('in column "doctor" look like names of people' in text for text in told(table, format="table"))
    products = [[item.title() + " Box" for item in items] for items in baskets()]
    assert not any("look like" in text for text in told(products))


# -- bytes -------------------------------------------------------------------------------------------------------------


def test_an_encoding_is_guessed_from_a_bounded_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "GUESSED", 1000)
    rows = [f"{n},{'café' if n == 900 else 'milk'}\n" for n in range(2000)]
    content = ("id,item\n" + "".join(rows)).encode("latin-1")
    Path("plain.csv").write_bytes(content)
    Path("packed.csv.gz").write_bytes(gzip.compress(content[:5000]) + gzip.compress(content[5000:]))
    for name in ("plain.csv", "packed.csv.gz"):
        part = beginning_of_text(Path(name))
        assert b"caf\xe9" in part and len(part) <= 1000
        with pytest.warns(SetveilWarning, match="has one item only"):
            assert "café" in sv.read(name).vocabulary
    bomb = gzip.compress(b"id,item\n1,caf\xe9\n" + b"1,milk\n" * 10**6)
    Path("bomb.csv.gz").write_bytes(bomb)
    assert guess_encoding(beginning_of_text(Path("bomb.csv.gz"))) == "iso8859-1"
    mixed = content.replace(b"1500,milk", "1500,thé".encode())
    Path("mixed.csv").write_bytes(mixed)
    with pytest.raises(InputError, match="name the encoding"):
        sv.read("mixed.csv")


LONG_NUMBER = "9" * 5000


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("a.csv", f"id,dx{LONG_NUMBER},dx2\n1,a,b\n", ["--format", "wide"]),
        ("a.csv", "id,item\n1,a\n1,b\n", ["--id-column", LONG_NUMBER]),
        ("a.dat", f"{LONG_NUMBER} 1 2\n1 2 3\n4 5 6\n", []),
        ("a.json", f'[{{"id": {LONG_NUMBER}, "item": 1}}, {{"id": 1, "item": {LONG_NUMBER}}}]', []),
        ("a.json", f'[{{"id": 1, "items": [{LONG_NUMBER}]}}]', []),
        ("a.arff", f"@relation r\n@attribute a {{f,t}}\n@data\n{{{LONG_NUMBER} t}}\n", []),
    ],
)
def test_numbers_of_any_length_are_no_internal_error(name: str, content: str, options: list[str]) -> None:
    Path(name).write_text(content)
    assert _run(["risk", name, *options, "--known", "1"]) in (0, 2)


def test_numbers_of_any_length_in_a_hierarchy() -> None:
    Path("h.json").write_text(f'{{"label": "ALL", "children": [{{"label": {LONG_NUMBER}}}, {{"label": 2}}]}}')
    assert sv.Hierarchy.from_file("h.json").n_items == 2


def test_numbers_of_any_length_are_published() -> None:
    Path("a.dat").write_text(f"{LONG_NUMBER} 1 2\n" * 3)
    command = [
        "anonymize",
        "a.dat",
        "--format",
        "fimi",
        "--model",
        "km",
        "-k",
        "2",
        "-m",
        "1",
        "--hierarchy",
        "fanout:2",
    ]
    assert _run([*command, "-o", "out"]) == 0
    assert _run([*command, "-o", "lines", "--to", "jsonl"]) == 0


def test_a_policy_names_regular_files_only() -> None:
    os.mkfifo("pipe")
    for name in ("pipe", "/dev/zero", "."):
        Path("p.toml").write_text(f'schema = 1\n[model]\nname = "km"\nk = 2\nm = 1\n[hierarchy]\nsource = "{name}"\n')
        with pytest.raises(InputError, match="not a regular file"):
            sv.Policy.from_file("p.toml")
