"""Records in the order of their content, cut into parts of a fixed size, whatever the partitions of the cluster.

A row is a key of big-endian item numbers, so that Spark's order of bytes is the lexicographic order of rows, a prefix
before its extensions. Spark counts equal rows, range-partitions and sorts the distinct ones. How many records lie
before each partition is all the driver has to know to say which record begins which part.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from setveil.core import Transactions
from setveil.engines.spark.blocks import Csr, unpack
from setveil.engines.spark.transactions import SparkTransactions

Result = TypeVar("Result")

PER_PARTITION = 500_000  # records that are sorted by one task, about


def distinct_rows(data: SparkTransactions) -> DataFrame:
    """``row, n``: every different record once, with how often it occurs."""
    target, key = data.target, _key_type(data)

    def keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for indptr, items in unpack(batches, target):
            yield pa.RecordBatch.from_arrays([_keys(indptr, items, key)], names=["row"])

    return data.blocks.mapInArrow(keys, "row binary").groupBy("row").agg(f.count(f.lit(1)).alias("n"))


def sorted_parts(
    data: SparkTransactions, part_size: int, encode: Callable[[Transactions], bytes]
) -> Iterator[tuple[int, bytes]]:
    """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""
    n_partitions = max(2, -(-data.n_records // PER_PARTITION))
    in_order = distinct_rows(data).repartitionByRange(n_partitions, "row").sortWithinPartitions("row")
    in_order = in_order.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        before = _records_before(in_order)
        pieces = in_order.mapInArrow(_cutter(before, part_size), "part int, start long, row binary, n long")
        encoder = _encoder(data, encode)
        files = pieces.groupBy("part").applyInArrow(encoder, "part int, file binary").persist(StorageLevel.DISK_ONLY)
        try:
            files.count()  # all tasks at once; then one file after the other comes here
            for part, content in files.toLocalIterator():
                yield int(part), bytes(content)
        finally:
            files.unpersist()
    finally:
        in_order.unpersist()


def hand_to_one_worker(data: SparkTransactions, work: Callable[[Transactions], Result]) -> Result:
    """``work`` done on all records by one task; they come in no particular order."""
    vocabulary, key = data.vocabulary, _key_type(data)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(batches)  # never empty: there is a record
        distinct = Transactions(*_rows(table.column("row"), key), vocabulary)
        records = distinct.select(np.repeat(np.arange(distinct.n_records), table.column("n").to_numpy()))
        yield pa.RecordBatch.from_pydict({"result": pa.array([pickle.dumps(work(records))], pa.binary())})

    table = distinct_rows(data).repartition(1).mapInArrow(run, "result binary").toArrow()
    result: Result = pickle.loads(table.column("result")[0].as_py())
    return result


def _records_before(in_order: DataFrame) -> dict[int, int]:
    """How many records stand before each partition."""

    def weigh(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        total = sum(int(batch.column("n").to_numpy().sum()) for batch in batches)
        yield pa.RecordBatch.from_pydict({"partition": [_partition()], "n": [total]})

    weights = in_order.mapInArrow(weigh, "partition long, n long").toArrow().to_pylist()
    before, total = {}, 0
    for row in sorted(weights, key=lambda row: int(row["partition"])):
        before[row["partition"]] = total
        total += row["n"]
    return before


def _cutter(before: dict[int, int], part_size: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Cuts sorted rows where a part ends; a row that occurs on both sides goes to both with its share."""

    def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        at = before[_partition()]
        for batch in batches:
            ends = at + np.cumsum(batch.column("n").to_numpy())
            starts = np.concatenate(([at], ends[:-1])) if len(ends) else ends
            for part in range(at // part_size, -(-int(ends[-1]) // part_size) if len(ends) else 0):
                low, high = part * part_size, (part + 1) * part_size
                first, last = np.searchsorted(ends, low, side="right"), np.searchsorted(starts, high, side="left")
                begins = np.maximum(starts[first:last], low)
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(np.full(last - first, part, dtype=np.int32)),
                        pa.array(begins),
                        batch.column("row").slice(first, last - first),
                        pa.array(np.minimum(ends[first:last], high) - begins),
                    ],
                    names=["part", "start", "row", "n"],
                )
            at = int(ends[-1]) if len(ends) else at

    return cut


def _encoder(data: SparkTransactions, encode: Callable[[Transactions], bytes]) -> Callable[[pa.Table], pa.Table]:
    vocabulary, key = data.vocabulary, _key_type(data)

    def encode_part(table: pa.Table) -> pa.Table:
        order = np.argsort(table.column("start").to_numpy())
        indptr, items = _rows(table.column("row"), key)
        times = table.column("n").to_numpy()[order]
        rows = Transactions(indptr, items, vocabulary).select(np.repeat(order, times))
        content = pa.array([encode(rows)], pa.binary())
        return pa.table({"part": table.column("part").slice(0, 1), "file": content})

    return encode_part


def _partition() -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _key_type(data: SparkTransactions) -> str:
    return ">u2" if data.n_items <= 1 << 16 else ">u4"


def _keys(indptr: NDArray[np.int64], items: NDArray[np.int32], key: str) -> pa.Array:
    numbers = items.astype(key)
    offsets = (indptr * numbers.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(numbers.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(indptr) - 1, buffers)


def _rows(column: pa.ChunkedArray, key: str) -> Csr:
    """The rows behind keys."""
    indptrs, parts, end = [np.zeros(1, dtype=np.int64)], [], 0
    for chunk in column.chunks:
        if len(chunk) == 0:
            continue
        wide = chunk.cast(pa.large_binary())
        _, offsets, content = wide.buffers()
        bounds = np.frombuffer(offsets, dtype=np.int64)[wide.offset : wide.offset + len(wide) + 1]
        raw = np.frombuffer(content, dtype=np.uint8) if content is not None else np.empty(0, dtype=np.uint8)
        parts.append(raw[bounds[0] : bounds[-1]].view(key).astype(np.int32))
        indptrs.append((bounds[1:] - bounds[0]) // np.dtype(key).itemsize + end)
        end += len(parts[-1])
    return np.concatenate(indptrs), np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
