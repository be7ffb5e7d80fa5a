"""Work on the records that share something: an item, or whatever key somebody gives them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import functions as f

from setveil.core.remote import Csr, Found, Mark
from setveil.engines.spark.blocks import unpack
from setveil.engines.spark.ordering import distinct_rows, key_type, keys_of, rows_of

if TYPE_CHECKING:
    from setveil.engines.spark.transactions import SparkTransactions


def distinct_by_length(data: SparkTransactions) -> NDArray[np.int64]:
    """How many different records there are of each length."""
    width = np.dtype(key_type(data)).itemsize
    counted = distinct_rows(data).groupBy((f.length("row") / width).cast("int").alias("length")).count().toArrow()
    table = np.zeros(data.longest + 1, dtype=np.int64)
    table[counted.column("length").to_numpy()] = counted.column("count").to_numpy()
    return table


def class_sizes(data: SparkTransactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many records are alike, ascending, and how many such classes there are."""
    counted = distinct_rows(data).groupBy("n").count().toArrow()
    sizes = counted.column("n").to_numpy().astype(np.int64)
    order = np.argsort(sizes)
    return sizes[order], counted.column("count").to_numpy().astype(np.int64)[order]


def by_item(
    data: SparkTransactions, work: Callable[[int, Csr, NDArray[np.int64]], Found]
) -> tuple[list[Any], dict[Mark, int]]:
    """``work(item, rows, weights)`` of the different records with each item, and the smallest mark of each record."""
    key = key_type(data)
    width = np.dtype(key).itemsize

    def spread(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            indptr, items = rows_of(pa.chunked_array([batch.column("row")]), key)
            owners = pa.array(np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)))
            yield pa.RecordBatch.from_arrays(
                [pa.array(items), batch.column("row").take(owners), batch.column("n").take(owners)],
                names=["item", "row", "n"],
            )

    def run(table: pa.Table) -> pa.Table:
        weights = table.column("n").to_numpy().astype(np.int64)
        told, marks = work(table.column("item")[0].as_py(), rows_of(table.column("row"), key), weights)
        marked = np.flatnonzero(marks >= 0)
        rows = table.column("row").combine_chunks().take(pa.array(marked))
        nothing = len(marked)
        return pa.table(
            {
                "told": pa.array([pickle.dumps(told), *[None] * nothing], pa.binary()),
                "row": pa.concat_arrays([pa.array([None], pa.binary()), rows.cast(pa.binary())]),
                "mark": pa.array(np.concatenate(([0], marks[marked])).astype(np.int32)),
                "n": pa.array(np.concatenate(([0], weights[marked]))),
            }
        )

    spread_out = distinct_rows(data).mapInArrow(spread, "item int, row binary, n long")
    found = spread_out.groupBy("item").applyInArrow(run, "told binary, row binary, mark int, n long")
    found = found.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        told = found.where(found.told.isNotNull()).select("told").toArrow().column("told").to_pylist()
        marked = (
            found.where(found.row.isNotNull()).groupBy("row").agg(f.min("mark").alias("mark"), f.first("n").alias("n"))
        )
        length = (f.length("row") / width).cast("int").alias("length")
        counted = marked.groupBy(length, "mark").agg(f.sum("n").alias("n")).toArrow().to_pylist()
    finally:
        found.unpersist()
    return [pickle.loads(one) for one in told], {(one["length"], one["mark"]): one["n"] for one in counted}


def by_key(
    data: SparkTransactions, emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]], work: Callable[[int, Csr], int]
) -> dict[int, int]:
    """``work(key, rows)`` of the rows that ``emit`` makes under each key."""
    target = data.target

    def spread(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in unpack(batches, target):
            numbers, (indptr, items) = emit(rows)
            yield pa.RecordBatch.from_arrays([pa.array(numbers), keys_of(indptr, items, ">u4")], names=["key", "row"])

    def run(table: pa.Table) -> pa.Table:
        number = table.column("key")[0].as_py()
        result = work(number, rows_of(table.column("row"), ">u4"))
        return pa.table({"key": pa.array([number], pa.int32()), "result": pa.array([result], pa.int64())})

    spread_out = data.blocks.mapInArrow(spread, "key int, row binary")
    table = spread_out.groupBy("key").applyInArrow(run, "key int, result long").toArrow()
    return dict(zip(table.column("key").to_pylist(), table.column("result").to_pylist(), strict=True))
