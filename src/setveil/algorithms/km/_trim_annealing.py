# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 3 of trim: simulated annealing over entries, at a price for itemsets that are rare.

An itemset shown by c records, 0 < c < k, costs in proportion to how many would have to drop it or to join it,
min(c, k - c). Each time an entry is drawn. It is suppressed, or shown again, alone or in place of another with which it
makes a dead pair: always if that costs nothing, else the more rarely the more it costs, measured by the temperature.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_itemsets import (
    COUNT,
    ITEM,
    KEPT,
    PAIRS,
    START,
    Floats,
    Ints,
    Limits,
    Shorts,
    Structs,
    find_number,
)
from setveil.algorithms.km._trim_records import NOBODY, NONE, ONE, pair_at
from setveil.arrays.chance import draw, draw_below
from setveil.arrays.compiling import compiled

N_THRESHOLDS = 1024  # values of an exponentially distributed number, all equally likely
SEVERAL = -2
CAPACITY = 1 << 16  # times m: itemsets that one change makes and takes apart


def exponential_thresholds() -> Floats:
    """Expected order statistics of the exponential distribution: sums, so that they are the same on every machine."""
    return np.cumsum(1.0 / np.arange(N_THRESHOLDS, 0, -1.0))


@compiled
def anneal_records(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, stack: Structs,
    limits: Limits, chosen: Ints, first: int, rises: Floats, thresholds: Floats, chance: NDArray[np.uint64],
    budget: int,
) -> int:  # fmt: skip
    """Draw as many entries of each record as it has, from ``chosen[first]`` on; where it stopped.

    The pairs of the records are known, and they show no dead itemset. ``rises[c]`` is what an itemset costs more that
    c + 1 records show instead of c, for c below k. ``thresholds``: what a change may cost, drawn anew each time.
    """
    k = len(rises)
    buffer = np.empty(CAPACITY * limits.m, dtype=np.int32)  # numbers of the itemsets made, then of those taken apart
    shown = np.empty(0, dtype=np.int64)  # positions
    done, steps = first, 0
    while done < len(chosen) and steps < budget:
        record = chosen[done]
        done += 1
        start = records[record, START]
        length = records[record + 1, START] - start
        known = records[record, PAIRS]
        steps += length * length
        if length > len(shown):
            shown = np.empty(2 * length, dtype=np.int64)
        n_shown = 0
        for at in range(length):
            if entries[start + at, KEPT]:
                shown[n_shown] = at
                n_shown += 1
        for _ in range(length):
            at = draw_below(chance, length)
            coming = NOBODY if entries[start + at, KEPT] else at
            going = at if entries[start + at, KEPT] else NOBODY
            cost = 0.0
            n_made = n_all = np.int64(0)
            if coming >= 0:
                for entry in range(n_shown):
                    place = shown[entry]
                    number = pairs[known + pair_at(length, min(place, coming), max(place, coming))]
                    if number >= 0:
                        buffer[n_made] = number
                        n_made += 1
                    elif going == NOBODY:
                        going = place  # a dead pair: one of the two has to go
                    else:
                        going = SEVERAL
                        break
                if going == SEVERAL:
                    continue
                if limits.m > 2:
                    n_made = list_larger(
                        records, entries, table, pairs, stack, buffer, limits, record, coming, going, n_made
                    )  # fmt: skip
                    if n_made < 0:
                        continue
                buffer[n_made] = entries[start + coming, ITEM]
                n_made += 1
                cost -= costs[entries[start + coming, ITEM]]
                for entry in range(n_made):
                    if itemsets[buffer[entry], COUNT] < k:
                        cost += rises[itemsets[buffer[entry], COUNT]]
            if going >= 0:
                n_all = n_made
                for entry in range(n_shown):
                    place = shown[entry]
                    if place != going:
                        number = pairs[known + pair_at(length, min(place, going), max(place, going))]
                        if number >= 0:
                            buffer[n_all] = number
                            n_all += 1
                if limits.m > 2:
                    n_all = list_larger(
                        records, entries, table, pairs, stack, buffer, limits, record, going, NOBODY, n_all
                    )  # fmt: skip
                    if n_all < 0:
                        continue
                buffer[n_all] = entries[start + going, ITEM]
                n_all += 1
                cost += costs[entries[start + going, ITEM]]
                for entry in range(n_made, n_all):
                    if itemsets[buffer[entry], COUNT] <= k:
                        cost -= rises[itemsets[buffer[entry], COUNT] - 1]
            if cost > 0.0 and cost > thresholds[np.int64(draw(chance)) % N_THRESHOLDS]:
                continue
            for entry in range(n_made):
                itemsets[buffer[entry], COUNT] += 1
            for entry in range(n_made, n_all):
                itemsets[buffer[entry], COUNT] -= 1
            if going >= 0:
                entries[start + going, KEPT] = 0
                left = 0
                for entry in range(n_shown):
                    if shown[entry] != going:
                        shown[left] = shown[entry]
                        left += 1
                n_shown = left
            if coming >= 0:
                entries[start + coming, KEPT] = 1
                shown[n_shown] = coming
                n_shown += 1
    return done


@compiled
def list_larger(
    records: Ints, entries: Shorts, table: Ints, pairs: Shorts, stack: Structs, buffer: Shorts, limits: Limits,
    record: int, at: int, without: int, first: int,
) -> int:  # fmt: skip
    """Write the numbers of the itemsets of more than two items that a place makes with those shown behind the pairs;
    where they end, -1 if one of them is dead or there is no room.
    """
    start = records[record, START]
    length = records[record + 1, START] - start
    known = records[record, PAIRS]
    end = first
    stack[0]["chosen"] = NONE  # 1 where the place is among those so far
    stack[1]["place"] = -1
    depth = 1
    while depth > 0:
        stack[depth]["place"] += 1
        has_it = stack[depth - 1]["chosen"] != NONE
        if depth == limits.m and not has_it and stack[depth]["place"] < at:
            stack[depth]["place"] = at  # there is no room for any other
        place = stack[depth]["place"]
        if place >= length or (place > at and not has_it):
            depth -= 1
            continue
        if place == without or (place != at and entries[start + place, KEPT] == 0):
            continue
        found = np.int64(entries[start + place, ITEM])
        if depth == 2:
            found = np.int64(pairs[known + pair_at(length, stack[1]["place"], place)])
        elif depth > 2:
            found = find_number(table, limits.shift, stack[depth - 1]["number"] * limits.n_items + found)
        has_it = has_it or place == at
        if depth > 2 and has_it:
            if found < 0 or end + length >= len(buffer):
                return -1
            buffer[end] = found
            end += 1
        if depth < limits.m and found >= 0:
            stack[depth]["number"] = found
            stack[depth]["chosen"] = ONE if has_it else NONE
            depth += 1
            stack[depth]["place"] = place
    return end
