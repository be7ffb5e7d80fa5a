"""Gather similar records into blocks, and similar blocks into pairs, looking at public items only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.degree import _gathering as kernels
from setveil.algorithms.degree._blocks import BlockAssignment
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.groups import narrow_rows
from setveil.arrays.mining import invert_rows
from setveil.core import Transactions
from setveil.orderings import gray_order

SEEDS_PER_REPORT = 20_000  # seeds between two progress reports
SHARED = 3  # a block is compared by the items that one in so many of its records has


def pair_blocks(rows: Transactions, members: NDArray[np.int64], reach: int, context: Context) -> NDArray[np.int64]:
    """The same blocks, an even number, in an order in which each second one is most like the one before.

    The block with the most occurrences chooses first, then the next that is still free. ``members``: [blocks, size].
    """
    n_blocks, size = members.shape
    inside = rows.select(members.ravel())
    block = inside.owners // size
    keys, counts = np.unique(block * rows.n_items + inside.items, return_counts=True)
    keys = keys[counts * SHARED >= size]
    shared = Transactions.from_pairs(keys // rows.n_items, keys % rows.n_items, n_blocks, rows.vocabulary)
    order = gray_order(shared)
    seeds = np.argsort(-np.bincount(block, minlength=n_blocks)[order], kind="stable")
    paired: NDArray[np.int64] = members[order[gather(shared.select(order), 2, seeds, reach, context).members.ravel()]]
    return paired


def gather(rows: Transactions, size: int, seeds: NDArray[np.int64], reach: int, context: Context) -> BlockAssignment:
    """Sets of similar rows: each seed in turn, if it is still free, takes those most like it.

    Rows have to stand in an order that puts similar ones close together; their number is a multiple of ``size``.
    """
    public, holders = narrow_rows(rows), holders_of(rows)
    assignment, free, room = empty_assignment(rows.n_records, size), all_free(rows), room_for(rows)
    n_sets = 0
    for start in range(0, len(seeds), SEEDS_PER_REPORT):
        context.step("gathering similar records", start / len(seeds))
        some = seeds[start : start + SEEDS_PER_REPORT]
        n_sets = kernels.gather_blocks(some, n_sets, reach, public, holders, free, room, assignment)
    return assignment


def holders_of(rows: Transactions) -> Rows:
    """The inverted index: the records with each item."""
    return Rows(*invert_rows(rows.indptr, rows.items, rows.n_items))


def empty_assignment(n_records: int, size: int) -> BlockAssignment:
    """Blocks of this size with nobody in them."""
    nobody = np.full(n_records, -1, dtype=np.int32)
    return BlockAssignment(nobody.reshape(-1, size).copy(), nobody.copy(), nobody.copy())


def all_free(rows: Transactions) -> kernels.Free:
    """No record is in a block."""
    width: type[np.signedinteger[Any]] = np.int32 if rows.n_occurrences < 2**31 - 1 else np.int64
    place = np.empty(rows.n_occurrences, dtype=width)
    kernels.number_entries(rows.items, np.cumsum(rows.supports) - rows.supports, place)
    holders, records = (np.arange(n + 1, dtype=width) for n in (rows.n_occurrences, rows.n_records))
    return kernels.Free(place, holders, holders.copy(), records, records.copy())


def room_for(rows: Transactions) -> kernels.Room:
    """Room for a search among these records."""
    return kernels.Room(
        seen=np.full(rows.n_records, -1, dtype=np.int32),
        found=np.empty(rows.n_records, dtype=np.int32),
        likeness=np.empty(rows.n_records, dtype=np.float64),
        is_own=np.zeros(rows.n_items, dtype=np.int64),
    )
