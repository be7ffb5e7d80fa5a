# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that exchange records between blocks of equal size, looking at public items only.

A record counts as often as it has items: the more items somebody has, the likelier is any further one, a sensitive one
included. So a block costs, for each occurrence of an item, the length of its record times how unusual the item is in
the block: the sum of ``length * log2(size / holders)``. That is, item by item, what reconstruction loses if the holder
of a sensitive item is drawn by length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._grouping import Rows
from setveil.arrays.compiling import compiled

HOLDER_BITS = np.int64(40)
HOLDER = np.int64(1) << HOLDER_BITS


class BlockAssignment(NamedTuple):
    """Who is in which block; changed in place."""

    members: NDArray[np.int32]  # [blocks, size]
    block_of: NDArray[np.int32]  # [records]
    place_of: NDArray[np.int32]  # [records] where in its block


@compiled
def draw_below(random: NDArray[np.uint64], limit: int) -> int:
    """A number from 0 to limit-1 (xorshift); ``random`` is the state."""
    state = random[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    random[0] = state
    return np.int64(state >> np.uint64(33)) % limit


@compiled
def count_members(block: int, rows: Rows, assignment: BlockAssignment, tally: NDArray[np.int64]) -> None:
    """Count every member of a block: per item its holders, times ``HOLDER``, plus their lengths.

    One number for both halves what is fetched. ``tally``: zeros, [items].
    """
    for member in assignment.members[block]:
        step = HOLDER + np.int64(rows.indptr[member + 1]) - np.int64(rows.indptr[member])
        for j in range(rows.indptr[member], rows.indptr[member + 1]):
            tally[rows.items[j]] += step


@compiled
def clear_tally(block: int, rows: Rows, assignment: BlockAssignment, tally: NDArray[np.int64]) -> None:
    """Back to zeros."""
    for member in assignment.members[block]:
        for j in range(rows.indptr[member], rows.indptr[member + 1]):
            tally[rows.items[j]] = 0


@compiled
def change_by(held: int, step: int, length: int, cost: NDArray[np.int64]) -> int:
    """How the cost of an item changes if a record of this length that has it joins (step 1) or leaves (-1) a block."""
    n, weight = held >> HOLDER_BITS, held & (HOLDER - 1)
    return (weight + step * length) * cost[n + step] - weight * cost[n]


@compiled
def find_partner(
    leaver: int,
    target: int,
    rows: Rows,
    cost: NDArray[np.int64],
    assignment: BlockAssignment,
    here: NDArray[np.int64],
    there: NDArray[np.int64],
    is_own: NDArray[np.int64],
) -> tuple[int, int]:
    """``(place, change)``: where in the target block the best partner is (-1: none), and what the exchange changes.

    ``cost[n]``: of an occurrence, per item of its record, if n records of the block have the item. ``here``, ``there``:
    tallies of the leaver's block and of the target. ``is_own``: zeros, [items].
    """
    length = np.int64(rows.indptr[leaver + 1]) - np.int64(rows.indptr[leaver])
    base = 0
    for j in range(rows.indptr[leaver], rows.indptr[leaver + 1]):
        item = rows.items[j]
        is_own[item] = 1
        base += change_by(here[item], -1, length, cost) + change_by(there[item], 1, length, cost)
    best, best_change = -1, 0
    for place in range(assignment.members.shape[1]):
        partner = assignment.members[target, place]
        other = np.int64(rows.indptr[partner + 1]) - np.int64(rows.indptr[partner])
        change = base
        for j in range(rows.indptr[partner], rows.indptr[partner + 1]):
            item = rows.items[j]
            if is_own[item]:  # both have it: the numbers of holders stay, only their lengths change
                change -= change_by(here[item], -1, length, cost) + change_by(there[item], 1, length, cost)
                change += (other - length) * (cost[here[item] >> HOLDER_BITS] - cost[there[item] >> HOLDER_BITS])
            else:
                change += change_by(here[item], 1, other, cost) + change_by(there[item], -1, other, cost)
        if change < best_change:
            best, best_change = place, change
    for j in range(rows.indptr[leaver], rows.indptr[leaver + 1]):
        is_own[rows.items[j]] = 0
    return best, best_change


@compiled
def exchange_records(
    leavers: NDArray[np.int32],
    rows: Rows,
    holders: Rows,
    cost: NDArray[np.int64],
    assignment: BlockAssignment,
    random: NDArray[np.uint64],
) -> int:
    """Each of these records may change places with one in a block that holds one of its items; what that saved.

    ``holders`` is the inverted index. The item and its other holder are drawn at random.
    """
    saved = 0
    here = np.zeros(len(holders.indptr) - 1, dtype=np.int64)
    there, is_own = np.zeros_like(here), np.zeros_like(here)
    for leaver in leavers:
        n_items = np.int64(rows.indptr[leaver + 1]) - np.int64(rows.indptr[leaver])
        if n_items == 0:
            continue
        item = rows.items[rows.indptr[leaver] + draw_below(random, n_items)]
        n_holders = holders.indptr[item + 1] - holders.indptr[item]
        target = assignment.block_of[holders.items[holders.indptr[item] + draw_below(random, n_holders)]]
        home = assignment.block_of[leaver]
        if home == target:
            continue
        count_members(home, rows, assignment, here)
        count_members(target, rows, assignment, there)
        place, change = find_partner(leaver, target, rows, cost, assignment, here, there, is_own)
        clear_tally(home, rows, assignment, here)
        clear_tally(target, rows, assignment, there)
        if place < 0:
            continue
        partner, mine = assignment.members[target, place], assignment.place_of[leaver]
        assignment.members[target, place], assignment.members[home, mine] = leaver, partner
        assignment.place_of[leaver], assignment.place_of[partner] = place, mine
        assignment.block_of[leaver], assignment.block_of[partner] = target, home
        saved -= change
    return saved
