"""Random order: the control for all the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions


def random_order(data: Transactions, seed: int = 0) -> NDArray[np.int64]:
    """Record numbers in an order that depends on the seed only, int64[n_records]."""
    return np.random.default_rng(seed).permutation(data.n_records)
