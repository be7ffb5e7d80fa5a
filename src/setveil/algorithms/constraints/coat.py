"""COAT: constraint-based anonymization of transactions (Loukides, Gkoulalas-Divanis, Malin 2011), as compared with in
paper 000.

Guarantee, needs and cost: as UPCTA.

As UPCTA, but only one of a constraint's clusters is ever generalized: the rarest of those that have a partner left in
their utility constraint. It is merged with the partner that gives the least utility loss; when none has a partner
left, the rarest cluster is suppressed. Frequent items therefore mostly stay as they are, and rare ones end up in a few
large clusters.

Departures from the paper

1. Those of UPCTA.
2. What is not said by Gkoulalas-Divanis and Loukides (2012): ties are broken by the smallest item.
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
class COAT(ClusterAlgorithm):
    """Merge the rarest cluster of a constraint with its cheapest partner."""

    def run(self, data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Recoding:
        ask = understand_or_explain(data, model, context)
        clusters = start_clusters(ask, self.weights, self.penalty)
        protect(clusters, ask, self.rules(ask, rarest_only=True), self.order, context)
        require_bound(ask, slots_of(clusters), "coat")
        return release_of(data, ask, slots_of(clusters), {})
