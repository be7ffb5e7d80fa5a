# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""PQ for given itemsets: constraints protected in a fixed order, or by their present support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.algorithms.constraints._clusters import (
    Clusters,
    Ints,
    LinkedSets,
    Slots,
    drop_member,
    rename_member,
)
from setveil.algorithms.constraints._protecting import (
    Rules,
    count_support,
    protect_constraint,
    take_step,
    update_constraint,
)
from setveil.arrays.compiling import compiled
from setveil.arrays.containers import hash_members
from setveil.arrays.sorting import sort_values

N_LISTED, LEVEL = 0, 1  # slots of ``SetQueue.state``


@compiled
def protect_sets_in_order(clusters: Clusters, starts: Ints, items: Slots, rules: Rules, begin: int, end: int) -> int:
    """Protect constraints ``begin`` … ``end``, one after the other; returns how many steps that took."""
    n_steps = 0
    for number in range(begin, end):
        p = update_constraint(clusters, items[starts[number] : starts[number + 1]])
        n_steps += protect_constraint(clusters, p, rules)
    return n_steps


@compiled
def count_sets(clusters: Clusters, starts: Ints, items: Slots, begin: int, end: int, enough: int) -> Ints:
    """Present supports of constraints ``begin`` … ``end``, counted up to ``enough``; that many also for an empty
    one.
    """
    supports = np.empty(end - begin, dtype=np.int64)
    for number in range(begin, end):
        p = update_constraint(clusters, items[starts[number] : starts[number + 1]])
        supports[number - begin] = min(count_support(clusters, p, enough), enough)
    return supports


class SetQueue(NamedTuple):
    """Constraints as sets of live slots, with their present supports."""

    sets: LinkedSets
    support: Ints  # [n_sets]; k or more: protected for good, or the same as another one
    listed: Slots  # [n_sets] the constraints with a support from LEVEL to k - 1, the first N_LISTED entries
    place: Slots  # [n_sets] position in ``listed``, -1 if it is not there
    state: Ints  # [N_LISTED, LEVEL]


@compiled
def protect_sets_by_support(clusters: Clusters, queue: SetQueue, rules: Rules, most: int) -> None:
    """Protect the constraint that is most frequent now, at most ``most`` times."""
    sets, support = queue.sets, queue.support
    for _ in range(most):
        if queue.state[N_LISTED] == 0:
            list_next_level(queue, rules.k)
        if queue.state[N_LISTED] == 0:
            return
        chosen = choose_constraint(clusters, queue)
        while 0 < support[chosen] < rules.k:
            p = sets.members[sets.start[chosen] : sets.end[chosen]]
            kept, gone, gained = take_step(clusters, p, rules)
            if kept < 0:
                concerned = list_constraints_of(queue, gone, rules.k)
                drop_member(sets, gone)
                for number in concerned:
                    set_support(queue, number, count_constraint(clusters, queue, number, rules.k), rules.k)
            else:
                follow_merge(clusters, queue, kept, gone, gained, rules.k)
                drop_repeated(clusters, queue, kept, chosen, rules.k)


@compiled
def list_next_level(queue: SetQueue, k: int) -> None:
    """List the most frequent of the constraints that still need protection."""
    queue.state[LEVEL] = 0
    for support in queue.support:
        if support < k:
            queue.state[LEVEL] = max(queue.state[LEVEL], support)
    if queue.state[LEVEL] > 0:
        for number in range(len(queue.support)):
            if queue.support[number] == queue.state[LEVEL]:
                list_constraint(queue, number)


@compiled
def list_constraint(queue: SetQueue, number: int) -> None:
    if queue.place[number] < 0:
        queue.listed[queue.state[N_LISTED]] = number
        queue.place[number] = queue.state[N_LISTED]
        queue.state[N_LISTED] += 1


