"""Counting itemsets over weighted rows of ordered items.

Rows are CSR with ascending item numbers: callers number the items in the order in which they want itemsets visited, so a
row's later items are its suffix. ``Walk`` is the state of a depth-first walk over prefixes; it lives between calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.compile import compiled

Csr = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items


@compiled
def count_node_supports(
    indptr: NDArray[np.int64], items: NDArray[np.int32], weights: NDArray[np.int64], parent: NDArray[np.int32]
) -> NDArray[np.int64]:
    """In how many records each node of a tree has a leaf: int64[n_nodes]. ``items`` are leaves."""
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
def recode_rows(indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32]) -> Csr:
    """Replace every item by its target (-1: drop it), sort each row and keep repeats once. Returns CSR."""
    n_rows = len(indptr) - 1
    new_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    new_items = np.empty(len(items), dtype=np.int32)
    end = 0
    for row in range(n_rows):
        start = end
        for place in range(indptr[row], indptr[row + 1]):
            if target[items[place]] >= 0:
                new_items[end] = target[items[place]]
                end += 1
        new_items[start:end].sort()
        kept = start
        for place in range(start, end):
            if kept == start or new_items[place] != new_items[kept - 1]:
                new_items[kept] = new_items[place]
                kept += 1
        end = kept
        new_indptr[row + 1] = end
    return new_indptr, new_items[:end].copy()


@compiled
def merge_equal_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], weights: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Keep each distinct non-empty row once, where it first occurs, with the sum of the weights. Returns CSR and weights."""
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
        code = np.uint64(size)
        for offset in range(size):
            code = (code ^ np.uint64(items[start + offset])) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        slot = np.int64(code & np.uint64(n_slots - 1))
        while slots[slot] >= 0:
            other = slots[slot]
            begin = new_indptr[other]
            if new_indptr[other + 1] - begin == size:
                same = True
                for offset in range(size):
                    if new_items[begin + offset] != items[start + offset]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + 1) & (n_slots - 1)
        if slots[slot] < 0:
            slots[slot] = n_new
            begin = new_indptr[n_new]
            new_items[begin : begin + size] = items[start : start + size]
            n_new += 1
            new_indptr[n_new] = begin + size
        new_weights[slots[slot]] += weights[row]
    return new_indptr[: n_new + 1].copy(), new_items[: new_indptr[n_new]].copy(), new_weights[:n_new].copy()


@compiled
def expand_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], parent: NDArray[np.int32], number: NDArray[np.int32]
) -> Csr:
    """Add to each row all ancestors of its nodes, renumber by ``number`` (-1: leave out), sort. Returns CSR.

    ``items`` are nodes. Two passes: measure, then fill, so that nothing is allocated twice.
    """
    n_rows = len(indptr) - 1
    seen_in = np.full(len(parent), -1, dtype=np.int64)
    new_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for row in range(n_rows):
        size = 0
        for place in range(indptr[row], indptr[row + 1]):
            node = items[place]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                if number[node] >= 0:
                    size += 1
                node = parent[node]
        new_indptr[row + 1] = new_indptr[row] + size
    new_items = np.empty(new_indptr[n_rows], dtype=np.int32)
    seen_in[:] = -1
    for row in range(n_rows):
        end = new_indptr[row]
        for place in range(indptr[row], indptr[row + 1]):
            node = items[place]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                if number[node] >= 0:
                    new_items[end] = number[node]
                    end += 1
                node = parent[node]
        new_items[new_indptr[row] : end].sort()
    return new_indptr, new_items


class Walk(NamedTuple):
    """A depth-first walk over the prefixes (size ``depth``) of the itemsets of size ``depth + 1``, in lexicographic order.

    ``n`` is the number of items, ``z`` the number of occurrences. At depth ``d`` the walk holds the items that may follow
    the first ``d`` items of the prefix, and the occurrences of each of them in rows that contain those.
    """

    indptr: NDArray[np.int64]  # [rows + 1]
    items: NDArray[np.int32]  # [z] ascending in each row
    weights: NDArray[np.int64]  # [rows]
    row: NDArray[np.int32]  # [z] the row of each occurrence
    first: NDArray[np.int32]  # [n] items a and b are related if their runs first..last are nested
    last: NDArray[np.int32]  # [n]
    alive: NDArray[np.bool_]  # [n] the caller may take items out at any time
    prefix: NDArray[np.int32]  # [depth]
    position: NDArray[np.int64]  # [depth] which candidate the prefix holds at each depth; -1 before the first
    n_candidates: NDArray[np.int64]  # [depth]
    candidates: NDArray[np.int32]  # [depth, n] ascending
    starts: NDArray[np.int64]  # [depth, n + 1] candidate j's occurrences are places[d, starts[d, j]:starts[d, j + 1]]
    places: NDArray[np.int64]  # [depth, z] positions in ``items``
    counts: NDArray[np.int64]  # [n] all zero between calls
    at: NDArray[np.int64]  # [1] the depth the walk is at; -1 when it is over
    reached: NDArray[np.int64]  # [1] how many itemsets, prefixes included, were counted so far


