"""Balanced hierarchies over items in ascending order."""

from __future__ import annotations

import pytest

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.taxonomies.balanced import balanced


def shape(tree: Hierarchy, node: int) -> object:
    """Nested lists of leaf labels."""
    if node < tree.n_items:
        return tree.labels[node]
    return [shape(tree, child) for child in tree.children[node]]


def numbers(n: int) -> Vocabulary:
    return Vocabulary(str(number) for number in range(n))


def test_groups_of_groups_from_the_bottom() -> None:
    tree = balanced(numbers(7), 2)
    assert shape(tree, tree.root) == [[["0", "1"], ["2", "3"]], [["4", "5"], "6"]]
    assert sorted(tree.labels[tree.n_items :]) == ["0..1", "0..3", "0..6", "2..3", "4..5", "4..6"]


def test_every_group_but_the_last_is_full() -> None:
    for n in range(1, 60):
        for fanout in (2, 3, 5):
            tree = balanced(numbers(n), fanout)
            assert [int(tree.labels[leaf]) for leaf in tree.leaf_order] == list(range(n))
            sizes = [len(children) for children in tree.children if children]
            assert all(2 <= size <= fanout for size in sizes) or n == 1
            for node in range(tree.n_nodes):
                if len(tree.leaves(node)) not in (fanout**level for level in range(10)):
                    assert tree.last[node] == n, "only the last group of a level may be short"


def test_ascending_is_by_value_for_numbers() -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([["10", "9", "2", "1"]]), 2)
    assert shape(tree, tree.root) == [["1", "2"], ["9", "10"]]


def test_one_item() -> None:
    tree = balanced(numbers(1), 5)
    assert tree.n_items == 1
    assert tree.labels[tree.root] == "ALL"


def test_labels_may_repeat_those_of_items() -> None:
    tree = balanced(Vocabulary(["a", "a..b", "b"]), 3)
    assert tree.labels[tree.root] == "a..b"
    assert len(set(tree.published_labels)) == tree.n_nodes


@pytest.mark.parametrize("fanout", [1, 0, -3, 2.5, True, "5"])
def test_bad_fanout(fanout: object) -> None:
    with pytest.raises(InputError, match="fan-out of a balanced hierarchy must be a whole number of at least 2"):
        balanced(numbers(4), fanout)  # type: ignore[arg-type]


def test_no_items() -> None:
    with pytest.raises(InputError, match="at least one item"):
        balanced(Vocabulary([]), 5)
