"""Records in the order of their content, cut into parts of a fixed size, whatever the partitions of the cluster.

A few records of each partition say where ranges of the order begin. Every task sorts its records and sends each range
on as one block of different rows with how often each occurs; another task puts the blocks of a range together. Where
ranges begin decides who sorts what, and nothing else. How many records lie before each range is all the driver has to
know to say which record begins which part. Spark itself moves blocks; it never looks at a record.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from setveil.core import Transactions
from setveil.core.dataset import Csr
from setveil.core.row_order import sort_rows, take_rows
from setveil.engines.spark.blocks import BLOCKS, columns_of, gather, join, pack, rows_of_block, unpack

if TYPE_CHECKING:
    from setveil.engines.spark.transactions import SparkTransactions

Encode = Callable[[Csr], Csr]  # rows to keys: their order is the one that is wanted
Counted = tuple[Csr, NDArray[np.int64]]  # different rows, how often each occurs

RANGES = f"number int, {BLOCKS}, times binary"
PIECES = f"part int, start long, {BLOCKS}, times binary"
PER_RANGE = 1 << 16  # records that are put in order by one task, about
AT_ONCE = 1 << 19  # entries that a task sorts before it sends them on
PICKED = f"length int, number int, {BLOCKS}"
LOOKED_AT = 256  # records of each partition


class Summary(NamedTuple):
    """What is in a range."""

    by_length: NDArray[np.int64]  # [longest + 1] records
    distinct_by_length: NDArray[np.int64]  # [longest + 1] different ones
    classes: dict[int, int]  # how many records are alike: how often that is so


@dataclass(frozen=True, eq=False)
class Ordered:
    """Different records with how often they occur, a range of the order in each row of a frame that is kept."""

    rows: DataFrame  # RANGES, and more
    summaries: Mapping[int, Any]  # by number of the range, ascending; of records it is ``Summary``

    def before(self, length: int = 0) -> dict[int, int]:
        """How many records of at least so many items lie before each range."""
        found, total = {}, 0
        for number, summary in self.summaries.items():
            found[number] = total
            total += int(summary.by_length[length:].sum())
        return found


def look_at_some(blocks: DataFrame, target: NDArray[np.int32] | None = None, cut: Encode | None = None) -> Counted:
    """Evenly spaced rows of each partition, or what ``cut`` leaves of them, and how many stand for each of them."""

    def look(blocks: Iterator[Csr]) -> tuple[Csr, int]:
        held, n = [], 0
        for rows in blocks:
            some = _some_of(rows)
            held.append(some if cut is None else cut(some))
            n += len(rows[0]) - 1
        return _some_of(join(held)), n

    parts = gather(blocks, target, look)
    shares = [np.full(len(rows[0]) - 1, -(-n // max(len(rows[0]) - 1, 1)), dtype=np.int64) for rows, n in parts]
    return join([rows for rows, _ in parts]), np.concatenate(shares)


def put_in_order(data: SparkTransactions, encode: Encode | None = None, some: Counted | None = None) -> Ordered:
    """All records in canonical order, or in the order of their keys, which differ for different records.

    ``some``: where ranges may begin.
    """
    firsts = first_keys(data.some if some is None else some, encode, n_ranges(data.n_records))
    return order_blocks(data.blocks, data.target, firsts, encode)


def n_ranges(n_records: int) -> int:
    """How many ranges so many records are worth."""
    return max(2, -(-n_records // PER_RANGE))


def order_blocks(
    blocks: DataFrame,
    target: NDArray[np.int32] | None,
    firsts: Csr,
    encode: Encode | None = None,
    summarize: Callable[[Csr, NDArray[np.int64]], Any] | None = None,
) -> Ordered:
    """The rows of all blocks in order; ranges begin with the keys ``firsts``. ``summarize``: what to say of each."""

    def part(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in _together(unpack(batches, target)):
            yield _parted(rows, encode, firsts)

    def put_together(table: pa.Table) -> pa.Table:
        parts = list(counted_blocks(table))
        rows, times = join([rows for rows, _ in parts]), np.concatenate([times for _, times in parts])
        order, bounds = _sorted(rows, encode)
        found, summed = take_rows(*rows, order[bounds]), np.add.reduceat(times[order], bounds)
        number = pa.array([table.column("number")[0].as_py()], pa.int32())
        summary = pa.array([pickle.dumps((summarize or _summarize)(found, summed))], pa.binary())
        return pa.table([number, *_packed([(found, summed)]), summary], names=[*names_of(RANGES), "summary"])

    parted = blocks.mapInArrow(part, RANGES)
    made = parted.groupBy("number").applyInArrow(put_together, f"{RANGES}, summary binary")
    made = made.persist(StorageLevel.MEMORY_AND_DISK)
    table = made.select("number", "summary").toArrow()
    summaries = dict(
        zip(table.column("number").to_pylist(), map(pickle.loads, table.column("summary").to_pylist()), strict=True)
    )
    return Ordered(made, dict(sorted(summaries.items())))


def sorted_parts(
    data: SparkTransactions, part_size: int, encode: Callable[[Transactions], bytes]
) -> Iterator[tuple[int, bytes]]:
    """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""
    bounds = np.arange(0, data.n_records + part_size, part_size)
    vocabulary = data.vocabulary

    def encode_part(table: pa.Table) -> pa.Table:
        content = encode(Transactions(*records_of(table), vocabulary))
        return pa.table({"part": table.column("part").slice(0, 1), "file": pa.array([content], pa.binary())})

    with data.in_order() as ordered:
        pieces = ordered.rows.mapInArrow(cutter(ordered.before(), bounds), PIECES)
        yield from file_by_file(pieces, len(bounds) - 1, encode_part)


