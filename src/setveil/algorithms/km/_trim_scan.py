"""Passes over all records: which sets each of them holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_rows import State
from setveil.algorithms.km._trim_sets import Sets, look_up
from setveil.arrays.compiling import compiled


@compiled
def scan_rows(
    state: State,
    sets: Sets,
    fill: NDArray[np.int64],
    holders: NDArray[np.int32],
    has_rare: NDArray[np.uint8],
    progress: NDArray[np.int64],
    limits: tuple[int, int],
) -> None:
    """Enter rows into the lists of the sets they hold, and find those that hold a rare set.

    ``fill[s]`` is the next place in ``holders`` for set ``s``, -1 for sets without a list. The numbers of the pairs of
    rows that hold a set of fewer than ``near`` rows are written down as long as there is room. ``progress`` is
    [next row, pairs written], ``limits`` a budget and ``near``.
    """
    budget, near = limits
    keys, numbers, shift, n_items = sets.keys, sets.numbers, sets.shift, sets.n_items
    at = np.zeros(state.m + 1, dtype=np.int64)
    number = np.zeros(state.m + 1, dtype=np.int64)
    steps = 0
    while progress[0] < len(state.indptr) - 1 and steps < budget:
        row = progress[0]
        progress[0] += 1
        start, end = state.indptr[row], state.indptr[row + 1]
        n_pairs = (end - start) * (end - start - 1) // 2
        step = progress[1]
        writes = step + n_pairs <= len(state.pairs)
        is_concerned = is_near = False
        depth = 1
        at[1] = start - 1
        while depth > 0:
            at[depth] += 1
            if at[depth] >= end:
                depth -= 1
                continue
            steps += 1
            item = state.items[at[depth]]
            found = np.int64(item)
            if depth > 1:
                found = np.int64(look_up(keys, numbers, shift, number[depth - 1] * n_items + item))
            if depth == 2 and writes:
                state.pairs[step] = found
                step += 1
            if found < 0:
                is_concerned = True
                continue
            is_near |= sets.support[found] < near
            if fill[found] >= 0:
                holders[fill[found]] = row
                fill[found] += 1
            if depth < state.m:
                number[depth] = found
                depth += 1
                at[depth] = at[depth - 1]
        has_rare[row] = 1 if is_concerned else 0
        if (is_concerned or is_near) and writes and state.m > 1:
            state.pair_starts[row] = progress[1]
            progress[1] = step


@compiled
def count_sets(state: State, sets: Sets) -> None:
    """Count from scratch in how many rows each set is shown."""
    for entry in range(len(state.count)):
        state.count[entry] = 0
    keys, numbers, shift, n_items = sets.keys, sets.numbers, sets.shift, sets.n_items
    at = np.zeros(state.m + 1, dtype=np.int64)
    number = np.zeros(state.m + 1, dtype=np.int64)
    for row in range(len(state.indptr) - 1):
        end = state.indptr[row + 1]
        depth = 1
        at[1] = state.indptr[row] - 1
        while depth > 0:
            at[depth] += 1
            if at[depth] >= end:
                depth -= 1
                continue
            if state.kept[at[depth]] == 0:
                continue
            item = state.items[at[depth]]
            found = np.int64(item)
            if depth > 1:
                found = np.int64(look_up(keys, numbers, shift, number[depth - 1] * n_items + item))
            if found < 0:
                continue
            state.count[found] += 1
            if depth < state.m:
                number[depth] = found
                depth += 1
                at[depth] = at[depth - 1]
