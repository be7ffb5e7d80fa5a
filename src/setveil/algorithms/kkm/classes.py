"""Classes: people are split from the top down along the columns' hierarchies, as long as columns gain more than items
lose. The default for (k, k^m)-anonymity.

An own method; the model is that of G. Poulis, G. Loukides, A. Gkoulalas-Divanis, S. Skiadopoulos: Anonymizing data with
relational and transaction attributes. ECML PKDD 2013.

Guarantee: records with the same published columns form classes. Every class has at least k people, and within each
every itemset of at most m published items that occurs is in at least k of its records (k may depend on how many items
are known). With l, every class has l distinct values of each sensitive column and of the sensitive items.

1. *Grow* a tree of splits over all people, whose item losses are estimated (``splits``).
2. *Choose* classes in the tree (``choices``): those that keep most of both, columns and items; or, with ``delta``,
   those with the lowest loss of items (or columns) that keep the other one within delta.
3. *Measure* what the items of these classes, of the next larger and of the next smaller ones really lose, and
   choose again. The best choice that was measured is kept.
4. *Protect* the items of each class (``item_part``): by ``trim`` over all classes at once, or by another algorithm.
5. With delta and few people (at most MOST_CLUSTERS times k) the tree has few choices, and part of delta is not used up.
   So clusters are merged, too, in the three ways of the paper (``merging``), and the best result is kept: it loses no
   more than any of them at the same delta. Of more people this is not tried: it takes too long.

Loss of columns: NCP, the average over people and columns. Loss of items: NCP, the average over entries; a suppressed
entry loses 1, so without a hierarchy this is the share of suppressed entries. A weighted sum of both would give one of
them up altogether where the other gains more. Therefore what is kept of both is multiplied: the best choice has the
largest (1 - loss of columns)^w * (1 - loss of items)^(1 - w). ``prefer`` is w: balanced 1/2, columns 3/4, items 1/4.

Bounds, each proven, for columns and items on their own. A person's class has at least k people whose values are below
what it publishes, so the person loses at least as much as the cheapest combination of nodes above their values that has
k people below it (``column_bound``). In the classes that were chosen, items lose at least what ``trim`` proves.

Preconditions: at least k people, and if m is not 0, k people with items. Cost: time grows with people times the depth
of the tree of splits (about the logarithm of the number of classes) times columns; memory linearly with people.

Departures: there is no paper to depart from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context, option
from setveil.algorithms.kkm.applying import ClasswiseAlgorithm
from setveil.algorithms.kkm.choices import choose
from setveil.algorithms.kkm.estimates import Estimates
from setveil.algorithms.kkm.item_part import TRIM, protect_items
from setveil.algorithms.kkm.losses import Losses, columns_given, loss_of_columns, summary
from setveil.algorithms.kkm.merging import RMerge, RTMerge, TMerge
from setveil.algorithms.kkm.people import Found, People
from setveil.algorithms.kkm.splits import Splits, grow
from setveil.core import Transactions
from setveil.errors import InfeasibleError
from setveil.models import KKmAnonymity
from setveil.releases import LocalRecoding

PREFERENCES = {"balanced": 0.5, "columns": 0.75, "items": 0.25}  # the weight of columns
GROWTHS = {"fast": 1, "normal": 2, "best": 4}  # trees of splits, each for the weights that the one before leads to
ROUNDS = {"fast": 1, "normal": 2, "best": 6}  # of measuring
MOST_CLUSTERS = 1_000  # of k people each, for merging: some seconds
MOST_COMBINATIONS = 1_000  # of levels of all columns, for the bound


@dataclass(frozen=True)
class Classes(ClasswiseAlgorithm):
    """Splits people into classes while their columns gain more than their items lose."""

    prefer: str = option(
        "balanced", "which losses weigh more: those of columns, those of items, or both the same", tuple(PREFERENCES)
    )
    delta: float | None = option(None, "largest allowed loss, 0 to 1; the other loss is minimized", least=0.0, most=1.0)
    bound: str = option("columns", "the loss that delta limits", ("columns", "items"))
    column_weights: Mapping[str, float] | str | None = option(
        None, "the weight of each column in the loss of columns, such as age=2,sex=1; 1 for columns not listed"
    )
    items: str = option(TRIM, "the algorithm for the items of a class: trim, or one that needs a hierarchy, such as aa")
    effort: str = option("normal", "search effort: more effort loses less and takes longer", tuple(ROUNDS))

    def run(self, data: Transactions, model: KKmAnonymity, context: Context) -> LocalRecoding:
        people = People.of(data, model, columns_given(self.column_weights))
        if not people.n_records:
            return people.release(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), context, {})
        found = self.find(people, context)
        details = summary(people, found.class_of, found.items) | {
            "columns_bound": column_bound(people),
            "items_bound": found.least / max(people.n_entries, 1) if context.hierarchy is None else None,
        }
        return people.release(found.class_of, found.nodes, context, details)

    def find(self, people: People, context: Context) -> Found:
        """The best of splitting and, with delta and few people, of merging."""
        ways: list[Callable[[People, Context], Found]] = [self._split]
        if self.delta is not None and people.n_records // people.model.k_for(0) <= MOST_CLUSTERS:
            ways += [kind(self.delta, self.bound, self.items, self.effort).find for kind in (RMerge, TMerge, RTMerge)]
        found, problems = [], []
        for way in ways:
            try:
                found.append(way(people, context))
            except InfeasibleError as problem:
                problems.append(problem)
        if not found:
            raise problems[0]
        return min(found, key=lambda one: self._rate(loss_of_columns(people, one.class_of), one.items))

    def _split(self, people: People, context: Context) -> Found:
        losses = Losses(people, context, self.items)
        class_of = people.joined(self._choose(people, losses, context))
        nodes, least = protect_items(people, class_of, context, self.items, self.effort)
        return Found(class_of, nodes, losses.of_nodes(nodes), least)

    def _choose(self, people: People, losses: Losses, context: Context) -> NDArray[np.int64]:
        """The class of each record."""
        estimates = Estimates.of(people, context.hierarchy)
        found = []
        weight = PREFERENCES[self.prefer]
        for _ in range(GROWTHS[self.effort]):
            tree = grow(people, estimates, *losses.per(weight), context)
            found.append(self._improve(tree, losses))
            weight = losses.weight_at(tree, found[-1].nodes)
        best = min(found, key=lambda choice: choice.rate)
        if self.delta is not None and best.rate > 1.0:
            raise InfeasibleError(
                f"the loss of {self.bound} is at least {best.rate - 1.0:.3f} with these classes; raise delta, lower k, "
                "or use fewer known columns."
            )
        return best.tree.class_of(best.nodes)

    def _improve(self, tree: Splits, losses: Losses) -> Measured:
        """The best choice of classes; what their items lose is measured as often as the effort allows."""
        measured = np.full(len(tree.parent), np.nan)
        columns, item_cost = tree.column_cost / losses.n_records, tree.item_cost
        nodes = choose(tree.parent, columns, item_cost / losses.n_entries, self._rate)
        tried = []
        for _ in range(ROUNDS[self.effort]):
            for around in neighbours(tree, nodes):
                unknown = around[np.isnan(measured[around])]
                measured[unknown] = losses.measure(tree.class_of(unknown), len(unknown))
            item_cost = corrected(tree, measured)
            tried.append(Measured(tree, nodes, self._rate(*losses.of_choice(tree, nodes, item_cost))))
            nodes = choose(tree.parent, columns, item_cost / losses.n_entries, self._rate)
            if not np.isnan(measured[nodes]).any():
                tried.append(Measured(tree, nodes, self._rate(*losses.of_choice(tree, nodes, item_cost))))
                break
        return min(tried, key=lambda choice: choice.rate)

    def _rate(self, columns: float, items: float) -> float:
        """How bad a pair of losses is, 0 to 1; above 1 outside the bound."""
        if self.delta is None:
            weight = PREFERENCES[self.prefer]
            return float(1.0 - max(1.0 - columns, 1e-9) ** weight * max(1.0 - items, 1e-9) ** (1.0 - weight))
        limited, free = (columns, items) if self.bound == "columns" else (items, columns)
        return free if limited <= self.delta + 1e-9 else 1.0 + limited


class Measured(NamedTuple):
    """A choice of classes and how bad it is."""

    tree: Splits
    nodes: NDArray[np.int64]
    rate: float


# -- what is measured -------------------------------------------------------------------------------------------------


def neighbours(tree: Splits, nodes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The classes of a choice, those one split above and those one split below; each list covers nobody twice."""
    parent = tree.parent
    chosen = np.zeros(len(parent), dtype=bool)
    chosen[nodes] = True
    n_children = np.bincount(parent[1:], minlength=len(parent))
    n_chosen = np.bincount(parent[nodes[nodes > 0]], minlength=len(parent))
    above = np.flatnonzero((n_children > 0) & (n_children == n_chosen))
    below = 1 + np.flatnonzero(chosen[parent[1:]])
    return [nodes, above, below]


