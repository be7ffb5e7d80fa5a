# mypy: disable-error-code="arg-type, assignment, return-value"
"""Which few items of a record fewest other records share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import Lists, Postings, and_bits, are_dense, common_records, popcount
from setveil.arrays.sorting import stable_order

MOST_ITEMS = 62  # of a record that are tried, the rarest ones: each is one bit of a word
_FEW = 12  # items whose combinations are counted in a table
_WORDS = 8  # words of 64 records that cost one step


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
    records with ``size`` of the items matter. Those of a rare item are few and looked at one by one; where all items
    are frequent, 64 records are looked at together.
    """
    own_indptr, own_items = own
    size = chosen.shape[1]
    held = np.empty((size, postings.bits.shape[1]), dtype=np.uint64)
    words, table = held[0], np.zeros(1 << _FEW, dtype=np.int64)
    for target in range(first, last):
        mine = own_items[own_indptr[target] : own_indptr[target + 1]]
        mine = mine[stable_order(supports[mine])][:MOST_ITEMS]  # the rarest first
        n, need = len(mine), min(size, len(mine))
        if need < 2:
            least[target] = supports[mine[0]] if need else postings.n_records
            for at in range(need):
                chosen[target, at] = mine[at]
            continue
        n_rare = np.int64(0)
        for item in mine:
            n_rare += np.int64(postings.dense[item] < 0)
        positions = np.arange(n)
        best = floor = _count_common(postings, mine, words)
        if n > need:
            best, positions = supports[mine[0]], positions[:1]
        left = np.int64(patience)
        for lead in range(n - need + 1):
            if best == floor:
                break
            if lead >= n_rare:
                best, left, positions = _search_bits(postings, mine, lead, (best, floor), left, positions, held)
                continue
            masks = _masks_of(postings, mine[lead:], need)
            left -= len(masks) * (n - lead)
            if lead > 0 and left < 0:
                break
            masks, times = _counted(masks, n - lead - 1, table)
            best, left, positions = _search_masks(masks, times, (lead, n, size), (best, floor), left, positions)
        while best == floor and len(positions) > 1 and _count_common(postings, mine[positions[:-1]], words) == floor:
            positions = positions[:-1]
        least[target] = best
        for at in range(len(positions)):
            chosen[target, at] = mine[positions[at]]


@compiled
def _count_common(postings: Postings, items: NDArray[np.int32], words: NDArray[np.uint64]) -> int:
    """The number of records with all these items."""
    if not are_dense(postings, items):
        return len(common_records(postings, items, words))
    and_bits(postings, items, words)
    n_common = np.int64(0)
    for word in words:
        n_common += popcount(word)
    return n_common


@compiled
def _masks_of(postings: Postings, items: NDArray[np.int32], need: int) -> NDArray[np.uint64]:
    """Of the records of the first item, a rare one, which of the other items each has, if these are ``need - 1`` or
    more.
    """
    records = postings.records[postings.indptr[items[0]] : postings.indptr[items[0] + 1]]
    masks = np.zeros(len(records), dtype=np.uint64)
    for place in range(len(items) - 1):
        item, bit = items[place + 1], np.uint64(1) << np.uint64(place)
        if postings.dense[item] >= 0:
            row = postings.bits[postings.dense[item]]
            for at in range(len(records)):
                record = records[at]
                masks[at] |= ((row[record >> 6] >> np.uint64(record & 63)) & np.uint64(1)) << np.uint64(place)
        else:
            others = postings.records[postings.indptr[item] : postings.indptr[item + 1]]
            at, low = 0, 0
            while at < len(records) and low < len(others):
                here, there = records[at], others[low]
                if here == there:
                    masks[at] |= bit
                at += here <= there
                low += there <= here
    kept = 0
    for at in range(len(masks)):
        masks[kept] = masks[at]
        kept += popcount(masks[at]) >= need - 1
    return masks[:kept]


@compiled
def _counted(
    masks: NDArray[np.uint64], n_items: int, table: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The masks and how often each occurs; of few items each mask comes once. ``table`` is zero between uses."""
    if n_items > _FEW:
        return masks, np.ones(len(masks), dtype=np.int64)
    n_masks = 0
    for mask in masks:
        if table[mask] == 0:
            masks[n_masks] = mask
            n_masks += 1
        table[mask] += 1
    times = np.empty(n_masks, dtype=np.int64)
    for at in range(n_masks):
        times[at] = table[masks[at]]
        table[masks[at]] = 0
    return masks[:n_masks], times


@compiled
def _search_masks(
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


@compiled
def _search_bits(
    postings: Postings,
    items: NDArray[np.int32],
    lead: int,
    known: tuple[int, int],
    left: int,
    positions: NDArray[np.int64],
    held: NDArray[np.uint64],
) -> tuple[int, int, NDArray[np.int64]]:
    """The same for an item that is frequent, as all are that come after it. ``held``: [size, words] to write to."""
    (best, floor), (size, n_words) = known, held.shape
    path = np.zeros(size, dtype=np.int64)  # [depth] the item to try next, or that was chosen
    path[0], path[1] = lead, lead + 1
    first = postings.bits[postings.dense[items[lead]]]
    for at in range(n_words):
        held[0, at] = first[at]
    depth = 1
    while depth > 0 and best != floor and left > 0:
        if path[depth] + size - depth > len(items):  # too few are left
            depth -= 1
            path[depth] += 1
            continue
        left -= n_words // _WORDS + 1
        row = postings.bits[postings.dense[items[path[depth]]]]
        if depth + 1 < size:
            for at in range(n_words):
                held[depth, at] = held[depth - 1, at] & row[at]
            path[depth + 1] = path[depth] + 1
            depth += 1
            continue
        support = np.int64(0)
        for at in range(n_words):
            support += popcount(held[depth - 1, at] & row[at])
        if support < best or len(positions) < size:
            best, positions = support, path.copy()
        path[depth] += 1
    return best, left, positions
