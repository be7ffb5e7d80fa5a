"""PCTA: privacy-constrained clustering of items (Gkoulalas-Divanis, Loukides 2012, Algorithm 1).

Guarantee: every privacy constraint (or every occurring itemset of at most m items) has no or at least k published
records. Needs: at least k records with items. No hierarchy is needed, nothing is suppressed, no utility constraints
(for those: ``upcta``). Cost: pairs of items in the records, plus the number of items for every merge, plus the
constraints counted again after it.

The comments give the lines of Algorithm 1. Lines 5 to 26, what is done for one constraint, are compiled
(``_protecting.py``).

Items start as clusters of their own. The constraint with the largest support is taken; while it is in fewer than k
records, the cheapest merge of one of its clusters with any other cluster is made. A merged cluster is published as one
item that stands for any of its members.

Departures from the paper

1. A constraint without records is met (line 12 forgets this), but is looked at again after every merge.
2. k^m means all occurring itemsets of 1 … m items. Those of one and two are queued together, then those of three,
   four, … in turn, as they then read; pairs are never written out.
3. Which constraint has the largest support is decided on the present data (section 4.1); ``order=static`` decides on
   the original (section 4.2). Ties: fewer items, then the lexicographically first.
4. Utility losses are compared as exact integers; the loop's bound starts at infinity, not 1. Ties: the smallest
   cluster of the constraint, then the smallest partner, clusters being ordered by their smallest item.
5. The weight of a cluster is the largest weight of its items.
6. Items that do not occur in the data take no part.
7. With a hierarchy that people made, only clusters of the same branch below its root are merged, as long as one of the
   constraint's clusters has such a partner. Only then branches are mixed; mixed clusters merge among themselves first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from setveil.algorithms.base import Context
from setveil.algorithms.constraints._clusters import Clusters
from setveil.algorithms.constraints._protecting import Rules
from setveil.algorithms.constraints.clusters import Ask, ClusterAlgorithm, release_of, slots_of, start_clusters
from setveil.algorithms.constraints.feasibility import understand_or_explain
from setveil.algorithms.constraints.queues import queues_of
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class PCTA(ClusterAlgorithm):
    """Merge the cheapest clusters until every constraint is met."""

    def run(self, data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Recoding:
        if isinstance(model, ConstraintAnonymity) and model.utility is not None:
            raise InputError(
                'algorithm "pcta" does not support utility constraints; use upcta, coat or pcta+, or remove them.'
            )
        ask = understand_or_explain(data, model, context)
        clusters = start_clusters(ask, self.weights, self.penalty)  # 1: nothing is generalized, H(i) = i
        protect(clusters, ask, self.rules(ask), self.order, context)  # 2-27
        return release_of(data, ask, slots_of(clusters), {})  # 28


def protect(clusters: Clusters, ask: Ask, rules: Rules, order: str, context: Context) -> None:
    """Lines 2-27: merge and suppress until every constraint is met.

    Constraints are taken several at a time, as many as take a small part of a second.
    """
    for queue in queues_of(ask, clusters, rules, order, context):  # 2: PQ
        count, share = 32, 0.0
        while share < 1:  # 3: PQ is not empty
            started = time.perf_counter()
            share = queue.protect_next(count)  # 4-27 for each: top(), lines 5-26, pop()
            context.step(queue.stage, share)
            seconds = time.perf_counter() - started
            count = 2 * count if seconds < 0.1 else max(count // 2, 1) if seconds > 0.3 else count
