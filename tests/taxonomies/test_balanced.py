"""Balanced hierarchies over items in ascending order."""

from __future__ import annotations

import pytest

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.taxonomies.balanced import balanced, from_words, with_levels


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


# -- evenly split -----------------------------------------------------------------------------------------------------


def test_even_groups_of_groups() -> None:
    tree = balanced(numbers(7), 3, even=True)
    assert shape(tree, tree.root) == [["0", "1"], ["2", "3"], ["4", "5", "6"]]
    packed = balanced(numbers(7), 3)
    assert shape(packed, packed.root) == [["0", "1", "2"], ["3", "4", "5"], "6"]


def test_even_groups_differ_by_at_most_one_member() -> None:
    for n in range(2, 80):
        for fanout in (2, 3, 5):
            tree, packed = balanced(numbers(n), fanout, even=True), balanced(numbers(n), fanout)
            assert [int(tree.labels[leaf]) for leaf in tree.leaf_order] == list(range(n))
            assert tree.height == packed.height
            assert all(2 <= len(children) <= fanout for children in tree.children if children)
            lowest = [len(children) for children in tree.children if children and max(children) < n]
            assert max(lowest) - min(lowest) <= 1


def test_levels_are_as_many_as_asked_for_and_all_items_lie_at_the_bottom() -> None:
    for n in range(2, 130):
        for levels in range(2, n.bit_length() + 1):
            tree = with_levels(numbers(n), levels)
            assert [int(tree.labels[leaf]) for leaf in tree.leaf_order] == list(range(n))
            assert set(tree.depth[:n].tolist()) == {levels - 1}
            assert tree.height + 1 == levels
            sizes = [len(children) for children in tree.children if children]
            assert min(sizes) >= 2
            # the fan-out that n items in so many levels need is between the least and the largest
            assert min(sizes) ** (levels - 1) <= n <= max(sizes) ** (levels - 1)


def test_branches_are_about_equally_large() -> None:
    """No branch is a remainder: at every level the largest has less than twice the items of the least."""
    for n, levels in ((497, 4), (497, 7), (3340, 5), (3340, 7)):
        tree = with_levels(numbers(n), levels)
        by_depth: dict[int, list[int]] = {}
        for node in range(tree.n_nodes):
            by_depth.setdefault(int(tree.depth[node]), []).append(len(tree.leaves(node)))
        assert all(max(sizes) < 2 * min(sizes) for depth, sizes in by_depth.items() if depth < levels - 1)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("fanout:2", [[["0", "1"], ["2", "3"]], "4"]),
        ("fanout:2:even", ["0", [["1", "2"], ["3", "4"]]]),
        ("levels:2", ["0", "1", "2", "3", "4"]),
        ("levels:3", [["0", "1"], ["2", "3", "4"]]),
    ],
)
def test_as_written_on_the_command_line(words: str, wanted: object) -> None:
    tree = from_words(words, numbers(5))
    assert shape(tree, tree.root) == wanted


@pytest.mark.parametrize("words", ["fanout:1", "fanout:x", "fanout", "fanout:5:odd", "fanout:5:even:6", "fanout:"])
def test_bad_words_for_a_fanout(words: str) -> None:
    with pytest.raises(InputError, match='as in "fanout:5"'):
        from_words(words, numbers(5))


@pytest.mark.parametrize("words", ["levels:1", "levels:x", "levels", "levels:3:even"])
def test_bad_words_for_levels(words: str) -> None:
    with pytest.raises(InputError, match='as in "levels:4"'):
        from_words(words, numbers(5))


def test_more_levels_than_items_can_have() -> None:
    with pytest.raises(InputError, match="4 levels need at least 8 items; 5 have at most 3"):
        with_levels(numbers(5), 4)
    with pytest.raises(InputError, match="at least 2 levels"):
        with_levels(numbers(5), True)


def test_one_item_has_no_levels_to_split() -> None:
    assert with_levels(numbers(1), 4).n_items == 1
