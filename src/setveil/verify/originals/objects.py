"""Parquet files and Python objects, read again value by value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Vocabulary
from setveil.core.provenance import Interpretation
from setveil.errors import UncheckedError
from setveil.verify.originals.cells import DifferentError, finished, is_person, items_of_row, labels_of_cell, shown
from setveil.verify.originals.layouts import NoReaderError, Row
from setveil.verify.originals.text import content_of
from setveil.verify.originals.totals import CodedColumn, Totals, count_columns

NO_ARROW = "a Parquet file is read a second time by pyarrow, which is not installed; `pip install pyarrow`."


def read_parquet(form: Interpretation, chosen: Sequence[int] | None = None) -> Iterator[Row]:
    """The chosen rows of a Parquet file, from 0, or all."""
    table = _table(form)
    numbers = _numbers(table.num_rows, chosen)
    table = table if chosen is None else table.take(list(numbers))
    people = {column.place for column in form.columns}
    columns = [column.to_pylist() if place in people else _column(column) for place, column in enumerate(table.columns)]
    return _rows(form, table.column_names, numbers, zip(*columns, strict=True))


def parquet_rows_of(form: Interpretation, ids: set[str]) -> Iterator[Row]:
    """All rows of a Parquet file with one of the ids."""
    table = _table(form)
    assert form.id_position is not None
    wanted = [number for number, id in enumerate(_column(table.column(form.id_position))) if _text(id) in ids]
    return read_parquet(form, wanted)


def n_rows_of_parquet(form: Interpretation) -> int:
    """How many rows the file has."""
    return int(_table(form).num_rows)


def count_table(form: Interpretation, vocabulary: Vocabulary, source: Any = None) -> Totals:
    """The totals of a Parquet file, or of a Polars frame; every different value of a column is read once."""
    table = _table(form) if source is None else _arrow_of(source)
    people = None
    if form.id_position is not None:
        name = table.column_names[form.id_position]
        codes, ids = _coded(table.column(form.id_position))
        are_people = [is_person(form, _text(id), 0, name) for id in ids]
        people = np.where(np.array(are_people, dtype=np.bool_)[codes], codes, -1)
    columns = [_coded_column(form, table, place) for place in form.item_positions]
    return count_columns(columns, people, table.num_rows, vocabulary)


def _coded_column(form: Interpretation, table: Any, place: int) -> CodedColumn:
    column, name, rows = table.column(place), table.column_names[place], np.arange(table.num_rows)
    if form.shape != "lists":
        codes, values = _coded(column)
        return rows, codes, [labels_of_cell(form, name, _text(value), 0) for value in _without_decimals(values)]
    import pyarrow.compute as compute

    lengths = np.asarray(compute.fill_null(compute.list_value_length(column), 0), dtype=np.int64)
    codes, values = _coded(compute.list_flatten(column))
    return np.repeat(rows, lengths), codes, [finished(form, _labels([value], 0)) for value in values]


def _coded(column: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """A number per value, and the different values."""
    coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(coded.indices, dtype=np.int64), coded.dictionary.to_pylist()


def _table(form: Interpretation) -> Any:
    pyarrow = _arrow()
    assert form.path is not None
    used = _used(form)
    file = pyarrow.parquet.ParquetFile(BytesIO(content_of(form.path)))
    names = file.schema_arrow.names
    table = file.read(columns=[names[place] for place in sorted(used)])
    # All columns keep their positions; those that are not used are empty.
    empty = pyarrow.nulls(table.num_rows)
    return pyarrow.table(
        [table.column(name) if place in used else empty for place, name in enumerate(names)], names=names
    )


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise NoReaderError(NO_ARROW) from None
    return pyarrow


def _arrow_of(frame: Any) -> Any:
    """A Polars frame as an Arrow table whose texts every function of Arrow takes."""
    import polars as pl

    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def opened(source: Any) -> Any:
    """The rows of a folder of Parquet files, in the order of their names; any other object as it is."""
    if not isinstance(source, str | os.PathLike) or not Path(source).is_dir():
        return source
    import polars as pl

    pyarrow = _arrow()
    files = sorted(Path(source).rglob("*.parquet"))
    return pl.DataFrame(pyarrow.concat_tables(pyarrow.parquet.ParquetFile(file).read() for file in files))


def can_count(source: Any) -> bool:
    """Whether ``count_table`` takes this object: a Polars frame, where Arrow is installed."""
    is_frame = type(source).__module__.startswith("polars.") and type(source).__name__ == "DataFrame"
    return is_frame and find_spec("pyarrow") is not None


def _numbers(n_rows: int, chosen: Sequence[int] | None) -> Sequence[int]:
    """The chosen rows that are there, or all."""
    return range(n_rows) if chosen is None else [number for number in chosen if number < n_rows]


def _used(form: Interpretation) -> set[int]:
    """The positions of all columns that are read."""
    ids = [] if form.id_position is None else [form.id_position]
    return {*form.item_positions, *ids, *(column.place for column in form.columns)}


def _column(column: Any) -> list[Any]:
    """Values of an Arrow or Polars column; decimal numbers are shown in too many ways to be compared."""
    values: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return _without_decimals(values)


def _without_decimals(values: list[Any]) -> list[Any]:
    numbers = [value for value in values if isinstance(value, float) and value == value]
    if any(not number.is_integer() for number in numbers):
        raise UncheckedError("a column holds decimal numbers, which can be written in several ways.")
    return values


def read_object(obj: Any, form: Interpretation, chosen: Sequence[int] | None = None) -> Iterator[Row]:
    """The rows of a frame, a mapping, a list of rows or a list of lists."""
    if isinstance(obj, Mapping) and form.n_columns:
        cells = [value.tolist() if hasattr(value, "tolist") else list(value) for value in obj.values()]
        return _chosen_rows(form, list(obj), list(zip(*cells, strict=True)), chosen)
    if isinstance(obj, list | tuple) and form.n_columns:
        return _chosen_rows(form, *_table_of(obj), chosen)
    if isinstance(obj, Mapping):
        obj = list(obj.values())  # every key is a record
    if isinstance(obj, list | tuple):
        numbers = _numbers(len(obj), chosen)
        return (Row(number + 1, None, finished(form, _labels(obj[number], number + 1))) for number in numbers)
    if hasattr(obj, "tocsr") or (isinstance(obj, np.ndarray) and obj.ndim == 2):
        matrix: Any = obj if isinstance(obj, np.ndarray) else obj.tocsr()
        numbers = _numbers(obj.shape[0], chosen)
        return (Row(number + 1, None, _marked(matrix[[number]])) for number in numbers)
    library = type(obj).__module__.partition(".")[0]
    if library == "pandas" and len(getattr(obj, "columns", ())) < form.n_columns:
        obj = (obj.to_frame("items" if obj.name is None else obj.name) if obj.ndim == 1 else obj).reset_index()
    if library == "polars" and type(obj).__name__ == "DataFrame":
        names, n_rows = list(obj.columns), obj.height
    elif library == "pandas" and type(obj).__name__ == "DataFrame":
        names, n_rows = [str(name) for name in obj.columns], len(obj)
    else:
        raise UncheckedError(f"there is no second reader for {type(obj).__name__}.")
    if len(names) != form.n_columns:
        raise UncheckedError("some columns are in the index of the frame.")
    numbers = _numbers(n_rows, chosen)
    used, people = _used(form), {column.place for column in form.columns}
    columns = []
    for place in range(len(names)):
        if place not in used:
            columns.append([None] * len(numbers))
            continue
        is_polars = library == "polars"
        values = (obj.to_series(place)[list(numbers)] if is_polars else obj.iloc[list(numbers), place]).to_list()
        columns.append(values if place in people else _without_decimals(values))
    return _rows(form, names, numbers, zip(*columns, strict=True), library == "pandas")


def _marked(row: Any) -> list[str]:
    """The numbers of the columns in which a row of a matrix is not 0."""
    return [str(place) for place in row.nonzero()[1].tolist()]


def _table_of(rows: Sequence[Any]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and cells of rows: dicts, rows that name their fields, or plain ones, whose columns have numbers."""
    if all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(name for row in rows for name in row))
        return names, [tuple(row.get(name) for name in names) for row in rows]
    named = getattr(rows[0], "_fields", None) or (rows[0].keys() if hasattr(rows[0], "keys") else ())
    names = [str(name) for name in named] or [str(place + 1) for place in range(len(rows[0]))]
    return names, [tuple(row) for row in rows]


