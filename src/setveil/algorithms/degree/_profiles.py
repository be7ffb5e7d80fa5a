# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that choose partners so that groups as a whole answer like the original.

The profile of a sensitive item says how often each public item occurs in its records (``actual``) and in all records of
its groups (``expected``); with groups of p records the answers are right if ``expected`` is p times ``actual``. Their
error is measured item by item, as the divergence of two coins: a of the records have the item, e are expected to.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._grouping import Rows, State, accept_group, find_end, meets_mark, set_mark
from setveil.arrays.compiling import compiled

GROUPED, SILENT, TELLING = np.uint8(0), np.uint8(1), np.uint8(2)  # a record in a group; ungrouped ones of both kinds


class Profiles(NamedTuple):
    """One profile per sensitive item: CSR over the public items that occur in its records, ascending."""

    indptr: NDArray[np.int64]  # [sensitive items + 1]
    items: NDArray[np.int32]  # [entries]
    share: NDArray[np.float64]  # [entries] of the sensitive item's records that have the public item
    expected: NDArray[np.int64]  # [entries] occurrences in its groups, changed in place
    gain: NDArray[np.float64]  # [entries] by how much one more occurrence lowers the error, changed in place
    full: NDArray[np.int64]  # [sensitive items] records in all groups of the item


class CandidateIndex(NamedTuple):
    """The index, and room to work in. Numbers are 32 bits wide where possible: most time goes to fetching them."""

    indptr: NDArray[np.int64]  # [public items + 1] where an item's records are in ``records``, ascending
    records: NDArray[np.uint32]
    kind: NDArray[np.uint8]  # [as records] GROUPED, SILENT or TELLING: groups look at many records, and mostly in vain
    place: NDArray[np.unsignedinteger[Any]]  # [occurrences] where an occurrence of an indexed record is in ``records``
    shortest: NDArray[np.int64]  # [silent records] by length, then number
    place_short: NDArray[np.int64]  # [records] where a silent record stands in ``shortest``
    next_short: NDArray[np.int64]  # [silent records + 1] leads to the next ungrouped one; changed in place
    need: NDArray[np.float64]  # [public items] what an occurrence is worth to the group at hand, 0 between groups
    seen: NDArray[np.uint32]  # [records] the last list the record was on
    found: NDArray[np.uint32]  # [records] the candidates
    score: NDArray[np.float64]  # [records] an upper bound of what each candidate is worth
    clock: NDArray[np.int64]  # [1] number of the group at hand
    cost: NDArray[np.float64]  # [1] what any item costs the group at hand


@compiled
def measure_gain(share: float, expected: int, full: int) -> float:
    """By how much an item's error falls if ``expected`` of ``full`` grows by one."""
    rest = full - expected
    fewer = log((rest - 1) / rest) if rest > 1 else -log(2.0)
    return share * log((expected + 1) / expected) + (1.0 - share) * fewer


@compiled
def measure_all_gains(profiles: Profiles) -> None:
    """Fill ``gain`` from ``expected``."""
    for secret in range(len(profiles.full)):
        for place in range(profiles.indptr[secret], profiles.indptr[secret + 1]):
            profiles.gain[place] = measure_gain(profiles.share[place], profiles.expected[place], profiles.full[secret])


@compiled
def open_profile(secret: int, profiles: Profiles, need: NDArray[np.float64]) -> float:
    """The group at hand gets a sensitive item: what occurrences are worth to it, and what any other item costs."""
    cost = 1.0 / profiles.full[secret]
    for place in range(profiles.indptr[secret], profiles.indptr[secret + 1]):
        need[profiles.items[place]] += profiles.gain[place] + cost
    return cost


@compiled
def close_profile(secret: int, profiles: Profiles, need: NDArray[np.float64]) -> None:
    """The group at hand is done."""
    for place in range(profiles.indptr[secret], profiles.indptr[secret + 1]):
        need[profiles.items[place]] = 0.0


