"""Rows of items: where they begin, some of them, their lexicographic order, and which of them are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Pack = Callable[[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], int, int, int], NDArray[np.int64]]
MANY = 200_000  # rows from which a compiled loop is worth loading


def bounds_of(lengths: NDArray[np.integer] | NDArray[np.bool_] | Sequence[int]) -> NDArray[np.int64]:
    """Where rows of these lengths begin, one after the other, and where the last one ends: int64[rows + 1]."""
    bounds = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds


def entries_of(indptr: NDArray[np.int64], rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(bounds, positions)``: where the entries of the given rows stand, in the given order of rows."""
    lengths = np.diff(indptr)[rows]
    bounds = bounds_of(lengths)
    positions = np.repeat(indptr[rows] - bounds[:-1], lengths)
    positions += np.arange(bounds[-1])
    return bounds, positions


def take_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The given rows, in the given order."""
    if len(rows) > MANY:  # worth loading a compiled loop, which needs no positions
        from setveil.arrays.rows import copy_rows

        bounds = bounds_of((indptr[1:] - indptr[:-1])[rows])
        return bounds, copy_rows(indptr, items, np.asarray(rows, dtype=np.int64), bounds)
    bounds, positions = entries_of(indptr, rows)
    return bounds, items[positions]


def distinct_rows(order: NDArray[np.int64], start: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From what ``sort_rows`` returns: one row of each kind, in order, and for every row which kind it is."""
    is_first = start == np.arange(len(order))
    kind = np.empty(len(order), dtype=np.int64)
    kind[order] = np.cumsum(is_first) - 1
    return order[is_first], kind


def sort_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int, pack: Pack | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order CSR rows lexicographically; a prefix comes before its extensions; equal rows keep their order.

    Returns ``(order, start)``: ``order[j]`` is the row at place ``j`` and ``start[j]`` the place of the first row
    equal to it. As many columns as fit in 63 bits are packed into one key, and only rows that are still tied and still
    have items go on to the next block of columns. So dense and long rows cost no more than their ties. ``pack``:
    a faster ``_pack_columns``.
    """
    order = np.arange(len(indptr) - 1, dtype=np.int64)
    start = np.zeros(len(order), dtype=np.int64)
    if len(order) > MANY:  # as files of releases are written: nothing to sort
        from setveil.arrays.rows import are_in_order

        if are_in_order(indptr, items, start):
            return order, start
        start[:] = 0
    bits = max(int(n_items).bit_length(), 1)  # codes 1..n_items; 0 ends a row, so that a prefix sorts first
    n_columns = 63 // bits
    active = np.arange(len(order), dtype=np.int64)  # positions not yet decided
    column = 0
    while len(active):
        rows = order[active]
        key = (pack or _pack_columns)(indptr, items, rows, column, n_columns, bits)
        # Positions of one tie group are adjacent, so sorting by (group, key) permutes inside groups only.
        group = start[active]
        resorted = np.lexsort((key, group)) if column else np.argsort(key, kind="stable")
        rows, key = rows[resorted], key[resorted]
        order[active] = rows
        new_run = np.concatenate(([True], (key[1:] != key[:-1]) | (group[1:] != group[:-1])))
        run = np.cumsum(new_run) - 1
        start[active] = active[new_run][run]
        column += n_columns
        tied = np.bincount(run)[run] > 1
        # A row that ends exactly at the block's edge needs one more round: it goes before the rows it is a prefix of.
        active = active[tied & (indptr[rows + 1] - indptr[rows] >= column)]
    return order, start


def _pack_columns(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.int64], column: int, n_columns: int, bits: int
) -> NDArray[np.int64]:
    """The items of each row from ``column`` on as one number, int64[rows]."""
    lengths = indptr[rows + 1] - indptr[rows]
    key = np.zeros(len(rows), dtype=np.int64)
    for offset in range(column, column + n_columns):
        key <<= bits
        if len(items):
            place = np.minimum(indptr[rows] + offset, len(items) - 1)
            key += np.where(offset < lengths, items[place] + 1, 0)
    return key
