"""Spark frames to records on the cluster, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import ArrayType, DataType, IntegralType, StringType

from setveil.core import Layout, Transactions, Vocabulary
from setveil.core.provenance import Reading
from setveil.engines.spark.blocks import BLOCKS, pack, unpack
from setveil.engines.spark.transactions import SparkTransactions
from setveil.errors import InputError, one_line

ROWS_PER_TASK = 50_000  # of the input, at least, so that a task is worth starting


def read_frame(
    frame: DataFrame,
    where: str,
    item_column: str,
    id_column: str | None,
    *,
    is_list: bool,
    null_is_empty: bool = False,
    is_kept: bool = True,
) -> SparkTransactions:
    """The records of a frame: a list of items per row, or (id, item) pairs; rows with equal ids are one record.

    ``null_is_empty``: in text files nothing between two delimiters is an empty text; in a pair it stands for no item.
    ``is_kept``: the cluster keeps the encoded records for what follows.
    """
    _check_types(frame, where, item_column, is_list)
    item, owner = f.col(quoted(item_column)), None if id_column is None else f.col(quoted(id_column)).cast("string")
    if owner is not None and frame.where(owner.isNull() | (owner == "")).limit(1).count():
        raise InputError(f'{where}: an id in column "{one_line(id_column or "")}" is empty; give every row one.')
    if is_list:
        texts = item.cast("array<string>")
        loose = f.explode(f.coalesce(texts, f.array(f.lit(None).cast("string"))))
        together = f.flatten(f.collect_list(texts))
    else:
        texts = f.coalesce(item.cast("string"), f.lit("")) if null_is_empty else item.cast("string")
        loose = texts
        together = f.collect_set(f.when(texts != "", texts))
    vocabulary = _read_labels(frame, loose, where, item_column, is_list)
    records = _few_partitions(_grouped(frame, texts, owner, together), frame)
    blocks = _encoded(records, vocabulary)
    if is_kept:
        blocks = blocks.persist(StorageLevel.MEMORY_AND_DISK)
    return SparkTransactions(blocks, vocabulary, Layout("parquet", item_column="items"))


def holds_text(frame: DataFrame, columns: Sequence[str], text: str) -> bool:
    """Whether a cell of these columns has ``text`` in it."""
    marked = [f.col(quoted(column)).cast("string").contains(text) for column in columns]
    return frame.where(reduce(or_, marked)).limit(1).count() > 0


def with_reading(data: SparkTransactions, reading: Reading) -> SparkTransactions:
    """The same records with how they were read."""
    made = SparkTransactions(data.blocks, data.vocabulary, data.layout, reading, data.target)
    made.__dict__["totals"] = data.totals
    return made


def label_lists(data: SparkTransactions) -> DataFrame:
    """One row per record: a list of labels, ascending."""
    labels, target = list(data.vocabulary), data.target

    def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        names = pa.array(labels, pa.string())
        for indptr, items in unpack(batches, target):
            lists = pa.ListArray.from_arrays(pa.array(indptr.astype(np.int32)), names.take(pa.array(items)))
            yield pa.RecordBatch.from_arrays([lists], names=["items"])

    return data.blocks.mapInArrow(decode, "items array<string>")


def quoted(column: str) -> str:
    """The name of a column as Spark's expressions write it."""
    return "`" + column.replace("`", "``") + "`"


def _check_types(frame: DataFrame, where: str, item_column: str, is_list: bool) -> None:
    if item_column not in frame.columns:
        raise InputError(f'{where}: no column "{one_line(item_column)}"; correct --item.')
    found: DataType = frame.schema[item_column].dataType
    inner = found.elementType if is_list and isinstance(found, ArrayType) else found
    if not isinstance(inner, StringType | IntegralType):
        raise InputError(
            f'{where}: column "{one_line(item_column)}" holds neither text nor whole numbers; convert it to text.'
        )


def _read_labels(frame: DataFrame, loose: Column, where: str, item_column: str, is_list: bool) -> Vocabulary:
    found = frame.select(loose.alias("item")).distinct().toArrow().column("item").to_pylist()
    column = one_line(item_column)
    if None in found:
        raise InputError(f'{where}: column "{column}" holds null; drop the row, or write an empty list.')
    if is_list and "" in found:
        raise InputError(f'{where}: an item label in column "{column}" is empty; give every item a name.')
    if any("\0" in label for label in found):
        raise InputError(f'{where}: a NUL character in column "{column}"; remove it.')
    return Vocabulary(label for label in found if label)


def _grouped(frame: DataFrame, texts: Column, owner: Column | None, together: Column) -> DataFrame:
    if owner is None:
        return frame.select(texts.alias("items"))
    return frame.groupBy(owner.alias("owner")).agg(together.alias("items")).select("items")


def _few_partitions(records: DataFrame, frame: DataFrame) -> DataFrame:
    """The records in fewer partitions, where a session for large data cuts small data into many: each is a task in
    Python, which costs more than its rows.
    """
    return records.coalesce(max(1, -(-frame.count() // ROWS_PER_TASK)))


def _encoded(records: DataFrame, vocabulary: Vocabulary) -> DataFrame:
    """Labels as numbers, a block for each batch."""

    def encode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            lists = batch.column(0)
            flat = lists.flatten()
            numbers = pc.index_in(flat, value_set=pa.array(vocabulary.labels, flat.type))
            lengths = pc.list_value_length(lists).to_numpy().astype(np.int64)
            rows = Transactions.from_rows(lengths, numbers.to_numpy().astype(np.int32), vocabulary)
            yield pack(rows.indptr, rows.items)

    return records.mapInArrow(encode, BLOCKS)
