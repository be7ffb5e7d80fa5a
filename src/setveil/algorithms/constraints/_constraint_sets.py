"""Given itemsets as constraints, protected in a fixed order or by their present support."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.algorithms.constraints._clustering import (
    SUPPRESSED,
    Clusters,
    Ints,
    Rules,
    Sets,
    Slots,
    count_support,
    drop_member,
    find_root,
    protect_constraint,
    rename_member,
    take_step,
)
from setveil.arrays.compile import compiled
from setveil.arrays.sorting import sort_values


@compiled
def resolve_image(clusters: Clusters, items: Slots) -> Slots:
    """The live slots that items have become, each once; suppressed ones are left out."""
    image = np.empty(len(items), np.int32)
    n_slots = 0
    for item in items:
        slot = find_root(clusters.parent, item)
        if clusters.fate[slot] != SUPPRESSED and clusters.marks[slot] == 0:
            clusters.marks[slot] = 1
            image[n_slots] = slot
            n_slots += 1
    for slot in image[:n_slots]:
        clusters.marks[slot] = 0
    return image[:n_slots]


@compiled
def protect_sets_in_order(
    clusters: Clusters, starts: Ints, items: Slots, rules: Rules, log: Slots, state: Ints
) -> None:
    """Protect constraint after constraint, at most ``state[2]`` of them; ``state[0]`` is the next, ``state[1]`` the log's length."""
    last = min(len(starts) - 1, state[0] + state[2])
    while state[0] < last:
        image = resolve_image(clusters, items[starts[state[0]] : starts[state[0] + 1]])
        state[1] = protect_constraint(clusters, image, rules, log, state[1])
        state[0] += 1


@compiled
def count_sets(clusters: Clusters, starts: Ints, items: Slots, begin: int, end: int, enough: int) -> Ints:
    """Present supports of constraints ``begin`` … ``end``, counted up to ``enough``; that many also for an empty one."""
    supports = np.empty(end - begin, np.int64)
    for number in range(begin, end):
        image = resolve_image(clusters, items[starts[number] : starts[number + 1]])
        supports[number - begin] = min(count_support(clusters, image, enough), enough)
    return supports


class Agenda(NamedTuple):
    """Constraints as sets of live slots, with their present supports.

    ``near`` lists those with a support from ``state[3]`` to k - 1; ``state[0]`` is how many they are.
    """

    sets: Sets
    support: Ints  # [n_sets]; k or more: protected for good, or the same as another one
    near: Slots  # [n_sets]
    place: Slots  # [n_sets] position in near, -1 if it is not there


@compiled
def protect_sets_by_support(clusters: Clusters, agenda: Agenda, rules: Rules, log: Slots, state: Ints) -> None:
    """Protect the constraint that is most frequent now, at most ``state[2]`` times; ``state[1]`` is the log's length."""
    sets, support = agenda.sets, agenda.support
    for _ in range(state[2]):
        if state[0] == 0:
            _lower_horizon(agenda, rules.k, state)
        if state[0] == 0:
            return
        chosen = _choose_constraint(clusters, agenda, state[0])
        while 0 < support[chosen] < rules.k:
            kept, gone, gained = take_step(clusters, sets.members[sets.start[chosen] : sets.end[chosen]], rules)
            log[state[1]] = kept
            log[state[1] + 1] = gone
            state[1] += 2
            if kept < 0:
                concerned = _constraints_of(agenda, gone, rules.k)
                drop_member(sets, gone)
                for number in concerned:
                    _set_support(agenda, number, _count(clusters, agenda, number, rules.k), rules.k, state)
            else:
                _follow_merge(clusters, agenda, kept, gone, gained, rules.k, state)
                _drop_repeated(clusters, agenda, kept, chosen, rules.k, state)


@compiled
def _lower_horizon(agenda: Agenda, k: int, state: Ints) -> None:
    """List the most frequent of the constraints that still need protection."""
    state[3] = 0
    for support in agenda.support:
        if support < k:
            state[3] = max(state[3], support)
    if state[3] > 0:
        for number in range(len(agenda.support)):
            if agenda.support[number] == state[3]:
                _list(agenda, number, state)


@compiled
def _list(agenda: Agenda, number: int, state: Ints) -> None:
    if agenda.place[number] < 0:
        agenda.near[state[0]] = number
        agenda.place[number] = state[0]
        state[0] += 1


@compiled
def _unlist(agenda: Agenda, number: int, state: Ints) -> None:
    if agenda.place[number] >= 0:
        state[0] -= 1
        last = agenda.near[state[0]]
        agenda.near[agenda.place[number]] = last
        agenda.place[last] = agenda.place[number]
        agenda.place[number] = -1


@compiled
def _choose_constraint(clusters: Clusters, agenda: Agenda, n_near: int) -> int:
    """The most frequent, then smallest, then lexicographically first one of the listed constraints."""
    sets = agenda.sets
    best = agenda.near[0]
    best_size = sets.end[best] - sets.start[best]
    best_items = np.empty(0, np.int32)
    for number in agenda.near[1:n_near]:
        if agenda.support[number] < agenda.support[best]:
            continue
        size = sets.end[number] - sets.start[number]
        if agenda.support[number] == agenda.support[best]:
            if size > best_size:
                continue
            if size == best_size:
                if len(best_items) == 0:
                    best_items = _first_items(clusters, sets, best)
                items = _first_items(clusters, sets, number)
                if not _is_before(items, best_items):
                    continue
                best = number
                best_items = items
                continue
        best, best_size, best_items = number, size, best_items[:0]
    return best


