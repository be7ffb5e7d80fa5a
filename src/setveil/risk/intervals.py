"""How sure a sampled figure is."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Interval = tuple[float, float]

_NORMAL_95 = 1.959963984540054  # 97.5 % quantile of the standard normal distribution


def wilson(mean: float, n: float) -> Interval:
    """Wilson's 95 % score interval for the mean of ``n`` independent draws from [0, 1].

    Made for shares, where the variance is p(1-p). No other distribution on [0, 1] with mean p has a larger variance,
    so for the mean of such values (1/support) the interval is on the careful side.
    """
    if n == 0:
        return 0.0, 1.0
    z = _NORMAL_95**2 / n
    centre = (mean + z / 2) / (1 + z)
    half = _NORMAL_95 / (1 + z) * sqrt(max(mean * (1 - mean), 0.0) / n + z / (4 * n))
    # The ends are exact where rounding would miss them: 0 for a mean of 0, 1 for a mean of 1.
    return max(min(centre - half, mean), 0.0), min(max(centre + half, mean), 1.0)


class Rate(NamedTuple):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


def rate_of(values: NDArray[Any], weights: NDArray[np.float64] | None = None, is_exact: bool = False) -> Rate:
    """The mean of draws from [0, 1]: independent ones, or with the weights that make each person count alike.

    ``is_exact``: there is nothing left to chance, so that the interval is the value itself.
    """
    mean = min(max(float(np.average(values, weights=weights)), 0.0), 1.0)
    if is_exact:
        return Rate(mean, mean, mean)
    n = len(values) if weights is None else float(weights.sum() ** 2 / (weights**2).sum())
    return Rate(mean, *wilson(mean, n))
