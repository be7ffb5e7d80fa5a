# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that form groups of records around sensitive ones.

Records are numbered along the sequence in which they are looked at. A record is *telling* if it has a sensitive item,
else *silent*; two records conflict if they share a sensitive item. ``public`` and ``hidden`` hold each record's two
parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

HAMMING, COMMON, JACCARD, NONE = 0, 1, 2, 3  # ways to measure how far two records are apart
N_SKIPPED = 64  # along a sequence: conflicting records passed over, per candidate wanted, before only silent ones count


class Rows(NamedTuple):
    """CSR."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]


class State(NamedTuple):
    """What is settled so far; changed in place."""

    group_of: NDArray[np.int64]  # [records] -1 while in no group
    left: NDArray[np.int64]  # [sensitive items] occurrences in ungrouped records
    tally: NDArray[np.int64]  # [ungrouped records, groups]
    mark: NDArray[np.int64]  # [sensitive items] the last seed that met the item, -1 if none


class Chain(NamedTuple):
    """Ungrouped records in sequence; changed in place."""

    telling: NDArray[np.int64]  # [telling records] their positions, ascending
    before: NDArray[np.int64]  # [telling records] the ungrouped telling record before, -1 if none
    after: NDArray[np.int64]  # [telling records] the ungrouped telling record after, len(telling) if none
    left: NDArray[np.int64]  # [records + 1] entry i+1 leads to the last ungrouped silent record at or before i
    right: NDArray[np.int64]  # [records + 1] entry i leads to the first ungrouped silent record at or after i


@compiled
def measure_distance(kind: int, common: int, length: int, other: int) -> float:
    """How far two records of these lengths are apart that have ``common`` items in common."""
    if kind == HAMMING:
        return float(length + other - 2 * common)
    if kind == COMMON:
        return float(-common)
    if kind == JACCARD and length + other > 0:
        return 1.0 - common / (length + other - common)
    return 0.0


@compiled
def count_common(public: Rows, one: int, other: int) -> int:
    """How many public items two records share."""
    items = public.items
    i, i_end = public.indptr[one], public.indptr[one + 1]
    j, j_end = public.indptr[other], public.indptr[other + 1]
    common = 0
    while i < i_end and j < j_end:
        if items[i] == items[j]:
            common += 1
            i += 1
            j += 1
        elif items[i] < items[j]:
            i += 1
        else:
            j += 1
    return common


@compiled
def find_end(link: NDArray[np.int64], start: int) -> int:
    """Follow links to the entry that links to itself, shortening the way for the next time."""
    place = start
    while link[place] != place:
        link[place] = link[link[place]]
        place = link[place]
    return place


@compiled
def meets_mark(hidden: Rows, record: int, mark: NDArray[np.int64], seed: int) -> bool:
    """Whether a record has a sensitive item that ``seed``'s group or list has met."""
    for j in range(hidden.indptr[record], hidden.indptr[record + 1]):
        if mark[hidden.items[j]] == seed:
            return True
    return False


@compiled
def set_mark(hidden: Rows, record: int, mark: NDArray[np.int64], seed: int) -> None:
    """``seed``'s group or list meets a record's sensitive items."""
    for j in range(hidden.indptr[record], hidden.indptr[record + 1]):
        mark[hidden.items[j]] = seed


@compiled
def accept_group(members: NDArray[np.int64], hidden: Rows, p: int, state: State) -> bool:
    """Settle a group of ``p`` records without conflict, unless the ungrouped rest would then miss the degree.

    Lines 7-9 and 12 of Figure 11 (CAHD), 6-11 of NNGroup: ``left`` is the histogram H, ``tally[0]`` is ``remaining``.
    """
    rest = state.tally[0] - len(members)
    for member in members:
        for j in range(hidden.indptr[member], hidden.indptr[member + 1]):
            state.left[hidden.items[j]] -= 1
    safe = len(members) >= p
    for item in range(len(state.left)):
        if state.left[item] * p > rest:
            safe = False
            break
    if not safe:
        for member in members:
            for j in range(hidden.indptr[member], hidden.indptr[member + 1]):
                state.left[hidden.items[j]] += 1
        return False
    for member in members:
        state.group_of[member] = state.tally[1]
    state.tally[0] = rest
    state.tally[1] += 1
    return True


# -- along a sequence -----------------------------------------------------------------------------------------------


