"""TMERGE: merge with the cluster after which items lose least (Tum).

The rest is in ``merging``, with the citation, the guarantee, and departures from the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.kkm.merging import Merging


@dataclass(frozen=True)
class TMerge(Merging):
    """Merges clusters with the one that saves their items most."""

    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        return items
