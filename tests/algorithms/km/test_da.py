"""DA: the paper's walk-through, and the count-tree by the book on random databases."""

from __future__ import annotations

from typing import Literal

import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.km.da import DA
from setveil.core import Hierarchy, Transactions
from setveil.errors import InfeasibleError
from setveil.models import KmAnonymity
from setveil.releases import Recoding
from tests.naive import km as naive
from tests.naive.counting import is_km_anonymous
from tests.naive.km_cases import PAPER, PAPER_TREE, cases


def run(data: Transactions, tree: Hierarchy, k: int, m: int | Literal["all"], **options: str) -> Recoding:
    return DA(**options).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_paper_walk_through() -> None:
    release = run(Transactions.from_lists(PAPER), PAPER_TREE, k=2, m=2)
    assert release.transactions() == [{"A", "b1", "b2"}, {"A", "b1"}, {"A", "b1", "b2"}, {"A", "b2"}]
    assert release.details["moves"] == [
        {"witness": ["a2", "a1"], "support": 1, "raised": ["A"], "cost": pytest.approx(2.5 / 11)}
    ]


@pytest.mark.parametrize("tree_order", ["frequency", "leaves"])
def test_same_moves_as_the_explicit_count_tree(tree_order: str) -> None:
    for data, tree, k in cases(300, seed=11):
        for m in (1, 2, 3, 4):
            cut, moves = naive.da(base := naive.Database(data, tree), k, m, tree_order)
            release = run(data, tree, k, m, tree_order=tree_order)
            assert release.node_of_leaf is not None
            assert dict(enumerate(release.node_of_leaf.tolist())) == cut
            assert [(move["witness"], move["support"]) for move in release.details["moves"]] == [
                ([tree.published_labels[node] for node in itemset], support) for itemset, support in moves
            ]
            assert release.details["ncp"] == pytest.approx(base.ncp(cut), abs=1e-15)
            assert is_km_anonymous(release.transactions(), k, m)


def test_all_sizes() -> None:
    for data, tree, k in cases(200, seed=12):
        assert is_km_anonymous(run(data, tree, k, "all").transactions(), k, "all")


def test_nothing_to_do_and_too_few_records() -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([["a", "b", "c"]]), 2)
    assert run(Transactions.from_lists([]), tree, 3, 2).transactions() == []
    assert run(Transactions.from_lists([[], []]), tree, 3, 2).transactions() == [set(), set()]
    assert run(Transactions.from_lists([["a", "b"]] * 2), tree, 2, 2).transactions() == [{"a", "b"}] * 2
    assert run(Transactions.from_lists([["a", "b", "c"]] * 4), tree, 4, 9).transactions() == [{"a", "b", "c"}] * 4
    with pytest.raises(InfeasibleError):
        run(Transactions.from_lists([["a"], ["b"], []]), tree, 3, 1)
