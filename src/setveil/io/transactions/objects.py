"""Transactions from Python objects: lists of lists, dicts, frames, sparse matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError
from setveil.io.formats.base import Plan
from setveil.io.options import ReadOptions
from setveil.io.transactions.cells import says_yes_or_no
from setveil.io.transactions.columns import Frame, PandasFrame, PolarsFrame
from setveil.io.transactions.frames import from_frame
from setveil.io.transactions.headers import rank_of_ids
from setveil.io.transactions.labels import is_proper
from setveil.io.transactions.rows import frame_of_plain


def from_object(obj: Any, options: ReadOptions, table: str | None = None) -> tuple[Transactions, Plan]:
    """Any Python object that holds one set of items per record, and what it was taken for; ``table``: the name of the
    stored table that a Polars frame holds.

    An iterable of iterables; a dict (id → items); a table: a pandas, Polars or Arrow frame, dicts or rows of a database
    cursor, a dict of columns (a list column, an id and an item column, several columns of items, one column per item);
    a SciPy sparse matrix or an array of booleans or of 0 and 1, whose labels are its column numbers.
    """
    obj, options = _index_as_id(obj, options)
    if isinstance(obj, Iterator):
        obj = list(obj)
    elif isinstance(obj, np.ndarray) and obj.ndim == 2 and obj.dtype.kind not in "biuf":
        obj = obj.tolist()
    frame = frame_of(obj, options) if table is None else PolarsFrame(obj, table)
    if frame is not None:
        data, plan = from_frame(frame, options, in_file=table is not None)
        numbers = [str(place + 1) for place in range(len(frame.names))]
        return data, replace(plan, has_header=frame.names != numbers)  # plain rows have no names
    if options.format is not None:
        raise InputError("format is for files and frames, not for other Python objects; remove it.")
    named = (options.id_column, options.item_column, options.item_columns or None, options.roles.columns or None)
    if any(name is not None for name in named):
        raise InputError(
            "only tables have columns (frames, dicts, rows of one length); remove the options that name columns."
        )
    if hasattr(obj, "tocoo") and hasattr(obj, "nnz"):
        return _from_sparse(obj), Plan("onehot", "the entries that are not 0", kind="a sparse matrix")
    if isinstance(obj, np.ndarray) and obj.ndim == 2 and obj.dtype.kind in "biuf":
        return _from_array(obj), Plan("onehot", "0 and 1 in every cell", kind="an array of 0 and 1")
    if isinstance(obj, Mapping):
        data = _from_lists(obj.values())
        if len(set(map(str, obj))) < len(obj):
            raise InputError('two keys of the dict are the same id as text, as 1 and "1" are; give every person one.')
        data = replace(data, ids=tuple(map(str, obj))) if options.keep_ids else data
        return data, Plan("lists", "the keys and lists", kind="lists of items by id")
    if isinstance(obj, str | bytes) or not isinstance(obj, Iterable):
        raise InputError(
            f"cannot read records from {type(obj).__name__}; give a list of lists, a dict or a frame; read() "
            "takes files."
        )
    return _from_lists(obj), Plan("lists", "one list per record")


def _from_array(array: Any) -> Transactions:
    """A matrix of 0 and 1; other numbers could be counts or items, and only the user knows."""
    if array.dtype.kind != "b" and not np.isin(array, (0, 1)).all():
        raise InputError(
            "the array holds other numbers than 0 and 1; give array > 0 if every column is an item, or "
            "array.tolist() if the numbers are items."
        )
    rows, columns = np.nonzero(array)
    return _from_coordinates(rows, columns, len(array))


def _index_as_id(obj: Any, options: ReadOptions) -> tuple[Any, ReadOptions]:
    """A pandas frame whose index holds a column: stated by a role, beside a single column, or named as ids are."""
    if type(obj).__module__.partition(".")[0] != "pandas" or not hasattr(obj, "index"):
        return obj, options
    if type(obj).__name__ == "Series":
        obj = obj.to_frame("items" if obj.name is None else obj.name)
    columns = [str(name) for name in getattr(obj, "columns", ())]
    names = [str(name) for name in obj.index.names if name is not None and str(name) not in columns]
    if not names or len(names) < obj.index.nlevels:
        return obj, options
    stated = {
        options.id_column,
        options.item_column,
        *options.item_columns,
        *(one.name for one in options.roles.columns),
    }
    if stated & set(names):
        return obj.reset_index(), options
    is_person = len(columns) == 1 or any(map(rank_of_ids, names))
    if len(names) > 1 or options.id_column is not None or not is_person:
        return (obj.reset_index() if is_person and options.id_column is None else obj), options
    return obj.reset_index(), replace(options, id_column=names[0])


def frame_of(obj: Any, options: ReadOptions) -> Frame | None:
    """A frame of any library, or dicts and rows that make a table, as columns; None for any other object."""
    return _frame_of(obj) or frame_of_plain(obj, options, type(obj).__name__)


def _frame_of(obj: Any) -> Frame | None:
    library = type(obj).__module__.partition(".")[0]
    if library == "pandas":
        if type(obj).__name__ == "Series":
            obj = obj.to_frame("items")
        return PandasFrame(obj, "DataFrame") if hasattr(obj, "columns") else None
    if library == "pyarrow" and hasattr(obj, "to_table"):  # a dataset, such as a folder of Parquet files
        obj = obj.to_table()
    if library == "polars" or hasattr(obj, "__arrow_c_stream__") or hasattr(obj, "__arrow_c_array__"):
        import polars as pl

        if isinstance(obj, pl.LazyFrame):
            obj = obj.collect()
        elif library == "pyarrow":
            obj = pl.from_arrow(obj)
        elif library != "polars":
            obj = pl.DataFrame(obj)
        if isinstance(obj, pl.Series):
            obj = obj.to_frame("items")
        return PolarsFrame(obj, "DataFrame")
    return None


def _from_lists(records: Iterable[Any]) -> Transactions:
    watch = _Watch()
    data = Transactions.from_lists(_checked(records, watch))
    if watch.is_matrix(data):
        raise InputError(
            "the lists hold 0 and 1, or true and false, again and again, as the rows of a matrix do; give an "
            "array or a frame with one column per item, or a list of the items that are there."
        )
    if not all(map(is_proper, data.vocabulary)):
        raise InputError("an item label holds a NUL or an incomplete Unicode character; give it a proper name.")
    return data


class _Watch:
    """Whether lists are rows of a matrix: all equally long, the same two values in them again and again."""

    def __init__(self) -> None:
        self.widths: set[int] = set()
        self.repeats = 0
        self.n = 0

    def look(self, record: Any) -> None:
        self.n += 1
        if isinstance(record, list | tuple | np.ndarray) and len(self.widths) < 2:
            self.widths.add(len(record))
            try:
                self.repeats += len(set(record)) < len(record)
            except TypeError:  # items that are no labels: refused later, by name
                self.widths |= {-1, -2}
        else:
            self.widths |= {-1, -2}

    def is_matrix(self, data: Transactions) -> bool:
        if len(self.widths) != 1 or not self.n or 2 * self.repeats < self.n or data.n_items > 2:
            return False
        return set(data.vocabulary) <= {"0", "1"} or says_yes_or_no(data.vocabulary)


def _checked(records: Iterable[Any], watch: _Watch) -> Iterator[Iterable[Any]]:
    for position, record in enumerate(records):
        if isinstance(record, Mapping):
            raise InputError(f"record {position} is a dict; give a list of its items.")
        if record is None or (isinstance(record, float) and record != record):
            raise InputError(f"record {position} is null; give an empty list for a record without items.")
        if not isinstance(record, Iterable):
            raise InputError(f"record {position} is not a list of items but {type(record).__name__}.")
        watch.look(record)
        yield record


def _from_sparse(matrix: Any) -> Transactions:
    """Non-zero entries are items."""
    if matrix.ndim != 2:
        raise InputError("the sparse array has not two dimensions; give one row per record.")
    entries = matrix.tocoo()
    if np.isnan(entries.data).any():
        raise InputError("the sparse matrix holds NaN; put 0 or 1.")
    if (entries.data < 0).any():
        raise InputError("the sparse matrix holds negative numbers; put 0 or 1.")
    there = entries.data != 0
    return _from_coordinates(entries.row[there], entries.col[there], matrix.shape[0])


def _from_coordinates(rows: Any, columns: Any, n_records: int) -> Transactions:
    used, numbers = np.unique(columns, return_inverse=True)
    vocabulary = Vocabulary.presorted([str(column) for column in used.tolist()])
    return Transactions.from_pairs(rows, numbers, n_records, vocabulary)
