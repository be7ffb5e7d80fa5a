# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""The itemsets that enough records could show, numbered as a trie: a set is its first items and one more.

Set ``i`` below ``n_items`` is the single item ``i``. A larger set is found by hashing ``(number of the set without its
last item, last item)``. Every subset of a set that k records hold is held by k records, too, so prefixes are always
there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

FREE = -1
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Sets(NamedTuple):
    """A hash table from (prefix, item) to the number of a set, and what each number means."""

    keys: NDArray[np.int64]  # [2^bits] prefix * n_items + item, FREE where nothing is
    numbers: NDArray[np.int32]  # [2^bits] the set's number, or a count while counting
    prefix: NDArray[np.int32]  # [n_sets] the set without its last item, -1 for single items
    last: NDArray[np.int32]  # [n_sets]
    support: NDArray[np.int32]  # [n_sets] rows that hold a set in the original
    n_items: int
    shift: np.uint64  # 64 - bits


@compiled
def shift_for(capacity: int) -> np.uint64:
    """By how much a 64-bit hash is shifted to the right to fall into a table of 2^bits places."""
    bits = 0
    while (1 << bits) < capacity:
        bits += 1
    return np.uint64(64 - bits)


@compiled
def find_place(keys: NDArray[np.int64], shift: np.uint64, key: int) -> int:
    """Where a key stands, or the free place where it would."""
    place = np.int64((np.uint64(key) * MULTIPLIER) >> shift)
    last = len(keys) - 1
    while keys[place] != key and keys[place] != FREE:
        place = (place + 1) & last
    return place


@compiled
def look_up(keys: NDArray[np.int64], numbers: NDArray[np.int32], shift: np.uint64, key: int) -> int:
    """The number of the set with a key, -1 if there is none. For inner loops: handing on all of ``Sets`` costs more."""
    place = find_place(keys, shift, key)
    return numbers[place] if keys[place] != FREE else -1


@compiled
def find_set(sets: Sets, prefix: int, item: int) -> int:
    """The number of a set with one more item, larger than those it has; -1 if fewer than k records hold it."""
    return look_up(sets.keys, sets.numbers, sets.shift, np.int64(prefix) * sets.n_items + item)


@compiled
def count_extensions(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    sets: Sets,
    size: int,
    table: tuple[NDArray[np.int64], NDArray[np.int32]],
    state: NDArray[np.int64],
    budget: int,
) -> None:
    """Count how many rows hold each known set of ``size`` - 1 items with one more, from row ``state[0]`` on.

    ``state`` is [next row, keys in use, room needed for the next row, steps so far]. Stops before a row for which the
    table may be too small, and after ``budget`` steps.
    """
    keys, counts = table
    shift = shift_for(len(keys))
    at = np.zeros(size + 1, dtype=np.int64)
    number = np.zeros(size + 1, dtype=np.int64)
    steps = 0
    while state[0] < len(indptr) - 1 and steps < budget:
        start, end = indptr[state[0]], indptr[state[0] + 1]
        most = 1.0
        for chosen in range(size):
            most = most * (end - start - chosen) / (chosen + 1)
        state[2] = state[1] + (int(most) if most < len(keys) // 8 else _count_visits(items, sets, size, start, end))
        if state[2] > len(keys) * 5 // 8:
            break
        depth = 1
        at[1] = start - 1
        while depth > 0:
            at[depth] += 1
            if at[depth] >= end:
                depth -= 1
                continue
            steps += 1
            item = items[at[depth]]
            if depth < size:
                number[depth] = item if depth == 1 else find_set(sets, number[depth - 1], item)
                if number[depth] >= 0:
                    depth += 1
                    at[depth] = at[depth - 1]
                continue
            key = number[depth - 1] * sets.n_items + item
            place = find_place(keys, shift, key)
            if keys[place] == FREE:
                keys[place] = key
                state[1] += 1
            counts[place] += 1
        state[0] += 1
    state[3] += steps


@compiled
def _count_visits(items: NDArray[np.int32], sets: Sets, size: int, start: int, end: int) -> int:
    """How many sets ``count_extensions`` looks at in a row."""
    at = np.zeros(size + 1, dtype=np.int64)
    number = np.zeros(size + 1, dtype=np.int64)
    depth, visits = 1, 0
    at[1] = start - 1
    while depth > 0:
        at[depth] += 1
        if at[depth] >= end:
            depth -= 1
        elif depth == size:
            visits += end - at[depth]
            at[depth] = end
        else:
            item = items[at[depth]]
            number[depth] = item if depth == 1 else find_set(sets, number[depth - 1], item)
            if number[depth] >= 0:
                depth += 1
                at[depth] = at[depth - 1]
    return visits


@compiled
def move_keys(
    keys: NDArray[np.int64], counts: NDArray[np.int32], new_keys: NDArray[np.int64], new_counts: NDArray[np.int32]
) -> None:
    """Enter everything into another, empty table."""
    shift = shift_for(len(new_keys))
    for place in range(len(keys)):
        if keys[place] != FREE:
            target = find_place(new_keys, shift, keys[place])
            new_keys[target] = keys[place]
            new_counts[target] = counts[place]


@compiled
def list_items(sets: Sets, number: int, items: NDArray[np.int64]) -> int:
    """Write the items of a set into ``items``, largest first; how many there are."""
    size = 0
    while number >= 0:
        items[size] = sets.last[number]
        size += 1
        number = sets.prefix[number]
    return size
