# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops behind the orderings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import sort_values


@compiled
def encode_gray_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rank: NDArray[np.int32], codes: NDArray[np.int32]
) -> None:
    """Write each row as one code per item and one for its end, such that Gray order is lexicographic order of codes.

    ``rank[item]`` is the item's bit, 0 for the most significant; ``codes`` has room for ``len(items) + n_rows``. At
    even positions a larger bit comes first and the end before everything; at odd positions it is the other way round.
    """
    n_bits = len(rank)
    for row in range(len(indptr) - 1):
        first = indptr[row] + row
        length = indptr[row + 1] - indptr[row]
        for place in range(length):
            codes[first + place] = rank[items[indptr[row] + place]]
        sort_values(codes[first : first + length])
        for place in range(0, length, 2):
            codes[first + place] = n_bits - codes[first + place]
        codes[first + length] = n_bits if length % 2 else 0


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