@compiled
def unlist_constraint(queue: SetQueue, number: int) -> None:
    if queue.place[number] >= 0:
        queue.state[N_LISTED] -= 1
        last = queue.listed[queue.state[N_LISTED]]
        queue.listed[queue.place[number]] = last
        queue.place[last] = queue.place[number]
        queue.place[number] = -1


@compiled
def choose_constraint(clusters: Clusters, queue: SetQueue) -> int:
    """The most frequent, then smallest, then lexicographically first one of the listed constraints."""
    sets = queue.sets
    best = queue.listed[0]
    best_size = sets.end[best] - sets.start[best]
    best_items = np.empty(0, dtype=np.int32)
    for number in queue.listed[1 : queue.state[N_LISTED]]:
        if queue.support[number] < queue.support[best]:
            continue
        size = sets.end[number] - sets.start[number]
        if queue.support[number] == queue.support[best]:
            if size > best_size:
                continue
            if size == best_size:
                if len(best_items) == 0:
                    best_items = list_first_items(clusters, sets, best)
                items = list_first_items(clusters, sets, number)
                if not is_before(items, best_items):
                    continue
                best = number
                best_items = items
                continue
        best, best_size, best_items = number, size, best_items[:0]
    return best


@compiled
def list_first_items(clusters: Clusters, sets: LinkedSets, number: int) -> Slots:
    """The smallest items of the clusters of a set, ascending."""
    items = np.empty(sets.end[number] - sets.start[number], dtype=np.int32)
    for place in range(len(items)):
        items[place] = clusters.first[sets.members[sets.start[number] + place]]
    sort_values(items)
    return items


@compiled
def is_before(one: Slots, other: Slots) -> bool:
    for place in range(len(one)):
        if one[place] != other[place]:
            return one[place] < other[place]
    return False


@compiled
def follow_merge(clusters: Clusters, queue: SetQueue, kept: int, gone: int, gained: Slots, k: int) -> None:
    """Rename ``gone`` in the constraints and bring the supports of all that have ``kept`` up to date."""
    sets, support, records = queue.sets, queue.support, clusters.records
    # A constraint that had kept alone gains support from the gained records only; the others are counted from nothing.
    had_kept = list_constraints_of(queue, kept, k)
    n_alone = 0
    for number in had_kept:
        has_gone = False
        for slot in sets.members[sets.start[number] : sets.end[number]]:
            has_gone = has_gone or slot == gone
        if not has_gone:
            had_kept[n_alone] = number
            n_alone += 1
    had_gone = list_constraints_of(queue, gone, k)
    rename_member(sets, kept, gone)
    add_supports(clusters, queue, had_kept[:n_alone], kept, gained, k)
    work = 0
    for number in had_gone:
        fewest = records.n_links[kept]
        for slot in sets.members[sets.start[number] : sets.end[number]]:
            fewest = min(fewest, records.n_links[slot])
        work += fewest
    if work < records.n_links[kept]:
        for number in had_gone:
            set_support(queue, number, count_constraint(clusters, queue, number, k), k)
    else:
        for number in had_gone:
            support[number] = 0
        add_supports(clusters, queue, had_gone, kept, list_sets_of(records, kept), k)


@compiled
def list_sets_of(sets: LinkedSets, slot: int) -> Slots:
    numbers = np.empty(sets.n_links[slot], dtype=np.int32)
    link = sets.head[slot]
    for place in range(len(numbers)):
        numbers[place] = sets.owner[link]
        link = sets.next[link]
    return numbers


