"""The engine for a Spark cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from setveil.core import Dataset, Hierarchy, Itemsets
from setveil.core.transactions import Distinct
from setveil.engines.base import Result, Shard, TreeCounts
from setveil.engines.spark.transactions import SparkTransactions


@dataclass(frozen=True)
class SparkEngine:
    """Counts are summed by Spark, shards are tasks."""

    session: SparkSession

    def run(self, algorithm: Any, data: Dataset, model: Any, context: Any) -> Any:
        """By the algorithm's way for data on a cluster."""
        return algorithm.run_distributed(data, model, context)

    def distinct(self, data: Dataset) -> Distinct:
        """Refused for records on the cluster, which are put in order there (``in_order``)."""
        return data.rows.distinct()

    def supports(self, data: Dataset, itemsets: Itemsets) -> NDArray[np.int64]:
        """In how many records each itemset is contained."""
        assert isinstance(data, SparkTransactions)
        return data.supports_of(itemsets)

    def tree_counts(self, data: Dataset, hierarchy: Hierarchy) -> TreeCounts:
        """Ready to count itemsets over the nodes of a hierarchy."""
        from setveil.engines.spark.tree_counts import SparkTreeCounts

        assert isinstance(data, SparkTransactions)
        return SparkTreeCounts(data, hierarchy)

    def partition(self, order: NDArray[np.int64], n_parts: int) -> list[NDArray[np.int64]]:
        """An ordering cut into ``n_parts`` runs whose sizes differ by at most one, longer first."""
        return np.array_split(order, n_parts)

    def map_shards(self, work: Callable[[Shard], Result], shards: Sequence[Shard]) -> list[Result]:
        """``work`` applied to each shard by a task of its own, results in the order of the shards."""
        if not shards:
            return []

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                numbers, shards_here = batch.column(0), batch.column(1).to_pylist()
                results = [pickle.dumps(work(pickle.loads(shard))) for shard in shards_here]
                yield pa.RecordBatch.from_arrays([numbers, pa.array(results, pa.binary())], names=["number", "result"])

        packed = [(number, pickle.dumps(shard)) for number, shard in enumerate(shards)]
        frame = self.session.createDataFrame(packed, "number int, shard binary").repartition(len(shards), "number")
        table = frame.mapInArrow(run, "number int, result binary").toArrow()
        found = dict(zip(table.column("number").to_pylist(), table.column("result").to_pylist(), strict=True))
        return [pickle.loads(found[number]) for number in range(len(shards))]
