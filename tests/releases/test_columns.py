"""Columns as a release publishes them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setveil.core import Hierarchy
from setveil.core.columns import Column, Columns
from setveil.releases.columns import publish_columns

AGES = Hierarchy.from_paths([["9", "0-9", "*"], ["5", "0-9", "*"], ["10", "10-19", "*"], ["12", "10-19", "*"]])


@given(st.data())
def test_a_published_value_covers_the_original_one(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 8))
    ages = data.draw(st.lists(st.sampled_from(["9", "5", "10"]), min_size=n, max_size=n))
    places = data.draw(st.lists(st.sampled_from(["*", "x", "y", None]), min_size=n, max_size=n))
    columns = Columns(
        (
            Column.of("age", "known", ages, AGES),
            Column.of("ward", "carry", places),
            Column.of("place", "known", places),
        )
    )
    nodes = {}
    for column in columns.with_role("known"):
        leaves = column.leaves[column.codes].tolist()
        nodes[column.name] = np.array([data.draw(st.sampled_from(column.tree.ancestors(leaf))) for leaf in leaves])
    published = publish_columns(columns, nodes)
    assert published.names == ("age", "ward", "place")
    assert published["ward"].to_list() == columns["ward"].to_list()
    for name, at in nodes.items():
        after, tree = published[name], columns[name].tree
        assert after.cover is not None and after.cover.vocabulary == tree.vocabulary
        for record, value in enumerate(columns[name].to_list()):
            code = int(after.codes[record])
            assert after.values[code] == tree.published_labels[at[record]]
            covered = {tree.labels[leaf] for leaf in tree.leaves(int(at[record])).tolist()}
            assert {after.cover.vocabulary[int(leaf)] for leaf in after.cover[code]} == covered
            assert value in covered


def test_without_a_hierarchy_a_value_is_published_or_suppressed() -> None:
    column = Column.of("sex", "known", ["f", "m", "*", None])
    assert column.tree.n_items == 4 and column.tree.height == 1
    assert column.tree.labels[column.tree.root] not in column.values
    published = publish_columns(Columns((column,)), {})["sex"]
    assert published.to_list() == column.to_list()
