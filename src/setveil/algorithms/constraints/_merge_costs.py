# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""What merging two clusters costs: exact comparisons of losses that are too large to write down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

UL, DELTA_UL, DELTA_MASS = 0, 1, 2  # what a merge costs
ROOM = 1 << 62  # integers are kept below this, so that sums do not overflow


class Merge(NamedTuple):
    """Two clusters and what they would become; losses are supports times weights."""

    left: int
    right: int
    left_size: int
    right_size: int
    left_loss: int
    right_loss: int
    loss: int  # of both together


@compiled
def compare_costs(one: Merge, other: Merge, criterion: int) -> int:
    """Negative if the first merge costs less, positive if more, zero if the same. Exact."""
    if criterion == UL:
        return compare_powers(one.left_size + one.right_size, one.loss, other.left_size + other.right_size, other.loss)
    if criterion == DELTA_MASS:
        return _mass_gain(one) - _mass_gain(other)
    return compare_ul_gains(one, other)


@compiled
def _mass_gain(merge: Merge) -> int:
    return merge.left_size * (merge.loss - merge.left_loss) + merge.right_size * (merge.loss - merge.right_loss)


@compiled
def compare_powers(n: int, s: int, n_other: int, s_other: int) -> int:
    """The sign of (2^n - 1) s - (2^n_other - 1) s_other, for n at least 1 and s from 0 up."""
    sign = 1
    if n < n_other:
        n, s, n_other, s_other, sign = n_other, s_other, n, s, -1
    if s == 0:
        return -sign if s_other > 0 else 0
    d = n - n_other
    if d >= 62 or s > (ROOM >> d):
        return sign
    x = (s << d) - s_other  # the difference is 2^n_other x - (s - s_other)
    if x == 0:
        return sign * np.sign(s_other - s)
    if n_other >= 62 or abs(x) > (ROOM >> n_other):
        return sign * np.sign(x)
    return sign * np.sign((x << n_other) - (s - s_other))


@compiled
def compare_ul_gains(one: Merge, other: Merge) -> int:
    """The sign of the difference of what two merges add to the total UL."""
    top = max(one.left_size + one.right_size, other.left_size + other.right_size)
    near = _scaled_gain(one, top) - _scaled_gain(other, top)
    size = one.loss + other.loss + 1.0
    if abs(near) > 1e-9 * size:  # far above the rounding of a dozen operations on terms no larger than this
        return 1 if near > 0 else -1
    # Exactly: a sum of integers times powers of two, from the highest power down.
    exponent = np.zeros(8, dtype=np.int64)
    factor = np.zeros(8, dtype=np.int64)
    for number in range(2):
        merge, sign = (one, 1) if number == 0 else (other, -1)
        exponent[4 * number + 0], factor[4 * number + 0] = merge.left_size + merge.right_size, sign * merge.loss
        exponent[4 * number + 1], factor[4 * number + 1] = merge.left_size, -sign * merge.left_loss
        exponent[4 * number + 2], factor[4 * number + 2] = merge.right_size, -sign * merge.right_loss
        factor[4 * number + 3] = sign * (merge.left_loss + merge.right_loss - merge.loss)
    rest = np.int64(0)
    for number in range(8):
        rest += abs(factor[number])
    order = stable_order(-exponent)
    total = np.int64(0)
    for number in range(8):
        total += factor[order[number]]
        down = exponent[order[number]] - (exponent[order[number + 1]] if number < 7 else 0)
        if down > 0 and total != 0:
            if down >= 62 or abs(total) > (ROOM >> down):
                return 1 if total > 0 else -1
            total <<= down
            if abs(total) > rest:
                return 1 if total > 0 else -1
    return np.sign(total)


@compiled
def _scaled_gain(merge: Merge, top: int) -> float:
    n = merge.left_size + merge.right_size
    return (
        merge.loss * 2.0 ** (n - top)
        - merge.left_loss * 2.0 ** (merge.left_size - top)
        - merge.right_loss * 2.0 ** (merge.right_size - top)
        - (merge.loss - merge.left_loss - merge.right_loss) * 2.0 ** (-top)
    )
