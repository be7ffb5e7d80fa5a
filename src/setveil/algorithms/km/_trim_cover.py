"""The cheapest places of a record to leave out, so that none of its dead sets is shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_rows import NONE, ONE, TINY, Scratch, State
from setveil.arrays.compiling import compiled


@compiled
def loss_of(state: State, room: Scratch, row: int, left_out: np.uint64) -> float:
    """What leaving out these places of a gathered row costs: their values, and the prices of sets taken apart."""
    start = state.indptr[row]
    loss = 0.0
    for place in range(start, state.indptr[row + 1]):
        if (left_out >> np.uint64(place - start)) & ONE:
            loss += state.value[state.items[place]] * state.share[row]
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
def price_of(
    at: int,
    left_out: np.uint64,
    starts: NDArray[np.int64],
    lists: NDArray[np.int32],
    priced: NDArray[np.uint64],
    prices: NDArray[np.float64],
) -> float:
    """The prices of the sets of a place that nothing left out has taken apart yet."""
    price = 0.0
    for entry in range(starts[at], starts[at + 1]):
        if not priced[lists[entry]] & left_out:
            price += prices[lists[entry]]
    return price


@compiled
def cover_greedily(state: State, room: Scratch, row: int, locked: np.uint64) -> tuple[np.uint64, float]:
    """Places to leave out that hit every dead set, most dead sets per loss first; what they cost.

    An infinite loss if all places of a dead set are locked. Needs the lists of dead and priced sets.
    """
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    share = state.share[row]
    left_out, loss = NONE, 0.0
    hits, more = room.hits, room.more
    n_open = room.sizes[0]
    for number in range(n_open):
        if room.dead[number] & ~locked == NONE:
            return left_out, np.inf
    for at in range(length):
        hits[at] = room.dead_starts[at + 1] - room.dead_starts[at]
        more[at] = state.value[state.items[start + at]] * share
        more[at] += price_of(at, NONE, room.price_starts, room.price_lists, room.priced, room.prices)
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
def least_to_lose(
    dead: NDArray[np.uint64], cheapest: NDArray[np.float64], first: int, n_dead: int, left_out: np.uint64
) -> float:
    """What hitting the dead sets from ``first`` on costs at least: disjoint ones, the cheapest entry of each."""
    loss, used = 0.0, left_out
    for number in range(first, n_dead):
        if not dead[number] & used:
            used |= dead[number]
            loss += cheapest[number]
    return loss


@compiled
def cover_best(state: State, room: Scratch, row: int, locked: np.uint64, most_nodes: int) -> tuple[np.uint64, float]:
    """The cheapest places to leave out, by branch and bound; what they cost.

    Every dead set must lose a place. Branch on one of them: leave out its first place; or keep that and leave out the
    second; and so on. ``room.sizes[2]`` tells whether the search was finished within ``most_nodes``; if not, the answer
    is the best one met. An infinite loss if all places of a dead set are locked.
    """
    dead, cheapest, n_dead = room.dead, room.cheapest, room.sizes[0]
    room.sizes[2] = 1
    if n_dead == 0:
        return NONE, 0.0
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    share, value, items = state.share[row], state.value, state.items
    list_by_place(n_dead, room.dead_places, room.dead_size, length, room.dead_starts, room.dead_lists)
    list_by_place(room.sizes[1], room.priced_places, room.priced_size, length, room.price_starts, room.price_lists)
    best, limit = cover_greedily(state, room, row, locked)
    if limit == np.inf or n_dead == 1 or limit <= least_to_lose(dead, cheapest, 0, n_dead, NONE) + TINY:
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
            for number in range(first_open[depth], n_dead):
                if not dead[number] & out[depth]:
                    chosen = number
                    break
            if chosen < 0:  # everything is hit, for less than before
                best, limit = out[depth], loss[depth]
                depth -= 1
                continue
            if loss[depth] + least_to_lose(dead, cheapest, chosen, n_dead, out[depth]) >= limit - TINY:
                depth -= 1
                continue
            first_open[depth] = chosen
            todo[depth] = dead[chosen] & ~fixed[depth]
        if todo[depth] == NONE:
            depth -= 1
            continue
        bit = todo[depth] & (~todo[depth] + ONE)
        todo[depth] ^= bit
        at = 0
        while (bit >> np.uint64(at)) != ONE:
            at += 1
        more = loss[depth] + value[items[start + at]] * share
        more += price_of(at, out[depth], room.price_starts, room.price_lists, room.priced, room.prices)
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
