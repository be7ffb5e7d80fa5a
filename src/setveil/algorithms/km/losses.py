"""What a cut costs, in exact integers: NCP, or LM where items can be suppressed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km.cuts import Cut
from setveil.core import Hierarchy


@dataclass(frozen=True, eq=False)
class Losses:
    """Loss per occurrence and per node.

    NCP: an occurrence published as a node with more than one leaf costs that number of leaves. LM: it costs the number
    of other leaves. A suppressed occurrence costs as much as one published as the root of all items.
    """

    name: str  # "ncp" or "lm"
    rate: NDArray[np.int64]  # [n_nodes] loss of an occurrence published as the node
    suppressed_rate: int
    occurrences: NDArray[np.int64]  # [n_nodes]
    worst: int

    @classmethod
    def of(cls, cut: Cut, name: str) -> Losses:
        """The losses of all nodes of a cut's hierarchy; the cut itself does not matter."""
        leaves, n_items = cut.hierarchy.n_leaves, cut.hierarchy.n_items
        if name == "lm":
            rate, top = leaves - 1, max(n_items - 1, 1)
        else:
            rate, top = np.where(leaves > 1, leaves, 0), n_items
        return cls(name, rate, top, cut.occurrences, top * cut.n_occurrences)

    @property
    def price(self) -> NDArray[np.int64]:
        """What publishing each node for everything below it costs, int64[n_nodes]."""
        return self.occurrences * self.rate

    @property
    def suppressed(self) -> NDArray[np.int64]:
        """What suppressing everything below each node costs, int64[n_nodes]."""
        return self.occurrences * self.suppressed_rate

    def without(self, leaves: list[int], hierarchy: Hierarchy) -> Losses:
        """The same where some leaves do not occur; shares are still of the worst with all."""
        own = self.occurrences[: hierarchy.n_items].copy()
        own[leaves] = 0
        before = np.concatenate(([0], np.cumsum(own[hierarchy.leaf_order])))
        return replace(self, occurrences=before[hierarchy.last] - before[hierarchy.first])

    def of_cut(self, node_of_leaf: NDArray[np.int32]) -> int:
        """What a cut costs; ``node_of_leaf[leaf]`` is -1 for suppressed leaves."""
        rates = np.where(node_of_leaf < 0, self.suppressed_rate, self.rate[node_of_leaf])
        return int((rates * self.occurrences[: len(node_of_leaf)]).sum())

    def share(self, cost: float) -> float:
        """A cost as a share of the worst, 0 … 1."""
        return cost / self.worst if self.worst else 0.0
