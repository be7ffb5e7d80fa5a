"""Supports of itemsets over the nodes of a hierarchy, counted on the cluster; see ``arrays.tree_itemsets``.

Every task counts its partition with the loops of the local engine, in a table of its own, up to k. Only cells that are
not zero travel; Spark adds them up. What is frequent comes back to the driver as bitmaps, is spread up the tree there,
and goes out again for the recount. What comes back then are the rare itemsets, which the traversal wants one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.tree_itemsets import (
    MAX_K,
    MAX_TABLE_SIZE,
    NumberedTree,
    Sets,
    binomials,
    count_lowest,
    count_node_supports,
    decode,
    n_itemsets_of,
    recount_rare,
    spread_frequent,
)
from setveil.core import Hierarchy
from setveil.core.dataset import Csr, Sparse
from setveil.engines.base import Found, Watch
from setveil.engines.spark.blocks import add_up, collect, collect_dense, collect_positions, sparse
from setveil.engines.spark.transactions import SparkTransactions
from setveil.engines.tree_counts import number_tree
from setveil.errors import InputError


@dataclass(frozen=True, eq=False)
class SparkTreeCounts:
    """The records of the data as sets of leaves, on the cluster."""

    data: SparkTransactions
    hierarchy: Hierarchy

    def node_supports(self) -> NDArray[np.int64]:
        """In how many records each node occurs, int64[n_nodes]."""
        leaf_of, parent = self._leaf_of_items, self.hierarchy.parent

        def count(blocks: Iterator[Csr]) -> Sparse:
            supports = np.zeros(len(parent), dtype=np.int64)
            for indptr, items in blocks:
                supports += count_node_supports(indptr, leaf_of[items], parent)
            return sparse(supports)

        return collect_dense(add_up(self.data.blocks, self.data.target, count), len(parent))

    def can_count(self, n_nodes: int, size: int, k: int) -> bool:
        """Yes, or an error: the other way needs the records in one place."""
        if k > MAX_K:
            raise InputError(f"k={k:,}: on Spark supports are counted up to {MAX_K:,}; use --engine local.")
        if n_itemsets_of(n_nodes, size) > MAX_TABLE_SIZE:
            raise InputError(
                f"itemsets of size {size} over {n_nodes:,} items and groups are more than the "
                f"{MAX_TABLE_SIZE:,} that are counted at once on Spark; use a smaller m, "
                "a hierarchy with wider groups, or --engine local."
            )
        return True

    def rare_itemsets(
        self, nodes: NDArray[np.int32], target: NDArray[np.int32], size: int, k: int, watch: Watch
    ) -> Found:
        """All itemsets of ``size`` unrelated ``nodes`` with 0 < support < k, in lexicographic order."""
        tree, lowest = number_tree(self.hierarchy, nodes, target)
        choose, n = binomials(len(nodes), size), n_itemsets_of(len(nodes), size)
        leaf_of = self._leaf_of_items

        def count(blocks: Iterator[Csr]) -> Sparse:
            table = np.zeros(n, dtype=np.uint16)
            for sets in _sets(blocks, leaf_of, lowest):
                count_lowest(sets, 0, len(sets.weights), choose, k, table)
            return sparse(table)

        watch(0.0)
        counted = add_up(self.data.blocks, self.data.target, count)
        is_frequent = collect_positions(counted.where(counted.n >= k).select("place"), n)
        watch(0.5)
        settled = np.packbits(_spread(tree, choose, k, is_frequent))

        def recount(blocks: Iterator[Csr]) -> Sparse:
            table = np.unpackbits(settled, count=n).astype(np.uint16) * np.uint16(k)
            rare = np.zeros(n, dtype=np.uint16)
            for sets in _sets(blocks, leaf_of, lowest):
                recount_rare(sets, 0, len(sets.weights), tree, choose, k, table, rare)
            return sparse(rare)

        recounted = add_up(self.data.blocks, self.data.target, recount)
        positions, supports = collect(recounted.where(recounted.n < k))
        itemsets = decode(positions, choose)
        order = np.lexsort(itemsets.T[::-1])
        return itemsets[order], supports[order]

    @property
    def _leaf_of_items(self) -> NDArray[np.int32]:
        return self.hierarchy.leaf_of_items(self.data.vocabulary)


def _spread(tree: NumberedTree, choose: NDArray[np.int64], k: int, is_frequent: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What is frequent, and everything above it."""
    table = is_frequent.astype(np.uint16) * np.uint16(k)
    spread_frequent(tree, choose, k, table)
    is_settled: NDArray[np.bool_] = table >= k
    return is_settled


def _sets(blocks: Iterable[Csr], leaf_of: NDArray[np.int32], lowest: NDArray[np.int32]) -> Iterator[Sets]:
    for indptr, items in blocks:
        lengths = np.diff(indptr)
        ones = np.ones(len(lengths), dtype=np.int64)
        yield Sets(indptr, leaf_of[items], ones, lowest, int(lengths.max(initial=0)))
