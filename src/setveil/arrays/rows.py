"""Rows of items as CSR: renumbering, and putting the parts of a row together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import sort_values
from setveil.arrays.threads import for_slices, slices_of

SHORT = 32  # items of a row that are put in their places one by one


def renumber_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Replace every item by its target, -1 to drop it; each row ascending and without repeats."""
    renumbered = np.empty(len(items), dtype=np.int32)
    lengths = np.zeros(len(indptr) - 1, dtype=np.int64)
    slices = slices_of(indptr)
    for_slices(lambda first, last: renumber_some(indptr, items, target, first, last, renumbered, lengths), slices)
    return close_gaps(lengths, renumbered, [(first, last, int(indptr[first])) for first, last in slices])


def close_gaps(
    lengths: NDArray[np.int64], items: NDArray[np.int32], runs: list[tuple[int, int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows that lie in runs ``(first, last, begin)``, each run without gaps from ``begin`` on, without any gaps."""
    bounds = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    if bounds[-1] == len(items):
        return bounds, items
    together = np.empty(bounds[-1], dtype=np.int32)

    def put_together(first: int, last: int) -> None:
        for start, end, begin in runs[first:last]:
            together[bounds[start] : bounds[end]] = items[begin : begin + bounds[end] - bounds[start]]

    for_slices(put_together, [(number, number + 1) for number in range(len(runs))])
    return bounds, together


@compiled
def renumber_some(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    target: NDArray[np.int32],
    first: int,
    last: int,
    renumbered: NDArray[np.int32],
    lengths: NDArray[np.int64],
) -> None:
    """Write the rows ``first:last``, renumbered, one after the other to where the first stands, and how many items each
    has kept.
    """
    end = indptr[first]
    for row in range(first, last):
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
        lengths[row] = end - begin


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
