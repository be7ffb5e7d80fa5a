"""Rare itemsets over the nodes of a hierarchy: against looking at every record for every itemset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.algorithms.km.count_tree import node_order
from setveil.core import Hierarchy, Transactions
from setveil.engines import LocalEngine, tree_counts

Rare = dict[tuple[int, ...], int]


def some_case(seed: int) -> tuple[Transactions, Hierarchy, NDArray[np.int32]]:
    """Records, a tree, and a cut through it: the target of every node."""
    random = np.random.default_rng(seed)
    n_items = int(random.integers(3, 12))
    rows = [random.choice(n_items, size=random.integers(0, n_items), replace=False) for _ in range(40)]
    data = Transactions.from_lists([[str(item) for item in row] for row in rows] + [[str(i)] for i in range(n_items)])
    tree = Hierarchy.balanced(data, int(random.integers(2, 4)))
    target = np.arange(tree.n_nodes, dtype=np.int32)
    for node in tree.in_preorder[1:].tolist():
        if node >= tree.n_items and random.random() < 0.2 and target[node] == node:
            covered = tree.leaf_order[tree.first[node] : tree.last[node]]
            target[covered] = node
            inside = (tree.first >= tree.first[node]) & (tree.last <= tree.last[node])
            target[inside] = target[node]
    return data, tree, target


def naive_rare(data: Transactions, tree: Hierarchy, nodes: list[int], size: int, k: int) -> Rare:
    leaf = tree.leaf_of_items(data.vocabulary)
    below = {node: set(tree.leaf_order[tree.first[node] : tree.last[node]].tolist()) for node in nodes}
    records = [{int(leaf[item]) for item in data.record(number)} for number in range(data.n_records)]
    rare = {}
    for places in combinations(range(len(nodes)), size):
        sets = [below[nodes[place]] for place in places]
        if any(one & other for one, other in combinations(sets, 2)):
            continue
        support = sum(all(part & record for part in sets) for record in records)
        if 0 < support < k:
            rare[places] = support
    return rare


@pytest.mark.parametrize("size", [2, 3, 4])
def test_rare_itemsets_by_the_book(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_counts, "MANY", 0)
    monkeypatch.setattr(tree_counts, "FOR_EACH_PLACE", 0)
    monkeypatch.setattr(tree_counts, "ENTRIES_AT_ONCE", 16)  # several slices for several threads
    n_found = 0
    for seed in range(40 if size < 4 else 15):
        data, tree, target = some_case(seed)
        counts = LocalEngine().tree_counts(data, tree)
        order = node_order(tree, counts.node_supports(), "frequency")
        nodes = order[np.equal(target, np.arange(tree.n_nodes))[order]]
        k = 2 + seed % 9
        assert counts.can_count(len(nodes), size, k)
        itemsets, supports = counts.rare_itemsets(nodes, target, size, k, lambda share: None)
        found = dict(zip(map(tuple, itemsets.tolist()), supports.tolist(), strict=True))
        assert found == naive_rare(data, tree, nodes.tolist(), size, k)
        assert list(found) == sorted(found)
        n_found += len(found)
    assert n_found > 50


def test_the_result_does_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_counts, "ENTRIES_AT_ONCE", 8)
    data, tree, _ = some_case(1)
    nodes = node_order(tree, LocalEngine().tree_counts(data, tree).node_supports(), "frequency")
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(tree_counts, "available_threads", lambda threads=threads: threads)
        counts = LocalEngine().tree_counts(data, tree)
        found.append(
            [
                part.tolist()
                for part in counts.rare_itemsets(
                    nodes, np.arange(tree.n_nodes, dtype=np.int32), 2, 6, lambda share: None
                )
            ]
        )
    assert found[0] == found[1] == found[2]


def test_a_table_out_of_proportion_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    data, tree, _ = some_case(2)
    assert not LocalEngine().tree_counts(data, tree).can_count(10, 2, 5)  # walking is faster
    monkeypatch.setattr(tree_counts, "MANY", 0)
    monkeypatch.setattr(tree_counts, "FOR_EACH_PLACE", 0)
    counts = LocalEngine().tree_counts(data, tree)
    assert not counts.can_count(100_000, 3, 5)
    assert not counts.can_count(10, 2, 100_000)


def test_counting_is_chosen_by_what_it_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Transactions.from_lists([["a", "b", "c", "d", "e"]] * 12)  # 120 pairs
    counts = LocalEngine().tree_counts(data, Hierarchy.balanced(data, 2))
    monkeypatch.setattr(tree_counts, "MANY", 120)
    assert counts.can_count(4, 2, 5)  # 6 places
    assert not counts.can_count(5, 2, 5)  # 10 places
    monkeypatch.setattr(tree_counts, "MANY", 121)
    assert not counts.can_count(4, 2, 5)
