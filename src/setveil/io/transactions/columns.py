"""Columns of frames, whatever library made them: what a column holds, and its cells as text.

``PolarsFrame`` and ``PandasFrame`` say the same few things; ``frames`` decides what the columns mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import label_of
from setveil.errors import InputError
from setveil.io.source import one_line
from setveil.io.transactions.labels import Numbered, Tokens, tokens_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

ROWS_AT_ONCE = 500_000  # rows at a time
SCANNED = 1_000_000  # rows at a time from disk: row groups of most writers are no larger
PIECE = 200_000  # of these at a time: each may hold many items
TEXT, INTEGER, BOOLEAN, FLOAT, LIST, OTHER = "text", "integer", "boolean", "float", "list", "other"
SCALARS = (TEXT, INTEGER)


class ListRows(NamedTuple):
    """Some rows of a list column."""

    lengths: NDArray[np.int64]  # [rows]
    texts: Tokens | pl.Series  # their items


def cell_of(frame: Frame, column: int, row: int) -> str:
    """A cell in messages."""
    return f'{frame.where}: row {row + 1}, column "{one_line(frame.names[column])}"'


def null_error(frame: Frame, column: int, row: int) -> InputError:
    """The error for a value that is missing where there must be one."""
    return InputError(f"{cell_of(frame, column, row)}: null or NaN; drop the row or give the item a name.")


# -- Polars -----------------------------------------------------------------------------------------------------------


class PolarsFrame:
    """A Polars frame; columns are named by their place."""

    def __init__(self, frame: pl.DataFrame, where: str) -> None:
        self.where = where  # begins messages
        self._frame = frame
        self.names = frame.columns
        self.dtypes = frame.dtypes
        self.n_rows = frame.height

    def part(self, columns: Sequence[int]) -> PolarsFrame:
        """Some of the columns."""
        return PolarsFrame(self._frame[:, list(columns)], self.where)

    def _whole(self, column: int) -> pl.Series:
        return self._frame.to_series(column)

    def _slices(self, column: int) -> Iterator[tuple[int, pl.Series]]:
        """Some rows of a column after the other, each with the number of the first."""
        series = self._whole(column)
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            yield start, series.slice(start, ROWS_AT_ONCE)

    def kind(self, column: int) -> str:
        """What the column holds."""
        import polars as pl

        dtype = self.dtypes[column]
        if isinstance(dtype, pl.List | pl.Array):
            return LIST
        if dtype.is_integer():
            return INTEGER
        if dtype.is_float():
            return FLOAT
        if dtype == pl.Boolean:
            return BOOLEAN
        return TEXT if isinstance(dtype, pl.String | pl.Categorical | pl.Enum) else OTHER

    def texts(self, column: int) -> Iterator[Tokens]:
        """A text or integer column in slices; null is an error."""
        for start, part in self._slices(column):
            yield self._tokens(part, column, start)

    def cells(self, column: int) -> Iterator[Tokens]:
        """Any column as text in slices; null is empty, and whole numbers have no decimals."""
        import polars as pl

        series = self._whole(column)
        if self.kind(column) == LIST or isinstance(series.dtype, pl.Struct | pl.Object | pl.Binary | pl.Duration):
            raise _no_cell(self, column, str(series.dtype))
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            part = series.slice(start, ROWS_AT_ONCE)
            if part.dtype.is_float():
                yield tokens_of(
                    [_cell_text(self, column, row, value) for row, value in enumerate(part.to_list(), start)]
                )
            else:
                texts = part.cast(pl.String).fill_null("")
                yield self._tokens(texts, column, start)

    def lists(self, column: int) -> Iterator[ListRows]:
        """A list column in slices; null lists and items are an error."""
        import polars as pl

        for start, part in self._slices(column):
            if isinstance(part.dtype, pl.Array):
                part = part.cast(pl.List(part.dtype.inner))
            if part.null_count():
                row = start + int(part.is_null().arg_max() or 0)
                raise InputError(
                    f"{cell_of(self, column, row)}: the list is null; write an empty list for a record without items."
                )
            lengths = part.list.len().to_numpy().astype(np.int64)
            inner = (part if lengths.all() else part.filter(part.list.len() > 0)).explode()
            self._check(inner, column, start, lengths)
            yield ListRows(lengths, inner.cast(pl.String))

    def _tokens(self, series: pl.Series, column: int, start: int) -> Tokens:
        """The texts of a series whose values stand in the rows from ``start`` on."""
        import polars as pl

        self._check(series, column, start)
        return _joined(series.cast(pl.String))

    def _check(self, series: pl.Series, column: int, start: int, lengths: NDArray[np.int64] | None = None) -> None:
        """Null and what is neither text nor a whole number is refused.

        The values stand in the rows from ``start`` on, with ``lengths`` so many in each.
        """
        import polars as pl

        missing = series.is_null()
        if series.dtype.is_float():
            missing = missing | series.is_nan().fill_null(True)
        if missing.any():
            value = int(missing.arg_max() or 0)
            raise null_error(self, column, start + (value if lengths is None else row_of_item(lengths, value)))
        is_text = isinstance(series.dtype, pl.String | pl.Categorical | pl.Enum)
        if len(series) and not (is_text or series.dtype.is_integer()):
            row = start + (0 if lengths is None else row_of_item(lengths, 0))
            raise InputError(
                f"{cell_of(self, column, row)}: {series.dtype} is neither text nor a whole number; convert it to text."
            )

    def first_null(self, column: int) -> int | None:
        """The first row without value, null or NaN; None if every row has one."""
        series = self._whole(column)
        missing = (series.fill_nan(None) if series.dtype.is_float() else series).is_null()
        return int(missing.arg_max() or 0) if missing.any() else None

    def has_only_0_and_1(self, column: int) -> bool:
        """Whether a column of numbers or booleans holds nothing else, missing values aside."""
        series = self._whole(column)
        values = (series.fill_nan(None) if series.dtype.is_float() else series).drop_nulls()
        return self.kind(column) == BOOLEAN or bool(((values == 1) | (values == 0)).all())

    def label(self, column: int) -> str:
        """The column's name as an item label."""
        return label_of(self.names[column], f"{self.where}: column {column + 1}")


