# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that list the sets of items whose counts may reveal a small one (``inference.py``).

``of_items`` int64[n_items, 2]: the published count of each item, and 1 if it has changed. ``table`` int64[slots, 2]:
keys and counts of pairs and triples. ``numbers``: n_records, the size of the sets, k, r, the most people of an unlisted
triple that is not as frequent as a pair, how many sets were looked at, and how many may be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

Numbers = NDArray[np.int64]
Flags = NDArray[np.uint8]
SIZE, LOOKED, MOST = 1, 5, 6  # places in ``numbers``


@compiled
def find_key(table: Numbers, key: int) -> int:
    """The place of a key in a table whose size is a power of two, or the empty place where it belongs."""
    mask = np.uint64(len(table) - 1)
    place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)
    at = np.int64(place & mask)
    while table[at, 0] >= 0 and table[at, 0] != key:
        at = np.int64(np.uint64(at + 1) & mask)
    return at


@compiled
def enter_counts(keys: Numbers, counts: Numbers, table: Numbers) -> None:
    """Put counts into a table that is less than half full; empty keys are -1."""
    for number in range(len(keys)):
        at = find_key(table, keys[number])
        table[at, 0], table[at, 1] = keys[number], counts[number]


@compiled
def count_parts(chosen: Numbers, of_items: Numbers, table: Numbers, parts: Numbers) -> None:
    """The published count of every part of a set (ascending) by its bits; 0 where it is not listed."""
    z, n_items = len(chosen), len(of_items)
    for one in range(z):
        parts[1 << one] = of_items[chosen[one], 0]
        for two in range(one + 1, z):
            pair = chosen[one] * n_items + chosen[two]
            at = find_key(table, pair)
            parts[1 << one | 1 << two] = table[at, 1] if table[at, 0] >= 0 else 0
    for one in range(z):
        for two in range(one + 1, z):
            is_pair = parts[1 << one | 1 << two] > 0
            for three in range(two + 1, z):
                triple = 1 << one | 1 << two | 1 << three
                parts[triple] = 0
                if is_pair and parts[1 << two | 1 << three] > 0:
                    key = ((chosen[one] + 1) * n_items + chosen[two]) * n_items + chosen[three]
                    at = find_key(table, key)
                    parts[triple] = table[at, 1] if table[at, 0] >= 0 else 0


@compiled
def can_be(z: int, n_records: int, parts: Numbers, low: Numbers, high: Numbers, value: Numbers) -> bool:
    """Whether ``value``, given for parts of three and four items, can be completed: pairs as small as their triples
    allow, items as small as their pairs allow, everything within its interval, unlisted pairs with nobody.
    """
    total, of_all = np.int64(0), np.int64(0)
    if z == 4:
        of_all = value[15]
        total = -of_all
    for one in range(z):
        value[1 << one] = of_all
    for one in range(z):
        for two in range(one + 1, z):
            pair = 1 << one | 1 << two
            need = -of_all
            for other in range(z):
                if not pair >> other & 1:
                    need += value[pair | 1 << other]
            if need > high[pair] or (need > 0 and parts[pair] == 0):
                return False
            people = max(need, low[pair])
            total -= people
            value[1 << one] += people
            value[1 << two] += people
    for triple in range(7, 1 << z):
        if triple == 7 or triple == 11 or triple == 13 or triple == 14:
            total += value[triple]
            for one in range(z):
                if triple >> one & 1:
                    value[1 << one] -= value[triple]
    for one in range(z):
        if value[1 << one] > high[1 << one]:
            return False
        total += max(value[1 << one], low[1 << one])
    return total <= n_records


@compiled
def least_people(triple: int, numbers: Numbers, low: Numbers) -> int:
    """A number of at least k people from which on an unlisted triple can have any."""
    fewest = np.int64(1 << 62)
    for item in range(4):
        if triple >> item & 1:
            fewest = min(fewest, low[triple ^ 1 << item])
    return max(fewest, numbers[2]) if numbers[4] < numbers[0] else numbers[2]


@compiled
def are_together(n_records: int, numbers: Numbers, parts: Numbers, low: Numbers, high: Numbers, value: Numbers) -> bool:
    """Whether at least k people can have all four items. ``low`` of unlisted triples is changed."""
    fewest, rarest, most = numbers[2], np.int64(n_records), np.int64(n_records)
    for one in range(4):
        triple = 15 ^ 1 << one
        if parts[triple] > 0:
            most = min(most, high[triple])
        elif numbers[4] < numbers[0]:
            low[triple] = least_people(triple, numbers, low)
    for one in range(4):
        for two in range(one + 1, 4):
            pair = 1 << one | 1 << two
            if parts[pair] == 0:
                return False
            rarest, most = min(rarest, low[pair]), min(most, high[pair])
            fewest = max(fewest, low[15 ^ 1 << one] + low[15 ^ 1 << two] - high[15 ^ pair])
    for attempt in range(3):
        together = fewest if attempt == 0 else max(fewest, min(rarest, most)) if attempt == 1 else most
        if together < fewest or together > most:
            continue
        for first in range(5):
            for one in range(4):
                value[15 ^ 1 << one] = max(low[15 ^ 1 << one], together)
            value[15] = together
            if first > 0:
                raise_triples(n_records, numbers, parts, low, high, value, first - 1)
            if can_be(4, n_records, parts, low, high, value):
                return True
    return False


