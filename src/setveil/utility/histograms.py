"""Record sizes and item supports, before and after, for the report."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.releases import Release

_PER_DOUBLING = 2  # bins per factor of two


def histograms(original: Transactions, release: Release) -> dict[str, Any]:
    """``sizes``: records by number of items; ``supports``: items by number of records.

    Each is ``{"from": […], "to": […], "before": […], "after": […]}``: counts per bin of whole numbers, both ends
    included; bins are single numbers first and then grow by a constant factor.
    """
    published = release.rows
    return {
        "sizes": _histogram(original.lengths, published.lengths),
        "supports": _histogram(original.supports[original.supports > 0], published.supports[published.supports > 0]),
    }


def _histogram(before: NDArray[np.int64], after: NDArray[np.int64]) -> dict[str, list[int]]:
    largest = int(max(before.max(initial=0), after.max(initial=0)))
    starts = bin_starts(largest)
    edges = np.array([*starts, largest + 1])
    return {
        "from": starts,
        "to": (edges[1:] - 1).tolist(),
        "before": np.histogram(before, edges)[0].tolist(),
        "after": np.histogram(after, edges)[0].tolist(),
    }


def bin_starts(largest: int) -> list[int]:
    """0, 1, 2, 3, 4, 5, 6, 8, 11, 16, … up to ``largest``."""
    starts = [0]
    step = 0
    while True:
        start = max(int(np.floor(2 ** (step / _PER_DOUBLING) + 0.5)), starts[-1] + 1)
        if start > largest:
            return starts
        starts.append(start)
        step += 1
