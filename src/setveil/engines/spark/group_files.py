"""Groups read back from the files of a release: records with the number of their group, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from setveil.core import Transactions, Vocabulary
from setveil.core.dataset import Csr
from setveil.core.row_order import take_rows
from setveil.engines.spark.blocks import BLOCKS, pack
from setveil.engines.spark.group_rows import Counts, chain_published
from setveil.engines.spark.groups import SparkGroups
from setveil.engines.spark.subsets import keys_of, rows_of
from setveil.engines.spark.transactions import SparkTransactions
from setveil.errors import InputError

MEMBERS = ["group", "is_count", "row"]  # of a group: records, then counts
ROW = ">u4"  # how numbers of a row are written
AT_ONCE = 1 << 18  # members that a task puts together at once, about


def read_groups(records: DataFrame, counts: DataFrame, published: SparkTransactions) -> SparkGroups:
    """``records``: columns ``group`` and ``items``; ``counts``: ``group, item, count``."""
    _check(records, counts)
    counted = Vocabulary(item for (item,) in counts.select("item").distinct().collect())
    labels, items, n_public = published.vocabulary, counted.labels, published.n_items

    def encode_records(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lists = batch.column(1)
            flat = lists.flatten()
            numbers = pc.index_in(flat, value_set=pa.array(labels.labels, flat.type)).to_numpy().astype(np.int32)
            lengths = pc.list_value_length(lists).to_numpy().astype(np.int64)
            rows = Transactions.from_rows(lengths, numbers, labels)
            yield _members(batch.column(0), False, (rows.indptr, rows.items))

    def encode_counts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            codes = n_public + 1 + pc.index_in(batch.column(1), value_set=pa.array(items, pa.string())).to_numpy()
            pairs = np.column_stack((codes, batch.column(2).to_numpy())).astype(np.int32)
            yield _members(batch.column(0), True, (2 * np.arange(len(pairs) + 1), pairs.ravel()))

    schema = "`group` long, is_count boolean, row binary"
    members = records.select(f.col("group").cast("long"), f.col("items").cast("array<string>"))
    both = members.mapInArrow(encode_records, schema).unionAll(counts.mapInArrow(encode_counts, schema))
    rows = both.repartition("group").sortWithinPartitions(*MEMBERS).mapInArrow(_put_together, BLOCKS)
    return SparkGroups(rows, published.n_records, published.vocabulary, counted)


def _check(records: DataFrame, counts: DataFrame) -> None:
    """Numbers and counts that make sense, as ``read_groups`` and ``read_counts`` of one machine have it."""
    numbers = records.agg(
        f.min("group"), f.max("group"), f.count_distinct("group"), f.count("group"), f.count(f.lit(1))
    )
    ((first, last, n_groups, n_named, n_records),) = numbers.collect()
    if n_records and not (first == 1 and last == n_groups and n_named == n_records):
        raise InputError("published: groups must be numbered 1, 2, … without gaps.")
    is_wrong = (
        f.col("group").isNull()
        | ~f.col("group").between(1, n_groups)
        | f.col("count").isNull()
        | (f.col("count") < 1)
        | (f.col("count") > n_records)
        | f.col("item").isNull()
        | (f.col("item") == "")
    )
    if counts.where(is_wrong).limit(1).count():
        raise InputError("sensitive.csv: a line names no group, no item, or a count that cannot be.")
    if counts.groupBy("group", "item").count().where("count > 1").limit(1).count():
        raise InputError("sensitive.csv: a group counts the same item twice.")


def _members(groups: pa.Array, is_count: bool, rows: Csr) -> pa.RecordBatch:
    columns = [groups.cast(pa.int64()), pa.array([is_count] * len(groups), pa.bool_()), keys_of(*rows, ROW)]
    return pa.RecordBatch.from_arrays(columns, names=MEMBERS)


def _put_together(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Members in the order of their groups become groups; the last group of what is at hand may go on."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(len(one) for one in held) >= AT_ONCE:
            table = pa.Table.from_batches(held)
            numbers = table.column("group").to_numpy()
            begin = int(np.searchsorted(numbers, numbers[-1]))
            if begin:
                yield _block(table.slice(0, begin))
                held = table.slice(begin).to_batches()
    if held:
        yield _block(pa.Table.from_batches(held))


def _block(table: pa.Table) -> pa.RecordBatch:
    numbers: NDArray[np.int64] = table.column("group").to_numpy()
    is_count = table.column("is_count").to_numpy()
    rows = rows_of(table.column("row"), ROW)
    is_new = np.diff(numbers, prepend=numbers[:1] - 1) != 0
    group_of = np.cumsum(is_new) - 1
    records = take_rows(*rows, np.flatnonzero(~is_count))
    pairs = take_rows(*rows, np.flatnonzero(is_count))[1].astype(np.int64).reshape(-1, 2)
    by_item = np.lexsort((pairs[:, 0], group_of[is_count]))
    counts = Counts(group_of[is_count][by_item], *pairs[by_item].T)
    return pack(*chain_published(records, group_of[~is_count], int(group_of[-1]) + 1, counts))
