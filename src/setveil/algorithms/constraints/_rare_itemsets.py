"""Itemsets of a given size that occur, but too rarely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.constraints._clusters import Clusters, Ints, Slots
from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown
from setveil.arrays.sorting import sort_values


@compiled
def list_rare_itemsets(clusters: Clusters, size: int, k: int, most: int) -> NDArray[np.int32]:
    """Sets of ``size`` live slots in 1 … k - 1 records, int32[n_found, size]; stops when there are ``most`` or more."""
    records = clusters.records
    starts = np.zeros(len(records.start) + 1, dtype=np.int64)
    for row in range(len(records.start)):
        starts[row + 1] = starts[row] + records.end[row] - records.start[row]
    members = np.empty(starts[-1], dtype=np.int32)
    for row in range(len(records.start)):
        for place in range(records.end[row] - records.start[row]):
            members[starts[row] + place] = records.members[records.start[row] + place]
        sort_values(members[starts[row] : starts[row + 1]])
    return list_rare_in_rows(starts, members, clusters.weight, len(clusters.first), size, k, most)


@compiled
def list_rare_in_rows(
    starts: Ints, members: Slots, weight: Ints, n_slots: int, size: int, k: int, most: int
) -> NDArray[np.int32]:
    """The same for sorted rows and a size of at least 2: depth first over prefixes, each with the rows that have it."""
    found = np.empty(1024 * size, dtype=np.int32)  # itemset after itemset
    n_found = 0
    count = np.zeros(n_slots, dtype=np.int64)
    prefix = np.empty(size, dtype=np.int32)
    # A frame per item of the prefix: slots that can stand there, the rows with each, and where in the row it is.
    slots = [np.empty(0, dtype=np.int32) for _ in range(size - 1)]
    bounds = [np.empty(0, dtype=np.int64) for _ in range(size - 1)]
    rows = [np.empty(0, dtype=np.int32) for _ in range(size - 1)]
    positions = [np.empty(0, dtype=np.int64) for _ in range(size - 1)]
    cursor = np.zeros(size - 1, dtype=np.int64)
    slots[0], bounds[0], rows[0], positions[0] = _split_rows(
        starts, members, np.arange(len(starts) - 1).astype(np.int32), starts[:-1] - 1, count
    )
    depth = 0
    while depth >= 0:
        if cursor[depth] == len(slots[depth]) or n_found >= most:
            depth -= 1
            continue
        at = cursor[depth]
        cursor[depth] += 1
        prefix[depth] = slots[depth][at]
        here = rows[depth][bounds[depth][at] : bounds[depth][at + 1]]
        after = positions[depth][bounds[depth][at] : bounds[depth][at + 1]]
        if depth < size - 2:
            depth += 1
            cursor[depth] = 0
            slots[depth], bounds[depth], rows[depth], positions[depth] = _split_rows(
                starts, members, here, after, count
            )
            continue
        for number in range(len(here)):
            for place in range(after[number] + 1, starts[here[number] + 1]):
                count[members[place]] += weight[here[number]]
        for number in range(len(here)):
            for place in range(after[number] + 1, starts[here[number] + 1]):
                last = members[place]
                if 0 < count[last] < k:
                    if (n_found + 1) * size > len(found):
                        found = grown(found, (n_found + 1) * size)
                    for position in range(size - 1):
                        found[n_found * size + position] = prefix[position]
                    found[n_found * size + size - 1] = last
                    n_found += 1
                count[last] = 0
    return found[: n_found * size].copy().reshape(n_found, size)


@compiled
def _split_rows(
    starts: Ints, members: Slots, rows: Slots, positions: Ints, count: Ints
) -> tuple[Slots, Ints, Slots, Ints]:
    """The slots behind the given positions, ascending; for each, the rows and positions where it is. ``count`` is zero
    scratch.
    """
    n_found = 0
    total = np.int64(0)
    for number in range(len(rows)):
        for place in range(positions[number] + 1, starts[rows[number] + 1]):
            n_found += 1 if count[members[place]] == 0 else 0
            count[members[place]] += 1
            total += 1
    slots = np.empty(n_found, dtype=np.int32)
    n_found = 0
    for number in range(len(rows)):
        for place in range(positions[number] + 1, starts[rows[number] + 1]):
            if count[members[place]] > 0:
                slots[n_found] = members[place]
                n_found += 1
                count[members[place]] *= -1
    sort_values(slots)
    bounds = np.zeros(n_found + 1, dtype=np.int64)
    for number in range(n_found):
        bounds[number + 1] = bounds[number] - count[slots[number]]
        count[slots[number]] = bounds[number]
    split_rows = np.empty(total, dtype=np.int32)
    split_positions = np.empty(total, dtype=np.int64)
    for number in range(len(rows)):
        for place in range(positions[number] + 1, starts[rows[number] + 1]):
            at = count[members[place]]
            split_rows[at] = rows[number]
            split_positions[at] = place
            count[members[place]] += 1
    for slot in slots:
        count[slot] = 0
    return slots, bounds, split_rows, split_positions
