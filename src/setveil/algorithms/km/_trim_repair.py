# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 2 of trim: records choose what they show, and itemsets that have become rare are filled up or given up.

Each of them stops after a number of steps and says where, so that no call takes long.
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
    Bytes,
    Floats,
    Ints,
    Limits,
    Shorts,
    Structs,
    find_number,
)
from setveil.algorithms.km._trim_records import (
    DEAD,
    LONGEST,
    NOBODY,
    NONE,
    ONE,
    TINY,
    entry_set_of,
    find_entry,
    hit_cheapest,
    least_loss_of,
    list_conflicts,
    loss_of,
    may_join,
    pair_at,
    show_next,
    show_without,
)
from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

SHORT = 24  # items of a record that is looked at as a whole with every change
MOST_OTHERS = 8  # holders searched to fill an itemset up, those that seem to lose least
HOPELESS = 6.0  # times its value: what a record loses is not counted any further


# -- records choose what they show ------------------------------------------------------------------------------------


@compiled
def choose_again(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, chosen: Ints, first: int, least: int, budget: int,
) -> int:  # fmt: skip
    """Let records from ``chosen[first]`` on show the best they may: no dead itemset, least loss; where it stopped.

    With ``least`` > 0 what is shown is safe and must stay so: records that leave nothing out are passed over, and those
    too long for a search only get back what ``least`` records show anyway.
    """
    done, steps = first, 0
    while done < len(chosen) and steps < budget:
        record = chosen[done]
        start = records[record, START]
        length = records[record + 1, START] - start
        done += 1
        steps += 1
        n_kept = 0
        for at in range(length):
            n_kept += entries[start + at, KEPT]
        if length == 0 or (least > 0 and n_kept == length):
            continue
        steps += length * length
        n_dead = n_priced = -1
        now = everything = NONE
        if length <= LONGEST:
            everything = ~NONE >> np.uint64(64 - length)
            for at in range(length):
                now |= np.uint64(entries[start + at, KEPT]) << np.uint64(at)
            n_dead, n_priced = list_conflicts(
                records, entries, itemsets, table, pairs, costs, conflicts, stack, limits,
                record, now, everything, everything, NOBODY, NOBODY,
            )  # fmt: skip
        if n_dead >= 0:
            left_out, loss, _ = hit_cheapest(conflicts, stack, n_dead, n_priced, length, NONE, 4 * limits.nodes)
            shows_dead = False
            for number in range(n_dead):
                shows_dead |= conflicts[DEAD, number]["entry_set"] & ~now == NONE
            if not shows_dead and loss >= loss_of(conflicts, stack, n_priced, length, everything & ~now) - TINY:
                continue
            show_without(records, entries, itemsets, table, pairs, stack, limits, record, left_out)
            continue
        if least > 0:
            for entry in range(start, start + length):
                entries[entry, NEXT] = entries[entry, KEPT]
            for entry in range(start, start + length):
                if entries[entry, NEXT] == 0:
                    joins = may_join(records, entries, itemsets, table, stack, limits, record, entry, least)
                    entries[entry, NEXT] = 1 if joins else 0
        else:
            choose_greedily(records, entries, itemsets, table, costs, stack, limits, record, least)
        show_next(records, entries, itemsets, table, pairs, stack, limits, record)
    return done


