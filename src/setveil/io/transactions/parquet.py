"""Parquet: read through Polars, written byte by byte here.

The writer knows what this project needs and no more: required columns of text, of whole numbers, and of lists of text. Labels are
dictionary-encoded, nothing is compressed, and the footer carries neither library names nor versions, so the same data gives the same
bytes with every version of every library.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Transactions
from setveil.io.source import PARQUET, Source, one_line
from setveil.io.transactions.frames import PolarsFrame, from_frame

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP = 1_000_000  # rows
MAX_VALUES = 1 << 25  # of a list column in a row group; a page must stay below 2 GiB

# Numbers of the format's enumerations.
INT64, BYTE_ARRAY = 2, 6
REQUIRED, REPEATED = 0, 2
UTF8, LIST = 0, 3
PLAIN, RLE, RLE_DICTIONARY = 0, 3, 8
DATA_PAGE, DICTIONARY_PAGE = 0, 2


# -- reading ----------------------------------------------------------------------------------------------------------


def read_parquet(source: Source, id_column: str | None, item_column: str | None, keep_ids: bool) -> Transactions:
    """Read a list column, or one row per (id, item)."""
    data = from_frame(PolarsFrame(load(source), source.name), id_column, item_column, keep_ids, file_layout=True)
    if data.n_records == 0:
        raise source.error("the file holds no records.", None)
    return data


def load(source: Source) -> pl.DataFrame:
    """The whole file as a Polars frame; whatever Polars cannot read is an error with the file's name."""
    if not source.start().startswith(PARQUET):
        raise source.error("is not a Parquet file; name its layout with --format.", None)
    import polars as pl

    file: Path | IO[bytes] = source.path if source.path and source.is_plain_file else io.BytesIO(source.whole())
    try:
        with _silence():
            return pl.read_parquet(file, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as problem:
        reason = one_line(str(problem).partition("\n")[0], 80)
        raise source.error(f"the Parquet data is damaged ({reason}); write the file again.", None) from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep the process's standard error quiet: on damaged files Polars prints a stack trace before it raises."""
    try:
        kept = os.dup(2)
    except OSError:  # there is none
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


# -- writing ----------------------------------------------------------------------------------------------------------


class ListColumn:
    """A list of labels per row: CSR over a vocabulary."""

    def __init__(self, name: str, indptr: NDArray[np.int64], items: NDArray[np.int32], labels: Sequence[str]) -> None:
        self.name, self.indptr, self.items = name, indptr, items
        self.dictionary = _plain_texts(labels)
        self.n_labels = len(labels)

    path = ("list", "element")
    kind = BYTE_ARRAY

    def schema(self) -> list[bytes]:
        """The three elements of a list."""
        return [
            _struct(_int(3, REQUIRED), _text(4, self.name), _int(5, 1), _int(6, LIST), _nested(10, _nested(3))),
            _struct(_int(3, REPEATED), _text(4, "list"), _int(5, 1)),
            _struct(
                _int(1, BYTE_ARRAY), _int(3, REQUIRED), _text(4, "element"), _int(6, UTF8), _nested(10, _nested(1))
            ),
        ]

    def last_row(self, start: int) -> int:
        """Where a row group that begins at ``start`` must end at the latest."""
        return max(int(np.searchsorted(self.indptr, self.indptr[start] + MAX_VALUES, side="right")) - 1, start + 1)

    def pages(self, start: int, end: int) -> tuple[bytes | None, bytes, int]:
        """Dictionary page, data page and number of values of some rows."""
        lengths = np.diff(self.indptr[start : end + 1])
        n_entries = np.maximum(lengths, 1)  # an empty list has an entry that says so
        first = np.cumsum(n_entries) - n_entries
        goes_on = np.ones(int(n_entries.sum()), dtype=np.uint8)
        goes_on[first] = 0
        is_there = np.ones(len(goes_on), dtype=np.uint8)
        is_there[first[lengths == 0]] = 0
        codes = self.items[self.indptr[start] : self.indptr[end]]
        values = _levels(goes_on) + _levels(is_there) + _dictionary_codes(codes, self.n_labels)
        return (
            _page(DICTIONARY_PAGE, self.dictionary, self.n_labels),
            _page(DATA_PAGE, values, len(goes_on), RLE_DICTIONARY),
            len(goes_on),
        )


class LabelColumn:
    """A label per row, over a vocabulary."""

    path = ()
    kind = BYTE_ARRAY

    def __init__(self, name: str, codes: NDArray[np.int32], labels: Sequence[str]) -> None:
        self.name, self.codes = name, codes
        self.dictionary = _plain_texts(labels)
        self.n_labels = len(labels)

    def schema(self) -> list[bytes]:
        """One element."""
        return [
            _struct(_int(1, BYTE_ARRAY), _int(3, REQUIRED), _text(4, self.name), _int(6, UTF8), _nested(10, _nested(1)))
        ]

    def pages(self, start: int, end: int) -> tuple[bytes | None, bytes, int]:
        """Dictionary page, data page and number of values of some rows."""
        values = _dictionary_codes(self.codes[start:end], self.n_labels)
        return (
            _page(DICTIONARY_PAGE, self.dictionary, self.n_labels),
            _page(DATA_PAGE, values, end - start, RLE_DICTIONARY),
            end - start,
        )


class TextColumn(LabelColumn):
    """A text of its own per row."""

    def __init__(self, name: str, texts: Sequence[str], rows: NDArray[np.int64] | None = None) -> None:
        self.name, self.texts = name, texts
        self.rows = rows  # which text each row has; None for one after the other

    def pages(self, start: int, end: int) -> tuple[bytes | None, bytes, int]:
        """Data page and number of values of some rows."""
        rows = range(start, end) if self.rows is None else self.rows[start:end].tolist()
        return None, _page(DATA_PAGE, _plain_texts([self.texts[row] for row in rows]), end - start, PLAIN), end - start


class NumberColumn:
    """A whole number per row."""

    path = ()
    kind = INT64

    def __init__(self, name: str, numbers: NDArray[np.int64]) -> None:
        self.name, self.numbers = name, numbers

    def schema(self) -> list[bytes]:
        """One element."""
        return [_struct(_int(1, INT64), _int(3, REQUIRED), _text(4, self.name))]

    def pages(self, start: int, end: int) -> tuple[bytes | None, bytes, int]:
        """Data page and number of values of some rows."""
        return None, _page(DATA_PAGE, self.numbers[start:end].astype("<i8").tobytes(), end - start, PLAIN), end - start


Column = ListColumn | LabelColumn | NumberColumn


def encode(columns: Sequence[Column], n_rows: int) -> Iterator[bytes]:
    """A file with columns of the same length, in row groups of at most a million rows; piece by piece."""
    yield PARQUET
    offset = len(PARQUET)
    groups = []
    end = 0
    while end < n_rows:
        start = end
        end = min(
            start + ROW_GROUP, n_rows, *(part.last_row(start) for part in columns if isinstance(part, ListColumn))
        )
        chunks, group_size = [], 0
        for column in columns:
            dictionary, data, n_values = column.pages(start, end)
            if dictionary is not None:
                yield dictionary
            yield data
            first, size = offset, len(dictionary or b"") + len(data)
            offset += size
            group_size += size
            encodings = [PLAIN] if dictionary is None else [PLAIN, RLE, RLE_DICTIONARY]
            meta = [
                _int(1, column.kind), _list(2, 5, [_zigzag(code) for code in encodings]),
                _list(3, 8, [_binary(name) for name in (column.name, *column.path)]), _int(4, 0),
                _long(5, n_values), _long(6, size), _long(7, size), _long(9, offset - len(data)),
            ]  # fmt: skip
            if dictionary is not None:
                meta.append(_long(11, first))
            chunks.append(_struct(_long(2, first), (3, 12, _struct(*meta))))
        groups.append(_struct(_list(1, 12, chunks), _long(2, group_size), _long(3, end - start)))
    schema = [_struct(_text(4, "schema"), _int(5, len(columns)))]
    for column in columns:
        schema += column.schema()
    footer = _struct(_int(1, 1), _list(2, 12, schema), _long(3, n_rows), _list(4, 12, groups))
    yield footer + struct.pack("<I", len(footer)) + PARQUET


# -- pages ------------------------------------------------------------------------------------------------------------


def _page(kind: int, content: bytes, n_values: int, encoding: int = PLAIN) -> bytes:
    head = [_int(1, kind), _int(2, len(content)), _int(3, len(content))]
    if kind == DATA_PAGE:
        head.append(_nested(5, _int(1, n_values), _int(2, encoding), _int(3, RLE), _int(4, RLE)))
    else:
        head.append(_nested(7, _int(1, n_values), _int(2, PLAIN)))
    return _struct(*head) + content


def _plain_texts(texts: Sequence[str]) -> bytes:
    pieces = []
    for text in texts:
        encoded = text.encode()
        pieces += [struct.pack("<I", len(encoded)), encoded]
    return b"".join(pieces)


def _levels(levels: NDArray[np.uint8]) -> bytes:
    packed = _bit_packed(levels, 1)
    return struct.pack("<I", len(packed)) + packed


def _dictionary_codes(codes: NDArray[np.int32], n_labels: int) -> bytes:
    width = max(n_labels - 1, 1).bit_length()
    return bytes([width]) + _bit_packed(codes, width)


def _bit_packed(values: NDArray[Any], width: int) -> bytes:
    """One bit-packed run: groups of eight values, lowest bit first."""
    n_groups = -(-len(values) // 8)
    bits = np.zeros((n_groups * 8, width), dtype=np.uint8)
    for bit in range(width):
        bits[: len(values), bit] = (values >> bit) & 1
    return _varint((n_groups << 1) | 1) + np.packbits(bits, bitorder="little").tobytes()


# -- Thrift's compact protocol: (field number, type, bytes) ---------------------------------------------------------------

Field = tuple[int, int, bytes]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1)  # none is negative


def _binary(text: str) -> bytes:
    encoded = text.encode()
    return _varint(len(encoded)) + encoded


def _int(field: int, number: int) -> Field:
    return field, 5, _zigzag(number)


def _long(field: int, number: int) -> Field:
    return field, 6, _zigzag(number)


def _text(field: int, text: str) -> Field:
    return field, 8, _binary(text)


def _nested(field: int, *fields: Field) -> Field:
    return field, 12, _struct(*fields)


def _list(field: int, kind: int, elements: Sequence[bytes]) -> Field:
    head = bytes([len(elements) << 4 | kind]) if len(elements) < 15 else bytes([0xF0 | kind]) + _varint(len(elements))
    return field, 9, head + b"".join(elements)


def _struct(*fields: Field) -> bytes:
    """Fields in ascending order, less than 15 apart, and a stop."""
    out, last = [], 0
    for number, kind, content in fields:
        out.append(bytes([(number - last) << 4 | kind]) + content)
        last = number
    return b"".join(out) + b"\0"
