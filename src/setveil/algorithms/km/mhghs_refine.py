"""mHgHs, then refine.

J. Liu, K. Wang: Anonymizing transaction data by integrating suppression and generalization. PAKDD 2010, section 4.2,
followed by a search for what was generalized or suppressed without need.

Guarantee: that of mHgHs: in the published data every itemset of at most m items that occurs, occurs in at least k
records. The loss (LM) is never above that of mHgHs; no node of the cut can be replaced by its children, and no
suppressed item can be published.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: mHgHs, and for every node of the cut a count of the itemsets through its children over the records that hold it.

Departures from the paper
1. Those of mHgHs.
2. Its cut is refined: suppressed items are published and nodes replaced by their children wherever the guarantee allows
   it, and a node is generalized where other nodes gain more.
"""

from __future__ import annotations

from dataclasses import dataclass

from setveil.algorithms.base import Context
from setveil.algorithms.km.hghs import MHgHs
from setveil.algorithms.km.refine import refine_release
from setveil.core import Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class MHgHsRefine(MHgHs):
    """mHgHs without free improvements."""

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        return refine_release(data, model, super().run(data, model, context), "lm", context)
