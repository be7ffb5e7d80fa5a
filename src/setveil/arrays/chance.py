# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Random numbers inside kernels: the same on every machine, whatever the libraries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled


def chance_from(*seed: int) -> NDArray[np.uint64]:
    """The state of a generator, uint64[1]; equal seeds give equal numbers."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


@compiled
def draw(state: NDArray[np.uint64]) -> np.uint64:
    """The next random number below 2^32 (xorshift64*)."""
    word = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return (word * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)


@compiled
def draw_below(state: NDArray[np.uint64], n: int) -> int:
    """A random number from 0 … n-1, n below 2^32."""
    return np.int64((draw(state) * np.uint64(n)) >> np.uint64(32))