def file_by_file(
    pieces: DataFrame, n_parts: int, encode_part: Callable[[pa.Table], pa.Table]
) -> Iterator[tuple[int, bytes]]:
    """``(part, file)`` of what the pieces of each ``part`` are encoded to: made by all tasks, fetched one by one."""
    pieces = pieces.repartition(max(n_parts, 1), "part")  # so that a task gives back about one file
    files = pieces.groupBy("part").applyInArrow(encode_part, "part int, file binary")
    files = files.persist(StorageLevel.DISK_ONLY)
    try:
        files.count()  # all tasks at once; then one file after the other comes here
        for part, content in files.toLocalIterator():
            yield int(part), bytes(content)
    finally:
        files.unpersist()


def in_shards(
    data: SparkTransactions,
    encode: Encode,
    bounds: NDArray[np.int64],
    work: Callable[[int, Transactions], tuple[Csr, Any]],
) -> tuple[DataFrame, list[Any]]:
    """Blocks of what ``work`` makes of each run of records in the order of their codes, and what it tells of it."""
    vocabulary = data.vocabulary

    def solve(table: pa.Table) -> pa.Table:
        records = Transactions(*records_of(table), vocabulary)
        made, summary = work(table.column("part")[0].as_py(), records)
        return pa.Table.from_batches(
            [pack(*made).append_column("summary", pa.array([pickle.dumps(summary)], pa.binary()))]
        )

    ordered = put_in_order(data, encode)
    try:
        pieces = ordered.rows.mapInArrow(cutter(ordered.before(), bounds), PIECES)
        solved = pieces.groupBy("part").applyInArrow(solve, f"{BLOCKS}, summary binary")
        solved = solved.persist(StorageLevel.MEMORY_AND_DISK)  # made once; whatever asks for it finds it
        summaries = solved.select("summary").toArrow().column("summary").to_pylist()
    finally:
        ordered.rows.unpersist()
    return solved.select(*names_of(BLOCKS)), [pickle.loads(one) for one in summaries]


