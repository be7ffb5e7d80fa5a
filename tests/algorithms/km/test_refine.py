"""Refine: valid before, valid after; nothing left to take back."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km.count_tree import DistinctRecords
from setveil.algorithms.km.cuts import Cut
from setveil.algorithms.km.losses import Losses
from setveil.algorithms.km.refine import Refiner
from setveil.algorithms.km.violations import Violations
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from tests.naive import optimal as naive
from tests.naive.counting import is_km_anonymous, occurring_itemsets
from tests.naive.km import Database
from tests.naive.km_cases import cases


def refiner_of(
    data: Transactions,
    tree: Hierarchy,
    k: int,
    m: int | Literal["all"],
    node_of_leaf: NDArray[np.int32],
    loss: str = "ncp",
) -> Refiner:
    context = Context(hierarchy=tree)
    violations = Violations(DistinctRecords.of_leaves(data, tree, context), tree, KmAnonymity(k, m), context)
    return Refiner(violations, Losses.of(Cut(tree, data), loss), node_of_leaf)


def nodes_of(refiner: Refiner) -> tuple[int, ...]:
    return tuple(sorted({int(node) for node in refiner.node_of_leaf if node >= 0}))


def test_violations_are_the_smallest_rare_itemsets() -> None:
    rng = np.random.default_rng(0)
    for data, tree, k in cases(150, seed=21):
        base = Database(data, tree)
        violations = Violations(DistinctRecords.of_leaves(data, tree, Context()), tree, KmAnonymity(k, 3), Context())
        cuts = list(naive.all_cuts(tree, tree.root))
        for cut in (cuts[number] for number in rng.integers(len(cuts), size=5)):
            target = np.full(tree.n_nodes, -1, dtype=np.int32)
            for node in cut:
                target[tree.leaves(node)] = node
            found = {frozenset(itemset) for part in violations.on_cut(target) for itemset in part.tolist()}
            rows = naive.recode(base, cut)
            expected: set[frozenset[int]] = set()
            for size in (1, 2, 3):
                expected = expected or {
                    frozenset(map(int, itemset))
                    for itemset, support in occurring_itemsets(rows, size).items()
                    if support < k
                }
            assert found == expected


@pytest.mark.parametrize("m", [1, 2, 3, "all"])
def test_from_the_root_down(m: int | Literal["all"]) -> None:
    for data, tree, k in cases(60, seed=22):
        base = Database(data, tree)
        refiner = refiner_of(data, tree, k, m, np.full(tree.n_items, tree.root, dtype=np.int32))
        refiner.specialize()
        nodes = nodes_of(refiner)
        assert refiner.cost == naive.ncp_cost(base, nodes)
        assert is_km_anonymous(naive.recode(base, nodes), k, m)
        check_nothing_is_left(base, nodes, k, m)
        refiner.exchange()
        assert refiner.cost == naive.ncp_cost(base, nodes_of(refiner)) <= naive.ncp_cost(base, nodes)
        assert is_km_anonymous(naive.recode(base, nodes_of(refiner)), k, m)


def check_nothing_is_left(base: Database, nodes: tuple[int, ...], k: int, m: int | Literal["all"]) -> None:
    """No node can be replaced by its children at a smaller loss."""
    for node in nodes:
        more = tuple(other for other in nodes if other != node) + base.tree.children[node]
        if base.tree.children[node] and naive.ncp_cost(base, more) < naive.ncp_cost(base, nodes):
            assert not is_km_anonymous(naive.recode(base, more), k, m)


def test_everything_suppressed() -> None:
    n_published = 0
    for data, tree, k in cases(150, seed=23):
        base = Database(data, tree)
        for m in (1, 2, "all"):
            refiner = refiner_of(data, tree, k, m, np.full(tree.n_items, -1, dtype=np.int32), "lm")
            refiner.specialize()
            nodes = nodes_of(refiner)
            assert refiner.cost == naive.lm_cost(base, nodes)
            assert is_km_anonymous(naive.recode(base, nodes), k, m)
            n_published += len(nodes)
            refiner.exchange()
            assert refiner.cost == naive.lm_cost(base, nodes_of(refiner)) <= naive.lm_cost(base, nodes)
            assert is_km_anonymous(naive.recode(base, nodes_of(refiner)), k, m)
    assert n_published > 300


def test_an_exchange() -> None:
    """b hides in X only together with c's group Y; raising c alone lets X be split, which saves more."""
    tree = Hierarchy.from_paths([["a", "X"], ["b", "X"], ["c", "Y"], ["d", "Y"]])
    data = Transactions.from_lists(
        [["a", "c"], ["a"], ["b", "c"], ["b", "d"], ["a", "d"], ["b"]] * 1 + [["a"], ["b"]] * 9
    )
    start = np.array([4, 4, 2, 3], dtype=np.int32) if tree.labels[4] == "X" else np.array([5, 5, 2, 3], dtype=np.int32)
    refiner = refiner_of(data, tree, 2, 2, start)
    refiner.specialize()
    assert refiner.n_specialized == 0
    refiner.exchange()
    assert refiner.n_exchanged == 1
    assert [tree.labels[node] for node in refiner.node_of_leaf] == ["a", "b", "Y", "Y"]
