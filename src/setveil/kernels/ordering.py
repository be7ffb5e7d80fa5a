"""Loops behind the orderings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.compile import compiled


@compiled
def encode_gray_rows(
    indptr: NDArray[np.int64], items: NDArray[np.int32], rank: NDArray[np.int32], codes: NDArray[np.int32]
) -> None:
    """Write each row as one code per item and one for its end, such that Gray order is lexicographic order of codes.

    ``rank[item]`` is the item's bit, 0 for the most significant; ``codes`` has room for ``len(items) + n_rows``. At even
    places a larger bit comes first and the end before everything; at odd places it is the other way round.
    """
    n_bits = len(rank)
    for row in range(len(indptr) - 1):
        first = indptr[row] + row
        length = indptr[row + 1] - indptr[row]
        for place in range(length):
            codes[first + place] = rank[items[indptr[row] + place]]
        codes[first : first + length].sort()
        for place in range(0, length, 2):
            codes[first + place] = n_bits - codes[first + place]
        codes[first + length] = n_bits if length % 2 else 0
