"""The tree in arrays, against nested tuples."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.core.vocabulary import ascending
from setveil.errors import InputError
from tests.naive import hierarchy as naive
from tests.strategies import hierarchies


def as_tuples(tree: Hierarchy, node: int | None = None) -> naive.Tree:
    node = tree.root if node is None else node
    return tree.labels[node], [as_tuples(tree, child) for child in tree.children[node]]


def assert_consistent(tree: Hierarchy) -> None:
    """What the class promises, from the parents alone."""
    n = tree.n_nodes
    above = [tree.ancestors(node) for node in range(n)]
    assert sorted(tree.preorder.tolist()) == list(range(n))
    assert [node for node in range(n) if tree.parent[node] < 0] == [tree.root]
    assert list(tree.vocabulary) == ascending(tree.vocabulary)
    assert sorted(tree.leaf_order.tolist()) == list(range(tree.n_items))
    assert np.diff(tree.preorder[tree.leaf_order]).min(initial=1) > 0
    for node in range(n):
        assert bool(tree.children[node]) == (node >= tree.n_items)
        assert tree.depth[node] == len(above[node]) - 1
        below = {leaf for leaf in range(tree.n_items) if node in above[leaf]}
        assert set(tree.leaves(node).tolist()) == below
        assert tree.n_leaves[node] == len(below)
        assert [tree.covers(node, other) for other in range(n)] == [node in above[other] for other in range(n)]
    assert len(set(tree.published_labels)) == n
    assert tree.published_labels[: tree.n_items] == tree.labels[: tree.n_items]
    assert tree.height == max(tree.depth)


def test_agrees_with_nested_tuples_on_random_trees() -> None:
    rng = random.Random(1)
    for _ in range(400):
        given = naive.random_tree(rng, rng.randint(1, 9), repeat=rng.choice([0.0, 0.4]))
        tree = Hierarchy.from_parents(*naive.parents_and_labels(given))
        assert as_tuples(tree) == given
        assert [tree.labels[leaf] for leaf in tree.leaf_order] == naive.leaves(given)
        assert [tree.labels[node] for node in tree.in_preorder] == [node[0] for node, _ in naive.walk(given)]
        assert_consistent(tree)


@given(hierarchies())
def test_paths_and_parents_make_the_same_tree(tree: Hierarchy) -> None:
    assert_consistent(tree)
    again = Hierarchy.from_paths([tree.labels[node] for node in tree.ancestors(leaf)] for leaf in tree.leaf_order)
    assert again.labels == tree.labels
    assert again.parent.tolist() == tree.parent.tolist()
    assert again.preorder.tolist() == tree.preorder.tolist()


def test_any_numbering_of_the_nodes_gives_the_same_tree_up_to_sibling_order() -> None:
    rng = random.Random(2)
    for _ in range(100):
        parents, labels = naive.parents_and_labels(naive.random_tree(rng, rng.randint(1, 8)))
        order = list(range(len(labels)))
        rng.shuffle(order)
        place = {node: number for number, node in enumerate(order)}
        shuffled = Hierarchy.from_parents(
            [place[parents[node]] if parents[node] >= 0 else -1 for node in order], [labels[node] for node in order]
        )
        tree = Hierarchy.from_parents(parents, labels)
        assert shuffled.vocabulary == tree.vocabulary
        for leaf in range(tree.n_items):
            assert [shuffled.labels[n] for n in shuffled.ancestors(leaf)] == [
                tree.labels[n] for n in tree.ancestors(leaf)
            ]
        assert_consistent(shuffled)


def test_one_node_gets_a_root() -> None:
    tree = Hierarchy.from_parents([-1], ["milk"])
    assert as_tuples(tree) == ("ALL", [("milk", [])])


def test_a_forest_gets_a_root_that_is_nobody_else() -> None:
    tree = Hierarchy.from_paths([["milk", "ALL"], ["beer", "drinks"], ["bag"]])
    assert as_tuples(tree) == ("ALL (group)", [("ALL", [("milk", [])]), ("drinks", [("beer", [])]), ("bag", [])])


def test_nodes_of_a_unary_chain_are_told_apart() -> None:
    tree = Hierarchy.from_paths([["a", "b", "c"]])
    leaf, middle, root = tree.ancestors(0)
    assert tree.leaves(root).tolist() == tree.leaves(middle).tolist() == [leaf]
    assert tree.covers(root, middle)
    assert not tree.covers(middle, root)


def test_an_item_may_share_the_label_of_its_group() -> None:
    tree = Hierarchy.from_paths([["ham", "sausage", "meat"], ["sausage", "sausage", "meat"], ["meat", "meat"]])
    assert as_tuples(tree) == ("meat", [("sausage", [("ham", []), ("sausage", [])]), ("meat", [])])
    assert tree.published_labels[tree.n_items :] == ("meat (group)", "sausage (group)")
    assert tree.leaf_of_items(Vocabulary(["sausage", "meat"])).tolist() == [1, 2]


def test_marks_do_not_collide_with_labels_that_look_like_marks() -> None:
    tree = Hierarchy.from_paths([["a", "x"], ["x", "x"], ["x (group)", "y"], ["b", "x", "y"]])
    assert_consistent(tree)


def test_deep_and_wide_trees_need_no_recursion() -> None:
    deep = Hierarchy.from_paths([["leaf", *(f"n{level}" for level in range(20_000))]])
    assert deep.height == 20_000
    assert len(deep.ancestors(0)) == 20_001
    wide = Hierarchy.from_paths([[str(item), f"g{item // 20}", f"h{item // 400}"] for item in range(20_000)])
    assert wide.n_items == 20_000
    assert wide.height == 3
    assert len(wide.published_labels) == 20_000 + 1_000 + 50 + 1


@pytest.mark.parametrize(
    ("parents", "labels", "message"),
    [
        ([], [], "no nodes"),
        ([1, 0], ["a", "b"], 'a cycle through "a", "b"'),
        ([-1, 0, 3, 2], ["r", "a", "b", "c"], 'a cycle through "b", "c"'),
        ([0], ["a"], "a cycle"),
        ([-1, 0, 0], ["r", "a", "a"], 'item "a" occurs twice'),
        ([-1, 0], ["r", ""], "empty label"),
    ],
)
def test_what_is_no_tree_is_refused(parents: list[int], labels: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.from_parents(parents, labels)


def test_misuse_is_refused() -> None:
    with pytest.raises(ValueError, match="parent among the nodes"):
        Hierarchy.from_parents([-1, 7], ["r", "a"])
    with pytest.raises(ValueError, match="needs a label"):
        Hierarchy.from_parents([-1, 0], ["r"])


# -- meeting the data ---------------------------------------------------------------------------------------------

DRINKS = Hierarchy.from_paths([["beer", "alcohol", "drinks"], ["wine", "alcohol", "drinks"], ["milk", "drinks"]])


def test_items_find_their_leaves() -> None:
    data = Transactions.from_lists([["wine", "beer"], ["milk"]])
    leaves = DRINKS.leaf_of_items(data.vocabulary)
    assert [DRINKS.labels[leaf] for leaf in leaves] == ["beer", "milk", "wine"]
    assert leaves.dtype == np.int32


def test_missing_items_are_named_but_not_all_of_a_thousand() -> None:
    with pytest.raises(InputError) as error:
        DRINKS.leaf_of_items(Vocabulary(["beer", *(f"x{number:04}" for number in range(1_000))]))
    text = str(error.value)
    assert "lacks 1,000 items" in text
    assert '"x0000", "x0001", "x0002", "x0003", "x0004" and 995 more' in text
    assert 'unknown_items="root"' in text
    assert "\n" not in text


def test_an_inner_node_in_the_data_is_an_error_in_both_ways() -> None:
    with pytest.raises(InputError, match='"alcohol", which the hierarchy has as an inner node'):
        DRINKS.leaf_of_items(Vocabulary(["beer", "alcohol", "tea"]))
    with pytest.raises(InputError, match='"alcohol", which the hierarchy has as an inner node'):
        DRINKS.with_items_below_root(["tea", "alcohol"])


def test_unknown_items_go_below_the_root_and_leave_the_rest_alone() -> None:
    tree = DRINKS.with_items_below_root(["tea", "ale"])
    assert as_tuples(tree) == (
        "drinks",
        [("alcohol", [("beer", []), ("wine", [])]), ("milk", []), ("ale", []), ("tea", [])],
    )
    assert as_tuples(DRINKS.with_items_below_root([])) == as_tuples(DRINKS)
    with pytest.raises(InputError, match='"beer" occurs twice'):
        DRINKS.with_items_below_root(["beer"])
