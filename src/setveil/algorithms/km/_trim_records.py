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
    find_number,
)
from setveil.arrays.compiling import compiled
from setveil.arrays.mining import popcount

LONGEST = 64  # items of a record that are compared with each other; of longer ones items are taken in greedily
CAPACITY = 1 << 16  # dead itemsets of a record, and priced ones
TINY = 1e-9  # losses are sums of values and prices; below this they are the same
ONE, NONE = np.uint64(1), np.uint64(0)
NOBODY = np.int64(-1)  # no itemset, no place; typed, for a loop is compiled once more for each constant it is given
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
def pair_at(length: int, one: int, other: int) -> int:
    """Where the pair of two positions of a record stands among its pairs, ``one`` before ``other``."""
    return one * (2 * length - one - 1) // 2 + other - one - 1


@compiled
def find_entry(entries: Shorts, start: int, end: int, item: int) -> int:
    """The entry of an item in a record, -1 if there is none."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if entries[middle, ITEM] < item:
            low = middle + 1
        else:
            high = middle
    return low if low < end and entries[low, ITEM] == item else -1


@compiled
def entry_set_of(records: Ints, entries: Shorts, itemsets: Shorts, record: int, number: int) -> np.uint64:
    """The positions of an itemset in a record that holds it."""
    start, end = records[record, START], records[record + 1, START]
    entry_set = NONE
    while number >= 0:
        entry_set |= ONE << np.uint64(find_entry(entries, start, end, np.int64(itemsets[number, LAST])) - start)
        number = np.int64(itemsets[number, PREFIX])
    return entry_set


@compiled
def list_conflicts(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, record: int, now: np.uint64, among: np.uint64, fresh: np.uint64, forced: int,
    barred: int,
) -> tuple[int, int]:  # fmt: skip
    """List the dead and the priced itemsets of a record that shows ``now`` and may show ``among``; how many there are.

    Only itemsets with a place of ``fresh`` can be dead. ``forced`` is an itemset to be taken as wanted and free of
    charge, ``barred`` one to be taken as dead; -1 for none. (-1, -1): there is no room for all of them.

    Itemsets that contain a dead pair or item are passed over. Positions go from last to first on each level, so that
    the pairs among those behind are known already. Positions in no dead itemset are never suppressed: what they alone
    make has no part in the choice. Therefore the second turn looks only for priced itemsets with a place of a dead one.
    """
    m, n_items, shift = limits.m, limits.n_items, limits.shift
    start = records[record, START]
    length = records[record + 1, START] - start
    known = records[record, PAIRS]
    for at in range(length):
        stack[at]["value"] = costs[entries[start + at, ITEM]]
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
                found = np.int64(entries[start + place, ITEM])
            elif depth == 2 and known >= 0:
                found = np.int64(pairs[known + pair_at(length, stack[1]["place"], place)])
            else:
                key = stack[depth - 1]["number"] * n_items + np.int64(entries[start + place, ITEM])
                found = find_number(table, shift, key)
            if found < 0 or found == barred or (itemsets[found, WANTED] == 0 and found != forced):
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
        while entry_set != NONE:
            stack[popcount((entry_set & (~entry_set + ONE)) - ONE)]["hits"] += 1
            entry_set &= entry_set - ONE
    for number in range(n_priced):
        entry_set = conflicts[PRICED, number]["entry_set"]
        while entry_set != NONE:
            stack[popcount((entry_set & (~entry_set + ONE)) - ONE)]["loss"] += conflicts[PRICED, number]["cost"]
            entry_set &= entry_set - ONE
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
                while entry_set != NONE:
                    stack[popcount((entry_set & (~entry_set + ONE)) - ONE)]["hits"] -= 1
                    entry_set &= entry_set - ONE
        for number in range(n_priced):
            entry_set = conflicts[PRICED, number]["entry_set"]
            if (
                entry_set & bit != NONE and entry_set & left_out == NONE
            ):  # taken apart now: the others no longer pay for it
                while entry_set != NONE:
                    stack[popcount((entry_set & (~entry_set + ONE)) - ONE)]["loss"] -= conflicts[PRICED, number]["cost"]
                    entry_set &= entry_set - ONE
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
        price = 0.0
        for number in range(n_priced):
            entry_set = conflicts[PRICED, number]["entry_set"]
            if entry_set & bit != NONE and entry_set & out == NONE:
                price += conflicts[PRICED, number]["cost"]
        total = stack[depth]["total"] + stack[popcount(bit - ONE)]["value"]
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


@compiled
def show_next(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, stack: Structs, limits: Limits,
    record: int,
) -> None:  # fmt: skip
    """Publish the entries NEXT of a record in place of those KEPT: first what goes is counted off, then what comes."""
    start, end = records[record, START], records[record + 1, START]
    known = records[record, PAIRS]
    for amount in (-1, 1):
        column = KEPT if amount < 0 else NEXT
        last = -1  # the last entry that goes or comes
        for entry in range(start, end):
            if entries[entry, column] == 1 and entries[entry, KEPT] != entries[entry, NEXT]:
                last = entry
        depth = 1 if last >= 0 else 0
        stack[0]["chosen"] = NONE  # 1 where an entry that goes or comes is among those so far
        stack[1]["place"] = start - 1
        while depth > 0:
            stack[depth]["place"] += 1
            entry = stack[depth]["place"]
            changes = stack[depth - 1]["chosen"] != NONE
            if entry >= end or (entry > last and not changes):
                depth -= 1
                continue
            if entries[entry, column] == 0:
                continue
            changes = changes or entries[entry, KEPT] != entries[entry, NEXT]
            if not changes and depth == limits.m:
                continue
            found = np.int64(entries[entry, ITEM])
            if depth == 2 and known >= 0:
                found = np.int64(pairs[known + pair_at(end - start, stack[1]["place"] - start, entry - start)])
            elif depth > 1:
                found = find_number(table, limits.shift, stack[depth - 1]["number"] * limits.n_items + found)
            if found < 0:
                continue
            if changes:
                itemsets[found, COUNT] += amount
            if depth < limits.m:
                stack[depth]["number"] = found
                stack[depth]["chosen"] = ONE if changes else NONE
                depth += 1
                stack[depth]["place"] = entry
    for entry in range(start, end):
        entries[entry, KEPT] = entries[entry, NEXT]


@compiled
def show_without(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, stack: Structs, limits: Limits,
    record: int, left_out: np.uint64,
) -> None:  # fmt: skip
    """Publish all entries of a record but those at some positions."""
    start = records[record, START]
    for entry in range(start, records[record + 1, START]):
        entries[entry, NEXT] = 0 if (left_out >> np.uint64(entry - start)) & ONE else 1
    show_next(records, entries, itemsets, table, pairs, stack, limits, record)


@compiled
def may_join(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, stack: Structs, limits: Limits, record: int,
    new: int, least: int,
) -> bool:  # fmt: skip
    """Whether every itemset that an entry makes with those NEXT is wanted, and shown by ``least`` records or more."""
    start, end = records[record, START], records[record + 1, START]
    stack[0]["chosen"] = NONE  # 1 where the new entry is among those so far
    stack[1]["place"] = start - 1
    depth = 1
    while depth > 0:
        stack[depth]["place"] += 1
        entry = stack[depth]["place"]
        has_new = stack[depth - 1]["chosen"] != NONE
        if entry >= end or (entry > new and not has_new):
            depth -= 1
            continue
        if entry != new and (entries[entry, NEXT] == 0 or (not has_new and depth == limits.m)):
            continue
        found = np.int64(entries[entry, ITEM])
        if depth > 1:
            found = find_number(table, limits.shift, stack[depth - 1]["number"] * limits.n_items + found)
        has_new = has_new or entry == new
        if has_new and (found < 0 or itemsets[found, WANTED] == 0 or itemsets[found, COUNT] < least):
            return False
        stack[depth]["number"] = found
        stack[depth]["chosen"] = ONE if has_new else NONE
        if depth < limits.m:
            depth += 1
            stack[depth]["place"] = entry
    return True
