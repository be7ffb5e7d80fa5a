"""Transactions from Python objects: lists of lists, dicts, frames, sparse matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError
from setveil.io.transactions.frames import Frame, PandasFrame, PolarsFrame, from_frame
from setveil.io.transactions.labels import is_proper, warn_about_blanks


def from_object(
    obj: Any, *, id_column: str | None = None, item_column: str | None = None, keep_ids: bool = False
) -> Transactions:
    """Any Python object that holds one set of items per record.

    An iterable of iterables; a dict (id → items); a pandas, Polars or Arrow frame with a list column, with an id and an item column,
    or with one column of booleans or 0 and 1 per item; a SciPy sparse matrix or boolean array, whose labels are its column numbers.
    """
    if isinstance(obj, Transactions):
        return obj
    frame = _frame_of(obj)
    if frame is not None:
        return from_frame(frame, id_column, item_column, keep_ids)
    if id_column is not None or item_column is not None:
        raise InputError("only frames have columns; leave out id_column and item_column.")
    if hasattr(obj, "tocoo") and hasattr(obj, "nnz"):
        return _from_sparse(obj)
    if isinstance(obj, np.ndarray) and obj.dtype == bool and obj.ndim == 2:
        rows, columns = np.nonzero(obj)
        return _from_places(rows, columns, len(obj))
    if isinstance(obj, Mapping):
        data = _from_lists(obj.values())
        return replace(data, ids=tuple(map(str, obj))) if keep_ids else data
    if isinstance(obj, str | bytes) or not isinstance(obj, Iterable):
        raise InputError(
            f"cannot read records from {type(obj).__name__}; give a list of lists, a dict or a frame; read() takes files."
        )
    return _from_lists(obj)


def _frame_of(obj: Any) -> Frame | None:
    library = type(obj).__module__.partition(".")[0]
    if library == "pandas":
        if type(obj).__name__ == "Series":
            obj = obj.to_frame("items")
        return PandasFrame(obj, "DataFrame") if hasattr(obj, "columns") else None
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
    data = Transactions.from_lists(_checked(records))
    if not all(map(is_proper, data.vocabulary)):
        raise InputError("an item label holds a NUL or half a surrogate pair; give it a proper name.")
    warn_about_blanks(list(data.vocabulary))
    return data


def _checked(records: Iterable[Any]) -> Iterator[Iterable[Any]]:
    for position, record in enumerate(records):
        if isinstance(record, Mapping):
            raise InputError(f"record {position} is a dict; give a list of its items.")
        if record is None or (isinstance(record, float) and record != record):
            raise InputError(f"record {position} is null; give an empty list for a record without items.")
        if not isinstance(record, Iterable):
            raise InputError(f"record {position} is no list of items but {type(record).__name__}.")
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
    return _from_places(entries.row[there], entries.col[there], matrix.shape[0])


def _from_places(rows: Any, columns: Any, n_records: int) -> Transactions:
    used, numbers = np.unique(columns, return_inverse=True)
    vocabulary = Vocabulary.presorted([str(column) for column in used.tolist()])
    return Transactions.from_pairs(rows, numbers, n_records, vocabulary)
