# mypy: disable-error-code="assignment, return-value"
"""What small sets of a record's own items give away: the supports of all of them, tallied per record."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown, place_in
from setveil.arrays.mining import Lists, Postings, intersect, list_bits, popcount

_NEVER = np.int64(np.iinfo(np.int64).max)

Rows: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]  # indptr, items (ascending), weights


class Scratch(NamedTuple):
    """Per item; the first two are zero between uses."""

    n_with: NDArray[np.int64]
    weight_with: NDArray[np.int64]
    inverse_with: NDArray[np.float64]
    next_place: NDArray[np.int64]
    touched: NDArray[np.int32]


@compiled
def tally_subsets(
    rows: Rows, lists: Lists, first: int, last: int, sums: NDArray[np.float64], least: NDArray[np.int64]
) -> None:
    """Tally, for every row, the supports of its itemsets of 1 … n_known items whose first item is in ``first:last``.

    Adds to ``sums[row, c-1, 0]`` the number of its c-subsets of support 1, to ``sums[row, c-1, 1]`` their 1/support,
    and lowers ``least[row, c-1]`` to their smallest support.

    What stands behind an item in its rows is copied to one place first: going through it again and again, the loops
    find it and what they add up in the processor's own memory.
    """
    indptr, items, weights = rows
    list_indptr, list_rows = lists
    n_known, n_items = least.shape[1], len(list_indptr) - 1
    scratch = Scratch(
        np.zeros(n_items, dtype=np.int64),
        np.zeros(n_items, dtype=np.int64),
        np.zeros(n_items, dtype=np.float64),
        np.zeros(n_items, dtype=np.int64),
        np.empty(n_items, dtype=np.int32),
    )
    for item in range(first, last):
        members = list_rows[list_indptr[item] : list_indptr[item + 1]]
        behind = np.zeros(len(members) + 1, dtype=np.int64)
        for at in range(len(members)):
            row = members[at]
            place = place_in(items, indptr[row], indptr[row + 1], item)
            behind[at + 1] = behind[at] + indptr[row + 1] - place - 1
        copied = np.empty(behind[-1], dtype=np.int32)
        copied_weights = np.empty(len(members), dtype=np.int64)
        for at in range(len(members)):
            row = members[at]
            copied_weights[at] = weights[row]
            shift = indptr[row + 1] - behind[at + 1]
            for place in range(behind[at], behind[at + 1]):
                copied[place] = items[place + shift]
        own_sums = np.zeros((len(members), n_known, 2), dtype=np.float64)
        own_least = np.full((len(members), n_known), _NEVER, dtype=np.int64)
        _tally_behind((behind, copied, copied_weights), scratch, own_sums, own_least)
        for at in range(len(members)):
            row = members[at]
            for size in range(n_known):
                sums[row, size, 0] += own_sums[at, size, 0]
                sums[row, size, 1] += own_sums[at, size, 1]
                least[row, size] = min(least[row, size], own_least[at, size])


@compiled
def _tally_behind(rows: Rows, scratch: Scratch, sums: NDArray[np.float64], least: NDArray[np.int64]) -> None:
    """``tally_subsets`` for one first item, which all the rows hold; ``rows`` is what stands behind it.

    A depth-first walk over prefixes. A prefix that only one (distinct) row contains is not walked further: all its
    extensions have that row's weight as support, and there are binomially many of them.
    """
    indptr, items, weights = rows
    n_rows, n_known = len(weights), least.shape[1]
    n_with, next_place, touched = scratch.n_with, scratch.next_place, scratch.touched
    # The prefixes on the current path and their siblings: for each the rows that contain it, and in each row the place
    # of its last item. ``bounds`` says where each prefix starts; the three end arrays say where each depth ends.
    stack_row = np.empty(max(n_rows, 1024), dtype=np.int32)
    stack_place = np.empty(max(n_rows, 1024), dtype=np.int64)
    bounds = np.empty(1024, dtype=np.int64)
    stack_end = np.zeros(n_known + 1, dtype=np.int64)
    bounds_end = np.zeros(n_known + 1, dtype=np.int64)
    cursor = np.zeros(n_known + 1, dtype=np.int64)  # [depth] next prefix to visit, a position in ``bounds``
    for row in range(n_rows):
        stack_row[row] = row
        stack_place[row] = indptr[row] - 1
    bounds[0], bounds[1] = 0, n_rows
    depth, cursor[1], bounds_end[1], stack_end[1] = 1, 0, int(n_rows > 0), n_rows
    while depth > 0:
        if cursor[depth] == bounds_end[depth]:
            depth -= 1
            continue
        begin, end = bounds[cursor[depth]], bounds[cursor[depth] + 1]
        cursor[depth] += 1
        if end - begin == 1:
            _tally_extensions(rows, stack_row[begin], stack_place[begin], depth, sums, least)
            continue
        support = 0
        for at in range(begin, end):
            support += weights[stack_row[at]]
        inverse = 1 / support
        for at in range(begin, end):  # two rows or more: none of them is alone
            row = stack_row[at]
            sums[row, depth - 1, 1] += inverse
            least[row, depth - 1] = min(least[row, depth - 1], support)
        if depth == n_known:
            continue

        if depth + 1 == n_known:
            _tally_last(rows, stack_row[begin:end], stack_place[begin:end], scratch, sums, least)
            continue

        n_touched, n_positions = 0, 0
        for at in range(begin, end):
            row = stack_row[at]
            for place in range(stack_place[at] + 1, indptr[row + 1]):
                other = items[place]
                if n_with[other] == 0:
                    touched[n_touched] = other
                    n_touched += 1
                n_with[other] += 1
            n_positions += indptr[row + 1] - stack_place[at] - 1

        # Lay out the children that two rows or more contain; the others are done at once.
        top, n_bounds = stack_end[depth], bounds_end[depth] + 1
        if top + n_positions > len(stack_row):
            stack_row = grown(stack_row, top + n_positions)
            stack_place = grown(stack_place, top + n_positions)
        if n_bounds + n_touched + 1 > len(bounds):
            bounds = grown(bounds, n_bounds + n_touched + 1)
        cursor[depth + 1] = n_bounds
        for at in range(n_touched):
            other = touched[at]
            if n_with[other] > 1:
                bounds[n_bounds] = top
                n_bounds += 1
                next_place[other] = top
                top += n_with[other]
        bounds[n_bounds] = top
        for at in range(begin, end):
            row = stack_row[at]
            for place in range(stack_place[at] + 1, indptr[row + 1]):
                other = items[place]
                if n_with[other] == 1:
                    _tally_extensions(rows, row, place, depth + 1, sums, least)
                else:
                    stack_row[next_place[other]] = row
                    stack_place[next_place[other]] = place
                    next_place[other] += 1
        depth += 1
        bounds_end[depth], stack_end[depth] = n_bounds, top
        for at in range(n_touched):
            n_with[touched[at]] = 0


@compiled
def _tally_last(
    rows: Rows,
    chosen: NDArray[np.int32],
    positions: NDArray[np.int64],
    scratch: Scratch,
    sums: NDArray[np.float64],
    least: NDArray[np.int64],
) -> None:
    """Enter what one more item, the last, makes of the prefix that the chosen rows contain. Most of the time goes here:
    each support is divided by once, however many rows have it.
    """
    indptr, items, weights = rows
    weight_with, inverse_with, touched = scratch.weight_with, scratch.inverse_with, scratch.touched
    last = least.shape[1] - 1
    n_touched = 0
    for at in range(len(chosen)):
        row = chosen[at]
        for place in range(positions[at] + 1, indptr[row + 1]):
            if weight_with[items[place]] == 0:
                touched[n_touched] = items[place]
                n_touched += 1
            weight_with[items[place]] += weights[row]
    for other in touched[:n_touched]:
        inverse_with[other] = 1 / weight_with[other]
    for at in range(len(chosen)):
        row = chosen[at]
        alone, inverse, smallest = 0, 0.0, least[row, last]
        for place in range(positions[at] + 1, indptr[row + 1]):
            support = weight_with[items[place]]
            alone += support == 1
            inverse += inverse_with[items[place]]
            smallest = min(smallest, support)
        sums[row, last, 0] += alone
        sums[row, last, 1] += inverse
        least[row, last] = smallest
    for other in touched[:n_touched]:
        weight_with[other] = 0


@compiled
def count_pairs(indptr: NDArray[np.int64], items: NDArray[np.int32], supports: NDArray[np.integer]) -> None:
    """Add the rows to the supports of pairs: items i < j together at ``supports[j * (j - 1) // 2 + i]``."""
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            base = np.int64(items[place]) * (items[place] - 1) // 2
            for other in range(indptr[row], place):
                supports[np.uint64(base + items[other])] += 1


@compiled
def look_up_pairs(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    limits: NDArray[np.int64],
    singles: NDArray[np.int64],
    pairs: NDArray[np.integer],
    totals: NDArray[np.float64],
    least: NDArray[np.int64],
    below: NDArray[np.int64],
    is_below: NDArray[np.bool_],
) -> None:
    """Up to two known items of the rows, from supports that are known.

    Adds to ``totals[c-1]`` the share of each row's c-subsets of support 1, and the mean of 1/support; lowers
    ``least[length, c-1]``; counts rows with a c-subset below each of two limits in ``below[limit, length, c-1]`` and
    marks those with such a pair in ``is_below[limit, row]``.
    """
    for row in range(len(indptr) - 1):
        alone, alone_together, inverse, inverse_together = 0, 0, 0.0, 0.0
        smallest, smallest_together = _NEVER, _NEVER
        for place in range(indptr[row], indptr[row + 1]):
            support = singles[items[place]]
            alone += support == 1
            inverse += 1 / support
            smallest = min(smallest, support)
            base = np.int64(items[place]) * (items[place] - 1) // 2
            for other in range(indptr[row], place):
                support = pairs[np.uint64(base + items[other])]
                alone_together += support == 1
                inverse_together += 1 / support
                smallest_together = min(smallest_together, support)
        n = indptr[row + 1] - indptr[row]
        for limit in range(2):
            is_below[limit, row] = smallest_together < limits[limit]
            if n > 0:
                below[limit, n, 0] += int(smallest < limits[limit])
            if n > 1:
                below[limit, n, 1] += int(smallest_together < limits[limit])
        if n > 0:
            totals[0, 0] += alone / n
            totals[0, 1] += inverse / n
            least[n, 0] = min(least[n, 0], smallest)
        if n > 1:
            n_pairs = n * (n - 1) // 2
            totals[1, 0] += alone_together / n_pairs
            totals[1, 1] += inverse_together / n_pairs
            least[n, 1] = min(least[n, 1], smallest_together)


@compiled
def count_triples(rows: Rows, begin: int, end: int, pairs: NDArray[np.int64], triples: NDArray[np.int64]) -> None:
    """Add the weights of the rows ``begin:end`` to the supports of pairs and triples: items h < i < j together at
    ``triples[j * (j - 1) * (j - 2) // 6 + i * (i - 1) // 2 + h]``; pairs as in ``count_pairs``.
    """
    indptr, items, weights = rows
    for row in range(begin, end):
        for last in range(indptr[row], indptr[row + 1]):
            high = np.int64(items[last])
            base = high * (high - 1) * (high - 2) // 6
            for middle in range(indptr[row], last):
                low = np.int64(items[middle])
                pairs[np.uint64(high * (high - 1) // 2 + low)] += weights[row]
                start = base + low * (low - 1) // 2
                for first in range(indptr[row], middle):
                    triples[np.uint64(start + items[first])] += weights[row]


@compiled
def look_up_triples(
    rows: Rows,
    begin: int,
    end: int,
    singles: NDArray[np.int64],
    pairs: NDArray[np.int64],
    triples: NDArray[np.int64],
    sums: NDArray[np.float64],
    least: NDArray[np.int64],
) -> None:
    """What ``tally_subsets`` finds of up to three items of the rows ``begin:end``, from supports that are known."""
    indptr, items, _ = rows
    for row in range(begin, end):
        for last in range(indptr[row], indptr[row + 1]):
            high = np.int64(items[last])
            _tally(row, 1, 1.0, singles[high], sums, least)
            base = high * (high - 1) * (high - 2) // 6
            for middle in range(indptr[row], last):
                low = np.int64(items[middle])
                _tally(row, 2, 1.0, pairs[np.uint64(high * (high - 1) // 2 + low)], sums, least)
                start = base + low * (low - 1) // 2
                alone, inverse, smallest = np.int64(0), 0.0, _NEVER
                for first in range(indptr[row], middle):
                    support = triples[np.uint64(start + items[first])]
                    alone += support == 1
                    inverse += 1 / support
                    smallest = min(smallest, support)
                sums[row, 2, 0] += alone
                sums[row, 2, 1] += inverse
                least[row, 2] = min(least[row, 2], smallest)


@compiled
def find_rare_subsets(
    rows: Rows, postings: Postings, targets: NDArray[np.int64], size: int, k: int, patience: int
) -> NDArray[np.int8]:
    """Whether each target row has a subset of ``size`` items with support below ``k``: 1 yes, 0 no, -1 gave up.

    ``rows``: the targets are among them, the rarest item of each first; empty weights mean 1 each. ``postings``: with
    weights, their lists have frequent items, too. The search gives up once the supports it went through add up to more
    than ``patience``. Targets must have ``size`` items or more, so a smaller subset below ``k`` decides too: it can be
    filled up, and the support only falls.
    """
    indptr, items, weights = rows
    n_words = postings.bits.shape[1]
    verdicts = np.zeros(len(targets), dtype=np.int8)
    held = np.empty((size + 1, n_words), dtype=np.uint64)  # [depth] the rows that contain the prefix of that length
    common = np.empty((size + 1, n_words), dtype=np.int32)  # the same as a list, where they are few
    n_common = np.zeros(size + 1, dtype=np.int64)  # [depth] -1: in ``held``
    supports = np.zeros(size + 1, dtype=np.int64)  # [depth] of the prefix of that length
    chosen = np.zeros(size + 1, dtype=np.int64)  # [depth] position in the target of the item to try next
    for number in range(len(targets)):
        begin, end = indptr[targets[number]], indptr[targets[number] + 1]
        left = patience
        depth, chosen[1] = 1, begin
        while depth > 0:
            if end - chosen[depth] < size - depth + 1:  # too few items are left to fill the subset up
                depth -= 1
                continue
            item = items[chosen[depth]]
            chosen[depth] += 1
            is_frequent = len(weights) == 0 and postings.dense[item] >= 0  # then so are all items that come after it
            if is_frequent and (depth == 1 or n_common[depth - 1] < 0):
                supports[depth] = _hold(postings.bits[postings.dense[item]], held, depth, depth < size)
                n_common[depth] = -1
                if depth < size and 4 * supports[depth] < n_words:
                    n_common[depth] = list_bits(held[depth], common[depth])
            else:
                others = postings.records[postings.indptr[item] : postings.indptr[item + 1]]
                if depth == 1 and len(others) > common.shape[1]:
                    common = np.empty((size + 1, 2 * len(others)), dtype=np.int32)
                n_common[depth] = _keep(postings, item, others, common, n_common[depth - 1], depth)
                supports[depth] = n_common[depth]
                if len(weights) > 0:
                    supports[depth] = 0
                    for at in range(n_common[depth]):
                        supports[depth] += weights[common[depth, at]]
            support = supports[depth]
            left -= supports[depth - 1] if depth > 1 else support
            if support < k or left < 0:
                verdicts[number] = 1 if support < k else -1
                break
            if depth < size:
                chosen[depth + 1] = chosen[depth]
                depth += 1
    return verdicts


@compiled
def _hold(bits: NDArray[np.uint64], held: NDArray[np.uint64], depth: int, is_needed: bool) -> int:
    """How many rows contain a prefix that one more item completes; they are written to ``held[depth]`` if needed."""
    support = np.int64(0)
    if depth == 1:
        for at in range(len(bits)):
            held[1, at] = bits[at]
            support += popcount(bits[at])
    elif is_needed:
        for at in range(len(bits)):
            held[depth, at] = held[depth - 1, at] & bits[at]
            support += popcount(held[depth, at])
    else:
        for at in range(len(bits)):
            support += popcount(held[depth - 1, at] & bits[at])
    return support


@compiled
def _keep(
    postings: Postings, item: int, others: NDArray[np.int32], common: NDArray[np.int32], n_before: int, depth: int
) -> int:
    """Write to ``common[depth]`` those of the rows ``common[depth - 1]`` that have the item, and return how many."""
    kept = np.int64(0)
    if depth == 1:
        for at in range(len(others)):
            common[1, at] = others[at]
        kept = len(others)
    elif postings.dense[item] >= 0:
        row = postings.bits[postings.dense[item]]
        for at in range(n_before):
            record = common[depth - 1, at]
            common[depth, kept] = record
            kept += np.int64((row[record >> 6] >> np.uint64(record & 63)) & np.uint64(1))
    else:
        for at in range(n_before):
            common[depth, at] = common[depth - 1, at]
        kept = intersect(common[depth], n_before, others)
    return kept


@compiled
def _tally(
    row: int, size: int, times: float, support: int, sums: NDArray[np.float64], least: NDArray[np.int64]
) -> None:
    """Enter ``times`` itemsets of one size and support for a row."""
    if support == 1:
        sums[row, size - 1, 0] += times
    sums[row, size - 1, 1] += times / support
    least[row, size - 1] = min(least[row, size - 1], support)


@compiled
def _tally_extensions(
    rows: Rows, row: int, place: int, depth: int, sums: NDArray[np.float64], least: NDArray[np.int64]
) -> None:
    """A prefix of ``depth`` items ending at ``place`` that no other row contains: enter it and all its extensions."""
    indptr, _, weights = rows
    n_after = indptr[row + 1] - place - 1
    times = 1.0
    for size in range(depth, min(least.shape[1], depth + n_after) + 1):
        _tally(row, size, times, weights[row], sums, least)
        times = times * (n_after - (size - depth)) / (size - depth + 1)
