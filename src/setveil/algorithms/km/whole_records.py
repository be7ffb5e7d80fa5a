"""Suppress entries so that every record is contained in k of them: that keeps every k^m-anonymity, whatever m.

The method of ``trim`` for ``m="all"``, and where there are too many itemsets to number.

Assumed: at least k records, the empty ones included; the value of an item is above 0. Ensured: every part that a record
shows is contained in what k records show, itself included, so every itemset of shown items is shown by k records or by
none. The order of records decides between equals: callers sort them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.core import Transactions
from setveil.core.row_order import sort_rows

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]

MOST_WORK = 60_000_000  # words of 64 records compared to bring entries back


def show_common_parts(
    records: Transactions, k: int, value: Floats, context: Context, stays: Bools | None = None
) -> Bools:
    """Which entries to keep, bool[entries], so that every record is contained in k of them: that keeps every m.

    A record shows the longest beginning, most frequent items first, that k records share; all k then show at least as
    much. Then entries come back: a record may show one more item, if what it shows then is contained in what k - 1
    others show. Showing more never takes anything from the others.

    ``stays``: items of which every entry is kept; these entries must be safe by themselves.
    """
    context.step("reducing records to common parts", None)
    if stays is None:
        return bring_back(records, keep_beginnings(records, k, value), k, value, context)
    first = np.where(stays, value.max(initial=0.0) * (records.n_records + 1), value)  # they come first in every row
    shown = keep_beginnings(records, k, first)
    is_cut = np.bincount(records.owners[stays[records.items] & ~shown], minlength=records.n_records) > 0
    # Rows that share a beginning with more than what stays have the same that stays: all of them show the beginning.
    shown = stays[records.items] | (shown & ~is_cut[records.owners])
    return bring_back(records, shown, k, value, context)


def keep_beginnings(records: Transactions, k: int, value: Floats) -> Bools:
    """The longest beginning of each row, frequent and valuable items first, that k rows share."""
    rank = np.empty(records.n_items, dtype=np.int64)
    rank[np.lexsort((np.arange(records.n_items), -records.supports * value))] = np.arange(records.n_items)
    owners = records.owners
    by_rank = np.lexsort((rank[records.items], owners))  # entries of each row, by rank
    ranks = rank[records.items][by_rank].astype(np.int32)
    order, _ = sort_rows(records.indptr, ranks, records.n_items)
    shown = np.zeros(records.n_occurrences, dtype=bool)
    lengths = records.lengths
    # Rows in order, level by level: runs of rows that agree up to here and have one more item in common.
    run = np.zeros(records.n_records, dtype=np.int64)
    alive = order
    depth = 0
    while len(alive):
        has_more = lengths[alive] > depth
        alive, run = alive[has_more], run[has_more]
        if not len(alive):
            break
        here = ranks[records.indptr[alive] + depth]
        new = np.concatenate(([True], (run[1:] != run[:-1]) | (here[1:] != here[:-1])))
        run = np.cumsum(new) - 1
        enough = np.bincount(run)[run] >= k
        alive, run = alive[enough], run[enough]
        shown[by_rank[records.indptr[alive] + depth]] = True
        depth += 1
    return shown


def bring_back(records: Transactions, shown: Bools, k: int, value: Floats, context: Context) -> Bools:
    """Show more items of rows, as long as every row stays contained in k records."""
    n_words = -(-max(records.n_records, 1) // 64)
    if records.n_items * n_words > 4 * MOST_WORK:
        return shown
    holds = np.zeros((records.n_items, n_words * 64), dtype=bool)
    holds[records.items[shown], records.owners[shown]] = True
    bits = np.packbits(holds, axis=1, bitorder="little").view(np.uint64)  # [items, words] the rows that show each item
    del holds
    everyone = np.full(n_words, ~np.uint64(0))
    budget = MOST_WORK
    changed = True
    while changed and budget > 0:
        changed = False
        for row in np.flatnonzero(np.diff(np.append(0, np.cumsum(~shown))[records.indptr]) > 0).tolist():
            start, end = int(records.indptr[row]), int(records.indptr[row + 1])
            entry_indices = np.arange(start, end)
            mine = shown[start:end]
            budget -= n_words * (end - start)
            if budget <= 0:
                break
            context.step("restoring entries", None)
            others = np.bitwise_and.reduce(bits[records.items[entry_indices[mine]]], axis=0, initial=everyone[0])
            gone = entry_indices[~mine]
            worth = records.supports[records.items[gone]] * value[records.items[gone]]
            for place in gone[np.argsort(-worth, kind="stable")]:
                item = records.items[place]
                both = others & bits[item]
                if int(np.bitwise_count(both).sum()) >= k - 1:
                    shown[place] = True
                    bits[item, row // 64] |= np.uint64(1) << np.uint64(row % 64)
                    others = both
                    others[row // 64] |= np.uint64(1) << np.uint64(row % 64)
                    changed = True
    return shown
