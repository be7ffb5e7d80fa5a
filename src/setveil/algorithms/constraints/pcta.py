"""PCTA: privacy-constrained clustering of items (Gkoulalas-Divanis, Loukides 2012, Algorithm 1).

Guarantee: every privacy constraint (or every occurring itemset of at most m items) has no or at least k published records.
Needs: at least k records with items. No hierarchy, no suppression, no utility constraints (for those: ``upcta``).
Cost: pairs of items in the records, plus the number of items for every merge, plus the constraints counted again after it.

Items start as clusters of their own. The constraint with the largest support is taken; while it is in fewer than k
records, the cheapest merge of one of its clusters with any other cluster is made. A merged cluster is published as one item
that stands for any of its members.

Departures from the paper

1. A constraint without records is met (line 12 forgets this), but is looked at again after every merge.
2. k^m means all occurring itemsets of 1 … m items. Those of one and two are queued together, then those of three, four, …
   in turn, as they then read; pairs are never written out.
3. Which constraint has the largest support is decided on the present data (section 4.1); ``order=static`` decides on the
   original (section 4.2). Ties: fewer items, then the lexicographically first.
4. Utility losses are compared as exact integers; the loop's bound starts at infinity, not 1. Ties: the smallest cluster of the
   constraint, then the smallest partner, clusters being ordered by their smallest item.
5. The weight of a cluster is the largest weight of its items.
6. Items that do not occur in the data take no part.
"""

from __future__ import annotations

from dataclasses import dataclass

from setveil.algorithms.base import Context
from setveil.algorithms.constraints.clusters import ClusterAlgorithm, protect, publish, slots_of, start_clusters
from setveil.algorithms.constraints.feasibility import understand_or_explain
from setveil.core import Recoding, Transactions
from setveil.errors import InputError
from setveil.models import ConstraintAnonymity, KmAnonymity


@dataclass(frozen=True)
class PCTA(ClusterAlgorithm):
    """Merge the cheapest clusters until every constraint is met."""

    def run(self, data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Recoding:
        if isinstance(model, ConstraintAnonymity) and model.utility is not None:
            raise InputError(
                'algorithm "pcta" knows no utility constraints; use upcta, coat or pcta+, or leave them out.'
            )
        ask = understand_or_explain(data, model, context)
        clusters = start_clusters(ask, self.weights, self.penalty)
        protect(clusters, ask, self.rules(ask.k), self.order, context)
        return publish(data, ask, slots_of(clusters), {})