@compiled
def count_in(record: int, step: int, secret: int, public: Rows, profiles: Profiles, need: NDArray[np.float64]) -> None:
    """A record joins (step 1) or leaves (-1) a group of a sensitive item whose profile is open."""
    first, last = profiles.indptr[secret], profiles.indptr[secret + 1]
    n_missing = len(need) - (last - first)
    for j in range(public.indptr[record], public.indptr[record + 1]):
        item = np.int64(public.items[j])
        place, end = first + max(item - n_missing, 0), min(first + item, last - 1)
        while place < end:  # an item stands as many places before its number as lower ones are missing
            middle = (place + end) >> 1
            if profiles.items[middle] < item:
                place = middle + 1
            else:
                end = middle
        if place < last and profiles.items[place] == item:
            profiles.expected[place] += step
            gain = measure_gain(profiles.share[place], profiles.expected[place], profiles.full[secret])
            need[item] += gain - profiles.gain[place]
            profiles.gain[place] = gain


@compiled
def value_record(record: int, cost: float, public: Rows, need: NDArray[np.float64]) -> float:
    """By how much the error falls if a record joins the group at hand."""
    value = 0.0
    for j in range(public.indptr[record], public.indptr[record + 1]):
        value += need[public.items[j]] - cost
    return value


@compiled
def fill_index(records: NDArray[np.int64], public: Rows, hidden: Rows, index: CandidateIndex, state: State) -> None:
    """Make it the index of these records, which are ascending."""
    for item in range(len(index.indptr)):
        index.indptr[item] = 0
    for record in records:
        for j in range(public.indptr[record], public.indptr[record + 1]):
            index.indptr[public.items[j] + 1] += 1
    for item in range(1, len(index.indptr)):
        index.indptr[item] += index.indptr[item - 1]
    free = index.indptr.copy()
    for record in records:
        for j in range(public.indptr[record], public.indptr[record + 1]):
            index.place[j] = free[public.items[j]]
            index.records[index.place[j]] = record
            free[public.items[j]] += 1
        kind = SILENT if hidden.indptr[record] == hidden.indptr[record + 1] else TELLING
        set_kind(record, kind if state.group_of[record] < 0 else GROUPED, public, index)


@compiled
def set_kind(record: int, kind: int, public: Rows, index: CandidateIndex) -> None:
    """An indexed record joins or leaves a group."""
    for j in range(public.indptr[record], public.indptr[record + 1]):
        index.kind[index.place[j]] = kind


@compiled
def list_holders(
    item: int, middle: int, reach: int, n_found: int, hidden: Rows, index: CandidateIndex, state: State
) -> int:
    """List up to ``reach`` ungrouped records on either side of ``middle`` that have an item; how many are listed then.

    Conflicting records are passed over; four times as many records as may be listed are looked at.
    """
    first, last = index.indptr[item], index.indptr[item + 1]
    start = first + np.searchsorted(index.records[first:last], middle)
    for step in (-1, 1):
        n_mine = 0
        stop = max(first, start - 4 * reach) - 1 if step < 0 else min(last, start + 4 * reach)
        for place in range(start - 1 if step < 0 else start, stop, step):
            if index.kind[place] == GROUPED:
                continue
            record = np.int64(index.records[place])
            if index.kind[place] == TELLING and meets_mark(hidden, record, state.mark, index.clock[0]):
                continue
            if index.seen[record] != index.clock[0]:
                index.seen[record] = index.clock[0]
                index.found[n_found] = record
                n_found += 1
            n_mine += 1
            if n_mine == reach:
                break
    return n_found


@compiled
def list_most_needed(secret: int, profiles: Profiles, wanted: NDArray[np.int64]) -> int:
    """The items whose next occurrence lowers the error of a sensitive item most, as many as ``wanted`` holds."""
    n_found = 0
    for place in range(profiles.indptr[secret], profiles.indptr[secret + 1]):
        rank = n_found
        while rank > 0 and profiles.gain[place] > profiles.gain[wanted[rank - 1]]:
            rank -= 1
        if rank < len(wanted):
            n_found = min(n_found + 1, len(wanted))
            for other in range(n_found - 1, rank, -1):
                wanted[other] = wanted[other - 1]
            wanted[rank] = place
    return n_found


