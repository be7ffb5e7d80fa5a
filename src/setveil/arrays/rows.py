"""Rows of items as CSR: renumbering, and putting the parts of a row together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.sorting import sort_values
from setveil.arrays.threads import for_slices, slices_of
from setveil.kernels import compiled

SHORT = 32  # items of a row that are put in their places one by one


def renumber_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Replace every item by its target, -1 to drop it; each row ascending and without repeats."""
    renumbered = np.empty(len(items), dtype=np.int32)
    lengths = np.zeros(len(indptr) - 1, dtype=np.int64)
    for_slices(
        lambda first, last: renumber_some(indptr, items, target, first, last, renumbered, lengths), slices_of(indptr)
    )
    bounds = np.zeros(len(indptr), dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    if bounds[-1] < len(items):
        close_gaps(indptr, bounds, renumbered)
        renumbered = renumbered[: bounds[-1]].copy()
    return bounds, renumbered


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
    """Write the rows ``first:last``, renumbered, to where they stand, and how many items each has kept."""
    for row in range(first, last):
        begin = indptr[row]
        end = begin
        ascends = True
        for place in range(begin, indptr[row + 1]):
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
def close_gaps(starts: NDArray[np.int64], bounds: NDArray[np.int64], items: NDArray[np.int32]) -> None:
    """Move rows that begin at ``starts`` to where they belong by ``bounds``, which is never further back."""
    for row in range(len(bounds) - 1):
        shift = starts[row] - bounds[row]
        if shift > 0:
            for place in range(bounds[row], bounds[row + 1]):
                items[place] = items[place + shift]


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


def take_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The given rows in the given order."""
    bounds = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(np.diff(indptr)[rows], out=bounds[1:])
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
