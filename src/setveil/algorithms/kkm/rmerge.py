"""RMERGE: merge with the cluster that adds least to the loss of columns (Rum).

The rest is in ``merging``, with the citation, the guarantee, and departures from the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.kkm.merging import Merging


@dataclass(frozen=True)
class RMerge(Merging):
    """Merges clusters with the one that costs their columns least."""

    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        return columns
