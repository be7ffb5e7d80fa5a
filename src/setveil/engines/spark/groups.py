"""Groups on the cluster: made shard by shard, numbered by their content, written in parts, read back.

A task solves whole shards, so whoever holds what never leaves its shard. Published groups are rows of codes
(``group_rows``), put in order like records; how many groups and records lie before each range is all the driver has to
know to number them.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from setveil.core import Transactions, Vocabulary
from setveil.core.dataset import Csr
from setveil.core.row_order import take_rows
from setveil.engines.distributed_groups import DistributedGroups, GroupFigures, GroupMaker
from setveil.engines.spark.blocks import (
    BLOCKS,
    COUNTS,
    collect_dense,
    columns_of,
    gather,
    join,
    pack,
    rows_of_block,
    unpack,
)
from setveil.engines.spark.group_rows import Counts, Groups, chain_published, chain_records, take_apart
from setveil.engines.spark.ordering import (
    PIECES,
    Ordered,
    counted_blocks,
    cutter,
    file_by_file,
    first_keys,
    look_at_some,
    n_ranges,
    names_of,
    numbered_ranges,
    order_blocks,
    put_in_order,
    records_of,
)
from setveil.releases.grouping import EncodeCounts, EncodePart, SortedGroups

if TYPE_CHECKING:
    from setveil.engines.spark.transactions import SparkTransactions

SECRET = f"task int, {BLOCKS}"
NUMBERED = f"part int, start long, {BLOCKS}, groups binary"
PER_TASK = 1 << 16  # records that a task solves, about
BEGINNING = 64  # codes of a group that say to which range it goes


def in_groups(
    data: SparkTransactions, maker: GroupMaker, published: Vocabulary, sensitive: Sequence[str]
) -> SparkGroups:
    """The records in groups, made by tasks that hold whole shards."""
    some = look_at_some(data.blocks, data.target, maker.public)
    ordered = put_in_order(data, maker.key, some)
    try:
        bounds = maker.join(_count_in_runs(ordered, maker))
        tasks = _tasks_of(bounds)

        def solve(table: pa.Table) -> pa.Table:
            number = table.column("part")[0].as_py()
            low, high = tasks[number : number + 2]
            inner = bounds[(bounds >= low) & (bounds <= high)] - low
            records = records_of(table)
            group_of, n_leftovers = _group_runs(records, inner, maker)
            hidden = maker.hidden(records)[1]
            summary = (n_leftovers, np.bincount(hidden, minlength=maker.n_sensitive))
            columns = columns_of([chain_records(records, group_of, int(group_of.max(initial=-1)) + 1)])
            named = [pa.array([number], pa.int32()), *columns, pa.array([pickle.dumps(summary)], pa.binary())]
            return pa.table(named, names=[*names_of(SECRET), "summary"])

        pieces = ordered.rows.mapInArrow(cutter(ordered.before(), tasks), PIECES)
        solved = pieces.groupBy("part").applyInArrow(solve, f"{SECRET}, summary binary")
        solved = solved.persist(StorageLevel.MEMORY_AND_DISK)  # made once; whatever asks for it finds it
        summaries = [pickle.loads(one) for one in solved.select("summary").toArrow().column("summary").to_pylist()]
    finally:
        ordered.rows.unpersist()
    totals = np.sum([np.zeros(maker.n_sensitive, dtype=np.int64), *(one[1] for one in summaries)], axis=0)
    counted = Vocabulary(label for label, total in zip(sensitive, totals, strict=True) if total)
    made = {"shards": len(bounds) - 1, "leftovers": sum(one[0] for one in summaries)}
    numbers = counted.numbers(sensitive)

    def show(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for secret in unpack(batches):
            yield pack(*_published(take_apart(secret), maker, numbers))

    rows = solved.select(*names_of(BLOCKS)).mapInArrow(show, BLOCKS)
    return SparkGroups(rows, data.n_records, published, counted, made, Secret(solved, maker, tuple(sensitive)))


def _count_in_runs(ordered: Ordered, maker: GroupMaker) -> NDArray[np.int64]:
    """How many records of each run hold each sensitive item, int64[runs, items]."""
    cut, width = cutter(ordered.before(), maker.bounds), max(maker.n_sensitive, 1)

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for piece in cut(batches):
            ((rows, times),) = counted_blocks(piece)
            indptr, items = maker.hidden(rows)
            held = np.zeros(width, dtype=np.int64)
            np.add.at(held, items, np.repeat(times, np.diff(indptr)))
            found = np.flatnonzero(held)
            positions = piece.column("part")[0].as_py() * width + found
            yield pa.RecordBatch.from_arrays([pa.array(positions), pa.array(held[found])], names=names_of(COUNTS))

    counts = ordered.rows.mapInArrow(count, COUNTS).groupBy("place").sum("n").withColumnRenamed("sum(n)", "n")
    n_runs = len(maker.bounds) - 1
    return collect_dense(counts, n_runs * width).reshape(n_runs, width)


def _tasks_of(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bounds of what is solved by one task: whole runs, together about so many records, or one that is larger."""
    chosen = np.searchsorted(bounds, np.arange(0, bounds[-1], PER_TASK), side="left")
    return np.unique(np.append(bounds[chosen], bounds[[0, -1]]))


