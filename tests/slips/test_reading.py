"""Files as people have them, and slips people make with them.

Every case is a small file in the style of a well-known one. It is read as an independent parser reads it and the line
that is printed says why, or it is refused with an option that then works. None may be read wrongly in silence.
"""

from __future__ import annotations

import json
import random
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.errors import InputError, SetveilWarning
from tests.naive import tables as naive

rng = random.Random(11)
PRODUCTS = ["milk", "bread", "beer", "apples", "tea", "rice", "salt", "eggs", "soap", "ham"]
CODES = ["E11.9", "I10", "J45.0", "K21", "M54.5", "N39.0", "A09", "F32.1", "L40", "R51"]
N = 40
SETS = [sorted(rng.sample(range(10), rng.randint(1, 5))) for _ in range(N)]


def table(header: str, *rows: str, end: str = "\n") -> str:
    return end.join([*([header] if header else []), *rows]) + end


def pairs(make: Callable[[int, int], str]) -> list[str]:
    return [make(person, item) for person, items in enumerate(SETS, start=1) for item in items]


def rows(make: Callable[[int, list[int]], str]) -> list[str]:
    return [make(person, items) for person, items in enumerate(SETS, start=1)]


def cells(items: list[int], labels: list[str], width: int, delimiter: str = ",") -> str:
    return delimiter.join([labels[item] for item in items] + [""] * (width - len(items)))


def matrix(items: list[int], yes: str, no: str, delimiter: str = ",") -> str:
    return delimiter.join(yes if item in items else no for item in range(10))


RATINGS = pairs(lambda person, item: f"{person}::{100 + item}::{1 + item % 5}::{978300760 + 7 * person + item}")
U_DATA = pairs(lambda person, item: f"{person}\t{100 + item}\t{1 + item % 5}\t{881250949 - 11 * person + item}")
WIDE = table(
    "id,age,sex,dx1,dx2,dx3,dx4,dx5", *rows(lambda p, s: f"{p},{30 + p % 9},{'MF'[p % 2]},{cells(s, CODES, 5)}")
)
LISTS = table("id,diagnoses", *rows(lambda p, s: f"{p},{'|'.join(CODES[i] for i in s)}"))
COMMAS = table("tid,items", *rows(lambda p, s: f'{p},"{", ".join(PRODUCTS[i] for i in s)}"'))
VOTES = table(
    "",
    *rows(
        lambda p, s: (
            f"{['left', 'right'][p % 2]},{','.join('y' if i in s else 'n' if i % 3 else '?' for i in range(10))}"
        )
    ),
)
ADULT = table(
    "age,work,sex", *rows(lambda p, s: f"{20 + p % 7}, {['Private', 'State', '?'][p % 3]}, {['M', 'F'][p % 2]}")
)
PADDED = table("", *rows(lambda p, s: cells(s, PRODUCTS, 5)))
DIAGNOSES = pairs(lambda p, i: f"{9 * p + i},{p},{1000 + p},{i},{CODES[i]}")
RETAIL = pairs(
    lambda p, i: f"{5000 + p},{2000 + i},{PRODUCTS[i].upper()} BOX,{1 + i},12/1/2010 8:26,2.55,{77 + p // 2},UK"
)
GENES = "".join(
    f"SET_{p}\thttp://x/{p}\t" + "\t".join(PRODUCTS[i].upper() for i in s) + "\n" for p, s in enumerate(SETS)
)
COOKING = json.dumps(
    [{"id": p, "cuisine": "greek", "ingredients": [PRODUCTS[i] for i in s]} for p, s in enumerate(SETS)], indent=1
)
SPARSE_ARFF = (
    "@relation r\n"
    + "".join(f"@attribute {n} {{f,t}}\n" for n in PRODUCTS)
    + "@data\n"
    + "".join("{" + ",".join(f"{i} t" for i in s) + "}\n" for s in SETS)
)
DENSE_ARFF = (
    "% remark\n@relation r\n"
    + "".join(f"@attribute '{n}' {{ t}}\n" for n in PRODUCTS)
    + "@attribute size {low,high}\n@data\n"
    + "".join(f"{matrix(s, 't', '?')},{['low', 'high'][len(s) > 3]}\n" for s in SETS)
)
STRINGS = "".join(" -1 ".join(PRODUCTS[i] for i in s) + " -1 -2\n" for s in SETS)
MUSHROOMS = table(
    "", *rows(lambda p, s: ",".join("pexbsnftal"[(p * (i + 3) + len(s) + i) % (2 + i % 4) * 2 % 10] for i in range(12)))
)
COUNTS = table("", *rows(lambda p, s: matrix(s, str(1 + p % 4), "0", " ")))


