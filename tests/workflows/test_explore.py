"""Looking at data, compared with the obvious way."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.workflows import explore

RECORDS = st.lists(st.sets(st.sampled_from("abcde"), max_size=4), min_size=1, max_size=12)


@given(RECORDS, st.sets(st.sampled_from("abcde"), max_size=3))
def test_how_many_fit(records: list[set[str]], known: set[str]) -> None:
    data = sv.Transactions.from_lists(records)
    labels = sorted(known & set(data.vocabulary))
    assert explore.fitting(data, labels) == sum(set(labels) <= record for record in records)


@given(RECORDS)
def test_what_only_one_person_has(records: list[set[str]]) -> None:
    found = explore.rarest(sv.Transactions.from_lists(records), m=2, limit=100)
    occurring = {pair for record in records for n in (1, 2) for pair in combinations(sorted(record), n)}
    single = {items for items in occurring if sum(set(items) <= record for record in records) == 1}
    minimal = {items for items in single if not any(set(other) < set(items) for other in single)}
    assert dict(found) == dict.fromkeys(minimal, 1)


def test_items_by_name_the_most_frequent_first() -> None:
    data = sv.Transactions.from_lists([["Red wine", "beer"], ["beer"], ["white Wine", "Red wine"], ["tea"]])
    assert explore.find_items(data, "WINE ") == [("Red wine", 2), ("white Wine", 1)]
    assert explore.find_items(data, "wine", limit=1) == [("Red wine", 2)]
    assert explore.first_records(data, 2) == [("1", ["Red wine", "beer"]), ("2", ["beer"])]


def test_faults_of_a_hierarchy_stand_in_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    path.write_text("milk,dairy,food\nbeer,drinks,food\nbeer,alcohol,food\n")
    faults = explore.faults_of_hierarchy(str(path), sv.Transactions.from_lists([["milk", "beer", "rice"]]).vocabulary)
    told = [(fault.severity, fault.line, fault.text) for fault in faults]
    assert ("error", 3, "beer,alcohol,food") in told
    assert any(fault.line is None and "rice" in fault.message for fault in faults)


@given(RECORDS)
def test_how_many_items_people_have(records: list[set[str]]) -> None:
    counts, labels = explore.lengths(sv.Transactions.from_lists(records))
    assert {int(label): count for label, count in zip(labels, counts, strict=True) if count} == Counter(
        map(len, records)
    )


VISITS = "visit,patient,code,day\n" + "".join(f"{n},{n % 5},c{n % 3},d{n % 7}\n" for n in range(20))


def test_columns_and_what_they_are_taken_for(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS)
    columns, _ = explore.columns_of(str(path), {})
    assert [(one["name"], one["role"]) for one in columns if one["role"] in ("person", "item")] == [
        ("patient", "person"),
        ("code", "item"),
    ]
    assert all(one["role"] == one["proposed"] and one["reason"] for one in columns)
    stated = {"person": "visit", "item": ["code", "day"], "known_columns": ["patient"], "delimiter": ","}
    columns, _ = explore.columns_of(str(path), {**stated, "column_hierarchy": {"patient": "flat"}})
    assert [(one["name"], one["role"], one["hierarchy"]) for one in columns] == [
        ("visit", "person", ""),
        ("patient", "known", "flat"),
        ("code", "item", ""),
        ("day", "item", ""),
    ]
    columns, _ = explore.columns_of(str(path), {"id_column": "visit", "item_columns": "c*,d*"})
    assert [one["role"] for one in columns] == ["person", "drop", "item", "item"]
    (tmp_path / "numbers.dat").write_text("1 2 3\n2 3\n")
    assert explore.columns_of(str(tmp_path / "numbers.dat"), {}) == ([], [])
    path.write_text("a,a,b\n1,x,y\n2,x,z\n")  # names that do not do
    columns, _ = explore.columns_of(str(path), {})
    assert [one["key"] for one in columns] == ["1", "2", "b"]


def test_codes_have_names_from_their_system_and_from_a_list(tmp_path: Path) -> None:
    data = sv.Transactions.from_lists([["E11.9", "I10"], ["J18.9", "C50.9", "K21.9", "E10.1"], ["I10"]])
    (tmp_path / "list.csv").write_text("code,description\nI10,High pressure\nE11,Sugar of adults\n")
    blocks = explore.names_of_codes(data, None)
    assert (blocks["E11.9"], blocks["C50.9"]) == ("Diabetes", "Cancer of the breast")
    names = explore.names_of_codes(data, str(tmp_path / "list.csv"))
    assert names == blocks | {"I10": "High pressure", "I10.-": "High pressure", "E11.-": "Sugar of adults"}
    assert explore.find_items(data, "PRESSURE", names) == [("I10", 2)]
    assert explore.names_of_codes(sv.Transactions.from_lists([["milk", "rum"]]), None) == {}
