"""Records on the cluster: blocks of CSR rows, two binary columns per block, and what is counted over them.

Counts of a partition are sparse: positions of a table and how often each was counted. Spark adds them up.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from setveil.arrays.rows import renumber_rows
from setveil.core.dataset import Csr, Sparse

Result = TypeVar("Result")

BLOCKS = "lengths binary, items binary"
COUNTS = "place long, n long"
AT_ONCE = 1 << 20  # counts in a batch
BITS = 32_768  # of a bitmap made by Spark


def pack(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> pa.RecordBatch:
    """One block."""
    return pa.RecordBatch.from_arrays(columns_of([(indptr, items)]), names=["lengths", "items"])


def columns_of(blocks: Iterable[Csr]) -> list[pa.Array]:
    """Blocks as columns: the lengths of rows, and the items, two bytes each if that is enough."""
    lengths, numbers = [], []
    for indptr, items in blocks:
        lengths.append(np.diff(indptr).astype("<i4").tobytes())
        numbers.append(items.astype("<u2" if items.max(initial=0) < 1 << 16 else "<i4").tobytes())
    return [pa.array(lengths, pa.binary()), pa.array(numbers, pa.binary())]


def rows_of_block(lengths: pa.Scalar, items: pa.Scalar) -> Csr:
    """The rows of one block."""
    counts, raw = np.frombuffer(lengths.as_buffer(), dtype="<i4"), items.as_buffer()
    indptr = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    return indptr, np.frombuffer(raw, dtype="<u2" if raw.size == 2 * indptr[-1] else "<i4").astype(np.int32)


def join(blocks: Iterable[Csr]) -> Csr:
    """Blocks as one."""
    held = list(blocks)
    lengths = np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(indptr) for indptr, _ in held)])
    items = np.concatenate([np.empty(0, dtype=np.int32), *(items for _, items in held)])
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), items


def unpack(batches: Iterable[pa.RecordBatch], target: NDArray[np.int32] | None = None) -> Iterator[Csr]:
    """The blocks of a partition; with ``target`` every item replaced by its target, -1 to drop it."""
    for batch in batches:
        for lengths, items in zip(batch.column("lengths"), batch.column("items"), strict=True):
            rows = rows_of_block(lengths, items)
            yield rows if target is None else renumber_rows(*rows, target)


def add_up(blocks: DataFrame, target: NDArray[np.int32] | None, count: Callable[[Iterator[Csr]], Sparse]) -> DataFrame:
    """``place, n``: what ``count`` finds in each partition, summed over all."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        positions, counts = count(unpack(batches, target))
        for start in range(0, len(positions), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            yield pa.RecordBatch.from_pydict({"place": pa.array(positions[part]), "n": pa.array(counts[part])})

    return blocks.mapInArrow(run, COUNTS).groupBy("place").agg(f.sum("n").alias("n"))


def gather(
    blocks: DataFrame, target: NDArray[np.int32] | None, work: Callable[[Iterator[Csr]], Result]
) -> list[Result]:
    """What ``work`` makes of each partition, in any order; something small."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict({"result": [pickle.dumps(work(unpack(batches, target)))]})

    table = blocks.mapInArrow(run, "result binary").toArrow()
    return [pickle.loads(result) for result in table.column("result").to_pylist()]


def sparse(table: NDArray[np.integer]) -> Sparse:
    """The positions of a table that are not zero, and what stands there."""
    positions = np.flatnonzero(table)
    return positions, table[positions].astype(np.int64)


def collect(counts: DataFrame) -> Sparse:
    """Counts on the driver, by place."""
    table = counts.toArrow()
    positions = table.column("place").to_numpy().astype(np.int64)
    order = np.argsort(positions)
    return positions[order], table.column("n").to_numpy().astype(np.int64)[order]


def collect_dense(counts: DataFrame, size: int) -> NDArray[np.int64]:
    """Counts on the driver as a table of a known size."""
    positions, found = collect(counts)
    table = np.zeros(size, dtype=np.int64)
    table[positions] = found
    return table


def collect_positions(positions: DataFrame, size: int) -> NDArray[np.bool_]:
    """Which positions there are, bool[size]; they travel as bitmaps, an eighth of a byte each."""
    numbered = positions.select(
        f.expr("bitmap_bucket_number(place + 1)").alias("bucket"),
        f.expr("bitmap_bit_position(place + 1)").alias("bit"),
    )
    maps = numbered.groupBy("bucket").agg(f.bitmap_construct_agg("bit").alias("bits")).toArrow()
    found = np.zeros(-(-size // BITS) * BITS, dtype=np.bool_)
    for bucket, bits in zip(maps.column("bucket").to_pylist(), maps.column("bits"), strict=True):
        start = (bucket - 1) * BITS
        packed = np.frombuffer(bits.as_buffer(), dtype=np.uint8)
        found[start : start + BITS] = np.unpackbits(packed, count=BITS, bitorder="little")
    return found[:size]
