"""The least error of counts of pairs that a release can have if it shows no pair of fewer than k people.

Such a release gives every pair of items a count that is 0 or at least k. A pair that t people have, 1 ≤ t < k, is then
off by t (count 0) or by k − t at least. So its relative error is at least min(1, (k − t)/t), and the mean over the
queries of ``least_error`` is at least the mean of that. A pair of k people or more may be exact.

The floor is about counts that the files show. An estimate that spreads a category over its items can be any number; it
may be nearer to the truth by chance, and cannot be relied on.
"""

from __future__ import annotations

import numpy as np

from setveil.core import Transactions
from setveil.utility.avg_re import true_supports, workload_t


def pair_floor(original: Transactions, k: int, n: int = 1000, seed: int = 0) -> float | None:
    """The mean over the pairs that ``least_error`` asks for; None where nobody has two items."""
    if not (original.lengths >= 2).any():
        return None
    queries, drawn = workload_t(original, n, 2, seed).distinct()
    truth = true_supports(original, queries)
    least = np.where(truth < k, np.minimum(1.0, (k - truth) / np.maximum(truth, 1)), 0.0)
    return float(least[drawn].mean())
