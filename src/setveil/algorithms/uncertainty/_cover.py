# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops that choose few holders so that every demand is met."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled


@compiled
def take_forced(
    bounds: NDArray[np.int64],
    owners: NDArray[np.int32],
    left: NDArray[np.int64],
    spare: NDArray[np.int64],
    by_owner: NDArray[np.int64],
    rows: NDArray[np.int32],
    taken: NDArray[np.int64],
) -> int:
    """Take all holders of rows that need all of them, again and again; ``left`` demands, ``spare`` holders."""
    total = 0
    queue = np.empty(len(left), dtype=np.int64)
    n_queue = 0
    available = np.zeros(len(left), dtype=np.int64)
    for row in range(len(left)):
        for at in range(bounds[row], bounds[row + 1]):
            available[row] += spare[owners[at]]
        if left[row] > 0 and available[row] == left[row]:
            queue[n_queue] = row
            n_queue += 1
    # Taking a holder lowers a row's demand and what is available by the same number: no further row becomes forced.
    for number in range(n_queue):
        row = queue[number]
        for at in range(bounds[row], bounds[row + 1]):
            owner = owners[at]
            count = spare[owner]
            if count == 0:
                continue
            taken[owner] += count
            spare[owner] = 0
            total += count
            for place in range(by_owner[owner], by_owner[owner + 1]):
                left[rows[place]] -= count
    return total


@compiled
def take_greedily(
    left: NDArray[np.int64],
    spare: NDArray[np.int64],
    rank: NDArray[np.int64],
    by_owner: NDArray[np.int64],
    rows: NDArray[np.int32],
    bounds: NDArray[np.int64],
    owners: NDArray[np.int32],
    taken: NDArray[np.int64],
) -> None:
    """Take the holder in most rows that still demand some; ties: smallest ``rank``."""
    gain = np.zeros(len(spare), dtype=np.int64)
    for owner in range(len(spare)):
        for place in range(by_owner[owner], by_owner[owner + 1]):
            if left[rows[place]] > 0:
                gain[owner] += 1
    while True:
        best = -1
        for owner in range(len(spare)):
            if spare[owner] == 0 or gain[owner] == 0:
                continue
            if best < 0 or gain[owner] > gain[best] or (gain[owner] == gain[best] and rank[owner] < rank[best]):
                best = owner
        if best < 0:
            return
        spare[best] -= 1
        taken[best] += 1
        for place in range(by_owner[best], by_owner[best + 1]):
            row = rows[place]
            left[row] -= 1
            if left[row] == 0:
                for at in range(bounds[row], bounds[row + 1]):
                    gain[owners[at]] -= 1


@compiled
def give_back(
    left: NDArray[np.int64],
    order: NDArray[np.int64],
    by_owner: NDArray[np.int64],
    rows: NDArray[np.int32],
    taken: NDArray[np.int64],
) -> int:
    """Give back what no row needs, in the given order; ``left`` is 0 or below."""
    total = 0
    for number in range(len(order)):
        owner = order[number]
        while taken[owner] > 0:
            is_free = True
            for place in range(by_owner[owner], by_owner[owner + 1]):
                is_free = is_free and left[rows[place]] < 0
            if not is_free:
                break
            taken[owner] -= 1
            total += 1
            for place in range(by_owner[owner], by_owner[owner + 1]):
                left[rows[place]] += 1
    return total
