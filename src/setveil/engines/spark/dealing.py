"""Records that hand some of their items on to others: positions in the canonical order decide who gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from setveil.arrays.rows import renumber_rows
from setveil.core.dataset import Csr
from setveil.core.row_order import take_rows
from setveil.engines.spark.blocks import BLOCKS, columns_of, join, pack, unpack
from setveil.engines.spark.ordering import names_of, numbered_ranges

if TYPE_CHECKING:
    from setveil.engines.spark.transactions import SparkTransactions

PLACED = f"bucket long, {BLOCKS}, positions binary"
PER_BUCKET = 1 << 16  # records that are put together by one task


def hand_on(
    data: SparkTransactions,
    is_handed_on: NDArray[np.bool_],
    goes_to: Callable[[NDArray[np.int64], int], NDArray[np.int64]],
) -> DataFrame:
    """Blocks of the records after some items of each went to the record at another place."""
    numbers = np.arange(data.n_items, dtype=np.int32)
    stays, goes = np.where(is_handed_on, -1, numbers), np.where(is_handed_on, numbers, -1)

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows, times in numbered_ranges(batches):
            able = np.diff(renumber_rows(*rows, stays)[0]) > 0
            counted = [pa.array([number], pa.int32()), pa.array([int(times[able].sum())], pa.int64())]
            yield pa.RecordBatch.from_arrays(counted, names=["number", "n"])

    with data.in_order() as ordered:
        table = ordered.rows.mapInArrow(count, "number int, n long").toArrow().sort_by("number")
        n_able = table.column("n").to_numpy().astype(np.int64)
        before = dict(zip(table.column("number").to_pylist(), (np.cumsum(n_able) - n_able).tolist(), strict=True))
        total = int(n_able.sum())

        def send(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows, times in numbered_ranges(batches):
                records = take_rows(*rows, np.repeat(np.arange(len(times)), times))
                kept, given = renumber_rows(*records, stays), renumber_rows(*records, goes)
                able = np.flatnonzero(np.diff(kept[0]) > 0)
                positions = before[number] + np.arange(len(able))
                yield from _by_bucket(take_rows(*kept, able), positions)
                is_giver = np.diff(given[0])[able] > 0
                yield from _by_bucket(take_rows(*given, able[is_giver]), goes_to(positions[is_giver], total))
                others = np.setdiff1d(np.arange(len(kept[0]) - 1), able, assume_unique=True)
                yield _placed(-1 - number, take_rows(*records, others), np.arange(len(others)))

        made = ordered.rows.mapInArrow(send, PLACED).groupBy("bucket").applyInArrow(_put_together, BLOCKS)
        made = made.persist(StorageLevel.MEMORY_AND_DISK)
        made.count()  # while the order is kept
    return made


def _by_bucket(rows: Csr, positions: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """Rows on their way to their positions."""
    order = np.argsort(positions, kind="stable")
    positions = positions[order]
    buckets = np.unique(positions // PER_BUCKET)
    cuts = np.searchsorted(positions, np.append(buckets, buckets[-1:] + 1) * PER_BUCKET)
    for bucket, low, high in zip(buckets.tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        yield _placed(bucket, take_rows(*rows, order[low:high]), positions[low:high] - bucket * PER_BUCKET)


def _placed(bucket: int, rows: Csr, positions: NDArray[np.int64]) -> pa.RecordBatch:
    columns = [
        pa.array([bucket], pa.int64()),
        *columns_of([rows]),
        pa.array([positions.astype("<i8").tobytes()], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, names=names_of(PLACED))


def _put_together(table: pa.Table) -> pa.Table:
    """The records of a bucket: at each place what stayed there and what came."""
    indptr, items = join(unpack(table.to_batches()))
    positions = np.concatenate([np.frombuffer(some.as_buffer(), dtype="<i8") for some in table.column("positions")])
    n_records, width = int(positions.max(initial=-1)) + 1, int(items.max(initial=0)) + 1
    keys = np.sort(np.repeat(positions, np.diff(indptr)) * width + items)
    made = np.searchsorted(keys, np.arange(n_records + 1) * width), (keys % width).astype(np.int32)
    return pa.Table.from_batches([pack(*made)])
