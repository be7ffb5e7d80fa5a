# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""One record at a time: which of its items to leave out, given which itemsets are wanted and how rare each of them
is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_sets import Sets, find_set, look_up
from setveil.arrays.compiling import compiled

LONGEST = 64  # items of a record that are weighed against each other; of longer ones items are taken in greedily
TINY = 1e-9  # losses are sums of values and prices; below this they are the same
ONE = np.uint64(1)
NONE = np.uint64(0)


class State(NamedTuple):
    """What is published, and what follows."""

    indptr: NDArray[np.int64]  # [n_rows + 1]
    items: NDArray[np.int32]  # [n_entries] ascending in each row
    kept: NDArray[np.uint8]  # [n_entries]
    count: NDArray[np.int32]  # [n_sets] rows that show a set
    wanted: NDArray[np.uint8]  # [n_sets] 0: given up, no row may show it
    value: NDArray[np.float64]  # [n_items] what keeping an entry is worth
    share: NDArray[np.float64]  # [n_rows] times so much in each row
    price: NDArray[np.float64]  # [k + …] what a row pays for leaving a wanted set to so many others
    m: int
    weighed: int  # rows of at most so many items are weighed; longer ones drop an item, and choose anew at the end
    nodes: int  # of the search tree of one row that changes; four times as many for one that chooses anew
    pair_starts: NDArray[np.int64]  # [n_rows] where the numbers of a row's pairs begin, -1 for rows without
    pairs: NDArray[np.int32]  # numbers of the pairs of places (0, 1), (0, 2) … (1, 2) …: looked up once, not each time


class Scratch(NamedTuple):
    """Room to work in."""

    dead: NDArray[np.uint64]  # sets of places no row may show, as bits
    dead_places: NDArray[np.uint8]  # [dead, m] the same as numbers
    dead_size: NDArray[np.uint8]
    cheapest: NDArray[np.float64]  # the least value of an entry of each dead set
    priced: NDArray[np.uint64]  # sets of places that should stay together
    prices: NDArray[np.float64]
    priced_places: NDArray[np.uint8]  # [priced, m] the same as numbers
    priced_size: NDArray[np.uint8]
    dead_starts: NDArray[np.int64]  # [LONGEST + 1] where the dead sets of a place begin in ``dead_lists``
    dead_lists: NDArray[np.int32]  # [dead * m] numbers of dead sets, place by place
    price_starts: NDArray[np.int64]  # the same for priced sets
    price_lists: NDArray[np.int32]
    hits: NDArray[np.int64]  # [LONGEST] dead sets of each place that are not hit yet
    more: NDArray[np.float64]  # [LONGEST] what leaving out each place costs
    out: NDArray[np.uint64]  # [LONGEST + 2] of each node on the way down the search tree: what is left out,
    fixed: NDArray[np.uint64]  # what is not to be,
    todo: NDArray[np.uint64]  # places of the set it branches on that were not tried yet,
    loss: NDArray[np.float64]  # what it costs,
    first_open: NDArray[np.int64]  # and the first dead set that may not be hit
    sizes: NDArray[np.int64]  # [3] how many dead and priced sets; 1 if the last search was finished
    alive: NDArray[np.uint64]  # [LONGEST] the places behind each with which it makes a pair that is not dead
    at: NDArray[np.int64]  # [m + 2] of each level on the way through the sets: the place,
    number: NDArray[np.int64]  # the set,
    mask: NDArray[np.uint64]  # its places,
    open: NDArray[np.uint64]  # and the places that may come here
    show: NDArray[np.uint8]  # [longest row]


@compiled
def pair_at(length: int, one: int, other: int) -> int:
    """Where the pair of two places of a row stands among its pairs, ``one`` before ``other``."""
    return one * (2 * length - one - 1) // 2 + other - one - 1


