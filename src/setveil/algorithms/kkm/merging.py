"""RMERGE, TMERGE and RTMERGE: gather clusters by columns, then merge them to save items.

G. Poulis, G. Loukides, A. Gkoulalas-Divanis, S. Skiadopoulos: Anonymizing data with relational and transaction
attributes. ECML PKDD 2013.

Guarantee: records with the same published columns form classes. Every class has at least k people, and within each
every itemset of at most m published items that occurs is in at least k of its records.

1. *Gather* clusters of at least k people, greedily by the loss of columns (Rum).
2. *Merge*: the cluster whose items lose most (Tum) is merged with another one. Only merges count that do not raise
   Tum and keep Rum at most delta. Of these, RMERGE takes the one that adds least to Rum, TMERGE the one after which Tum
   is lowest, RTMERGE the one with the lowest sum of both. A cluster without such a merge is not looked at again, but
   others may be merged with it. Stop when no cluster is left.
3. *Protect* the items of each cluster by an algorithm for k^m-anonymity.

With ``bound=items`` the losses change roles: merging stops as soon as Tum is at most delta, and Rum has no bound.

Preconditions: at least k people. Cost: gathering looks at all cells for each step, so it grows with the square of the
number of distinct combinations of values; merging with the square of the number of clusters.

Departures from the paper, which we know from descriptions only:
1. Rum is NCP, the average over people and columns. Tum is NCP, the average over entries; a suppressed entry loses 1.
2. Gathering begins each cluster with the first person, in the order of the columns' values, who has none, and adds
   people of the cell that raises Rum least (ties: the first). Fewer than k people at the end join the cluster in which
   all lose least by that, cell by cell (ties: the first).
3. While clusters are chosen, Tum is estimated (``estimates``): one round of suppressing, each person alone. With an
   item hierarchy, at the best of a few levels for each cluster.
4. Only the 32 clusters that add least to Rum are looked at as partners (ties: the first).
5. Clusters that publish the same columns are one class in the release, and their items are protected together.
6. If the model asks for l sensitive values, clusters with fewer are first merged with the one that adds least to Rum.
7. The items of a class are protected by ``trim`` unless another algorithm is named.
8. A merge that leaves Tum as it is counts, too: where all items of two clusters are lost, they may come back only after
   several merges.
9. With ``bound=items``, if the items of the result lose more than delta, merging goes on with a smaller goal.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context, option
from setveil.algorithms.kkm._clusters import added_losses, gather_clusters, join_nodes
from setveil.algorithms.kkm.applying import ClasswiseAlgorithm
from setveil.algorithms.kkm.estimates import Estimates
from setveil.algorithms.kkm.item_part import TRIM, protect_items
from setveil.algorithms.kkm.losses import Losses, summary
from setveil.algorithms.kkm.people import Found, People
from setveil.core import Transactions
from setveil.errors import InfeasibleError
from setveil.models import KKmAnonymity
from setveil.releases import LocalRecoding

PARTNERS = 32
STEPS_PER_CALL = 2_000_000
TINY = 1e-9
GOALS = 8  # how often merging goes on with a smaller goal


@dataclass(frozen=True)
class Merging(ClasswiseAlgorithm):
    """What the three algorithms share."""

    delta: float = option(
        0.5, "largest allowed loss, 0 to 1; the other loss is lowered by merging", least=0.0, most=1.0
    )
    bound: str = option("columns", "the loss that delta limits", ("columns", "items"))
    items: str = option(TRIM, "the algorithm for the items of a class: trim, or one that needs a hierarchy, such as aa")
    effort: str = option("normal", "search effort of trim", ("fast", "normal", "best"))

    @abstractmethod
    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        """The lowest is the best partner; ``columns`` is what Rum grows by with each, ``items`` what Tum changes by."""

    def run(self, data: Transactions, model: KKmAnonymity, context: Context) -> LocalRecoding:
        people = People.of(data, model)
        if not people.n_records:
            return people.release(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), context, {})
        found = self.find(people, context)
        return people.release(found.class_of, found.nodes, context, summary(people, found.class_of, found.items))

    def find(self, people: People, context: Context) -> Found:
        """The classes and what they publish; InfeasibleError where the bound cannot be kept."""
        clusters = Clusters(people, context)
        losses = Losses(people, context, self.items)
        is_columns = self.bound == "columns"
        if is_columns and clusters.rum > self.delta + TINY:
            raise InfeasibleError(
                f"the loss of columns is {clusters.rum:.3f} before any merge; raise delta, lower k, or use fewer known "
                "columns."
            )
        goal = 0.0 if is_columns else self.delta
        for _ in range(GOALS):
            clusters.merge(self, self.delta if is_columns else np.inf, goal)
            class_of = people.joined(clusters.class_of())
            nodes, least = protect_items(people, class_of, context, self.items, self.effort)
            reached = losses.of_nodes(nodes)
            if is_columns or reached <= self.delta + TINY or clusters.tum <= 0.0:
                break
            goal = min(clusters.tum, goal) * self.delta / reached - TINY
        if not is_columns and reached > self.delta + TINY:
            raise InfeasibleError(
                f"the items lose {reached:.3f} and no further merge helps; raise delta, or lower k or m."
            )
        return Found(class_of, nodes, reached, least)


@dataclass(frozen=True)
class RMerge(Merging):
    """Merges clusters with the one that costs their columns least."""

    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        return columns


@dataclass(frozen=True)
class TMerge(Merging):
    """Merges clusters with the one that saves their items most."""

    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        return items


@dataclass(frozen=True)
class RTMerge(Merging):
    """Merges clusters with the one for which both losses together are lowest."""

    def rank(self, columns: NDArray[np.float64], items: NDArray[np.float64]) -> NDArray[np.float64]:
        return columns + items


class Clusters:
    """Clusters of people, what they publish in their columns, and what their items are estimated to lose."""

    def __init__(self, people: People, context: Context) -> None:
        self.people, self.context = people, context
        self.estimates = Estimates.of(people, context.hierarchy)
        offsets = np.cumsum([0, *(tree.n_nodes for tree in people.trees)])[:-1]
        self.trees = np.concatenate(
            [np.zeros((0, 2), dtype=np.int32)]
            + [
                np.stack((np.where(tree.parent >= 0, tree.parent + offset, -1), tree.depth), axis=1)
                for tree, offset in zip(people.trees, offsets, strict=True)
            ]
        ).astype(np.int32)
        self.losses = np.concatenate([np.zeros(0), *people.node_losses])
        self.cells = (people.cells + offsets).astype(np.int32)
        self.members: list[NDArray[np.int64]] = []
        self._gather()
        self.item_cost = self._estimate(self.members)
        self.is_open = np.ones(len(self.members), dtype=bool)

    @property
    def rum(self) -> float:
        """The loss of columns."""
        return float(self._column_losses() @ self.sizes) / self.people.n_records

    @property
    def tum(self) -> float:
        """The loss of items, estimated."""
        return float(self.item_cost[self.sizes > 0].sum()) / max(self.people.n_entries, 1)

    def class_of(self) -> NDArray[np.int64]:
        """The cluster of each record."""
        found = np.empty(self.people.n_records, dtype=np.int64)
        for number, cluster in enumerate(np.flatnonzero(self.sizes > 0).tolist()):
            found[self.members[cluster]] = number
        return found

    def merge(self, algorithm: Merging, most_rum: float, goal: float) -> None:
        """Merge while Tum is above the goal and there is something to merge."""
        n_records, n_entries = self.people.n_records, max(self.people.n_entries, 1)
        rum = self.rum
        while self.tum > goal + TINY:
            waiting = np.flatnonzero(self.is_open & (self.sizes > 0) & (self.item_cost > 0))
            if not len(waiting):
                return
            self.context.step("merging clusters", None)
            one = int(waiting[np.argmax(self.item_cost[waiting])])
            added = self._added(one)
            fits = np.flatnonzero(np.isfinite(added) & (rum + added / n_records <= most_rum + TINY))
            partners = fits[np.argsort(added[fits], kind="stable")][:PARTNERS]
            together = self._estimate([np.concatenate((self.members[one], self.members[other])) for other in partners])
            change = together - self.item_cost[one] - self.item_cost[partners]
            helps = np.flatnonzero(change <= TINY)
            if not len(helps):
                self.is_open[one] = False
                continue
            rank = algorithm.rank(added[partners[helps]] / n_records, change[helps] / n_entries)
            chosen = helps[np.argmin(np.round(rank, 12))]
            rum += float(added[partners[chosen]]) / n_records
            self._join(one, int(partners[chosen]), float(together[chosen]))

    def _added(self, one: int) -> NDArray[np.float64]:
        """How much more all people lose in their columns if a cluster joins each of the others; infinite for none."""
        added = np.empty(len(self.sizes))
        others = self.sizes.copy()
        others[one] = 0
        added_losses(self.trees, self.losses, self.nodes, others, self.nodes, one, int(self.sizes[one]), added)
        return added

    def _join(self, one: int, other: int, item_cost: float) -> None:
        """The first takes in the other."""
        join_nodes(self.trees, self.nodes, one, self.nodes, other)
        self.members[one] = np.concatenate((self.members[one], self.members[other]))
        self.members[other] = self.members[other][:0]
        self.sizes[one] += self.sizes[other]
        self.sizes[other] = 0
        self.item_cost[one], self.item_cost[other] = item_cost, 0.0

    def _gather(self) -> None:
        """Clusters of k, then everybody else joins one, then those that lack diversity are merged."""
        people, k = self.people, self.people.model.k_for(0)
        n_clusters = people.n_records // k
        left = np.diff(people.cell_starts)
        self.nodes = np.zeros((n_clusters, len(people.trees)), dtype=np.int32)
        taken = np.zeros((n_clusters + people.n_cells + 1, 3), dtype=np.int64)
        state = np.array([0, 0, people.n_records, 0, k])
        while state[2] >= k:
            self.context.step("gathering clusters", 1.0 - float(state[2]) / people.n_records)
            gather_clusters(self.trees, self.losses, self.cells, left, self.nodes, taken, state, STEPS_PER_CALL)
        self.sizes = np.full(n_clusters, k, dtype=np.int64)
        rows = taken[: state[1]].tolist()
        for cell in np.flatnonzero(left).tolist():
            added = np.empty(n_clusters)
            added_losses(self.trees, self.losses, self.nodes, self.sizes, self.cells, cell, int(left[cell]), added)
            cluster = int(np.argmin(np.round(added, 9)))
            join_nodes(self.trees, self.nodes, cluster, self.cells, cell)
            self.sizes[cluster] += left[cell]
            rows.append([cluster, cell, int(left[cell])])
        parts: list[list[NDArray[np.int64]]] = [[] for _ in range(n_clusters)]
        start = people.cell_starts[:-1].copy()
        for cluster, cell, number in rows:
            parts[cluster].append(np.arange(start[cell], start[cell] + number))
            start[cell] += number
        self.members = [np.concatenate(part) for part in parts]
        self._diversify()

    def _diversify(self) -> None:
        """Merge clusters with too few sensitive values, the first one first."""
        self.item_cost = np.zeros(len(self.sizes))
        while self.people.secrets:
            class_of = np.empty(self.people.n_records, dtype=np.int64)
            for cluster, members in enumerate(self.members):
                class_of[members] = cluster
            lacking = np.flatnonzero(~self.people.is_viable(class_of, len(self.sizes)) & (self.sizes > 0))
            if not len(lacking):
                return
            one = int(lacking[0])
            self._join(one, int(np.argmin(np.round(self._added(one), 9))), 0.0)

    def _column_losses(self) -> NDArray[np.float64]:
        each = np.zeros(len(self.nodes))
        for column in range(self.nodes.shape[1]):
            each += self.losses[self.nodes[:, column]]
        return each

    def _estimate(self, members: list[NDArray[np.int64]]) -> NDArray[np.float64]:
        starts = np.cumsum([0, *map(len, members)])
        together = np.concatenate(members) if members else np.empty(0, dtype=np.int64)
        return self.estimates(together, starts, self.context)
