"""Rows of items in lexicographic order, and which of them are equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGE = 500_000  # occurrences from which a compiled loop, or a second processor, is worth while


def take_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rows: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The given rows, in the given order."""
    lengths = np.diff(indptr)[rows]
    bounds = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return bounds, items[np.arange(bounds[-1]) + np.repeat(indptr[rows] - bounds[:-1], lengths)]


def distinct_rows(order: NDArray[np.int64], start: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From what ``sort_rows`` returns: one row of each kind, in order, and for every row which kind it is."""
    is_first = start == np.arange(len(order))
    kind = np.empty(len(order), dtype=np.int64)
    kind[order] = np.cumsum(is_first) - 1
    return order[is_first], kind


def sort_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order CSR rows lexicographically; a prefix comes before its extensions; equal rows keep their order.

    Returns ``(order, start)``: ``order[j]`` is the row at place ``j`` and ``start[j]`` the place of the first row
    equal to it. Many rows are parted by their first items and sorted side by side.
    """
    n_records = len(indptr) - 1
    positions = np.arange(n_records, dtype=np.int64)
    if len(items) <= LARGE:
        return _sort_some(indptr, items, n_items, positions)
    from setveil.arrays.rows import find_new_rows
    from setveil.arrays.threads import map_in_order

    is_new = find_new_rows(indptr, items)
    if is_new is not None:  # in order already, as in the files of a release
        return positions, np.maximum.accumulate(np.where(is_new, positions, 0))
    first = np.where(indptr[:-1] < indptr[1:], items[np.minimum(indptr[:-1], len(items) - 1)], -1)
    until = np.cumsum(np.bincount(first + 1, minlength=n_items + 1))
    bounds = np.unique(np.searchsorted(until, np.arange(0, n_records, LARGE)))
    part_of = np.searchsorted(bounds, np.arange(n_items + 1), side="right").astype(np.int32)[first + 1]
    parts = [np.flatnonzero(part_of == part) for part in range(len(bounds) + 1)]
    done = list(map_in_order(lambda rows: _sort_some(indptr, items, n_items, rows), parts))
    begins = np.cumsum([0, *map(len, parts)])
    starts = [start + begin for (_, start), begin in zip(done, begins[:-1], strict=True)]
    return np.concatenate([order for order, _ in done]), np.concatenate(starts)


def _sort_some(
    indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``sort_rows`` of the given rows alone, refined block by block: as many columns as fit in 63 bits are packed into
    one key, and only rows that are still tied and still have items go on to the next block. So dense and long rows
    cost no more than their ties.
    """
    order = rows
    start = np.zeros(len(rows), dtype=np.int64)
    bits = max(int(n_items).bit_length(), 1)  # codes 1..n_items; 0 ends a row, so that a prefix sorts first
    n_columns = 63 // bits
    active = np.arange(len(rows), dtype=np.int64)  # positions not yet decided
    column = 0
    while len(active):
        rows = order[active]
        key = _pack_columns(indptr, items, rows, column, n_columns, bits)
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
    if len(items) > LARGE:  # worth loading a compiled loop
        from setveil.arrays.rows import pack_columns

        return pack_columns(indptr, items, rows, column, n_columns, bits)
    lengths = indptr[rows + 1] - indptr[rows]
    key = np.zeros(len(rows), dtype=np.int64)
    for offset in range(column, column + n_columns):
        key <<= bits
        if len(items):
            place = np.minimum(indptr[rows] + offset, len(items) - 1)
            key += np.where(offset < lengths, items[place] + 1, 0)
    return key