def row_of_item(lengths: NDArray[np.int64], item: int) -> int:
    """The row of an item, where rows have so many items each."""
    return int(np.searchsorted(np.cumsum(lengths), item, side="right"))


def number_distinct(texts: pl.Series) -> Numbered:
    """Numbers for texts: where few differ, only these are looked at one by one."""
    import polars as pl

    distinct = texts.unique()
    labels = [text.encode() for text in distinct.to_list()]
    numbers = texts.cast(pl.Enum(distinct)).to_physical().to_numpy().astype(np.int32)
    if b"" in labels:
        numbers[numbers == labels.index(b"")] = -1
    return Numbered(numbers, labels)


def _joined(texts: pl.Series) -> Tokens:
    """Texts, one after the other."""
    lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
    buffer = np.frombuffer((texts.str.join("").item() or "").encode(), dtype=np.uint8)
    return Tokens(buffer, np.cumsum(lengths) - lengths, lengths)


class ScannedFrame(PolarsFrame):
    """A table on disk that is read a part at a time, for it may be larger than memory."""

    def __init__(self, scan: pl.LazyFrame, collect: Callable[[pl.LazyFrame], pl.DataFrame], where: str) -> None:
        import polars as pl

        self.where = where
        self._scan, self._collect = scan, collect
        empty = collect(scan.head(0))
        self.names, self.dtypes = empty.columns, empty.dtypes
        self.n_rows = int(collect(scan.select(pl.len())).item())

    def part(self, columns: Sequence[int]) -> ScannedFrame:
        import polars as pl

        return ScannedFrame(self._scan.select([pl.nth(column) for column in columns]), self._collect, self.where)

    def _whole(self, column: int) -> pl.Series:
        import polars as pl

        return self._collect(self._scan.select(pl.nth(column))).to_series()  # a name could be read as a pattern

    def _slices(self, column: int) -> Iterator[tuple[int, pl.Series]]:
        import polars as pl

        scan = self._scan.select(pl.nth(column))
        for start in range(0, self.n_rows, SCANNED):
            part = self._collect(scan.slice(start, SCANNED)).to_series()
            for begin in range(0, len(part), PIECE):
                yield start + begin, part.slice(begin, PIECE)


