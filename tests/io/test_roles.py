"""Roles of columns: people, items, what is known of people; the same from every layout."""

from __future__ import annotations

import io
import json
import random
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.errors import InputError
from tests.naive import readers as naive

WORDS = ["f", "m", "", " ", "?", "NA", " f", "missing", "10", "9", "-3", "2.50", "nan", 'a "b"', "x,y", "\ttab"]


def people(data: Transactions) -> list[tuple[str, set[str], dict[str, str | None]]]:
    """Id, items and values of every person; None is missing."""
    assert data.ids is not None
    columns = {} if data.columns is None else {
        column.name: [None if column.missing and value == column.missing else value for value in column.to_list()]
        for column in data.columns
    }  # fmt: skip
    return [
        (id, set(items), {name: values[number] for name, values in columns.items()})
        for number, (id, items) in enumerate(zip(data.ids, data.to_lists(), strict=True))
    ]


def as_csv(names: list[str], rows: list[list[str]], rng: random.Random) -> bytes:
    def field(text: str) -> str:
        is_quoted = any(sign in text for sign in '",\n\r') or rng.random() < 0.2
        return '"' + text.replace('"', '""') + '"' if is_quoted else text

    return "".join(",".join(map(field, row)) + "\n" for row in [names, *rows]).encode()


@pytest.mark.parametrize("seed", range(150))
def test_every_layout_against_the_naive_reader(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(8):
        n_known = rng.randint(1, 3)
        names = ["pid", *(f"c{place}" for place in range(n_known)), "i"]
        words = rng.sample(WORDS, rng.randint(1, len(WORDS)))
        ids = ["1", "2", "three", "4"] + (["", "NA"] if rng.random() < 0.3 else [])
        rows = [
            [rng.choice(ids), *(rng.choice(words) for _ in range(n_known)), rng.choice(["a", "b", "", "c"])]
            for _ in range(rng.randint(1, 7))
        ]
        order = rng.sample(range(len(names)), len(names))
        names, rows = [names[place] for place in order], [[row[place] for place in order] for row in rows]
        roles = {name: rng.choice(["known", "sensitive", "carry"]) for name in names if name.startswith("c")}
        options: dict[str, Any] = {
            "missing": rng.choice([None, "drop", "value"]),
            "missing_person": rng.choice([None, "drop", "error"]),
            "per_person": rng.choice([None, "first", "last", "min", "max", "most"]),
        }
        layout = rng.choice(["long", "wide", "table"])
        try:
            wanted = naive.read_people(layout, names, rows, "pid", ["i"], list(roles), **options)
        except naive.Refused:
            wanted = None
        stated = {"known": "known_columns", "sensitive": "sensitive_columns", "carry": "carry"}
        given: dict[str, Any] = {stated[role]: [name for name in roles if roles[name] == role] for role in stated}
        given |= {"person": "pid", "item": "i", "format": layout, "keep_ids": True, **options}
        nulls = {name: [row[place] or None for row in rows] for place, name in enumerate(names)}
        sources: list[Any] = [
            io.BytesIO(as_csv(names, rows, rng)),
            pl.DataFrame(nulls, schema=dict.fromkeys(names, pl.String)),
        ]
        if layout != "long":
            sources += [pd.DataFrame(nulls, dtype=object), pa.table(pl.DataFrame(nulls).to_arrow())]
        if any(row[names.index("i")] == "" for row in rows) and layout == "long":
            sources.pop()  # a null item of a long frame is an error of its own
        if any(row[names.index("pid")] == "" for row in rows) and options["missing_person"] != "drop":
            wanted = None
        for source in sources:
            found, said = None, ""
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = people(sv.read(source, **given))
            except InputError as problem:
                said = str(problem)
            assert found == wanted and "\n" not in said, (said, names, rows, given, type(source))


def test_json_objects_with_columns(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "items": ["a", "b"], "age": 30, "sex": "f", "note": "x"},
        {"id": "2", "items": [], "age": None, "sex": "NA"},
        {"id": "1", "items": ["c"], "age": 30},
    ]
    wanted = [("1", {"a", "b", "c"}, {"age": "30", "sex": "f"}), ("2", set(), {"age": None, "sex": "NA"})]
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole = tmp_path / "a.json"
    whole.write_text(json.dumps(rows))
    for source in (lines, whole):
        data = sv.read(source, known_columns="sex,age", drop="note", keep_ids=True)
        assert people(data) == wanted
        assert data.reading is not None and data.reading.unused == ()
    dicts = [{**row, "sex": row.get("sex"), "note": None} for row in rows]
    data = sv.read(dicts, person="id", item="items", known_columns=["age", "sex"], missing="value", keep_ids=True)
    assert people(data) == wanted
    assert data.reading is not None and data.reading.unused == ("note",)


def test_one_row_per_person_with_a_list_in_a_cell() -> None:
    text = b"age,sex,dx\n30,f,A|B\n40,m,\n"
    data = sv.read(io.BytesIO(text), item="dx", known_columns="age,sex", split="|")
    assert data.to_lists() == [["A", "B"], []]
    assert data.columns is not None and data.columns["sex"].to_list() == ["f", "m"]


def test_numbers_name_columns_of_the_whole_table() -> None:
    text = b"p1,30,f,A\np1,30,f,B\np2,41,m,A\n"
    data = sv.read(io.BytesIO(text), no_header=True, person=1, item="4", known_columns="2", drop=["3"])
    assert data.to_lists() == [["A", "B"], ["A"]]
    assert data.columns is not None and data.columns["2"].to_list() == ["30", "41"]


