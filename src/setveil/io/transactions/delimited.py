"""Tables and baskets: fields separated by one character, quoted as RFC 4180 has it.

A chunk of lines is cut into fields all at once with NumPy. Whatever is odd (doubled quotes, stray quotes, lonely carriage returns)
goes through a scanner that looks at one field after the other; it is exact, slow, and words the errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.errors import name_some
from setveil.io.source import Source, one_line
from setveil.io.transactions.headers import is_known_header, is_turned_round
from setveil.io.transactions.labels import Ids, Labels, Tokens, assemble, assemble_rows, joined, padded, tokens_of

LONGEST_ID = 4096  # bytes


class Fields(NamedTuple):
    """The fields of some lines."""

    tokens: Tokens  # [fields]
    n_fields: NDArray[np.int64]  # [rows]
    lines: NDArray[np.int64]  # [rows] number of the line where the row begins


# -- long -------------------------------------------------------------------------------------------------------------


def read_long(
    source: Source, delimiter: str, id_column: str | None, item_column: str | None, keep_ids: bool
) -> Transactions:
    """Read a table with a header, one row per (id, item); an empty item says that the record is there."""
    labels, ids = Labels(), Ids()
    numbers: list[NDArray[np.int32]] = []  # [rows] item, -1 for none
    columns: tuple[int, int] | None = None
    header: list[str] = []
    gap: int | None = None  # an empty line; fine as long as nothing follows
    for chunk, line in source.lines(quoted=True):
        fields = split_fields(source, chunk, line, delimiter)
        if columns is None:
            header = [text.decode(errors="replace") for text in _row(fields, 0)]
            columns = pick_columns(source, header, delimiter, id_column, item_column)
            fields = _without_first_row(fields)
        fields, gap = _without_gap(source, fields, gap)
        wrong = np.flatnonzero(fields.n_fields != len(header))
        if len(wrong):
            row = int(wrong[0])
            raise source.error(
                f"the row has {int(fields.n_fields[row])} field(s), the header has {len(header)}; "
                "quote fields that hold the delimiter.",
                int(fields.lines[row]),
            )
        id_tokens = fields.tokens.pick(slice(columns[0], None, len(header)))
        item_tokens = fields.tokens.pick(slice(columns[1], None, len(header)))
        _check_ids(source, id_tokens, fields.lines)
        if not ids and not is_known_header(header):
            _refuse_headless(source, header[columns[0]], id_tokens)
        ids.add(id_tokens)
        has_item = item_tokens.lengths > 0
        found = np.full(len(has_item), -1, dtype=np.int32)
        found[has_item] = labels.number(item_tokens.pick(has_item))
        numbers.append(found)
    records, n_records, texts = ids.number(keep_ids)
    if n_records == 0 or columns is None:
        raise source.error("the table has a header but no rows.", 1)
    items = joined(numbers, np.int32)
    has_item = items >= 0
    if not has_item.all():
        records, items = records[has_item], items[has_item]
    layout = Layout("long", delimiter, header[columns[0]], header[columns[1]])
    return assemble(records, items, n_records, labels.texts(), layout, texts)


def pick_columns(
    source: Source, header: Sequence[str], delimiter: str, id_column: str | None, item_column: str | None
) -> tuple[int, int]:
    """Where ids and items stand; without names they are the two columns of a table that has no more."""
    if header[0].lower() == "sep=" or header[0].lower().startswith("sep=" + delimiter):
        raise source.error('the first line is a note for a spreadsheet ("sep="); remove it.', 1)
    shown = f"the header has {len(header)} column(s)"
    if 1 < len(header) <= 20:
        shown += f" ({name_some((one_line(name, 30) for name in header), 20)})"
    if id_column is None and item_column is None:
        if len(header) != 2:
            hint = "say which hold ids and items with --id-column and --item-column"
            if len(header) < 2:
                hint = f'write a header of two columns separated by "{one_line(delimiter)}", or use --delimiter'
            raise source.error(f"{shown}; {hint}.", 1)
        if any(name.isascii() and name.isdigit() for name in header):
            raise source.error(
                "the first line holds a number, not column names; put a header such as id,item above.", 1
            )
        if is_turned_round(header):
            raise source.error(f"{shown}, the ids seem to come second; use --id-column and --item-column.", 1)
        return 0, 1
    places = []
    for option, name in (("--id-column", id_column), ("--item-column", item_column)):
        if name is None:
            continue
        found = [place for place, known in enumerate(header) if known == name]
        if not found:
            raise source.error(f'{shown} and no column "{one_line(name)}"; correct {option}.', 1)
        if len(found) > 1:
            raise source.error(f'the header names column "{one_line(name)}" {len(found)} times; rename one.', 1)
        places.append(found[0])
    if len(places) == 1:
        if len(header) != 2:
            missing = "--item-column" if item_column is None else "--id-column"
            raise source.error(f"{shown}; add {missing}.", 1)
        places.insert(0 if id_column is None else 1, 1 - places[0])
    if places[0] == places[1]:
        raise source.error("ids and items cannot stand in the same column; correct --id-column or --item-column.", 1)
    return places[0], places[1]


def _check_ids(source: Source, tokens: Tokens, lines: NDArray[np.int64]) -> None:
    if (tokens.lengths == 0).any():
        row = int(np.argmin(tokens.lengths))
        raise source.error("the row has no id; give every row the id of its record.", int(lines[row]))
    if tokens.lengths.max(initial=0) > LONGEST_ID:
        row = int(np.argmax(tokens.lengths))
        raise source.error(
            f"the id is longer than {LONGEST_ID:,} bytes; look for a quote that does not end.", int(lines[row])
        )


def _refuse_headless(source: Source, name: str, tokens: Tokens) -> None:
    """A first line whose id comes again below is a record, not a header."""
    first = {tokens.text(row) for row in range(min(len(tokens.starts), 1000))}
    if name.encode() in first:
        raise source.error("the first line looks like a row; put a header such as id,item above it.", 1)


def _row(fields: Fields, row: int) -> list[bytes]:
    first = int(fields.n_fields[:row].sum())
    return [fields.tokens.text(place) for place in range(first, first + int(fields.n_fields[row]))]


def _without_first_row(fields: Fields) -> Fields:
    return Fields(fields.tokens.pick(slice(int(fields.n_fields[0]), None)), fields.n_fields[1:], fields.lines[1:])


def _without_gap(source: Source, fields: Fields, gap: int | None) -> tuple[Fields, int | None]:
    """Without the empty lines at the end of a table; an empty line before a row is an error."""
    first_field = np.cumsum(fields.n_fields) - fields.n_fields
    is_empty = (fields.n_fields == 1) & (fields.tokens.lengths[first_field] == 0)
    if not is_empty.any():
        if gap is not None and len(is_empty):
            raise source.error("an empty line between rows; remove it.", gap)
        return fields, gap
    n_rows = len(is_empty) - int(np.argmin(is_empty[::-1])) if not is_empty.all() else 0
    gaps = fields.lines[np.flatnonzero(is_empty)]
    gap = int(gaps[0]) if gap is None else gap
    if n_rows and gap < int(fields.lines[n_rows - 1]):
        raise source.error("an empty line between rows; remove it.", gap)
    kept = int(first_field[n_rows]) if n_rows < len(is_empty) else len(fields.tokens.starts)
    return Fields(fields.tokens.pick(slice(0, kept)), fields.n_fields[:n_rows], fields.lines[:n_rows]), gap


# -- basket -----------------------------------------------------------------------------------------------------------


def read_basket(source: Source, delimiter: str) -> Transactions:
    """Read the items of one record per line; an empty line is a record without items."""
    labels = Labels()
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    for chunk, line in source.lines(quoted=True):
        tokens, n_fields, lines = split_fields(source, chunk, line, delimiter)
        row_of = np.repeat(np.arange(len(n_fields)), n_fields)
        is_empty = tokens.lengths == 0
        # Empty fields at the end of a line are padding, as spreadsheets write it; elsewhere something is missing.
        lost = np.flatnonzero(is_empty[:-1] & ~is_empty[1:] & (row_of[:-1] == row_of[1:]))
        if len(lost):
            raise source.error(
                "an empty field before an item; name the item or remove it.", int(lines[row_of[lost[0]]])
            )
        numbers.append(labels.number(tokens.pick(~is_empty)))
        lengths.append(np.bincount(row_of[~is_empty], minlength=len(n_fields)))
    n_items = joined(lengths, np.int64)
    if len(n_items) == 0:
        raise source.error("the file holds no records.", None)
    return assemble_rows(n_items, joined(numbers, np.int32), labels.texts(), Layout("basket", delimiter))


# -- fields -----------------------------------------------------------------------------------------------------------


def split_fields(source: Source, chunk: bytes, line: int, delimiter: str) -> Fields:
    """Cut whole lines into fields; anything that RFC 4180 does not allow is an error with its line."""
    fields = _split_at_once(chunk, line, ord(delimiter))
    if fields is not None:
        return fields
    rows = scan_rows(source, chunk, line, delimiter)
    n_fields = np.array([len(row) for _, row in rows], dtype=np.int64)
    lines = np.array([where for where, _ in rows], dtype=np.int64)
    return Fields(tokens_of([text for _, row in rows for text in row]), n_fields, lines)


def _split_at_once(chunk: bytes, line: int, delimiter: int) -> Fields | None:
    """The fields of ordinary lines, None for a chunk that needs a closer look."""
    buffer = padded(chunk)
    text = buffer[: len(chunk)]
    is_line_end = text == ord("\n")
    stops = np.flatnonzero(is_line_end | (text == delimiter))
    quotes = np.flatnonzero(text == ord('"')) if b'"' in chunk else None
    if quotes is not None:
        stops = stops[np.searchsorted(quotes, stops) % 2 == 0]  # what stands between quotes stops nothing
        if len(stops) == 0 or stops[-1] != len(chunk) - 1:
            return None
    starts = np.concatenate((np.zeros(1, dtype=np.int64), stops[:-1] + 1))
    last = np.flatnonzero(is_line_end[stops])  # [rows] their last fields
    n_fields = np.diff(last, prepend=-1)
    first = last - n_fields + 1
    ends = stops
    if b"\r" in chunk:
        ends = stops.copy()
        ends[last] -= (text[stops[last] - 1] == ord("\r")) & (stops[last] > starts[last])
        lonely = np.flatnonzero(text == ord("\r"))
        if len(lonely) != int((ends != stops).sum()):
            return None
    lines = line + np.arange(len(last))
    lengths = ends - starts
    if quotes is not None:
        if len(last) != int(is_line_end.sum()):
            lines = line + np.searchsorted(np.flatnonzero(is_line_end), starts[first])
        n_quotes = np.diff(np.searchsorted(quotes, stops), prepend=0)
        quoted = np.flatnonzero(n_quotes)
        closed = (text[starts[quoted]] == ord('"')) & (text[ends[quoted] - 1] == ord('"'))
        if (n_quotes[quoted] != 2).any() or not closed.all():
            return None
        starts[quoted] += 1
        lengths[quoted] -= 2
    return Fields(Tokens(buffer, starts, lengths), n_fields, lines)


def scan_rows(source: Source, chunk: bytes, line: int, delimiter: str) -> list[tuple[int, list[bytes]]]:
    """``(line, fields)`` row by row, one field after the other."""
    field = _field_pattern(delimiter)
    rows: list[tuple[int, list[bytes]]] = []
    row: list[bytes] = []
    place, row_line = 0, line
    while place < len(chunk):
        match = field.match(chunk, place)
        if match is None:
            raise source.error(_what_is_wrong(chunk, place), line)
        quoted, plain, stop = match.groups()
        row.append(plain if quoted is None else quoted.replace(b'""', b'"'))
        line += chunk.count(b"\n", place, match.end())
        place = match.end()
        if stop.endswith(b"\n"):
            rows.append((row_line, row))
            row, row_line = [], line
    return rows


@cache
def _field_pattern(delimiter: str) -> re.Pattern[bytes]:
    stop = re.escape(delimiter.encode())
    return re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"|([^"\r\n%s]*))(%s|\r?\n)' % (stop, stop))


def _what_is_wrong(chunk: bytes, place: int) -> str:
    if chunk[place : place + 1] == b'"':
        if re.compile(rb'"[^"]*(?:""[^"]*)*"(?!")').match(chunk, place):
            return "text after a closing quote; double the quotes inside a quoted field."
        return "a quoted field does not end; close it by a quote."
    if chunk[re.compile(rb'[^"\r]*').match(chunk, place).end()] == ord('"'):  # type: ignore[union-attr]
        return "a quote inside a field that is not quoted; put the field in quotes and double the quotes in it."
    return "a carriage return inside the line; end lines by line feeds, or put the field in quotes."
