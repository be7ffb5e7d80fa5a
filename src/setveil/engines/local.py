"""The engine for one machine: arrays in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets, Transactions
from setveil.core.transactions import Distinct
from setveil.engines.base import Result, Shard


@dataclass(frozen=True)
class LocalEngine:
    """Everything in this process, shards side by side in threads."""

    def distinct(self, data: Transactions) -> Distinct:
        return data.distinct()

    def supports(self, data: Transactions, itemsets: Itemsets) -> NDArray[np.int64]:
        indptr, records = data.inverted()
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

    def partition(self, order: NDArray[np.int64], n_parts: int) -> list[NDArray[np.int64]]:
        return np.array_split(order, n_parts)

    def map_shards(self, work: Callable[[Shard], Result], shards: Sequence[Shard]) -> list[Result]:
        """Kernels run without the GIL, so threads are enough. A failing or interrupted shard drops those not yet begun."""
        n_threads = min(available_threads(), len(shards))
        if n_threads < 2:
            return [work(shard) for shard in shards]
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor(n_threads)
        try:
            return list(pool.map(work, shards))
        finally:
            pool.shutdown(cancel_futures=True)


def available_threads() -> int:
    """Processors this process may use; ``NUMBA_NUM_THREADS`` lowers it, as for parallel kernels."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(available, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else available
