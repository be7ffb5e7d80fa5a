# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that list the sets of items whose counts may reveal a small one (``inference.py``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

Numbers = NDArray[np.int64]


@compiled
def find_count(keys: Numbers, counts: Numbers, key: int) -> int:
    """The count of a key in ascending ``keys``; 0 if it is not listed."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return counts[low] if low < len(keys) and keys[low] == key else np.int64(0)


@compiled
def count_parts(
    chosen: Numbers, n_items: int, singles: Numbers, pair_keys: Numbers, pair_counts: Numbers, triple_keys: Numbers,
    triple_counts: Numbers, parts: Numbers,
) -> None:  # fmt: skip
    """The published count of every part of a set (ascending) by its bits; 0 where it is not listed."""
    z = len(chosen)
    for one in range(z):
        parts[1 << one] = singles[chosen[one]]
        for two in range(one + 1, z):
            pair = chosen[one] * n_items + chosen[two]
            parts[1 << one | 1 << two] = find_count(pair_keys, pair_counts, pair)
            for three in range(two + 1, z):
                key = pair * n_items + chosen[three]
                parts[1 << one | 1 << two | 1 << three] = find_count(triple_keys, triple_counts, key)
    if z == 4:
        parts[15] = 0


@compiled
def n_bits(mask: int) -> int:
    """The number of items of a part."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1) + (mask >> 3 & 1)


