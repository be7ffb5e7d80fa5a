"""Sorting inside kernels.

Numba's own sorts are made from closures, whose compiled code is distinguished by a counter only. Kernels that were
cached by different processes may carry the same count for different closures, and then one is linked where the other is
meant. The functions here have names of their own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

SMALL = 24  # below this, insertion is fastest


@compiled
def sort_values(values: NDArray[np.generic]) -> None:
    """Sort in place, ascending: heap sort above a few entries, so that no input is slow."""
    n = len(values)
    if n > SMALL:
        for start in range(n // 2 - 1, -1, -1):
            _sift_down(values, start, n)
        for end in range(n - 1, 0, -1):
            values[0], values[end] = values[end], values[0]
            _sift_down(values, 0, end)
        return
    for place in range(1, n):
        value = values[place]
        at = place
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value


@compiled
def _sift_down(values: NDArray[np.generic], start: int, end: int) -> None:
    at = start
    value = values[at]
    while True:
        child = 2 * at + 1
        if child >= end:
            break
        if child + 1 < end and values[child] < values[child + 1]:
            child += 1
        if values[child] <= value:
            break
        values[at] = values[child]
        at = child
    values[at] = value


@compiled
def stable_order(keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """The positions of ``keys`` in ascending order, equal ones as they stand: merge sort from the bottom up."""
    n = len(keys)
    order = np.empty(n, dtype=np.int64)
    other = np.empty(n, dtype=np.int64)
    for place in range(n):
        order[place] = place
    width = 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            left, right = first, middle
            for place in range(first, last):
                if left < middle and (right >= last or keys[order[left]] <= keys[order[right]]):
                    other[place] = order[left]
                    left += 1
                else:
                    other[place] = order[right]
                    right += 1
        order, other = other, order
        width *= 2
    return order
