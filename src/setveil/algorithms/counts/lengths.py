"""How many listed items records have, in groups of at least k records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.generate.records import spread_group


def length_groups(lengths: NDArray[np.int64], n_entries: int, k: int, r: int) -> NDArray[np.int64]:
    """``(length_from, length_to, count)`` of each group, ascending, int64[groups, 3].

    Counts are rounded to multiples of r, except that of the largest group, which has the rest. ``n_entries``: the sum
    of the published counts of single items, which decides how far the last group reaches.
    """
    n_records = len(lengths)
    if not n_records:
        return np.empty((0, 3), dtype=np.int64)
    groups: list[tuple[int, int]] = []  # the first length, and the number of records
    begin, waiting = 0, 0
    for length, count in enumerate(np.bincount(lengths).tolist()):
        waiting += count
        if waiting >= k:
            groups.append((begin, waiting))
            begin, waiting = length + 1, 0
    if not groups:
        groups = [(0, 0)]
    groups[-1] = groups[-1][0], groups[-1][1] + waiting
    while True:
        counts = [max(r * -(-k // r), r * ((2 * count + r) // (2 * r))) for _, count in groups]
        largest = max(range(len(groups)), key=lambda place: groups[place][1])
        counts[largest] = n_records - sum(counts[:largest]) - sum(counts[largest + 1 :])
        if counts[largest] >= k or len(groups) == 1:
            break
        # Rounding took more records than there are: join the two groups with the fewest records.
        place = min(range(len(groups) - 1), key=lambda place: groups[place][1] + groups[place + 1][1])
        groups[place : place + 2] = [(groups[place][0], groups[place][1] + groups[place + 1][1])]
    firsts = [first for first, _ in groups]
    lasts = [first - 1 for first in firsts[1:]]
    others = zip(firsts[:-1], lasts, counts[:-1], strict=True)
    rest = n_entries - sum(int(spread_group(*one, k, False).sum()) for one in others)
    reach = -(-2 * rest // max(counts[-1], 1)) - firsts[-1]  # evenly spread lengths up to here add up
    lasts.append(max(firsts[-1], min(reach, 2 * firsts[-1])))
    return np.column_stack((firsts, lasts, counts)).astype(np.int64)
