"""Records change at random what they show, at a price for itemsets that are rare: simulated annealing over entries.

An itemset shown by c records, 0 < c < k, costs in proportion to how many would have to drop it or to join it,
min(c, k - c). Each time an entry is drawn. It is left out, or put back, alone or in place of another with which it
makes a dead pair: always if that costs nothing, else the more rarely the more it costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_rows import Scratch, State, pair_at
from setveil.algorithms.km._trim_sets import Sets, look_up
from setveil.arrays.chance import draw, draw_below
from setveil.arrays.compiling import compiled

LUCK = 1024  # values of an exponentially distributed number, all equally likely
NOBODY = -1
SEVERAL = -2


class Mood(NamedTuple):
    """How changes are judged."""

    steps: NDArray[np.float64]  # [k] what a set costs more that one record more shows than so many
    luck: NDArray[np.float64]  # [LUCK] ascending
    heat: float  # what a change may cost, on average


def luck_table() -> NDArray[np.float64]:
    """Expected order statistics of the exponential distribution: sums, so that they are the same on every machine."""
    return np.cumsum(1.0 / np.arange(LUCK, 0, -1.0))


@compiled
def shake_rows(
    state: State,
    sets: Sets,
    room: Scratch,
    rows: NDArray[np.int64],
    first: int,
    mood: Mood,
    chance: NDArray[np.uint64],
    budget: int,
) -> int:
    """Draw as many entries of each row as it has, from ``rows[first]`` on; where it stopped.

    The pairs of the rows are known, and they show no dead set.
    """
    count, items, kept, value, found = state.count, state.items, state.kept, state.value, room.dead_lists
    luck, k = mood.luck, len(mood.steps)
    shown = np.empty(len(room.show), dtype=np.int64)  # places
    done, steps = first, 0
    while done < len(rows) and steps < budget:
        row = rows[done]
        done += 1
        start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
        known = state.pair_starts[row]
        pairs = state.pairs[known : known + length * (length - 1) // 2]
        steps += length * length
        n_shown = 0
        for at in range(length):
            if kept[start + at]:
                shown[n_shown] = at
                n_shown += 1
        for _ in range(length):
            at = draw_below(chance, length)
            coming = at if kept[start + at] == 0 else NOBODY
            going = NOBODY if kept[start + at] == 0 else at
            cost = 0.0
            n_in = n_out = 0
            if coming >= 0:
                n_in, going = list_pairs(pairs, length, shown[:n_shown], coming, NOBODY, found, 0)
                if going == SEVERAL:
                    continue
                if state.m > 2:
                    n_in = list_larger(state, sets, room, row, coming, going, n_in)
                    if n_in < 0:
                        continue
                found[n_in] = items[start + coming]
                n_in += 1
                cost -= value[items[start + coming]]
                for entry in range(n_in):
                    if count[found[entry]] < k:
                        cost += mood.steps[count[found[entry]]]
            if going >= 0:
                n_out, _nobody = list_pairs(pairs, length, shown[:n_shown], going, going, found, n_in)
                if state.m > 2:
                    n_out = list_larger(state, sets, room, row, going, NOBODY, n_out)
                    if n_out < 0:
                        continue
                found[n_out] = items[start + going]
                n_out += 1
                cost += value[items[start + going]]
                for entry in range(n_in, n_out):
                    if count[found[entry]] <= k:
                        cost -= mood.steps[count[found[entry]] - 1]
            if cost > 0.0 and cost > mood.heat * luck[np.int64(draw(chance)) % LUCK]:
                continue
            for entry in range(n_in):
                count[found[entry]] += 1
            for entry in range(n_in, n_out):
                count[found[entry]] -= 1
            if going >= 0:
                kept[start + going] = 0
                left = 0
                for entry in range(n_shown):
                    if shown[entry] != going:
                        shown[left] = shown[entry]
                        left += 1
                n_shown = left
            if coming >= 0:
                kept[start + coming] = 1
                shown[n_shown] = coming
                n_shown += 1
    return done


@compiled
def list_pairs(
    pairs: NDArray[np.int32],
    length: int,
    shown: NDArray[np.int64],
    at: int,
    without: int,
    found: NDArray[np.int32],
    first: int,
) -> tuple[int, int]:
    """Write the numbers of the pairs that a place makes with those shown into ``found``, from ``first`` on; where they
    end, and which place makes a dead pair, NOBODY or SEVERAL.
    """
    end, clash = first, NOBODY
    for entry in range(len(shown)):
        place = shown[entry]
        if place == without:
            continue
        number = pairs[pair_at(length, min(place, at), max(place, at))]
        if number >= 0:
            found[end] = number
            end += 1
        elif clash == NOBODY:
            clash = place
        else:
            return end, SEVERAL
    return end, clash


@compiled
def list_larger(state: State, sets: Sets, room: Scratch, row: int, at: int, without: int, first: int) -> int:
    """Write the numbers of the sets of more than two items that a place makes with those shown behind the pairs; where
    they end, -1 if one of them is dead or there is no room.
    """
    m, pairs, items, found = state.m, state.pairs, state.items, room.dead_lists
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    known = state.pair_starts[row]
    places, number = room.at, room.number
    has_it = room.mask  # of each level: 1 if the place is among those chosen so far
    end = first
    depth = 1
    places[1] = -1
    has_it[0] = np.uint64(0)
    while depth > 0:
        places[depth] += 1
        place = places[depth]
        if depth == m and not has_it[depth - 1] and place < at:
            place = places[depth] = at  # there is no room for any other
        if place >= length or (place > at and not has_it[depth - 1]):
            depth -= 1
            continue
        if place == without or (place != at and state.kept[start + place] == 0):
            continue
        if depth == 1:
            here = np.int64(items[start + place])
        elif depth == 2:
            here = np.int64(pairs[known + pair_at(length, places[1], place)])
        else:
            here = np.int64(
                look_up(sets.keys, sets.numbers, sets.shift, number[depth - 1] * sets.n_items + items[start + place])
            )
        has_it[depth] = np.uint64(1) if place == at else has_it[depth - 1]
        if depth > 2 and has_it[depth]:
            if here < 0 or end + length >= len(found):
                return -1
            found[end] = here
            end += 1
        if depth < m and here >= 0:
            number[depth] = here
            depth += 1
            places[depth] = place
    return end
