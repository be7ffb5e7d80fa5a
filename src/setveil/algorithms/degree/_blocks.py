"""Loops that exchange records between blocks, looking at public items only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._grouping import Rows
from setveil.arrays.compile import compiled


class Blocks(NamedTuple):
    """Who is in which block; changed in place. The members of block b are ``members[starts[b]:starts[b+1]]``."""

    starts: NDArray[np.int64]  # [blocks + 1]
    members: NDArray[np.int64]  # [records]
    block_of: NDArray[np.int64]  # [records]
    place_of: NDArray[np.int64]  # [records] where in ``members``


class Desk(NamedTuple):
    """Room to count in, zero between steps, and the state of the random numbers."""

    here: NDArray[np.int64]  # [items] holders in the block of the record that may leave
    there: NDArray[np.int64]  # [items] holders in the block it may go to
    own: NDArray[np.int64]  # [items] 1 for the items of the record that may leave
    random: NDArray[np.uint64]  # [1]


@compiled
def draw_below(random: NDArray[np.uint64], limit: int) -> int:
    """A number from 0 to limit-1 (xorshift)."""
    state = random[0]
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    random[0] = state
    return np.int64(state >> np.uint64(33)) % limit


@compiled
def count_items(block: int, blocks: Blocks, rows: Rows, counts: NDArray[np.int64], step: int) -> None:
    """Add ``step`` to the count of every item of every member."""
    for place in range(blocks.starts[block], blocks.starts[block + 1]):
        member = blocks.members[place]
        for j in range(rows.indptr[member], rows.indptr[member + 1]):
            counts[rows.items[j]] += step


@compiled
def find_swap(
    leaver: int, target: int, rows: Rows, cost: NDArray[np.int64], blocks: Blocks, desk: Desk
) -> tuple[int, int]:
    """``(place, change)``: where in ``members`` the best partner in the target block stands (-1: none), and what it
    saves.

    ``cost[size - smallest size, n]`` is what an item costs that n of a block's records hold.
    """
    home = blocks.block_of[leaver]
    smallest = cost.shape[1] - 2
    price_here = cost[blocks.starts[home + 1] - blocks.starts[home] - smallest]
    price_there = cost[blocks.starts[target + 1] - blocks.starts[target] - smallest]
    base = 0
    for j in range(rows.indptr[leaver], rows.indptr[leaver + 1]):
        item = rows.items[j]
        desk.own[item] = 1
        base += price_here[desk.here[item] - 1] - price_here[desk.here[item]]
        base += price_there[desk.there[item] + 1] - price_there[desk.there[item]]
    best, best_change = -1, 0
    for place in range(blocks.starts[target], blocks.starts[target + 1]):
        partner = blocks.members[place]
        change = base
        for j in range(rows.indptr[partner], rows.indptr[partner + 1]):
            item = rows.items[j]
            if desk.own[item]:  # both have it: nothing changes after all
                change -= price_here[desk.here[item] - 1] - price_here[desk.here[item]]
                change -= price_there[desk.there[item] + 1] - price_there[desk.there[item]]
            else:
                change += price_here[desk.here[item] + 1] - price_here[desk.here[item]]
                change += price_there[desk.there[item] - 1] - price_there[desk.there[item]]
        if change < best_change:
            best, best_change = place, change
    for j in range(rows.indptr[leaver], rows.indptr[leaver + 1]):
        desk.own[rows.items[j]] = 0
    return best, best_change


@compiled
def exchange_records(
    span: tuple[int, int], rows: Rows, holders: Rows, cost: NDArray[np.int64], blocks: Blocks, desk: Desk
) -> int:
    """Each record of the span may change places with one in a block that holds one of its items; what that saved.

    ``holders`` is the inverted index. The item and its other holder are drawn at random.
    """
    saved = 0
    for leaver in range(span[0], span[1]):
        n_items = rows.indptr[leaver + 1] - rows.indptr[leaver]
        if n_items == 0:
            continue
        item = rows.items[rows.indptr[leaver] + draw_below(desk.random, n_items)]
        n_holders = holders.indptr[item + 1] - holders.indptr[item]
        other = holders.items[holders.indptr[item] + draw_below(desk.random, n_holders)]
        home, target = blocks.block_of[leaver], blocks.block_of[other]
        if home == target:
            continue
        count_items(home, blocks, rows, desk.here, 1)
        count_items(target, blocks, rows, desk.there, 1)
        place, change = find_swap(leaver, target, rows, cost, blocks, desk)
        count_items(home, blocks, rows, desk.here, -1)
        count_items(target, blocks, rows, desk.there, -1)
        if place < 0:
            continue
        partner, mine = blocks.members[place], blocks.place_of[leaver]
        blocks.members[place], blocks.members[mine] = leaver, partner
        blocks.place_of[leaver], blocks.place_of[partner] = place, mine
        blocks.block_of[leaver], blocks.block_of[partner] = target, home
        saved -= change
    return saved
