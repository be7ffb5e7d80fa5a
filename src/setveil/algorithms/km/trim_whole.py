"""Trim whole records: every published record is contained in k of them, which keeps k^m for every m.

The items of each record are put in order, the most frequent first, and the records into a prefix tree. A record shows
the longest beginning that k records share; all k then show at least as much, so the beginning is contained in each of
them. Then entries come back: a record may show one more item, if what it shows then is contained in what k - 1 others
show. Showing more never takes anything from the others.

Cost: sorting the records; then, for each entry left out, one intersection of the records' lists, the cheapest first,
until a stated amount of work is spent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.core import Transactions
from setveil.core.row_order import sort_rows

MOST_WORK = 60_000_000  # words of 64 records compared to bring entries back


def trim_whole(
    rows: Transactions,
    k: int,
    value: NDArray[np.float64],
    context: Context,
    stays: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Which entries to keep, bool[entries]; equal rows may be treated differently.

    ``stays``: items of which every entry is kept; these entries must be safe by themselves.
    """
    context.step("cutting records to common beginnings", None)
    if stays is None:
        return bring_back(rows, keep_beginnings(rows, k, value), k, value, context)
    first = np.where(stays, value.max(initial=0.0) * (rows.n_records + 1), value)  # they come first in every row
    shown = keep_beginnings(rows, k, first)
    is_cut = np.bincount(rows.owners[stays[rows.items] & ~shown], minlength=rows.n_records) > 0
    # Rows that share a beginning with more than what stays have the same that stays: all of them show the beginning.
    shown = stays[rows.items] | (shown & ~is_cut[rows.owners])
    return bring_back(rows, shown, k, value, context)


def keep_beginnings(rows: Transactions, k: int, value: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The longest beginning of each row, frequent and valuable items first, that k rows share."""
    rank = np.empty(rows.n_items, dtype=np.int64)
    rank[np.lexsort((np.arange(rows.n_items), -rows.supports * value))] = np.arange(rows.n_items)
    owners = rows.owners
    by_rank = np.lexsort((rank[rows.items], owners))  # entries of each row, by rank
    ranks = rank[rows.items][by_rank].astype(np.int32)
    order, _ = sort_rows(rows.indptr, ranks, rows.n_items)
    shown = np.zeros(rows.n_occurrences, dtype=bool)
    lengths = rows.lengths
    # Rows in order, level by level: runs of rows that agree up to here and have one more item in common.
    run = np.zeros(rows.n_records, dtype=np.int64)
    alive = order
    depth = 0
    while len(alive):
        has_more = lengths[alive] > depth
        alive, run = alive[has_more], run[has_more]
        if not len(alive):
            break
        here = ranks[rows.indptr[alive] + depth]
        new = np.concatenate(([True], (run[1:] != run[:-1]) | (here[1:] != here[:-1])))
        run = np.cumsum(new) - 1
        enough = np.bincount(run)[run] >= k
        alive, run = alive[enough], run[enough]
        shown[by_rank[rows.indptr[alive] + depth]] = True
        depth += 1
    return shown


def bring_back(
    rows: Transactions, shown: NDArray[np.bool_], k: int, value: NDArray[np.float64], context: Context
) -> NDArray[np.bool_]:
    """Show more items of rows, as long as every row stays contained in k rows."""
    n_words = -(-max(rows.n_records, 1) // 64)
    if rows.n_items * n_words > 4 * MOST_WORK:
        return shown
    holds = np.zeros((rows.n_items, n_words * 64), dtype=bool)
    holds[rows.items[shown], rows.owners[shown]] = True
    bits = np.packbits(holds, axis=1, bitorder="little").view(np.uint64)  # [items, words] the rows that show each item
    del holds
    everyone = np.full(n_words, ~np.uint64(0))
    budget = MOST_WORK
    changed = True
    while changed and budget > 0:
        changed = False
        for row in np.flatnonzero(np.diff(np.append(0, np.cumsum(~shown))[rows.indptr]) > 0).tolist():
            start, end = int(rows.indptr[row]), int(rows.indptr[row + 1])
            places = np.arange(start, end)
            mine = shown[start:end]
            budget -= n_words * (end - start)
            if budget <= 0:
                break
            context.step("bringing entries back", None)
            others = np.bitwise_and.reduce(bits[rows.items[places[mine]]], axis=0, initial=everyone[0])
            gone = places[~mine]
            for place in gone[np.argsort(-rows.supports[rows.items[gone]] * value[rows.items[gone]], kind="stable")]:
                item = rows.items[place]
                both = others & bits[item]
                if int(np.bitwise_count(both).sum()) >= k - 1:
                    shown[place] = True
                    bits[item, row // 64] |= np.uint64(1) << np.uint64(row % 64)
                    others = both
                    others[row // 64] |= np.uint64(1) << np.uint64(row % 64)
                    changed = True
    return shown
