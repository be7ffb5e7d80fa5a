"""The records that hold an itemset: which of them show it, and what the others seem to lose by it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_rows import NONE, ONE, State, pair_at
from setveil.algorithms.km._trim_sets import Sets, list_items, look_up
from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

HOPELESS = 6.0  # times its value: what a row loses is not counted any further
Lists: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # the rows of each set; empty for frequent sets


@compiled
def holders_of(state: State, sets: Sets, lists: Lists, number: int) -> NDArray[np.int64]:
    """The rows that hold a set in the original, ascending; sets without a list of their own are looked up by item."""
    starts, rows = lists
    size = 0
    items = np.zeros(state.m, dtype=np.int64)
    source = number
    if starts[number] == starts[number + 1]:
        size = list_items(sets, number, items)
        source = items[0]
        for at in range(1, size):
            if starts[items[at] + 1] - starts[items[at]] < starts[source + 1] - starts[source]:
                source = items[at]
    holders = np.empty(starts[source + 1] - starts[source], dtype=np.int64)
    n_holders = 0
    for entry in range(starts[source], starts[source + 1]):
        holds = True
        for at in range(size):
            row = rows[entry]
            if place_of(state.items, state.indptr[row], state.indptr[row + 1], items[at]) < 0:
                holds = False
                break
        if holds:
            holders[n_holders] = rows[entry]
            n_holders += 1
    return holders[:n_holders]


@compiled
def place_of(items: NDArray[np.int32], start: int, end: int, item: int) -> int:
    """Where an item stands between two places, -1 if it is not there."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < end and items[low] == item else -1


@compiled
def mask_of_set(state: State, sets: Sets, row: int, number: int) -> np.uint64:
    """The places of a set in a row that holds it."""
    start, end = state.indptr[row], state.indptr[row + 1]
    mask = NONE
    while number >= 0:
        mask |= ONE << np.uint64(place_of(state.items, start, end, sets.last[number]) - start)
        number = sets.prefix[number]
    return mask


@compiled
def put_showing_first(state: State, sets: Sets, number: int, holders: NDArray[np.int64]) -> int:
    """Order the rows that hold a set: those that show it first; how many do."""
    kept, items, indptr = state.kept, state.items, state.indptr
    n_showing = 0
    for at in range(len(holders)):
        row = holders[at]
        shows = True
        part = np.int64(number)
        while part >= 0 and shows:
            shows = kept[place_of(items, indptr[row], indptr[row + 1], sets.last[part])] == 1
            part = np.int64(sets.prefix[part])
        if shows:
            holders[at] = holders[n_showing]
            holders[n_showing] = row
            n_showing += 1
    return n_showing


@compiled
def mark_rows(
    state: State, sets: Sets, lists: Lists, numbers: NDArray[np.int64], must_show: bool, found: NDArray[np.uint8]
) -> None:
    """Mark the rows that hold one of the sets, or show it."""
    starts, rows = lists
    kept, items, indptr = state.kept, state.items, state.indptr
    prefix, last = sets.prefix, sets.last
    for number in numbers:
        for entry in range(starts[number], starts[number + 1]):
            row = rows[entry]
            if found[row]:
                continue
            part = np.int64(number if must_show else -1)
            while part >= 0 and kept[place_of(items, indptr[row], indptr[row + 1], last[part])] == 1:
                part = np.int64(prefix[part])
            found[row] = 1 if part < 0 else 0


@compiled
def glance(
    state: State,
    sets: Sets,
    number: int,
    rows: NDArray[np.int64],
    owners: NDArray[np.int64],
    losses: NDArray[np.float64],
) -> int:
    """What each row loses if it shows a set, at a glance: the items shown that make a dead pair with those to come,
    less these. Rows too long to be weighed are passed over; how many are left, and which.
    """
    wanted, pairs, items, kept, value = state.wanted, state.pairs, state.items, state.kept, state.value
    keys, numbers, shift, n_items = sets.keys, sets.numbers, sets.shift, sets.n_items
    hopeless = HOPELESS * value[sets.last[number]]
    n_rows = 0
    for row in rows:
        start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
        if length > state.weighed:
            continue
        locked = NONE
        part = np.int64(number)
        while part >= 0:
            locked |= ONE << np.uint64(place_of(items, start, start + length, sets.last[part]) - start)
            part = np.int64(sets.prefix[part])
        known = state.pair_starts[row]
        loss = 0.0
        gone = locked  # or to stay
        for at in range(length):
            if not (locked >> np.uint64(at)) & ONE or kept[start + at]:
                continue
            loss -= value[items[start + at]]
            for place in range(length if state.m > 1 and loss <= hopeless else 0):
                if not kept[start + place] or (gone >> np.uint64(place)) & ONE:
                    continue
                one, other = min(place, at), max(place, at)
                if known >= 0:
                    found = np.int64(pairs[known + pair_at(length, one, other)])
                else:
                    key = np.int64(items[start + one]) * n_items + items[start + other]
                    found = np.int64(look_up(keys, numbers, shift, key))
                if found < 0 or wanted[found] == 0:
                    gone |= ONE << np.uint64(place)
                    loss += value[items[start + place]]
                    if loss > hopeless:
                        break
        owners[n_rows], losses[n_rows] = row, loss * state.share[row]
        n_rows += 1
    return n_rows


@compiled
def pick_promising(
    state: State, sets: Sets, number: int, rows: NDArray[np.int64], need: int, most: int
) -> tuple[NDArray[np.int64], float]:
    """The rows, at most so many, that seem to lose least by showing a set, and what ``need`` of them seem to lose; no
    rows if there are too few that can be weighed.
    """
    owners = np.empty(len(rows), dtype=np.int64)
    losses = np.empty(len(rows), dtype=np.float64)
    n_rows = glance(state, sets, number, rows, owners, losses)
    if n_rows < need:
        return owners[:0], 0.0
    order = stable_order(losses[:n_rows])
    total = 0.0
    for at in range(need):
        total += losses[order[at]]
    return owners[order[:most]], total
