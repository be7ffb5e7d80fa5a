# mypy: disable-error-code="arg-type, assignment, return-value"
"""Which few items of a record fewest other records share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import Lists, Postings, popcount, set_bits
from setveil.arrays.sorting import stable_order

MOST_ITEMS = 62  # of a record that are tried, the rarest ones: each is one bit of a word
_FEW = 12  # items whose combinations are counted in a table


@compiled
def choose_items(
    postings: Postings,
    supports: NDArray[np.int64],
    own: Lists,
    patience: int,
    first: int,
    last: int,
    least: NDArray[np.int64],
    chosen: NDArray[np.int32],
) -> None:
    """For the targets ``first:last`` the smallest support of up to ``size`` of the items ``own`` of each; ``supports``:
    those of single items. ``size`` is the width of ``chosen``.

    Writes that support to ``least`` and items that have it to ``chosen`` (-1 where fewer are enough). A target without
    items has the number of all records. The search for one target ends after ``patience`` steps, with the best so far.

    No combination has a smaller support than all items together, so the search ends where this support is found. Only
    records with ``size`` of the items matter: they are found for 64 records at once.
    """
    own_indptr, own_items = own
    size = chosen.shape[1]
    for target in range(first, last):
        mine = own_items[own_indptr[target] : own_indptr[target + 1]]
        mine = mine[stable_order(supports[mine])][:MOST_ITEMS]  # the rarest first
        n, need = len(mine), min(size, len(mine))
        if need < 2:
            least[target] = supports[mine[0]] if need else postings.n_records
            for at in range(need):
                chosen[target, at] = mine[at]
            continue
        bits, positions = _bits_of(postings, mine), np.arange(n)
        best = floor = _count_common(bits, positions)
        if n > need:
            best, positions = supports[mine[0]], positions[:1]
        leads, left = _records_to_look_at(bits, need), np.int64(patience)
        for lead in range(n - need + 1):
            n_here = np.int64(0)
            for word in leads[lead]:
                n_here += popcount(word)
            left -= n_here * (n - lead)
            if best == floor or (lead > 0 and left < 0):
                break
            masks, times = _masks_of(leads[lead], bits[lead + 1 :], n_here)
            best, left, positions = _search(masks, times, (lead, n, size), (best, floor), left, positions)
        while best == floor and len(positions) > 1 and _count_common(bits, positions[:-1]) == floor:
            positions = positions[:-1]
        least[target] = best
        for at in range(len(positions)):
            chosen[target, at] = mine[positions[at]]


@compiled
def _bits_of(postings: Postings, items: NDArray[np.int32]) -> NDArray[np.uint64]:
    """One bit per record that has the item, [items, words]."""
    bits = np.zeros((len(items), postings.bits.shape[1]), dtype=np.uint64)
    for place in range(len(items)):
        item = items[place]
        if postings.dense[item] >= 0:
            row = postings.bits[postings.dense[item]]
            for at in range(len(row)):
                bits[place, at] = row[at]
        else:
            set_bits(postings.records[postings.indptr[item] : postings.indptr[item + 1]], bits[place])
    return bits


@compiled
def _count_common(bits: NDArray[np.uint64], positions: NDArray[np.int64]) -> int:
    """The number of records with all these items."""
    n_common = np.int64(0)
    for at in range(bits.shape[1]):
        word = bits[positions[0], at]
        for place in positions[1:]:
            word &= bits[place, at]
        n_common += popcount(word)
    return n_common


@compiled
def _records_to_look_at(bits: NDArray[np.uint64], need: int) -> NDArray[np.uint64]:
    """For each item the records that have it, and at least ``need - 1`` of the items that come after."""
    n_items, n_words = bits.shape
    found = np.empty_like(bits)
    after = np.zeros((need, n_words), dtype=np.uint64)  # [t] records with more than t of the items after
    for item in range(n_items - 1, -1, -1):
        for at in range(n_words):
            found[item, at] = bits[item, at] & after[need - 2, at]
        for more in range(need - 2, 0, -1):
            for at in range(n_words):
                after[more, at] |= after[more - 1, at] & bits[item, at]
        for at in range(n_words):
            after[0, at] |= bits[item, at]
    return found


@compiled
def _masks_of(
    records: NDArray[np.uint64], bits: NDArray[np.uint64], n_records: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Which of the items of ``bits`` some records have, and how many of these have the same."""
    n_items = len(bits)
    is_counted = n_items <= _FEW
    masks = np.empty(1 << n_items if is_counted else n_records, dtype=np.uint64)
    times = np.zeros(len(masks), dtype=np.int64)
    n_masks = 0
    for number in range(len(records)):
        word = records[number]
        while word != 0:
            lowest = word & (~word + np.uint64(1))
            shift = np.uint64(popcount(lowest - np.uint64(1)))
            word ^= lowest
            mask = np.uint64(0)
            for item in range(n_items):
                mask |= ((bits[item, number] >> shift) & np.uint64(1)) << np.uint64(item)
            if is_counted:
                times[mask] += 1
            else:
                masks[n_masks] = mask
                times[n_masks] = 1
                n_masks += 1
    if is_counted:
        for number in range(len(times)):
            if times[number] > 0:
                masks[n_masks], times[n_masks] = np.uint64(number), times[number]
                n_masks += 1
    return masks[:n_masks], times[:n_masks]


@compiled
def _search(
    masks: NDArray[np.uint64],
    times: NDArray[np.int64],
    where: tuple[int, int, int],
    known: tuple[int, int],
    left: int,
    positions: NDArray[np.int64],
) -> tuple[int, int, NDArray[np.int64]]:
    """The best so far after all combinations that begin with one item, the steps that are left, and the positions of
    the items. ``where``: the place of that item, the number of items, and how many are chosen; ``known``: the best
    before, and what cannot be beaten.
    """
    (lead, n_items, size), (best, floor) = where, known
    held = np.empty((size + 1, len(masks)), dtype=np.uint64)  # [depth] items that the records of a combination have
    n_times = np.empty((size + 1, len(masks)), dtype=np.int64)
    n_held = np.zeros(size + 1, dtype=np.int64)
    for at in range(len(masks)):
        held[1, at], n_times[1, at] = masks[at], times[at]
    n_held[1] = len(masks)
    path = np.zeros(size + 1, dtype=np.int64)  # [depth] the item to try next, counted from the one after the lead
    depth = 1
    while depth > 0 and best != floor and left > 0:
        place = path[depth]
        if place + size - depth > n_items - lead - 1:  # too few are left
            depth -= 1
            continue
        path[depth] += 1
        kept, support = 0, np.int64(0)
        for at in range(n_held[depth]):
            if (held[depth, at] >> np.uint64(place)) & np.uint64(1):
                held[depth + 1, kept], n_times[depth + 1, kept] = held[depth, at], n_times[depth, at]
                support += n_times[depth, at]
                kept += 1
        left -= n_held[depth] + 1
        if depth + 1 < size:
            depth += 1
            n_held[depth], path[depth] = kept, place + 1
        elif support < best or len(positions) < size:
            best = support
            positions = np.empty(size, dtype=np.int64)
            positions[0] = lead
            for at in range(1, size):
                positions[at] = lead + path[at]  # already one beyond
    return best, left, positions
