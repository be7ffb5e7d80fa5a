"""Which few items of a record fewest other records share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import Lists
from setveil.arrays.sorting import stable_order
from setveil.risk._identifying import Rows

MOST_ITEMS = np.int64(62)  # of a record that are tried, the rarest ones: each is one bit of a word
_FEW = np.int64(12)  # items whose combinations are counted in a table


@compiled
def choose_items(
    rows: Rows,
    lists: Lists,
    supports: NDArray[np.int64],
    own: Lists,
    size: int,
    patience: int,
    first: int,
    last: int,
    least: NDArray[np.int64],
    chosen: NDArray[np.int32],
) -> None:
    """For the targets ``first:last`` the smallest support of up to ``size`` of the items ``own`` of each; ``supports``:
    those of single items.

    Writes that support to ``least`` and items that have it to ``chosen`` (-1 where fewer are enough). A target without
    items has the weight of all rows. The search for one target ends after ``patience`` steps, with the best so far.

    No combination has a smaller support than all items together, so the search ends where this support is found.
    """
    indptr, items, weights = rows
    list_indptr, list_rows = lists
    own_indptr, own_items = own
    place_of = np.full(len(list_indptr) - 1, -1, dtype=np.int64)
    longest = np.int64(0)
    for target in range(first, last):
        for item in own_items[own_indptr[target] : own_indptr[target + 1]]:
            longest = max(longest, list_indptr[item + 1] - list_indptr[item])
    masks = np.empty((size + 1, longest), dtype=np.uint64)  # [depth] items that the rows of a combination hold besides
    times = np.empty((size + 1, longest), dtype=np.int64)
    n_masks = np.zeros(size + 1, dtype=np.int64)
    next_place = np.zeros(size + 1, dtype=np.int64)  # [depth] the item to try next
    table = np.zeros(1 << _FEW, dtype=np.int64)
    for target in range(first, last):
        mine = own_items[own_indptr[target] : own_indptr[target + 1]]
        mine = mine[stable_order(supports[mine])]
        n = min(np.int64(len(mine)), MOST_ITEMS)
        for place in range(n):
            place_of[mine[place]] = place
        left, floor, best = np.int64(patience), np.int64(0), np.int64(-1)
        for lead in range(n - size + 1 if n > size else np.int64(n > 0)):
            # What the rows with this item hold of the others. The rarest item comes first: its rows have all there is.
            members = list_rows[list_indptr[mine[lead]] : list_indptr[mine[lead] + 1]]
            if lead > 0 and len(members) > left:
                left = np.int64(0)
                break
            n_bits = n - lead - 1
            is_counted = n_bits <= _FEW
            n_here = 0
            for row in members:
                mask = np.uint64(0)
                for at in range(indptr[row], indptr[row + 1]):
                    place = place_of[items[at]]
                    if place > lead:
                        mask |= np.uint64(1) << np.uint64(place - lead - 1)
                left -= indptr[row + 1] - indptr[row]
                if is_counted:
                    table[mask] += weights[row]
                else:
                    masks[1, n_here], times[1, n_here] = mask, weights[row]
                    n_here += 1
            if is_counted:
                for number in range(1 << n_bits):
                    if table[number] > 0:
                        masks[1, n_here], times[1, n_here] = np.uint64(number), table[number]
                        n_here += 1
                        table[number] = 0
            n_masks[1] = n_here
            if lead == 0:
                every = (np.uint64(1) << np.uint64(n_bits)) - np.uint64(1)
                for at in range(n_here):
                    if masks[1, at] == every:
                        floor += times[1, at]
                if n <= size:
                    best = floor
                    for place in range(n):
                        chosen[target, place] = mine[place]
                    break
            depth, support = 1, supports[mine[lead]]
            next_place[1] = 0
            next_place[0] = lead
            is_new = True
            while depth > 0 and best != floor and left > 0:
                if is_new and (depth == size or support == floor):
                    if best < 0 or support < best:
                        best = support
                        for at in range(size):
                            chosen[target, at] = -1
                        chosen[target, 0] = mine[lead]
                        for at in range(1, depth):
                            chosen[target, at] = mine[lead + next_place[at]]  # already one beyond
                    depth -= 1
                    is_new = False
                    continue
                place = next_place[depth]
                if place >= n_bits:
                    depth -= 1
                    is_new = False
                    continue
                next_place[depth] += 1
                kept, support = 0, 0
                for at in range(n_masks[depth]):
                    if (masks[depth, at] >> np.uint64(place)) & np.uint64(1):
                        masks[depth + 1, kept] = masks[depth, at]
                        times[depth + 1, kept] = times[depth, at]
                        support += times[depth, at]
                        kept += 1
                left -= n_masks[depth] + 1
                depth += 1
                n_masks[depth] = kept
                if depth < size:
                    next_place[depth] = place + 1
                is_new = True
            if best == floor or left <= 0 or size == 1:
                break
        for place in range(n):
            place_of[mine[place]] = -1
        if n == 0:
            best = weights.sum()
        if best < 0:  # not even one combination was looked at to its end
            best = supports[mine[0]]
            chosen[target, 0] = mine[0]
        least[target] = best
