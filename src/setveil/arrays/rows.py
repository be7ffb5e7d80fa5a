"""Rows of items as CSR: renumbering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compile import compiled


@compiled
def renumber_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], target: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Replace every item by its target, -1 to drop it; each row ascending and without repeats."""
    n_rows = len(indptr) - 1
    new_indptr = np.zeros(n_rows + 1, dtype=np.int64)
    new_items = np.empty(len(items), dtype=np.int32)
    end = 0
    for row in range(n_rows):
        begin = end
        for place in range(indptr[row], indptr[row + 1]):
            value = target[items[place]]
            if value < 0:
                continue
            at = end
            while at > begin and new_items[at - 1] > value:
                at -= 1
            if at > begin and new_items[at - 1] == value:
                continue
            for move in range(end, at, -1):
                new_items[move] = new_items[move - 1]
            new_items[at] = value
            end += 1
        new_indptr[row + 1] = end
    return new_indptr, new_items[:end].copy()
