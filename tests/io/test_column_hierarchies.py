"""Hierarchies of known columns: every value below the groups that its rule names."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.core import Hierarchy
from setveil.core.columns import Column
from setveil.errors import InputError
from setveil.io.hierarchies.values import hierarchy_of_values


def groups(source: str, *cells: str | None) -> dict[str, list[str]]:
    """The labels above each value, fine to coarse."""
    column = Column.of("c", "known", list(cells))
    tree = hierarchy_of_values(source, column, "f.csv")
    assert tree is not None
    return {value: above(tree, value) for value in column.values}


def above(tree: Hierarchy, value: str) -> list[str]:
    node, labels = tree.vocabulary.number(value), []
    while (node := int(tree.parent[node])) >= 0:
        labels.append(tree.labels[node])
    return labels


def test_bands() -> None:
    assert groups("bands:5,10,20", "31", "39", None) == {
        "31": ["30-34", "30-39", "20-39", "*"], "39": ["35-39", "30-39", "20-39", "*"], "missing": ["*"],
    }  # fmt: skip
    assert groups("bands:5", "-3", "0")["-3"] == ["-5 to -1", "*"]
    assert groups("bands:0.5,1", "1.75", "2")["1.75"] == ["1.5 to <2", "1 to <2", "*"]
    ends = groups("bands:5,10:18..90", "17", "18", "89", "90", "104")
    assert ends == {
        "17": ["<18", "*"], "18": ["18-19", "18-19", "*"], "89": ["85-89", "80-89", "*"], "90": ["90+", "*"],
        "104": ["90+", "*"],
    }  # fmt: skip
    assert groups("bands:5:..90", "3", "95") == {"3": ["0-4", "*"], "95": ["90+", "*"]}


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=8), st.sampled_from(["5,10", "0.5", "3,9,27"]))
def test_numbers_share_a_band_if_they_should(numbers: list[object], widths: str) -> None:
    found = groups(f"bands:{widths}", *map(str, numbers))
    for level, width in enumerate(widths.split(",")):
        for one in found:
            for other in found:
                same = Fraction(one) // Fraction(width) == Fraction(other) // Fraction(width)
                assert (found[one][level] == found[other][level]) == same


def test_values_that_are_bands_already() -> None:
    assert groups("bands:x2", "[0-10)", "[10-20)", "[20-30)", "[90-100)") == {
        "[0-10)": ["[0-20)", "*"], "[10-20)": ["[0-20)", "*"], "[20-30)": ["[20-100)", "*"],
        "[90-100)": ["[20-100)", "*"],
    }  # fmt: skip
    found = groups("bands:x2,x4", "<18", "18-24", "25-34", "35-44", "65+", "45-64", None)
    assert found == {
        "<18": ["<=24", "<=44", "*"], "18-24": ["<=24", "<=44", "*"], "25-34": ["25-44", "<=44", "*"],
        "35-44": ["25-44", "<=44", "*"], "45-64": ["45+", "*"], "65+": ["45+", "*"], "missing": ["*"],
    }  # fmt: skip
    assert groups("bands:x2", "60 to 70", "70 to 80", "80 to 90")["80 to 90"] == ["*"]
    assert groups("bands:x3", "under 5", "[5,10)", "[10,15)", ">=15")["under 5"] == ["<15", "*"]


@pytest.mark.parametrize(
    ("source", "values", "problem"),
    [
        ("bands:5,10", ["70-79", "80-89"], "bands already.*merge neighbours with bands:x2,x4"),
        ("bands:x2", ["70-79", "75-89"], 'bands "70-79", "75-89" overlap'),
        ("bands:x2", ["70-79", "old"], '1 of 2 values are not bands.*"old"'),
        ("bands:x2", ["70", "80"], "2 of 2 values are not bands"),
        ("bands:x2,5", ["70-79", "80-89"], "bands:x2,x4"),
        ("bands:x2,x3", ["70-79", "80-89"], "each a multiple"),
        ("bands:x1", ["70-79", "80-89"], "each a multiple"),
    ],
)
def test_bands_that_cannot_be_merged(source: str, values: list[str], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        groups(source, *values)


@given(st.lists(st.integers(0, 40), min_size=2, max_size=9, unique=True), st.sampled_from([(2, 4), (3,), (2, 6)]))
def test_neighbouring_bands_share_groups(starts: list[int], factors: tuple[int, ...]) -> None:
    values = [f"{5 * start}-{5 * start + 4}" for start in starts]
    found = groups("bands:" + ",".join(f"x{factor}" for factor in factors), *values)
    ordered = [f"{5 * start}-{5 * start + 4}" for start in sorted(starts)]
    for value, labels in found.items():
        place = ordered.index(value)
        expected = []
        for factor in factors:
            members = ordered[place // factor * factor :][:factor]
            name = f"{members[0].partition('-')[0]}-{members[-1].partition('-')[2]}"
            if 1 < len(members) < len(ordered) and name not in expected:
                expected.append(name)
        assert labels == [*expected, "*"]


def test_dates_and_prefixes() -> None:
    assert groups("date:month,quarter,year", "2024-03-31", "2024-04-01T10:00:00") == {
        "2024-03-31": ["2024-03", "2024-Q1", "2024", "*"], "2024-04-01T10:00:00": ["2024-04", "2024-Q2", "2024", "*"],
    }  # fmt: skip
    assert groups("date:year,decade", "2024-03") == {"2024-03": ["2024", "2020s", "*"]}
    assert groups("prefix:3,1", "80331", "8") == {"80331": ["803*", "8*", "*"], "8": ["*"]}


def test_a_file_as_arx_exports_it(tmp_path: Path) -> None:
    file = tmp_path / "region.csv"
    file.write_text("north;N;*\nsouth;S;*\n")
    assert groups(str(file), "north", None) == {"north": ["N", "*"], "missing": ["*"]}
    with pytest.raises(InputError, match='lacks 1 of 2 values, as "west"; add them'):
        groups(str(file), "north", "west")


@pytest.mark.parametrize(
    ("source", "cells", "says"),
    [
        ("bands:5,12", ["1"], "a multiple of the one before"),
        ("bands:0", ["1"], "write the widths of bands"),
        ("bands:x", ["1"], "write the widths of bands"),
        ("bands:5:90..18", ["1"], "write open ends"),
        ("bands:5", ["1", "2", "old"], '1 of 3 values are not numbers, such as "old"'),
        ("date:year", ["2024-03-31", "31.03.2024"], "written in two styles"),
        ("date:year", ["2024-03-31", "2024-03"], "some dates have a day, others only a month"),
        ("date:year", ["2024-02-31"], "are not dates"),
        ("date:year,month", ["2024-03-31"], "from fine to coarse"),
        ("date:day", ["2024-03-31"], "there is month, quarter, year, decade"),
        ("prefix:5", ["80331"], "no value is longer than 5 characters"),
        ("prefix:a", ["80331"], "write lengths of prefixes"),
        ("flat:1", ["80331"], "takes no details"),
        ("none.csv", ["80331"], "none.csv"),
    ],
)
def test_what_does_not_fit_is_one_line(source: str, cells: list[str], says: str) -> None:
    with pytest.raises(InputError) as problem:
        groups(source, *cells)
    assert says in str(problem.value) and "\n" not in str(problem.value)
