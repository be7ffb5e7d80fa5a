# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""What stands against showing all items of a record: its dead itemsets, and those that it pays for taking apart.

Arrays and terms are those of ``_trim_records``. Items and pairs are met in two plain loops; larger itemsets begin with
a pair that may be shown, and are walked from there.
"""

from __future__ import annotations

import numpy as np

from setveil.algorithms.km._trim_itemsets import COUNT, ITEM, WANTED, Floats, Ints, Limits, Shorts, Structs
from setveil.algorithms.km._trim_records import CAPACITY, DEAD, NONE, ONE, PRICED, number_of_pair
from setveil.arrays.compiling import compiled
from setveil.arrays.hash_table import find_number


@compiled
def list_conflicts(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, costs: Floats, conflicts: Structs, stack: Structs,
    limits: Limits, now: np.uint64, among: np.uint64, fresh: np.uint64, forced: int,
) -> tuple[int, int]:  # fmt: skip
    """List the dead and the priced itemsets of a record that shows ``now`` and may show ``among``; how many there are.

    Only itemsets with a place of ``fresh`` can be dead. ``forced`` is an itemset to be taken as wanted and free of
    charge, -1 for none. (-1, -1): there is no room for all of them.

    Itemsets that contain a dead pair or item are passed over. Positions go from last to first on each level, so that
    the pairs among those behind are known already. Positions in no dead itemset are never suppressed: what they alone
    make has no part in the choice. Therefore the second turn looks only for priced itemsets with a place of a dead one.
    """
    m, length = limits.m, len(row)
    for at in range(length):
        stack[at]["value"] = costs[row[at, ITEM]]
    n_dead = n_priced = 0
    in_question = NONE
    for turn in range(2):
        may_come, must = among, fresh
        if turn == 1:
            for entry in range(n_dead):
                in_question |= conflicts[DEAD, entry]["entry_set"]
            may_come, must = among & ~fresh, in_question
            if may_come & must == NONE:
                break
        for place in range(length - 1, -1, -1):
            bit = ONE << np.uint64(place)
            if may_come & bit == NONE:
                continue
            behind = may_come & ~(bit | (bit - ONE))  # the positions that may come after this one
            goes_on = m > 1 and (bit | behind) & must != NONE
            stack[place]["alive"] = behind
            if bit & must == NONE and not goes_on:
                continue
            item = np.int64(row[place, ITEM])
            if itemsets[item, WANTED] == 0 and item != forced:
                may_come ^= bit
                n_dead = add_dead(conflicts, n_dead, bit, stack[place]["value"])
                if n_dead < 0:
                    return -1, -1
                continue
            if bit & must != NONE and item != forced:
                n_priced = add_priced(itemsets, costs, conflicts, limits, n_priced, item, bit, now)
                if n_priced < 0:
                    return -1, -1
            if not goes_on:
                continue
            alive = NONE
            for other in range(length - 1, place, -1):
                other_bit = ONE << np.uint64(other)
                if behind & other_bit == NONE:
                    continue
                pair = bit | other_bit
                beyond = alive & stack[other]["alive"] if m > 2 else NONE
                goes_deeper = beyond != NONE and (pair | beyond) & must != NONE
                if pair & must == NONE and not goes_deeper:
                    alive |= other_bit
                    continue
                found = number_of_pair(row, row_pairs, table, limits, place, other)
                if found < 0 or (itemsets[found, WANTED] == 0 and found != forced):
                    cheapest = min(stack[place]["value"], stack[other]["value"])
                    n_dead = add_dead(conflicts, n_dead, pair, cheapest)
                    if n_dead < 0:
                        return -1, -1
                    continue
                alive |= other_bit
                if pair & must != NONE and found != forced:
                    n_priced = add_priced(itemsets, costs, conflicts, limits, n_priced, found, pair, now)
                    if n_priced < 0:
                        return -1, -1
                if goes_deeper:
                    stack[1]["place"] = place
                    stack[2]["place"] = other
                    stack[2]["number"] = found
                    stack[2]["chosen"] = pair
                    stack[3]["open"] = beyond
                    n_dead, n_priced = list_larger_conflicts(
                        row, itemsets, table, costs, conflicts, stack, limits, now, must, forced, n_dead, n_priced
                    )  # fmt: skip
                    if n_dead < 0:
                        return -1, -1
            stack[place]["alive"] = alive
    kept = 0
    for entry in range(n_priced):
        entry_set = conflicts[PRICED, entry]["entry_set"]
        if entry_set & in_question != NONE or entry_set & ~now != NONE:
            conflicts[PRICED, kept]["entry_set"] = entry_set
            conflicts[PRICED, kept]["cost"] = conflicts[PRICED, entry]["cost"]
            kept += 1
    return n_dead, kept


@compiled
def list_larger_conflicts(
    row: Shorts, itemsets: Shorts, table: Ints, costs: Floats, conflicts: Structs, stack: Structs, limits: Limits,
    now: np.uint64, must: np.uint64, forced: int, n_dead: int, n_priced: int,
) -> tuple[int, int]:  # fmt: skip
    """The same for itemsets of more than two items that begin with the pair in ``stack``; how many there are then."""
    stack[3]["place"] = len(row)
    depth = 3
    while depth > 2:
        stack[depth]["place"] -= 1
        place = stack[depth]["place"]
        if place <= stack[depth - 1]["place"]:
            depth -= 1
            continue
        bit = ONE << np.uint64(place)
        if stack[depth]["open"] & bit == NONE:
            continue
        here = stack[depth - 1]["chosen"] | bit
        behind = stack[depth]["open"] & stack[place]["alive"] if depth < limits.m else NONE
        goes_on = behind != NONE and (here | behind) & must != NONE
        if here & must == NONE and not goes_on:
            continue
        found = find_number(table, limits.shift, stack[depth - 1]["number"] * limits.n_items + row[place, ITEM])
        if found < 0 or (itemsets[found, WANTED] == 0 and found != forced):
            cheapest = np.inf
            for level in range(depth):
                cheapest = min(cheapest, stack[stack[level + 1]["place"]]["value"])
            n_dead = add_dead(conflicts, n_dead, here, cheapest)
            if n_dead < 0:
                return -1, -1
            continue
        if here & must != NONE and found != forced:
            n_priced = add_priced(itemsets, costs, conflicts, limits, n_priced, found, here, now)
            if n_priced < 0:
                return -1, -1
        if goes_on:
            stack[depth]["number"] = found
            stack[depth]["chosen"] = here
            depth += 1
            stack[depth]["open"] = behind
            stack[depth]["place"] = len(row)
    return n_dead, n_priced


@compiled
def add_dead(conflicts: Structs, n_dead: int, entry_set: np.uint64, cheapest: float) -> int:
    """Note a dead itemset; how many there are then, -1 if there is no room."""
    if n_dead == CAPACITY:
        return -1
    conflicts[DEAD, n_dead]["entry_set"] = entry_set
    conflicts[DEAD, n_dead]["cost"] = cheapest
    return n_dead + 1


@compiled
def add_priced(
    itemsets: Shorts, costs: Floats, conflicts: Structs, limits: Limits, n_priced: int, number: int,
    entry_set: np.uint64, now: np.uint64,
) -> int:  # fmt: skip
    """Note an itemset if taking it apart has a price; how many there are then, -1 if there is no room."""
    price = limits.n_items + np.int64(itemsets[number, COUNT]) - (1 if entry_set & ~now == NONE else 0)
    if price >= len(costs) or costs[price] <= 0:
        return n_priced
    if n_priced == CAPACITY:
        return -1
    conflicts[PRICED, n_priced]["entry_set"] = entry_set
    conflicts[PRICED, n_priced]["cost"] = costs[price]
    return n_priced + 1