@compiled
def raise_triples(
    n_records: int, numbers: Numbers, parts: Numbers, low: Numbers, high: Numbers, value: Numbers, first: int
) -> None:
    """Give triples of four items as many people as they can have while no pair needs more than its lower end, one after
    the other from ``first`` on: items then need fewer people, because pairs share them. Unlisted triples that would
    have few get nobody.
    """
    for turn in range(4):
        triple = 15 ^ 1 << (first + turn & 3)
        most = high[triple] if parts[triple] > 0 else np.int64(n_records)
        for item in range(4):
            if triple >> item & 1:  # the pair without it is in one other triple
                most = min(most, low[triple ^ 1 << item] + value[15] - value[15 ^ 1 << item])
        if most > value[triple] and (parts[triple] > 0 or most >= least_people(triple, numbers, low)):
            value[triple] = most


@compiled
def is_cleared(
    z: int, n_records: int, numbers: Numbers, parts: Numbers, low: Numbers, high: Numbers, value: Numbers
) -> bool:
    """Whether counts of all parts can be such that every unlisted part has nobody or at least k people; an
    unlisted triple then has about as many as its rarest pair.

    Tried: nobody; one unlisted triple with as many as an item needs; all items together: as few as the pairs allow, as
    many as the rarest pair has at least, and as many as the pairs allow. ``low``, ``high`` and ``value`` are room.
    """
    k, r = numbers[2], numbers[3]
    least = r * -(-k // r)
    for mask in range(1, 1 << z):
        low[mask], high[mask] = 0, 0
        if parts[mask] > 0:
            high[mask] = min(parts[mask] + (r + 1) // 2 - 1, n_records)
            low[mask] = min(k if parts[mask] == least else parts[mask] - r // 2, high[mask])
    if z == 4 and are_together(n_records, numbers, parts, low, high, value):
        return True
    for triple in range(7, 1 << z):
        if parts[triple] == 0:
            low[triple] = 0
        value[triple] = low[triple]
    if can_be(z, n_records, parts, low, high, value):
        return True
    for first in range(4 if z == 4 else 0):
        for triple in range(7, 15):
            value[triple] = low[triple]
        value[15] = 0
        raise_triples(n_records, numbers, parts, low, high, value, first)
        if can_be(z, n_records, parts, low, high, value):
            return True
    for triple in range(7, 1 << z):
        value[triple] = low[triple]
    for triple in range(7, (1 << z) - (1 if z == 4 else 0)):
        if parts[triple] > 0 or (triple != 7 and triple != 11 and triple != 13 and triple != 14):
            continue
        fewest = least_people(triple, numbers, low)
        people = fewest
        for item in range(z):  # the pairs of an item are more than its people by this
            if triple >> item & 1:
                pairs = -high[1 << item]
                for other in range(z):
                    if other != item:
                        pairs += low[1 << item | 1 << other]
                people = max(people, pairs)
        for wanted in (fewest, people):
            value[triple] = wanted
            if can_be(z, n_records, parts, low, high, value):
                return True
        value[triple] = 0
    return False


@compiled
def keep_suspect(
    chosen: Numbers, numbers: Numbers, of_items: Numbers, table: Numbers, found: Numbers, n: int, work: Numbers
) -> int:
    """Put a set with its counts into ``found`` as row ``n`` if it is not cleared, as far as there is room; how many
    rows there are then. Sets with fewer than two changed items are passed over.
    """
    z, n_changed = len(chosen), 0
    for one in range(z):
        n_changed += of_items[chosen[one], 1]
    if n_changed < 2:
        return n
    numbers[LOOKED] += 1
    ordered, parts = work[0, :z], work[1]
    for one in range(z):
        ordered[one] = chosen[one]
    for one in range(1, z):
        at = one
        while at > 0 and ordered[at - 1] > ordered[at]:
            ordered[at - 1], ordered[at] = ordered[at], ordered[at - 1]
            at -= 1
    count_parts(ordered, of_items, table, parts)
    if is_cleared(z, numbers[0], numbers, parts, work[2], work[3], work[4]):
        return n
    if n < len(found):
        for at in range(16):
            found[n, at] = parts[at]
        for at in range(z):
            found[n, 16 + at] = ordered[at]
    return n + 1


@compiled
def join_above(
    fixed: Numbers,
    rows: Numbers,
    bounds: Numbers,
    near: Numbers,
    limits: Numbers,
    numbers: Numbers,
    of_items: Numbers,
    table: Numbers,
    found: Numbers,
) -> int:
    """Suspects of some rows of ``fixed``: its items and others of ``near[bounds[row]:…, 0]`` whose needs
    ``near[…, 1]``, which descend, are together above ``limits[row]``; where two are enough for that, every third item
    goes with them.
    """
    n, base, z = 0, fixed.shape[1], numbers[SIZE]
    chosen, work = np.zeros(z, dtype=np.int64), np.zeros((5, 16), dtype=np.int64)
    is_near = np.zeros(len(of_items), dtype=np.uint8)
    for row in rows:
        limit, end = limits[row], bounds[row + 1]
        for place in range(base):
            chosen[place] = fixed[row, place]
        for one in range(bounds[row], end):
            for two in range(one + 1, end):
                if numbers[LOOKED] > numbers[MOST]:
                    return n
                both = near[one, 1] + near[two, 1]
                chosen[base], chosen[base + 1] = near[one, 0], near[two, 0]
                if z == base + 2:
                    if both <= limit:
                        break
                    n = keep_suspect(chosen, numbers, of_items, table, found, n, work)
                elif both > limit:
                    mark_near(chosen, bounds, near, numbers, of_items, table, is_near, work)
                    for third in range(len(of_items)):
                        if is_near[third] and third != near[one, 0] and third != near[two, 0] and third != chosen[0]:
                            chosen[base + 2] = third
                            n = keep_suspect(chosen, numbers, of_items, table, found, n, work)
                elif two + 1 < end and both + near[two + 1, 1] > limit:
                    for at in range(two + 1, end):
                        if both + near[at, 1] <= limit:
                            break
                        chosen[base + 2] = near[at, 0]
                        n = keep_suspect(chosen, numbers, of_items, table, found, n, work)
                else:
                    break
    return n


@compiled
def mark_near(
    chosen: Numbers,
    bounds: Numbers,
    near: Numbers,
    numbers: Numbers,
    of_items: Numbers,
    table: Numbers,
    is_near: Flags,
    work: Numbers,
) -> None:
    """Which items can make a suspect of the first three of ``chosen``: all, or those with a listed pair.

    If three items are cleared, and as many people are left as the most frequent item has, then an item without a listed
    pair is nobody's but theirs.
    """
    ordered, most = chosen[:3].copy(), np.int64(0)
    for first, second in ((0, 1), (1, 2), (0, 1)):
        if ordered[first] > ordered[second]:
            ordered[first], ordered[second] = ordered[second], ordered[first]
    for item in range(len(of_items)):
        most = max(most, of_items[item, 0])
    count_parts(ordered, of_items, table, work[1])
    n_left = numbers[0] - most - numbers[3]
    is_enough = n_left > 0 and is_cleared(3, n_left, numbers, work[1], work[2], work[3], work[4])
    for item in range(len(of_items)):
        is_near[item] = not is_enough
    if is_enough:
        for item in ordered:
            for at in range(bounds[item], bounds[item + 1]):
                is_near[near[at, 0]] = 1


@compiled
def join_large(
    order: Numbers, highs: Numbers, first: int, numbers: Numbers, of_items: Numbers, table: Numbers, found: Numbers
) -> int:
    """Suspects of ``order[first]`` and ``z - 1`` items after it whose ``highs``, which descend, are together above the
    number of records.
    """
    n, n_items, limit, z = 0, len(order), numbers[0], numbers[SIZE]
    chosen, work = np.zeros(z, dtype=np.int64), np.zeros((5, 16), dtype=np.int64)
    chosen[0] = order[first]
    for two in range(first + 1, n_items):
        if highs[first] + (z - 1) * highs[two] <= limit:
            break
        chosen[1] = order[two]
        for three in range(two + 1, n_items):
            if highs[first] + highs[two] + (z - 2) * highs[three] <= limit or numbers[LOOKED] > numbers[MOST]:
                break
            chosen[2] = order[three]
            if z == 3:
                n = keep_suspect(chosen, numbers, of_items, table, found, n, work)
                continue
            for four in range(three + 1, n_items):
                if highs[first] + highs[two] + highs[three] + highs[four] <= limit:
                    break
                chosen[3] = order[four]
                n = keep_suspect(chosen, numbers, of_items, table, found, n, work)
    return n