def _group_runs(records: Csr, bounds: NDArray[np.int64], maker: GroupMaker) -> tuple[NDArray[np.int64], int]:
    """The groups of one run after the other, numbered on, and how many records are left over."""
    made, n_groups, n_leftovers = [np.empty(0, dtype=np.int64)], 0, 0
    for low, high in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        own, n_alone = maker.group(take_rows(*records, np.arange(low, high)))
        made.append(n_groups + own)
        n_groups += int(own.max(initial=-1)) + 1
        n_leftovers += n_alone
    return np.concatenate(made), n_leftovers


def _published(groups: Groups, maker: GroupMaker, numbers: NDArray[np.int32]) -> Csr:
    """Public items as they are, sensitive ones counted under their ``numbers``."""
    public, (indptr, hidden) = maker.public(groups.records), maker.hidden(groups.records)
    width = max(maker.n_sensitive, 1)
    keys = np.repeat(groups.group_of, np.diff(indptr)) * width + numbers[hidden]
    found, count = np.unique(keys, return_counts=True)
    counts = Counts(found // width, maker.n_public + 1 + found % width, count)
    return chain_published(public, groups.group_of, groups.n_groups, counts)


# -- what is known of them --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Secret:
    """Who holds what, where the groups were made."""

    rows: DataFrame  # SECRET, and more
    maker: GroupMaker
    sensitive: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SparkGroups(DistributedGroups):
    """Published groups as rows of codes, in no particular order."""

    rows: DataFrame  # BLOCKS
    n_records: int
    published: Vocabulary
    counted: Vocabulary
    made: Mapping[str, int] = field(default_factory=dict)
    secret: Secret | None = None

    @cached_property
    def figures(self) -> GroupFigures:
        n_public, n_counted = len(self.published), len(self.counted)

        def summarize(blocks: Iterator[Csr]) -> tuple[Counter[int], NDArray[np.int64], NDArray[np.float64]]:
            sizes: Counter[int] = Counter()
            totals, largest = np.zeros(n_counted, dtype=np.int64), np.zeros(n_counted)
            for rows in blocks:
                groups = take_apart(rows)
                sizes.update(groups.sizes.tolist())
                items = groups.counts.item - n_public - 1
                np.add.at(totals, items, groups.counts.times)
                np.maximum.at(largest, items, groups.counts.times / groups.sizes[groups.counts.group])
            return sizes, totals, largest

        summaries = gather(self.rows, None, summarize)
        sizes: Counter[int] = sum((one[0] for one in summaries), Counter())
        ascending = np.array(sorted(sizes), dtype=np.int64)
        times = np.array([sizes[size] for size in ascending.tolist()], dtype=np.int64)
        return GroupFigures(
            ascending,
            times,
            np.sum([one[1] for one in summaries], axis=0),
            np.max([one[2] for one in summaries], axis=0),
        )

    @contextmanager
    def in_order(self) -> Iterator[SortedGroups]:
        """Numbered by their content."""
        firsts = first_keys(look_at_some(self.rows, None, _beginnings), None, n_ranges(self.n_records))
        ordered = order_blocks(self.rows, None, firsts, summarize=_count_groups)
        try:
            yield SparkSortedGroups(ordered, self.published, len(self.published))
        finally:
            ordered.rows.unpersist()

    def pick(
        self,
        is_fit: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
        choose: Callable[[int], NDArray[np.int64]],
    ) -> tuple[Transactions, NDArray[np.int64]]:
        """A few groups with all that is secret about them; two passes."""
        assert self.secret is not None, "groups read from files have no secrets"
        maker = self.secret.maker

        def fit(rows: Csr) -> NDArray[np.int64]:
            groups = take_apart(rows)
            indptr, hidden = maker.hidden(groups.records)
            pairs = np.unique(np.repeat(groups.group_of, np.diff(indptr)) * max(maker.n_sensitive, 1) + hidden)
            n_counts = np.bincount(pairs // max(maker.n_sensitive, 1), minlength=groups.n_groups)
            return np.flatnonzero(is_fit(groups.sizes, n_counts))

        n_fit = self._by_task(lambda task, rows: len(fit(rows)))
        begins, total = {}, 0
        for task, n in n_fit.items():
            begins[task] = total
            total += n
        wanted = choose(total)

        def take(task: int, rows: Csr) -> Csr:
            own = wanted[(wanted >= begins[task]) & (wanted < begins[task] + n_fit[task])] - begins[task]
            return take_rows(*rows, fit(rows)[own])

        groups = take_apart(join(self._by_task(take).values()))
        labels = [*self.published, *self.secret.sensitive]
        vocabulary = Vocabulary(labels)
        indptr, items = groups.records
        return Transactions.from_rows(np.diff(indptr), vocabulary.numbers(labels)[items], vocabulary), groups.group_of

    def _by_task(self, work: Callable[[int, Csr], Any]) -> dict[int, Any]:
        """What ``work`` makes of the secret groups of each task, in the order of the tasks."""
        assert self.secret is not None

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for task, lengths, items in zip(*(batch.column(name) for name in names_of(SECRET)), strict=True):
                    result = pickle.dumps(work(task.as_py(), rows_of_block(lengths, items)))
                    yield pa.RecordBatch.from_pydict({"task": pa.array([task.as_py()], pa.int32()), "result": [result]})

        rows = self.secret.rows.select(*names_of(SECRET))
        table = rows.mapInArrow(run, "task int, result binary").toArrow().sort_by("task")
        results = map(pickle.loads, table.column("result").to_pylist())
        return dict(zip(table.column("task").to_pylist(), results, strict=True))

    def forget(self) -> None:
        if self.secret is not None:
            self.secret.rows.unpersist()


def _beginnings(rows: Csr) -> Csr:
    """The first codes of each row."""
    indptr, codes = rows
    lengths = np.diff(indptr)
    is_kept = np.arange(len(codes)) - np.repeat(indptr[:-1], lengths) < BEGINNING
    return np.concatenate(([0], np.cumsum(np.minimum(lengths, BEGINNING)))).astype(np.int64), codes[is_kept]


def _count_groups(rows: Csr, times: NDArray[np.int64]) -> tuple[int, int]:
    """How many groups and records there are."""
    return int(times.sum()), int((take_apart(rows).sizes * times).sum())


# -- in order ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SparkSortedGroups(SortedGroups):
    """Ranges of groups in canonical order."""

    ordered: Ordered
    published: Vocabulary
    n_public: int

    @cached_property
    def _before(self) -> dict[int, tuple[int, int]]:
        """How many groups and records lie before each range."""
        found, n_groups, n_records = {}, 0, 0
        for number, (own_groups, own_records) in self.ordered.summaries.items():
            found[number] = (n_groups, n_records)
            n_groups, n_records = n_groups + own_groups, n_records + own_records
        return found

    def parts(self, part_size: int, encode: EncodePart) -> Iterator[tuple[int, bytes]]:
        """Ranges are cut where a part ends, and put together again by part."""
        before, vocabulary = self._before, self.published
        n_records = sum(own_records for _, own_records in self.ordered.summaries.values())

        def cut(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, groups in _ranges(batches):
                first_group, first = before[number]
                n_here = len(groups.group_of)
                last = first + n_here
                for part in range(first // part_size, -(-last // part_size)):
                    low, high = max(part * part_size, first), min((part + 1) * part_size, last)
                    positions = np.arange(low - first, high - first)
                    numbers = (first_group + 1 + groups.group_of[positions]).astype("<i8").tobytes()
                    named = [pa.array([part], pa.int32()), pa.array([low], pa.int64())]
                    blocks = columns_of([take_rows(*groups.records, positions)])
                    columns = [*named, *blocks, pa.array([numbers], pa.binary())]
                    yield pa.RecordBatch.from_arrays(columns, names=names_of(NUMBERED))

        def encode_part(table: pa.Table) -> pa.Table:
            table = table.sort_by("start")
            rows = join(unpack(table.to_batches()))
            numbers = [np.frombuffer(some.as_buffer(), dtype="<i8") for some in table.column("groups")]
            content = encode(Transactions(*rows, vocabulary), np.concatenate(numbers).astype(np.int64))
            return pa.table({"part": table.column("part").slice(0, 1), "file": pa.array([content], pa.binary())})

        pieces = self.ordered.rows.mapInArrow(cut, NUMBERED)
        yield from file_by_file(pieces, -(-n_records // part_size), encode_part)

    def counts(self, encode: EncodeCounts) -> Iterator[bytes]:
        """Range by range."""
        before, first_code = self._before, self.n_public + 1

        def summarize(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for number, groups in _ranges(batches):
                numbers = before[number][0] + 1 + groups.counts.group
                text = encode(numbers, groups.counts.item - first_code, groups.counts.times)
                named = pa.array([number], pa.int32())
                yield pa.RecordBatch.from_pydict({"number": named, "text": pa.array([text], pa.binary())})

        summaries = self.ordered.rows.mapInArrow(summarize, "number int, text binary").orderBy("number")
        for _, text in summaries.toLocalIterator():
            yield bytes(text)


def _ranges(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Groups]]:
    """The number of each range, and its groups, equal ones as often as they occur."""
    for number, rows, times in numbered_ranges(batches):
        yield number, take_apart(take_rows(*rows, np.repeat(np.arange(len(times)), times)))
