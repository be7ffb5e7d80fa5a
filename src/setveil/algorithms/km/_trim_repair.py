# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 2 of trim: records choose what they show, and itemsets that have become rare are filled up or given up.

Loops over many records or itemsets stop after a number of steps and say where, so that no call takes long.
"""

from __future__ import annotations

import numpy as np

from setveil.algorithms.km._trim_itemsets import (
    COUNT,
    ITEM,
    KEPT,
    LAST,
    NEXT,
    PREFIX,
    WANTED,
    Bytes,
    Floats,
    Ints,
    Limits,
    Shorts,
    Structs,
)
from setveil.algorithms.km._trim_records import (
    DEAD,
    LONGEST,
    NOBODY,
    NONE,
    ONE,
    TINY,
    entry_set_of,
    find_place_of,
    hit_cheapest,
    list_conflicts,
    loss_of,
    number_of_pair,
    pairs_of,
    places_of,
    row_of,
    show_next,
    show_without,
    shown_set_of,
    take_in,
)
from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

SHORT = 24  # items of a record that is looked at as a whole with every change
MOST_OTHERS = 8  # holders searched to fill an itemset up, those that seem to lose least
SHOWING, DROPPING = np.int64(1), np.int64(0)  # typed: a loop is compiled anew for each plain constant
HOPELESS = 6.0  # times its value: what a record loses is not counted any further


# -- records choose what they show ------------------------------------------------------------------------------------


@compiled
def choose_again(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, chosen: Ints, first: int, least: int, budget: int,
) -> int:  # fmt: skip
    """Let records from ``chosen[first]`` on show the best they may: no dead itemset, least loss; where it stopped.

    With ``least`` > 0 what is shown is safe and must stay so: records that suppress nothing are passed over, and those
    too long for a search only get back what ``least`` records show anyway.
    """
    done, steps = first, 0
    while done < len(chosen) and steps < budget:
        row, row_pairs = row_of(records, entries, chosen[done]), pairs_of(records, pairs, chosen[done])
        length = len(row)
        done += 1
        steps += 1
        n_kept = 0
        for at in range(length):
            n_kept += row[at, KEPT]
        if length == 0 or (least > 0 and n_kept == length):
            continue
        steps += length * length
        n_dead = n_priced = -1
        now = everything = NONE
        if length <= LONGEST:
            now, everything = shown_set_of(row), ~NONE >> np.uint64(64 - length)
            n_dead, n_priced = list_conflicts(
                row, row_pairs, itemsets, table, costs, conflicts, stack, limits, now, everything, everything, NOBODY
            )  # fmt: skip
        if n_dead >= 0:
            left_out, loss, _ = hit_cheapest(conflicts, stack, n_dead, n_priced, length, NONE, 4 * limits.nodes)
            shows_dead = False
            for number in range(n_dead):
                shows_dead |= conflicts[DEAD, number]["entry_set"] & ~now == NONE
            if shows_dead or loss < loss_of(conflicts, stack, n_priced, length, everything & ~now) - TINY:
                show_without(row, row_pairs, itemsets, table, stack, limits, left_out)
        elif least > 0:
            take_in(row, row_pairs, itemsets, table, stack, limits, places_of(row), least)
        else:
            choose_greedily(row, row_pairs, itemsets, table, costs, stack, limits)
    return done


@compiled
def is_dead_pair(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, limits: Limits, one: int, other: int
) -> bool:
    """Whether no record may show the pair of two places."""
    if limits.m == 1:
        return False
    number = number_of_pair(row, row_pairs, table, limits, one, other)
    return number < 0 or itemsets[number, WANTED] == 0


@compiled
def choose_greedily(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, costs: Floats, stack: Structs, limits: Limits
) -> None:
    """For long records: drop the item with most dead pairs per value until there are none; then take items in, those
    not dropped first.
    """
    length = len(row)
    clash = np.zeros((length, length), dtype=np.uint8)
    clashes = np.zeros(length, dtype=np.int64)
    rank = np.zeros(length, dtype=np.int64)  # 0 for what was not dropped, else later ones first
    for one in range(length):
        for other in range(one + 1, length):
            if is_dead_pair(row, row_pairs, itemsets, table, limits, one, other):
                clash[one, other] = clash[other, one] = 1
                clashes[one] += 1
                clashes[other] += 1
    for n_dropped in range(length):
        worst, worst_rate = -1, 0.0
        for at in range(length):
            rate = clashes[at] / costs[row[at, ITEM]]
            if rank[at] == 0 and rate > worst_rate:
                worst, worst_rate = at, rate
        if worst < 0:
            break
        rank[worst] = length - n_dropped
        for at in range(length):
            clashes[at] -= clash[worst, at]
    for at in range(length):
        row[at, NEXT] = 0
    show_next(row, row_pairs, itemsets, table, stack, limits)
    take_in(row, row_pairs, itemsets, table, stack, limits, stable_order(rank), np.int64(0))


@compiled
def show_all_next(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, stack: Structs, limits: Limits
) -> None:
    """Publish the entries NEXT of every record in place of those KEPT."""
    for record in range(len(records) - 1):
        row, row_pairs = row_of(records, entries, record), pairs_of(records, pairs, record)
        show_next(row, row_pairs, itemsets, table, stack, limits)


# -- itemsets are filled up or given up -------------------------------------------------------------------------------


@compiled
def shows(row: Shorts, itemsets: Shorts, number: int) -> bool:
    """Whether a record that holds an itemset shows it."""
    while number >= 0:
        place = np.int64(find_place_of(row, np.int64(itemsets[number, LAST])))
        if row[place, KEPT] == 0:
            return False
        number = np.int64(itemsets[number, PREFIX])
    return True


@compiled
def mark_records(
    records: Ints, entries: Shorts, itemsets: Shorts, starts: Ints, holders: Shorts, numbers: Ints, must_show: bool,
    found: Bytes,
) -> None:  # fmt: skip
    """Mark the records that hold one of the itemsets, or show it."""
    for number in numbers:
        for entry in range(starts[number], starts[number + 1]):
            record = np.int64(holders[entry])
            if found[record] == 0 and (not must_show or shows(row_of(records, entries, record), itemsets, number)):
                found[record] = 1


@compiled
def holders_of(
    records: Ints, entries: Shorts, itemsets: Shorts, starts: Ints, holders: Shorts, number: int
) -> tuple[Ints, int]:
    """The records that hold an itemset, those that show it first, and how many do.

    An itemset without a list of its own is looked for in that of its rarest item.
    """
    source, has_list = np.int64(number), starts[number] < starts[number + 1]
    part = np.int64(-1 if has_list else number)
    while part >= 0:
        item = np.int64(itemsets[part, LAST])
        if source == number or starts[item + 1] - starts[item] < starts[source + 1] - starts[source]:
            source = item
        part = np.int64(itemsets[part, PREFIX])
    found = np.empty(starts[source + 1] - starts[source], dtype=np.int64)
    n_found = n_showing = 0
    for entry in range(starts[source], starts[source + 1]):
        record = np.int64(holders[entry])
        row = row_of(records, entries, record)
        part = np.int64(-1 if has_list else number)
        while part >= 0 and find_place_of(row, np.int64(itemsets[part, LAST])) >= 0:
            part = np.int64(itemsets[part, PREFIX])
        if part >= 0:
            continue
        found[n_found] = record
        if itemsets[number, COUNT] > 0 and shows(row, itemsets, number):
            found[n_found] = found[n_showing]
            found[n_showing] = record
            n_showing += 1
        n_found += 1
    return found[:n_found], n_showing


@compiled
def estimate_losses(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, limits: Limits,
    number: int, others: Ints, losses: Floats,
) -> int:  # fmt: skip
    """What each record seems to lose if it shows an itemset: the items shown that make a dead pair with those to come,
    less these. Records too long to be searched are passed over; how many are left, the first of ``others`` then.
    """
    hopeless = HOPELESS * costs[itemsets[number, LAST]]
    n_left = 0
    for record in others:
        row, row_pairs = row_of(records, entries, record), pairs_of(records, pairs, record)
        length = len(row)
        if length > limits.longest:
            continue
        locked = entry_set_of(row, itemsets, number)
        loss = 0.0
        gone = locked  # or to stay
        for at in range(length):
            if (locked >> np.uint64(at)) & ONE == NONE or row[at, KEPT]:
                continue
            loss -= costs[row[at, ITEM]]
            for place in range(length if loss <= hopeless else 0):
                if row[place, KEPT] == 0 or (gone >> np.uint64(place)) & ONE:
                    continue
                if is_dead_pair(row, row_pairs, itemsets, table, limits, place, at):
                    gone |= ONE << np.uint64(place)
                    loss += costs[row[place, ITEM]]
                    if loss > hopeless:
                        break
        others[n_left], losses[n_left] = record, loss
        n_left += 1
    return n_left


@compiled
def weigh_change(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, costs: Floats, conflicts: Structs, stack: Structs,
    limits: Limits, number: int, change: int,
) -> tuple[float, np.uint64]:  # fmt: skip
    """What the best choice of a record costs more than what it shows now, and what it leaves out.

    It shows an itemset (SHOWING) or does not (DROPPING: the itemset is not wanted any more). An infinite answer: there
    is no such choice. Records of more than 24 items are not looked at as a whole, to be quick: what they leave out may
    only come back if it makes no dead pair with what stays.
    """
    length = len(row)
    now, everything = shown_set_of(row), ~NONE >> np.uint64(64 - length)
    members = entry_set_of(row, itemsets, number)
    locked, forced = (members, number) if change == SHOWING else (NONE, NOBODY)
    fresh = locked & ~now if change == SHOWING else members
    if length <= SHORT:
        fresh = everything
    elif change == DROPPING:
        stays = now & ~members
        for at in range(length):
            if (now >> np.uint64(at)) & ONE or itemsets[row[at, ITEM], WANTED] == 0:
                continue
            is_free = True
            for place in range(length):
                if (stays >> np.uint64(place)) & ONE:
                    is_free = is_free and not is_dead_pair(row, row_pairs, itemsets, table, limits, place, at)
            if is_free:
                fresh |= ONE << np.uint64(at)
    among = now | fresh
    n_dead, n_priced = list_conflicts(
        row, row_pairs, itemsets, table, costs, conflicts, stack, limits, now, among, fresh, forced
    )  # fmt: skip
    if n_dead < 0:
        return np.inf, NONE
    best, loss, _ = hit_cheapest(conflicts, stack, n_dead, n_priced, length, locked, limits.nodes)
    return loss - loss_of(conflicts, stack, n_priced, length, among & ~now), best | (everything & ~among)


@compiled
def drop_worst(
    row: Shorts, row_pairs: Shorts, itemsets: Shorts, table: Ints, costs: Floats, stack: Structs, limits: Limits,
    number: int,
) -> None:  # fmt: skip
    """Suppress the least valuable item of an itemset that a record shows; of equals the rarest, whose itemsets are
    next.
    """
    worst, part = itemsets[number, LAST], np.int64(itemsets[number, PREFIX])
    while part >= 0:
        item = itemsets[part, LAST]
        if (costs[item], itemsets[item, COUNT]) < (costs[worst], itemsets[worst, COUNT]):
            worst = item
        part = np.int64(itemsets[part, PREFIX])
    for at in range(len(row)):
        row[at, NEXT] = 0 if row[at, ITEM] == worst else row[at, KEPT]
    show_next(row, row_pairs, itemsets, table, stack, limits)


@compiled
def repair_itemsets(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, rare: Ints, first: int, starts: Ints, holders: Shorts, fills: Bytes, budget: int,
) -> int:  # fmt: skip
    """Itemsets shown by some records, but fewer than k: fill each up to k records or give it up, whichever costs less.

    ``fills`` counts how often each itemset was filled up. An itemset that no record shows is revived, if k records lose
    nothing by it in all. Returns where it stopped.
    """
    done, steps = first, 0
    while done < len(rare) and steps < budget:
        number = rare[done]
        done += 1
        if itemsets[number, COUNT] >= limits.k:
            continue
        found, n_showing = holders_of(records, entries, itemsets, starts, holders, number)
        steps += 1 + len(found) // 8
        need = limits.k - n_showing
        choices = np.zeros(n_showing + MOST_OTHERS, dtype=np.uint64)
        losses = np.zeros(max(len(found) - n_showing, MOST_OTHERS), dtype=np.float64)
        others, order = found[n_showing:], found[:0]
        n_others, estimate = 0, 0.0
        if need <= MOST_OTHERS and fills[number] < limits.fills and (n_showing == 0 or 2 * n_showing >= limits.k):
            n_left = estimate_losses(records, entries, itemsets, table, pairs, costs, limits, number, others, losses)
            steps += len(found)
            if n_left >= need:
                order = stable_order(losses[:n_left])
                for at in range(need):
                    estimate += losses[order[at]]
                n_others = min(n_left, MOST_OTHERS)
        was_wanted, is_searched = itemsets[number, WANTED], False
        itemsets[number, WANTED] = 0
        if n_others > 0 and (n_showing > 0 or estimate <= TINY):
            at_most = TINY  # what giving it up costs; one that costs nothing to show may let others show more
            is_searched = True
            for at in range(n_showing):
                row, row_pairs = row_of(records, entries, found[at]), pairs_of(records, pairs, found[at])
                if len(row) > limits.longest:
                    at_most += 1.0
                    is_searched = False
                else:
                    cost, choices[at] = weigh_change(
                        row, row_pairs, itemsets, table, costs, conflicts, stack, limits, number, DROPPING
                    )  # fmt: skip
                    at_most += min(cost, 1.0 * LONGEST)
                    is_searched &= cost < np.inf
            steps += 10 * (n_showing + n_others)
            total = np.inf
            cheapest = order[:0]
            if estimate <= at_most:
                for at in range(n_others):
                    record = others[order[at]]
                    row, row_pairs = row_of(records, entries, record), pairs_of(records, pairs, record)
                    losses[at], choices[n_showing + at] = weigh_change(
                        row, row_pairs, itemsets, table, costs, conflicts, stack, limits, number, SHOWING
                    )  # fmt: skip
                cheapest = stable_order(losses[:n_others])
                total = 0.0
                for at in range(need):
                    total += losses[cheapest[at]]
            if total <= at_most:
                itemsets[number, WANTED] = 1
                fills[number] += 1
                for at in range(need):
                    record = others[order[cheapest[at]]]
                    row, row_pairs = row_of(records, entries, record), pairs_of(records, pairs, record)
                    show_without(row, row_pairs, itemsets, table, stack, limits, choices[n_showing + cheapest[at]])
                continue
        if n_showing == 0:
            itemsets[number, WANTED] = was_wanted
        for at in range(n_showing):
            row, row_pairs = row_of(records, entries, found[at]), pairs_of(records, pairs, found[at])
            is_chosen = is_searched
            if not is_searched and len(row) <= limits.longest:
                cost, choices[at] = weigh_change(
                    row, row_pairs, itemsets, table, costs, conflicts, stack, limits, number, DROPPING
                )  # fmt: skip
                is_chosen = cost < np.inf
            if is_chosen:
                show_without(row, row_pairs, itemsets, table, stack, limits, choices[at])
            else:
                drop_worst(row, row_pairs, itemsets, table, costs, stack, limits, number)
        steps += 10 * n_showing
    return done