def test_matrix_beside_columns() -> None:
    text = b"id,age,milk,bread\n1,30,1,0\n2,41,1,1\n3,41,0,1\n"
    data = sv.read(io.BytesIO(text), known_columns="age")
    assert data.to_lists() == [["milk"], ["bread", "milk"], ["bread"]]
    assert data.columns is not None and data.columns["age"].to_list() == ["30", "41", "41"]


VISITS = b"visit,patient,age,sex,dx\n1,p,30,f,A\n2,p,31,f,B\n3,q,41,m,A\n4,,50,m,A\n"
STATED: dict[str, Any] = {"person": "patient", "item": "dx", "known_columns": "age,sex", "missing_person": "drop"}


def test_visits_become_people() -> None:
    data = sv.read(io.BytesIO(VISITS), **STATED, per_person="max")
    assert data.to_lists() == [["A", "B"], ["A"]]
    assert data.columns is not None and data.columns["age"].to_list() == ["31", "41"]
    assert 'dropped: 1 row without an id in "patient"' in data.summary()
    assert "not used: visit" in data.summary() and "known columns: age, sex" in data.summary()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, 'column "age" differs between the rows of one person, for 1 of 2 people'),
        ({"missing_person": None}, "the row has no id; give every row the id of its person, or use --missing-person"),
        ({"known_columns": "age,age"}, 'column "age" is named twice'),
        ({"known_columns": "age,dx"}, 'column "dx" has two roles (item and known)'),
        ({"drop": "sex"}, 'column "sex" has two roles (known and drop)'),
        ({"drop": "4"}, 'column "sex" has two roles (known and drop)'),
        ({"id_column": "visit"}, "mean the same; remove one of them"),
        ({"item_column": "sex"}, "mean the same; remove one of them"),
        ({"known_columns": "ages"}, 'no column "ages"; correct --known-columns'),
        ({"per_person": "mean"}, 'takes first, last, min, max or most, not "mean"'),
        ({"missing_person": "value"}, 'takes drop or error, not "value"'),
        ({"format": "basket", "person": None, "item": None, "missing_person": None}, "is for long, wide"),
        ({"column_hierarchy": {"dx": "flat"}}, '"dx" is not a known column'),
        ({"column_hierarchy": "age"}, 'takes COLUMN=HIERARCHY, not "age"'),
    ],
)
def test_what_is_wrong_is_one_line(change: dict[str, Any], says: str) -> None:
    given = {name: value for name, value in {**STATED, **change}.items() if value is not None}
    with pytest.raises(InputError) as problem:
        sv.read(io.BytesIO(VISITS), **given)
    assert says in str(problem.value) and "\n" not in str(problem.value)
    assert problem.value.exit_code == 2


def test_a_known_column_of_ids_is_refused() -> None:
    text = "pid,age,dx\n" + "".join(f"{n},{n},A\n{n},{n},B\n" for n in range(30))
    with pytest.raises(InputError, match="all 30 people have different values, as ids have"):
        sv.read(io.BytesIO(text.encode()), person="pid", item="dx", known_columns="age")
    data = sv.read(
        io.BytesIO(text.encode()), person="pid", item="dx", known_columns="age", column_hierarchy="age=bands:10"
    )
    assert data.columns is not None and data.columns["age"].hierarchy is not None


@pytest.mark.parametrize("role", ["carry", "sensitive_columns"])
def test_columns_of_ids_that_are_published_unchanged_are_named(role: str) -> None:
    rows = "".join(f"{n},N{n},{'mf'[n % 2]},A\n{n},N{n},{'mf'[n % 2]},B\n" for n in range(30))
    source = io.BytesIO(("pid,name,sex,dx\n" + rows).encode())
    with pytest.warns(sv.SetveilWarning, match='"name" is published unchanged, and 30 of 30 people have a value that'):
        sv.read(source, person="pid", item="dx", **{role: ["name", "sex"]})


def test_roles_of_data_that_was_read_are_refused() -> None:
    with pytest.raises(InputError, match="where it is read"):
        sv.read(sv.Transactions.from_lists([["a"]]), known_columns="age")


def test_items_alone_are_read_as_ever() -> None:
    text = b"patient,dx\n1,A\n1,B\n2,A\n"
    data = sv.read(io.BytesIO(text))
    assert data.columns is None
    assert data.to_lists() == sv.read(io.BytesIO(text), person="patient", item="dx").to_lists()


def test_columns_that_the_second_reader_does_not_compare_are_named(tmp_path: Path) -> None:
    from setveil.verify.originals import compare_readings

    path = tmp_path / "visits.csv"
    path.write_bytes(VISITS)
    data = compare_readings(sv.read(path, **STATED, per_person="max"))
    assert data.reading is not None and data.reading.second is not None
    second = data.reading.second.to_dict()
    assert second["compared"] and second["all"] and "columns_not_compared" not in second
    lines = tmp_path / "people.jsonl"
    lines.write_text('{"id": "1", "age": 30, "items": ["a"]}\n{"id": "2", "age": 40, "items": ["b"]}\n')
    data = compare_readings(sv.read(lines, known_columns="age"))
    assert data.reading is not None and data.reading.second is not None
    second = data.reading.second.to_dict()
    assert second["compared"] and second["all"] and "columns_not_compared" not in second
    frame = pl.DataFrame({"id": [1, 2], "day": [datetime(2024, 1, 1), datetime(2024, 1, 2)], "items": [["a"], ["b"]]})
    data = compare_readings(sv.read(frame, person="id", item="items", known_columns="day"), frame)
    assert data.reading is not None and data.reading.second is not None
    second = data.reading.second.to_dict()
    assert second["compared"] and not second["all"] and second["columns_not_compared"] == ["day"]
    alone = compare_readings(sv.read(path, person="patient", item="dx", missing_person="drop"))
    assert alone.reading is not None and alone.reading.second is not None
    assert alone.reading.second.to_dict()["all"]