@compiled
def list_candidates(
    number: int, wanted: int, step: int, hidden: Rows, mark: NDArray[np.int64], chain: Chain, found: NDArray[np.int64]
) -> int:
    """Up to ``wanted`` records before (step -1) or after (+1) the telling record ``number``, nearest first.

    Records in conflict with the seed or the list are passed over, and join the list's marks otherwise.
    """
    seed = chain.telling[number]
    n_telling = len(chain.telling)
    n_records = len(chain.right) - 1
    n_found = n_skipped = 0
    telling = chain.after[number] if step > 0 else chain.before[number]
    silent = find_end(chain.right, seed + 1) if step > 0 else find_end(chain.left, seed) - 1
    while n_found < wanted:
        has_telling = 0 <= telling < n_telling and n_skipped < N_SKIPPED * wanted
        has_silent = 0 <= silent < n_records
        if has_telling and (not has_silent or (chain.telling[telling] - silent) * step < 0):
            record = chain.telling[telling]
            if meets_mark(hidden, record, mark, seed):
                n_skipped += 1
            else:
                set_mark(hidden, record, mark, seed)
                found[n_found] = record
                n_found += 1
            telling = chain.after[telling] if step > 0 else chain.before[telling]
        elif has_silent:
            found[n_found] = silent
            n_found += 1
            silent = find_end(chain.right, silent + 1) if step > 0 else find_end(chain.left, silent) - 1
        else:
            break
    return n_found


@compiled
def form_groups_in_sequence(
    seeds: tuple[int, int], p: int, alpha: int, kind: int, public: Rows, hidden: Rows, chain: Chain, state: State
) -> None:
    """CAHD, lines 3-12 of Figure 11: each ungrouped record t of ``telling[seeds[0]:seeds[1]]`` takes p-1 of its
    candidates.
    """
    wanted = alpha * p
    before = np.empty(wanted, dtype=np.int64)
    after = np.empty(wanted, dtype=np.int64)
    members = np.empty(p, dtype=np.int64)
    for number in range(seeds[0], seeds[1]):  # 3
        seed = chain.telling[number]  # 4: t
        if state.group_of[seed] >= 0:
            continue
        set_mark(hidden, seed, state.mark, seed)
        n_before = list_candidates(number, wanted, -1, hidden, state.mark, chain, before)  # 5: CL(t)
        n_after = list_candidates(number, wanted, 1, hidden, state.mark, chain, after)
        if n_before + n_after < p - 1:
            continue
        members[0] = seed
        pick_closest(members, before[:n_before], after[:n_after], kind, public)  # 6: G
        if accept_group(members, hidden, p, state):  # 7-9, or else 12
            for member in members:
                leave_chain(member, hidden, chain)  # 10


@compiled
def pick_closest(
    members: NDArray[np.int64], before: NDArray[np.int64], after: NDArray[np.int64], kind: int, public: Rows
) -> None:
    """Line 6 of Figure 11: fill ``members[1:]`` with the candidates closest to ``members[0]``; both lists nearest
    first.

    Ties: smaller gap in the sequence, predecessor first.
    """
    seed = members[0]
    length = public.indptr[seed + 1] - public.indptr[seed]
    n_listed = len(before) + len(after)
    by_gap = np.empty(n_listed, dtype=np.int64)
    distance = np.empty(n_listed, dtype=np.float64)
    i = j = 0
    for place in range(n_listed):  # by gap, predecessor first, so that a stable sort leaves ties in that order
        if j >= len(after) or (i < len(before) and seed - before[i] <= after[j] - seed):
            record = before[i]
            i += 1
        else:
            record = after[j]
            j += 1
        by_gap[place] = record
        other = public.indptr[record + 1] - public.indptr[record]
        common = count_common(public, seed, record) if kind != NONE else 0
        distance[place] = measure_distance(kind, common, length, other)
    order = stable_order(distance)
    for place in range(len(members) - 1):
        members[place + 1] = by_gap[order[place]]


@compiled
def leave_chain(record: int, hidden: Rows, chain: Chain) -> None:
    """A record is no longer ungrouped."""
    if hidden.indptr[record] == hidden.indptr[record + 1]:
        chain.right[record] = record + 1
        chain.left[record + 1] = record
        return
    number = np.searchsorted(chain.telling, record)
    before, after = chain.before[number], chain.after[number]
    if before >= 0:
        chain.after[before] = after
    if after < len(chain.telling):
        chain.before[after] = before


class Members(NamedTuple):
    """Who is in which group before leftovers are absorbed; ``last`` and ``link`` grow with them."""

    grouped: NDArray[np.int64]  # records that are in a group, ascending
    size: NDArray[np.int64]  # [groups]
    last: NDArray[np.int64]  # [groups] a record of the group
    link: NDArray[np.int64]  # [records] another record of the same group, -1 at the end


