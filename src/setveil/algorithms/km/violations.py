"""Which itemsets on a cut are too rare: the question that every search among cuts asks again and again.

A cut is given as ``target``, int32[n_nodes]: for every leaf the node that is published instead of it, -1 if it is
suppressed. (Entries of inner nodes are not looked at.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km._counting import PASS, STEPS_PER_CALL, Walk, collect_rare, find_next_rare, start_walk
from setveil.algorithms.km._lifting import NodeRows, collect_tuples, lift_itemsets, shrink_rare_rows
from setveil.algorithms.km.count_tree import DistinctRecords, sort_within_rows
from setveil.arrays.tree_itemsets import n_itemsets_of
from setveil.core import Dataset, Hierarchy, Transactions
from setveil.core.row_order import take_rows
from setveil.models import KmAnonymity

LIMIT = 200_000  # rare itemsets to list at most; more are found once these are dealt with
BATCH = 50_000
ROWS_AT_ONCE = 2_000
ENTRIES_PER_ITEMSET = 3  # of the data, from which counting all itemsets costs less than looking at records
COUNTED_SIZE = 3  # for m="all": up to this size itemsets are counted, beyond it whole records are looked at


class Lifting(Protocol):
    """Rare itemsets above a bottom cut, pushed up for as long as they stay rare."""

    def lift(self, itemsets: NDArray[np.int32], spreads: bool) -> NDArray[np.int32]:
        """Maximal rare itemsets [n_lifted, size] above the given ones [n, size]; see ``lift_itemsets``."""


class CutQuestions(Protocol):
    """What a search among the cuts of one hierarchy asks: about itemsets of at most m nodes in fewer than k records."""

    hierarchy: Hierarchy
    k: int
    m: int | Literal["all"]
    node_supports: NDArray[np.int64]  # [n_nodes]

    def on_cut(self, target: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Rare itemsets of the smallest size there is, as [n, size]; at most ``LIMIT``. None: the cut is valid."""

    def through(self, node: int, parts: list[int], target: NDArray[np.int32]) -> tuple[int, ...] | None:
        """The first rare itemset that holds one of ``parts``, or None; the cut was valid before they were put on it."""

    def support(self, itemset: tuple[int, ...]) -> int:
        """In how many records all of the given nodes, or something below each, occur."""

    def lifting(self, bottom: NDArray[np.int32], above: NDArray[np.int32]) -> Lifting:
        """``bottom`` is the most special cut there may be, ``above`` where a node can be pushed to."""