@compiled
def list_partners(
    fixed: NDArray[np.int64],
    search: tuple[int, int, int],
    public: Rows,
    hidden: Rows,
    profiles: Profiles,
    index: CandidateIndex,
    state: State,
) -> int:
    """List records that share an item with one of the fixed members, or have an item their profiles need most.

    ``search``: records per item and side, most needed items per profile, records already listed.
    """
    reach, n_needed, n_found = search
    wanted = np.empty(n_needed, dtype=np.int64)
    for member in fixed:
        for j in range(public.indptr[member], public.indptr[member + 1]):
            n_found = list_holders(public.items[j], member, reach, n_found, hidden, index, state)
        for i in range(hidden.indptr[member], hidden.indptr[member + 1]):
            for k in range(list_most_needed(hidden.items[i], profiles, wanted)):
                item = profiles.items[wanted[k]]
                n_found = list_holders(item, member, reach, n_found, hidden, index, state)
    return n_found


@compiled
def open_group(fixed: NDArray[np.int64], hidden: Rows, profiles: Profiles, index: CandidateIndex, state: State) -> None:
    """A new group is at hand."""
    index.cost[0] = 0.0
    for member in fixed:
        set_mark(hidden, member, state.mark, index.clock[0])
        index.seen[member] = index.clock[0]
        for i in range(hidden.indptr[member], hidden.indptr[member + 1]):
            index.cost[0] += open_profile(hidden.items[i], profiles, index.need)


@compiled
def close_group(group: NDArray[np.int64], hidden: Rows, profiles: Profiles, index: CandidateIndex) -> None:
    """No group is at hand."""
    for member in group:
        for i in range(hidden.indptr[member], hidden.indptr[member + 1]):
            close_profile(hidden.items[i], profiles, index.need)


@compiled
def sink_candidate(place: int, n_found: int, index: CandidateIndex) -> None:
    """Let a candidate sink in the heap until it stands above none that scores higher (ties: lower record number)."""
    record, score = index.found[place], index.score[place]
    while 2 * place + 1 < n_found:
        below = 2 * place + 1
        if below + 1 < n_found and (
            index.score[below + 1] > index.score[below]
            or (index.score[below + 1] == index.score[below] and index.found[below + 1] < index.found[below])
        ):
            below += 1
        if index.score[below] < score or (index.score[below] == score and index.found[below] > record):
            break
        index.found[place], index.score[place] = index.found[below], index.score[below]
        place = below
    index.found[place], index.score[place] = record, score


