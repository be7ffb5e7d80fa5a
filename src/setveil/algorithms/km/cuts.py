"""A cut of a hierarchy that only moves up, and what it costs.

A cut names for every item the node that is published instead of it. Costs are exact integers: an occurrence published
as a node with more than one leaf costs that number of leaves, so ``NCP = cost / (leaves of the hierarchy ×
occurrences)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Hierarchy


class Cut:
    """Starts at the leaves; ``raise_to(node)`` publishes ``node`` for everything below it."""

    def __init__(self, hierarchy: Hierarchy, data: Dataset) -> None:
        leaf_occurrences = np.zeros(hierarchy.n_items, dtype=np.int64)
        leaf_occurrences[hierarchy.leaf_of_items(data.vocabulary)] = data.supports
        before = np.concatenate(([0], np.cumsum(leaf_occurrences[hierarchy.leaf_order])))
        self.hierarchy = hierarchy
        self.n_occurrences = data.n_occurrences
        self.occurrences = before[hierarchy.last] - before[hierarchy.first]  # int64[n_nodes] of the original items
        # int64[n_nodes]: what all below a node costs if the node itself is published, and what it costs now.
        self.price = np.where(hierarchy.n_leaves > 1, self.occurrences * hierarchy.n_leaves, 0)
        self.spent = np.zeros(hierarchy.n_nodes, dtype=np.int64)
        # int32[n_nodes]: the node on the cut for what lies below it; nodes on the cut or above stand for themselves.
        self.target = np.arange(hierarchy.n_nodes, dtype=np.int32)
        self._past = _ends_of_subtrees(hierarchy)

    @property
    def node_of_leaf(self) -> NDArray[np.int32]:
        """The published node of each leaf, int32[n_items]."""
        return self.target[: self.hierarchy.n_items]

    @property
    def is_available(self) -> NDArray[np.bool_]:
        """Which nodes lie on the cut or above it, bool[n_nodes]."""
        return np.equal(self.target, np.arange(self.hierarchy.n_nodes))

    def below(self, node: int) -> NDArray[np.int32]:
        """All nodes strictly below a node, depth first."""
        return self.hierarchy.in_preorder[self.hierarchy.preorder[node] + 1 : self._past[node]]

    def increase(self, node: int) -> int:
        """By how much publishing ``node`` would raise the cost; ``node`` must not lie below the cut."""
        return int(self.price[node] - self.spent[node])

    def raise_to(self, node: int) -> None:
        """Publish ``node`` for everything below it; ``node`` must not lie below the cut."""
        self.spent[self.hierarchy.ancestors(node)] += self.increase(node)
        self.target[self.below(node)] = node

    def at_or_above(self, nodes: Iterable[int]) -> Cut:
        """A copy that is generalized to each of the given nodes."""
        higher = copy(self)
        higher.spent, higher.target = self.spent.copy(), self.target.copy()
        for node in nodes:
            higher.raise_to(node)
        return higher

    @property
    def cost(self) -> int:
        """What the cut costs now."""
        return int(self.spent[self.hierarchy.root])

    def ncp(self, cost: int | None = None) -> float:
        """Normalized certainty penalty of the whole database, 0 … 1; of a given cost on the same scale."""
        worst = self.hierarchy.n_items * self.n_occurrences
        return (self.cost if cost is None else cost) / worst if worst else 0.0


@dataclass(frozen=True)
class Move:
    """One step of an algorithm that generalizes a cut: the itemset that was too rare, and the node that resolved it."""

    witness: tuple[int, ...]
    support: int
    raised: tuple[int, ...]
    increase: int

    def describe(self, cut: Cut) -> dict[str, Any]:
        """With labels, for the report; ``cost`` is the increase of NCP."""
        labels = cut.hierarchy.published_labels
        return {
            "witness": [labels[node] for node in self.witness],
            "support": self.support,
            "raised": [labels[node] for node in self.raised],
            "cost": cut.ncp(self.increase),
        }


def _ends_of_subtrees(hierarchy: Hierarchy) -> NDArray[np.int64]:
    """For each node the place after its last descendant in depth-first order, int64[n_nodes]."""
    size = np.ones(hierarchy.n_nodes, dtype=np.int64)
    parent = hierarchy.parent.tolist()
    for node in hierarchy.in_preorder[:0:-1].tolist():  # children before their parents, the root left out
        size[parent[node]] += size[node]
    return hierarchy.preorder + size
