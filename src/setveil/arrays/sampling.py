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


ROUNDS = 6


def scatter(positions: NDArray[np.int64], n: int, seed: int) -> NDArray[np.int64]:
    """Where a random permutation of 0 … n-1 puts some of these positions; each is found without the others.

    A Feistel network over the smallest even number of bits: each round mixes one half into the other, which can be
    undone, so no two positions meet. What falls outside goes round again until it is inside.
    """
    half = max(-(-(n - 1).bit_length() // 2), 1)
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    keys = np.random.default_rng((seed, 0x5CA77E8)).integers(0, 1 << 63, ROUNDS, dtype=np.uint64)
    found = positions.astype(np.uint64)
    outside = np.arange(len(found))
    while len(outside):
        left, right = found[outside] >> shift, found[outside] & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        found[outside] = (left << shift) | right
        outside = outside[found[outside] >= n]
    return found.astype(np.int64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's mixing of bits; wraps around."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = values ^ (values >> np.uint64(31))
    return mixed