@compiled
def _first_items(clusters: Clusters, sets: Sets, number: int) -> Slots:
    """The smallest items of the clusters of a set, ascending."""
    items = np.empty(sets.end[number] - sets.start[number], np.int32)
    for place in range(len(items)):
        items[place] = clusters.first[sets.members[sets.start[number] + place]]
    sort_values(items)
    return items


@compiled
def _is_before(one: Slots, other: Slots) -> bool:
    for place in range(len(one)):
        if one[place] != other[place]:
            return one[place] < other[place]
    return False


@compiled
def _follow_merge(clusters: Clusters, agenda: Agenda, kept: int, gone: int, gained: Slots, k: int, state: Ints) -> None:
    """Rename ``gone`` in the constraints and bring the supports of all that have ``kept`` up to date."""
    sets, support, records = agenda.sets, agenda.support, clusters.records
    # A constraint that had kept alone gains support from the gained records only; the others are counted from nothing.
    had_kept = _constraints_of(agenda, kept, k)
    n_alone = 0
    for number in had_kept:
        has_gone = False
        for slot in sets.members[sets.start[number] : sets.end[number]]:
            has_gone = has_gone or slot == gone
        if not has_gone:
            had_kept[n_alone] = number
            n_alone += 1
    had_gone = _constraints_of(agenda, gone, k)
    rename_member(sets, kept, gone)
    add_supports(clusters, agenda, had_kept[:n_alone], kept, gained, k, state)
    work = 0
    for number in had_gone:
        fewest = records.n_links[kept]
        for slot in sets.members[sets.start[number] : sets.end[number]]:
            fewest = min(fewest, records.n_links[slot])
        work += fewest
    if work < records.n_links[kept]:
        for number in had_gone:
            _set_support(agenda, number, _count(clusters, agenda, number, k), k, state)
    else:
        for number in had_gone:
            support[number] = 0
        add_supports(clusters, agenda, had_gone, kept, _sets_of(records, kept), k, state)


@compiled
def _sets_of(sets: Sets, slot: int) -> Slots:
    numbers = np.empty(sets.n_links[slot], np.int32)
    link = sets.head[slot]
    for place in range(len(numbers)):
        numbers[place] = sets.owner[link]
        link = sets.next[link]
    return numbers


@compiled
def add_supports(
    clusters: Clusters, agenda: Agenda, numbers: Slots, slot: int, rows: Slots, k: int, state: Ints
) -> None:
    """Add what these records, which all have ``slot``, give to the supports of these constraints, which all have it too."""
    sets, support, records = agenda.sets, agenda.support, clusters.records
    # Every constraint waits at its rarest other cluster until a record with that one comes along.
    waiting = clusters.edges  # [n_slots] first constraint in line, -1 for none
    behind = np.full(len(numbers), -1, np.int32)
    rarest = np.empty(len(numbers), np.int32)
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
        _set_support(agenda, numbers[place], support[numbers[place]], k, state)


@compiled
def _constraints_of(agenda: Agenda, slot: int, k: int) -> Slots:
    """The constraints with this slot that still need attention; the others are unlinked."""
    sets = agenda.sets
    numbers = np.empty(sets.n_links[slot], np.int32)
    n_numbers = 0
    before = np.int64(-1)
    link = sets.head[slot]
    while link >= 0:
        following = sets.next[link]
        if agenda.support[sets.owner[link]] < k:
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
def _count(clusters: Clusters, agenda: Agenda, number: int, k: int) -> int:
    return count_support(clusters, agenda.sets.members[agenda.sets.start[number] : agenda.sets.end[number]], k)


@compiled
def _set_support(agenda: Agenda, number: int, support: int, k: int, state: Ints) -> None:
    agenda.support[number] = support
    if support >= k:
        _unlist(agenda, number, state)
    elif support > 0 and support >= state[3]:
        _list(agenda, number, state)


@compiled
def _drop_repeated(clusters: Clusters, agenda: Agenda, slot: int, chosen: int, k: int, state: Ints) -> None:
    """Of equal constraints with this slot keep one, the chosen one if it is among them."""
    sets = agenda.sets
    numbers = _constraints_of(agenda, slot, k)
    room = 2
    while room < 2 * len(numbers):
        room *= 2
    table = np.full(room, -1, np.int32)
    if agenda.support[chosen] < k:
        table[_hash(sets, chosen) & (room - 1)] = chosen
    for number in numbers:
        if number == chosen:
            continue
        at = _hash(sets, number) & (room - 1)
        while table[at] >= 0 and not _are_equal(clusters, sets, number, table[at]):
            at = (at + 1) & (room - 1)
        if table[at] < 0:
            table[at] = number
        else:
            _set_support(agenda, number, k, k, state)


@compiled
def _hash(sets: Sets, number: int) -> int:
    """The same for the same members in any order."""
    total = np.uint64(0)
    for place in range(sets.start[number], sets.end[number]):
        mixed = (np.uint64(sets.members[place]) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        total += mixed * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(total >> np.uint64(20))


@compiled
def _are_equal(clusters: Clusters, sets: Sets, one: int, other: int) -> bool:
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
