"""RTMERGE: merge with the cluster for which the sum of both normalised losses is lowest.

The rest is in ``merging``, with the citation, the guarantee, and departures from the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.kkm.merging import Merging


@dataclass(frozen=True)
class RTMerge(Merging):
    """Merges clusters with the one for which both losses together are lowest."""

    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        return columns + items
