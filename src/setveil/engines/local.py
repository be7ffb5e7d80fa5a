"""The engine for one machine: arrays in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.threads import map_in_order
from setveil.core import Dataset, Hierarchy, Itemsets
from setveil.core.transactions import Distinct
from setveil.engines.base import Result, Shard, TreeCounts


@dataclass(frozen=True)
class LocalEngine:
    """Everything in this process, shards side by side in threads."""

    def run(self, algorithm: Any, data: Dataset, model: Any, context: Any) -> Any:
        return algorithm.run(data.rows, model, context)

    def distinct(self, data: Dataset) -> Distinct:
        return data.rows.distinct()

    def supports(self, data: Dataset, itemsets: Itemsets) -> NDArray[np.int64]:
        indptr, records = data.rows.inverted()
        result = np.empty(len(itemsets), dtype=np.int64)
        for number, itemset in enumerate(itemsets):
            lists = sorted((records[indptr[item] : indptr[item + 1]] for item in itemset), key=len)
            if not lists:
                result[number] = data.n_records
                continue
            common = lists[0]
            for other in lists[1:]:
                common = np.intersect1d(common, other, assume_unique=True)
            result[number] = len(common)
        return result

    def tree_counts(self, data: Dataset, hierarchy: Hierarchy) -> TreeCounts:
        from setveil.engines.tree_counts import LocalTreeCounts

        return LocalTreeCounts.of(data.rows, hierarchy, self)

    def partition(self, order: NDArray[np.int64], n_parts: int) -> list[NDArray[np.int64]]:
        return np.array_split(order, n_parts)

    def map_shards(self, work: Callable[[Shard], Result], shards: Sequence[Shard]) -> list[Result]:
        """Threads are enough, for kernels run without the GIL. A failing shard drops those not yet begun."""
        return list(map_in_order(work, shards))
