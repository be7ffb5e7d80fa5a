# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""What records lose at least, whatever is published: the bound that ``trim`` reports. The search does not need it.

Proof: an itemset that fewer than k original records hold is shown by fewer than k, so by none. Each record therefore
suppresses an entry of each of its rare itemsets of at most m items, which costs it at least the least value of entries
that hit all of them. These are costs of different entries for different records, so they add up. Where the search for
these entries is not finished, ``bound_losses`` counts less.
"""

from __future__ import annotations

import numpy as np

from setveil.algorithms.km._trim_itemsets import ITEM, Floats, Ints, Limits, Shorts, Structs
from setveil.algorithms.km._trim_records import (
    LONGEST,
    NOBODY,
    NONE,
    hit_cheapest,
    least_loss_of,
    list_conflicts,
    number_of_pair,
    pairs_of,
    row_of,
)
from setveil.algorithms.km.trim_search import Search
from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

BOUNDING = 16  # nodes of the search tree of a record, in hundreds


def bound_of(search: Search) -> float:
    """What the records lose at least, before the search has begun."""
    total = np.zeros(1)
    arrays = search.arrays(np.append(search.value, 0.0), nodes=BOUNDING)
    search.through("bounding", bound_losses, arrays, search.concerned, total, search.steps_per_call)
    return float(total[0])


@compiled
def bound_losses(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, chosen: Ints, first: int, total: Floats, budget: int,
) -> int:  # fmt: skip
    """Add to ``total[0]`` what records from ``chosen[first]`` on lose at least, so that they show no dead itemset;
    where it stopped.

    The least hitting set if its search is finished; else disjoint dead itemsets, the cheapest item of each, or disjoint
    groups of items that make dead pairs only, all but the most valuable of each.
    """
    done, steps = first, 0
    while done < len(chosen) and steps < budget:
        row, row_pairs = row_of(records, entries, chosen[done]), pairs_of(records, pairs, chosen[done])
        length = len(row)
        done += 1
        steps += 1 + length * length
        n_dead = n_priced = -1
        if 0 < length <= LONGEST:
            everything = ~NONE >> np.uint64(64 - length)
            n_dead, n_priced = list_conflicts(
                row, row_pairs, itemsets, table, costs, conflicts, stack, limits, NONE, everything, everything, NOBODY
            )  # fmt: skip
        least, is_finished = 0.0, False
        if n_dead >= 0:
            _, least, is_finished = hit_cheapest(conflicts, stack, n_dead, n_priced, length, NONE, 100 * limits.nodes)
            if not is_finished:
                least = least_loss_of(conflicts, 0, n_dead, NONE)
        if not is_finished and limits.m > 1:
            least = max(least, lose_all_but_one(row, row_pairs, table, costs, limits))
        total[0] += least
    return done


@compiled
def lose_all_but_one(row: Shorts, row_pairs: Shorts, table: Ints, costs: Floats, limits: Limits) -> float:
    """What a record loses at least because of its dead pairs: groups of items that make nothing but dead pairs show one
    item at most. Items with most dead pairs first, each joins the first group it can.
    """
    length = len(row)
    clash = np.zeros((length, length), dtype=np.uint8)
    n_clashes = np.zeros(length, dtype=np.int64)
    for one in range(length):
        for other in range(one + 1, length):
            if number_of_pair(row, row_pairs, table, limits, one, other) < 0:
                clash[one, other] = clash[other, one] = 1
                n_clashes[one] -= 1
                n_clashes[other] -= 1
    group = np.full(length, -1, dtype=np.int64)
    dearest = np.zeros(length, dtype=np.float64)
    fits = np.zeros(length, dtype=np.uint8)
    n_groups = 0
    loss = 0.0
    for at in stable_order(n_clashes):
        for candidate in range(n_groups):
            fits[candidate] = 1
        for other in range(length):
            if group[other] >= 0 and not clash[at, other]:
                fits[group[other]] = 0
        joined = 0
        while joined < n_groups and fits[joined] == 0:
            joined += 1
        if joined == n_groups:
            n_groups += 1
        group[at] = joined
        value = costs[row[at, ITEM]]
        loss += min(value, dearest[joined])
        dearest[joined] = max(value, dearest[joined])
    return loss
