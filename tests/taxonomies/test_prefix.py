"""Codes grouped by leading characters."""

from __future__ import annotations

import random

import pytest

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.taxonomies.prefix import by_prefix, check_lengths


def groups(tree: Hierarchy) -> dict[str, set[str]]:
    return {
        tree.labels[node]: {tree.labels[leaf] for leaf in tree.leaves(node)}
        for node in range(tree.n_items, tree.n_nodes)
    }


def test_icd_like_codes() -> None:
    tree = by_prefix(Vocabulary(["4019", "401", "4280", "25000", "V5", "2"]), (1, 3, 4))
    assert groups(tree) == {
        "ALL": {"4019", "401", "4280", "25000", "V5", "2"},
        "4*": {"4019", "401", "4280"},
        "401*": {"4019", "401"},
        "4019*": {"4019"},
        "428*": {"4280"},
        "4280*": {"4280"},
        "2*": {"25000", "2"},
        "250*": {"25000"},
        "2500*": {"25000"},
        "V*": {"V5"},
    }
    assert tree.labels[tree.parent[tree.vocabulary.number("V5")]] == "V*"
    assert tree.labels[tree.parent[tree.vocabulary.number("401")]] == "401*"


def test_every_group_holds_exactly_the_codes_that_begin_so() -> None:
    rng = random.Random(4)
    for _ in range(200):
        codes = {"".join(rng.choice("12A.") for _ in range(rng.randint(1, 5))) for _ in range(rng.randint(1, 12))}
        longest = max(map(len, codes))
        lengths = sorted(rng.sample(range(1, longest + 1), rng.randint(1, longest)))
        expected = {
            f"{code[:length]}*": {other for other in codes if other.startswith(code[:length])}
            for code in codes
            for length in lengths
            if len(code) >= length
        }
        tree = by_prefix(Vocabulary(codes), lengths)
        assert groups(tree) | {tree.labels[tree.root]: codes} == expected | {tree.labels[tree.root]: codes}
        assert set(tree.vocabulary) == codes


def test_groups_are_never_named_like_items() -> None:
    tree = Hierarchy.prefix(Transactions.from_lists([["4*", "4", "40", "4**"]]), [1])
    assert "4***" in groups(tree)
    assert len(set(tree.labels)) == tree.n_nodes


def test_dots_count_as_characters() -> None:
    assert set(groups(by_prefix(Vocabulary(["E11.9", "E11.6"]), (3, 4)))) == {"E11.*", "E11*"}


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ((), 'prefix lengths "" are not positive'),
        ((0, 2), 'prefix lengths "0,2" are not positive and ascending'),
        ((2, 2), "not positive and ascending"),
        ((3, 1), "not positive and ascending"),
        ((-1,), "not positive"),
    ],
)
def test_bad_lengths(lengths: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_lengths(lengths)


def test_lengths_that_fit_no_item() -> None:
    with pytest.raises(InputError, match="no item has 4 or 9 characters"):
        by_prefix(Vocabulary(["abc"]), (1, 4, 9))
    with pytest.raises(InputError, match='lengths "" are not positive'):
        by_prefix(Vocabulary(["abc"]), ())
    with pytest.raises(InputError, match="no items"):
        by_prefix(Vocabulary([]), (1,))
