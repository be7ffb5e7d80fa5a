"""Hierarchies changed by hand: items are never lost, groups that lose everything go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import InputError
from setveil.workflows import tree_edits as edits

TREE = sv.Hierarchy.from_paths([["a", "ab", "abc"], ["b", "ab", "abc"], ["c", "abc"], ["d", "de"], ["e", "de"]])


def number(tree: sv.Hierarchy, label: str) -> int:
    return tree.labels.index(label)


def paths(tree: sv.Hierarchy) -> dict[str, list[str]]:
    return {
        tree.labels[leaf]: [tree.labels[node] for node in tree.ancestors(leaf)[1:-1]] for leaf in range(tree.n_items)
    }


def test_each_change() -> None:
    assert paths(edits.renamed(TREE, number(TREE, "ab"), " both "))["a"] == ["both", "abc"]
    assert paths(edits.moved(TREE, [number(TREE, "ab")], number(TREE, "de")))["a"] == ["ab", "de"]
    assert paths(edits.moved(TREE, [number(TREE, "c")], number(TREE, "ab")))["c"] == ["ab", "abc"]
    assert paths(edits.dissolved(TREE, number(TREE, "ab")))["a"] == ["abc"]
    parted = paths(edits.split(TREE, [number(TREE, "ab")], "apart"))
    assert (parted["a"], parted["c"]) == (["ab", "apart"], ["abc"])
    merged = edits.merged(TREE, [number(TREE, "abc"), number(TREE, "de")], "all letters")
    assert paths(merged)["d"][0] == "de"
    merged = edits.merged(TREE, [number(TREE, "ab"), number(TREE, "c")], "again")
    assert paths(merged)["c"] == ["again", "abc"]


def test_a_group_that_lost_everything_goes() -> None:
    once = edits.moved(TREE, [number(TREE, "d")], number(TREE, "ab"))
    twice = edits.moved(once, [number(once, "e")], number(once, "ab"))
    assert "de" not in twice.labels
    assert twice.vocabulary == TREE.vocabulary


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: edits.renamed(TREE, number(TREE, "a"), "x"), "choose a group"),
        (lambda: edits.renamed(TREE, number(TREE, "ab"), " "), "visible characters"),
        (lambda: edits.renamed(TREE, number(TREE, "ab"), "a\u202eb"), "visible characters"),
        (lambda: edits.moved(TREE, [number(TREE, "abc")], number(TREE, "ab")), "below itself"),
        (lambda: edits.moved(TREE, [number(TREE, "a")], number(TREE, "b")), "choose a group"),
        (lambda: edits.merged(TREE, [number(TREE, "a"), number(TREE, "d")], "x"), "same group"),
        (lambda: edits.dissolved(TREE, TREE.root), "cannot be changed"),
    ],
)
def test_what_makes_no_sense_is_refused(change, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=words):
        change()


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8))
def test_no_item_is_ever_lost(moves: list[tuple[int, int]]) -> None:
    tree = TREE
    for node, target in moves:
        try:
            tree = edits.moved(tree, [node % tree.n_nodes], target % tree.n_nodes)
        except InputError:
            continue
        assert tree.vocabulary == TREE.vocabulary


def test_splitting_needs_something_that_stays_and_a_place_beside() -> None:
    for nodes in ([], [number(TREE, "d"), number(TREE, "e")], [number(TREE, "abc")], [0, number(TREE, "d")]):
        with pytest.raises(InputError):
            edits.split(TREE, nodes, "apart")


def test_groups_without_a_name_are_found_until_they_have_one() -> None:
    tree = sv.Hierarchy.from_paths(
        [["a", "a or b"], ["b", "a or b"], ["c", "group 2 of 6 items"], ["d", "c or d"], ["e", "e..f"], ["f", "e..f"]]
    )
    nodes, n_all = edits.unnamed(tree)
    assert sorted(tree.labels[node] for node in nodes) == [
        "a or b",
        "e..f",
        "group 2 of 6 items",
    ]  # "c or d" holds d only
    assert n_all == 3
    assert edits.unnamed(edits.renamed(tree, number(tree, "a or b"), "both"))[1] == 2


def test_groups_by_name_with_the_items_that_occur() -> None:
    data = sv.Transactions.from_lists([["a", "c"], ["c"]])
    assert edits.groups_with_items(TREE, data, "AB") == [("abc", ["a", "c"]), ("ab", ["a"])]
    assert edits.groups_with_items(TREE, data, "de") == []


def test_entries_below_a_node() -> None:
    data = sv.Transactions.from_lists([["a", "d"], ["a", "b"], ["c"]])
    below = edits.supports_below(TREE, data)
    assert [below[number(TREE, label)] for label in ("a", "ab", "abc", "de", "e")] == [2, 3, 4, 1, 0]
    assert [TREE.labels[node] for node in edits.find_nodes(TREE, "AB")] == ["abc", "ab"]