@compiled
def choose_greedily(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, costs: Floats, stack: Structs, limits: Limits,
    record: int, least: int,
) -> None:  # fmt: skip
    """For long records: drop the item with most dead pairs per value until there are none; then take items in, those
    not dropped first.
    """
    start = records[record, START]
    length = records[record + 1, START] - start
    clash = np.zeros((length, length), dtype=np.uint8)
    clashes = np.zeros(length, dtype=np.int64)
    rank = np.zeros(length, dtype=np.int64)  # 0 for what was not dropped, else later ones first
    for one in range(length if limits.m > 1 else 0):
        for other in range(one + 1, length):
            key = np.int64(entries[start + one, ITEM]) * limits.n_items + np.int64(entries[start + other, ITEM])
            found = find_number(table, limits.shift, key)
            if found < 0 or itemsets[found, WANTED] == 0:
                clash[one, other] = clash[other, one] = 1
                clashes[one] += 1
                clashes[other] += 1
    for n_dropped in range(length):
        worst, worst_rate = -1, 0.0
        for at in range(length):
            rate = clashes[at] / costs[entries[start + at, ITEM]]
            if rank[at] == 0 and rate > worst_rate:
                worst, worst_rate = at, rate
        if worst < 0:
            break
        rank[worst] = length - n_dropped
        for at in range(length):
            clashes[at] -= clash[worst, at]
    for at in range(length):
        entries[start + at, NEXT] = 0
    for at in stable_order(rank):
        if may_join(records, entries, itemsets, table, stack, limits, record, start + at, least):
            entries[start + at, NEXT] = 1


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
        record = chosen[done]
        length = records[record + 1, START] - records[record, START]
        done += 1
        steps += 1 + length * length
        n_dead = n_priced = -1
        if 0 < length <= LONGEST:
            everything = ~NONE >> np.uint64(64 - length)
            n_dead, n_priced = list_conflicts(
                records, entries, itemsets, table, pairs, costs, conflicts, stack, limits,
                record, NONE, everything, everything, NOBODY, NOBODY,
            )  # fmt: skip
        least, is_finished = 0.0, False
        if n_dead >= 0:
            _, least, is_finished = hit_cheapest(conflicts, stack, n_dead, n_priced, length, NONE, 100 * limits.nodes)
            if not is_finished:
                least = least_loss_of(conflicts, 0, n_dead, NONE)
        if not is_finished and limits.m > 1:
            least = max(least, lose_all_but_one(records, entries, table, costs, limits, record))
        total[0] += least
    return done


@compiled
def lose_all_but_one(records: Ints, entries: Shorts, table: Ints, costs: Floats, limits: Limits, record: int) -> float:
    """What a record loses at least because of its dead pairs: groups of items that make nothing but dead pairs show one
    item at most. Items with most dead pairs first, each joins the first group it can.
    """
    start = records[record, START]
    length = records[record + 1, START] - start
    clash = np.zeros((length, length), dtype=np.uint8)
    n_clashes = np.zeros(length, dtype=np.int64)
    for one in range(length):
        for other in range(one + 1, length):
            key = np.int64(entries[start + one, ITEM]) * limits.n_items + np.int64(entries[start + other, ITEM])
            if find_number(table, limits.shift, key) < 0:
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
        value = costs[entries[start + at, ITEM]]
        loss += min(value, dearest[joined])
        dearest[joined] = max(value, dearest[joined])
    return loss


@compiled
def show_all_next(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, stack: Structs, limits: Limits
) -> None:
    """Publish the entries NEXT of every record in place of those KEPT."""
    for record in range(len(records) - 1):
        show_next(records, entries, itemsets, table, pairs, stack, limits, record)


# -- itemsets are filled up or given up -------------------------------------------------------------------------------


