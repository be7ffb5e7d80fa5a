# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops behind the orderings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import sort_values


@compiled
def encode_gray_rows(
    indptr: NDArray[np.int64],
    column_indptr: NDArray[np.int64],
    column_rows: NDArray[np.int32],
    by_rank: NDArray[np.int64],
    codes: NDArray[np.int32],
) -> None:
    """Write each row as one code per item and one for its end, such that Gray order is lexicographic order of codes.

    ``column_indptr``, ``column_rows``: the rows of each item; ``by_rank``: the items, most significant bit first;
    ``codes`` has room for all items and an end of each row. At even positions a larger bit comes first and the end
    before everything; at odd positions it is the other way round. Going through the items in order spares sorting rows.
    """
    n_bits, n_rows = len(by_rank), len(indptr) - 1
    length = np.zeros(n_rows, dtype=np.int64)  # so far
    for bit in range(n_bits):
        item = by_rank[bit]
        for place in range(column_indptr[item], column_indptr[item + 1]):
            row = column_rows[place]
            codes[indptr[row] + row + length[row]] = bit if length[row] & 1 else n_bits - bit
            length[row] += 1
    for row in range(n_rows):
        codes[indptr[row + 1] + row] = n_bits if length[row] & 1 else 0


@compiled
def pack_codes(
    indptr: NDArray[np.int64], codes: NDArray[np.int32], rows: NDArray[np.int64], column: int, n_columns: int, bits: int
) -> NDArray[np.int64]:
    """What ``core.row_order`` packs, in one pass."""
    keys = np.empty(len(rows), dtype=np.int64)
    for number in range(len(rows)):
        first, last = indptr[rows[number]] + column, indptr[rows[number] + 1]
        key = np.int64(0)
        for place in range(first, first + n_columns):
            key = (key << bits) | (codes[place] + 1 if place < last else 0)
        keys[number] = key
    return keys


@compiled
def walk_on(
    queue: NDArray[np.int64],
    tally: NDArray[np.int64],
    n_steps: int,
    rows: tuple[NDArray[np.int64], NDArray[np.int32]],
    columns: tuple[NDArray[np.int64], NDArray[np.int32]],
    seen_row: NDArray[np.int64],
    seen_item: NDArray[np.int64],
    walk: int,
) -> bool:
    """Go on with a breadth-first walk over rows that share items, for ``n_steps`` rows; whether it has ended.

    ``tally``: next place in the queue to leave from, end of the queue, end of the level being left from, its start,
    number of levels. Rows met from the same row join the queue in ascending order. What this walk has seen carries its
    number.
    """
    head, tail, level_end, level_start, n_levels = tally
    for _ in range(n_steps):
        if head == tail:
            break
        if head == level_end:
            level_start, level_end = level_end, tail
            n_levels += 1
        row = queue[head]
        head += 1
        first = tail
        for j in range(rows[0][row], rows[0][row + 1]):
            item = rows[1][j]
            if seen_item[item] == walk:
                continue
            seen_item[item] = walk
            for i in range(columns[0][item], columns[0][item + 1]):
                other = columns[1][i]
                if seen_row[other] != walk:
                    seen_row[other] = walk
                    queue[tail] = other
                    tail += 1
        sort_values(queue[first:tail])
    tally[0], tally[1], tally[2], tally[3], tally[4] = head, tail, level_end, level_start, n_levels
    return head == tail