def questions_about(
    data: Dataset, hierarchy: Hierarchy, model: KmAnonymity, context: Context, needs_rows: bool = False
) -> CutQuestions:
    """Answered from the records, or from counts where the records are on a cluster or count for more than itemsets.

    The answers are the same. ``needs_rows``: what is asked needs the records where they are at hand.
    """

    def by_records(rows: Transactions) -> CutQuestions:
        if not needs_rows and model.m != "all":
            from setveil.algorithms.km.counted_violations import AT_ONCE

            if n_itemsets_of(hierarchy.n_nodes, model.m) <= min(AT_ONCE, rows.n_occurrences // ENTRIES_PER_ITEMSET):
                return by_counts()
        return Violations(DistinctRecords.of_leaves(rows, hierarchy, context), hierarchy, model, context)

    def by_counts() -> CutQuestions:
        from setveil.algorithms.km.counted_violations import CountedViolations

        return CountedViolations(context.engine.tree_counts(data, hierarchy), hierarchy, model, context)

    return data.look(by_records, by_counts)


class Violations:
    """Rare itemsets on cuts of one hierarchy, counted in the records that matter for each question."""

    def __init__(self, records: DistinctRecords, hierarchy: Hierarchy, model: KmAnonymity, context: Context) -> None:
        self.hierarchy = hierarchy
        self.records = records  # rows of leaves
        self.k = model.k
        self.m = model.m
        self.node_supports = records.node_supports(hierarchy)
        self._context = context
        self._index = index_rows(records, hierarchy, hierarchy.parent)

    def on_cut(self, target: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Rare itemsets of the smallest size there is, as [n, size]; at most ``LIMIT``. None: the cut is valid.

        Being of the smallest size they are minimal. With m="all" minimal ones of several sizes may be listed.
        """
        rows = self.records.recode(target)
        supports = rows.node_supports(self.hierarchy)
        occurring = np.unique(rows.items)
        rare = occurring[supports[occurring] < self.k]
        if len(rare):
            return [rare[:, None]]
        for size in self._sizes(rows):
            found = [nodes[rare] for nodes, rare in self._count(rows, size)]
            if any(len(part) for part in found):
                return [np.concatenate(found)[:LIMIT]]
        if self.m == "all":
            return by_size(self._shrink(rows, LIMIT))
        return []

    def through(self, node: int, parts: list[int], target: NDArray[np.int32]) -> tuple[int, ...] | None:
        """A rare itemset that holds one of ``parts``, or None. ``parts`` are on the cut and hold all of ``node``'s
        records.

        If the cut had no rare itemset before ``parts`` were put on it, it has none now either if this finds none.
        """
        inside = self._index.rows[self._index.starts[node] : self._index.starts[node + 1]]
        rows = select_rows(self.records, inside).recode(target)
        supports = rows.node_supports(self.hierarchy)
        for part in parts:
            if 0 < supports[part] < self.k:
                return (part,)
        for size in self._sizes(rows):
            nodes, walk = walk_cut(rows, self.hierarchy.n_nodes, size, parts)
            while walk.at[0] >= 0:
                self._context.step("checking cuts")
                rare, _, n_prefix = find_next_rare(walk, self.k, STEPS_PER_CALL, PASS)
                if len(rare):
                    return (*nodes[walk.prefix[:n_prefix]].tolist(), int(nodes[rare[0]]))
        if self.m == "all":
            for itemset in self._shrink(rows, 1):
                return tuple(itemset.tolist())
        return None

    def support(self, itemset: tuple[int, ...]) -> int:
        """In how many records all of the given nodes, or something below each, occur."""
        return int(self.records.weights[self._holding(itemset)].sum())

    def rows_with(self, itemset: Sequence[int]) -> DistinctRecords:
        """The records, as rows of leaves, in which all of the given nodes, or something below each, occur."""
        return select_rows(self.records, self._holding(itemset))

    def _holding(self, itemset: Sequence[int]) -> NDArray[np.int32]:
        lists = [self._index.rows[self._index.starts[node] : self._index.starts[node + 1]] for node in itemset]
        common = lists[0]
        for other in lists[1:]:
            common = np.intersect1d(common, other, assume_unique=True)
        return common

    def without(self, leaves: list[int]) -> Violations:
        """The same questions where some leaves do not occur."""
        target = np.arange(self.hierarchy.n_nodes, dtype=np.int32)
        target[leaves] = -1
        return Violations(self.records.recode(target), self.hierarchy, KmAnonymity(self.k, self.m), self._context)

    def lifting(self, bottom: NDArray[np.int32], above: NDArray[np.int32]) -> Lifting:
        """Itemsets of the records recoded to ``bottom``."""
        return RowLifting(index_rows(self.records.recode(bottom), self.hierarchy, above), self.hierarchy, self.k)

    def _sizes(self, rows: DistinctRecords) -> range:
        """The sizes of itemsets to count, without single nodes."""
        return range(2, min(COUNTED_SIZE if self.m == "all" else self.m, rows.longest) + 1)

    def _count(self, rows: DistinctRecords, size: int) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        """Rare itemsets of one size, in batches: the nodes, and [n, size] positions among them."""
        nodes, walk = walk_cut(rows, self.hierarchy.n_nodes, size, [])
        n_found = 0
        while walk.at[0] >= 0 and n_found < LIMIT:
            self._context.step("rare itemsets")
            rare = np.empty((len(nodes) + BATCH, size), dtype=np.int32)
            n_rare, _ = collect_rare(walk, self.k, STEPS_PER_CALL, rare)
            n_found += n_rare
            yield nodes, rare[:n_rare]

    def _shrink(self, rows: DistinctRecords, limit: int) -> Iterator[NDArray[np.int32]]:
        """A minimal rare itemset of each rare record."""
        index = index_rows(rows, self.hierarchy, np.full(self.hierarchy.n_nodes, -1, dtype=np.int32))
        n_found = 0
        for begin in range(0, len(rows.weights), ROWS_AT_ONCE):
            self._context.step("rare records", begin / len(rows.weights))
            end = min(begin + ROWS_AT_ONCE, len(rows.weights))
            indptr, items = shrink_rare_rows(index, rows.items, begin, end, self.k)
            for start, stop in zip(indptr[:-1], indptr[1:], strict=True):
                yield items[start:stop]
                n_found += 1
                if n_found == limit:
                    return


@dataclass(frozen=True, eq=False)
class RowLifting:
    """Lifts itemsets by looking through the rows that hold them."""

    index: NodeRows
    hierarchy: Hierarchy
    k: int

    def lift(self, itemsets: NDArray[np.int32], spreads: bool) -> NDArray[np.int32]:
        """Maximal rare itemsets above the given ones."""
        return lift_itemsets(self.index, itemsets, self.k, spreads)

    def tuples(self, itemsets: NDArray[np.int32]) -> NDArray[np.int32]:
        """All leaves, one below each member of an itemset, that occur together, and the itemset: [n, size + 1]."""
        return collect_tuples(self.index, itemsets, self.hierarchy.leaf_order)


def index_rows(rows: DistinctRecords, hierarchy: Hierarchy, above: NDArray[np.int32]) -> NodeRows:
    """Rows of nodes, and in which of them every node occurs that ``above`` leads to."""
    wanted = np.zeros(hierarchy.n_nodes, dtype=np.bool_)
    wanted[rows.items] = True
    wanted[above[above >= 0]] = True
    expanded = rows.expand(hierarchy, np.where(wanted, np.arange(hierarchy.n_nodes), -1).astype(np.int32))
    _, starts, positions = sort_within_rows(expanded.indptr, expanded.items, hierarchy.n_nodes)
    owners = np.repeat(np.arange(len(rows.weights), dtype=np.int32), np.diff(expanded.indptr))
    return NodeRows(
        rows.indptr,
        hierarchy.first[rows.items],
        rows.weights,
        starts,
        owners[positions],
        above,
        hierarchy.first,
        hierarchy.last,
    )


def walk_cut(rows: DistinctRecords, n_nodes: int, size: int, parts: list[int]) -> tuple[NDArray[np.int32], Walk]:
    """A walk over the itemsets of one size ≥ 2 in rows of nodes that are on a cut; with ``parts``, over those that
    hold one.
    """
    occurs = np.zeros(n_nodes, dtype=np.bool_)
    occurs[rows.items] = True
    first = np.array([part for part in parts if occurs[part]], dtype=np.int32)
    occurs[first] = False
    nodes = np.concatenate((first, np.flatnonzero(occurs).astype(np.int32)))
    number = np.empty(n_nodes, dtype=np.int32)
    number[nodes] = np.arange(len(nodes))
    positions = np.arange(len(nodes) + 1, dtype=np.int32)
    alive = np.ones(len(nodes), dtype=np.bool_)
    walk = start_walk(rows.indptr, number[rows.items], rows.weights, (positions[:-1], positions[1:]), alive, size)
    if parts:
        walk.n_candidates[0] = len(first)
    return nodes, walk


def select_rows(rows: DistinctRecords, chosen: NDArray[np.int32]) -> DistinctRecords:
    """Some of the rows."""
    return DistinctRecords(*take_rows(rows.indptr, rows.items, chosen), rows.weights[chosen])


def by_size(itemsets: Iterator[NDArray[np.int32]]) -> list[NDArray[np.int32]]:
    """Itemsets of several sizes as one array [n, size] per size, without repeats."""
    sizes: dict[int, dict[tuple[int, ...], None]] = {}
    for itemset in itemsets:
        sizes.setdefault(len(itemset), {})[tuple(itemset.tolist())] = None
    return [np.array(list(sizes[size]), dtype=np.int32) for size in sorted(sizes)]
