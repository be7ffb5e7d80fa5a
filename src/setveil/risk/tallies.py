"""What all subsets of up to c items of every record tell, counted."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import Lists, invert_rows, sort_rows_by_item
from setveil.arrays.threads import available_threads, for_slices, map_in_order, slices_of
from setveil.core import Transactions
from setveil.core.progress import Progress
from setveil.risk._identifying import (
    Rows,
    count_pairs,
    count_triples,
    look_up_pairs,
    look_up_triples,
    tally_subsets,
)

UNSEEN = np.iinfo(np.int64).max
COUNTING = "counting what known items reveal"
_PER_SLICE = 5_000_000  # subsets between two reports of progress
_WORKERS = 2  # that count at the same time
MAX_TRIPLES = 1 << 21  # different triples of items that are counted in one table
_ROWS_AT_ONCE = 1 << 17  # entries whose triples are counted between two reports of progress


class Tally(NamedTuple):
    """What all subsets of up to ``n_known`` items tell."""

    totals: NDArray[np.float64]  # [n_known, 2] over all records: share of subsets of support 1, mean of 1/support
    least: NDArray[np.int64]  # [longest + 1, n_known] the least support, by length of the record
    below: NDArray[np.int64]  # [2, longest + 1, n_known] records with a subset below a limit (k; 2: alone), by length
    is_below: NDArray[np.bool_]  # [2, searched] whether some records that are searched further are among these


def no_tally(n_lengths: int, n_known: int, n_searched: int) -> Tally:
    """Of no records."""
    return Tally(
        np.zeros((n_known, 2)),
        np.full((n_lengths, n_known), UNSEEN),
        np.zeros((2, n_lengths, n_known), dtype=np.int64),
        np.zeros((2, n_searched), dtype=np.bool_),
    )


def limits_of(k: int) -> NDArray[np.int64]:
    """Supports below which combinations of items are counted: k, and 2 for those that only one record has."""
    return np.array([k, 2], dtype=np.int64)


def ranks_of(supports: NDArray[np.int64]) -> NDArray[np.int32]:
    """The place of each item if the rarest stands first, int32[n_items]."""
    rank = np.empty(len(supports), dtype=np.int32)
    rank[np.argsort(supports, kind="stable")] = np.arange(len(supports))
    return rank


# -- one or two items -------------------------------------------------------------------------------------------------


def tally_pairs(data: Transactions, k: int, searched: NDArray[np.int64], progress: Progress) -> Tally:
    """All pairs are counted in one table per thread, then every record looks up its own."""
    n_lengths, slices = data.longest + 1, slices_of(data.indptr)
    n_threads = max(min(available_threads(), len(slices)), 1)
    narrow = np.int32 if data.n_records <= np.iinfo(np.int32).max else np.int64
    n_pairs = data.n_items * (data.n_items - 1) // 2
    tables: list[NDArray[Any]] = [np.zeros(n_pairs, dtype=narrow) for _ in range(n_threads)]
    for start in range(0, len(slices), n_threads):
        parts = [data.indptr[first : last + 1] for first, last in slices[start : start + n_threads]]
        for _ in map_in_order(lambda job: count_pairs(job[0], data.items, job[1]), zip(parts, tables, strict=False)):
            pass
        progress(COUNTING, start / len(slices) / 2)
    pairs = tables[0]
    for table in tables[1:]:
        pairs += table

    def look_up(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> Tally:
        part = no_tally(n_lengths, 2, len(indptr) - 1)
        look_up_pairs(indptr, items, limits_of(k), data.supports, pairs, *part)
        return part

    some = data.select(searched)
    whole = no_tally(n_lengths, 2, 0)._replace(is_below=look_up(some.indptr, some.items).is_below)
    bounds = (data.indptr[first : last + 1] for first, last in slices)
    for number, part in enumerate(map_in_order(lambda one: look_up(one, data.items), bounds)):  # sums keep their order
        whole.totals[...] += part.totals
        whole.below[...] += part.below
        np.minimum(whole.least, part.least, out=whole.least)
        progress(COUNTING, 0.5 + number / len(slices) / 2)
    return whole


# -- more -------------------------------------------------------------------------------------------------------------


def tally_all(data: Transactions, n_known: int, k: int, searched: NDArray[np.int64], progress: Progress) -> Tally:
    """All subsets of up to ``n_known`` items of the distinct records are gone through."""
    distinct, weights, row_of = data.distinct()
    n_rows, lengths = len(weights), distinct.lengths
    has_table = n_known == 3 and comb(data.n_items, 3) <= MAX_TRIPLES and distinct.n_occurrences > data.n_items
    find = _found_in_tables if has_table else _found_by_walking
    sums, least = find(distinct, weights, data.supports, n_known, progress)
    tally = no_tally(data.longest + 1, n_known, len(searched))
    by_length = np.argsort(lengths, kind="stable")
    present, first = np.unique(lengths[by_length], return_index=True)
    if n_rows:
        tally.least[present] = np.minimum.reduceat(least[by_length], first)
    for size in range(1, n_known + 1):
        can = lengths >= size
        tally.totals[size - 1] = weights[can] @ (sums[can, size - 1] / _n_subsets(lengths[can], size)[:, None])
        for limit, below in zip(limits_of(k), tally.below, strict=True):
            below[:, size - 1] = np.bincount(lengths, weights * (least[:, size - 1] < limit), len(below))
    tally.is_below[...] = least[row_of[searched], -1] < limits_of(k)[:, None]
    return tally


def _found_in_tables(
    distinct: Transactions, weights: NDArray[np.int64], supports: NDArray[np.int64], n_known: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Where there are few items: all pairs and triples are counted in tables, then every row looks up its own."""
    rows, n_items = (distinct.indptr, distinct.items, weights), distinct.n_items
    slices = slices_of(distinct.indptr, _ROWS_AT_ONCE)
    tables = [(np.zeros(comb(n_items, 2), np.int64), np.zeros(comb(n_items, 3), np.int64)) for _ in range(_WORKERS)]
    for start in range(0, len(slices), _WORKERS):
        jobs = list(zip(slices[start : start + _WORKERS], tables, strict=False))
        for _ in map_in_order(lambda job: count_triples(rows, *job[0], *job[1]), jobs):
            pass
        progress(COUNTING, start / len(slices) / 2)
    for pairs, triples in tables[1:]:
        tables[0][0][...] += pairs
        tables[0][1][...] += triples
    found = _Found.of(len(weights), n_known)
    for_slices(
        lambda first, last: look_up_triples(rows, first, last, supports, *tables[0], found.sums, found.least),
        slices,
        lambda share: progress(COUNTING, 0.5 + share / 2),
    )
    return found.sums, found.least


