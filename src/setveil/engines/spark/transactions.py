"""Records that stay on the cluster: here are their counts, and what to do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from setveil.arrays.mining import count_matches, index_rows
from setveil.core import Itemsets, Layout, Transactions, Vocabulary
from setveil.core.dataset import Csr, Sparse
from setveil.core.provenance import Reading
from setveil.core.row_order import take_rows
from setveil.engines.base import Engine
from setveil.engines.distributed import DistributedDataset, Found, Mark
from setveil.engines.distributed_groups import DistributedGroups, GroupMaker
from setveil.engines.spark import dealing, groups, ordering, subsets
from setveil.engines.spark.blocks import BLOCKS, add_up, collect, collect_dense, gather, pack, sparse, unpack

Result = TypeVar("Result")


@dataclass(frozen=True)
class Totals:
    """What is counted of records once: items by support, records by length."""

    supports: NDArray[np.int64]  # [items]
    by_length: NDArray[np.int64]  # [longest + 1] records with so many items


class SparkTransactions(DistributedDataset):
    """Transactions whose rows are blocks on a cluster, with all counts of the usual ones.

    The rows themselves are never brought here.
    """

    def __init__(
        self,
        blocks: DataFrame,
        vocabulary: Vocabulary,
        layout: Layout,
        reading: Reading | None = None,
        target: NDArray[np.int32] | None = None,
    ) -> None:
        """``target[number in the blocks]`` is the number here, -1 for none; as they are by default."""
        self.vocabulary, self.layout, self.reading = vocabulary, layout, reading
        self.blocks, self.target = blocks, target

    def own_engine(self) -> Engine:
        """The engine of their cluster."""
        from setveil.engines.spark.engine import SparkEngine

        return SparkEngine(self.session)

    # -- counts ---------------------------------------------------------------------------------------------------

    @cached_property
    def totals(self) -> Totals:
        """Counted in one pass over the blocks."""
        n_items = self.n_items

        def count(blocks: Iterator[Csr]) -> Sparse:
            supports, by_length = np.zeros(n_items, dtype=np.int64), np.zeros(0, dtype=np.int64)
            for indptr, items in blocks:
                supports += np.bincount(items, minlength=n_items)
                here = np.bincount(np.diff(indptr))
                longer, shorter = (here, by_length) if len(here) > len(by_length) else (by_length, here)
                by_length = longer.astype(np.int64)
                by_length[: len(shorter)] += shorter
            return sparse(np.concatenate((supports, by_length)))

        positions, counts = collect(add_up(self.blocks, self.target, count))
        table = np.zeros(max(n_items, int(positions.max(initial=0))) + 1, dtype=np.int64)
        table[positions] = counts
        return Totals(table[:n_items], table[n_items:])

    @property
    def supports(self) -> NDArray[np.int64]:
        """In how many records each item occurs, int64[n_items]."""
        return self.totals.supports

    @property
    def by_length(self) -> NDArray[np.int64]:
        """How many records there are of each length."""
        return self.totals.by_length

    # -- deriving -------------------------------------------------------------------------------------------------

    def recode(self, target: NDArray[np.integer], vocabulary: Vocabulary) -> SparkTransactions:
        """Replace every item ``i`` by ``target[i]``; -1 drops it. Nothing moves: the blocks stay as they are."""
        step = np.append(np.asarray(target, dtype=np.int32), -1)  # the last entry serves -1
        both = step[:-1] if self.target is None else step[self.target]
        return SparkTransactions(self.blocks, vocabulary, self.layout, None, both)

    def keep_items(self, keep: NDArray[np.bool_]) -> SparkTransactions:
        """Only the items marked true, renumbered over a smaller vocabulary."""
        vocabulary = Vocabulary.presorted([label for label, kept in zip(self.vocabulary, keep, strict=True) if kept])
        return self.recode(np.where(keep, np.cumsum(keep) - 1, -1), vocabulary)

    def over(self, vocabulary: Vocabulary) -> SparkTransactions:
        """The same records over a larger vocabulary."""
        wider = self.recode(vocabulary.encode(self.vocabulary), vocabulary)
        return SparkTransactions(self.blocks, vocabulary, self.layout, self.reading, wider.target)

    @property
    def session(self) -> SparkSession:
        """Where the blocks live."""
        return self.blocks.sparkSession

    def to_spark(self) -> DataFrame:
        """The records as a Spark frame with one column of lists of labels, in no particular order."""
        from setveil.engines.spark.frames import label_lists

        return label_lists(self)

    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""
        return ordering.sorted_parts(self, part_size, encode)

    # -- counting ---------------------------------------------------------------------------------------------------

    @contextmanager
    def kept(self) -> Iterator[None]:
        """The blocks stay on the workers meanwhile, in memory or on their disks, and so do records put in order."""
        if "is_kept" in self.__dict__:
            yield
            return
        self.__dict__["is_kept"] = True
        blocks = None if self.blocks.is_cached else self.blocks.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            yield
        finally:
            del self.__dict__["is_kept"]
            ordered: ordering.Ordered | None = self.__dict__.pop("ordered", None)
            if ordered is not None:
                ordered.rows.unpersist()
            if blocks is not None:
                blocks.unpersist()

    @contextmanager
    def in_order(self) -> Iterator[ordering.Ordered]:
        """The different records in canonical order; made once while kept."""
        with self.kept():
            if "ordered" not in self.__dict__:
                self.__dict__["ordered"] = ordering.put_in_order(self)
            yield self.__dict__["ordered"]

    @cached_property
    def some(self) -> tuple[Csr, NDArray[np.int64]]:
        """A few records of each partition, and how many stand for each of them."""
        return ordering.look_at_some(self.blocks, self.target)

    def supports_of(self, itemsets: Itemsets) -> NDArray[np.int64]:
        n_items, queries = self.n_items, (itemsets.indptr, itemsets.items)

        def count(blocks: Iterator[Csr]) -> Sparse:
            supports = np.zeros(len(queries[0]) - 1, dtype=np.int64)
            for indptr, items in blocks:
                n_rows = len(indptr) - 1
                postings = index_rows(indptr, items, n_items)
                supports += count_matches(postings, np.ones(n_rows, dtype=np.int64), queries)
            return sparse(supports)

        found = self.add_up(count, len(itemsets))
        return np.where(np.diff(itemsets.indptr) > 0, found, self.n_records)

    def add_up(self, count: Callable[[Iterator[Csr]], Sparse], size: int) -> NDArray[np.int64]:
        """A table of ``size`` positions: what ``count`` finds in each partition, added up by Spark."""
        return collect_dense(add_up(self.blocks, self.target, count), size)

    def gather(self, work: Callable[[Iterator[Csr]], Result]) -> list[Result]:
        return gather(self.blocks, self.target, work)

    def distinct_by_length(self) -> NDArray[np.int64]:
        return subsets.distinct_by_length(self)

    def records_at(self, positions: Mapping[int, NDArray[np.int64]]) -> dict[int, Csr]:
        return ordering.records_at(self, positions)

    def by_item(self, work: Callable[[int, Csr, NDArray[np.int64]], Found]) -> tuple[list[Any], dict[Mark, int]]:
        return subsets.by_item(self, work)

    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return subsets.class_sizes(self)

    def in_shards(
        self,
        encode: Callable[[Csr], Csr],
        bounds: NDArray[np.int64],
        work: Callable[[int, Transactions], tuple[Csr, Any]],
    ) -> tuple[DistributedDataset, list[Any]]:
        blocks, summaries = ordering.in_shards(self, encode, bounds, work)
        return SparkTransactions(blocks, self.vocabulary, self.layout), summaries

    def in_groups(
        self, maker: GroupMaker, published: DistributedDataset, sensitive: Sequence[str]
    ) -> DistributedGroups:
        return groups.in_groups(self, maker, published.vocabulary, sensitive)

    def keep_records(self, choose: Callable[[Csr], NDArray[np.int64]]) -> SparkTransactions:
        """Only the rows that ``choose`` names in each block."""
        target = self.target

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for rows in unpack(batches, target):
                yield pack(*take_rows(*rows, choose(rows)))

        return SparkTransactions(self.blocks.mapInArrow(run, BLOCKS), self.vocabulary, self.layout, self.reading)

    def hand_on(
        self, is_handed_on: NDArray[np.bool_], goes_to: Callable[[NDArray[np.int64], int], NDArray[np.int64]]
    ) -> SparkTransactions:
        """Other records: some items of each go to the record at another place."""
        return SparkTransactions(dealing.hand_on(self, is_handed_on, goes_to), self.vocabulary, self.layout)

    def by_key(
        self,
        emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]],
        work: Callable[[int, Csr, NDArray[np.int64]], int],
    ) -> dict[int, int]:
        return subsets.by_key(self, emit, work)

    def release_memory(self) -> None:
        """Let the cluster forget the blocks; they are made again from their source if they are asked for."""
        self.blocks.unpersist()
