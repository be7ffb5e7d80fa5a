"""Distinct rows with weights, and where each item stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress, no_progress
from setveil.verify import counting
from setveil.verify.published import Published, bounds_of

Number = TypeVar("Number", bound=np.generic)

ENTRIES_PER_CALL = 2_000_000  # occurrences per compiled call
BUDGET = 5_000_000  # steps per compiled call: about a tenth of a second, more where memory is slow


@dataclass(frozen=True, eq=False)
class Table:
    """Distinct rows over public items (numbered first) and sensitive items (numbered behind them)."""

    labels: Sequence[str]  # public ones ascending, then sensitive ones ascending
    n_public: int
    indptr: NDArray[np.int64]  # [n_rows + 1]
    tails: NDArray[np.int64]  # [n_rows] where the sensitive items of a row begin
    items: NDArray[np.int32]
    weights: NDArray[np.int64]  # [n_rows] how many records have this row

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.weights)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Public items per row."""
        return self.tails - self.indptr[:-1]

    @property
    def longest(self) -> int:
        """The largest number of public items in a row."""
        return int(self.lengths.max(initial=0))

    def names(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Labels of an itemset."""
        return tuple(self.labels[number] for number in numbers)

    def n_itemsets(self, size: int) -> int:
        """How many public itemsets of this size the rows hold, each row counted for itself: the price of a walk."""
        rows_of_length = np.bincount(self.lengths)
        return sum(count * comb(length, size) for length, count in enumerate(rows_of_length.tolist()) if count)

    def public(self) -> Table:
        """Without the sensitive items."""
        return _merged(self.labels[: self.n_public], self.n_public, self.indptr[:-1], self.tails, self)

    def without(self, unwanted: Iterable[int]) -> Table:
        """Without some public items; numbers stay as they are."""
        keep = np.ones(len(self.labels), dtype=bool)
        keep[list(unwanted)] = False
        kept = keep[self.items]
        before = bounds_of(kept)
        indptr = before[self.indptr]
        smaller = Table(self.labels, self.n_public, indptr, before[self.tails], self.items[kept], self.weights)
        return _merged(self.labels, self.n_public, indptr[:-1], indptr[1:], smaller)


def make_table(published: Published, sensitive: Iterable[str] = (), progress: Progress = no_progress) -> Table:
    """Distinct rows of what is published, sensitive items set behind the others."""
    hidden = published.numbers(sensitive)
    n_items = len(published.labels)
    labels, items, indptr = published.labels, published.items, published.indptr
    tails = indptr[1:]
    if hidden:
        order = np.concatenate((np.setdiff1d(np.arange(n_items), hidden), hidden))
        number = np.empty(n_items, dtype=np.int32)
        number[order] = np.arange(n_items, dtype=np.int32)
        labels = tuple(labels[item] for item in order.tolist())
        tails, reordered = np.empty(published.n_records, dtype=np.int64), np.empty_like(items)
        starts, ends = indptr[:-1], indptr[1:]
        for low, high in _slices(starts, ends):
            progress("setting sensitive items aside", low / published.n_records)
            counting.set_items_aside(
                starts[low:high], ends[low:high], items, number, n_items - len(hidden), reordered, tails[low:high]
            )
        items = reordered
    ones = np.ones(published.n_records, dtype=np.int64)
    rows = Table(labels, n_items - len(hidden), indptr, tails, items, ones)
    return merge_rows(rows, progress)


def count_itemsets(
    published: Published, itemsets: Sequence[tuple[int, ...]], progress: Progress = no_progress
) -> NDArray[np.int64]:
    """In how many records each itemset is; none of them is empty."""
    if not itemsets:
        return np.zeros(0, dtype=np.int64)
    indexed, bounds = (
        Indexed.of(make_table(published, progress=progress), progress),
        bounds_of(list(map(len, itemsets))),
    )
    items = np.array([item for itemset in itemsets for item in itemset], dtype=np.int32)
    return indexed.count(bounds[:-1], bounds[1:], items, progress=progress)


def merge_rows(rows: Table, progress: Progress = no_progress) -> Table:
    """Equal rows taken together."""
    return _merged(rows.labels, rows.n_public, rows.indptr[:-1], rows.indptr[1:], rows, progress)


def _merged(
    labels: Sequence[str],
    n_public: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    rows: Table,
    progress: Progress = no_progress,
) -> Table:
    """The rows ``rows.items[starts:ends]`` with equal ones taken together."""
    numbers, first = number_rows(starts, ends, rows.items, progress)
    weights = np.zeros(len(first), dtype=np.int64)
    np.add.at(weights, numbers, rows.weights)
    firsts, lasts = starts[first], ends[first]
    indptr = bounds_of(lasts - firsts)
    items, at = np.empty(indptr[-1], dtype=np.int32), 0
    for low, high in _slices(firsts, lasts):
        progress("merging rows", low / len(first))
        at = counting.copy_rows(firsts[low:high], lasts[low:high], rows.items, items, at)
    tails = indptr[:-1] + np.minimum(rows.tails[first], lasts) - firsts
    return Table(labels, n_public, indptr, tails, items, weights)


def number_rows(
    starts: NDArray[np.int64], ends: NDArray[np.int64], items: NDArray[np.int32], progress: Progress = no_progress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(numbers, first)``: equal rows have equal numbers, and row ``first[j]`` is the first one with number ``j``."""
    n_rows = len(starts)
    starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    table = np.full(1 << (n_rows + n_rows // 2).bit_length(), -1, dtype=np.int32)  # at most two thirds full
    known_starts = np.empty(n_rows, dtype=np.int64)
    known_ends = np.empty(n_rows, dtype=np.int64)
    numbers = np.empty(n_rows, dtype=np.int64)
    n_known = 0
    for low, high in _slices(starts, ends):
        progress("reading rows", low / n_rows)
        n_known = counting.number_equal_rows(
            starts[low:high], ends[low:high], items, table, known_starts, known_ends, numbers[low:high], n_known
        )
    # Numbers are given in order of first appearance, so a new one is larger than all before it.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1)) if n_rows else numbers
    return numbers, first


def _slices(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Iterable[tuple[int, int]]:
    """Runs of rows with about ENTRIES_PER_CALL occurrences each; a row counts for one more than it holds."""
    n_rows = len(starts)
    done = np.cumsum(ends - starts + 1)
    low = 0
    while low < n_rows:
        before = int(done[low - 1]) if low else 0
        high = max(low + 1, int(np.searchsorted(done, before + ENTRIES_PER_CALL, side="right")))
        yield low, high
        low = high


@dataclass(frozen=True, eq=False)
class Indexed:
    """A table with the positions of every public item."""

    table: Table
    index: counting.Index
    supports: NDArray[np.int64]  # [n_public]

    @classmethod
    def of(cls, table: Table, progress: Progress = no_progress) -> Indexed:
        """Count and enter every row."""
        starts = np.ascontiguousarray(table.indptr[:-1])
        supports, sizes = np.zeros(table.n_public, dtype=np.int64), np.zeros(table.n_public, dtype=np.int64)
        for low, high in _slices(starts, table.tails):
            progress("counting items", None)
            counting.count_items(
                starts[low:high], table.tails[low:high], table.items, table.weights[low:high], supports, sizes
            )
        bounds = bounds_of(sizes)
        index = counting.Index(
            bounds,
            np.empty(bounds[-1], dtype=np.int64),
            np.empty(bounds[-1], dtype=np.int32),
            np.empty(table.n_rows, dtype=np.uint64),
        )
        cursor = bounds[:-1].copy()
        for low, high in _slices(starts, table.tails):
            progress("indexing items", None)
            counting.fill_index(starts[low:high], table.tails[low:high], table.items, low, cursor, index)
        return cls(table, index, supports)

    def rows(self, live: NDArray[np.bool_] | None = None) -> counting.Rows:
        """The table as the loops want it."""
        table = self.table
        marks = np.ones(table.n_rows, dtype=np.uint8) if live is None else live.astype(np.uint8)
        return counting.Rows(table.indptr, table.tails, table.items, table.weights, marks)

    def count(
        self,
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        items: NDArray[np.int32],
        enough: int | NDArray[np.int64] = 2**62,
        progress: Progress = no_progress,
    ) -> NDArray[np.int64]:
        """Supports of the itemsets ``items[starts:ends]`` of public items, none empty; counting stops at ``enough``."""
        supports, limits = np.zeros(len(starts), dtype=np.int64), np.empty(len(starts), dtype=np.int64)
        limits[:] = enough
        rows, done = self.rows(), 0
        while done < len(starts):
            progress("counting itemsets", done / len(starts))
            done += counting.count_supports(
                rows, self.index, starts[done:], ends[done:], items, limits[done:], supports[done:], BUDGET
            )
        return supports

    def price_of_rows(self, chosen: NDArray[np.int64]) -> int:
        """At most how many rows must be looked at to count the supports of the given rows as itemsets."""
        sizes = np.diff(self.index.bounds)
        table = self.table
        total = 0
        for low in range(0, len(chosen), ENTRIES_PER_CALL // 16):
            some = chosen[low : low + ENTRIES_PER_CALL // 16]
            lengths = table.lengths[some]
            offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
            gather = np.arange(lengths.sum()) + np.repeat(table.indptr[some] - offsets, lengths)
            total += int(np.minimum.reduceat(sizes[table.items[gather]], offsets).sum()) if len(some) else 0
        return total

    def supports_of_rows(
        self, chosen: NDArray[np.int64], enough: int = 2**62, progress: Progress = no_progress
    ) -> NDArray[np.int64]:
        """In how many records the public part of each given row (none empty) is contained, up to ``enough``."""
        return self.count(self.table.indptr[chosen], self.table.tails[chosen], self.table.items, enough, progress)


class Find(NamedTuple):
    """An itemset in the way; with ``sensitive`` ≥ 0 because ``shared`` of its records hold that item, else as too
    rare.
    """

    itemset: tuple[int, ...]
    support: int
    sensitive: int = -1
    shared: int = 0


class Walker:
    """All public itemsets of one size, one after another in ascending order, that are in the way of a claim."""

    def __init__(
        self,
        indexed: Indexed,
        size: int,
        live: NDArray[np.bool_],
        shares: bool = False,
        at_once: int = 1,
        twin: int = 0,
    ) -> None:
        """Without ``shares``: rare itemsets of ``size`` ≥ 2. With it: itemsets of ``size`` that share a sensitive item;
        not one that is among them under a number smaller by ``twin``.

        ``at_once`` finds are looked for before the first is given out; with 1 the walk goes no further than it must.
        """
        table, index = indexed.table, indexed.index
        length = size if shares else size - 1
        n_public, n_items = table.n_public, len(table.labels)
        self.size = size
        self.shares = shares
        self.twin = twin
        self.n_public = n_public
        self.rows = indexed.rows(live)
        self.index = index
        room = n_public + 64
        self.walk = counting.Walk(
            prefix=np.zeros(length, dtype=np.int32),
            next=np.zeros(length, dtype=np.int64),
            last=np.zeros(length, dtype=np.int64),
            filled=np.zeros(length, dtype=np.int64),
            item=np.zeros(room, dtype=np.int32),
            begin=np.zeros(room, dtype=np.int64),
            end=np.zeros(room, dtype=np.int64),
            support=np.zeros(room, dtype=np.int64),
            positions=np.empty(1024, dtype=np.int64),
            owners=np.empty(1024, dtype=np.int32),
            counts=np.zeros(n_items, dtype=np.int64),
            sizes=np.zeros(n_items, dtype=np.int64),
            touched=np.zeros(n_items, dtype=np.int32),
            state=np.zeros(7, dtype=np.int64),
            found=np.zeros((at_once, length + 1), dtype=np.int32),
            found_support=np.zeros((at_once, 2), dtype=np.int64),
        )
        self.finds: Iterator[Find] = iter(())
        self.done = False
        self.walk.last[0] = n_public
        self.walk.item[:n_public] = np.arange(n_public)
        self.walk.begin[:n_public] = index.bounds[:-1]
        self.walk.end[:n_public] = index.bounds[1:]
        self.walk.support[:n_public] = indexed.supports

    def find(self, k: int, over: int = 0, under: int = 1, progress: Progress = no_progress) -> Find | None:
        """The next itemset that is rarer than k, or of whose records more than ``over/under`` share an item; or
        None.
        """
        while (found := next(self.finds, None)) is None and not self.done:
            status = counting.walk_itemsets(
                self.rows, self.index, self.walk, k, over, under, self.shares, self.twin, BUDGET
            )
            self._take_finds()
            if status == counting.FULL:
                state = self.walk.state
                self._grow(int(state[counting.NEED_BRANCHES]), int(state[counting.NEED_POSITIONS]))
            self.done = status == counting.DONE
            if status != counting.FOUND:
                progress(f"itemsets of size {self.size}", int(self.walk.next[0]) / self.n_public)
        return found

    def _take_finds(self) -> None:
        walk = self.walk
        n_found = int(walk.state[counting.N_FOUND])
        walk.state[counting.N_FOUND] = 0
        # Column by column, so that only what is given out becomes an object.
        columns = [column.tolist() for column in walk.found[:n_found].T]
        of_prefix, of_all = (column.tolist() for column in walk.found_support[:n_found].T)
        if self.shares:
            self.finds = map(Find, zip(*columns[:-1], strict=True), of_prefix, columns[-1], of_all)
        else:
            self.finds = map(Find, zip(*columns, strict=True), of_all)

    def _grow(self, n_branches: int, n_positions: int) -> None:
        walk = self.walk
        if n_branches > len(walk.item):
            walk = walk._replace(
                item=_longer(walk.item, n_branches),
                begin=_longer(walk.begin, n_branches),
                end=_longer(walk.end, n_branches),
                support=_longer(walk.support, n_branches),
            )
        if n_positions > len(walk.positions):
            walk = walk._replace(
                positions=_longer(walk.positions, n_positions), owners=_longer(walk.owners, n_positions)
            )
        self.walk = walk


def _longer(array: NDArray[Number], need: int) -> NDArray[Number]:
    """A copy with room for at least ``need`` and half as much again."""
    grown = np.zeros(need + need // 2, dtype=array.dtype)
    grown[: len(array)] = array
    return grown
