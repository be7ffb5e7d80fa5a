"""Sets of itemsets: which itemsets contain a known one, and what suppressing costs when a cut is refined."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.compile import compiled

# -- itemsets that contain a known one ------------------------------------------------------------------------------


@compiled
def hash_of_items(items: NDArray[np.int32], size: int) -> int:
    """A number of 62 bits for the first ``size`` items."""
    code = np.uint64(size)
    for place in range(size):
        code = (code ^ np.uint64(items[place])) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return np.int64(code >> np.uint64(2))  # type: ignore[return-value]


@compiled
def add_to_table(table: NDArray[np.int64], itemsets: NDArray[np.int32], sizes: NDArray[np.int64]) -> None:
    """Enter itemsets (rows, of which the first ``sizes`` items count) into an open hash table of their numbers, -1 where free."""
    mask = len(table) - 1  # the length is a power of two, at least twice the number of itemsets
    for number in range(len(itemsets)):
        slot = hash_of_items(itemsets[number], sizes[number]) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number


@compiled
def mark_supersets(
    candidates: NDArray[np.int32],
    table: NDArray[np.int64],
    itemsets: NDArray[np.int32],
    sizes: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which candidates [n, size] contain one of the ``itemsets`` in the table; all are sorted the same way.

    Subsets of two items up to one less than the candidate's size are looked up.
    """
    size = candidates.shape[1]
    mask = len(table) - 1
    marked = np.zeros(len(candidates), dtype=np.bool_)
    subset = np.empty(size, dtype=np.int32)
    for c in range(len(candidates)):
        for chosen in range(1, (1 << size) - 1):
            n_chosen = 0
            for place in range(size):
                if chosen >> place & 1:
                    subset[n_chosen] = candidates[c, place]
                    n_chosen += 1
            if n_chosen < 2:
                continue
            slot = hash_of_items(subset, n_chosen) & mask
            while table[slot] >= 0 and not marked[c]:
                known = table[slot]
                same = sizes[known] == n_chosen
                for place in range(n_chosen):
                    same = same and itemsets[known, place] == subset[place]
                marked[c] = same
                slot = (slot + 1) & mask
            if marked[c]:
                break
    return marked