# -- pandas -----------------------------------------------------------------------------------------------------------


class PandasFrame:
    """The same for pandas; columns may have any names, even the same."""

    def __init__(self, frame: pd.DataFrame, where: str) -> None:
        self.where = where
        self._frame = frame
        self.names = [str(name) for name in frame.columns]
        self.n_rows = len(frame)

    def part(self, columns: Sequence[int]) -> PandasFrame:
        return PandasFrame(self._frame.iloc[:, list(columns)], self.where)

    def kind(self, column: int) -> str:
        import pandas as pd

        series = self._frame.iloc[:, column]
        if isinstance(series.dtype, pd.CategoricalDtype):
            return TEXT
        if pd.api.types.is_bool_dtype(series.dtype):
            return BOOLEAN
        if pd.api.types.is_integer_dtype(series.dtype):
            return INTEGER
        if pd.api.types.is_float_dtype(series.dtype):
            return FLOAT
        if pd.api.types.is_string_dtype(series.dtype) and series.dtype != object:
            return TEXT
        if series.dtype != object:
            return LIST if "list" in str(series.dtype) else OTHER
        some = next((value for value in series if not _is_missing(value)), "")
        return LIST if isinstance(some, list | tuple | set | frozenset | np.ndarray) else TEXT

    def texts(self, column: int) -> Iterator[Tokens]:
        series = self._frame.iloc[:, column]
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            part = series.iloc[start : start + ROWS_AT_ONCE]
            missing = part.isna().to_numpy(dtype=bool)
            if missing.any():
                raise null_error(self, column, start + int(np.argmax(missing)))
            yield tokens_of([_text(self, column, row, value) for row, value in enumerate(part.tolist(), start=start)])

    def cells(self, column: int) -> Iterator[Tokens]:
        if self.kind(column) == LIST:
            raise _no_cell(self, column, "list")
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            values = self._frame.iloc[start : start + ROWS_AT_ONCE, column].tolist()
            yield tokens_of([_cell_text(self, column, row, value) for row, value in enumerate(values, start)])

    def lists(self, column: int) -> Iterator[ListRows]:
        series = self._frame.iloc[:, column]
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            lengths, texts = [], []
            for row, value in enumerate(series.iloc[start : start + ROWS_AT_ONCE], start=start):
                if not isinstance(value, list | tuple | set | frozenset | np.ndarray):
                    problem = "the list is null" if _is_missing(value) else "not a list"
                    raise InputError(
                        f"{cell_of(self, column, row)}: {problem}; write an empty list for a record without items."
                    )
                lengths.append(len(value))
                texts += [_text(self, column, row, item) for item in value]
            yield ListRows(np.array(lengths, dtype=np.int64), tokens_of(texts))

    def first_null(self, column: int) -> int | None:
        missing = self._frame.iloc[:, column].isna().to_numpy(dtype=bool)
        return int(np.argmax(missing)) if missing.any() else None

    def has_only_0_and_1(self, column: int) -> bool:
        values = np.asarray(self._frame.iloc[:, column].dropna())
        return bool(((values == 1) | (values == 0)).all())

    def label(self, column: int) -> str:
        return label_of(self._frame.columns[column], f"{self.where}: column {column + 1}")


Frame: TypeAlias = PolarsFrame | PandasFrame


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _no_cell(frame: Frame, column: int, kind: str) -> InputError:
    return InputError(
        f'{frame.where}: column "{one_line(frame.names[column])}" holds {one_line(kind)} values, and cells of a table '
        "hold one value each; convert it to text."
    )


def _cell_text(frame: Frame, column: int, row: int, value: Any) -> bytes:
    if _is_missing(value):
        return b""
    if isinstance(value, list | tuple | set | frozenset | dict | bytes | np.ndarray):
        raise _no_cell(frame, column, type(value).__name__)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _encoded(frame, column, row, str(value))


def _text(frame: Frame, column: int, row: int, value: Any) -> bytes:
    return _encoded(
        frame, column, row, value if isinstance(value, str) else label_of(value, cell_of(frame, column, row))
    )


def _encoded(frame: Frame, column: int, row: int, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{cell_of(frame, column, row)}: an incomplete Unicode character; give the item a proper name."
        ) from None
