"""The four data-sized operations. Decisions happen on the driver; results never depend on the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets, Transactions
from setveil.core.transactions import Distinct

Shard = TypeVar("Shard")
Result = TypeVar("Result")


class Engine(Protocol):
    """Where data-sized work runs."""

    def distinct(self, data: Transactions) -> Distinct:
        """Distinct rows with weights, in lexicographic order."""

    def supports(self, data: Transactions, itemsets: Itemsets) -> NDArray[np.int64]:
        """In how many records each itemset is contained."""

    def partition(self, order: NDArray[np.int64], n_parts: int) -> list[NDArray[np.int64]]:
        """An ordering cut into ``n_parts`` runs whose sizes differ by at most one, longer first."""

    def map_shards(self, work: Callable[[Shard], Result], shards: Sequence[Shard]) -> list[Result]:
        """``work`` applied to each shard, results in the order of the shards."""
