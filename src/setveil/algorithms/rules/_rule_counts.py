# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops over rules: records are bits, one row of words per cluster and per right side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import popcount


@compiled
def fill_bits(owners: NDArray[np.int64], rows: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
    """Set the bit of record ``owners[j]`` in row ``rows[j]``; rows below 0 are passed over."""
    for place in range(len(owners)):
        if rows[place] >= 0:
            bits[rows[place], owners[place] >> 6] |= np.uint64(1) << np.uint64(owners[place] & 63)


@compiled
def count_union(bits: NDArray[np.uint64], row: int, others: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Records with ``row`` or the other row, for each other row."""
    for number in range(len(others)):
        other = others[number]
        total = 0
        for word in range(bits.shape[1]):
            total += np.int64(popcount(bits[row, word] | bits[other, word]))
        counts[number] = total


@compiled
def count_rules(
    bits: NDArray[np.uint64],
    cluster_of: NDArray[np.int64],  # [public items] row of ``bits``
    starts: NDArray[np.int64],  # [rules + 1] into ``known``
    known: NDArray[np.int64],  # public items of the left sides
    sides: NDArray[np.uint64],  # [right sides] records with it
    limits: NDArray[np.int64],  # [rules, 5] right side, k, numerator and denominator of the share, surplus allowed
    which: NDArray[np.int64],  # the rules to count
    alone: NDArray[np.int64],  # [which]
    surplus: NDArray[np.int64],  # [which] records with both sides above what the share allows, 0 or less if none
    stops: bool,  # at the first rule that is violated
) -> int:
    """Count rules in the clustering; where the first violated one stands in ``which``, or how many there are."""
    n_words = bits.shape[1]
    rows = np.empty(len(cluster_of) + 1, dtype=np.int64)
    first = len(which)
    for number in range(len(which)):
        rule = which[number]
        n_rows = 0
        for place in range(starts[rule], starts[rule + 1]):
            row = cluster_of[known[place]]
            is_new = True
            for other in range(n_rows):
                is_new = is_new and rows[other] != row
            if is_new:
                rows[n_rows] = row
                n_rows += 1
        side = limits[rule, 0]
        n_alone = 0
        n_both = 0
        for word in range(n_words):
            mask = bits[rows[0], word]
            for other in range(1, n_rows):
                mask &= bits[rows[other], word]
            if mask != 0:
                n_alone += np.int64(popcount(mask))
                n_both += np.int64(popcount(mask & sides[side, word]))
        above = n_both - n_alone * limits[rule, 2] // limits[rule, 3]
        alone[number] = n_alone
        surplus[number] = above
        if first == len(which) and (0 < n_alone < limits[rule, 1] or above > limits[rule, 4]):
            first = number
            if stops:
                break
    return first
