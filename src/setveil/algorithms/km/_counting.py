"""Counting itemsets over weighted rows of numbered items.

Rows are CSR. Callers number the items in the order in which they want itemsets visited, so that the later items of a
sorted row are its suffix. ``Walk`` is the state of a depth-first walk over prefixes of itemsets; it lives between
calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import hash_items
from setveil.arrays.sorting import sort_values

Csr = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items
STEPS_PER_CALL = 50_000_000  # steps of a walk between two signs of life: well below half a second
PASS, ENDS, PRUNE = 0, 1, 2  # what ``find_next_rare`` does with prefixes on the way


# -- rows ---------------------------------------------------------------------------------------------------------


@compiled
def count_node_supports(
    indptr: NDArray[np.int64], items: NDArray[np.int32], weights: NDArray[np.int64], parent: NDArray[np.int32]
) -> NDArray[np.int64]:
    """In how many records each node of a tree, or something below it, occurs: int64[n_nodes]. ``items`` are nodes."""
    supports = np.zeros(len(parent), dtype=np.int64)
    seen_in = np.full(len(parent), -1, dtype=np.int64)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            node = items[place]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                supports[node] += weights[row]
                node = parent[node]
    return supports


@compiled
def expand_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], parent: NDArray[np.int32], number: NDArray[np.int32]
) -> Csr:
    """Add to each row the ancestors of its nodes and write nodes as ``number[node]``, -1 to leave one out. Unsorted
    rows.
    """
    n_rows = len(indptr) - 1
    seen_in = np.full(len(parent), -1, dtype=np.int64)
    new_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    new_items = np.empty(0, dtype=np.int32)
    for fills in (False, True):  # first measure, then fill
        if fills:
            new_items = np.empty(new_indptr[n_rows], dtype=np.int32)
        end = 0
        for row in range(n_rows):
            mark = row + n_rows if fills else row
            for place in range(indptr[row], indptr[row + 1]):
                node = items[place]
                while node >= 0 and seen_in[node] != mark:
                    seen_in[node] = mark
                    if number[node] >= 0:
                        if fills:
                            new_items[end] = number[node]
                        end += 1
                    node = parent[node]
            new_indptr[row + 1] = end
    return new_indptr, new_items


@compiled
def recode_rows(indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32]) -> Csr:
    """Replace every item by its target, -1 to drop it, and keep repeats once. Unsorted rows; targets are items."""
    n_rows = len(indptr) - 1
    seen_in = np.full(len(target), -1, dtype=np.int64)
    new_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    new_items = np.empty(len(items), dtype=np.int32)
    end = 0
    for row in range(n_rows):
        for place in range(indptr[row], indptr[row + 1]):
            item = target[items[place]]
            if item >= 0 and seen_in[item] != row:
                seen_in[item] = row
                new_items[end] = item
                end += 1
        new_indptr[row + 1] = end
    return new_indptr, new_items[:end]


@compiled
def sort_items_in_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], starts: NDArray[np.int64], positions: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The items with every row sorted, by two counting passes; and where each of them stands.

    Fills ``starts`` [number of different items + 1] and ``positions`` [len(items)]: in the result, item ``i`` stands at
    ``positions[starts[i]:starts[i + 1]]``, ascending.
    """
    n_rows, n_items = len(indptr) - 1, len(starts) - 1
    starts[:] = 0
    for item in items:
        starts[item + 1] += 1
    for item in range(n_items):
        starts[item + 1] += starts[item]
    free = starts[:-1].copy()
    for row in range(n_rows):
        for place in range(indptr[row], indptr[row + 1]):
            item = items[place]
            positions[free[item]] = row  # for now the row
            free[item] += 1
    ordered = np.empty(len(items), dtype=np.int32)
    next_place = indptr[:-1].copy()
    for item in range(n_items):
        for entry in range(starts[item], starts[item + 1]):
            row = positions[entry]
            ordered[next_place[row]] = item
            positions[entry] = next_place[row]
            next_place[row] += 1
    return ordered


