"""pcta+: COAT's merges, then single items moved wherever that loses less.

Guarantee, needs: as UPCTA. Without utility constraints nothing is suppressed.
Cost: COAT's, plus ``sweeps`` rounds in which every item looks once at its records and at every cluster.

1. Suppress what merging cannot save. While some constraint would be in 1 … k - 1 records with all utility groups
   published whole, suppress the item that is in most such constraints. Afterwards merging always leads to an answer.
2. Merge as COAT does, in the original order of supports; given constraints also in the order of present supports, and
   if anything had to be suppressed also without the first step. Go on with what suppresses the fewest items, then
   loses least.
3. Move. Round by round and in random order, every item looks for the cluster of its utility group (or a new one) where
   the total loss is least, and goes there if every constraint stays met. The loss is the NCP: for every occurrence the
   size of its cluster, nothing for an item alone. In the first rounds a move may add to the loss, less and less from
   round to round; the last rounds only go down, until no move helps. The result is kept if it loses less than the
   merges alone did.

For ``km`` with m of 3 and more, items are moved while items and pairs are the constraints; larger itemsets are then
protected by merging. The orders and slacks are drawn from the seed as integers, so that the same seed gives the same
release everywhere.

Departures from the paper (COAT: Loukides, Gkoulalas-Divanis, Malin 2011)

1. Those of COAT. The second step is the paper's; the first and the third are setveil's own.
2. The merges compare utility losses as COAT does, but what is made small in the end is the NCP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.constraints._clusters import Clusters, join_clusters, suppress_cluster
from setveil.algorithms.constraints._merge_costs import UL
from setveil.algorithms.constraints._protecting import Rules
from setveil.algorithms.constraints.cluster_refinement import Mover, loss_of_clusters, suppress_hopeless
from setveil.algorithms.constraints.clusters import Ask, item_numbers, release_of, slots_of, start_clusters
from setveil.algorithms.constraints.feasibility import require_bound, understand_or_explain
from setveil.algorithms.constraints.pcta import protect
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class PCTAPlus(Algorithm):
    """Merge, then move single items."""

    sweeps: int = option(20, "rounds in which a move may increase the loss; 0: only moves that lower the loss", least=0)
    weights: Mapping[str, float] | str | None = option(
        None, "the utility of each item, 0 to 1: a CSV file item,weight; 1 for items not listed"
    )
    penalty: Mapping[str, float] | str | float | None = option(
        None, "the cost of suppressing an item: one number, or a CSV file item,penalty; breaks ties in the first step"
    )

    def run(self, data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Recoding:
        ask = understand_or_explain(data, model, context)
        rules = Rules(ask.k, UL, 1, ask.mixed)
        first = replace(ask, m=min(ask.m, 2))  # larger itemsets come last
        orders = ("static", "dynamic") if ask.m == 0 else ("static",)
        hopeless = suppress_hopeless(first, self.weights, self.penalty, context)
        tries = [self._merge(first, rules, order, context, hopeless) for order in orders]
        if any((tried < 0).any() for tried in tries):
            tries += [self._merge(first, rules, order, context, ()) for order in orders]
        merged = min(tries, key=lambda tried: ((tried < 0).sum(), loss_of_clusters(ask, tried)))
        require_bound(ask, merged, "pcta+")
        moved = self._move(first, merged, context)
        if ask.m > 2:
            clusters = _clusters_of(ask, moved)
            protect(clusters, ask, rules, "static", context)
            moved = slots_of(clusters)
        return release_of(data, ask, moved, {})

    def _merge(
        self, ask: Ask, rules: Rules, order: str, context: Context, suppressed: Sequence[int]
    ) -> NDArray[np.int64]:
        clusters = start_clusters(ask, self.weights, self.penalty)
        for slot in suppressed:
            suppress_cluster(clusters, slot)
        protect(clusters, ask, rules, order, context)
        return slots_of(clusters)

    def _move(self, ask: Ask, merged: NDArray[np.int64], context: Context) -> NDArray[np.int64]:
        weights = item_numbers(ask.data, self.weights, "weight", 1.0)
        mover = Mover.of(_with_branches(ask, merged), merged, weights)
        if mover is None:
            return merged
        before = mover.loss()
        mover.run(self.sweeps, context)
        return mover.clusters() if mover.loss() < before else merged


def _with_branches(ask: Ask, cluster_of_slot: NDArray[np.int64]) -> Ask:
    """The ask in which items move inside their branch only, those of mixed clusters among mixed ones."""
    if ask.branch is None:
        return ask
    group, first = ask.branch.copy(), np.maximum(cluster_of_slot, 0)
    is_other = (ask.branch != ask.branch[first]) & (cluster_of_slot >= 0)
    group[np.isin(cluster_of_slot, cluster_of_slot[is_other])] = ask.mixed
    return replace(ask, group=group)


def _clusters_of(ask: Ask, cluster_of_slot: NDArray[np.int64]) -> Clusters:
    """The state in which exactly these clusters have been merged. There is no suppression where this is needed."""
    clusters = start_clusters(ask)
    slot_of: dict[int, int] = {}
    for slot, cluster in enumerate(cluster_of_slot.tolist()):
        slot_of[cluster] = join_clusters(clusters, slot_of[cluster], slot, ask.mixed)[0] if cluster in slot_of else slot
    return clusters
