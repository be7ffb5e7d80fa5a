"""FIMI and SPMF: one record per line, items are whole numbers separated by blanks.

SPMF adds lines that start with ``@`` (``@ITEM=7=milk`` names item 7), comments (``#``, ``%``), ``-1`` between and
``-2`` after the items. Numbers are labels: ``007`` and ``7`` are two items.
"""

from __future__ import annotations

import re
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.threads import map_in_order
from setveil.core.transactions import Layout, Transactions
from setveil.io.formats.base import Plan
from setveil.io.options import ReadOptions
from setveil.io.source import Source, one_line
from setveil.io.transactions.labels import (
    Labels,
    Numbered,
    Tokens,
    assemble_rows,
    joined,
    number_apart,
)

DIGITS, BLANKS, EVERYTHING = b"0123456789", b" \t\r\n", bytes(range(256))
_IS_TEXT = bytes(byte not in BLANKS for byte in EVERYTHING)  # for bytes.translate: 1 for text, 0 for a blank


class Lines(NamedTuple):
    """The tokens of some lines, and how many each line has."""

    tokens: Tokens
    n_tokens: NDArray[np.int64]  # [lines]


class Names:
    """What ``@ITEM`` lines say, both ways."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}  # item → name
        self.item: dict[str, str] = {}  # name → item

    def take(self, source: Source, row: str, line: int) -> None:
        """One line that starts with ``@``; all but ``@ITEM`` are remarks."""
        if not row.startswith("@ITEM="):
            return
        item, equals, name = row.removeprefix("@ITEM=").partition("=")
        if item in ("-1", "-2"):
            return  # SPMF names its separators, too
        if not (equals and name and item.isascii() and item.isdigit()):
            raise source.error('an @ITEM line must look like "@ITEM=7=milk".', line)
        if self.of.setdefault(item, name) != name:
            raise source.error(
                f'item {item} has two names, "{one_line(self.of[item])}" and "{one_line(name)}"; keep one.', line
            )
        if self.item.setdefault(name, item) != item:
            raise source.error(
                f'items {self.item[name]} and {item} have the same name "{one_line(name)}"; rename one.', line
            )


def read_fimi(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Read whole numbers separated by blanks."""
    labels = Labels()
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    for n_tokens, items in map_in_order(partial(_read_lines, source), source.lines()):
        lengths.append(n_tokens)
        numbers.append(labels.merge(items))
    return _records(source, numbers, lengths, labels.texts(), Layout("fimi")), plan


def _read_lines(source: Source, lines: tuple[bytes, int]) -> tuple[NDArray[np.int64], Numbered]:
    """How many items each of some lines has, and the items, anything but numbers refused."""
    chunk, line = lines
    found = split_blanks(chunk)
    _refuse_other(source, chunk, line, DIGITS, "fimi")
    return found.n_tokens, number_apart(found.tokens)


