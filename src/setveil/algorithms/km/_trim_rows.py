"""One record at a time: which of its items to leave out, given which itemsets are wanted and how rare each of them
is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_sets import Sets, find_set
from setveil.kernels import compiled

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
    price: NDArray[np.float64]  # [k + …] what a row pays for leaving a wanted set to so many others
    m: int
    weighed: int  # rows of at most so many items are weighed; longer ones drop an item, and choose anew at the end
    nodes: int  # of the search tree of one row that changes; four times as many for one that chooses anew
    walk_starts: NDArray[np.int64]  # [n_rows] where the walk through a row begins, -1 for rows without one
    walks: NDArray[np.int32]  # the number of each set met on a walk, in order: looked up once, not each time


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
    sizes: NDArray[np.int64]  # [3] how many of each; 1 if the last search was finished
    at: NDArray[np.int64]  # [m + 1]
    number: NDArray[np.int64]  # [m + 1]
    mask: NDArray[np.uint64]  # [m + 1]


@compiled
def gather_row(state: State, sets: Sets, room: Scratch, row: int, now: np.uint64, extra: int, spare: int) -> bool:
    """List the dead and the priced sets of a row that shows ``now``; False if there is no room for them.

    ``extra`` is a set to be taken as wanted and free of charge; ``spare`` one to be taken as dead. -1 for none.
    """
    start, end = state.indptr[row], state.indptr[row + 1]
    n_dead, n_priced = 0, 0
    at, number, mask = room.at, room.number, room.mask
    step = state.walk_starts[row]
    silent = state.m + 1  # deeper sets contain a dead one: there is no need to list them
    depth = 1
    at[1] = start - 1
    mask[0] = NONE
    while depth > 0:
        at[depth] += 1
        if at[depth] >= end:
            depth -= 1
            continue
        if step >= 0:
            found = state.walks[step]
            step += 1
        elif depth == 1:
            found = state.items[at[depth]]
        else:
            found = find_set(sets, number[depth - 1], state.items[at[depth]])
        here = mask[depth - 1] | (ONE << np.uint64(at[depth] - start))
        if depth <= silent:
            silent = state.m + 1
        is_dead = found < 0 or found == spare or (state.wanted[found] == 0 and found != extra)
        if is_dead and silent > state.m:
            if n_dead == len(room.dead):
                return False
            room.dead[n_dead] = here
            room.dead_size[n_dead] = depth
            room.cheapest[n_dead] = np.inf
            for level in range(1, depth + 1):
                room.dead_places[n_dead, level - 1] = at[level] - start
                room.cheapest[n_dead] = min(room.cheapest[n_dead], state.value[state.items[at[level]]])
            n_dead += 1
            silent = depth
        elif silent > state.m and found != extra:
            others = state.count[found] - (1 if here & ~now == NONE else 0)
            if others < len(state.price) and state.price[others] > 0:
                if n_priced == len(room.priced):
                    return False
                room.priced[n_priced] = here
                room.prices[n_priced] = state.price[others]
                room.priced_size[n_priced] = depth
                for level in range(1, depth + 1):
                    room.priced_places[n_priced, level - 1] = at[level] - start
                n_priced += 1
        if depth < state.m and found >= 0:
            number[depth] = found
            mask[depth] = here
            depth += 1
            at[depth] = at[depth - 1]
    # Places in no dead set are never left out: what they alone make has no part in the choice.
    in_question = NONE
    for entry in range(n_dead):
        in_question |= room.dead[entry]
    kept = 0
    for entry in range(n_priced):
        if room.priced[entry] & in_question or room.priced[entry] & ~now:
            room.priced[kept] = room.priced[entry]
            room.prices[kept] = room.prices[entry]
            room.priced_size[kept] = room.priced_size[entry]
            for level in range(room.priced_size[entry]):
                room.priced_places[kept, level] = room.priced_places[entry, level]
            kept += 1
    room.sizes[0] = n_dead
    room.sizes[1] = kept
    return True


@compiled
def shown_mask(state: State, row: int) -> np.uint64:
    """The places of a row, at most 64, that are published."""
    start = state.indptr[row]
    shown = NONE
    for place in range(start, state.indptr[row + 1]):
        if state.kept[place]:
            shown |= ONE << np.uint64(place - start)
    return shown


@compiled
def loss_of(state: State, room: Scratch, row: int, left_out: np.uint64) -> float:
    """What leaving out these places of a gathered row costs: their values, and the prices of sets taken apart."""
    start = state.indptr[row]
    loss = 0.0
    for place in range(start, state.indptr[row + 1]):
        if (left_out >> np.uint64(place - start)) & ONE:
            loss += state.value[state.items[place]]
    for number in range(room.sizes[1]):
        if room.priced[number] & left_out:
            loss += room.prices[number]
    return loss


@compiled
def list_by_place(
    n_sets: int,
    places: NDArray[np.uint8],
    sizes: NDArray[np.uint8],
    length: int,
    starts: NDArray[np.int64],
    lists: NDArray[np.int32],
) -> None:
    """List the sets that each place of a gathered row takes part in, in their order."""
    for at in range(length + 1):
        starts[at] = 0
    for number in range(n_sets):
        for entry in range(sizes[number]):
            starts[places[number, entry]] += 1
    total = 0
    for at in range(length + 1):  # where each list ends
        total += starts[at]
        starts[at] = total
    for number in range(n_sets - 1, -1, -1):
        for entry in range(sizes[number]):
            at = places[number, entry]
            starts[at] -= 1
            lists[starts[at]] = number


@compiled
def added_loss(state: State, room: Scratch, start: int, left_out: np.uint64, at: int) -> float:
    """What leaving out one place more costs; needs the lists of priced sets."""
    loss = state.value[state.items[start + at]]
    for entry in range(room.price_starts[at], room.price_starts[at + 1]):
        number = room.price_lists[entry]
        if not room.priced[number] & left_out:
            loss += room.prices[number]
    return loss


@compiled
def cover_greedily(state: State, room: Scratch, row: int, locked: np.uint64) -> tuple[np.uint64, float]:
    """Places to leave out that hit every dead set, most dead sets per loss first; what they cost.

    An infinite loss if all places of a dead set are locked. Needs the lists of dead and priced sets.
    """
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    left_out, loss = NONE, 0.0
    hits, more = room.hits, room.more
    n_open = room.sizes[0]
    for number in range(n_open):
        if room.dead[number] & ~locked == NONE:
            return left_out, np.inf
    for at in range(length):
        hits[at] = room.dead_starts[at + 1] - room.dead_starts[at]
        more[at] = added_loss(state, room, start, NONE, at)
    while n_open > 0:
        best, best_rate = -1, -1.0
        for at in range(length):
            if hits[at] > 0 and not (locked >> np.uint64(at)) & ONE and hits[at] / more[at] > best_rate:
                best, best_rate = at, hits[at] / more[at]
        loss += more[best]
        for entry in range(room.dead_starts[best], room.dead_starts[best + 1]):
            number = room.dead_lists[entry]
            if not room.dead[number] & left_out:
                n_open -= 1
                for place in range(room.dead_size[number]):
                    hits[room.dead_places[number, place]] -= 1
        for entry in range(room.price_starts[best], room.price_starts[best + 1]):
            number = room.price_lists[entry]
            if not room.priced[number] & left_out:  # it is taken apart now: the other places no longer pay for it
                for place in range(room.priced_size[number]):
                    more[room.priced_places[number, place]] -= room.prices[number]
        left_out |= ONE << np.uint64(best)
    return left_out, loss


@compiled
def least_to_lose(room: Scratch, first: int, left_out: np.uint64) -> float:
    """What hitting the dead sets from ``first`` on costs at least: disjoint ones, the cheapest entry of each."""
    loss, used = 0.0, left_out
    for number in range(first, room.sizes[0]):
        if not room.dead[number] & used:
            used |= room.dead[number]
            loss += room.cheapest[number]
    return loss


@compiled
def cover_best(state: State, room: Scratch, row: int, locked: np.uint64, most_nodes: int) -> tuple[np.uint64, float]:
    """The cheapest places to leave out, by branch and bound; what they cost.

    Every dead set must lose a place. Branch on one of them: leave out its first place; or keep that and leave out the
    second; and so on. ``room.sizes[2]`` tells whether the search was finished within ``most_nodes``; if not, the answer
    is the best one met. An infinite loss if all places of a dead set are locked.
    """
    start = state.indptr[row]
    room.sizes[2] = 1
    if room.sizes[0] == 0:
        return NONE, 0.0
    length = state.indptr[row + 1] - start
    list_by_place(room.sizes[0], room.dead_places, room.dead_size, length, room.dead_starts, room.dead_lists)
    list_by_place(room.sizes[1], room.priced_places, room.priced_size, length, room.price_starts, room.price_lists)
    best, limit = cover_greedily(state, room, row, locked)
    if limit == np.inf or limit <= least_to_lose(room, 0, NONE) + TINY:
        return best, limit
    out, fixed, todo = room.out, room.fixed, room.todo
    loss, first_open = room.loss, room.first_open
    out[0], fixed[0], loss[0], first_open[0] = NONE, locked, 0.0, 0
    depth, nodes = 0, 0
    fresh = True
    while depth >= 0 and nodes < most_nodes:
        if fresh:
            nodes += 1
            fresh = False
            chosen = -1
            for number in range(first_open[depth], room.sizes[0]):
                if not room.dead[number] & out[depth]:
                    chosen = number
                    break
            if chosen < 0:  # everything is hit, for less than before
                best, limit = out[depth], loss[depth]
                depth -= 1
                continue
            if loss[depth] + least_to_lose(room, chosen, out[depth]) >= limit - TINY:
                depth -= 1
                continue
            first_open[depth] = chosen
            todo[depth] = room.dead[chosen] & ~fixed[depth]
        if todo[depth] == NONE:
            depth -= 1
            continue
        bit = todo[depth] & (~todo[depth] + ONE)
        todo[depth] ^= bit
        at = 0
        while (bit >> np.uint64(at)) != ONE:
            at += 1
        more = loss[depth] + added_loss(state, room, start, out[depth], at)
        if more < limit - TINY:
            out[depth + 1] = out[depth] | bit
            fixed[depth + 1] = fixed[depth]
            loss[depth + 1] = more
            first_open[depth + 1] = first_open[depth] + 1
            depth += 1
            fresh = True
            fixed[depth - 1] |= bit  # the branches to come keep it
        else:
            fixed[depth] |= bit
    room.sizes[2] = 1 if depth < 0 else 0
    return best, limit


@compiled
def show_places(state: State, sets: Sets, room: Scratch, row: int, show: NDArray[np.uint8]) -> None:
    """Publish these places of a row instead of what it shows now."""
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
            before, after = state.kept[place], show[place - start]
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
        state.kept[place] = show[place - start]


@compiled
def show_mask(state: State, sets: Sets, room: Scratch, row: int, left_out: np.uint64, show: NDArray[np.uint8]) -> None:
    """Publish everything of a row but the places left out."""
    for at in range(state.indptr[row + 1] - state.indptr[row]):
        show[at] = 0 if (left_out >> np.uint64(at)) & ONE else 1
    show_places(state, sets, room, row, show)


@compiled
def may_join(state: State, sets: Sets, row: int, show: NDArray[np.uint8], at: int, least: int) -> bool:
    """Whether every set that a place makes with the places shown is wanted, and shown by ``least`` rows or more."""
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
        if not is_new and show[place - start] == 0:
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
