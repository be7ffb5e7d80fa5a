"""Rows of items as CSR: renumbering, and putting the parts of a row together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import sort_values
from setveil.arrays.threads import for_slices, map_in_order, slices_of

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


@compiled
def gather_runs(
    row_of_run: NDArray[np.int64], run_lengths: NDArray[np.int32], items: NDArray[np.int32], n_rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows from runs of items that lie one after the other, the runs of one row not side by side."""
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    for run in range(len(row_of_run)):
        indptr[row_of_run[run] + 1] += run_lengths[run]
    for row in range(n_rows):
        indptr[row + 1] += indptr[row]
    fill = indptr[:-1].copy()
    gathered = np.empty(len(items), dtype=np.int32)
    place = 0
    for run in range(len(row_of_run)):
        at = fill[row_of_run[run]]
        for move in range(run_lengths[run]):
            gathered[at + move] = items[place + move]
        fill[row_of_run[run]] = at + run_lengths[run]
        place += run_lengths[run]
    return indptr, gathered


@compiled
def sum_over_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], values: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """The sum of ``values`` [n_items] over the items of each row, modulo 2^64."""
    sums = np.zeros(len(indptr) - 1, dtype=np.uint64)
    for row in range(len(sums)):
        for place in range(indptr[row], indptr[row + 1]):
            sums[row] += values[items[place]]
    return sums


def take_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The given rows in the given order."""
    bounds = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(indptr[rows + 1] - indptr[rows], out=bounds[1:])
    taken = np.empty(bounds[-1], dtype=np.int32)
    for_slices(lambda first, last: take_some(indptr, items, rows, first, last, bounds, taken), slices_of(bounds))
    return bounds, taken


@compiled
def take_some(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    rows: NDArray[np.int64],
    first: int,
    last: int,
    bounds: NDArray[np.int64],
    taken: NDArray[np.int32],
) -> None:
    """Copy the rows ``rows[first:last]`` to ``taken``, where ``bounds`` says."""
    for number in range(first, last):
        shift = indptr[rows[number]] - bounds[number]
        for place in range(bounds[number], bounds[number + 1]):
            taken[place] = items[place + shift]


def find_new_rows(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.bool_] | None:
    """Which rows differ from the one before, if all are in lexicographic order; None if they are not."""
    is_new = np.full(len(indptr) - 1, True, dtype=np.bool_)
    for is_sorted in map_in_order(lambda part: mark_repeats(indptr, items, *part, is_new), slices_of(indptr)):
        if not is_sorted:
            return None
    return is_new


@compiled
def mark_repeats(
    indptr: NDArray[np.int64], items: NDArray[np.int32], first: int, last: int, is_new: NDArray[np.bool_]
) -> bool:
    """Mark the rows ``first:last`` that are equal to the one before; False as soon as one would come before it."""
    for row in range(max(first, 1), last):
        one, other, end = indptr[row - 1], indptr[row], indptr[row + 1]
        while one < indptr[row] and other < end and items[one] == items[other]:
            one += 1
            other += 1
        if one < indptr[row] and (other == end or items[one] > items[other]):
            return False
        is_new[row] = other < end
    return True


@compiled
def pack_columns(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int64], column: int, n_columns: int, bits: int
) -> NDArray[np.int64]:
    """The items of each row from ``column`` on as one number: 1 + item in so many bits each, 0 after the end."""
    packed = np.empty(len(rows), dtype=np.int64)
    for number in range(len(rows)):
        begin, end = indptr[rows[number]] + column, indptr[rows[number] + 1]
        key = np.int64(0)
        for place in range(begin, begin + n_columns):
            key <<= bits
            if place < end:
                key |= np.int64(items[place]) + 1
        packed[number] = key
    return packed
