"""Which records may show something below a node instead of the node."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_sets import FREE, find_place, shift_for
from setveil.arrays.compiling import compiled

# Sets of labels as numbers, how many rows show each, and how many sets there are: a hash table.
Table: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]


class Faces(NamedTuple):
    """What each row shows, one way or the other. Labels that only one of the ways has come first in a row."""

    indptr: NDArray[np.int64]  # [n_rows + 1]
    labels: NDArray[np.int64]  # from 1 on; ascending among those that come first, and among the others
    n_own: NDArray[np.int64]  # [n_rows] how many come first
    n_sets: NDArray[np.int64]  # [n_rows] how many sets of at most m labels have one of them


@compiled
def visit_sets(faces: Faces, row: int, m: int, width: int, table: Table, amount: int, k: int) -> bool:
    """Add ``amount`` to the count of every set of at most m labels of a row that has one of its own; whether one of
    them is then shown by some rows, but fewer than k. With 0 nothing changes, and the first such set is enough.
    """
    keys, counts, n_keys = table
    shift = shift_for(len(keys))
    start, end = faces.indptr[row], faces.indptr[row + 1]
    at = np.zeros(m + 1, dtype=np.int64)
    key = np.zeros(m + 1, dtype=np.int64)
    is_rare = False
    depth = 1
    at[1] = start - 1
    while depth > 0:
        at[depth] += 1
        if at[depth] >= (start + faces.n_own[row] if depth == 1 else end):
            depth -= 1
            continue
        key[depth] = key[depth - 1] * width + faces.labels[at[depth]]
        place = find_place(keys, shift, key[depth])
        if amount != 0:
            if keys[place] == FREE:
                keys[place] = key[depth]
                n_keys[0] += 1
            counts[place] += amount
        if keys[place] != FREE and 0 < counts[place] < k:
            is_rare = True
            if amount == 0:
                break
        if depth < m:
            depth += 1
            at[depth] = at[depth - 1]
    return is_rare


@compiled
def count_rows(faces: Faces, m: int, width: int, table: Table, first: int) -> int:
    """Count the sets of rows from ``first`` on, as long as the table has room; where it stopped."""
    row = first
    while row < len(faces.n_own) and 2 * (table[2][0] + faces.n_sets[row]) <= len(table[0]):
        visit_sets(faces, row, m, width, table, 1, 0)
        row += 1
    return row


@compiled
def lift_rows(
    high: Faces,
    low: Faces,
    m: int,
    k: int,
    width: int,
    table: Table,
    is_low: NDArray[np.uint8],
    at: NDArray[np.int64],
) -> None:
    """Lift low rows that show a rare set, or share one with rows that were lifted, from row ``at[0]`` to before row
    ``at[1]``; stops before a row for which the table may be too small. ``at[2]`` counts the rows lifted.
    """
    while at[0] < at[1] and 2 * (table[2][0] + high.n_sets[at[0]]) <= len(table[0]):
        row = at[0]
        if is_low[row] and (
            visit_sets(low, row, m, width, table, 0, k) or visit_sets(high, row, m, width, table, 0, k)
        ):
            visit_sets(low, row, m, width, table, -1, k)
            visit_sets(high, row, m, width, table, 1, k)
            is_low[row] = 0
            at[2] += 1
        at[0] += 1