def corrected(tree: Splits, measured: NDArray[np.float64]) -> NDArray[np.float64]:
    """Measured losses of items where they are known; estimates elsewhere, in proportion to the nearest one measured
    above, or else to all of them.
    """
    estimate = tree.item_cost
    known = ~np.isnan(measured)
    overall = measured[known].sum() / max(estimate[known].sum(), 1e-9) if known.any() else 1.0
    ratio = np.full(len(estimate), overall)
    cost = estimate * overall
    for node in range(len(estimate)):
        if known[node]:
            ratio[node] = measured[node] / estimate[node] if estimate[node] > 0 else 1.0
            cost[node] = measured[node]
        elif tree.parent[node] >= 0:
            ratio[node] = ratio[tree.parent[node]]
            cost[node] = estimate[node] * ratio[node]
    return cost


# -- the bound --------------------------------------------------------------------------------------------------------


def column_bound(people: People) -> float | None:
    """What columns lose at least in any release, 0 to 1; None if there are too many combinations of levels."""
    heights = [tree.height + 1 for tree in people.trees]
    if not people.trees:
        return 0.0
    if np.prod(heights, dtype=float) > MOST_COMBINATIONS:
        return None
    sizes = np.diff(people.cell_starts)
    least = np.full(people.n_cells, np.inf)
    for depths in product(*(range(height) for height in heights)):
        key = np.zeros(people.n_cells, dtype=np.int64)
        loss = np.zeros(people.n_cells)
        for number, depth in enumerate(depths):
            node = people.ancestors[number][depth, people.cells[:, number]]
            loss += people.node_losses[number][node]
            key = np.unique(key * people.trees[number].n_nodes + node, return_inverse=True)[1].reshape(-1)
        is_large = np.bincount(key, sizes)[key] >= people.model.k_for(0)
        least = np.where(is_large, np.minimum(least, loss), least)
    return float((least * sizes).sum() / people.n_records)
