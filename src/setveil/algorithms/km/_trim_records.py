# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""What one record publishes: a cheapest hitting set of its dead itemsets, by branch and bound.

Positions are the entries of a record of at most 64 items, numbered from 0; a set of positions is a word of 64 bits. An
itemset is *dead* if no record may show it: fewer than k hold it, or it was given up. A record must leave out a place of
each dead itemset. It pays the value of each entry it leaves out, and a price for each wanted itemset that it takes
apart while few others show it.

Arrays beside those of ``_trim_itemsets``:

- ``costs`` float64[n_items + …]: the value of an entry of each item; then what a record pays for taking apart an
  itemset that so many other records show.
- ``conflicts`` CONFLICT[2, capacity]: DEAD itemsets with their cheapest entry, PRICED itemsets with their price.
- ``stack`` STEP[…]: what is known about each place of the record; and two walks, over itemsets and over search nodes.
"""

from __future__ import annotations

import numpy as np

from setveil.algorithms.km._trim_itemsets import (
    COUNT,
    ITEM,
    KEPT,
    LAST,
    NEXT,
    PAIRS,
    PREFIX,
    START,
    WANTED,
    Floats,
    Ints,
    Limits,
    Shorts,
    Structs,
)
from setveil.arrays.compiling import compiled
from setveil.arrays.hash_table import find_number
from setveil.arrays.mining import popcount

LONGEST = 64  # items of a record that are compared with each other; of longer ones items are taken in greedily
CAPACITY = 1 << 16  # dead itemsets of a record, and priced ones
TINY = 1e-9  # losses are sums of values and prices; below this they are the same
ONE, NONE = np.uint64(1), np.uint64(0)
NOBODY, SEVERAL = np.int64(-1), np.int64(-2)  # no itemset, no place; typed: loops are compiled anew for each constant
MORE, FEWER, SAME = np.int64(1), np.int64(-1), np.int64(0)
DEAD, PRICED = 0, 1

CONFLICT = np.dtype([("entry_set", "u8"), ("cost", "f8")], align=True)
STEP = np.dtype(
    [
        # one per place of the record
        ("value", "f8"),
        ("alive", "u8"),  # the positions behind it with which it makes a pair that is not dead
        ("hits", "i8"),  # dead itemsets that leaving it out would hit
        ("loss", "f8"),  # what leaving it out costs
        # one per item on the way through the itemsets
        ("place", "i8"),
        ("number", "i8"),
        ("chosen", "u8"),  # the positions so far
        ("open", "u8"),  # the positions that may come here
        # one per node on the way down the search tree
        ("out", "u8"),  # left out
        ("fixed", "u8"),  # not to be left out
        ("todo", "u8"),  # positions of the itemset it branches on that were not tried yet
        ("total", "f8"),  # what it costs
        ("first", "i8"),  # the first dead itemset that may not be hit
    ],
    align=True,
)


@compiled
def row_of(records: Ints, entries: Shorts, record: int) -> Shorts:
    """The entries of a record, a view."""
    return entries[records[record, START] : records[record + 1, START]]


@compiled
def pairs_of(records: Ints, pairs: Shorts, record: int) -> Shorts:
    """The numbers of the pairs of a record, a view; empty if they are not remembered."""
    length, first = records[record + 1, START] - records[record, START], records[record, PAIRS]
    return pairs[first : first + length * (length - 1) // 2] if first >= 0 else pairs[:0]


@compiled
def number_of_pair(row: Shorts, row_pairs: Shorts, table: Ints, limits: Limits, one: int, other: int) -> int:
    """The number of the pair of two places of a record, -1 if fewer than k records hold it."""
    first, last = min(one, other), max(one, other)
    if len(row_pairs):
        return np.int64(row_pairs[first * (2 * len(row) - first - 1) // 2 + last - first - 1])
    return find_number(table, limits.shift, np.int64(row[first, ITEM]) * limits.n_items + np.int64(row[last, ITEM]))


@compiled
def find_place_of(row: Shorts, item: int) -> int:
    """The place of an item in a record, -1 if there is none."""
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle, ITEM] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < len(row) and row[low, ITEM] == item else -1


@compiled
def entry_set_of(row: Shorts, itemsets: Shorts, number: int) -> np.uint64:
    """The positions of an itemset in a record that holds it."""
    entry_set = NONE
    while number >= 0:
        entry_set |= ONE << np.uint64(find_place_of(row, np.int64(itemsets[number, LAST])))
        number = np.int64(itemsets[number, PREFIX])
    return entry_set


@compiled
def shown_set_of(row: Shorts) -> np.uint64:
    """The positions that a record shows."""
    now = NONE
    for at in range(len(row)):
        now |= np.uint64(row[at, KEPT]) << np.uint64(at)
    return now


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
    m, n_items, shift = limits.m, limits.n_items, limits.shift
    length = len(row)
    for at in range(length):
        stack[at]["value"] = costs[row[at, ITEM]]
    n_dead = n_priced = 0
    in_question = NONE
    for turn in range(2):
        entry_set, must = among, fresh
        if turn == 1:
            for entry in range(n_dead):
                in_question |= conflicts[DEAD, entry]["entry_set"]
            entry_set, must = among & ~fresh, in_question
            if entry_set & must == NONE:
                break
        stack[0]["chosen"] = NONE
        stack[0]["place"] = -1
        stack[1]["open"] = entry_set
        stack[1]["place"] = length
        depth = 1
        while depth > 0:
            stack[depth]["place"] -= 1
            place = stack[depth]["place"]
            if place <= stack[depth - 1]["place"]:
                depth -= 1
                continue
            bit = ONE << np.uint64(place)
            if stack[depth]["open"] & bit == NONE:
                continue
            here = stack[depth - 1]["chosen"] | bit
            behind = NONE  # the positions that may come after this one
            if depth == 1:
                behind = stack[1]["open"] & ~(bit | (bit - ONE))
            elif depth < m:
                behind = (stack[stack[1]["place"]]["alive"] if depth == 2 else stack[depth]["open"]) & stack[place][
                    "alive"
                ]
            goes_on = depth < m and behind != NONE and (here | behind) & must != NONE
            if here & must == NONE and not goes_on:
                if depth == 1:
                    stack[place]["alive"] = behind
                elif depth == 2:
                    stack[stack[1]["place"]]["alive"] |= bit
                continue
            if depth == 1:
                found = np.int64(row[place, ITEM])
            elif depth == 2:
                found = number_of_pair(row, row_pairs, table, limits, stack[1]["place"], place)
            else:
                found = find_number(table, shift, stack[depth - 1]["number"] * n_items + np.int64(row[place, ITEM]))
            if found < 0 or (itemsets[found, WANTED] == 0 and found != forced):
                if depth == 1:
                    stack[1]["open"] ^= bit
                if n_dead == CAPACITY:
                    return -1, -1
                cheapest = np.inf
                for level in range(depth):
                    cheapest = min(cheapest, stack[stack[level + 1]["place"]]["value"])
                conflicts[DEAD, n_dead]["entry_set"] = here
                conflicts[DEAD, n_dead]["cost"] = cheapest
                n_dead += 1
                continue
            if here & must != NONE and found != forced:
                others = np.int64(itemsets[found, COUNT]) - (1 if here & ~now == NONE else 0)
                if n_items + others < len(costs) and costs[n_items + others] > 0:
                    if n_priced == CAPACITY:
                        return -1, -1
                    conflicts[PRICED, n_priced]["entry_set"] = here
                    conflicts[PRICED, n_priced]["cost"] = costs[n_items + others]
                    n_priced += 1
            if depth == 1:
                stack[place]["alive"] = NONE if goes_on else behind
            elif depth == 2:
                stack[stack[1]["place"]]["alive"] |= bit
            if goes_on:
                stack[depth]["number"] = found
                stack[depth]["chosen"] = here
                depth += 1
                stack[depth]["open"] = behind
                stack[depth]["place"] = length
    kept = 0
    for entry in range(n_priced):
        entry_set = conflicts[PRICED, entry]["entry_set"]
        if entry_set & in_question != NONE or entry_set & ~now != NONE:
            conflicts[PRICED, kept]["entry_set"] = entry_set
            conflicts[PRICED, kept]["cost"] = conflicts[PRICED, entry]["cost"]
            kept += 1
    return n_dead, kept


@compiled
def loss_of(conflicts: Structs, stack: Structs, n_priced: int, length: int, left_out: np.uint64) -> float:
    """What leaving out these positions costs: their values, and the prices of itemsets taken apart."""
    loss = 0.0
    for at in range(length):
        if (left_out >> np.uint64(at)) & ONE:
            loss += stack[at]["value"]
    for number in range(n_priced):
        if conflicts[PRICED, number]["entry_set"] & left_out != NONE:
            loss += conflicts[PRICED, number]["cost"]
    return loss


@compiled
def least_loss_of(conflicts: Structs, first: int, n_dead: int, left_out: np.uint64) -> float:
    """What hitting the dead itemsets from ``first`` on costs at least: disjoint ones, the cheapest entry of each."""
    loss, used = 0.0, left_out
    for number in range(first, n_dead):
        if conflicts[DEAD, number]["entry_set"] & used == NONE:
            used |= conflicts[DEAD, number]["entry_set"]
            loss += conflicts[DEAD, number]["cost"]
    return loss


@compiled
def add_to_places(stack: Structs, entry_set: np.uint64, hits: int, loss: float) -> None:
    """Change what leaving out each of these positions would hit and cost."""
    while entry_set != NONE:
        place = popcount((entry_set & (~entry_set + ONE)) - ONE)
        stack[place]["hits"] += hits
        stack[place]["loss"] += loss
        entry_set &= entry_set - ONE


@compiled
def hit_greedily(
    conflicts: Structs, stack: Structs, n_dead: int, n_priced: int, length: int, locked: np.uint64
) -> tuple[np.uint64, float]:
    """Positions to leave out that hit every dead itemset, most of them per loss first; what they cost.

    An infinite loss if all positions of a dead itemset are locked.
    """
    left_out, loss = NONE, 0.0
    for at in range(length):
        stack[at]["hits"] = 0
        stack[at]["loss"] = 0.0
    for number in range(n_dead):
        entry_set = conflicts[DEAD, number]["entry_set"]
        if entry_set & ~locked == NONE:
            return left_out, np.inf
        add_to_places(stack, entry_set, MORE, 0.0)
    for number in range(n_priced):
        add_to_places(stack, conflicts[PRICED, number]["entry_set"], SAME, conflicts[PRICED, number]["cost"])
    for at in range(length):
        stack[at]["loss"] = stack[at]["value"] + stack[at]["loss"]
    n_open = n_dead
    while n_open > 0:
        best, best_rate = -1, -1.0
        for at in range(length):
            if stack[at]["hits"] > 0 and (locked >> np.uint64(at)) & ONE == NONE:
                rate = stack[at]["hits"] / stack[at]["loss"]
                if rate > best_rate:
                    best, best_rate = at, rate
        loss += stack[best]["loss"]
        bit = ONE << np.uint64(best)
        for number in range(n_dead):
            entry_set = conflicts[DEAD, number]["entry_set"]
            if entry_set & bit != NONE and entry_set & left_out == NONE:
                n_open -= 1
                add_to_places(stack, entry_set, FEWER, 0.0)
        for number in range(n_priced):
            entry_set = conflicts[PRICED, number]["entry_set"]
            if entry_set & bit != NONE and entry_set & left_out == NONE:  # taken apart now: others no longer pay for it
                add_to_places(stack, entry_set, SAME, -conflicts[PRICED, number]["cost"])
        left_out |= bit
    return left_out, loss


@compiled
def hit_cheapest(
    conflicts: Structs, stack: Structs, n_dead: int, n_priced: int, length: int, locked: np.uint64, most_nodes: int
) -> tuple[np.uint64, float, bool]:
    """The cheapest positions to leave out, what they cost, and whether the search was finished within ``most_nodes``.

    Every dead itemset must lose a place. Branch on one of them: leave out its first place; or keep that and leave out
    the second; and so on. If the search is not finished, the answer is the best one met. An infinite loss if all
    positions of a dead itemset are locked.
    """
    if n_dead == 0:
        return NONE, 0.0, True
    best, limit = hit_greedily(conflicts, stack, n_dead, n_priced, length, locked)
    if limit == np.inf or n_dead == 1 or limit <= least_loss_of(conflicts, 0, n_dead, NONE) + TINY:
        return best, limit, True
    stack[0]["out"] = NONE
    stack[0]["fixed"] = locked
    stack[0]["total"] = 0.0
    stack[0]["first"] = 0
    depth, nodes = 0, 0
    is_new = True
    while depth >= 0 and nodes < most_nodes:
        out = stack[depth]["out"]
        if is_new:
            nodes += 1
            is_new = False
            chosen = -1
            for number in range(stack[depth]["first"], n_dead):
                if conflicts[DEAD, number]["entry_set"] & out == NONE:
                    chosen = number
                    break
            if chosen < 0:  # everything is hit, for less than before
                best, limit = out, stack[depth]["total"]
                depth -= 1
                continue
            if stack[depth]["total"] + least_loss_of(conflicts, chosen, n_dead, out) >= limit - TINY:
                depth -= 1
                continue
            stack[depth]["first"] = chosen
            stack[depth]["todo"] = conflicts[DEAD, chosen]["entry_set"] & ~stack[depth]["fixed"]
        if stack[depth]["todo"] == NONE:
            depth -= 1
            continue
        bit = stack[depth]["todo"] & (~stack[depth]["todo"] + ONE)
        stack[depth]["todo"] ^= bit
        total = stack[depth]["total"] + stack[popcount(bit - ONE)]["value"]
        if total < limit - TINY:  # else it is too much already
            price = 0.0
            for number in range(n_priced):
                entry_set = conflicts[PRICED, number]["entry_set"]
                if entry_set & bit != NONE and entry_set & out == NONE:
                    price += conflicts[PRICED, number]["cost"]
            total += price
        if total < limit - TINY:
            stack[depth + 1]["out"] = out | bit
            stack[depth + 1]["fixed"] = stack[depth]["fixed"]
            stack[depth + 1]["total"] = total
            stack[depth + 1]["first"] = stack[depth]["first"] + 1
            is_new = True
        stack[depth]["fixed"] |= bit  # the branches to come keep it
        if is_new:
            depth += 1
    return best, limit, depth < 0


# -- what a record shows changes --------------------------------------------------------------------------------------


@compiled
def list_itemsets(
    row: Shorts, row_pairs: Shorts, table: Ints, stack: Structs, limits: Limits, at: int, buffer: Shorts
) -> int:
    """Write the numbers of the itemsets that a place makes with those shown into ``buffer``; how many there are.

    If the place is shown, what is dead is passed over; if it is not, something dead makes the answer -1.
    """
    is_new = row[at, KEPT] == 0
    end = np.int64(0)
    for place in range(len(row) if limits.m > 1 else 0):
        if place != at and row[place, KEPT]:
            number = number_of_pair(row, row_pairs, table, limits, place, at)
            if number >= 0:
                buffer[end] = number
                end += 1
            elif is_new:
                return -1
    if limits.m > 2:
        end = list_larger(row, row_pairs, table, stack, limits, at, NOBODY, buffer, end)
        if end < 0:
            return -1
    buffer[end] = row[at, ITEM]
    return end + 1


@compiled
def list_larger(
    row: Shorts, row_pairs: Shorts, table: Ints, stack: Structs, limits: Limits, at: int, rival: int, buffer: Shorts,
    first: int,
) -> int:  # fmt: skip
    """The same for itemsets of more than two items, from ``first`` on, without the place ``rival``; where they end."""
    is_new = row[at, KEPT] == 0
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
        if place >= len(row) or (place > at and not has_it):
            depth -= 1
            continue
        if place == rival or (place != at and row[place, KEPT] == 0):
            continue
        found = np.int64(row[place, ITEM])
        if depth == 2:
            found = number_of_pair(row, row_pairs, table, limits, stack[1]["place"], place)
        elif depth > 2:
            found = find_number(table, limits.shift, stack[depth - 1]["number"] * limits.n_items + found)
        has_it = has_it or place == at
        if found < 0:
            if is_new and has_it:
                return -1
            continue
        if depth > 2 and has_it:
            buffer[end] = found
            end += 1
        if depth < limits.m:
            stack[depth]["number"] = found
            stack[depth]["chosen"] = ONE if has_it else NONE
            depth += 1
            stack[depth]["place"] = place
    return end


@compiled
def room_for(length: int, itemsets: Shorts, limits: Limits) -> int:
    """How many itemsets a place of a record of so many items can make, at most."""
    most, binomial = 1.0, 1.0
    for size in range(1, limits.m):
        binomial = binomial * max(length - size, 0) / size
        most += binomial
    return np.int64(min(most, 1.0 * len(itemsets))) + 1


@compiled
def places_of(row: Shorts) -> Ints:
    """All places of a record."""
    places = np.empty(len(row), dtype=np.int64)
    for at in range(len(row)):
        places[at] = at
    return places


@compiled
def show_next(row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, stack: Structs, limits: Limits) -> None:
    """Publish the entries NEXT of a record in place of those KEPT: first what goes is counted off, then what comes."""
    buffer = np.empty(room_for(len(row), itemsets, limits), dtype=np.int32)
    for amount in (-1, 1):
        for at in range(len(row)):
            if row[at, NEXT] - row[at, KEPT] == amount:
                end = list_itemsets(row, row_pairs, table, stack, limits, at, buffer)
                for entry in range(end):
                    itemsets[buffer[entry], COUNT] += amount
                row[at, KEPT] = row[at, NEXT]


@compiled
def show_without(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, stack: Structs, limits: Limits, left_out: np.uint64
) -> None:
    """Publish all entries of a record but those at some positions."""
    for at in range(len(row)):
        row[at, NEXT] = 0 if (left_out >> np.uint64(at)) & ONE else 1
    show_next(row, row_pairs, itemsets, table, stack, limits)


@compiled
def take_in(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, stack: Structs, limits: Limits, order: Ints,
    least: int,
) -> None:  # fmt: skip
    """Show places that are not shown, in this order, if all itemsets they make are wanted and ``least`` show them."""
    buffer = np.empty(room_for(len(row), itemsets, limits), dtype=np.int32)
    for at in order:
        if row[at, KEPT]:
            continue
        end = list_itemsets(row, row_pairs, table, stack, limits, at, buffer)
        may_join = end >= 0
        for entry in range(end):
            may_join &= itemsets[buffer[entry], WANTED] == 1 and itemsets[buffer[entry], COUNT] >= least
        if may_join:
            row[at, KEPT] = 1
            for entry in range(end):
                itemsets[buffer[entry], COUNT] += 1