def _chosen_rows(
    form: Interpretation, names: list[str], cells: list[tuple[Any, ...]], chosen: Sequence[int] | None
) -> Iterator[Row]:
    numbers = _numbers(len(cells), chosen)
    used = _used(form)
    for place in used - {column.place for column in form.columns}:
        _without_decimals([row[place] for row in cells])
    rows = [tuple(cell if place in used else None for place, cell in enumerate(cells[number])) for number in numbers]
    return _rows(form, names, numbers, rows)


def _rows(
    form: Interpretation, names: Sequence[str], numbers: Sequence[int], rows: Iterable[Any], is_pandas: bool = False
) -> Iterator[Row]:
    items = set(form.item_positions)
    for number, values in zip(numbers, rows, strict=True):
        id = None if form.id_position is None else _text(values[form.id_position])
        if not is_person(form, id, number + 1, names[form.id_position or 0]):
            continue
        if form.shape == "lists":
            labels = finished(form, _labels(values[form.item_positions[0]], number + 1))
        else:
            cells = [_text(value, is_pandas) if place in items else "" for place, value in enumerate(values)]
            labels = items_of_row(form, names, cells, number + 1)
        own = tuple(shown(values[column.place], is_pandas=is_pandas) for column in form.columns)
        yield Row(number + 1, id, labels, [own])


def _labels(values: Any, row: int) -> list[str]:
    """The items of a list: text and whole numbers."""
    labels = []
    for value in values:
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not (is_whole or (isinstance(value, str) and value)):
            raise DifferentError(row)
        labels.append(str(int(value)) if is_whole else str(value))
    return labels


def _text(value: Any, is_pandas: bool = False) -> str:
    """A value as the text of a cell; what is missing is empty."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return str(bool(value)) if is_pandas else str(bool(value)).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    raise UncheckedError(f"a column holds {type(value).__name__}, which can be written in several ways.")
