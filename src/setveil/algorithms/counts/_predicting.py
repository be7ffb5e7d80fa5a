# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops over the triples of a table of counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled


@compiled
def predict_triples(
    n_records: int, triples: NDArray[np.int32], singles: NDArray[np.int64], keys: NDArray[np.int64],
    pair_counts: NDArray[np.int64],
) -> NDArray[np.float64]:  # fmt: skip
    """What counts of items and pairs predict for each triple: the distribution of largest entropy, by bisection.

    ``keys``: the pairs as ``first * n_items + second``, ascending; ``pair_counts``: their counts.
    """
    n_items = len(singles)
    found = np.empty(len(triples), dtype=np.float64)
    pairs = np.empty(3, dtype=np.float64)
    for number in range(len(triples)):
        one, two, three = np.int64(triples[number, 0]), np.int64(triples[number, 1]), np.int64(triples[number, 2])
        for at in range(3):
            first, second = (one, two) if at == 0 else (one, three) if at == 1 else (two, three)
            low, high, key = 0, len(keys), first * n_items + second
            while low < high:
                middle = (low + high) >> 1
                if keys[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            pairs[at] = pair_counts[low]
        found[number] = predict(
            float(n_records), float(singles[one]), float(singles[two]), float(singles[three]),
            pairs[0], pairs[1], pairs[2],
        )  # fmt: skip
    return found


@compiled
def predict(n: float, a: float, b: float, c: float, ab: float, ac: float, bc: float) -> float:
    """t with t (a-only) (b-only) (c-only) = (ab-only) (ac-only) (bc-only) (none), as far as rounded counts allow."""
    low = max(0.0, ab + ac - a, ab + bc - b, ac + bc - c)
    high = min(ab, ac, bc, n - a - b - c + ab + ac + bc)
    if high <= low:
        return max(min(low, ab, ac, bc), 0.0)
    for _ in range(50):
        t = (low + high) / 2
        more = t * (a - ab - ac + t) * (b - ab - bc + t) * (c - ac - bc + t)
        less = (ab - t) * (ac - t) * (bc - t) * (n - a - b - c + ab + ac + bc - t)
        if more > less:
            high = t
        else:
            low = t
    return (low + high) / 2
