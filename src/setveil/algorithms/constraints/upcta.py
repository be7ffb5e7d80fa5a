"""UPCTA: PCTA with utility constraints (Gkoulalas-Divanis, Loukides 2012, Algorithm 2).

Guarantee: every privacy constraint has no or at least k published records, only items of the same utility constraint
are published as one, and at most ``max_suppressed`` percent of the items are suppressed. So as many published as
original records hold something of a utility constraint none of whose items is suppressed. Needs: at least k records
with items; every item in one utility constraint. No hierarchy is needed. Cost: as PCTA.

A constraint is protected as by PCTA, merging inside utility constraints only. When none of its clusters has a partner
left, its rarest cluster is suppressed, and so on.

Departures from the paper

1. Those of PCTA.
2. Partners are sought in the utility constraint of the cluster (line 22 forgets this).
3. Suppressing a cluster suppresses all its items, and all are counted against the bound; more than the bound is an
   error. A suppressed item leaves its constraints, whose rest must still be protected; an empty constraint is met.
4. With penalties, the cluster with the least sum of penalties is suppressed first, then the rarest, then the first.
5. If too much would have to be suppressed, the run goes on to the end to tell how much.
"""

from __future__ import annotations

from dataclasses import dataclass

from setveil.algorithms.base import Context
from setveil.algorithms.constraints.clusters import ClusterAlgorithm, release_of, slots_of, start_clusters
from setveil.algorithms.constraints.feasibility import require_bound, understand_or_explain
from setveil.algorithms.constraints.pcta import protect
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class UPCTA(ClusterAlgorithm):
    """Merge inside utility constraints, suppress where that is not enough."""

    def run(self, data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Recoding:
        ask = understand_or_explain(data, model, context)
        clusters = start_clusters(ask, self.weights, self.penalty)
        protect(clusters, ask, self.rules(ask), self.order, context)
        require_bound(ask, slots_of(clusters), "upcta")
        return release_of(data, ask, slots_of(clusters), {})
