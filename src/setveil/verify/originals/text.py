"""The rows of a text file, all of them or some: the second reader's own way from bytes to rows."""

from __future__ import annotations

import codecs
import gzip
import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.provenance import Interpretation
from setveil.errors import UncheckedError
from setveil.verify.originals.cells import DifferentError
from setveil.verify.originals.workbooks import sheet_lines

BLOCK = 1 << 21  # bytes: what is computed for a block stays in the cache, and its memory is used again
LINE_FEED, QUOTE = 10, 34
TABLES = ("long", "wide", "onehot", "table")  # layouts
QUOTED = (*TABLES, "basket")  # layouts in which a line feed between quotes ends no row


class Rows(NamedTuple):
    """Whole rows of a file, one after the other."""

    first: int  # number of the first one, from 0
    text: bytes
    ends: NDArray[np.int64]  # [rows] the place behind each row's line feed

    def row(self, place: int) -> str:
        """One row, without its line end."""
        start = int(self.ends[place - 1]) if place else 0
        return self.text[start : int(self.ends[place]) - 1].decode().removesuffix("\r")

    def all(self) -> Iterator[str]:
        """Every row, without its line end."""
        lines = self.text.decode().split("\n")[:-1]
        if len(lines) == len(self.ends):  # no line feed between quotes
            return (line.removesuffix("\r") for line in lines)
        return map(self.row, range(len(self.ends)))


def digest_of(path: str) -> str:
    """SHA-256 of the file as it lies there."""
    digest = hashlib.sha256()
    with _opened(path) as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _opened(path: str) -> BinaryIO:
    if not Path(path).is_file():
        raise UncheckedError("the file is not there any more.")
    return open(path, "rb")


def content_of(path: str) -> bytes:
    """The whole file, unpacked."""
    with _opened(path) as file:
        content = file.read()
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def text_of(form: Interpretation) -> str:
    """The whole file as text, without byte order mark."""
    assert form.path is not None
    return content_of(form.path).decode(form.encoding).removeprefix("\ufeff")


def rows_of(form: Interpretation) -> Iterator[Rows]:
    """All rows of a file, some megabytes at a time."""
    rest, first, is_quoted = b"", 0, form.container in QUOTED
    for block in _blocks(form):
        text = rest + block
        ends = _row_ends(text, is_quoted)
        if not len(ends):
            rest = text
            continue
        text, rest = text[: ends[-1]], text[ends[-1] :]
        yield Rows(first, text, ends)
        first += len(ends)
    if rest:
        text = rest + b"\n"
        ends = _row_ends(text, is_quoted)
        if not len(ends) or ends[-1] != len(text):
            raise DifferentError(first + 1)
        yield Rows(first, text, ends)


def chosen_rows(form: Interpretation, chosen: Sequence[int] | None) -> Iterator[tuple[int, str]]:
    """``(number from 0, row)`` of the chosen rows, which are ascending, or of all."""
    for rows in rows_of(form):
        if chosen is None:
            yield from enumerate(rows.all(), rows.first)
            continue
        last = rows.first + len(rows.ends)
        for number in chosen[bisect_left(chosen, rows.first) : bisect_left(chosen, last)]:
            yield number, rows.row(number - rows.first)


def _blocks(form: Interpretation) -> Iterator[bytes]:
    """UTF-8 without byte order mark, lines ended by line feeds."""
    assert form.path is not None
    if form.is_workbook:
        yield from sheet_lines(content_of(form.path), form.sheet)
        return
    decoder = codecs.getincrementaldecoder(form.encoding)()
    is_first = True
    with _opened(form.path) as file:
        is_packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        source = gzip.GzipFile(fileobj=file) if is_packed else file
        while True:
            block = source.read(BLOCK)
            text = decoder.decode(block, final=not block)
            if is_first and text:
                text, is_first = text.removeprefix("\ufeff"), False
            if form.ends_in_carriage_returns:
                text = text.replace("\r", "\n")
            yield text.replace("::", "\x1f").encode() if form.delimiter == "::" else text.encode()
            if not block:
                return


def _row_ends(text: bytes, is_quoted: bool) -> NDArray[np.int64]:
    """The positions behind the line feeds that end a row: not those between quotes."""
    signs = np.frombuffer(text, dtype=np.uint8)
    positions = np.flatnonzero(signs == LINE_FEED)
    if is_quoted and b'"' in text:
        is_open = np.cumsum(signs == QUOTE, dtype=np.uint8) & 1  # wraps around; odd stays odd
        positions = positions[is_open[positions] == 0]
    return positions + 1


def delimiter_of(form: Interpretation) -> str:
    """One character; ``::`` was replaced on the way in."""
    return "\x1f" if form.delimiter == "::" else form.delimiter
