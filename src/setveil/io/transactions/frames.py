"""Frames of any library as transactions: a list per row, one row per (id, item), or one column per item.

``PolarsFrame`` and ``PandasFrame`` say the same few things about their columns; ``from_frame`` decides what the columns mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions, label_of
from setveil.errors import InputError, name_some
from setveil.io.source import one_line
from setveil.io.transactions.labels import WORD, Ids, Labels, Tokens, assemble, joined, padded, tokens_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

SLICE = 500_000  # rows at a time
TEXT, INTEGER, BOOLEAN, FLOAT, LIST, OTHER = "text", "integer", "boolean", "float", "list", "other"
SCALARS = (TEXT, INTEGER)


class Part(NamedTuple):
    """Some rows of a list column."""

    lengths: NDArray[np.int64]  # [rows]
    tokens: Tokens  # their items


class Frame(Protocol):
    """What ``from_frame`` asks; columns are told by their place."""

    where: str  # begins messages
    names: list[str]
    n_rows: int

    def kind(self, column: int) -> str:
        """What the column holds."""

    def texts(self, column: int) -> Iterator[Tokens]:
        """A text or integer column in slices; null is an error."""

    def lists(self, column: int) -> Iterator[Part]:
        """A list column in slices; null lists and items are an error."""

    def ones(self, column: int) -> NDArray[np.int64] | None:
        """The rows where a one-hot column is 1; None if it holds anything else than 0 and 1."""

    def label(self, column: int) -> str:
        """The column's name as an item label."""


def from_frame(
    frame: Frame,
    id_column: str | None = None,
    item_column: str | None = None,
    keep_ids: bool = False,
    file_layout: bool = False,
) -> Transactions:
    """Transactions from a frame; ``file_layout`` if it stands in a Parquet file, which knows no one-hot columns."""
    kinds = [frame.kind(column) for column in range(len(frame.names))]
    if not kinds:
        raise InputError(f"{frame.where}: the frame has no columns.")
    given_id = None if id_column is None else _find(frame, id_column, "--id-column")
    given_item = None if item_column is None else _find(frame, item_column, "--item-column")
    lists = [column for column, kind in enumerate(kinds) if kind == LIST]
    if given_item is None and lists:
        if len(lists) > 1:
            shown = name_some(frame.names[column] for column in lists)
            raise InputError(f"{frame.where}: several list columns ({shown}); name the items with --item-column.")
        given_item = lists[0]
    if given_item is not None and kinds[given_item] == LIST:
        if given_id is None and "id" in frame.names:
            given_id = frame.names.index("id")
        layout = Layout("parquet", id_column="id" if given_id is None else frame.names[given_id],
                        item_column=frame.names[given_item])  # fmt: skip
        return _from_lists(frame, given_id, given_item, keep_ids, layout if file_layout else Layout())
    if given_id is None and given_item is None and not file_layout:
        hot = _from_one_hot(frame, kinds)
        if hot is not None:
            return hot
    place_id, place_item = _two_columns(frame, given_id, given_item)
    layout = Layout("parquet", id_column=frame.names[place_id], item_column=frame.names[place_item], long=True)
    return _from_long(frame, kinds, place_id, place_item, keep_ids, layout if file_layout else Layout())


def _find(frame: Frame, name: str, option: str) -> int:
    if frame.names.count(name) != 1:
        found = "no column" if name not in frame.names else f"{frame.names.count(name)} columns"
        raise InputError(
            f'{frame.where}: {found} "{one_line(name)}" among {name_some(map(one_line, frame.names), 20)}; '
            f"correct {option}."
        )
    return frame.names.index(name)


def _two_columns(frame: Frame, given_id: int | None, given_item: int | None) -> tuple[int, int]:
    if given_id is None or given_item is None:
        if len(frame.names) != 2:
            raise InputError(
                f"{frame.where}: {len(frame.names)} column(s) ({name_some(map(one_line, frame.names), 20)}) and none holds "
                "lists; say which hold ids and items with --id-column and --item-column."
            )
        given_id = given_id if given_id is not None else 0 if given_item is None else 1 - given_item
        given_item = given_item if given_item is not None else 1 - given_id
    if given_id == given_item:
        raise InputError(f"{frame.where}: ids and items cannot stand in the same column.")
    return given_id, given_item