@compiled
def shows(records: Ints, entries: Shorts, itemsets: Shorts, record: int, number: int) -> bool:
    """Whether a record that holds an itemset shows it."""
    start, end = records[record, START], records[record + 1, START]
    while number >= 0:
        entry = find_entry(entries, start, end, np.int64(itemsets[number, LAST]))
        if entries[entry, KEPT] == 0:
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
            if found[record] == 0 and (not must_show or shows(records, entries, itemsets, record, number)):
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
        part = np.int64(-1 if has_list else number)
        while part >= 0:
            item = np.int64(itemsets[part, LAST])
            if find_entry(entries, records[record, START], records[record + 1, START], item) < 0:
                break
            part = np.int64(itemsets[part, PREFIX])
        if part >= 0:
            continue
        found[n_found] = record
        if itemsets[number, COUNT] > 0 and shows(records, entries, itemsets, record, number):
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
        start = records[record, START]
        length = records[record + 1, START] - start
        if length > limits.longest:
            continue
        locked = entry_set_of(records, entries, itemsets, record, number)
        known = records[record, PAIRS]
        loss = 0.0
        gone = locked  # or to stay
        for at in range(length):
            if (locked >> np.uint64(at)) & ONE == NONE or entries[start + at, KEPT]:
                continue
            loss -= costs[entries[start + at, ITEM]]
            for place in range(length if limits.m > 1 and loss <= hopeless else 0):
                if entries[start + place, KEPT] == 0 or (gone >> np.uint64(place)) & ONE:
                    continue
                one, other = min(place, at), max(place, at)
                if known >= 0:
                    found = np.int64(pairs[known + pair_at(length, one, other)])
                else:
                    key = np.int64(entries[start + one, ITEM]) * limits.n_items + np.int64(entries[start + other, ITEM])
                    found = find_number(table, limits.shift, key)
                if found < 0 or itemsets[found, WANTED] == 0:
                    gone |= ONE << np.uint64(place)
                    loss += costs[entries[start + place, ITEM]]
                    if loss > hopeless:
                        break
        others[n_left], losses[n_left] = record, loss
        n_left += 1
    return n_left


@compiled
def weigh_change(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, record: int, shown: int, dropped: int,
) -> tuple[float, np.uint64]:  # fmt: skip
    """What the best choice of a record costs more than what it shows now, and what it leaves out.

    The choice shows the itemset ``shown``, or does not show the itemset ``dropped``; -1 for the other. An infinite
    answer: there is no such choice. Records of more than 24 items are not looked at as a whole, to be quick: what they
    leave out may only come back if it makes no dead pair with what stays.
    """
    start = records[record, START]
    length = records[record + 1, START] - start
    everything = ~NONE >> np.uint64(64 - length)
    now = NONE
    for at in range(length):
        now |= np.uint64(entries[start + at, KEPT]) << np.uint64(at)
    locked = entry_set_of(records, entries, itemsets, record, shown) if dropped < 0 else NONE
    fresh = locked & ~now if dropped < 0 else entry_set_of(records, entries, itemsets, record, dropped)
    if length <= SHORT:
        fresh = everything
    elif dropped >= 0:
        stays, known = now & ~fresh, records[record, PAIRS]
        for at in range(length):
            if (now >> np.uint64(at)) & ONE or itemsets[entries[start + at, ITEM], WANTED] == 0:
                continue
            is_free = True
            for place in range(length if limits.m > 1 else 0):
                if place == at or (stays >> np.uint64(place)) & ONE == NONE:
                    continue
                one, other = min(place, at), max(place, at)
                if known >= 0:
                    found = np.int64(pairs[known + pair_at(length, one, other)])
                else:
                    key = np.int64(entries[start + one, ITEM]) * limits.n_items + np.int64(entries[start + other, ITEM])
                    found = find_number(table, limits.shift, key)
                if found < 0 or itemsets[found, WANTED] == 0:
                    is_free = False
                    break
            if is_free:
                fresh |= ONE << np.uint64(at)
    among = now | fresh
    n_dead, n_priced = list_conflicts(
        records, entries, itemsets, table, pairs, costs, conflicts, stack, limits,
        record, now, among, fresh, shown, dropped,
    )  # fmt: skip
    if n_dead < 0:
        return np.inf, NONE
    best, loss, _ = hit_cheapest(conflicts, stack, n_dead, n_priced, length, locked, limits.nodes)
    return loss - loss_of(conflicts, stack, n_priced, length, among & ~now), best | (everything & ~among)


