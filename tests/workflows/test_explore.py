"""Looking at data, compared with the obvious way."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import InputError
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
    columns = explore.columns_of(str(path), {})
    assert [(name, role) for name, role, _ in columns] == [
        ("visit", "unused"),
        ("patient", "id"),
        ("code", "item"),
        ("day", "unused"),
    ]
    assert columns[2].cells == ["c0", "c1", "c2"]
    (tmp_path / "numbers.dat").write_text("1 2 3\n2 3\n")
    assert explore.columns_of(str(tmp_path / "numbers.dat"), {}) == []
    (tmp_path / "odd.csv").write_text("a,b,c\n1,x,2.5\n2,y,3.5\n")  # nobody can tell: asked with nothing said
    assert [column.role for column in explore.columns_of(str(tmp_path / "odd.csv"), {"format": "long"})] == [""] * 3


@pytest.mark.parametrize(
    ("roles", "n_people", "items"),
    [
        ({"visit": "id", "code": "item", "day": "item"}, 20, {"c0", "d0"}),
        ({"visit": "id", "code": "item"}, 20, {"c0"}),
        ({"patient": "id", "day": "item"}, 5, {"d0", "d5", "d3", "d1"}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(is not used; a person with several records|has one item only)")
def test_roles_are_said_to_the_reader(roles: dict[str, str], n_people: int, items: set[str], tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS)
    named = [(name, roles.get(name, "unused")) for name in ("visit", "patient", "code", "day")]
    data = sv.read(path, **explore.options_of_roles(named, "long"))
    assert data.n_records == n_people
    assert set(data.to_lists()[0]) == items


def test_roles_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="choose one column"):
        explore.options_of_roles([("a", "id"), ("b", "id"), ("c", "item")], None)
    with pytest.raises(InputError, match="left for items"):
        explore.options_of_roles([("a", "id"), ("b", "unused")], None)
