# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that gather each record's most similar ones into a block, looking at public items only.

Records are numbered along an order in which similar ones stand close together. A record is *free* while it is in no
block. Of every item of a seed only the nearest free holders along the order are looked at, so that the work per seed
does not grow with the data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._blocks import BlockAssignment
from setveil.algorithms.degree._grouping import Rows, find_end
from setveil.arrays.compiling import compiled


class Free(NamedTuple):
    """Links that skip records in blocks, among all records and among the holders of each item; changed in place.

    ``after[i]`` leads to the first free one at or after place i, ``before[i + 1]`` to the last one at or before it,
    plus 1.
    """

    place: NDArray[np.int64]  # [occurrences] where an occurrence stands in the inverted index
    after: NDArray[np.int64]  # [occurrences + 1]
    before: NDArray[np.int64]  # [occurrences + 1]
    record_after: NDArray[np.int64]  # [records + 1]
    record_before: NDArray[np.int64]  # [records + 1]


class Room(NamedTuple):
    """Room for a search."""

    seen: NDArray[np.int64]  # [records] the last seed that met the record, -1 if none
    found: NDArray[np.int64]  # [records] candidates
    likeness: NDArray[np.float64]  # [records] of each candidate; -1 once it is taken
    is_own: NDArray[np.int64]  # [items] whether the seed has it, 0 between seeds


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
def measure_likeness(seed: int, n_found: int, rows: Rows, room: Room) -> None:
    """The share of common items (Jaccard) of the seed and each candidate."""
    length = rows.indptr[seed + 1] - rows.indptr[seed]
    for j in range(rows.indptr[seed], rows.indptr[seed + 1]):
        room.is_own[rows.items[j]] = 1
    for mine in range(n_found):
        record = room.found[mine]
        common = 0
        for j in range(rows.indptr[record], rows.indptr[record + 1]):
            common += room.is_own[rows.items[j]]
        room.likeness[mine] = common / (length + rows.indptr[record + 1] - rows.indptr[record] - common)
    for j in range(rows.indptr[seed], rows.indptr[seed + 1]):
        room.is_own[rows.items[j]] = 0


@compiled
def pick_most_alike(seed: int, n_found: int, room: Room) -> int:
    """The candidate most like the seed, -1 if none is left; ties: nearest along the order, then the lower number."""
    best = -1
    for mine in range(n_found):
        if room.likeness[mine] < 0.0:
            continue
        if best >= 0:
            if room.likeness[mine] < room.likeness[best]:
                continue
            gap, least = abs(room.found[mine] - seed), abs(room.found[best] - seed)
            if room.likeness[mine] == room.likeness[best] and (
                gap > least or (gap == least and room.found[mine] > room.found[best])
            ):
                continue
        best = mine
    if best < 0:
        return -1
    room.likeness[best] = -1.0
    return room.found[best]


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
        measure_likeness(seed, n_found, rows, room)
        record = seed
        for place in range(size):
            if place:
                record = pick_most_alike(seed, n_found, room)
                if record < 0:
                    record = find_free_nearby(seed, free)
            take(record, rows, free)
            assignment.members[n_blocks, place] = record
            assignment.block_of[record], assignment.place_of[record] = n_blocks, place
        n_blocks += 1
    return n_blocks
