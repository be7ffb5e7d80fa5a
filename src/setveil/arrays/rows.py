# mypy: disable-error-code="arg-type, assignment"
"""Rows of items as CSR, renumbered."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import sort_values

SHORT = 32  # items of a row that are put in their places one by one


@compiled
def renumber_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Replace every item by its target, -1 to drop it; each row ascending and without repeats."""
    bounds = np.zeros(len(indptr), dtype=np.int64)
    renumbered = np.empty(len(items), dtype=np.int32)
    end = np.int64(0)
    for row in range(len(indptr) - 1):
        begin = end
        ascends = True
        for place in range(indptr[row], indptr[row + 1]):
            value = target[items[place]]
            if value < 0:
                continue
            ascends &= end == begin or renumbered[end - 1] < value
            renumbered[end] = value
            end += 1
        if not ascends:
            end = sort_distinct(renumbered, begin, end)
        bounds[row + 1] = end
    if end < len(items):
        renumbered = renumbered[:end].copy()
    return bounds, renumbered


@compiled
def sort_distinct(values: NDArray[np.int32], begin: int, end: int) -> int:
    """Sort ``values[begin:end]``, keep each value once, and return where they end now."""
    if end - begin > SHORT:
        sort_values(values[begin:end])
    kept = begin
    for place in range(begin, end):
        value = values[place]
        at = kept
        while at > begin and values[at - 1] > value:
            at -= 1
        if at > begin and values[at - 1] == value:
            continue
        for move in range(kept, at, -1):
            values[move] = values[move - 1]
        values[at] = value
        kept += 1
    return kept
