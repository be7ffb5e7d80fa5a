# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 3 of trim: simulated annealing over entries, at a price for itemsets that are rare.

An itemset shown by c records, 0 < c < k, costs in proportion to how many would have to drop it or to join it,
min(c, k - c). Each time an entry is drawn. It is suppressed, or shown again, alone or in place of another with which it
makes a dead pair: always if that costs nothing, else the more rarely the more it costs, measured by the temperature.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_itemsets import COUNT, ITEM, KEPT, Floats, Ints, Limits, Shorts, Structs
from setveil.algorithms.km._trim_records import NOBODY, SEVERAL, list_larger, number_of_pair, pairs_of, room_for, row_of
from setveil.arrays.chance import draw, draw_below
from setveil.arrays.compiling import compiled

N_THRESHOLDS = 1024  # values of an exponentially distributed number, all equally likely


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
    buffer = np.empty(0, dtype=np.int32)  # numbers of the itemsets made, then of those taken apart
    shown = np.empty(0, dtype=np.int64)  # places
    done, steps = first, 0
    while done < len(chosen) and steps < budget:
        row, row_pairs = row_of(records, entries, chosen[done]), pairs_of(records, pairs, chosen[done])
        length = len(row)
        done += 1
        steps += length * length
        if length > len(shown):
            shown = np.empty(2 * length, dtype=np.int64)
        n_most = room_for(length, itemsets, limits)
        if 2 * n_most > len(buffer):
            buffer = np.empty(4 * n_most, dtype=np.int32)
        n_shown = 0
        for at in range(length):
            if row[at, KEPT]:
                shown[n_shown] = at
                n_shown += 1
        for _ in range(length):
            at = np.int64(draw_below(chance, length))
            coming = NOBODY if row[at, KEPT] else at
            going = at if row[at, KEPT] else NOBODY
            cost = 0.0
            n_made = n_all = np.int64(0)
            if coming >= 0:
                for entry in range(n_shown):
                    number = number_of_pair(row, row_pairs, table, limits, shown[entry], coming)
                    if number >= 0:
                        buffer[n_made] = number
                        n_made += 1
                    elif going == NOBODY:
                        going = shown[entry]  # a dead pair: one of the two has to go
                    else:
                        going = SEVERAL
                        break
                if going != SEVERAL and limits.m > 2:
                    n_made = list_larger(row, row_pairs, table, stack, limits, coming, going, buffer, n_made)
                if going == SEVERAL or n_made < 0:
                    continue
                buffer[n_made] = row[coming, ITEM]
                n_made += 1
                cost -= costs[row[coming, ITEM]]
                for entry in range(n_made):
                    if itemsets[buffer[entry], COUNT] < k:
                        cost += rises[itemsets[buffer[entry], COUNT]]
            if going >= 0:
                n_all = n_made
                for entry in range(n_shown):
                    if shown[entry] != going:  # all pairs that are shown have numbers
                        buffer[n_all] = number_of_pair(row, row_pairs, table, limits, shown[entry], going)
                        n_all += 1
                if limits.m > 2:
                    n_all = list_larger(row, row_pairs, table, stack, limits, going, NOBODY, buffer, n_all)
                buffer[n_all] = row[going, ITEM]
                n_all += 1
                cost += costs[row[going, ITEM]]
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
                row[going, KEPT] = 0
                left = 0
                for entry in range(n_shown):
                    if shown[entry] != going:
                        shown[left] = shown[entry]
                        left += 1
                n_shown = left
            if coming >= 0:
                row[coming, KEPT] = 1
                shown[n_shown] = coming
                n_shown += 1
    return done
