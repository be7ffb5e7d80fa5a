# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that gather each record's most similar ones into a block, looking at public items only.

Records are numbered along an order in which similar ones stand close together. A record is *free* while it is in no
block. Of every item of a seed only the nearest free holders along the order are looked at, so that the work per seed
does not grow with the data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._blocks import BlockAssignment
from setveil.algorithms.degree._grouping import Rows, find_end
from setveil.arrays.compiling import compiled


class Free(NamedTuple):
    """Links that skip records in blocks, among all records and among the holders of each item; changed in place.

    Links are 32 bits wide where that is enough: most of the time goes to fetching them.

    ``after[i]`` leads to the first free one at or after place i, ``before[i + 1]`` to the last one at or before it,
    plus 1.
    """

    place: NDArray[np.signedinteger[Any]]  # [occurrences] where an occurrence stands in the inverted index
    after: NDArray[np.signedinteger[Any]]  # [occurrences + 1]
    before: NDArray[np.signedinteger[Any]]  # [occurrences + 1]
    record_after: NDArray[np.signedinteger[Any]]  # [records + 1]
    record_before: NDArray[np.signedinteger[Any]]  # [records + 1]


class Room(NamedTuple):
    """Room for a search."""

    seen: NDArray[np.int32]  # [records] the last seed that met the record, -1 if none
    found: NDArray[np.int32]  # [records] candidates
    likeness: NDArray[np.float64]  # [records] of the best candidates
    is_own: NDArray[np.int64]  # [items] whether the seed has it, 0 between seeds


@compiled
def number_entries(items: NDArray[np.int32], first: NDArray[np.int64], place: NDArray[np.int32]) -> None:
    """Where each occurrence stands among all, item by item; ``first``: where each item begins, changed in place."""
    for j in range(len(items)):
        place[j] = first[items[j]]
        first[items[j]] += 1


@compiled
def list_holders_nearby(seed: int, reach: int, rows: Rows, holders: Rows, free: Free, room: Room) -> int:
    """List up to ``reach`` free records on either side of the seed for each of its items; how many are listed."""
    n_found = 0
    room.seen[seed] = seed
    for j in range(rows.indptr[seed], rows.indptr[seed + 1]):
        first, last = holders.indptr[rows.items[j]], holders.indptr[rows.items[j] + 1]
        above, below = find_end(free.after, free.place[j] + 1), find_end(free.before, free.place[j]) - 1
        for _ in range(reach):
            for place in (below, above):
                if first <= place < last and room.seen[holders.items[place]] != seed:
                    room.seen[holders.items[place]] = seed
                    room.found[n_found] = holders.items[place]
                    n_found += 1
            if above < last:
                above = find_end(free.after, above + 1)
            if below >= first:
                below = find_end(free.before, below) - 1
            if above >= last and below < first:
                break
    return n_found


@compiled
def rank_most_alike(seed: int, n_found: int, n_wanted: int, rows: Rows, room: Room) -> int:
    """Put the candidates most like the seed first, up to ``n_wanted``; how many these are.

    Likeness is the share of common items (Jaccard). Ties: nearest along the order, then the lower number.
    """
    for j in range(rows.indptr[seed], rows.indptr[seed + 1]):
        room.is_own[rows.items[j]] = 1
    length = np.int64(rows.indptr[seed + 1]) - np.int64(rows.indptr[seed])
    n_best = 0
    for mine in range(n_found):
        record = room.found[mine]
        other = np.int64(rows.indptr[record + 1]) - np.int64(rows.indptr[record])
        if n_best == n_wanted and min(length, other) / max(length, other) < room.likeness[n_best - 1]:
            continue  # all items in common would not be enough
        common = 0
        for j in range(rows.indptr[record], rows.indptr[record + 1]):
            common += room.is_own[rows.items[j]]
        likeness = common / (length + other - common)
        rank = n_best
        while rank > 0 and likeness >= room.likeness[rank - 1]:
            gap, least = abs(record - seed), abs(room.found[rank - 1] - seed)
            if likeness == room.likeness[rank - 1] and (
                gap > least or (gap == least and record > room.found[rank - 1])
            ):
                break
            rank -= 1
        if rank == n_wanted:
            continue
        n_best = min(n_best + 1, n_wanted)
        for place in range(n_best - 1, rank, -1):
            room.found[place], room.likeness[place] = room.found[place - 1], room.likeness[place - 1]
        room.found[rank], room.likeness[rank] = record, likeness
    for j in range(rows.indptr[seed], rows.indptr[seed + 1]):
        room.is_own[rows.items[j]] = 0
    return n_best


@compiled
def take(record: int, rows: Rows, free: Free) -> None:
    """A record is free no longer."""
    free.record_after[record], free.record_before[record + 1] = record + 1, record
    for j in range(rows.indptr[record], rows.indptr[record + 1]):
        free.after[free.place[j]], free.before[free.place[j] + 1] = free.place[j] + 1, free.place[j]


@compiled
def find_free_nearby(seed: int, free: Free) -> int:
    """The free record nearest to the seed along the order; ties: the later one. There must be one."""
    above, below = find_end(free.record_after, seed), find_end(free.record_before, seed) - 1
    if below < 0 or (above < len(free.record_after) - 1 and above - seed <= seed - below):
        return above
    return below


@compiled
def gather_blocks(
    seeds: NDArray[np.int64],
    first_block: int,
    reach: int,
    rows: Rows,
    holders: Rows,
    free: Free,
    room: Room,
    assignment: BlockAssignment,
) -> int:
    """Each free seed takes the records most like it into a block; how many blocks there are then.

    ``reach``: free holders looked at on either side, per item of the seed. If none of those found is left, the nearest
    free record along the order is taken.
    """
    n_blocks, size = first_block, assignment.members.shape[1]
    for seed in seeds:
        if assignment.block_of[seed] >= 0:
            continue
        n_found = list_holders_nearby(seed, reach, rows, holders, free, room)
        n_best = rank_most_alike(seed, n_found, size - 1, rows, room)
        for place in range(size):
            record = np.int64(seed)
            if place > n_best:
                record = find_free_nearby(seed, free)
            elif place:
                record = np.int64(room.found[place - 1])
            take(record, rows, free)
            assignment.members[n_blocks, place] = record
            assignment.block_of[record], assignment.place_of[record] = n_blocks, place
        n_blocks += 1
    return n_blocks