@compiled
def has_room(record: int, group: int, p: int, hidden: Rows, members: Members) -> bool:
    """Whether a group keeps degree p when a record joins it."""
    for j in range(hidden.indptr[record], hidden.indptr[record + 1]):
        count = 1
        member = members.last[group]
        while member >= 0:
            for i in range(hidden.indptr[member], hidden.indptr[member + 1]):
                count += hidden.items[i] == hidden.items[j]
            member = members.link[member]
        if count * p > members.size[group] + 1:
            return False
    return True


@compiled
def absorb_leftovers(
    span: tuple[int, int],
    p: int,
    alpha: int,
    kind: int,
    public: Rows,
    hidden: Rows,
    members: Members,
    state: State,
) -> None:
    """Ungrouped records of ``span`` join the group of the nearest of the alpha·p grouped records on either side.

    A record stays where it is if every such group, or the leftovers without it, would miss the degree.
    """
    grouped = members.grouped
    middle = np.searchsorted(grouped, span[0])
    for record in range(span[0], span[1]):
        while middle < len(grouped) and grouped[middle] < record:
            middle += 1
        if state.group_of[record] >= 0:
            continue
        length = public.indptr[record + 1] - public.indptr[record]
        best, nearest = -1, np.inf
        for step in range(2 * alpha * p):  # nearest in the sequence first, predecessor before successor
            place = middle - 1 - step // 2 if step % 2 == 0 else middle + step // 2
            if not 0 <= place < len(grouped):
                continue
            other = grouped[place]
            common = count_common(public, record, other) if kind != NONE else 0
            distance = measure_distance(kind, common, length, public.indptr[other + 1] - public.indptr[other])
            if distance < nearest and has_room(record, state.group_of[other], p, hidden, members):
                best, nearest = state.group_of[other], distance
        if best < 0:
            continue
        for j in range(hidden.indptr[record], hidden.indptr[record + 1]):
            state.left[hidden.items[j]] -= 1
        safe = True
        for item in range(len(state.left)):
            safe &= state.left[item] * p <= state.tally[0] - 1
        if safe:
            state.group_of[record] = best
            state.tally[0] -= 1
            members.size[best] += 1
            members.link[record] = members.last[best]
            members.last[best] = record
        else:
            for j in range(hidden.indptr[record], hidden.indptr[record + 1]):
                state.left[hidden.items[j]] += 1


# -- by nearest neighbours ------------------------------------------------------------------------------------------


class NeighbourIndex(NamedTuple):
    """What finding neighbours needs besides the records; changed in place."""

    indptr: NDArray[np.int64]  # [public items] where an item's records begin in ``records``
    ends: NDArray[np.int64]  # [public items] where they end; ungrouped ones are moved to the front
    records: NDArray[np.int64]  # [public occurrences]
    shortest: NDArray[np.int64]  # [records] by length, then number
    place_short: NDArray[np.int64]  # [records] where a record stands in ``shortest``
    next_short: NDArray[np.int64]  # [records + 1] leads to the next ungrouped one in ``shortest``
    common: NDArray[np.int64]  # [records] items in common with the seed, 0 between seeds
    found: NDArray[np.int64]  # [records] the candidates
    distance: NDArray[np.float64]  # [records] of each candidate
    hamming: NDArray[np.int64]  # [records] of each candidate


class Tables(NamedTuple):
    """Hash tables of a similarity-preserving hash: what the k-th seed may look at."""

    first: NDArray[np.int64]  # [seeds, tables]
    last: NDArray[np.int64]  # [seeds, tables]; the bucket is records[first:last]
    records: NDArray[np.int64]


@compiled
def gather_overlaps(seed: int, public: Rows, search: NeighbourIndex, group_of: NDArray[np.int64]) -> int:
    """List the ungrouped records that share a public item with the seed, and count in ``common`` how many."""
    n_found = 0
    for j in range(public.indptr[seed], public.indptr[seed + 1]):
        item = public.items[j]
        kept = search.indptr[item]
        for place in range(search.indptr[item], search.ends[item]):
            record = search.records[place]
            if group_of[record] >= 0:
                continue
            search.records[kept] = record
            kept += 1
            if record != seed:
                if search.common[record] == 0:
                    search.found[n_found] = record
                    n_found += 1
                search.common[record] += 1
        search.ends[item] = kept
    return n_found


