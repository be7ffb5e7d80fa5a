"""Columns besides the items travel with their records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setveil.core import Transactions, Vocabulary
from setveil.core.columns import Column, Columns

CELLS = st.one_of(st.none(), st.sampled_from(["a", "b", "10", "9", "missing", " ", "|"]))


def test_a_missing_value_is_a_value_of_its_own() -> None:
    column = Column.of("sex", "known", ["f", None, "missing", "f"])
    assert column.to_list() == ["f", column.missing, "missing", "f"]
    assert column.missing not in ("", "missing")
    assert column.counts.sum() == 4


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=12))
def test_classes_are_the_people_with_equal_known_columns(rows: list[tuple[str | None, str | None]]) -> None:
    first, second = ([row[place] for row in rows] for place in (0, 1))
    columns = Columns(
        (Column.of("x", "known", first), Column.of("y", "sensitive", second), Column.of("z", "known", second))
    )
    classes = columns.classes(len(rows))
    for one in range(len(rows)):
        for other in range(len(rows)):
            assert (classes[one] == classes[other]) == (rows[one] == rows[other])
    assert set(classes.tolist()) == set(range(len(set(rows))))


def test_columns_follow_their_records() -> None:
    data = Transactions.from_lists([["a"], ["b", "c"], []])
    data = replace(data, columns=Columns((Column.of("age", "known", ["30", "40", "50"]),)))
    chosen = data.select(np.array([2, 0]))
    assert chosen.columns is not None
    assert chosen.columns["age"].to_list() == ["50", "30"]
    merged = data.recode(np.array([0, 0, -1]), Vocabulary(["x"]))
    assert merged.columns is not None
    assert merged.columns["age"].to_list() == ["30", "40", "50"]
    assert data.distinct().rows.columns is None