@compiled
def list_sets(
    state: State,
    sets: Sets,
    room: Scratch,
    row: int,
    now: np.uint64,
    places: np.uint64,
    must: np.uint64,
    extra: int,
    spare: int,
) -> bool:
    """List the dead and the priced sets within ``places`` that have one of ``must``; False if there is no room.

    Sets that contain a dead pair or item are passed over. Sets without a place of ``must`` are taken as alive. Places
    go from last to first on each level, so that the pairs among those behind are known already.
    """
    m, price, count, wanted, pairs, items = state.m, state.price, state.count, state.wanted, state.pairs, state.items
    at, number, mask, may_come, alive = room.at, room.number, room.mask, room.open, room.alive
    keys, numbers, shift, n_items = sets.keys, sets.numbers, sets.shift, sets.n_items
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    known = state.pair_starts[row]
    n_dead, n_priced = room.sizes[0], room.sizes[1]
    mask[0] = NONE
    may_come[1] = places
    at[0], at[1] = -1, length
    depth = 1
    while depth > 0:
        at[depth] -= 1
        place = at[depth]
        if place <= at[depth - 1]:
            depth -= 1
            continue
        bit = ONE << np.uint64(place)
        if not may_come[depth] & bit:
            continue
        here = mask[depth - 1] | bit
        behind = NONE  # the places that may come after this one
        if depth == 1:
            behind = may_come[1] & ~(bit | (bit - ONE))
        elif depth < m:
            behind = (alive[at[1]] if depth == 2 else may_come[depth]) & alive[place]
        goes_on = depth < m and behind != NONE and (here | behind) & must != NONE
        if not (here & must or goes_on):
            if depth == 1:
                alive[place] = behind
            elif depth == 2:
                alive[at[1]] |= bit
            continue
        if depth == 1:
            found = np.int64(items[start + place])
        elif depth == 2 and known >= 0:
            found = np.int64(pairs[known + pair_at(length, at[1], place)])
        else:
            found = np.int64(look_up(keys, numbers, shift, number[depth - 1] * n_items + items[start + place]))
        if found < 0 or found == spare or (wanted[found] == 0 and found != extra):
            if depth == 1:
                may_come[1] ^= bit
            if n_dead == len(room.dead):
                return False
            room.dead[n_dead] = here
            room.dead_size[n_dead] = depth
            cheapest = np.inf
            for level in range(depth):
                room.dead_places[n_dead, level] = at[level + 1]
                cheapest = min(cheapest, state.value[items[start + at[level + 1]]])
            room.cheapest[n_dead] = cheapest * state.share[row]
            n_dead += 1
            continue
        if here & must and found != extra:
            others = count[found] - (1 if here & ~now == NONE else 0)
            if others < len(price) and price[others] > 0:
                if n_priced == len(room.priced):
                    return False
                room.priced[n_priced] = here
                room.prices[n_priced] = price[others]
                room.priced_size[n_priced] = depth
                for level in range(depth):
                    room.priced_places[n_priced, level] = at[level + 1]
                n_priced += 1
        if depth == 1:
            alive[place] = NONE if goes_on else behind
        elif depth == 2:
            alive[at[1]] |= bit
        if goes_on:
            number[depth] = found
            mask[depth] = here
            depth += 1
            may_come[depth] = behind
            at[depth] = length
    room.sizes[0], room.sizes[1] = n_dead, n_priced
    return True


@compiled
def gather_row(
    state: State,
    sets: Sets,
    room: Scratch,
    row: int,
    now: np.uint64,
    among: np.uint64,
    fresh: np.uint64,
    extra: int,
    spare: int,
) -> bool:
    """List the dead and the priced sets of a row that shows ``now`` and may show ``among``; False if there is no room.

    Only sets with a place of ``fresh`` can be dead. ``extra`` is a set to be taken as wanted and free of charge;
    ``spare`` one to be taken as dead. -1 for none.
    """
    room.sizes[0] = room.sizes[1] = 0
    if not list_sets(state, sets, room, row, now, among, fresh, extra, spare):
        return False
    # Places in no dead set are never left out: what they alone make has no part in the choice.
    in_question = NONE
    for entry in range(room.sizes[0]):
        in_question |= room.dead[entry]
    rest = among & ~fresh
    if rest & in_question and not list_sets(state, sets, room, row, now, rest, in_question, extra, spare):
        return False
    kept = 0
    for entry in range(room.sizes[1]):
        if room.priced[entry] & in_question or room.priced[entry] & ~now:
            room.priced[kept] = room.priced[entry]
            room.prices[kept] = room.prices[entry]
            room.priced_size[kept] = room.priced_size[entry]
            for level in range(room.priced_size[entry]):
                room.priced_places[kept, level] = room.priced_places[entry, level]
            kept += 1
    room.sizes[1] = kept
    return True


@compiled
def shown_mask(kept: NDArray[np.uint8], start: int, end: int) -> np.uint64:
    """The places of a row, at most 64, that are published."""
    shown = NONE
    for place in range(start, end):
        if kept[place]:
            shown |= ONE << np.uint64(place - start)
    return shown


@compiled
def show_places(state: State, sets: Sets, room: Scratch, row: int) -> None:
    """Publish ``room.show`` of a row of any length instead of what it shows now."""
    start, end = state.indptr[row], state.indptr[row + 1]
    at, number = room.at, room.number
    for sign in (-1, 1):
        depth = 1
        at[1] = start - 1
        changed = np.zeros(state.m + 1, dtype=np.uint8)
        while depth > 0:
            at[depth] += 1
            if at[depth] >= end:
                depth -= 1
                continue
            place = at[depth]
            before, after = state.kept[place], room.show[place - start]
            if (before if sign < 0 else after) == 0:
                continue
            item = state.items[place]
            found = item if depth == 1 else find_set(sets, number[depth - 1], item)
            if found < 0:
                continue
            number[depth] = found
            changed[depth] = 1 if changed[depth - 1] or before != after else 0
            if changed[depth]:
                state.count[found] += sign
            if depth < state.m:
                depth += 1
                at[depth] = place
    for place in range(start, end):
        state.kept[place] = room.show[place - start]