def _from_lists(frame: Frame, id_place: int | None, place: int, keep_ids: bool, layout: Layout) -> Transactions:
    labels = Labels()
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    n_seen = 0
    for part in frame.lists(place):
        empty = np.flatnonzero(part.tokens.lengths == 0)
        if len(empty):
            row = n_seen + int(np.searchsorted(np.cumsum(part.lengths), empty[0], side="right"))
            raise InputError(f"{_cell(frame, place, row)}: an item label is empty; give every item a name.")
        numbers.append(labels.number(_refuse_nul(frame, place, part.tokens)))
        lengths.append(part.lengths)
        n_seen += len(part.lengths)
    n_items = joined(lengths, np.int64)
    records, n_records, texts = np.arange(len(n_items)), len(n_items), None
    if id_place is not None:
        records, n_records, texts = _records(frame, id_place, keep_ids)
    elif keep_ids:
        raise InputError(f"{frame.where}: there is no id column to keep; name it with --id-column.")
    return assemble(np.repeat(records, n_items), joined(numbers, np.int32), n_records, labels.texts(), layout, texts)


def _from_long(
    frame: Frame, kinds: list[str], id_place: int, place: int, keep_ids: bool, layout: Layout
) -> Transactions:
    for column in (id_place, place):
        if kinds[column] not in SCALARS:
            for _ in frame.texts(column):  # null and NaN have a message of their own
                break
            raise InputError(
                f'{frame.where}: column "{one_line(frame.names[column])}" holds neither text nor whole numbers; '
                "convert it to text."
            )
    labels = Labels()
    numbers: list[NDArray[np.int32]] = []
    for tokens in frame.texts(place):
        has_item = tokens.lengths > 0
        found = np.full(len(has_item), -1, dtype=np.int32)
        found[has_item] = labels.number(_refuse_nul(frame, place, tokens).pick(has_item))
        numbers.append(found)
    records, n_records, texts = _records(frame, id_place, keep_ids)
    items = joined(numbers, np.int32)
    has_item = items >= 0
    return assemble(records[has_item], items[has_item], n_records, labels.texts(), layout, texts)


def _records(frame: Frame, place: int, keep_ids: bool) -> tuple[NDArray[np.int64], int, tuple[str, ...] | None]:
    ids = Ids()
    n_seen = 0
    for tokens in frame.texts(place):
        wrong = np.flatnonzero((tokens.lengths == 0) | (tokens.lengths > 4096))
        if len(wrong):
            raise InputError(
                f"{_cell(frame, place, n_seen + int(wrong[0]))}: the id is empty or longer than 4,096 bytes."
            )
        ids.add(_refuse_nul(frame, place, tokens))
        n_seen += len(tokens.starts)
    return ids.number(keep_ids)


def _from_one_hot(frame: Frame, kinds: list[str]) -> Transactions | None:
    """Every column an item; None if the columns are something else."""
    if not all(kind in (BOOLEAN, INTEGER, FLOAT) for kind in kinds):
        return None
    rows: list[NDArray[np.int64]] = []
    for column in range(len(kinds)):
        ones = frame.ones(column)
        if ones is None:
            return None
        rows.append(ones)
    if len(kinds) == 2 and INTEGER in kinds:
        raise InputError(
            f"{frame.where}: cannot tell two item columns of 0 and 1 from ids and items; convert them to booleans or to text."
        )
    labels = [frame.label(column) for column in range(len(kinds))]
    if len(set(labels)) != len(labels):
        raise InputError(f"{frame.where}: two columns have the same name; rename one.")
    columns = np.repeat(np.arange(len(kinds), dtype=np.int32), [len(ones) for ones in rows])
    return assemble(joined(rows, np.int64), columns, frame.n_rows, labels, Layout()).used_items()


def _cell(frame: Frame, column: int, row: int) -> str:
    return f'{frame.where}: row {row + 1}, column "{one_line(frame.names[column])}"'


def _refuse_nul(frame: Frame, column: int, tokens: Tokens) -> Tokens:
    if not tokens.buffer[:-WORD].all():
        raise InputError(f'{frame.where}: a NUL character in column "{one_line(frame.names[column])}"; take it out.')
    return tokens


def _null(frame: Frame, column: int, row: int) -> InputError:
    return InputError(f"{_cell(frame, column, row)}: null or NaN; drop the row or give the item a name.")


# -- Polars -----------------------------------------------------------------------------------------------------------