def _found_by_walking(
    distinct: Transactions, weights: NDArray[np.int64], supports: NDArray[np.int64], n_known: int, progress: Progress
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """All subsets that occur are gone through, one first item after the other."""
    rows, lists = _ranked(distinct, weights, supports)
    found = [_Found.of(len(weights), n_known) for _ in range(_WORKERS)]
    slices = _slices_of_subsets(rows, lists, n_known)
    for start in range(0, len(slices), _WORKERS):  # always the same worker for the same slice: sums keep their order
        jobs = list(zip(slices[start : start + _WORKERS], found, strict=False))
        for _ in map_in_order(lambda job: tally_subsets(rows, lists, *job[0], job[1].sums, job[1].least), jobs):
            pass
        progress(COUNTING, start / len(slices))
    for other in found[1:]:
        found[0].sums[...] += other.sums
        np.minimum(found[0].least, other.least, out=found[0].least)
    return found[0].sums, found[0].least


@dataclass(frozen=True, eq=False)
class _Found:
    """What one worker has found."""

    sums: NDArray[np.float64]  # [row, c-1] number of its c-subsets of support 1, sum of 1/support
    least: NDArray[np.int64]  # [row, c-1] least support

    @classmethod
    def of(cls, n_rows: int, n_known: int) -> _Found:
        return cls(np.zeros((n_rows, n_known, 2)), np.full((n_rows, n_known), UNSEEN))


def _ranked(distinct: Transactions, weights: NDArray[np.int64], supports: NDArray[np.int64]) -> tuple[Rows, Lists]:
    """Rows and inverted lists with items renumbered, rarest first, so that prefixes become unique early."""
    lists = invert_rows(distinct.indptr, ranks_of(supports)[distinct.items], len(supports))
    return (distinct.indptr, sort_rows_by_item(lists, distinct.indptr), weights), lists


def _n_subsets(lengths: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """How many subsets of that size each row has, float64[rows]."""
    count = np.ones(len(lengths))
    for taken in range(size):
        count *= np.maximum(lengths - taken, 0) / (taken + 1)
    return np.rint(count)


def _slices_of_subsets(rows: Rows, lists: Lists, n_known: int) -> list[tuple[int, int]]:
    """Runs of items of which about equally many subsets begin with one."""
    indptr, items, _ = rows
    n_after = (np.repeat(indptr[1:], np.diff(indptr)) - np.arange(1, len(items) + 1)).astype(np.float64)
    price = np.ones(len(items))
    for taken in range(n_known - 1):
        price *= np.maximum(n_after - taken, 0) / (taken + 1)
    n_items = len(lists[0]) - 1
    until = np.cumsum(np.bincount(items, weights=price, minlength=n_items)) if n_items else np.zeros(1)
    n_slices = max(_WORKERS, int(until[-1] / _PER_SLICE))
    cuts = np.searchsorted(until, np.linspace(0, until[-1], n_slices + 1)[1:-1])
    bounds = np.unique(np.concatenate(([0], cuts, [n_items]))).tolist()
    return list(zip(bounds[:-1], bounds[1:], strict=True))
