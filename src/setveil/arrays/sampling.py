"""Random draws in bulk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_subsets(lengths: NDArray[np.int64], size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """For each length n ≥ size a random subset of 0 … n-1 by Floyd's method, int64[lengths, size], unordered."""
    chosen = np.empty((len(lengths), size), dtype=np.int64)
    for number in range(size):
        newcomer = lengths - size + number  # the largest position allowed in this round
        draw = random.integers(0, newcomer + 1)
        taken = (chosen[:, :number] == draw[:, None]).any(axis=1)
        chosen[:, number] = np.where(taken, newcomer, draw)
    return chosen