@compiled
def can_be(z: int, n_records: int, k: int, r: int, parts: Numbers, value: Numbers) -> bool:
    """Whether ``value``, given for parts of three and four items, can be completed: pairs as small as their triples
    allow, items as small as their pairs allow, everything within its interval, unlisted parts with 0 or at least k.
    """
    least = r * -(-k // r)
    total = np.int64(0)
    for size in range(4, 0, -1):
        for mask in range(1, 1 << z):
            if n_bits(mask) != size:
                continue
            need = np.int64(0)
            for above in range(mask + 1, 1 << z):
                if above & mask == mask:
                    need += value[above] if n_bits(above ^ mask) & 1 else -value[above]
            low, high = np.int64(0), np.int64(n_records)
            if parts[mask] > 0:
                high = min(parts[mask] + (r + 1) // 2 - 1, n_records)
                low = min(k if parts[mask] == least else parts[mask] - r // 2, high)
            elif size <= 2:
                high = np.int64(0)
            if size <= 2:
                value[mask] = max(low, need)
            if value[mask] < max(low, need) or value[mask] > high:
                return False
            if parts[mask] == 0 and 0 < value[mask] < k:
                return False
            total += value[mask] if size & 1 else -value[mask]
    return total <= n_records


@compiled
def is_cleared(z: int, n_records: int, k: int, r: int, parts: Numbers) -> bool:
    """Whether counts of all parts can be such that every unlisted part has nobody or at least k people.

    Tried: nobody; one unlisted triple with as many as an item needs; all items together, with two sizes.
    """
    least = r * -(-k // r)
    value, smallest = np.zeros(16, dtype=np.int64), np.zeros(16, dtype=np.int64)
    for mask in range(1, 1 << z):
        if n_bits(mask) == 3 and parts[mask] > 0:
            smallest[mask] = k if parts[mask] == least else parts[mask] - r // 2
    for mask in range(16):
        value[mask] = smallest[mask]
    if can_be(z, n_records, k, r, parts, value):
        return True
    for triple in range(7, 1 << z):
        if n_bits(triple) != 3 or parts[triple] > 0:
            continue
        for extra in range(2):
            people = np.int64(k)
            if extra:  # the pairs of an item are more than its people by this
                for item in range(z):
                    if triple >> item & 1:
                        pairs = np.int64(0)
                        for other in range(z):
                            count = parts[1 << item | 1 << other] if other != item else np.int64(0)
                            pairs += 0 if count == 0 else k if count == least else count - r // 2
                        people = max(people, pairs - parts[1 << item] - (r + 1) // 2 + 1)
            for mask in range(16):
                value[mask] = smallest[mask]
            value[triple] = people
            if can_be(z, n_records, k, r, parts, value):
                return True
    if z < 4:
        return False
    people, most = np.int64(k), np.int64(k)
    for one in range(4):
        for two in range(one + 1, 4):
            pair = 1 << one | 1 << two
            both = np.int64(0)
            for other in range(4):
                if other != one and other != two:
                    both += smallest[pair | 1 << other]
            people = max(people, both - parts[pair] - (r + 1) // 2 + 1)
    for mask in range(16):
        most = max(most, smallest[mask])
    for extra in range(2):
        together = people if extra == 0 else max(people, most)
        for mask in range(16):
            value[mask] = max(smallest[mask], together) if n_bits(mask) == 3 else 0
        value[15] = together
        if can_be(z, n_records, k, r, parts, value):
            return True
    return False


@compiled
def keep_suspects(
    sets: Numbers, n_records: int, n_items: int, k: int, r: int, singles: Numbers, pair_keys: Numbers,
    pair_counts: Numbers, triple_keys: Numbers, triple_counts: Numbers, found: Numbers,
) -> int:  # fmt: skip
    """Put those sets (ascending) that are not cleared into ``found``, each with its counts; how many there are."""
    z = sets.shape[1]
    parts = np.zeros(16, dtype=np.int64)
    n = 0
    for number in range(len(sets)):
        count_parts(sets[number], n_items, singles, pair_keys, pair_counts, triple_keys, triple_counts, parts)
        if not is_cleared(z, n_records, k, r, parts):
            for at in range(16):
                found[n, at] = parts[at]
            for at in range(z):
                found[n, 16 + at] = sets[number, at]
            n += 1
    return n


@compiled
def join_above(
    fixed: Numbers, near: Numbers, needs: Numbers, limit: int, n_more: int, n_items: int, sets: Numbers
) -> int:
    """Sets of ``fixed`` items and ``n_more`` of ``near`` (2 or 3) whose ``needs``, which descend, are together above
    ``limit``; where two are enough for that, every third item goes with them. How many there are, which may be more
    than there is room for.
    """
    n = 0
    base = len(fixed)
    for one in range(len(near)):
        for two in range(one + 1, len(near)):
            both = needs[one] + needs[two]
            if both > limit:
                first, last = (0, n_items) if n_more == 3 else (0, 1)
            elif n_more == 3 and two + 1 < len(near) and both + needs[two + 1] > limit:
                first, last = two + 1, len(near)
            else:
                break
            for at in range(first, last):
                third = at if both > limit else near[at]
                if both <= limit and both + needs[at] <= limit:
                    break
                if n_more == 3 and (third == near[one] or third == near[two] or third == fixed[0]):
                    continue
                if n < len(sets):
                    for place in range(base):
                        sets[n, place] = fixed[place]
                    sets[n, base], sets[n, base + 1] = near[one], near[two]
                    if n_more == 3:
                        sets[n, base + 2] = third
                n += 1
    return n


@compiled
def join_large(order: Numbers, highs: Numbers, limit: int, z: int, first: int, sets: Numbers) -> int:
    """Sets of ``order[first]`` and ``z - 1`` items after it whose ``highs``, which descend, are together above
    ``limit``; how many there are.
    """
    n, n_items = 0, len(order)
    for two in range(first + 1, n_items):
        if highs[first] + (z - 1) * highs[two] <= limit:
            break
        for three in range(two + 1, n_items):
            if highs[first] + highs[two] + (z - 2) * highs[three] <= limit:
                break
            for four in range(three + 1, n_items) if z == 4 else range(1):
                if z == 4 and highs[first] + highs[two] + highs[three] + highs[four] <= limit:
                    break
                if n < len(sets):
                    sets[n, 0], sets[n, 1], sets[n, 2] = order[first], order[two], order[three]
                    if z == 4:
                        sets[n, 3] = order[four]
                n += 1
    return n
