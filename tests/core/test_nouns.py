"""The nouns: vocabulary, transactions, itemsets, releases."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.arrays.rows import renumber_rows
from setveil.core import Hierarchy, Itemsets, Transactions, Vocabulary
from setveil.core.vocabulary import ascending
from setveil.errors import InputError
from setveil.releases import Grouping, LocalRecoding, Recoding, Replacement
from tests.strategies import databases, hierarchies, records


def test_numeric_labels_are_ordered_by_value_then_string() -> None:
    assert ascending(["10", "9", "010", "0", "00"]) == ["0", "00", "9", "010", "10"]


def test_one_text_label_makes_the_order_that_of_code_points() -> None:
    assert ascending(["10", "9", "a", "Z", "é"]) == ["10", "9", "Z", "a", "é"]


def test_digits_of_other_scripts_are_text() -> None:
    assert ascending(["10", "9", "٣"]) == ["10", "9", "٣"]


def test_a_vocabulary_refuses_empty_labels() -> None:
    with pytest.raises(InputError, match="empty"):
        Vocabulary(["a", ""])


def test_encoding_names_strangers() -> None:
    with pytest.raises(InputError, match=r'unknown item "x", "y"'):
        Vocabulary(["a"]).encode(["a", "x", "y"])


@given(records(max_records=20))
def test_transactions_keep_records_as_sorted_sets(rows: list[list[str]]) -> None:
    data = Transactions.from_lists(rows)
    assert data.to_lists() == [sorted(set(row)) for row in rows]
    assert data.n_empty == sum(1 for row in rows if not row)
    assert data.lengths.tolist() == [len(set(row)) for row in rows]


def test_repeats_collapse_and_integers_become_labels() -> None:
    data = Transactions.from_lists([[3, 3, 1], ["10"], []])
    assert data.to_lists() == [["1", "3"], ["10"], []]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["abc"], "record 0 is a string"),
        ([["a"], [None]], "record 1: an item is null or NaN"),
        ([[float("nan")]], "null or NaN"),
        ([[1.5]], "neither text nor an integer"),
        ([[True]], "neither text nor an integer"),
        ([[""]], "empty"),
    ],
)
def test_bad_items_from_python_are_refused(rows: list[list[object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Transactions.from_lists(rows)


def test_the_word_nan_is_a_label() -> None:
    assert Transactions.from_lists([["NaN", "null"]]).to_lists() == [["NaN", "null"]]


@given(databases(max_records=25), st.sampled_from([1, 3, 40, 5000, 2**30]))
def test_order_and_distinct_rows_agree_with_sorting_tuples(data: Transactions, spread: int) -> None:
    # Spreading item numbers changes how many columns are packed into one key.
    wide = Transactions(
        data.indptr, data.items * np.int32(spread // 8 + 1), _Wide(data.n_items * (spread // 8 + 1) + 1)
    )
    rows = [tuple(wide.record(number).tolist()) for number in range(len(wide))]
    assert wide.lexicographic_order().tolist() == sorted(range(len(rows)), key=lambda number: rows[number])
    distinct, weights, inverse = wide.distinct()
    found = [tuple(distinct.record(number).tolist()) for number in range(len(distinct))]
    assert found == sorted(set(rows))
    assert [found[number] for number in inverse] == rows
    assert weights.tolist() == [rows.count(row) for row in found]
    ranks = wide.row_ranks()
    assert all((ranks[a] == ranks[b]) == (rows[a] == rows[b]) for a in range(len(rows)) for b in range(len(rows)))


@given(databases(max_records=25), st.integers(1, 9))
def test_many_entries_are_counted_in_parts(data: Transactions, large: int) -> None:
    with patch("setveil.core.transactions.LARGE", large):
        counted = Transactions(data.indptr, data.items, data.vocabulary).supports
    assert counted.tolist() == data.supports.tolist()


class _Wide(Vocabulary):
    """A vocabulary that only has a length: the labels of a large domain are not needed here."""

    def __init__(self, size: int) -> None:
        self.labels = ()
        self.size = size

    def __len__(self) -> int:
        return self.size


def test_rows_that_end_at_a_block_edge_come_before_their_extensions() -> None:
    width = 63 // 4  # columns packed into one key for 15 items
    items = [str(number) for number in range(15)]
    rows = [items[:width], items[:width], items, items[: width - 1]]
    data = Transactions.from_lists(rows)
    assert data.lexicographic_order().tolist() == [3, 0, 1, 2]


@given(databases(max_records=15))
def test_inverted_lists_hold_the_records_of_each_item(data: Transactions) -> None:
    indptr, owners = data.inverted()
    for item, label in enumerate(data.vocabulary):
        found = owners[indptr[item] : indptr[item + 1]].tolist()
        assert found == [number for number, row in enumerate(data.to_lists()) if label in row]


@given(databases(max_records=15), st.data())
def test_recode_merges_and_drops(data: Transactions, draw: st.DataObject) -> None:
    target = draw.draw(st.lists(st.integers(-1, 2), min_size=data.n_items, max_size=data.n_items))
    recoded = data.recode(np.array(target, dtype=np.int32), Vocabulary(["x", "y", "z"]))
    expected = [sorted({"xyz"[target[item]] for item in data.record(n) if target[item] >= 0}) for n in range(len(data))]
    assert recoded.to_lists() == expected
    indptr, items = renumber_rows(data.indptr, data.items, np.array(target, dtype=np.int32))  # where the data is large
    assert (indptr.tolist(), items.tolist()) == (recoded.indptr.tolist(), recoded.items.tolist())


def test_a_larger_domain_keeps_the_records() -> None:
    data = Transactions.from_lists([["b"], ["d", "b"]])
    assert data.over(Vocabulary("abcde")).to_lists() == data.to_lists()


def test_itemsets_with_unknown_items_are_told_apart() -> None:
    known, unknown = Itemsets.from_lists([["b", "a"], ["z", "a"], []], Vocabulary(["a", "b"]))
    assert known.to_lists() == [["a", "b"], []]
    assert unknown == {1: ["z"]}


# -- releases -----------------------------------------------------------------------------------------------------


@given(databases(items="abcdefgh", max_records=10), hierarchies(), st.data())
def test_a_cut_publishes_nodes_and_accounts_for_every_leaf(
    data: Transactions, tree: Hierarchy, draw: st.DataObject
) -> None:
    node_of_leaf = np.arange(tree.n_items, dtype=np.int32)
    for node in draw.draw(st.lists(st.integers(0, tree.n_nodes - 1), max_size=3)):
        node_of_leaf[tree.leaves(node)] = node
    if draw.draw(st.booleans()):
        node_of_leaf[draw.draw(st.integers(0, tree.n_items - 1))] = -1
    release = Recoding.from_cut(data, tree, node_of_leaf)
    shown = dict(zip(tree.vocabulary, node_of_leaf.tolist(), strict=True))
    expected = [{tree.published_labels[shown[item]] for item in row if shown[item] >= 0} for row in data.to_lists()]
    assert release.transactions() == expected
    book = release.codebook()
    assert book.get("", []) == [item for item in tree.vocabulary if shown[item] < 0]
    for label, items in book.items():
        if label:
            assert items == [
                item for item in tree.vocabulary if shown[item] >= 0 and tree.published_labels[shown[item]] == label
            ]
            assert any(label in row for row in expected)


def test_small_clusters_are_named_by_their_members() -> None:
    data = Transactions.from_lists([["a", "b"], ["c"], ["d"]])
    release = Recoding.from_clusters(data, np.array([7, 3, 7, -1]))
    assert release.transactions() == [{"a or c", "b"}, {"a or c"}, set()]
    assert release.codebook() == {"a or c": ["a", "c"], "b": ["b"], "": ["d"]}


def test_a_cluster_name_never_meets_an_item_of_the_same_name() -> None:
    data = Transactions.from_lists([["a", "b"], ["a or b"]])
    release = Recoding.from_clusters(data, np.array([0, 1, 0]))
    assert release.codebook() == {"a or b (group)": ["a", "b"], "a or b": ["a or b"]}


def test_no_set_is_called_like_one_item() -> None:
    items = [f"A{number:02d}" for number in range(20)]
    data = Transactions.from_lists([items])
    release = Recoding.from_clusters(data, np.repeat([5, 2, 9, 1], [6, 4, 9, 1]))
    assert list(release.codebook()) == ["A06 or A07 or A08 or A09", "A19", "group 1 of 6 items", "group 2 of 9 items"]
    assert release.codebook()["group 2 of 9 items"] == items[10:19]
    long = Transactions.from_lists([["x" * 50, "y" * 50]])  # two names that would not fit a line
    assert list(Recoding.from_clusters(long, np.zeros(2, dtype=int)).codebook()) == ["group 1 of 2 items"]


def test_repeated_labels_of_the_hierarchy_are_told_apart() -> None:
    tree = Hierarchy.from_paths([("sausage", "sausage", "meat"), ("ham", "sausage", "meat"), ("milk", "dairy")])
    data = Transactions.from_lists([["sausage"], ["ham", "milk"]])
    leaf_cut = Recoding.from_cut(data, tree, np.arange(3))
    assert leaf_cut.transactions() == [{"sausage"}, {"ham", "milk"}]
    raised = Recoding.from_cut(data, tree, tree.parent[:3])
    assert raised.codebook() == {"dairy": ["milk"], "sausage (group)": ["ham", "sausage"]}


def test_a_local_recoding_may_publish_an_item_in_two_ways() -> None:
    tree = Hierarchy.from_paths([("a", "A"), ("b", "A"), ("c", "C")])
    data = Transactions.from_lists([["a", "c"], ["a"], ["b"]])
    nodes = np.array([0, 2, tree.parent[0], tree.parent[0]])
    release = LocalRecoding.from_nodes(data, tree, nodes)
    assert release.transactions() == [{"a", "c"}, {"A"}, {"A"}]
    assert release.codebook() == {"A": ["a", "b"], "a": ["a"], "c": ["c"]}


def test_a_replacement_keeps_each_records_own_sensitive_items() -> None:
    data = Transactions.from_lists([["a", "hiv"], ["a", "b"], ["c"], ["c", "flu"]])
    centres = Transactions.from_lists([["a"], ["c"]]).over(data.vocabulary)
    release = Replacement.from_centres(data, np.array([0, 0, 1, 1]), centres, ["hiv", "flu"])
    assert release.transactions() == [{"a", "hiv"}, {"a"}, {"c"}, {"c", "flu"}]


def test_a_grouping_counts_sensitive_items_per_group() -> None:
    data = Transactions.from_lists([["a", "hiv"], ["b"], ["c", "hiv", "flu"], ["d"]])
    release = Grouping.from_groups(data, np.array([5, 5, 9, 9]), ["hiv", "flu", "gout"])
    assert release.transactions() == [{"a"}, {"b"}, {"c"}, {"d"}]
    assert release.n_groups == 2
    counts = zip(release.count_group, release.count_item, release.count, strict=True)
    assert [(int(g), release.sensitive[int(i)], int(c)) for g, i, c in counts] == [
        (0, "hiv", 1),
        (1, "flu", 1),
        (1, "hiv", 1),
    ]