def start_walk(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.int64],
    runs: tuple[NDArray[np.int32], NDArray[np.int32]],
    depth: int,
) -> Walk:
    """A walk before its first step. ``runs`` are (first, last) of every item."""
    n, z = len(runs[0]), len(items)
    walk = Walk(
        indptr,
        items,
        weights,
        np.repeat(np.arange(len(weights), dtype=np.int32), np.diff(indptr)),
        runs[0],
        runs[1],
        alive=np.ones(n, dtype=np.bool_),
        prefix=np.full(depth, -1, dtype=np.int32),
        position=np.full(depth, -1, dtype=np.int64),
        n_candidates=np.zeros(depth, dtype=np.int64),
        candidates=np.zeros((depth, n), dtype=np.int32),
        starts=np.zeros((depth, n + 1), dtype=np.int64),
        places=np.zeros((depth, z), dtype=np.int64),
        counts=np.zeros(n, dtype=np.int64),
        at=np.zeros(1, dtype=np.int64),
        reached=np.zeros(1, dtype=np.int64),
    )
    walk.candidates[0] = np.arange(n)
    walk.n_candidates[0] = n
    np.cumsum(np.bincount(items, minlength=n), out=walk.starts[0, 1:])
    walk.places[0] = np.argsort(items, kind="stable")
    return walk


@compiled
def is_free(walk: Walk, item: int, depth: int) -> bool:
    """Whether an item is alive and unrelated to the first ``depth`` items of the prefix."""
    if not walk.alive[item]:
        return False
    for d in range(depth):
        other = walk.prefix[d]
        if walk.first[item] < walk.last[other] and walk.first[other] < walk.last[item]:
            return False
    return True


@compiled
def deliver_occurrences(walk: Walk, depth: int) -> int:
    """Fill depth ``depth`` with the items that follow the prefix of that size. Returns the number of steps taken."""
    j = walk.position[depth - 1]
    places = walk.places[depth - 1, walk.starts[depth - 1, j] : walk.starts[depth - 1, j + 1]]
    found = walk.candidates[depth]
    n_found = 0
    steps = 0
    for p in places:
        end = walk.indptr[walk.row[p] + 1]
        steps += end - p
        for q in range(p + 1, end):
            item = walk.items[q]
            if walk.counts[item] == 0:
                found[n_found] = item
                n_found += 1
            walk.counts[item] += 1
    n_kept = 0
    for f in range(n_found):
        item = found[f]
        if is_free(walk, item, depth):
            found[n_kept] = item
            n_kept += 1
        else:
            walk.counts[item] = -1
    n_dropped = n_found - n_kept
    found[:n_kept].sort()
    starts = walk.starts[depth]
    starts[0] = 0
    for f in range(n_kept):
        starts[f + 1] = starts[f] + walk.counts[found[f]]
        walk.counts[found[f]] = starts[f]  # now: where the next occurrence goes
    for p in places:
        for q in range(p + 1, walk.indptr[walk.row[p] + 1]):
            item = walk.items[q]
            if walk.counts[item] >= 0:
                walk.places[depth, walk.counts[item]] = q
                walk.counts[item] += 1
    if n_dropped:
        for p in places:
            for q in range(p + 1, walk.indptr[walk.row[p] + 1]):
                walk.counts[walk.items[q]] = 0
    else:
        for f in range(n_kept):
            walk.counts[found[f]] = 0
    walk.n_candidates[depth] = n_kept
    walk.position[depth] = -1
    return steps


@compiled
def count_extensions(walk: Walk, touched: NDArray[np.int32], depth: int) -> tuple[int, int]:
    """Add up in ``counts`` the supports of prefix + one later item; returns how many items were ``touched``, and steps."""
    j = walk.position[depth - 1]
    n_touched = 0
    steps = 0
    for p in walk.places[depth - 1, walk.starts[depth - 1, j] : walk.starts[depth - 1, j + 1]]:
        row = walk.row[p]
        weight = walk.weights[row]
        end = walk.indptr[row + 1]
        steps += end - p
        for q in range(p + 1, end):
            item = walk.items[q]
            if walk.counts[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            walk.counts[item] += weight
    return n_touched, steps


@compiled
def find_next_rare(walk: Walk, k: int, budget: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Walk on to the next prefix that has extensions with support below ``k``, or until ``budget`` steps are spent.

    Returns ``(items, supports)`` of those extensions, ascending; both empty when the budget was spent or the walk is over
    (then ``at`` is -1). Items that have died meanwhile are skipped, and a prefix that holds one is left.
    """
    depth = len(walk.prefix)
    touched = np.empty(len(walk.alive), dtype=np.int32)
    d = walk.at[0]
    for earlier in range(d):
        if not walk.alive[walk.prefix[earlier]]:
            d = earlier
            break
    while d >= 0:
        walk.position[d] += 1
        if walk.position[d] >= walk.n_candidates[d]:
            d -= 1
            continue
        item = walk.candidates[d, walk.position[d]]
        if not walk.alive[item]:
            continue
        walk.prefix[d] = item
        walk.reached[0] += 1
        if d + 1 < depth:
            d += 1
            budget -= deliver_occurrences(walk, d)
            continue
        n_touched, steps = count_extensions(walk, touched, depth)
        budget -= steps
        n_rare = 0
        for t in range(n_touched):
            found = touched[t]
            free = is_free(walk, found, depth)
            walk.reached[0] += free
            if free and walk.counts[found] < k:
                touched[n_rare] = found
                n_rare += 1
            else:
                walk.counts[found] = 0
        if n_rare:
            rare = np.sort(touched[:n_rare])
            supports = walk.counts[rare]
            walk.counts[rare] = 0
            walk.at[0] = d
            return rare, supports
        if budget <= 0:
            break
    walk.at[0] = d
    return touched[:0].copy(), walk.counts[:0].copy()