@dataclass(frozen=True)
class Case:
    file: str
    content: str | bytes
    records: naive.Records  # as the independent parser has them
    says: str  # in the line about reading, or in the refusal
    options: dict[str, Any] = field(default_factory=dict)  # that make it right; empty if it is read as it is
    is_refused: bool = False


def reads(file: str, content: str | bytes, records: naive.Records, says: str, **options: Any) -> Case:
    return Case(file, content, records, says, options)


def refuses(file: str, content: str | bytes, records: naive.Records, says: str, **options: Any) -> Case:
    return Case(file, content, records, says, options, is_refused=True)


def both(make: Callable[[int, int], str]) -> str:
    return table("", *pairs(make))


CASES: dict[str, Case] = {
    # -- headerless tables
    "ratings of MovieLens 1M": reads(
        "ratings.dat",
        table("", *RATINGS),
        naive.long(table("", *RATINGS), delimiter="::", header=False),
        "user::item::rating::time",
    ),
    "ratings of MovieLens 100k": refuses(
        "u.data",
        table("", *U_DATA),
        naive.long(table("", *U_DATA), delimiter="\t", header=False),
        "--no-header --person 1 --item 2",
        no_header=True,
        id_column="1",
        item_column="2",
    ),
    "sessions without header": refuses(
        "clicks.csv",
        both(lambda p, i: f"s{p},d{i}"),
        naive.long(both(lambda p, i: f"s{p},d{i}"), header=False),
        "--no-header",
        format="long",
        no_header=True,
    ),
    "sessions without header, as long": refuses(
        "clicks.csv",
        both(lambda p, i: f"s{p},d{i}"),
        naive.long(both(lambda p, i: f"s{p},d{i}"), header=False),
        "--no-header",
        format="long",
        no_header=True,
    ),
    "numbers without header": refuses(
        "clicks.csv",
        both(lambda p, i: f"{p},{i}"),
        naive.long(both(lambda p, i: f"{p},{i}"), header=False),
        "--no-header",
        format="long",
        no_header=True,
    ),
    "three columns without header": refuses(
        "a.csv",
        both(lambda p, i: f"{p},{PRODUCTS[i]},5.5"),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]},5.5"), header=False),
        "--format",
        no_header=True,
        id_column=1,
        item_column=2,
    ),
    # -- lists in a cell
    "codes between bars": refuses(
        "visits.csv", LISTS, naive.long(LISTS, parts=lambda cell: cell.split("|")), '--split "|"', split="|"
    ),
    "codes between bars, no header": refuses(
        "v.csv",
        LISTS.partition("\n")[2],
        naive.long(LISTS, parts=lambda cell: cell.split("|")),
        "--no-header",
        format="long",
        no_header=True,
        split="|",
    ),
    "products between commas": refuses(
        "baskets.csv", COMMAS, naive.long(COMMAS, parts=lambda cell: cell.split(",")), '--split ","', split=","
    ),
    "codes between semicolons": refuses(
        "v.tsv",
        LISTS.replace(",", "\t").replace("|", ";"),
        naive.long(LISTS, parts=lambda cell: cell.split("|")),
        '--split ";"',
        split=";",
    ),
    "codes between blanks": refuses(
        "v.csv",
        LISTS.replace("|", " "),
        naive.long(LISTS, parts=lambda cell: cell.split("|")),
        '--split " "',
        split=" ",
    ),
    # -- baskets
    "padded baskets": reads(
        "Market_Basket_Optimisation.csv", PADDED, naive.baskets(PADDED), "empty cells at their ends aside"
    ),
    "words between blanks": refuses(
        "words.txt",
        PADDED.replace(",", " ").replace(" \n", "\n"),
        naive.baskets(PADDED),
        '--delimiter " "',
        format="basket",
        delimiter=" ",
    ),
    "Orange's baskets": reads(
        "foods.basket",
        PADDED.replace(",", ", ")
        .replace(", \n", "\n")
        .replace(", \n", "\n")
        .replace(", \n", "\n")
        .replace(", \n", "\n"),
        naive.baskets(PADDED),
        "Orange",
    ),
    "Orange's baskets with amounts": reads(
        "foods.basket",
        table("", *rows(lambda p, s: ", ".join(f"{PRODUCTS[i]}={i + 1}" for i in s))),
        naive.baskets(PADDED),
        "Orange",
    ),
    "numbered item columns with a count": reads(
        "groceries.csv",
        table("Item(s),Item 1,Item 2,Item 3,Item 4,Item 5", *rows(lambda p, s: f"{len(s)},{cells(s, PRODUCTS, 5)}")),
        naive.baskets(PADDED),
        "not used: Item(s)",
    ),
    "Instacart's wide baskets": reads(
        "w.csv",
        table(
            "order_id,product_1,product_2,product_3,product_4,product_5",
            *rows(lambda p, s: f"{p},{cells(s, PRODUCTS, 5)}"),
        ),
        naive.baskets(PADDED),
        "columns product_1 to product_5",
    ),
    # -- wide
    "wide table of diagnoses": reads(
        "patients.csv", WIDE, naive.wide(WIDE, range(3, 8)), '40 people (column "id"), 10 items (columns dx1 to dx5)'
    ),
    "wide table read as baskets": refuses(
        "patients.csv", WIDE, naive.wide(WIDE, range(3, 8)), "header of a table", format="wide"
    ),
    "wide table by glob": reads(
        "patients.csv",
        WIDE.replace("dx", "main dx", 2),
        naive.wide(WIDE, range(3, 8)),
        "not used: age, sex",
        item_columns="*dx*",
    ),
    "wide table of two groups": refuses(
        "p.csv",
        table("id,dx1,dx2,px1,px2", *rows(lambda p, s: f"{p},{cells(s[:2], CODES, 2)},{cells(s[:2], PRODUCTS, 2)}")),
        naive.wide(
            table(
                "id,dx1,dx2,px1,px2", *rows(lambda p, s: f"{p},{cells(s[:2], CODES, 2)},{cells(s[:2], PRODUCTS, 2)}")
            ),
            (1, 2),
        ),
        '--item-columns "dx*"',
        item_columns="dx*",
    ),
    # -- matrices
    "0/1 with header and id": reads(
        "m.csv",
        table("id," + ",".join(PRODUCTS), *rows(lambda p, s: f"{p},{matrix(s, '1', '0')}")),
        naive.baskets(PADDED),
        '40 people (column "id"), 10 items (columns ',
    ),
    "0/1 with header": reads(
        "m.csv",
        table(",".join(PRODUCTS), *rows(lambda p, s: matrix(s, "1", "0"))),
        naive.baskets(PADDED),
        "0 or 1 in every cell below the names",
    ),
    "TRUE/FALSE with header": reads(
        "m.csv",
        table(",".join(PRODUCTS), *rows(lambda p, s: matrix(s, "TRUE", "FALSE"))),
        naive.baskets(PADDED),
        "FALSE or TRUE",
    ),
    "TRUE/FALSE read as baskets": refuses(
        "m.csv",
        table("", *rows(lambda p, s: matrix(s, "TRUE", "FALSE"))),
        naive.onehot(table("", *rows(lambda p, s: matrix(s, "TRUE", "FALSE"))), range(10), header=False),
        "--format onehot",
        format="onehot",
        no_header=True,
    ),
    "t/? with header": refuses(
        "m.csv",
        table(",".join(PRODUCTS), *rows(lambda p, s: matrix(s, "t", "?"))),
        naive.baskets(PADDED),
        'Does "?" mean "missing"? Use --missing drop',
        missing="drop",
    ),
    "yes/no with semicolons": reads(
        "m.csv",
        table(";".join(PRODUCTS), *rows(lambda p, s: matrix(s, "yes", "no", ";"))),
        naive.baskets(PADDED),
        "no or yes",
    ),
    "0/1 without header": reads(
        "m.csv",
        table("", *rows(lambda p, s: matrix(s, "1", "0"))),
        naive.onehot(table("", *rows(lambda p, s: matrix(s, "1", "0"))), range(10), header=False),
        "the first line too",
    ),
    "counts with header": reads(
        "m.csv",
        table("customer," + ",".join(PRODUCTS), *rows(lambda p, s: f"c{p},{matrix(s, str(1 + p % 4), '0')}")),
        naive.baskets(PADDED),
        "counts above 0 mean present",
    ),
    "counts between blanks": refuses(
        "m.dat",
        COUNTS,
        naive.onehot(COUNTS, range(10), " ", header=False),
        "--format onehot --no-header",
        format="onehot",
        no_header=True,
        delimiter=" ",
    ),
    "0/1 with other columns": refuses(
        "m.csv",
        table("id,age," + ",".join(PRODUCTS), *rows(lambda p, s: f"{p},{20 + p},{matrix(s, '1', '0')}")),
        naive.baskets(PADDED),
        "--format onehot",
        format="onehot",
        item_columns=",".join(PRODUCTS),
    ),
    # -- column=value
    "votes": refuses(
        "house-votes-84.data",
        VOTES,
        naive.values(VOTES, range(11), header=False),
        "--format table --no-header",
        format="table",
        no_header=True,
        missing="drop",
    ),
    "adult": refuses(
        "adult.csv", ADULT, naive.values(ADULT, range(3)), "--format table", format="table", missing="drop"
    ),
    "mushrooms": refuses(
        "agaricus-lepiota.data",
        MUSHROOMS,
        naive.values(MUSHROOMS, range(12), header=False),
        "--format table --no-header",
        format="table",
        no_header=True,
    ),
    "mushrooms read as baskets": refuses(
        "agaricus-lepiota.data",
        MUSHROOMS,
        naive.values(MUSHROOMS, range(12), header=False),
        "--format table --no-header",
        format="table",
        no_header=True,
    ),
    # -- known headers
    "MovieLens": reads(
        "ratings.csv",
        table("userId,movieId,rating,timestamp", *pairs(lambda p, i: f"{p},{i + 50},3.5,{96498 + p}")),
        naive.long(table("userId,movieId,rating,timestamp", *pairs(lambda p, i: f"{p},{i + 50},3.5,{96498 + p}"))),
        'people (column "userId"), 10 items (column "movieId")',
    ),
    "Book-Crossing": reads(
        "BX.csv",
        table('"User-ID";"ISBN";"Book-Rating"', *pairs(lambda p, i: f'"{p}";"03454{i}";"{i}"')),
        naive.long(table("", *pairs(lambda p, i: f"{p};03454{i};{i}")), delimiter=";", header=False),
        'people (column "User-ID"), 10 items (column "ISBN")',
    ),
    "Instacart": reads(
        "order_products.csv",
        table("order_id,product_id,add_to_cart_order,reordered", *pairs(lambda p, i: f"{p},{i + 300},{i},{i % 2}")),
        naive.long(both(lambda p, i: f"{p},{i + 300}"), header=False),
        'people (column "order_id"), 10 items (column "product_id")',
    ),
    "online retail": reads(
        "retail.csv",
        table("InvoiceNo,StockCode,Description", *[line.rpartition(",")[0].rsplit(",", 4)[0] for line in RETAIL]),
        naive.long(table("", *RETAIL), header=False),
        'people (column "InvoiceNo"), 10 items (column "StockCode")',
    ),
    "online retail with customers": refuses(
        "retail.csv",
        table("InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country", *RETAIL),
        naive.long(table("", *RETAIL), 6, 1, header=False),
        "For people use --person CustomerID --item StockCode",
        person="CustomerID",
        item="StockCode",
    ),
    "MIMIC": refuses(
        "DIAGNOSES_ICD.csv",
        table("ROW_ID,SUBJECT_ID,HADM_ID,SEQ_NUM,ICD9_CODE", *DIAGNOSES),
        naive.long(table("", *DIAGNOSES), 1, 4, header=False),
        "For people use --person SUBJECT_ID --item ICD9_CODE",
        person="SUBJECT_ID",
        item="ICD9_CODE",
    ),
    "Synthea": refuses(
        "conditions.csv",
        table(
            "START,STOP,PATIENT,ENCOUNTER,CODE,DESCRIPTION",
            *pairs(lambda p, i: f"2010-01-01,,p-{p},e-{p}-{i},{4400 + i},{PRODUCTS[i]} (disorder)"),
        ),
        naive.long(both(lambda p, i: f"{p},{4400 + i}"), header=False),
        "For people use --person PATIENT --item CODE",
        person="PATIENT",
        item="CODE",
    ),
    "bakery": reads(
        "Bakery.csv",
        table(
            "TransactionNo,Items,DateTime,Daypart,DayType",
            *pairs(lambda p, i: f"{p},{PRODUCTS[i]},2016-10-30 09:58:11,Morning,Weekend"),
        ),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        'people (column "TransactionNo"), 10 items (column "Items")',
    ),
    "groceries by member": reads(
        "Groceries_dataset.csv",
        table("Member_number,Date,itemDescription", *pairs(lambda p, i: f"{p},21-07-2015,{PRODUCTS[i]}")),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        'people (column "Member_number"), 10 items (column "itemDescription")',
    ),
    "unknown names": refuses(
        "x.csv",
        table("wer,wann,was", *pairs(lambda p, i: f"{p},1.5,{PRODUCTS[i]}")),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "--person and --item",
        id_column="wer",
        item_column="was",
    ),
    # -- other programs' formats
    "gene sets": reads("c2.gmt", GENES, naive.gene_sets(GENES), "the extension .gmt"),
    "ARFF, dense": reads("supermarket.arff", DENSE_ARFF, naive.arff(DENSE_ARFF), "ARFF, dense rows"),
    "ARFF, sparse": reads("s.arff", SPARSE_ARFF, naive.arff(SPARSE_ARFF), "ARFF, sparse rows"),
    "SPMF with words": reads("s.txt", STRINGS, naive.words(STRINGS), "SPMF lines of names"),
    "What's Cooking": reads(
        "train.json", COOKING, naive.json_records(COOKING, "ingredients"), 'and "ingredients", which alone holds lists'
    ),
    "JSON rows": reads(
        "rows.json",
        json.dumps([{"patient": p, "code": CODES[i]} for p, s in enumerate(SETS) for i in s]),
        [{CODES[i] for i in s} for s in SETS],
        'people (column "patient"), 10 items (column "code")',
    ),
    "JSON lists by id": reads(
        "d.json",
        json.dumps({f"p{p}": [CODES[i] for i in s] for p, s in enumerate(SETS)}, indent=1),
        [{CODES[i] for i in s} for s in SETS],
        "JSON",
    ),
    # -- text
    "Latin-1": reads(
        "l.csv",
        table("id,item", *pairs(lambda p, i: f"{p},{['café', 'jamón', 'Käse'][i % 3]}")).encode("latin-1"),
        naive.long(both(lambda p, i: f"{p},{['café', 'jamón', 'Käse'][i % 3]}"), header=False),
        "read as iso8859-1",
    ),
    "Latin-1, named": reads(
        "l.csv",
        table("id,item", *pairs(lambda p, i: f"{p},{['é', 'ó'][i % 2]}")).encode("latin-1"),
        naive.long(both(lambda p, i: f"{p},{['é', 'ó'][i % 2]}"), header=False),
        "long table",
        encoding="latin-1",
    ),
    "UTF-16": refuses(
        "l.csv",
        table("id,item", *pairs(lambda p, i: f"{p},{PRODUCTS[i]}")).encode("utf-16"),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "--encoding utf-16",
        encoding="utf-16",
    ),
    "carriage returns": reads(
        "mac.csv",
        table("id,item", *pairs(lambda p, i: f"{p},{PRODUCTS[i]}"), end="\r"),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "carriage returns",
    ),
    "blanks around labels": reads(
        "b.csv",
        table("id,item", *pairs(lambda p, i: f"{p},{PRODUCTS[i]}{' ' * (p % 2)}")),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "blanks around labels removed",
        strip=True,
    ),
    # -- slips with columns
    "items that are times": refuses(
        "t.csv",
        table("id,item,when", *pairs(lambda p, i: f"{p},{PRODUCTS[i]},{100000 + 10 * p + i}")),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "--item",
        id_column="id",
        item_column="item",
    ),
    "ids and items swapped": refuses(
        "t.csv",
        table("patient,code", *pairs(lambda p, i: f"{p},{CODES[i]}")),
        naive.long(both(lambda p, i: f"{p},{CODES[i]}"), header=False),
        "swap --person and --item",
    ),
    "one record in all": refuses(
        "t.csv",
        table("ward,person,item", *pairs(lambda p, i: f"A,{p},{PRODUCTS[i]}")),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "--person",
        id_column="person",
        item_column="item",
    ),
    "prices": refuses(
        "t.csv",
        table("id,item,value", *pairs(lambda p, i: f"{p},{PRODUCTS[i]},{i}.{p % 7}9")),
        naive.long(both(lambda p, i: f"{p},{PRODUCTS[i]}"), header=False),
        "numbers with decimals",
        id_column="id",
        item_column="item",
    ),
}
SLIPS: dict[str, dict[str, Any]] = {  # what was asked first where the file alone would have been read rightly
    "sessions without header, as long": {"format": "long"},
    "wide table read as baskets": {"format": "basket"},
    "TRUE/FALSE read as baskets": {"format": "basket"},
    "mushrooms read as baskets": {"format": "basket"},
    "items that are times": {"id_column": "id", "item_column": "when"},
    "ids and items swapped": {"id_column": "code", "item_column": "patient"},
    "one record in all": {"id_column": "ward", "item_column": "item"},
    "prices": {"id_column": "id", "item_column": "value"},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(case: Case) -> str:
    content = case.content if isinstance(case.content, bytes) else case.content.encode()
    Path(case.file).write_bytes(content)
    return case.file


def flags(options: dict[str, Any]) -> list[str]:
    words = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        words += [flag] if value is True else [flag, str(value)]
    return words


def sets(data: sv.Transactions) -> naive.Records:
    return [set(record) for record in data.to_lists()]


@pytest.mark.parametrize("name", CASES)
def test_real_files(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    file = written(case)
    if case.is_refused:
        slip = SLIPS.get(name, {})
        with pytest.raises(InputError) as refusal:
            sv.read(file, **slip)
        assert case.says in str(refusal.value)
        if case.options.get("format") in ("onehot", "table"):
            assert "--format basket" not in str(refusal.value)
        assert str(refusal.value).startswith(file) and "\n" not in str(refusal.value)
        assert _run(["risk", file, *flags(slip), "--known", "1"]) == 2
        assert case.says in capsys.readouterr().err
    data = sv.read(file, **case.options)
    assert sets(data) == case.records
    if not case.is_refused:
        assert case.says in data.summary()
    assert data.summary().startswith(f"Read {file} as ") and re.search(r" \((detected from|set by) ", data.summary())
    assert _run(["risk", file, *flags(case.options), "--known", "1", "--json"]) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)["input"]
    assert told["summary"] == data.summary() == captured.err.strip().splitlines()[-1]
    assert (told["records"], told["entries"]) == (len(case.records), sum(map(len, case.records)))


PUBLISHED = {
    "ratings of MovieLens 1M": "published.csv",
    "sessions without header": "published.csv",
    "codes between bars": "published.csv",
    "padded baskets": "published.csv",
    "wide table of diagnoses": "published.csv",
    "0/1 with header and id": "published.csv",
    "0/1 without header": "published.csv",
    "counts between blanks": "published.csv",
    "votes": "published.csv",
    "gene sets": "published.jsonl",
    "ARFF, dense": "published.csv",
    "SPMF with words": "published.txt",
    "What's Cooking": "published.jsonl",
    "JSON rows": "published.jsonl",
    "Latin-1": "published.csv",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_layout_can_be_published_and_checked_again(name: str, here: Path) -> None:
    case = CASES[name]
    file, options = written(case), flags(case.options)
    assert (
        _run(
            [
                "anonymize",
                file,
                *options,
                "-o",
                "out",
                "--model",
                "km",
                "-k",
                "3",
                "-m",
                "1",
                "--hierarchy",
                "auto:frequency",
            ]
        )
        == 0
    )
    assert (here / "out" / PUBLISHED[name]).exists()
    assert _run(["verify", "out", "--original", file, *options]) == 0
    record = json.loads((here / "out.internal" / "run.json").read_text())
    assert record["input"]["summary"] == sv.read(file, **case.options).summary()


def test_corpus_is_large() -> None:
    assert len(CASES) >= 40


OTHERS = {
    "https://example.org/data.csv": "polars.read_csv",
    "s3://bucket/data.csv": "polars.read_csv",
    "book.ods": "pandas.read_excel",
    "old.xls": "pandas.read_excel",
    "data.zip": "pandas.read_csv",
    "data.feather": "pandas.read_feather",
    "data.sqlite": "pandas.read_sql",
    "data.sav": "pandas.read_spss",
    "data.dta": "pandas.read_stata",
    "data.npy": "numpy.load",
}
MAGIC = {
    ".ods": b"PK\x03\x04",
    ".xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    ".zip": b"PK\x03\x04",
    ".feather": b"ARROW1\0\0",
    ".sqlite": b"SQLite format 3\0",
    ".sav": b"$FL2@(#)",
    ".dta": b"<stata_dta>",
    ".npy": b"\x93NUMPY\x01\0",
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_read_says_what_to_do(name: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "://" not in name:
        Path(name).write_bytes(MAGIC[Path(name).suffix] + bytes(100))
    assert _run(["risk", name]) == 2
    said = capsys.readouterr().err
    assert OTHERS[name] in said and f'"{name}"' in said and "setveil.read(" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("start", ["<!DOCTYPE html>\n<html>", "<!doctype html>\n", "<html><body>", "%PDF-1.7\n"])
def test_pages_and_documents_are_no_data(start: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("data.csv").write_text(start + "404, not found\n")
    assert _run(["risk", "data.csv"]) == 2
    assert ("a PDF document" if "PDF" in start else "a web page") in capsys.readouterr().err


def test_guards_can_be_switched_off(here: Path) -> None:
    Path("visits.csv").write_text(LISTS)
    data = sv.read("visits.csv", labels_as_they_are=True)
    assert data.n_occurrences == N and any("|" in label for label in data.vocabulary)
    assert _run(["risk", "visits.csv", "--labels-as-they-are", "--known", "1"]) == 0


def among(make: Callable[[int], str]) -> str:
    """Baskets with something of another kind in each."""
    return table("", *rows(lambda p, s: ",".join([make(p), *(PRODUCTS[i] for i in s)])))


STRAYS: dict[str, tuple[str, dict[str, Any], str]] = {
    "two delimiters": (
        table("", *rows(lambda p, s: ",,;"[p % 3].join(PRODUCTS[i] for i in s))),
        {"format": "basket", "delimiter": ","},
        'add --split ";"',
    ),
    "dates for items": (
        table("id,item,day", *pairs(lambda p, i: f"{p},{PRODUCTS[i]},{1 + i}.3.2024")),
        {"id_column": "id", "item_column": "day"},
        "all items are dates",
    ),
    "a header that is there": (
        table("id,item", *pairs(lambda p, i: f"{p},{PRODUCTS[i]}")),
        {"no_header": True},
        "remove --no-header",
    ),
    "rounded ids": (
        table("id,item", *pairs(lambda p, i: f"1.2345{p % 3}E+11,{PRODUCTS[i]}")),
        {},
        "were rounded by a spreadsheet",
    ),
    "nobody in words": (
        table("id,item", *pairs(lambda p, i: f"{'NULL' if p % 9 == 0 else p},{PRODUCTS[i]}")),
        {},
        f'{sum(len(items) for items in SETS[8::9])} rows have the id "NULL"',
    ),
    "products for people": (
        table("product,email", *pairs(lambda p, i: f"{PRODUCTS[i]},jo{p}@example.org")),
        {"id_column": "product", "item_column": "email"},
        "swap --person and --item",
    ),
}


@pytest.mark.parametrize("name", STRAYS)
def test_what_is_no_item_is_refused(name: str, here: Path) -> None:
    text, options, words = STRAYS[name]
    Path("data.csv").write_text(text)
    with pytest.raises(InputError) as refusal:
        sv.read("data.csv", **options)
    assert words in str(refusal.value) and "\n" not in str(refusal.value)
    sv.read("data.csv", **options, labels_as_they_are=True)


DOUBTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "ids in baskets": (among(lambda p: f"C{1000 + p}"), {"format": "basket"}, "that nobody else has"),
    "dates in baskets": (among(lambda p: f"2024-01-{1 + p % 9:02}"), {"format": "basket"}, "carry a date or month"),
    "ages in baskets": (among(lambda p: str(30 + p % 9)), {"format": "basket"}, "that is a number"),
    "names in a table": (
        table("name,sex,region", *rows(lambda p, s: f"Jo {p},{'mf'[p % 2]},{'nswe'[p % 4]}")),
        {"format": "table"},
        "that nobody else has",
    ),
    "all columns taken for items": (
        WIDE,
        {"item_columns": "*"},
        "If it is not an item, name the columns of the items with --item-columns",
    ),
    "nothing in words": (
        table("", "NULL,milk", *rows(lambda p, s: ",".join(PRODUCTS[i] for i in s))),
        {"format": "basket"},
        '"NULL" is read as an item',
    ),
    "no number in words": (
        table("id,item", "41,NaN", *pairs(lambda p, i: f"{p},{PRODUCTS[i]}")),
        {},
        '"NaN" is read as a value',
    ),
    "people in two cases": (
        table("id,item", *pairs(lambda p, i: f"{'pP'[i % 2]}{1000000 + p},{PRODUCTS[i]}")),
        {},
        r'ids? in "id" with the same letters as another, but other case, blanks or invisible signs',
    ),
    "people with blanks and signs": (
        table("id,item", "1 ,milk", "\u200b2,milk", *pairs(lambda p, i: f"{p},{PRODUCTS[i]}")),
        {},
        r'2 ids in "id" with the same letters as another',
    ),
    "visits for people": (
        table("patient,visit,item", *pairs(lambda p, i: f"{p // 3},{p},{PRODUCTS[i]}")),
        {"id_column": "visit", "item_column": "item"},
        'a record is what one "visit" has, and "patient" is not used',
    ),
    "rows for people": (
        table("id,item", *(f"{n},{PRODUCTS[i]}" for n, i in enumerate(i for items in SETS for i in items))),
        {},
        'every "id" has one item only',
    ),
    "an age for a count": (
        table("id,age,milk,tea", *rows(lambda p, s: f"{p},{30 + p},{p % 2},{p % 3}")),
        {"format": "onehot"},
        'everybody has "age"',
    ),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_what_may_be_a_slip_is_told(name: str, here: Path) -> None:
    text, options, words = DOUBTS[name]
    Path("data.csv").write_text(text)
    with pytest.warns(SetveilWarning, match=words):
        sv.read("data.csv", **options)
    sv.read("data.csv", **options, labels_as_they_are=True)


def test_unknown_options_are_errors() -> None:
    with pytest.raises(TypeError, match="id_colum"):
        sv.read([["a"]], id_colum="x")
    with pytest.raises(TypeError, match="colour"):
        sv.risk([["a"]], read_options={"colour": "red"})


def test_standard_input_has_a_digest_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib
    import io
    import sys

    content = WIDE.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    data = sv.read("-")
    assert data.facts()["sha256"] == hashlib.sha256(content).hexdigest() and data.facts()["name"] == "standard input"


def doc_row(name: str, case: Case) -> str:
    options = shlex.join(flags(case.options)).replace("|", "\\|") or "nothing"
    asked = "asked for" if case.is_refused else "" if options == "nothing" else "wanted"
    return f"| {name} | {case.file} | {f'`{options}`' if options != 'nothing' else 'nothing'} | {asked} |"


def test_the_documented_table_is_this_corpus() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    missing = [row for name, case in CASES.items() if (row := doc_row(name, case)) not in page]
    assert not missing, "\n".join(missing)