class PolarsFrame:
    """A Polars frame."""

    def __init__(self, frame: pl.DataFrame, where: str) -> None:
        self.where = where
        self._frame = frame
        self.names = frame.columns
        self.n_rows = frame.height

    def kind(self, column: int) -> str:
        """What the column holds."""
        import polars as pl

        dtype = self._frame.dtypes[column]
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
        """A column in slices."""
        series = self._frame.to_series(column)
        for start in range(0, self.n_rows, SLICE):
            part = series.slice(start, SLICE)
            yield self._tokens(part, column, np.arange(start, start + len(part)))

    def lists(self, column: int) -> Iterator[Part]:
        """A list column in slices."""
        import polars as pl

        series = self._frame.to_series(column)
        dtype = series.dtype
        if isinstance(dtype, pl.Array):
            series = series.cast(pl.List(dtype.inner))
        if series.null_count():
            row = int(series.is_null().arg_max() or 0)
            raise InputError(
                f"{_cell(self, column, row)}: the list is null; write an empty list for a record without items."
            )
        for start in range(0, self.n_rows, SLICE):
            part = series.slice(start, SLICE)
            lengths = part.list.len().to_numpy().astype(np.int64)
            inner = part.filter(part.list.len() > 0).explode()
            owners = np.repeat(np.arange(start, start + len(part)), lengths)
            yield Part(lengths, self._tokens(inner, column, owners))

    def _tokens(self, series: pl.Series, column: int, rows: NDArray[np.int64]) -> Tokens:
        """The texts of a series whose values stand in the given rows."""
        import polars as pl

        missing = series.is_null()
        if series.dtype.is_float():
            missing = missing | series.is_nan().fill_null(True)
        if missing.any():
            raise _null(self, column, int(rows[int(missing.arg_max() or 0)]))
        is_text = isinstance(series.dtype, pl.String | pl.Categorical | pl.Enum)
        if len(series) and not (is_text or series.dtype.is_integer()):
            raise InputError(
                f"{_cell(self, column, int(rows[0]))}: {series.dtype} is neither text nor a whole number; convert it to text."
            )
        texts = series.cast(pl.String)
        lengths = texts.str.len_bytes().to_numpy().astype(np.int64)
        return Tokens(padded((texts.str.join("").item() or "").encode()), np.cumsum(lengths) - lengths, lengths)

    def ones(self, column: int) -> NDArray[np.int64] | None:
        """The rows with a 1."""
        import polars as pl

        series = self._frame.to_series(column)
        missing = series.is_null() | (series.is_nan() if series.dtype.is_float() else pl.Series([False]))
        if missing.any():
            raise _null(self, column, int(missing.arg_max() or 0))
        values = series.to_numpy()
        is_one = values == 1
        return np.flatnonzero(is_one) if bool((is_one | (values == 0)).all()) else None

    def label(self, column: int) -> str:
        """The column's name."""
        return label_of(self.names[column], f"{self.where}: column {column + 1}")


# -- pandas -----------------------------------------------------------------------------------------------------------


class PandasFrame:
    """A pandas frame; columns may have any names, even the same."""

    def __init__(self, frame: pd.DataFrame, where: str) -> None:
        self.where = where
        self._frame = frame
        self.names = [str(name) for name in frame.columns]
        self.n_rows = len(frame)

    def kind(self, column: int) -> str:
        """What the column holds."""
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
        """A column in slices."""
        series = self._frame.iloc[:, column]
        for start in range(0, self.n_rows, SLICE):
            part = series.iloc[start : start + SLICE]
            missing = part.isna().to_numpy(dtype=bool)
            if missing.any():
                raise _null(self, column, start + int(np.argmax(missing)))
            yield tokens_of([_text(self, column, row, value) for row, value in enumerate(part.tolist(), start=start)])

    def lists(self, column: int) -> Iterator[Part]:
        """A list column in slices."""
        series = self._frame.iloc[:, column]
        for start in range(0, self.n_rows, SLICE):
            lengths, texts = [], []
            for row, value in enumerate(series.iloc[start : start + SLICE], start=start):
                if not isinstance(value, list | tuple | set | frozenset | np.ndarray):
                    problem = "the list is null" if _is_missing(value) else "not a list"
                    raise InputError(
                        f"{_cell(self, column, row)}: {problem}; write an empty list for a record without items."
                    )
                lengths.append(len(value))
                texts += [_text(self, column, row, item) for item in value]
            yield Part(np.array(lengths, dtype=np.int64), tokens_of(texts))

    def ones(self, column: int) -> NDArray[np.int64] | None:
        """The rows with a 1."""
        series = self._frame.iloc[:, column]
        missing = series.isna().to_numpy(dtype=bool)
        if missing.any():
            raise _null(self, column, int(np.argmax(missing)))
        values = np.asarray(series)
        is_one = values == 1
        return np.flatnonzero(is_one) if bool((is_one | (values == 0)).all()) else None

    def label(self, column: int) -> str:
        """The column's name."""
        return label_of(self._frame.columns[column], f"{self.where}: column {column + 1}")


def _is_missing(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _text(frame: Frame, column: int, row: int, value: Any) -> bytes:
    text = value if isinstance(value, str) else label_of(value, _cell(frame, column, row))
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{_cell(frame, column, row)}: half a surrogate pair; give the item a proper name.") from None
