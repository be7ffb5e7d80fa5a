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
    return renumber_rows_into(indptr, items, target, np.empty(len(items), dtype=np.int32))


@compiled
def renumber_rows_into(
    indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32], renumbered: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same with ``renumbered`` as room for the new items; it may be ``items``: no row ends behind its old end."""
    bounds = np.zeros(len(indptr), dtype=np.int64)
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
def copy_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int64], bounds: NDArray[np.int64]
) -> NDArray[np.int32]:
    """The items of the given rows, in the given order; ``bounds``: where each begins then."""
    copied = np.empty(bounds[-1], dtype=items.dtype)
    for number in range(len(rows)):
        begin, end, at = indptr[rows[number]], indptr[rows[number] + 1], bounds[number]
        for place in range(begin, end):
            copied[at + place - begin] = items[place]
    return copied


@compiled
def sum_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], values: NDArray[np.uint64], rows: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """The sum of the values of the items of each of the given rows, modulo 2^64."""
    sums = np.zeros(len(rows), dtype=np.uint64)
    for number in range(len(rows)):
        for place in range(indptr[rows[number]], indptr[rows[number] + 1]):
            sums[number] += values[items[place]]
    return sums


@compiled
def are_in_order(indptr: NDArray[np.int64], items: NDArray[np.int32], start: NDArray[np.int64]) -> bool:
    """Whether rows are in lexicographic order, prefixes first; ``start`` becomes the first row equal to each."""
    for row in range(1, len(indptr) - 1):
        begin, end, before = indptr[row], indptr[row + 1], indptr[row - 1]
        n_common = min(end - begin, begin - before)
        at = 0
        while at < n_common and items[before + at] == items[begin + at]:
            at += 1
        if at < n_common:
            if items[before + at] > items[begin + at]:
                return False
            start[row] = row
        elif begin - before > end - begin:
            return False
        else:
            start[row] = start[row - 1] if begin - before == end - begin else row
    return True


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
