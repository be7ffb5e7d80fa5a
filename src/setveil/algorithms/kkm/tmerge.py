"""TMERGE: merge with the cluster after which items lose least (Tum).

G. Poulis, G. Loukides, A. Gkoulalas-Divanis, S. Skiadopoulos: Anonymizing data with relational and transaction
attributes. ECML PKDD 2013.

Guarantee: records with the same published columns form classes. Every class has at least k people, and within each
every itemset of at most m published items that occurs is in at least k of its records.

Departures from the paper: those of ``merging``, the frame that RMERGE, TMERGE and RTMERGE share.
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
