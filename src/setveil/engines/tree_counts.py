"""Supports of itemsets over the nodes of a hierarchy, counted on one machine; see ``arrays.tree_itemsets``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.threads import available_threads
from setveil.arrays.tree_itemsets import (
    MAX_K,
    MAX_TABLE_SIZE,
    NumberedTree,
    Sets,
    add_up_to,
    binomials,
    count_lowest,
    count_node_supports,
    decode,
    n_itemsets_of,
    recount_rare,
    spread_frequent,
)
from setveil.core import Hierarchy, Transactions
from setveil.engines.base import Engine, Found, Watch

ENTRIES_AT_ONCE = 1 << 20  # occurrences in a slice of records: a fraction of a second
# All itemsets of the records are counted in a table if there are many of them, and this many for each place of the
# table: one pass, whose cost is the number of itemsets and of places. Otherwise walking from one rare itemset to the
# next costs less: its cost follows the rare ones. Both ways give the same counts.
MANY = 10_000_000
FOR_EACH_PLACE = 20


@dataclass(frozen=True, eq=False)
class LocalTreeCounts:
    """The records of the data as sets of leaves, in memory."""

    hierarchy: Hierarchy
    engine: Engine
    indptr: NDArray[np.int64]
    leaves: NDArray[np.int32]

    @classmethod
    def of(cls, data: Transactions, hierarchy: Hierarchy, engine: Engine) -> LocalTreeCounts:
        """Of data that is in memory."""
        leaves = hierarchy.leaf_of_items(data.vocabulary)
        is_same = np.array_equal(leaves, np.arange(data.n_items))  # then the records are leaves already
        return cls(hierarchy, engine, data.indptr, data.items if is_same else leaves[data.items])

    def node_supports(self) -> NDArray[np.int64]:
        slices = self._slices()
        n_threads = min(available_threads(), len(slices))
        parts = [
            (slices[part[0]][0], slices[part[-1]][1]) for part in np.array_split(np.arange(len(slices)), n_threads)
        ]

        def count(part: tuple[int, int]) -> NDArray[np.int64]:
            return count_node_supports(self.indptr[part[0] : part[1] + 1], self.leaves, self.hierarchy.parent)

        supports: NDArray[np.int64] = np.sum(self.engine.map_shards(count, parts), axis=0)
        return supports

    def can_count(self, n_nodes: int, size: int, k: int) -> bool:
        lengths = np.diff(self.indptr).astype(np.float64)
        n_itemsets = np.ones(len(lengths))
        for taken in range(size):
            n_itemsets *= np.maximum(lengths - taken, 0) / (taken + 1)
        n_places = n_itemsets_of(n_nodes, size)
        is_cheaper = n_itemsets.sum() >= max(MANY, FOR_EACH_PLACE * n_places)
        return bool(k <= MAX_K and n_places <= MAX_TABLE_SIZE and is_cheaper)

    def rare_itemsets(
        self, nodes: NDArray[np.int32], target: NDArray[np.int32], size: int, k: int, watch: Watch
    ) -> Found:
        tree, lowest = number_tree(self.hierarchy, nodes, target)
        weights = np.ones(len(self.indptr) - 1, dtype=np.int64)
        longest = int(np.diff(self.indptr).max(initial=0))
        sets = Sets(self.indptr, self.leaves, weights, lowest, longest)
        choose = binomials(len(nodes), size)

        def count(first: int, last: int, part: NDArray[np.uint16]) -> None:
            count_lowest(sets, first, last, choose, k, part)

        table = self._add_up(len(nodes), size, k, count, watch)
        spread_frequent(tree, choose, k, table)

        def recount(first: int, last: int, part: NDArray[np.uint16]) -> None:
            recount_rare(sets, first, last, tree, choose, k, table, part)

        rare = self._add_up(len(nodes), size, k, recount, watch)
        return list_rare(rare, choose, k)

    def _slices(self) -> list[tuple[int, int]]:
        """Runs of records of about equal size."""
        n_records = len(self.indptr) - 1
        marks = np.arange(0, self.indptr[-1], ENTRIES_AT_ONCE)
        bounds = np.unique(np.concatenate((np.searchsorted(self.indptr, marks), [0, n_records]))).tolist()
        return list(zip(bounds[:-1], bounds[1:], strict=True)) or [(0, 0)]

    def _add_up(
        self, n_nodes: int, size: int, k: int, add: Callable[[int, int, NDArray[np.uint16]], None], watch: Watch
    ) -> NDArray[np.uint16]:
        """One table of all records: every thread fills one of its own, slice by slice."""
        slices = self._slices()
        n_threads = min(available_threads(), len(slices))
        tables = [np.zeros(n_itemsets_of(n_nodes, size), dtype=np.uint16) for _ in range(n_threads)]

        def fill(job: tuple[tuple[int, int], NDArray[np.uint16]]) -> None:
            add(*job[0], job[1])

        for start in range(0, len(slices), n_threads):
            watch(start / len(slices))
            self.engine.map_shards(fill, list(zip(slices[start : start + n_threads], tables, strict=False)))
        for table in tables[1:]:
            add_up_to(k, tables[0], table)
        return tables[0]


def number_tree(
    hierarchy: Hierarchy, nodes: NDArray[np.int32], target: NDArray[np.int32]
) -> tuple[NumberedTree, NDArray[np.int32]]:
    """The tree over some nodes, numbered as they stand, and the number of each leaf's target, -1 if it has none."""
    number = np.full(hierarchy.n_nodes + 1, -1, dtype=np.int32)  # the last one is for "no node"
    number[nodes] = np.arange(len(nodes))
    tree = NumberedTree(number[hierarchy.parent[nodes]], hierarchy.first[nodes], hierarchy.last[nodes])
    return tree, number[target[: hierarchy.n_items]]


def list_rare(rare: NDArray[np.uint16], choose: NDArray[np.int64], k: int) -> Found:
    """The itemsets of a table with 0 < support < k, in lexicographic order of their numbers."""
    positions = np.flatnonzero((rare > 0) & (rare < k))
    itemsets = decode(positions, choose)
    order = np.lexsort(itemsets.T[::-1])
    return itemsets[order], rare[positions[order]].astype(np.int64)
