"""AA, then refine.

M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008, section
4.4, followed by a search for what AA generalized without need.

Guarantee: that of AA: in the published data every itemset of at most m items that occurs, occurs in at least k records.
The loss is never above AA's, and no node of the cut can be replaced by its children.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: AA, and for every node of the cut a count of the itemsets through its children over the records that hold it.

Departures from the paper
1. Those of AA.
2. AA's cut is refined: nodes are replaced by their children wherever the guarantee allows it, and a node is generalized
   where that pays for more elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from setveil.algorithms.base import Context
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.refine import refine_release
from setveil.core import Dataset
from setveil.models import KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class AARefine(AA):
    """AA without free improvements."""

    def run(self, data: Dataset, model: KmAnonymity, context: Context) -> Recoding:
        return refine_release(data, model, super().run(data, model, context), "ncp", context)
