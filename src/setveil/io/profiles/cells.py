"""The columns of any table as numbers of values: delimited text, Parquet, JSON records, frames.

Nothing is decided here. ``read_table`` only needs to know where cells begin and end, so it reads tables whose columns
nobody has explained yet.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.errors import InputError, one_line
from setveil.io.formats.base import Plan, Start
from setveil.io.formats.registry import FORMATS
from setveil.io.options import ReadOptions
from setveil.io.source import PARQUET, EncodingError, Source, guessed_encoding
from setveil.io.transactions.columns import LIST, Frame
from setveil.io.transactions.delimited import table_rows
from setveil.io.transactions.delimiters import choose_delimiter, first_rows
from setveil.io.transactions.labels import Labels, joined, number_apart, tokens_of
from setveil.io.transactions.missing import NOT_A_NUMBER, WORDS
from setveil.io.transactions.tables import plan_table

MOST_ROWS = 500_000  # rows looked at; whoever has more sees the same in these
LISTED = "|"  # between the items of a list that a record holds


@dataclass(frozen=True, eq=False)
class CellColumn:
    """The cells of a column: numbers of its values, and the text of each. Words for "missing" are values here."""

    name: str
    numbers: NDArray[np.int32]  # [rows] -1 for an empty cell
    texts: tuple[str, ...]
    holds_lists: bool = False  # the format says so

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many rows have each value."""
        return np.bincount(self.numbers[self.numbers >= 0], minlength=len(self.texts))

    @property
    def n_empty(self) -> int:
        """Rows with an empty cell."""
        return int((self.numbers < 0).sum())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The values that are words for "missing", as ``?`` and ``NA``."""
        return tuple(text for text in self.texts if text.strip() in WORDS | NOT_A_NUMBER)

    @cached_property
    def present(self) -> CellColumn:
        """The same with every word for "missing" and white space alone as empty cells."""
        is_gone = np.array([not text.strip() or text in self.words for text in self.texts], dtype=bool)
        if not is_gone.any():
            return self
        numbers = np.append(np.where(is_gone, -1, np.cumsum(~is_gone) - 1), -1).astype(np.int32)
        left = tuple(text for text, gone in zip(self.texts, is_gone, strict=True) if not gone)
        return replace(self, numbers=numbers[self.numbers], texts=left)


@dataclass(frozen=True)
class CellTable:
    """All columns of a table, or those of its first rows."""

    name: str  # of the file, or the kind of object
    columns: tuple[CellColumn, ...]
    n_rows: int
    is_partial: bool = False  # there are more rows
    has_header: bool = True
    is_file: bool = True


def read_table(source: Any, options: ReadOptions) -> CellTable:
    """The table in a file or object; an error if it has no columns."""
    if not (isinstance(source, str | os.PathLike) or hasattr(source, "read")):
        from setveil.io.transactions.objects import frame_of

        frame = frame_of(source, options)
        if frame is None:
            raise InputError(f"{type(source).__name__} has no columns; only tables, frames and lists of dicts have.")
        return _of_frame(frame, type(source).__name__, is_file=False)
    try:
        return _read_file(source, options)
    except EncodingError:
        guessed = guessed_encoding(source, options.encoding)
        if guessed is None:
            raise
    return _read_file(source, replace(options, encoding=guessed))


def table_of_rows(names: Sequence[str], rows: Iterable[Sequence[str]]) -> CellTable:
    """The table of rows of text; shorter rows lack their last cells."""
    several = list(rows)
    columns = [
        _column(column, [(row[place] if place < len(row) else "").encode() for row in several])
        for place, column in enumerate(names)
    ]
    return CellTable("", tuple(columns), len(several), is_partial=True)


def _read_file(source: Any, options: ReadOptions) -> CellTable:
    with Source(source, options.encoding, sheet=options.sheet) as opened:
        if not opened.start():
            raise opened.error("the file is empty.", None)
        name = Path(opened.name).name
        if opened.start().startswith(PARQUET):
            from setveil.io.transactions.parquet import open_frame

            return _of_frame(open_frame(opened), name)
        start = Start(opened, options)
        for format in FORMATS.values():
            if format.sniff is not None and (plan := format.sniff(start)) is not None:
                return _of_format(opened, plan, name)
        read = None if options.format else _plan_of_reading(opened, options)
        if read is not None and read.layout == "basket":
            raise _no_columns(opened, "basket")
        if read is not None and not read.has_header:
            options = replace(options, no_header=True)
        return _of_text(opened, options, name)


def _of_format(source: Source, plan: Plan, name: str) -> CellTable:
    """Records of a format that its first lines show."""
    if FORMATS[plan.layout].has_keys:
        return _of_objects(source, _json_records(source, plan), name)
    raise _no_columns(source, plan.layout)


def _no_columns(source: Source, layout: str) -> InputError:
    return source.error(
        f"the file is {FORMATS[layout].words}, which has no columns; every line is a record. Read it without "
        "roles, or name another layout with --format.",
        1,
    )


def _plan_of_reading(source: Source, options: ReadOptions) -> Plan | None:
    """How the file is read where no roles are stated; None where that is asked about, and a proposal answers."""
    try:
        return plan_table(source, options)
    except InputError:
        return None


def _of_text(source: Source, options: ReadOptions, name: str) -> CellTable:
    delimiter = options.delimiter or choose_delimiter(source, "long", options)
    first = first_rows(source, source.sample(), delimiter)[0]
    if len(first) < 2:
        raise source.error("the first line has one field, so that there are no columns; set --delimiter.", 1)
    names = tuple(str(place + 1) for place in range(len(first))) if options.no_header else tuple(first)
    plan = Plan("table", "", delimiter, names, not options.no_header)
    labels = [Labels() for _ in names]
    parts: list[list[NDArray[np.int32]]] = [[] for _ in names]
    n_rows, is_partial = 0, False
    for fields in table_rows(source, plan, options):
        for place in range(len(names)):
            parts[place].append(labels[place].merge(number_apart(fields.tokens, place, len(names))))
        n_rows += len(fields.lines)
        if n_rows >= MOST_ROWS:
            is_partial = True
            break
    shown = [column or f"column {place + 1}" for place, column in enumerate(names)]
    columns = tuple(
        CellColumn(shown[place], joined(parts[place], np.int32), tuple(labels[place].texts()))
        for place in range(len(names))
    )
    return CellTable(name, columns, n_rows, is_partial, not options.no_header)


def _of_frame(frame: Frame, name: str, is_file: bool = True) -> CellTable:
    columns = []
    for place, column in enumerate(frame.names):
        if frame.kind(place) == LIST:
            columns.append(CellColumn(column, np.zeros(frame.n_rows, dtype=np.int32), ("",), holds_lists=True))
            continue
        labels = Labels()
        parts = [labels.merge(number_apart(tokens)) for tokens in frame.cells(place)]
        columns.append(CellColumn(column, joined(parts, np.int32), tuple(labels.texts())))
    if len(columns) < 2:
        raise InputError(f"{frame.where}: there is one column only, so that no roles are to be chosen.")
    return CellTable(name, tuple(columns), frame.n_rows, is_file=is_file)


def _json_records(source: Source, plan: Plan) -> Iterator[dict[str, Any]]:
    """Objects, one per line or one array of them."""
    if plan.layout == "json":
        from setveil.io.transactions.json_files import parse_json

        content = parse_json(source)
        if isinstance(content, dict) and len(content) == 1:
            (content,) = content.values()
        records: Iterable[Any] = content if isinstance(content, list) else ()
    else:
        records = (
            json.loads(line, parse_int=str)
            for chunk, _ in source.lines()
            for line in chunk.splitlines()
            if line.strip()
        )
    try:
        for record in records:
            if not isinstance(record, dict):
                raise source.error("the records are lists without keys, so that there are no columns.", 1)
            yield record
    except json.JSONDecodeError as problem:
        raise source.error(f"invalid JSON ({problem.msg}); write one record per line.", None) from None


def _of_objects(source: Source, records: Iterator[dict[str, Any]], name: str) -> CellTable:
    several = [record for record, _ in zip(records, range(MOST_ROWS), strict=False)]
    names = list(dict.fromkeys(key for record in several for key in record))
    if len(names) < 2:
        raise source.error("the records have fewer than two keys, so that no roles are to be chosen.", 1)
    columns = []
    for key in names:
        values = [record.get(key) for record in several]
        lists = any(isinstance(value, list) for value in values)
        columns.append(replace(_column(key, [_text(value) for value in values]), holds_lists=lists))
    return CellTable(name, tuple(columns), len(several), len(several) == MOST_ROWS)


def _text(value: Any) -> bytes:
    if value is None or isinstance(value, dict):
        return b""
    if isinstance(value, list):
        return LISTED.join(map(str, value)).encode(errors="replace")
    return (str(value).lower() if isinstance(value, bool) else str(value)).encode(errors="replace")


def _column(name: str, texts: list[bytes]) -> CellColumn:
    labels = Labels()
    numbers = labels.merge(number_apart(tokens_of(texts)))
    return CellColumn(one_line(name, 200), numbers, tuple(labels.texts()))