def read_spmf(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Read SPMF's transaction or sequence layout; the items of a sequence become a set."""
    has_names = bool(plan.kind)  # items may be words
    allowed = EVERYTHING if has_names else DIGITS + b"-"
    labels = Labels()
    names = Names()
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    first_use: list[int] = []  # [labels] line
    for chunk, line in source.lines():
        chunk, is_record = _take_out_marked_lines(source, chunk, line, names)
        lines = split_blanks(chunk)
        _refuse_other(source, chunk, line, allowed, "spmf")
        items, n_items = _drop_separators(source, lines, line, has_names)
        numbers.append(labels.number(items))
        fresh = np.flatnonzero(numbers[-1] >= len(first_use))
        _, first = np.unique(numbers[-1][fresh], return_index=True)
        first_use += (line + np.searchsorted(np.cumsum(n_items), fresh[first], side="right")).tolist()
        lengths.append(n_items[is_record])
    texts = labels.texts()
    if names.of:
        for text, line in zip(texts, first_use, strict=True):
            if text not in names.of:
                raise source.error(f'item {text} has no @ITEM line; add "@ITEM={text}=name".', line)
        texts = [names.of[text] for text in texts]
    return _records(source, numbers, lengths, texts, Layout("spmf")), plan


def split_blanks(chunk: bytes) -> Lines:
    """Tokens between blanks, line by line."""
    buffer = np.frombuffer(chunk, dtype=np.uint8)
    is_text = np.frombuffer(chunk.translate(_IS_TEXT), dtype=bool)
    edges = np.flatnonzero(np.diff(is_text, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    line_ends = np.flatnonzero(buffer == ord("\n"))
    n_tokens = np.diff(np.searchsorted(starts, line_ends), prepend=0)
    return Lines(Tokens(buffer, starts, ends - starts), n_tokens)


def _refuse_other(source: Source, chunk: bytes, line: int, allowed: bytes, layout: str) -> None:
    """Refuse a chunk with any other byte than blanks and what items are made of; name the token and the line."""
    others = chunk.translate(None, allowed + BLANKS)
    found = [chunk.index(others[:1])] if others else []
    if lonely := re.search(rb"\r(?!\n)", chunk):
        found.append(lonely.start())
    if not found:
        return
    place = min(found)
    where = line + chunk.count(b"\n", 0, place)
    if chunk[place : place + 1] == b"\r":
        raise source.error("a carriage return inside the line; end lines with line feeds.", where)
    start = max(chunk.rfind(blank, 0, place) for blank in (b" ", b"\t", b"\r", b"\n")) + 1
    token = re.match(rb"[^ \t\r\n]*", chunk[start : start + 100]).group()  # type: ignore[union-attr]
    shown = one_line(token.decode(errors="replace"), 30)
    if layout == "fimi" and token in (b"-1", b"-2"):
        raise source.error(f'"{shown}" is not an item; use --format spmf if it ends a set or a record.', where)
    raise source.error(
        f'"{shown}" is not a whole number, as {layout} needs them; use --format basket for names.', where
    )


def _take_out_marked_lines(source: Source, chunk: bytes, line: int, names: Names) -> tuple[bytes, NDArray[np.bool_]]:
    """The chunk with ``@`` lines and comments blanked out, and which lines are records."""
    n_lines = chunk.count(b"\n")
    is_record = np.ones(n_lines, dtype=bool)
    if not any(mark in chunk for mark in (b"@", b"#", b"%")):
        return chunk, is_record
    rows = chunk.split(b"\n")
    for place in range(n_lines):
        row = rows[place]
        if row[:1] == b"@":
            names.take(source, row.removesuffix(b"\r").decode(), line + place)
        if row[:1] in (b"@", b"#", b"%"):
            rows[place] = b""
            is_record[place] = False
    return b"\n".join(rows), is_record


def _drop_separators(source: Source, lines: Lines, line: int, has_names: bool) -> Lines:
    """Without ``-1`` and ``-2``; any other number with a minus sign is refused, and so is an item after ``-2``."""
    buffer, starts, lengths = lines.tokens
    signed = np.flatnonzero(buffer[starts] == ord("-"))
    has_minus = np.flatnonzero(buffer == ord("-"))
    if len(has_minus) == 0:
        return lines
    second = buffer[starts[signed] + 1]
    is_end = second == ord("2")
    proper = (lengths[signed] == 2) & ((second == ord("1")) | is_end)
    line_of = np.repeat(np.arange(len(lines.n_tokens)), lines.n_tokens)
    if has_names:  # a word may hold a minus sign
        signed, is_end = signed[proper], is_end[proper]
    elif len(has_minus) != len(signed) or not proper.all():
        known = set(starts[signed[proper]].tolist())
        place = next(int(place) for place in has_minus if int(place) not in known)
        token = int(np.searchsorted(starts, place, side="right")) - 1
        shown = one_line(lines.tokens.text(token).decode(), 30)
        raise source.error(
            f'"{shown}" is not an item; spmf knows whole numbers, -1 and -2 only.', line + int(line_of[token])
        )
    ends = signed[is_end]
    last = np.cumsum(lines.n_tokens) - 1  # [lines] their last tokens
    early = ends[ends != last[line_of[ends]]]
    if len(early):
        raise source.error("-2 ends a record; begin the next one on a new line.", line + int(line_of[early[0]]))
    keep = np.ones(len(starts), dtype=bool)
    keep[signed] = False
    n_items = np.bincount(line_of[keep], minlength=len(lines.n_tokens))
    return Lines(lines.tokens.pick(keep), n_items)


def _records(
    source: Source,
    numbers: list[NDArray[np.int32]],
    lengths: list[NDArray[np.int64]],
    labels: list[str],
    layout: Layout,
) -> Transactions:
    n_items = joined(lengths, np.int64)
    if len(n_items) == 0:
        raise source.error("the file holds no records.", None)
    return assemble_rows(n_items, joined(numbers, np.int32), labels, layout)