@compiled
def add_supports(clusters: Clusters, queue: SetQueue, numbers: Slots, slot: int, rows: Slots, k: int) -> None:
    """Add what these records, which all have ``slot``, give to the supports of these constraints, which all have it
    too.
    """
    sets, support, records = queue.sets, queue.support, clusters.records
    # Every constraint waits at its rarest other cluster until a record with that one comes along.
    waiting = clusters.edges  # [n_slots] first constraint in line, -1 for none
    behind = np.full(len(numbers), -1, dtype=np.int32)
    rarest = np.empty(len(numbers), dtype=np.int32)
    for place in range(len(numbers)):
        best = slot
        for member in sets.members[sets.start[numbers[place]] : sets.end[numbers[place]]]:
            if member != slot and (best == slot or records.n_links[member] < records.n_links[best]):
                best = member
        rarest[place] = best
        behind[place] = waiting[best]
        waiting[best] = place
    for row in rows:
        for member in records.members[records.start[row] : records.end[row]]:
            clusters.marks[member] = 1
        for member in records.members[records.start[row] : records.end[row]]:
            place = waiting[member]
            while place >= 0:
                number = numbers[place]
                if support[number] < k:
                    contained = True
                    for other in sets.members[sets.start[number] : sets.end[number]]:
                        if clusters.marks[other] == 0:
                            contained = False
                            break
                    if contained:
                        support[number] += clusters.weight[row]
                place = behind[place]
        for member in records.members[records.start[row] : records.end[row]]:
            clusters.marks[member] = 0
    for place in range(len(numbers)):
        waiting[rarest[place]] = -1
        set_support(queue, numbers[place], support[numbers[place]], k)


@compiled
def list_constraints_of(queue: SetQueue, slot: int, k: int) -> Slots:
    """The constraints with this slot that still need attention; the others are unlinked."""
    sets = queue.sets
    numbers = np.empty(sets.n_links[slot], dtype=np.int32)
    n_numbers = 0
    before = np.int64(-1)
    link = sets.head[slot]
    while link >= 0:
        following = sets.next[link]
        if queue.support[sets.owner[link]] < k:
            numbers[n_numbers] = sets.owner[link]
            n_numbers += 1
            before = link
        elif before < 0:
            sets.head[slot] = following
        else:
            sets.next[before] = following
        link = following
    sets.tail[slot] = before
    sets.n_links[slot] = n_numbers
    return numbers[:n_numbers]


@compiled
def count_constraint(clusters: Clusters, queue: SetQueue, number: int, k: int) -> int:
    return count_support(clusters, queue.sets.members[queue.sets.start[number] : queue.sets.end[number]], k)


@compiled
def set_support(queue: SetQueue, number: int, support: int, k: int) -> None:
    queue.support[number] = support
    if support >= k:
        unlist_constraint(queue, number)
    elif support > 0 and support >= queue.state[LEVEL]:
        list_constraint(queue, number)


@compiled
def drop_repeated(clusters: Clusters, queue: SetQueue, slot: int, chosen: int, k: int) -> None:
    """Of equal constraints with this slot keep one, the chosen one if it is among them."""
    sets = queue.sets
    numbers = list_constraints_of(queue, slot, k)
    room = 2
    while room < 2 * len(numbers):
        room *= 2
    table = np.full(room, -1, dtype=np.int32)
    if queue.support[chosen] < k:
        table[hash_members(sets.members, sets.start[chosen], sets.end[chosen] - sets.start[chosen]) & (room - 1)] = (
            chosen
        )
    for number in numbers:
        if number == chosen:
            continue
        at = hash_members(sets.members, sets.start[number], sets.end[number] - sets.start[number]) & (room - 1)
        while table[at] >= 0 and not have_same_members(clusters, sets, number, table[at]):
            at = (at + 1) & (room - 1)
        if table[at] < 0:
            table[at] = number
        else:
            set_support(queue, number, k, k)


@compiled
def have_same_members(clusters: Clusters, sets: LinkedSets, one: int, other: int) -> bool:
    if sets.end[one] - sets.start[one] != sets.end[other] - sets.start[other]:
        return False
    for place in range(sets.start[one], sets.end[one]):
        clusters.marks[sets.members[place]] = 1
    equal = True
    for place in range(sets.start[other], sets.end[other]):
        equal = equal and clusters.marks[sets.members[place]] == 1
    for place in range(sets.start[one], sets.end[one]):
        clusters.marks[sets.members[place]] = 0
    return equal