@compiled
def add_to_counts(
    state: State, sets: Sets, room: Scratch, row: int, places: np.uint64, must: np.uint64, amount: int
) -> None:
    """Add to the count of every set within ``places`` that has one of ``must``."""
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    m, count, pairs, items = state.m, state.count, state.pairs, state.items
    at, number, mask = room.at, room.number, room.mask
    keys, numbers, shift, n_items = sets.keys, sets.numbers, sets.shift, sets.n_items
    known = state.pair_starts[row]
    mask[0] = NONE
    at[1] = -1
    depth = 1
    while depth > 0:
        at[depth] += 1
        place = at[depth]
        if place >= length:
            depth -= 1
            continue
        bit = ONE << np.uint64(place)
        if not places & bit:
            continue
        here = mask[depth - 1] | bit
        behind = places & ~(bit | (bit - ONE)) if depth < m else NONE
        goes_on = behind != NONE and (here | behind) & must != NONE
        if not (here & must or goes_on):
            continue
        if depth == 1:
            found = np.int64(items[start + place])
        elif depth == 2 and known >= 0:
            found = np.int64(pairs[known + pair_at(length, at[1], place)])
        else:
            found = np.int64(look_up(keys, numbers, shift, number[depth - 1] * n_items + items[start + place]))
        if found < 0:
            continue
        if here & must:
            count[found] += amount
        if goes_on:
            number[depth] = found
            mask[depth] = here
            depth += 1
            at[depth] = place


@compiled
def show_mask(state: State, sets: Sets, room: Scratch, row: int, left_out: np.uint64) -> None:
    """Publish everything of a row of at most 64 items but the places left out."""
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    before = shown_mask(state.kept, start, start + length)
    after = (~NONE >> np.uint64(64 - length)) & ~left_out
    if before & ~after:
        add_to_counts(state, sets, room, row, before, before & ~after, -1)
    if after & ~before:
        add_to_counts(state, sets, room, row, after, after & ~before, 1)
    for at in range(length):
        state.kept[start + at] = 1 if (after >> np.uint64(at)) & ONE else 0


@compiled
def free_to_join(state: State, sets: Sets, row: int, shown: np.uint64, among: np.uint64) -> np.uint64:
    """Those of the places ``among`` that are not dead and make no dead pair with the places shown."""
    wanted, pairs, items = state.wanted, state.pairs, state.items
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    known = state.pair_starts[row]
    free = NONE
    for at in range(length):
        if not (among >> np.uint64(at)) & ONE or wanted[items[start + at]] == 0:
            continue
        is_free = True
        for place in range(length if state.m > 1 else 0):
            if place == at or not (shown >> np.uint64(place)) & ONE:
                continue
            one, other = min(place, at), max(place, at)
            if known >= 0:
                found = np.int64(pairs[known + pair_at(length, one, other)])
            else:
                found = np.int64(find_set(sets, items[start + one], items[start + other]))
            if found < 0 or wanted[found] == 0:
                is_free = False
                break
        if is_free:
            free |= ONE << np.uint64(at)
    return free


@compiled
def may_join(state: State, sets: Sets, room: Scratch, row: int, at: int, least: int) -> bool:
    """Whether every set that a place makes with ``room.show`` is wanted, and shown by ``least`` rows or more."""
    start, end = state.indptr[row], state.indptr[row + 1]
    m = state.m
    places = np.zeros(m + 1, dtype=np.int64)
    number = np.zeros(m + 1, dtype=np.int64)
    has_new = np.zeros(m + 1, dtype=np.uint8)
    depth = 1
    places[1] = start - 1
    while depth > 0:
        places[depth] += 1
        place = places[depth]
        if place >= end or (place > start + at and has_new[depth - 1] == 0):
            depth -= 1
            continue
        is_new = place == start + at
        if not is_new and room.show[place - start] == 0:
            continue
        if not is_new and has_new[depth - 1] == 0 and depth == m:
            continue  # without room for the new one
        item = state.items[place]
        found = item if depth == 1 else find_set(sets, number[depth - 1], item)
        has_new[depth] = 1 if is_new or has_new[depth - 1] else 0
        if has_new[depth] and (found < 0 or state.wanted[found] == 0 or state.count[found] < least):
            return False
        number[depth] = found
        if depth < m:
            depth += 1
            places[depth] = place
    return True
