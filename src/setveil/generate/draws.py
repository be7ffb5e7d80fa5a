"""Random numbers that are the same on every machine and with every version of NumPy.

Only two things are relied on: the raw 64-bit stream of PCG64, which NumPy guarantees to keep, and integer arithmetic or
single IEEE operations on top of it. Library functions that may round differently (log, exp) go through ``decimal``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

ONE = 2**32  # probabilities are integers below this
MOST_RECORDS, LARGEST_SEED = 10**12, 2**63 - 1


class Draws:
    """One stream of random numbers, identified by the seed and further numbers (chunk, part of the model)."""

    def __init__(self, seed: int, *key: int) -> None:
        self._source = np.random.PCG64(np.random.SeedSequence((seed, *key)))

    def bits(self, n: int) -> NDArray[np.uint64]:
        """Uniform integers below 2**32, uint64[n]; two from each raw draw."""
        raw = self._source.random_raw((n + 1) // 2).astype("<u8", copy=False)
        return raw.view("<u4")[:n].astype(np.uint64)

    def below(self, limit: int, n: int) -> NDArray[np.int64]:
        """Uniform integers below a limit much smaller than 2**32, int64[n]."""
        return ((self.bits(n) * np.uint64(limit)) >> np.uint64(32)).astype(np.int64)

    def exponential(self, n: int) -> NDArray[np.float64]:
        """Exponential with mean 1, float64[n]; for tables, not for records: each draw costs a decimal logarithm."""
        with localcontext() as context:
            context.prec = 20
            draws = [-float(((Decimal(u) + Decimal("0.5")) / ONE).ln()) for u in self.bits(n).tolist()]
        return np.array(draws, dtype=np.float64)

    def normal(self, n: int) -> NDArray[np.float64]:
        """Nearly normal with mean 0 and variance 1, float64[n]: twelve uniform draws added up."""
        total = self.bits(12 * n).reshape(n, 12).sum(axis=1).astype(np.float64)
        centred: NDArray[np.float64] = (total - 6.0 * ONE) / ONE
        return centred


def poisson_table(mean: float) -> NDArray[np.uint64]:
    """Thresholds for ``choose``: value v has the Poisson probability of v."""
    with localcontext() as context:
        context.prec = 30
        share = (-Decimal(mean)).exp()
        total, value = Decimal(0), 0
        thresholds: list[int] = []
        while not thresholds or thresholds[-1] < ONE - 1:
            total += share
            thresholds.append(min(int(total * ONE), ONE))
            value += 1
            share = share * Decimal(mean) / value
            if value > 20 * mean + 200:  # the rest is lost in rounding
                break
    thresholds[-1] = ONE
    return np.array(thresholds, dtype=np.uint64)


def weight_table(weights: NDArray[np.float64] | Sequence[float]) -> NDArray[np.uint64]:
    """Thresholds for ``choose``: value v has a probability in proportion to its weight."""
    sums = np.cumsum(np.asarray(weights, dtype=np.float64))  # added one after the other, so everywhere alike
    table: NDArray[np.uint64] = np.floor(sums / sums[-1] * ONE).astype(np.uint64)
    table[-1] = ONE
    return table


def choose(table: NDArray[np.uint64], bits: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The value of each draw under a table of thresholds, int64[n]."""
    return np.searchsorted(table, bits, side="right").astype(np.int64, copy=False)
