"""Records that stay on the cluster: here are their counts, and what to do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

from setveil.core import Layout, RemoteTransactions, Transactions, Vocabulary
from setveil.core.reading import Reading
from setveil.engines.spark.blocks import Csr, Sparse, add_up, collect, sparse

Result = TypeVar("Result")


@dataclass(frozen=True)
class Totals:
    """What is counted of records once: items by support, records by length."""

    supports: NDArray[np.int64]  # [items]
    by_length: NDArray[np.int64]  # [longest + 1] records with so many items


class SparkTransactions(RemoteTransactions):
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
        given = {"vocabulary": vocabulary, "layout": layout, "reading": reading, "ids": None}
        for name, value in {**given, "blocks": blocks, "target": target}.items():
            object.__setattr__(self, name, value)

    blocks: DataFrame
    target: NDArray[np.int32] | None

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

        places, counts = collect(add_up(self.blocks, self.target, count))
        table = np.zeros(max(n_items, int(places.max(initial=0))) + 1, dtype=np.int64)
        table[places] = counts
        return Totals(table[:n_items], table[n_items:])

    @property
    def supports(self) -> NDArray[np.int64]:
        """In how many records each item occurs, int64[n_items]."""
        return self.totals.supports

    @property
    def n_records(self) -> int:
        """Number of records, empty ones included."""
        return int(self.totals.by_length.sum())

    @property
    def n_occurrences(self) -> int:
        """Number of (record, item) pairs."""
        return int(self.totals.supports.sum())

    @property
    def n_empty(self) -> int:
        """Number of records without items."""
        return int(self.totals.by_length[0])

    @property
    def longest(self) -> int:
        """Items in the longest record."""
        return int(np.flatnonzero(self.totals.by_length).max(initial=0))

    # -- deriving -------------------------------------------------------------------------------------------------

    def recode(self, target: NDArray[np.integer], vocabulary: Vocabulary) -> SparkTransactions:
        """Replace every item ``i`` by ``target[i]``; -1 drops it. Nothing moves: the blocks stay as they are."""
        step = np.append(np.asarray(target, dtype=np.int32), -1)  # the last entry serves -1
        both = step[:-1] if self.target is None else step[self.target]
        return SparkTransactions(self.blocks, vocabulary, self.layout, None, both)

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
        from setveil.engines.spark.ordering import sorted_parts

        return sorted_parts(self, part_size, encode)

    def on_one_worker(self, work: Callable[[Transactions], Result]) -> Result:
        """What ``work`` makes of all records, done by one worker, which has to hold the distinct ones."""
        from setveil.engines.spark.ordering import hand_to_one_worker

        return hand_to_one_worker(self, work)

    def release_memory(self) -> None:
        """Let the cluster forget the blocks; they are made again from their source if they are asked for."""
        self.blocks.unpersist()