def records_at(data: SparkTransactions, positions: Mapping[int, NDArray[np.int64]]) -> dict[int, Csr]:
    """For each length the records at some positions, in canonical order of the records with at least that length."""
    wanted = {length: np.unique(some) for length, some in positions.items()}
    with data.in_order() as ordered:
        before = {length: ordered.before(length) for length in positions}

        def pick(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, rows, times in numbered_ranges(batches):
                for length, some in wanted.items():
                    begin = before[length][number]
                    ends = begin + np.cumsum(np.where(np.diff(rows[0]) >= length, times, 0))
                    here = some[(some >= begin) & (some < ends[-1])]
                    found = pack(*take_rows(*rows, np.searchsorted(ends, here, side="right")))
                    named = [pa.array([value], pa.int32()) for value in (length, number)]
                    yield pa.RecordBatch.from_arrays([*named, *found.columns], names=names_of(PICKED))

        table = ordered.rows.mapInArrow(pick, PICKED).toArrow()
    found = {}
    for length, some in positions.items():
        here = table.filter(pc.equal(table.column("length"), length)).sort_by("number")
        rows = join(rows_of_block(*block) for block in zip(here.column("lengths"), here.column("items"), strict=True))
        found[length] = take_rows(*rows, np.searchsorted(wanted[length], some))
    return found


# -- inside a task ----------------------------------------------------------------------------------------------------


def _some_of(rows: Csr) -> Csr:
    """Evenly spaced rows."""
    n_rows = len(rows[0]) - 1
    return take_rows(*rows, np.arange(min(n_rows, LOOKED_AT)) * n_rows // min(max(n_rows, 1), LOOKED_AT))


def first_keys(some: Counted, encode: Encode | None, n_ranges: int) -> Csr:
    """The keys with which ranges begin, ascending, all different; the first range begins before them."""
    rows, shares = some
    order, bounds = _sorted(rows, encode)
    if not len(order):
        return rows
    until = np.cumsum(np.add.reduceat(shares[order], bounds))
    chosen = np.unique(np.searchsorted(until, until[-1] * np.arange(1, n_ranges) // n_ranges))
    keys = rows if encode is None else encode(rows)
    return take_rows(*keys, order[bounds[chosen]])


def _together(blocks: Iterable[Csr]) -> Iterator[Csr]:
    """Blocks as larger ones."""
    held: list[Csr] = []
    for rows in blocks:
        held.append(rows)
        if sum(len(items) for _, items in held) >= AT_ONCE:
            yield join(held)
            held = []
    if held:
        yield join(held)


def _sorted(rows: Csr, encode: Encode | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows in the order of their keys, and at which positions of it different ones begin."""
    keys = rows if encode is None else encode(rows)
    order, start = sort_rows(*keys, int(keys[1].max(initial=0)) + 1)
    return order, np.flatnonzero(start == np.arange(len(order)))


def _parted(rows: Csr, encode: Encode | None, firsts: Csr) -> pa.RecordBatch:
    """The different rows of each range that has any."""
    keys, n_firsts = rows if encode is None else encode(rows), len(firsts[0]) - 1
    indptr, items = join([firsts, keys])  # what begins a range stands before all rows that are equal to it
    order, start = sort_rows(indptr, items, int(items.max(initial=0)) + 1)
    is_row = order >= n_firsts
    cuts = np.flatnonzero(~is_row) - np.arange(n_firsts)  # so many rows lie before each range
    order, start = order[is_row] - n_firsts, start[is_row]
    begins = np.flatnonzero(np.concatenate(([True], start[1:] != start[:-1]))) if len(order) else order
    times = np.diff(np.append(begins, len(order)))
    bounds = np.searchsorted(begins, [0, *cuts, len(order)])
    found: list[Counted] = []
    numbers = np.flatnonzero(np.diff(bounds))
    for number in numbers.tolist():
        here = slice(bounds[number], bounds[number + 1])
        found.append((take_rows(*rows, order[begins[here]]), times[here]))
    return pa.RecordBatch.from_arrays([pa.array(numbers.astype(np.int32)), *_packed(found)], names=names_of(RANGES))


def cutter(
    before: Mapping[int, int], bounds: NDArray[np.int64]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Cuts ranges where a part ends; a row that occurs on both sides goes to both with its share."""

    def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, rows, times in numbered_ranges(batches):
            ends = before[number] + np.cumsum(times)
            starts = ends - times
            first_part, last_part = np.searchsorted(bounds, (starts[0], ends[-1] - 1), side="right") - 1
            for part in range(int(first_part), int(last_part) + 1):
                low, high = bounds[part : part + 2]
                here = slice(np.searchsorted(ends, low, side="right"), np.searchsorted(starts, high, side="left"))
                begins = np.maximum(starts[here], low)
                piece = take_rows(*rows, np.arange(here.start, here.stop))
                own = np.minimum(ends[here], high) - begins
                named = [pa.array([part], pa.int32()), pa.array([int(begins[0])], pa.int64())]
                yield pa.RecordBatch.from_arrays([*named, *_packed([(piece, own)])], names=names_of(PIECES))

    return cut


def records_of(table: pa.Table) -> Csr:
    """The records of a part, in order, each as often as it occurs."""
    parts = list(counted_blocks(table.sort_by("start")))
    rows, times = join([rows for rows, _ in parts]), np.concatenate([times for _, times in parts])
    return take_rows(*rows, np.repeat(np.arange(len(times)), times))


def _summarize(rows: Csr, times: NDArray[np.int64]) -> Summary:
    lengths = np.diff(rows[0])
    by_length = np.zeros(int(lengths.max(initial=0)) + 1, dtype=np.int64)
    np.add.at(by_length, lengths, times)
    sizes, often = np.unique(times, return_counts=True)
    return Summary(by_length, np.bincount(lengths), dict(zip(sizes.tolist(), often.tolist(), strict=True)))


# -- blocks with counts -----------------------------------------------------------------------------------------------


def _packed(parts: Iterable[Counted]) -> list[pa.Array]:
    """The columns of blocks with how often each row occurs."""
    held = list(parts)
    times = pa.array([times.astype("<i8").tobytes() for _, times in held], pa.binary())
    return [*columns_of(rows for rows, _ in held), times]


def counted_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[Counted]:
    """The ranges of a partition."""
    for batch in batches:
        yield from counted_blocks(batch)


def numbered_ranges(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Csr, NDArray[np.int64]]]:
    """The number of each range, its different rows, and how often each occurs."""
    for batch in batches:
        for number, (rows, times) in zip(batch.column("number").to_pylist(), counted_blocks(batch), strict=True):
            yield number, rows, times


def counted_blocks(blocks: pa.RecordBatch | pa.Table) -> Iterator[Counted]:
    """Blocks of different rows with how often each occurs."""
    columns = [blocks.column(name) for name in ("lengths", "items", "times")]
    for lengths, items, times in zip(*columns, strict=True):
        yield rows_of_block(lengths, items), np.frombuffer(times.as_buffer(), dtype="<i8").astype(np.int64)


def names_of(schema: str) -> list[str]:
    """The columns of a schema."""
    return [column.split()[0] for column in schema.split(", ")]