@compiled
def value_candidates(n_found: int, public: Rows, index: CandidateIndex) -> None:
    """Score all candidates and make them a heap."""
    for mine in range(n_found):
        index.score[mine] = value_record(np.int64(index.found[mine]), index.cost[0], public, index.need)
    for place in range(n_found // 2 - 1, -1, -1):
        sink_candidate(place, n_found, index)


@compiled
def pick_best(n_found: int, public: Rows, index: CandidateIndex, state: State) -> int:
    """Bring the candidate worth most to the top: 0; -1 if there is none.

    Scores are upper bounds: a top whose score is still right is the best. If even that does harm, the shortest silent
    record may do less: it is put behind the candidates, and its place is the answer.
    """
    while n_found:
        score = value_record(np.int64(index.found[0]), index.cost[0], public, index.need)
        if score >= index.score[0]:
            break
        index.score[0] = score
        sink_candidate(0, n_found, index)
    if n_found and index.score[0] >= 0.0:
        return 0
    short = find_end(index.next_short, 0)
    while short < len(index.shortest) and (
        index.seen[index.shortest[short]] == index.clock[0] or state.group_of[index.shortest[short]] >= 0
    ):
        short = find_end(index.next_short, short + 1)
    if short < len(index.shortest):
        record = index.shortest[short]
        score = value_record(record, index.cost[0], public, index.need)
        if not n_found or score > index.score[0]:
            index.seen[record] = index.clock[0]
            index.found[n_found] = record
            return n_found
    return 0 if n_found else -1


@compiled
def fill_group(
    group: NDArray[np.int64],
    size: int,
    n_found: int,
    public: Rows,
    hidden: Rows,
    profiles: Profiles,
    index: CandidateIndex,
    state: State,
) -> int:
    """Fill ``group`` behind its first ``size`` members, one best candidate after the other; its size then.

    A candidate's worth never grows with a silent partner. A telling partner brings its own profiles: everybody is
    valued anew.
    """
    value_candidates(n_found, public, index)
    while size < len(group):
        best = pick_best(n_found, public, index, state)
        if best < 0:
            break
        record = np.int64(index.found[best])
        if best < n_found:
            n_found -= 1
            index.found[0], index.score[0] = index.found[n_found], index.score[n_found]
            sink_candidate(0, n_found, index)
        is_telling = hidden.indptr[record] < hidden.indptr[record + 1]
        if is_telling and meets_mark(hidden, record, state.mark, index.clock[0]):
            continue
        for member in group[:size]:
            for i in range(hidden.indptr[member], hidden.indptr[member + 1]):
                count_in(record, 1, hidden.items[i], public, profiles, index.need)
        group[size] = record
        size += 1
        if is_telling:
            set_mark(hidden, record, state.mark, index.clock[0])
            for i in range(hidden.indptr[record], hidden.indptr[record + 1]):
                index.cost[0] += open_profile(hidden.items[i], profiles, index.need)
                for member in group[: size - 1]:
                    count_in(member, 1, hidden.items[i], public, profiles, index.need)
            if size < len(group):
                value_candidates(n_found, public, index)
    return size


@compiled
def empty_group(
    group: NDArray[np.int64], n_kept: int, public: Rows, hidden: Rows, profiles: Profiles, index: CandidateIndex
) -> None:
    """Count everybody behind the first ``n_kept`` members out of the group's profiles; the group is closed then."""
    for holder in group:
        for i in range(hidden.indptr[holder], hidden.indptr[holder + 1]):
            for member in group[n_kept:]:
                if member != holder:
                    count_in(member, -1, hidden.items[i], public, profiles, index.need)
    close_group(group, hidden, profiles, index)


@compiled
def form_groups_by_profile(
    seeds: NDArray[np.int64],
    p: int,
    search: tuple[int, int],
    public: Rows,
    hidden: Rows,
    profiles: Profiles,
    index: CandidateIndex,
    state: State,
) -> None:
    """Each ungrouped seed takes the p-1 partners that lower the error of the group's sensitive items most.

    ``search``: records listed per item and side, most needed items per profile.
    """
    group = np.empty(p, dtype=np.int64)
    for seed in seeds:
        if state.group_of[seed] >= 0:
            continue
        index.clock[0] += 1
        group[0] = seed
        open_group(group[:1], hidden, profiles, index, state)
        wanted = (search[0], search[1], 0)
        n_found = list_partners(group[:1], wanted, public, hidden, profiles, index, state)
        size = fill_group(group, 1, n_found, public, hidden, profiles, index, state)
        if size == p and accept_group(group, hidden, p, state):
            close_group(group, hidden, profiles, index)
            for member in group:
                set_kind(member, GROUPED, public, index)
                if hidden.indptr[member] == hidden.indptr[member + 1]:
                    index.next_short[index.place_short[member]] = index.place_short[member] + 1
        else:
            empty_group(group[:size], 0, public, hidden, profiles, index)


@compiled
def refill_groups(
    groups: NDArray[np.int64],
    p: int,
    search: tuple[int, int],
    public: Rows,
    hidden: Rows,
    profiles: Profiles,
    index: CandidateIndex,
    state: State,
) -> int:
    """Choose the silent members of each group anew, from its own and the ungrouped silent records; how many are new.

    ``groups`` has one row per group, telling members first; changed in place.
    """
    n_new = 0
    for number in range(len(groups)):
        group = groups[number]
        mine = state.group_of[group[0]]
        n_kept = 0
        while n_kept < p and hidden.indptr[group[n_kept]] < hidden.indptr[group[n_kept] + 1]:
            n_kept += 1
        empty_group(group, n_kept, public, hidden, profiles, index)
        index.clock[0] += 1
        open_group(group[:n_kept], hidden, profiles, index, state)
        for place in range(n_kept, p):
            state.group_of[group[place]] = -1
            set_kind(group[place], SILENT, public, index)
            index.seen[group[place]] = index.clock[0]
            index.found[place - n_kept] = group[place]
        wanted = (search[0], search[1], p - n_kept)
        n_found = list_partners(group[:n_kept], wanted, public, hidden, profiles, index, state)
        before = group[n_kept:].copy()
        fill_group(group, n_kept, n_found, public, hidden, profiles, index, state)
        close_group(group, hidden, profiles, index)
        for member in group:
            state.group_of[member] = mine
        for member in group[n_kept:]:
            set_kind(member, GROUPED, public, index)
        for member in before:
            n_new += state.group_of[member] != mine
    return n_new
