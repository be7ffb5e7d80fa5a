"""The count-tree of Terrovitis, Mamoulis, Kalnis 2008, walked without being built.

The count-tree holds the supports of itemsets over items *and* their generalizations: a record is expanded by all
ancestors of its items (without the root), and itemsets never hold two related nodes. Its paths are the itemsets in
lexicographic order of a fixed node order, ancestors first. A support is needed only when the traversal gets there, and
by then most of the tree is usually cut off by earlier moves, so each path is counted when it is reached.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context, option
from setveil.algorithms.km._counting import (
    ENDS,
    PASS,
    STEPS_PER_CALL,
    count_node_supports,
    expand_rows,
    find_next_rare,
    merge_equal_rows,
    recode_rows,
    sort_items_in_rows,
    start_walk,
)
from setveil.core import Dataset, Hierarchy
from setveil.engines.base import Found, TreeCounts
from setveil.errors import InputError

AT_ONCE = 2048  # rare paths that are given out together
MAX_PATHS = 200_000_000  # about a minute of counting; with m="all" more is refused, as there may be no end to it


def tree_order_option() -> Any:
    """The option of every algorithm that walks a count-tree."""
    text = "the order of nodes in the count-tree: by support (frequency), or by the number of items below (leaves)"
    return option("frequency", text, ("frequency", "leaves"))


def sort_within_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """The items with every row sorted; item ``i`` stands at ``positions[starts[i]:starts[i + 1]]`` there."""
    starts, positions = np.empty(n_items + 1, dtype=np.int64), np.empty(len(items), dtype=np.int64)
    return sort_items_in_rows(indptr, items, starts, positions), starts, positions


@dataclass(frozen=True)
class DistinctRecords:
    """Distinct records as sets of leaves or nodes, with their number."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.int64]

    @classmethod
    def of_leaves(cls, data: Dataset, hierarchy: Hierarchy, context: Context) -> DistinctRecords:
        """The distinct records of the data, each item as a leaf of the hierarchy."""
        distinct, weights, _ = context.engine.distinct(data)
        return cls(distinct.indptr, hierarchy.leaf_of_items(data.vocabulary)[distinct.items], weights)

    @property
    def longest(self) -> int:
        """Items in the longest row."""
        return int(np.diff(self.indptr).max(initial=0))

    def recode(self, target: NDArray[np.int32]) -> DistinctRecords:
        """Every item replaced by its target, -1 to drop it; rows that become equal are merged, empty ones go."""
        indptr, items = recode_rows(self.indptr, self.items, target)
        items, _, _ = sort_within_rows(indptr, items, len(target))
        return DistinctRecords(*merge_equal_rows(indptr, items, self.weights))

    def expand(self, hierarchy: Hierarchy, number: NDArray[np.int32]) -> DistinctRecords:
        """Every row of nodes with all their ancestors; nodes appear as ``number[node]``, -1 leaves a node out."""
        indptr, items = expand_rows(self.indptr, self.items, hierarchy.parent, number)
        return DistinctRecords(indptr, items, self.weights)

    def node_supports(self, hierarchy: Hierarchy) -> NDArray[np.int64]:
        """In how many records something below each node occurs, int64[n_nodes]."""
        return count_node_supports(self.indptr, self.items, self.weights, hierarchy.parent)


class NodeIndex:
    """In which distinct records each node occurs, to count any itemset of nodes."""

    def __init__(self, records: DistinctRecords, hierarchy: Hierarchy) -> None:
        nodes = np.arange(hierarchy.n_nodes, dtype=np.int32)
        rows = records.expand(hierarchy, nodes)
        _, self._starts, positions = sort_within_rows(rows.indptr, rows.items, hierarchy.n_nodes)
        self._rows = np.repeat(np.arange(len(rows.weights)), np.diff(rows.indptr))[positions]  # by node, ascending
        self._weights = rows.weights
        self._mark = np.zeros(len(rows.weights), dtype=np.bool_)

    def support(self, nodes: Iterable[int]) -> int:
        """In how many records all of the given nodes, or something below each, occur."""
        lists = sorted((self._rows[self._starts[node] : self._starts[node + 1]] for node in nodes), key=len)
        common = lists[0]
        for other in lists[1:]:
            self._mark[common] = True
            shared = other[self._mark[other]]
            self._mark[common] = False
            common = shared
        return int(self._weights[common].sum())


def node_order(hierarchy: Hierarchy, supports: NDArray[np.int64], tree_order: str) -> NDArray[np.int32]:
    """The nodes that occur, without the root, in the order of the count-tree; ancestors come before their descendants.

    ``frequency``: larger support first; ties: more leaves below, then smaller depth, then depth first. ``leaves``: the
    same without looking at supports.
    """
    nodes = hierarchy.in_preorder[1:]
    nodes = nodes[supports[nodes] > 0]
    by_support = -supports[nodes] if tree_order == "frequency" else np.zeros(len(nodes), dtype=np.int64)
    keys = (hierarchy.preorder[nodes], hierarchy.depth[nodes], -hierarchy.n_leaves[nodes], by_support)
    return nodes[np.lexsort(keys)]


