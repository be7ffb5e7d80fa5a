"""Work on the records that share something: an item, or whatever key somebody gives them."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import functions as f

from setveil.core.dataset import Csr
from setveil.core.row_order import take_rows
from setveil.engines.distributed import Found, Mark
from setveil.engines.spark.blocks import unpack
from setveil.engines.spark.ordering import counted_rows

if TYPE_CHECKING:
    from setveil.engines.spark.transactions import SparkTransactions

KEYED = ["key", "row", "n"]
FEW = 10_000  # rows that are spread out at once
AT_ONCE = 1 << 20  # rows that a task holds to see which are equal


def distinct_by_length(data: SparkTransactions) -> NDArray[np.int64]:
    """How many different records there are of each length."""
    table = np.zeros(data.longest + 1, dtype=np.int64)
    with data.in_order() as ordered:
        for summary in ordered.summaries.values():
            table[: len(summary.distinct_by_length)] += summary.distinct_by_length
    return table


def class_sizes(data: SparkTransactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many records are alike, ascending, and how many such classes there are."""
    counted: Counter[int] = Counter()
    with data.in_order() as ordered:
        for summary in ordered.summaries.values():
            counted.update(summary.classes)
    sizes = np.array(sorted(counted), dtype=np.int64)
    return sizes, np.array([counted[size] for size in sizes.tolist()], dtype=np.int64)


def by_item(
    data: SparkTransactions, work: Callable[[int, Csr, NDArray[np.int64]], Found]
) -> tuple[list[Any], dict[Mark, int]]:
    """``work(item, rows, weights)`` of the different records with each item, and the smallest mark of each record."""
    key = ">u2" if data.n_items <= 1 << 16 else ">u4"
    width = np.dtype(key).itemsize

    def spread(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows, times in counted_rows(batches):
            for first in range(0, len(times), FEW):
                some = np.arange(first, min(first + FEW, len(times)))
                indptr, items = take_rows(*rows, some)
                owners = pa.array(np.repeat(np.arange(len(some)), np.diff(indptr)))
                keys, own = keys_of(indptr, items, key).take(owners), pa.array(times[some]).take(owners)
                yield pa.RecordBatch.from_arrays([pa.array(items), keys, own], names=["item", "row", "n"])

    def run(table: pa.Table) -> pa.Table:
        weights = table.column("n").to_numpy().astype(np.int64)
        summary, marks = work(table.column("item")[0].as_py(), rows_of(table.column("row"), key), weights)
        marked = np.flatnonzero(marks >= 0)
        rows = table.column("row").combine_chunks().take(pa.array(marked))
        nothing = len(marked)
        return pa.table(
            {
                "summary": pa.array([pickle.dumps(summary), *[None] * nothing], pa.binary()),
                "row": pa.concat_arrays([pa.array([None], pa.binary()), rows.cast(pa.binary())]),
                "mark": pa.array(np.concatenate(([0], marks[marked])).astype(np.int32)),
                "n": pa.array(np.concatenate(([0], weights[marked]))),
            }
        )

    with data.in_order() as ordered:
        spread_out = ordered.rows.mapInArrow(spread, "item int, row binary, n long")
        found = spread_out.groupBy("item").applyInArrow(run, "summary binary, row binary, mark int, n long")
        found = found.persist(StorageLevel.MEMORY_AND_DISK)
        summaries = found.where(found["summary"].isNotNull()).select("summary").toArrow().column("summary").to_pylist()
        marked = (
            found.where(found.row.isNotNull()).groupBy("row").agg(f.min("mark").alias("mark"), f.first("n").alias("n"))
        )
        length = (f.length("row") / width).cast("int").alias("length")
        counted = marked.groupBy(length, "mark").agg(f.sum("n").alias("n")).toArrow().to_pylist()
        found.unpersist()
    return [pickle.loads(one) for one in summaries], {(one["length"], one["mark"]): one["n"] for one in counted}


def by_key(
    data: SparkTransactions,
    emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]],
    work: Callable[[int, Csr, NDArray[np.int64]], int],
) -> dict[int, int]:
    """``work(key, rows, weights)`` of the rows that ``emit`` makes under each key; equal ones travel once."""
    target = data.target

    def spread(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.Table] = []
        for rows in unpack(batches, target):
            numbers, (indptr, items) = emit(rows)
            ones = pa.array(np.ones(len(numbers), dtype=np.int64))
            held.append(_merged([pa.table([pa.array(numbers), keys_of(indptr, items, ">u4"), ones], names=KEYED)]))
            if sum(len(table) for table in held) > AT_ONCE:
                held = [_merged(held)]
                if len(held[0]) > AT_ONCE // 2:  # they do not repeat
                    yield from held.pop().to_batches()
        if held:
            yield from _merged(held).to_batches()

    def run(table: pa.Table) -> pa.Table:
        number = table.column("key")[0].as_py()
        weights = table.column("n").to_numpy().astype(np.int64)
        result = work(number, rows_of(table.column("row"), ">u4"), weights)
        return pa.table({"key": pa.array([number], pa.int32()), "result": pa.array([result], pa.int64())})

    spread_out = data.blocks.mapInArrow(spread, "key int, row binary, n long")
    table = spread_out.groupBy("key").applyInArrow(run, "key int, result long").toArrow()
    return dict(zip(table.column("key").to_pylist(), table.column("result").to_pylist(), strict=True))


def _merged(tables: list[pa.Table]) -> pa.Table:
    """Equal rows under the same key as one."""
    grouped = pa.concat_tables(tables).group_by(KEYED[:2], use_threads=False).aggregate([("n", "sum")])
    return grouped.select([*KEYED[:2], "n_sum"]).rename_columns(KEYED)


# -- rows as keys -----------------------------------------------------------------------------------------------------


def keys_of(indptr: NDArray[np.int64], items: NDArray[np.int32], key: str) -> pa.Array:
    """Rows as keys, which Spark can compare: the bytes of their numbers."""
    numbers = items.astype(key)
    offsets = (indptr * numbers.itemsize).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(numbers.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(indptr) - 1, buffers)


def rows_of(column: pa.ChunkedArray, key: str) -> Csr:
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
