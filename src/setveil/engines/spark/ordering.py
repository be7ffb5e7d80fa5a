"""Records in the order of their content, cut into parts of a fixed size, whatever the partitions of the cluster.

A row is a key of big-endian item numbers, so that Spark's order of bytes is the lexicographic order of rows, a prefix
before its extensions. Spark counts equal rows, range-partitions and sorts the distinct ones. How many records lie
before each partition is all the driver has to know to say which record begins which part.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import StorageLevel, TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from setveil.core import Transactions
from setveil.core.remote import Csr
from setveil.engines.spark.blocks import BLOCKS, pack, unpack

if TYPE_CHECKING:
    from setveil.engines.spark.transactions import SparkTransactions

PIECES = "part int, start long, row binary, n long"
PER_PARTITION = 500_000  # records that are sorted by one task, about


def distinct_rows(data: SparkTransactions) -> DataFrame:
    """``row, n``: every different record once, with how often it occurs."""
    target, key = data.target, key_type(data)

    def keys(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for indptr, items in unpack(batches, target):
            yield pa.RecordBatch.from_arrays([keys_of(indptr, items, key)], names=["row"])

    return data.blocks.mapInArrow(keys, "row binary").groupBy("row").agg(f.count(f.lit(1)).alias("n"))


def sorted_parts(
    data: SparkTransactions, part_size: int, encode: Callable[[Transactions], bytes]
) -> Iterator[tuple[int, bytes]]:
    """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""
    in_order = _sorted(data).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        before = _records_before(in_order, [0])[0]
        bounds = np.arange(0, data.n_records + part_size, part_size)
        pieces = in_order.mapInArrow(_cutter(before, bounds), PIECES)
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