class Paths(ABC):
    """Paths of a count-tree in preorder, of which the rare ones are given out; nodes can be taken out on the way."""

    def __init__(self, hierarchy: Hierarchy, nodes: NDArray[np.int32], size: int) -> None:
        self.size = size
        self.nodes = nodes  # in the order of the tree
        self.number = np.full(hierarchy.n_nodes, -1, dtype=np.int32)  # place of each node in ``nodes``
        self.number[nodes] = np.arange(len(nodes))
        self.alive = np.ones(len(nodes), dtype=np.bool_)

    @property
    @abstractmethod
    def share_done(self) -> float:
        """How far the traversal is; 1 when all paths have been visited."""

    @property
    @abstractmethod
    def n_reached(self) -> int:
        """Nodes of the count-tree that were visited and counted so far."""

    @abstractmethod
    def next_rare(self, k: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """Go on to the next rare paths (support below k): all that share a prefix, or none after a long while."""

    def is_alive(self, path: tuple[int, ...]) -> bool:
        """Whether no node of a path has been taken out."""
        return bool(self.alive[self.number[list(path)]].all())

    def take_out(self, nodes: NDArray[np.int32]) -> None:
        """Leave out all further paths through these nodes."""
        numbers = self.number[nodes]
        self.alive[numbers[numbers >= 0]] = False


class SingleNodes(Paths):
    """The paths of length 1: one batch."""

    def __init__(self, supports: NDArray[np.int64], hierarchy: Hierarchy, nodes: NDArray[np.int32]) -> None:
        super().__init__(hierarchy, nodes, size=1)
        self._supports = supports[nodes]
        self._is_over = False

    @property
    def share_done(self) -> float:
        return float(self._is_over)

    @property
    def n_reached(self) -> int:
        return len(self.nodes)

    def next_rare(self, k: int) -> Iterator[tuple[tuple[int, ...], int]]:
        self._is_over = True
        for place in np.flatnonzero(self._supports < k).tolist():
            yield (int(self.nodes[place]),), int(self._supports[place])


class LongerPaths(Paths):
    """All paths of one length, or (``to_leaves``) all paths that nothing extends in a tree of that height."""

    def __init__(
        self,
        records: DistinctRecords,
        hierarchy: Hierarchy,
        nodes: NDArray[np.int32],
        size: int,
        to_leaves: bool,
        limit: int | None,
    ) -> None:
        super().__init__(hierarchy, nodes, size)
        self._limit = limit
        rows = records.expand(hierarchy, self.number)
        runs = (hierarchy.first[nodes], hierarchy.last[nodes])
        self._walk = start_walk(rows.indptr, rows.items, rows.weights, runs, self.alive, size)
        self._shorter = ENDS if to_leaves else PASS

    @property
    def share_done(self) -> float:
        return 1.0 if self._walk.at[0] < 0 else max(int(self._walk.position[0]), 0) / (len(self.nodes) + 1)

    @property
    def n_reached(self) -> int:
        return int(self._walk.reached[0])

    def next_rare(self, k: int) -> Iterator[tuple[tuple[int, ...], int]]:
        if self._limit is not None and self.n_reached > self._limit:
            raise InputError(
                f'm="all" leads to more than {self._limit:,} itemsets of size {self.size}; the records are too '
                "long and too similar to count all of them. Set m to a number, or use an algorithm that compares whole "
                "records (pcta, lg)."
            )
        rare, supports, size = find_next_rare(self._walk, k, STEPS_PER_CALL, self._shorter)
        for item, support in zip(rare.tolist(), supports.tolist(), strict=True):
            yield (*self.nodes[self._walk.prefix[:size]].tolist(), int(self.nodes[item])), support


class CountedPaths(Paths):
    """All paths of one length, counted in one go by the engine; the rare ones are kept and given out in preorder."""

    def __init__(
        self,
        counts: TreeCounts,
        hierarchy: Hierarchy,
        nodes: NDArray[np.int32],
        size: int,
        target: NDArray[np.int32],
        context: Context,
    ) -> None:
        super().__init__(hierarchy, nodes, size)
        self._counts, self._target, self._context = counts, target.copy(), context
        self._found: Found | None = None  # the rare itemsets, once they are counted
        self._next = 0

    @property
    def share_done(self) -> float:
        if self._found is None:
            return 0.0
        return self._next / len(self._found[0]) if self._next < len(self._found[0]) else 1.0

    @property
    def n_reached(self) -> int:
        return 0 if self._found is None else len(self._found[0])

    def next_rare(self, k: int) -> Iterator[tuple[tuple[int, ...], int]]:
        if self._found is None:
            stage = f"itemsets of size {self.size}"
            self._found = self._counts.rare_itemsets(
                self.nodes, self._target, self.size, k, lambda share: self._context.step(stage, share)
            )
        itemsets, supports = (part[self._next : self._next + AT_ONCE] for part in self._found)
        self._next += AT_ONCE
        alive = self.alive[itemsets].all(axis=1)
        yield from zip(map(tuple, self.nodes[itemsets[alive]].tolist()), supports[alive].tolist(), strict=True)


def paths_of_count_tree(
    records: DistinctRecords,
    hierarchy: Hierarchy,
    nodes: NDArray[np.int32],
    size: int,
    to_leaves: bool = False,
    limit: int | None = None,
) -> Paths:
    """The paths of length ``size`` over ``nodes`` (in the order of the tree) in ``records`` of nodes.

    With ``to_leaves`` also shorter ones, if nothing extends them. More than ``limit`` are refused.
    """
    if size == 1:
        return SingleNodes(records.node_supports(hierarchy), hierarchy, nodes)
    return LongerPaths(records, hierarchy, nodes, size, to_leaves, limit)
