"""The data-sized operations. Decisions happen on the driver; results never depend on the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Hierarchy, Itemsets
from setveil.core.transactions import Distinct

Shard = TypeVar("Shard")
Result = TypeVar("Result")


Watch = Callable[[float], None]  # called with the share counted, 0 … 1; may raise to stop it
Found = tuple[NDArray[np.int32], NDArray[np.int64]]  # itemsets [n, size] and their supports [n]


class TreeCounts(Protocol):
    """Supports of itemsets over the nodes of a hierarchy: a node occurs in a record that has something at or below
    it.
    """

    def node_supports(self) -> NDArray[np.int64]:
        """In how many records each node occurs, int64[n_nodes]."""

    def can_count(self, n_nodes: int, size: int, k: int) -> bool:
        """Whether counting all itemsets of that many nodes at once fits into memory and pays."""

    def rare_itemsets(
        self, nodes: NDArray[np.int32], target: NDArray[np.int32], size: int, k: int, watch: Watch
    ) -> Found:
        """All itemsets of ``size`` unrelated ``nodes`` with 0 < support < k, in lexicographic order.

        ``nodes`` has ancestors before descendants; itemsets are given by positions in it. ``target[leaf]`` is the
        lowest node that counts for a leaf; every node above a target except the root has to be among ``nodes``.
        """


class Engine(Protocol):
    """Where data-sized work runs."""

    def run(self, algorithm: Any, data: Dataset, model: Any, context: Any) -> Any:
        """The release that an algorithm makes of ``data``."""

    def distinct(self, data: Dataset) -> Distinct:
        """Distinct rows with weights, in lexicographic order."""

    def supports(self, data: Dataset, itemsets: Itemsets) -> NDArray[np.int64]:
        """In how many records each itemset is contained."""

    def tree_counts(self, data: Dataset, hierarchy: Hierarchy) -> TreeCounts:
        """Ready to count itemsets over the nodes of a hierarchy."""

    def partition(self, order: NDArray[np.int64], n_parts: int) -> list[NDArray[np.int64]]:
        """An ordering cut into ``n_parts`` runs whose sizes differ by at most one, longer first."""

    def map_shards(self, work: Callable[[Shard], Result], shards: Sequence[Shard]) -> list[Result]:
        """``work`` applied to each shard, results in the order of the shards."""
