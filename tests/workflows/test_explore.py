"""Looking at data, compared with the obvious way."""

from __future__ import annotations

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
