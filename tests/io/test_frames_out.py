"""Releases as frames: every layout says the same as ``transactions()``, and can be read again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.core import Transactions
from setveil.core.codebook import Codebook
from setveil.releases import Grouping, Recoding, Release, Replacement

ROWS = [["milk", "beer"], ["milk"], [], ["beer", "wine", "cheese"], ["wine", "group"]]
records = st.lists(st.sets(st.sampled_from("abcdefg"), max_size=5), min_size=1, max_size=12)


def recoding(rows: list[Any] = ROWS, merged: int = 2) -> Recoding:
    data = Transactions.from_lists(rows, ids=[f"p{number}" for number in range(len(rows))])
    return Recoding.from_clusters(data, np.arange(data.n_items) // merged)


def grouping() -> Grouping:
    rows = [["a", "hiv"], ["a"], ["b", "c"], ["b"], ["c"], ["group"]]
    return Grouping.from_groups(Transactions.from_lists(rows), np.array([1, 1, 0, 0, 2, 2]), ["hiv"])


def kinds() -> list[Release]:
    data = Transactions.from_lists(ROWS)
    replaced = Replacement.from_centres(data, np.zeros(5, dtype=int), data.select(np.array([0])))
    return [recoding(), grouping(), replaced]


def read_back(frame: Any, **options: Any) -> list[set[str]]:
    return [set(row) for row in sv.read(frame, labels_as_they_are=True, **options).to_lists()]


@settings(max_examples=30)
@given(records)
def test_every_frame_holds_the_published_records(rows: list[set[str]]) -> None:
    release = recoding([sorted(row) for row in rows])
    published = release.transactions()
    labels = list(release.published.vocabulary)
    assert [set(row) for row in release.to_lists()] == published
    assert [set(row) for row in release.to_polars("list")["items"].to_list()] == published
    assert [set(row) for row in release.to_pandas("list")["items"]] == published
    long = release.to_polars()
    assert long.columns == ["record", "item"]
    seen: list[set[str]] = [set() for _ in rows]
    for record, item in long.iter_rows():
        seen[record] |= {item} - {""}
    assert seen == published
    assert list(map(tuple, release.to_pandas().itertuples(index=False))) == long.rows()
    hot = release.to_pandas("onehot")
    assert [{label for label in labels if row[label]} for _, row in hot.iterrows()] == published
    assert hot.dtypes.eq(bool).all()
    assert np.array_equal(release.to_sparse().toarray(), hot.to_numpy(dtype=bool).reshape(len(rows), len(labels)))


def test_frames_of_every_kind_can_be_read_again() -> None:
    for release in kinds():
        published = release.transactions()
        columns = {"id_column": "record", "item_column": "item"}
        assert read_back(release.to_polars(), **columns) == published
        assert read_back(release.to_pandas(), **columns) == published
        assert read_back(release.to_polars("list")) == published
        assert read_back(release.to_sparse().toarray()) is not None
        assert isinstance(release.to_arrow("list"), pa.Table)
        assert release.to_arrow().num_rows == release.to_polars().height


def test_order_of_the_files_tells_nothing() -> None:
    one, other = recoding(ROWS), recoding(ROWS[::-1])
    assert one.to_lists(keep_order=False) == other.to_lists(keep_order=False) != one.to_lists()
    assert one.to_polars("onehot", keep_order=False).equals(other.to_polars("onehot", keep_order=False))
    groups = grouping()
    assert groups.to_polars(keep_order=False)["group"].is_sorted()


def test_ids_are_shown_only_when_asked_for() -> None:
    release = recoding()
    for layout in ("long", "list", "onehot"):
        assert "p0" not in str(release.to_polars(layout).rows()) + str(release.to_pandas(layout).reset_index())
    named = release.with_ids()
    assert type(named) is Recoding
    assert named.to_pandas("onehot").index.tolist() == named.to_polars("list")["id"].to_list()
    assert named.to_pandas("list").index.name == "id"
    assert set(named.to_pandas()["id"]) == {"p0", "p1", "p2", "p3", "p4"}
    given_ids = release.with_ids(pd.Index([7, 8, 9, 10, 11]))
    assert given_ids.to_polars("list")["id"].to_list() == ["7", "8", "9", "10", "11"]
    with pytest.raises(sv.InputError, match="one per record"):
        release.with_ids(["a"])
    with pytest.raises(sv.InputError, match="keep_ids=True"):
        grouping().with_ids()


def test_columns_carry_the_names_they_came_with() -> None:
    frame = pd.DataFrame({"patient": [1, 1, 2, 2, 3, 3], "code": ["x", "y", "x", "y", "x", "y"]})
    release = sv.anonymize(frame, "km", k=2, m=2, hierarchy="fanout:2", read_options={"keep_ids": True})
    assert list(release.with_ids().to_pandas().columns) == ["patient", "code"]
    assert list(release.to_pandas().columns) == ["record", "code"]


def test_groupings_show_groups_and_counts() -> None:
    release = grouping()
    assert release.to_polars().columns == ["record", "group", "item"]
    hot = release.to_polars("onehot")  # an item is called "group"
    assert hot.columns == ["group (group)", "a", "b", "c", "group"]
    counts = release.to_polars("sensitive")
    assert counts.columns == ["group", "item", "count"]
    number = release.to_polars("list").filter(pl.col("items").list.contains("a"))["group"].unique().to_list()
    assert counts.rows() == [(number[0], "hiv", 1)]
    assert list(map(tuple, release.to_pandas("sensitive").itertuples(index=False))) == counts.rows()
    with pytest.raises(sv.InputError, match="only groupings"):
        recoding().to_polars("sensitive")


def test_a_layout_that_does_not_exist_is_refused() -> None:
    with pytest.raises(sv.InputError, match="long, list, onehot"):
        recoding().to_pandas("wide")


def test_a_codebook_answers_both_ways() -> None:
    book = recoding().codebook()
    assert book == {"beer or cheese": ["beer", "cheese"], "group or milk": ["group", "milk"], "wine": ["wine"]}
    assert isinstance(book, dict)
    assert book.published("milk") == "group or milk"
    with pytest.raises(sv.InputError, match="not in the codebook"):
        book.published("rum")
    assert book.to_polars().columns == ["published_item", "item"]
    assert list(map(tuple, book.to_pandas().itertuples(index=False))) == book.to_polars().rows()
    assert Codebook({"": ["x"], "a": ["a"]}).published("x") == ""
    local = Codebook({"A": ["a", "b"], "a": ["a"]})
    assert local.all_published("a") == ("A", "a")
    with pytest.raises(sv.InputError, match="all_published"):
        local.published("a")
    assert len(repr(Codebook({f"i{n}": [f"i{n}"] * 50 for n in range(500)}))) < 2000