def in_shards(
    data: SparkTransactions,
    encode: Callable[[Csr], Csr],
    bounds: NDArray[np.int64],
    work: Callable[[int, Transactions], tuple[Csr, Any]],
) -> tuple[DataFrame, list[Any]]:
    """Blocks of what ``work`` makes of each run of records in the order of their codes, and what it tells of it."""
    vocabulary, key = data.vocabulary, key_type(data)

    def with_codes(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            codes = keys_of(*encode(rows_of(pa.chunked_array([batch.column("row")]), key)), ">u4")
            yield pa.RecordBatch.from_arrays(
                [codes, batch.column("row"), batch.column("n")], names=["code", "row", "n"]
            )

    def solve(table: pa.Table) -> pa.Table:
        order = np.argsort(table.column("start").to_numpy())
        times = table.column("n").to_numpy()[order]
        distinct = Transactions(*rows_of(table.column("row"), key), vocabulary)
        made, told = work(table.column("part")[0].as_py(), distinct.select(np.repeat(order, times)))
        return pa.Table.from_batches([pack(*made).append_column("told", pa.array([pickle.dumps(told)], pa.binary()))])

    n_partitions = max(2, -(-data.n_records // PER_PARTITION))
    coded = distinct_rows(data).mapInArrow(with_codes, "code binary, row binary, n long")
    in_order = coded.repartitionByRange(n_partitions, "code").sortWithinPartitions("code")
    in_order = in_order.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        before = _records_before(in_order, [0])[0]
        pieces = in_order.select("row", "n").mapInArrow(_cutter(before, bounds), PIECES)
        solved = pieces.groupBy("part").applyInArrow(solve, f"{BLOCKS}, told binary")
        solved = solved.persist(StorageLevel.MEMORY_AND_DISK)  # made once; whatever asks for it finds it
        told = solved.select("told").toArrow().column("told").to_pylist()
    finally:
        in_order.unpersist()
    return solved.select("indptr", "items"), [pickle.loads(one) for one in told]


def records_at(data: SparkTransactions, places: Mapping[int, NDArray[np.int64]]) -> dict[int, Csr]:
    """For each length the records at some places, in canonical order of the records with at least that length."""
    key = key_type(data)
    in_order = _sorted(data).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        width = np.dtype(key).itemsize
        before = _records_before(in_order, [length * width for length in places])
        pick = _picker({length: before[length * width] for length in places}, places, width)
        table = in_order.mapInArrow(pick, "length int, place long, row binary").toArrow()
    finally:
        in_order.unpersist()
    found = {}
    for length, wanted in places.items():
        here = table.filter(pc.equal(table.column("length"), length))
        order = np.argsort(here.column("place").to_numpy())
        rows = Transactions(*rows_of(here.column("row"), key), data.vocabulary).select(order)
        chosen = rows.select(np.searchsorted(np.unique(wanted), wanted))
        found[length] = (chosen.indptr, chosen.items)
    return found


def _sorted(data: SparkTransactions) -> DataFrame:
    """``row, n`` in the order of rows, from partition to partition."""
    n_partitions = max(2, -(-data.n_records // PER_PARTITION))
    return distinct_rows(data).repartitionByRange(n_partitions, "row").sortWithinPartitions("row")


def _records_before(in_order: DataFrame, lengths: Iterable[int]) -> dict[int, dict[int, int]]:
    """For some lengths, how many records with keys of at least so many bytes stand before each partition."""
    asked = list(lengths)

    def weigh(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        totals = dict.fromkeys(asked, 0)
        for batch in batches:
            here, times = pc.binary_length(batch.column("row")).to_numpy(), batch.column("n").to_numpy()
            for length in asked:
                totals[length] += int(times[here >= length].sum())
        yield pa.RecordBatch.from_pydict(
            {"partition": [_partition()] * len(asked), "length": asked, "n": [totals[length] for length in asked]}
        )

    weights = in_order.mapInArrow(weigh, "partition long, length long, n long").toArrow().to_pylist()
    before: dict[int, dict[int, int]] = {length: {} for length in asked}
    total = dict.fromkeys(asked, 0)
    for row in sorted(weights, key=lambda row: int(row["partition"])):
        before[row["length"]][row["partition"]] = total[row["length"]]
        total[row["length"]] += row["n"]
    return before


def _cutter(
    before: dict[int, int], bounds: NDArray[np.int64]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Cuts sorted rows where a part ends; a row that occurs on both sides goes to both with its share."""

    def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        at = before[_partition()]
        for batch in batches:
            ends = at + np.cumsum(batch.column("n").to_numpy())
            starts = np.concatenate(([at], ends[:-1])) if len(ends) else ends
            first_part = int(np.searchsorted(bounds, at, side="right")) - 1
            for part in range(first_part, int(np.searchsorted(bounds, ends[-1])) if len(ends) else 0):
                low, high = bounds[part : part + 2]
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


def _picker(
    before: Mapping[int, Mapping[int, int]], places: Mapping[int, NDArray[np.int64]], width: int
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Picks from sorted rows those that stand at some places, for each length."""
    wanted = {length: np.unique(some) for length, some in places.items()}

    def pick(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        at = {length: before[length][_partition()] for length in wanted}
        for batch in batches:
            lengths = pc.binary_length(batch.column("row")).to_numpy() // width
            times = batch.column("n").to_numpy()
            for length, some in wanted.items():
                rows = np.flatnonzero(lengths >= length)
                ends = at[length] + np.cumsum(times[rows])
                if not len(rows):
                    continue
                here = some[(some >= at[length]) & (some < ends[-1])]
                at[length] = int(ends[-1])
                chosen = rows[np.searchsorted(ends, here, side="right")]
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(np.full(len(here), length, dtype=np.int32)),
                        pa.array(here),
                        batch.column("row").take(pa.array(chosen)),
                    ],
                    names=["length", "place", "row"],
                )

    return pick


def _encoder(data: SparkTransactions, encode: Callable[[Transactions], bytes]) -> Callable[[pa.Table], pa.Table]:
    vocabulary, key = data.vocabulary, key_type(data)

    def encode_part(table: pa.Table) -> pa.Table:
        order = np.argsort(table.column("start").to_numpy())
        indptr, items = rows_of(table.column("row"), key)
        times = table.column("n").to_numpy()[order]
        rows = Transactions(indptr, items, vocabulary).select(np.repeat(order, times))
        content = pa.array([encode(rows)], pa.binary())
        return pa.table({"part": table.column("part").slice(0, 1), "file": content})

    return encode_part


def _partition() -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def key_type(data: SparkTransactions) -> str:
    """The numbers in a key."""
    return ">u2" if data.n_items <= 1 << 16 else ">u4"


def keys_of(indptr: NDArray[np.int64], items: NDArray[np.int32], key: str) -> pa.Array:
    """Rows as keys."""
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
