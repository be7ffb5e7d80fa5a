"""Rules made from data: whatever public items an attacker may know, and every sensitive item."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from setveil.algorithms.constraints.generators import occurring
from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.models import Rule


def every_rule(
    data: Transactions, sensitive: Sequence[str], p: int, progress: Progress = no_progress
) -> Iterator[Rule]:
    """A rule for each sensitive item and each itemset of 1 … p public items that some record has."""
    is_public = np.ones(data.n_items, dtype=bool)
    numbers = data.vocabulary.numbers(sensitive)
    is_public[numbers[numbers >= 0]] = False
    inferred = sorted(set(sensitive))
    for known in occurring(data.keep_items(is_public), p, progress):
        for item in inferred:
            yield Rule(tuple(sorted(known)), (item,))