@compiled
def repair_itemsets(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, conflicts: Structs,
    stack: Structs, limits: Limits, rare: Ints, first: int, starts: Ints, holders: Shorts, fills: Bytes, k: int,
    most: int, budget: int,
) -> int:  # fmt: skip
    """Itemsets shown by some records, but fewer than k: fill each up to k records or give it up, whichever costs less.

    ``fills`` counts how often each itemset was filled up, ``most`` times at most. An itemset that no record shows is
    revived, if k records lose nothing by it in all. Returns where it stopped.
    """
    done, steps = first, 0
    while done < len(rare) and steps < budget:
        number = rare[done]
        done += 1
        if itemsets[number, COUNT] >= k:
            continue
        found, n_showing = holders_of(records, entries, itemsets, starts, holders, number)
        steps += 1 + len(found) // 8
        need = k - n_showing
        choices = np.zeros(n_showing + MOST_OTHERS, dtype=np.uint64)
        losses = np.zeros(max(len(found) - n_showing, MOST_OTHERS), dtype=np.float64)
        others, order = found[n_showing:], found[:0]
        n_others, estimate = 0, 0.0
        if need <= MOST_OTHERS and fills[number] < most and (n_showing == 0 or 2 * n_showing >= k):
            n_left = estimate_losses(
                records, entries, itemsets, table, pairs, costs, limits, number, others, losses
            )  # fmt: skip
            steps += len(found)
            if n_left >= need:
                order = stable_order(losses[:n_left])
                for at in range(need):
                    estimate += losses[order[at]]
                n_others = min(n_left, MOST_OTHERS)
        is_searched = False
        if n_others > 0 and (n_showing > 0 or estimate <= TINY):
            at_most = TINY  # an itemset that costs nothing to show may let others show more
            is_searched = True
            for at in range(n_showing):
                if records[found[at] + 1, START] - records[found[at], START] > limits.longest:
                    at_most += 1.0
                    is_searched = False
                else:
                    cost, choices[at] = weigh_change(
                        records, entries, itemsets, table, pairs, costs, conflicts, stack, limits,
                        found[at], NOBODY, number,
                    )  # fmt: skip
                    at_most += min(cost, 1.0 * LONGEST)
                    is_searched &= cost < np.inf
            steps += 10 * (n_showing + n_others)
            total = np.inf
            cheapest = order[:0]
            if estimate <= at_most:
                for at in range(n_others):
                    losses[at], choices[n_showing + at] = weigh_change(
                        records, entries, itemsets, table, pairs, costs, conflicts, stack, limits,
                        others[order[at]], number, NOBODY,
                    )  # fmt: skip
                cheapest = stable_order(losses[:n_others])
                total = 0.0
                for at in range(need):
                    total += losses[cheapest[at]]
            if total <= at_most:
                itemsets[number, WANTED] = 1
                for at in range(need):
                    show_without(
                        records, entries, itemsets, table, pairs, stack, limits,
                        others[order[cheapest[at]]], choices[n_showing + cheapest[at]],
                    )  # fmt: skip
                fills[number] += 1
                continue
        for at in range(n_showing):
            record, is_chosen = found[at], is_searched
            if not is_searched and records[record + 1, START] - records[record, START] <= limits.longest:
                cost, choices[at] = weigh_change(
                    records, entries, itemsets, table, pairs, costs, conflicts, stack, limits,
                    record, NOBODY, number,
                )  # fmt: skip
                is_chosen = cost < np.inf
            if is_chosen:
                show_without(records, entries, itemsets, table, pairs, stack, limits, record, choices[at])
            else:
                drop_worst(records, entries, itemsets, table, pairs, costs, stack, limits, record, number)
        if n_showing > 0:
            itemsets[number, WANTED] = 0
            steps += 10 * n_showing
    return done


@compiled
def drop_worst(
    records: Ints, entries: Shorts, itemsets: Shorts, table: Ints, pairs: Shorts, costs: Floats, stack: Structs,
    limits: Limits, record: int, number: int,
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
    for entry in range(records[record, START], records[record + 1, START]):
        entries[entry, NEXT] = 0 if entries[entry, ITEM] == worst else entries[entry, KEPT]
    show_next(records, entries, itemsets, table, pairs, stack, limits, record)