@compiled
def gather_buckets(
    seed: int, number: int, public: Rows, search: NeighbourIndex, tables: Tables, group_of: NDArray[np.int64]
) -> int:
    """List the ungrouped records in the buckets of the ``number``-th seed; ``common`` is one too many for each."""
    n_found = 0
    for table in range(tables.first.shape[1]):
        for place in range(tables.first[number, table], tables.last[number, table]):
            record = tables.records[place]
            if search.common[record] == 0 and group_of[record] < 0 and record != seed:
                search.common[record] = 1 + count_common(public, seed, record)
                search.found[n_found] = record
                n_found += 1
    return n_found


@compiled
def pick_nearest(
    n_found: int,
    walk: bool,
    kind: int,
    public: Rows,
    hidden: Rows,
    search: NeighbourIndex,
    state: State,
    members: NDArray[np.int64],
) -> int:
    """Fill ``members[1:]`` with the nearest candidates that conflict neither with the seed nor with each other.

    Nearest by distance, then by Hamming distance, then by number. With ``walk``, records that share nothing with the
    seed are candidates as well: among them the shortest is nearest, whatever the distance.
    """
    seed = members[0]
    length = public.indptr[seed + 1] - public.indptr[seed]
    for mine in range(n_found):
        record = search.found[mine]
        other = public.indptr[record + 1] - public.indptr[record]
        common = search.common[record] - (not walk)
        search.distance[mine] = measure_distance(kind, common, length, other)
        search.hamming[mine] = length + other - 2 * common
    n_left = n_found
    short = find_end(search.next_short, 0) if walk else len(search.shortest)
    size = 1
    while size < len(members):
        best, best_distance, best_hamming, best_record = -1, np.inf, 0, 0
        mine = 0
        while mine < n_left:
            distance, hamming, record = search.distance[mine], search.hamming[mine], search.found[mine]
            nearer = distance < best_distance or (
                distance == best_distance
                and (hamming < best_hamming or (hamming == best_hamming and record < best_record))
            )
            if nearer and meets_mark(hidden, record, state.mark, seed):
                n_left -= 1  # it will conflict from now on: put the last one in its place and look again
                swap_candidates(mine, n_left, search)
                continue
            if nearer:
                best, best_distance, best_hamming, best_record = mine, distance, hamming, record
            mine += 1
        while short < len(search.shortest):
            record = search.shortest[short]
            other = public.indptr[record + 1] - public.indptr[record]
            distance, hamming = measure_distance(kind, 0, length, other), length + other
            if distance > best_distance or (
                distance == best_distance
                and (hamming > best_hamming or (hamming == best_hamming and record > best_record))
            ):
                break
            if search.common[record] == 0 and record != seed and not meets_mark(hidden, record, state.mark, seed):
                best, best_distance, best_record = n_found, distance, record
                short = find_end(search.next_short, short + 1)
                break
            short = find_end(search.next_short, short + 1)
        if best < 0:
            break
        members[size] = best_record
        size += 1
        set_mark(hidden, best_record, state.mark, seed)
        if best < n_found:
            n_left -= 1
            swap_candidates(best, n_left, search)
    return size


@compiled
def swap_candidates(one: int, other: int, search: NeighbourIndex) -> None:
    """Exchange two candidates."""
    search.found[one], search.found[other] = search.found[other], search.found[one]
    search.distance[one], search.distance[other] = search.distance[other], search.distance[one]
    search.hamming[one], search.hamming[other] = search.hamming[other], search.hamming[one]


@compiled
def form_groups_by_neighbours(
    seeds: tuple[int, NDArray[np.int64]],
    p: int,
    kind: int,
    public: Rows,
    hidden: Rows,
    search: NeighbourIndex,
    tables: Tables,
    state: State,
) -> None:
    """NNGroup: each ungrouped seed takes its p-1 nearest neighbours, from its buckets if they have enough.

    ``seeds``: the number of the first seed in ``tables``, and the seeds. Without tables the search is exact.
    """
    members = np.empty(p, dtype=np.int64)
    for k in range(len(seeds[1])):
        seed = seeds[1][k]
        if state.group_of[seed] >= 0:
            continue
        size = 0
        members[0] = seed
        for exact in (False, True):
            if size == p or not (exact or tables.first.shape[1]):
                continue
            state.mark[:] = -1  # the bucket search may have marked items
            set_mark(hidden, seed, state.mark, seed)
            if exact:
                n_found = gather_overlaps(seed, public, search, state.group_of)
            else:
                n_found = gather_buckets(seed, seeds[0] + k, public, search, tables, state.group_of)
            size = pick_nearest(n_found, exact, kind, public, hidden, search, state, members)
            for mine in range(n_found):
                search.common[search.found[mine]] = 0
        if size == p and accept_group(members, hidden, p, state):
            for member in members:
                search.next_short[search.place_short[member]] = search.place_short[member] + 1