@compiled
def merge_equal_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], weights: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Keep each distinct non-empty row of sorted items once, where it first occurs, with the sum of the weights."""
    n_rows = len(indptr) - 1
    n_slots = 16
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slots = np.full(n_slots, -1, dtype=np.int64)  # hash table of new row numbers
    new_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    new_items = np.empty(len(items), dtype=np.int32)
    new_weights = np.zeros(n_rows, dtype=np.int64)
    n_new = 0
    for row in range(n_rows):
        start, size = indptr[row], indptr[row + 1] - indptr[row]
        if size == 0:
            continue
        slot = hash_items(items, start, size) & (n_slots - 1)
        while slots[slot] >= 0 and not are_equal(
            items, start, size, new_items, new_indptr[slots[slot]], new_indptr[slots[slot] + 1]
        ):
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = n_new
            end = new_indptr[n_new]
            for offset in range(size):
                new_items[end + offset] = items[start + offset]
            n_new += 1
            new_indptr[n_new] = end + size
        new_weights[slots[slot]] += weights[row]
    return new_indptr[: n_new + 1], new_items[: new_indptr[n_new]], new_weights[:n_new]


@compiled
def are_equal(items: NDArray[np.int32], start: int, size: int, others: NDArray[np.int32], begin: int, end: int) -> bool:
    """Whether ``items[start:start + size]`` and ``others[begin:end]`` are the same."""
    if end - begin != size:
        return False
    offset = 0
    while offset < size and items[start + offset] == others[begin + offset]:
        offset += 1
    return offset == size


# -- the walk -----------------------------------------------------------------------------------------------------


class Walk(NamedTuple):
    """A depth-first walk over the itemsets of one size, in lexicographic order, prefix by prefix.

    ``n`` is the number of items, ``z`` the number of occurrences, ``depth`` the size of a whole prefix: one less than
    that of the itemsets. At depth ``d`` the walk holds the items that may follow the first ``d`` items of the prefix,
    and the occurrences of each of them in rows that contain those.
    """

    indptr: NDArray[np.int64]  # [rows + 1]
    items: NDArray[np.int32]  # [z] ascending in each row
    weights: NDArray[np.int64]  # [rows]
    row: NDArray[np.int32]  # [z] the row of each occurrence
    first: NDArray[np.int32]  # [n] two items are related if their runs first..last overlap; they are never combined
    last: NDArray[np.int32]  # [n]
    alive: NDArray[np.bool_]  # [n] the caller may take items out at any time
    prefix: NDArray[np.int32]  # [depth]
    position: NDArray[np.int64]  # [depth] which candidate the prefix holds at each depth; -1 before the first
    n_candidates: NDArray[np.int64]  # [depth]
    candidates: NDArray[np.int32]  # [depth, n] ascending
    starts: NDArray[np.int64]  # [depth, n + 1] candidate j is at positions[d, starts[d, j]:starts[d, j + 1]]
    positions: NDArray[np.int64]  # [depth, z] positions in ``items``
    counts: NDArray[np.int64]  # [n] all zero between calls
    at: NDArray[np.int64]  # [1] the depth the walk is at; -1 when it is over
    reached: NDArray[np.int64]  # [1] how many itemsets, prefixes included, were counted so far
    steps: NDArray[np.int64]  # [1] how many occurrences were looked at so far: the work done


def start_walk(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.int64],
    runs: tuple[NDArray[np.int32], NDArray[np.int32]],
    alive: NDArray[np.bool_],
    size: int,
) -> Walk:
    """A walk over itemsets of ``size`` ≥ 2, before its first step. Rows may be unsorted; ``runs`` are (first, last)."""
    n, z, depth = len(runs[0]), len(items), size - 1
    starts = np.empty((depth, n + 1), dtype=np.int64)
    positions = np.empty((depth, z), dtype=np.int64)
    ordered = sort_items_in_rows(indptr, items, starts[0], positions[0])
    walk = Walk(
        indptr,
        ordered,
        weights,
        np.repeat(np.arange(len(weights), dtype=np.int32), np.diff(indptr)),
        *runs,
        alive,
        prefix=np.zeros(depth, dtype=np.int32),
        position=np.full(depth, -1, dtype=np.int64),
        n_candidates=np.zeros(depth, dtype=np.int64),
        candidates=np.empty((depth, n), dtype=np.int32),
        starts=starts,
        positions=positions,
        counts=np.zeros(n, dtype=np.int64),
        at=np.zeros(1, dtype=np.int64),
        reached=np.zeros(1, dtype=np.int64),
        steps=np.zeros(1, dtype=np.int64),
    )
    walk.n_candidates[0] = n
    walk.candidates[0] = np.arange(n)
    return walk


@compiled
def find_next_rare(walk: Walk, k: int, budget: int, shorter: int) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """Walk on to the next prefix that has extensions with support below ``k``, or until ``budget`` steps are spent.

    Returns ``(items, supports, size)``: the rare itemsets are the first ``size`` items of the prefix, followed by one
    of ``items`` (ascending). No items: the budget was spent, or the walk is over (then ``at`` is -1). Items that have
    died meanwhile are skipped, and a prefix that holds one is left. ``shorter`` says what happens to prefixes on the
    way: ``PASS`` them; report a rare one that nothing extends (``ENDS``); or do not extend a rare one (``PRUNE``).
    """
    depth = len(walk.prefix)
    touched = np.empty(len(walk.alive), dtype=np.int32)
    n_rare = 0
    size = depth
    limit = walk.steps[0] + budget
    d = walk.at[0]
    for earlier in range(d):
        if not walk.alive[walk.prefix[earlier]]:
            d = earlier
            break
    while d >= 0 and n_rare == 0 and walk.steps[0] < limit:
        walk.position[d] += 1
        walk.steps[0] += 1
        if walk.position[d] >= walk.n_candidates[d]:
            d -= 1
            continue
        item = walk.candidates[d, walk.position[d]]
        if not walk.alive[item]:
            continue
        walk.prefix[d] = item
        walk.reached[0] += 1
        if shorter == PRUNE and support_of_prefix(walk, d) < k:
            continue
        if d + 1 < depth:
            deliver_occurrences(walk, d + 1)
            is_end = walk.n_candidates[d + 1] == 0
        else:
            n_touched = count_extensions(walk, touched)
            is_end = True
            for t in range(n_touched):
                found = touched[t]
                is_child = is_unrelated(walk, found, depth)
                is_end &= not is_child
                walk.reached[0] += is_child
                if is_child and walk.alive[found] and walk.counts[found] < k:
                    touched[n_rare] = found
                    n_rare += 1
                else:
                    walk.counts[found] = 0
        if is_end and shorter == ENDS:
            support = support_of_prefix(walk, d)
            if support < k:
                touched[0] = item
                walk.counts[item] = support
                n_rare = 1
                size = d
        if d + 1 < depth:
            d += 1
    walk.at[0] = d
    rare = touched[:n_rare].copy()
    sort_values(rare)
    supports = np.empty(n_rare, dtype=np.int64)
    for j in range(n_rare):
        supports[j] = walk.counts[rare[j]]
        walk.counts[rare[j]] = 0
    return rare, supports, size


@compiled
def collect_rare(walk: Walk, k: int, budget: int, found: NDArray[np.int32]) -> tuple[int, NDArray[np.int64]]:
    """Fill the rows of ``found`` [n, size] with the next rare itemsets that have no rare prefix.

    Returns how many there are and their supports; stops when ``found`` may become full, the budget is spent or the walk
    is over. One prefix has less than ``len(walk.alive)`` extensions, so ``found`` must have more rows than that.
    """
    n_found = 0
    found_supports = np.empty(len(found), dtype=np.int64)
    limit = walk.steps[0] + budget
    while walk.at[0] >= 0 and walk.steps[0] < limit and n_found + len(walk.alive) <= len(found):
        items, supports, size = find_next_rare(walk, k, limit - walk.steps[0], PRUNE)
        for j in range(len(items)):
            for d in range(size):
                found[n_found, d] = walk.prefix[d]
            found[n_found, size] = items[j]
            found_supports[n_found] = supports[j]
            n_found += 1
    return n_found, found_supports[:n_found]


@compiled
def is_unrelated(walk: Walk, item: int, depth: int) -> bool:
    """Whether an item is unrelated to the first ``depth`` items of the prefix."""
    d = 0
    while d < depth and not (
        walk.first[item] < walk.last[walk.prefix[d]] and walk.first[walk.prefix[d]] < walk.last[item]
    ):
        d += 1
    return d == depth


@compiled
def support_of_prefix(walk: Walk, d: int) -> int:
    """In how many records the first ``d + 1`` items of the prefix occur together."""
    j = walk.position[d]
    support = 0
    for p in walk.positions[d, walk.starts[d, j] : walk.starts[d, j + 1]]:
        support += walk.weights[walk.row[p]]
    return support


@compiled
def deliver_occurrences(walk: Walk, depth: int) -> None:
    """Fill depth ``depth`` with the items that may follow the prefix of that size, and where."""
    j = walk.position[depth - 1]
    prefix_positions = walk.positions[depth - 1, walk.starts[depth - 1, j] : walk.starts[depth - 1, j + 1]]
    found, starts, positions = walk.candidates[depth], walk.starts[depth], walk.positions[depth]
    n_found = 0
    for p in prefix_positions:
        end = walk.indptr[walk.row[p] + 1]
        walk.steps[0] += 2 * (end - p)
        for q in range(p + 1, end):
            item = walk.items[q]
            if walk.counts[item] == 0:
                if not is_unrelated(walk, item, depth):
                    continue
                found[n_found] = item
                n_found += 1
            walk.counts[item] += 1
    sort_values(found[:n_found])
    starts[0] = 0
    for f in range(n_found):
        starts[f + 1] = starts[f] + walk.counts[found[f]]
        walk.counts[found[f]] = starts[f] + 1  # now one more than where the next occurrence goes; 0 is "not wanted"
    for p in prefix_positions:
        for q in range(p + 1, walk.indptr[walk.row[p] + 1]):
            item = walk.items[q]
            if walk.counts[item] > 0:
                positions[walk.counts[item] - 1] = q
                walk.counts[item] += 1
    for f in range(n_found):
        walk.counts[found[f]] = 0
    walk.n_candidates[depth] = n_found
    walk.position[depth] = -1


@compiled
def count_extensions(walk: Walk, touched: NDArray[np.int32]) -> int:
    """Add up in ``counts`` the supports of prefix + one later item; returns how many items were ``touched``."""
    last = len(walk.prefix) - 1
    j = walk.position[last]
    n_touched = 0
    for p in walk.positions[last, walk.starts[last, j] : walk.starts[last, j + 1]]:
        row = walk.row[p]
        weight = walk.weights[row]
        end = walk.indptr[row + 1]
        walk.steps[0] += end - p
        for q in range(p + 1, end):
            item = walk.items[q]
            if walk.counts[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            walk.counts[item] += weight
    return n_touched
