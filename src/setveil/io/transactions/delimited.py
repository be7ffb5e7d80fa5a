"""Tables and baskets: fields separated by one character, quoted as RFC 4180 has it.

A chunk of lines is cut into fields all at once with NumPy. Whatever is odd (doubled quotes, stray quotes, lonely
carriage returns) goes through a scanner that looks at one field after the other; it is exact, slow, and words the
errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.threads import map_in_order
from setveil.core.transactions import Layout, Transactions
from setveil.errors import times
from setveil.io.formats.base import Plan
from setveil.io.options import RATINGS, ReadOptions
from setveil.io.source import BOM, Source, one_line
from setveil.io.transactions.headers import is_known_header
from setveil.io.transactions.labels import (
    Ids,
    Labels,
    Numbered,
    Tokens,
    assemble_records,
    assemble_rows,
    joined,
    number_apart,
    tokens_of,
)
from setveil.io.transactions.missing import MissingCells
from setveil.io.transactions.people import ColumnCells, finish_people
from setveil.io.transactions.relabel import drop_weights

LONGEST_ID = 4096  # bytes
FIRST = 1000  # rows whose ids are compared with the header
NOTE = 30  # characters; a longer text of several words, alone in its row, is a note
GAP = "an empty line between rows; remove it, and whatever below it is not part of the table."
FOOTER = re.compile(
    r"(?:grand |sub)?totals?:?|sums?:?|summe:?|gesamt:?|somme:?|suma:?|(?:row )?counts?:?|average:?|mean:?|eof|"
    r"(?:source|sources|note|notes|quelle|legend)\b.*|\*+.*|\([0-9][0-9,.]* (?:rows?|records?)\b.*\)|"
    r"[0-9][0-9,.]* (?:rows?|records?) (?:affected|selected|returned|in set)\b.*|page [0-9]+ (?:of|/) [0-9]+|"
    r"(?:generated|exported|created|printed) (?:on|at|by)\b.*",
    re.IGNORECASE,
)
LAST = 5  # rows that may be a footer
TAIL = 1 << 14  # bytes in which these stand
UNIT = "\x1f"  # stands for a delimiter of two characters


class Fields(NamedTuple):
    """The fields of some lines."""

    tokens: Tokens  # [fields]
    n_fields: NDArray[np.int64]  # [rows]
    lines: NDArray[np.int64]  # [rows] number of the line where the row begins


# -- long -------------------------------------------------------------------------------------------------------------


def read_long(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Read one row per (id, item), and count the rows; an empty item says that the record is there."""
    assert plan.id_position is not None
    width = len(plan.names)
    labels, ids, missing = Labels(), Ids(), MissingCells(options)
    cells = ColumnCells(plan, MissingCells(options, is_stripped=True, like=missing))
    numbers: list[NDArray[np.int32]] = []  # [rows] item, -1 for none
    for tokens, _, lines in table_rows(source, plan, options):
        if not len(lines):
            continue
        check_ids(source, tokens.pick(slice(plan.id_position, None, width)), lines, ids)
        people = number_apart(tokens, plan.id_position, width)
        if plan.has_header and not ids and not is_known_header(plan.names):
            _refuse_headless(source, plan.names[plan.id_position], people)
        ids.add(people)
        items = number_apart(tokens, plan.item_positions[0], width)
        numbers.append(labels.merge(missing.take(items, plan.item_name)))
        cells.take([number_apart(tokens, place, width) for place in cells.positions])
    all_items = joined(numbers, np.int32)
    notes = (*plan.notes, *missing.report(source.name, len(all_items)))
    rows = ids.rows(options.keep_ids)
    data = assemble_records(rows, all_items, labels.texts(), long_layout(plan))
    data, dropped = finish_people(data, rows, cells, plan, options, source.name)
    return data, replace(plan, n_rows=len(all_items), ids=rows.seen, notes=(*notes, *dropped), is_table=True)


def long_layout(plan: Plan) -> Layout:
    """How a release of a table is written: id and item, with the table's own names where it has them."""
    delimiter = plan.delimiter if len(plan.delimiter) == 1 and plan.delimiter != " " else ","
    if not plan.has_header:
        return Layout("long", delimiter)
    id_column = "id" if plan.id_position is None else plan.names[plan.id_position]
    item_column = plan.names[plan.item_positions[0]] if plan.layout == "long" else "item"
    return Layout("long", delimiter, id_column or "id", item_column)


def table_lines(source: Source, plan: Plan, options: ReadOptions) -> Iterator[tuple[bytes, int]]:
    """The chunks of a table; a header that occurs again, as in files that were joined, is refused."""
    header, last = b"", None
    for chunk, line in source.lines(quoted=True):
        if plan.has_header and not options.labels_as_they_are:
            start = 0
            if line == 1:
                start = chunk.find(b"\n") + 1
                header = chunk[: start - 1].removesuffix(b"\r")
            again = _find_line(chunk, header, start)
            if again >= 0:
                raise source.error(
                    "the header occurs again, as in files that were joined; remove the line, or use --no-header if "
                    "the first line is a row.",
                    line + chunk.count(b"\n", 0, again),
                )
        last = chunk, line
        yield chunk, line
    if last is not None and not options.labels_as_they_are:
        _refuse_footer(source, plan, *last)


def _refuse_footer(source: Source, plan: Plan, chunk: bytes, line: int) -> None:
    """An error for a total or a note in the last rows, which would become a person or an item."""
    start = chunk.find(b"\n", max(len(chunk) - TAIL, 0)) + 1 if len(chunk) > TAIL else 0
    tail = chunk[start:]
    if len(plan.names) < 2 or (b'"' in tail and start):
        return
    rows = scan_rows(source, tail, line + chunk.count(b"\n", 0, start), plan.delimiter)
    place = plan.id_position or 0
    for number, cells in rows[-LAST:]:
        texts = [cell.decode().strip() for cell in cells]
        is_total = len(texts) == len(plan.names) and FOOTER.fullmatch(texts[place]) is not None
        alone = [text for text in texts if text]
        is_alone = len(texts) == len(plan.names) > 2 and len(alone) == 1
        is_note = is_alone and len(alone[0]) > NOTE and alone[0].count(" ") > 2
        if number > 1 and (is_total or is_note):
            raise source.error(
                f'the row reads "{one_line(alone[0], 30)}", as a total or a note below a table does; remove it, or add '
                "--labels-as-they-are if it is meant.",
                number,
            )


def _find_line(chunk: bytes, text: bytes, start: int) -> int:
    """Where a line stands that says just this, a byte order mark aside; -1 if there is none."""
    while text and (start := chunk.find(text, start)) >= 0:
        before, after = chunk[:start].removesuffix(BOM)[-1:], chunk[start + len(text) : start + len(text) + 2]
        if before in (b"", b"\n") and (after[:1] == b"\n" or after == b"\r\n"):
            return start
        start += 1
    return -1


def table_rows(source: Source, plan: Plan, options: ReadOptions) -> Iterator[Fields]:
    """The rows below the header, chunk by chunk, all of the same number of fields."""
    table = Table(source, plan)

    def split(part: tuple[bytes, int]) -> Fields:
        return split_fields(source, *part, plan.delimiter)

    for fields in map_in_order(split, table_lines(source, plan, options)):
        yield table.take(fields)
    table.expect_rows()


class Table:
    """What is known of a table as its chunks pass: whether the header is still to come, and where a gap was."""

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self.is_first = plan.has_header
        self.gap: int | None = None  # an empty line; fine as long as nothing follows
        self.n_rows = 0

    def take(self, fields: Fields) -> Fields:
        """The rows of a chunk, without header; rows that do not fit the table are refused."""
        if self.is_first:
            fields, self.is_first = _without_first_row(fields), False
        width = len(self.plan.names)
        empty = np.flatnonzero(_are_empty(fields))
        if width == 1 and len(empty):
            raise self.source.error(
                "the line is empty, and in a table of one column that could be a person without items; remove it, or "
                "add a column of ids.",
                int(fields.lines[empty[0]]),
            )
        fields, self.gap = _without_gap(self.source, fields, self.gap)
        wrong = np.flatnonzero(fields.n_fields != width)
        if len(wrong):
            row = int(wrong[0])
            n_fields = int(fields.n_fields[row])
            what = "the header" if self.plan.has_header else "the first line"
            raise self.source.error(
                f"the row has {times(n_fields, 'field')}, {what} has {width}; "
                "quote fields that contain the delimiter, or set --delimiter."
                + (
                    " If this is the last row, the file may be truncated, or a note is below the table."
                    if n_fields < width
                    else ""
                ),
                int(fields.lines[row]),
            )
        self.n_rows += len(fields.lines)
        return fields

    def expect_rows(self) -> None:
        """At the end: a table without rows is refused."""
        if self.n_rows == 0:
            raise self.source.error("the table has a header but no rows.", 1)


def check_ids(source: Source, tokens: Tokens, lines: NDArray[np.int64], ids: Ids) -> None:
    """Note where the first row without id is; refuse ids that are too long."""
    if not ids.first_empty and (tokens.lengths == 0).any():
        ids.first_empty = f"{source.name}:{int(lines[int(np.argmin(tokens.lengths))])}"
    if tokens.lengths.max(initial=0) > LONGEST_ID:
        row = int(np.argmax(tokens.lengths))
        raise source.error(
            f"the id is longer than {LONGEST_ID:,} bytes; look for a quote that does not end.", int(lines[row])
        )


def _refuse_headless(source: Source, name: str, ids: Numbered) -> None:
    """A first line whose id occurs again below is a record, not a header."""
    if name.encode() in ids.texts[: int(ids.numbers[:FIRST].max()) + 1]:
        raise source.error(
            "the first line looks like a row; use --no-header, or put a header such as id,item above it.", 1
        )


def _without_first_row(fields: Fields) -> Fields:
    return Fields(fields.tokens.pick(slice(int(fields.n_fields[0]), None)), fields.n_fields[1:], fields.lines[1:])


def _are_empty(fields: Fields) -> NDArray[np.bool_]:
    """Which rows are empty lines."""
    first_field = np.cumsum(fields.n_fields) - fields.n_fields
    is_empty: NDArray[np.bool_] = (fields.n_fields == 1) & (fields.tokens.lengths[first_field] == 0)
    return is_empty


def _without_gap(source: Source, fields: Fields, gap: int | None) -> tuple[Fields, int | None]:
    """Without the empty lines at the end of a table; an empty line before a row is an error."""
    first_field = np.cumsum(fields.n_fields) - fields.n_fields
    is_empty = _are_empty(fields)
    if not is_empty.any():
        if gap is not None and len(is_empty):
            raise source.error(GAP, gap)
        return fields, gap
    n_rows = len(is_empty) - int(np.argmin(is_empty[::-1])) if not is_empty.all() else 0
    gaps = fields.lines[np.flatnonzero(is_empty)]
    gap = int(gaps[0]) if gap is None else gap
    if n_rows and gap < int(fields.lines[n_rows - 1]):
        raise source.error(GAP, gap)
    kept = int(first_field[n_rows]) if n_rows < len(is_empty) else len(fields.tokens.starts)
    return Fields(fields.tokens.pick(slice(0, kept)), fields.n_fields[:n_rows], fields.lines[:n_rows]), gap


# -- basket -----------------------------------------------------------------------------------------------------------


def read_basket(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Read the items of one record per line, and count the cells of equally long lines; an empty line is a record
    without items.
    """
    delimiter = plan.delimiter
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
    n_cells = int(n_items.sum()) if n_items.min() == n_items.max() else 0
    data = assemble_rows(n_items, joined(numbers, np.int32), labels.texts(), Layout("basket", delimiter))
    return (drop_weights(data) if plan.kind else data), replace(plan, n_rows=n_cells)  # Orange's baskets


# -- fields -----------------------------------------------------------------------------------------------------------


def split_fields(source: Source, chunk: bytes, line: int, delimiter: str) -> Fields:
    """Cut whole lines into fields; anything that RFC 4180 does not allow is an error with its line."""
    chunk, delimiter = _with_one_character(chunk, delimiter)
    fields = _split_at_once(chunk, line, ord(delimiter))
    if fields is not None:
        return fields
    rows = scan_rows(source, chunk, line, delimiter)
    n_fields = np.array([len(row) for _, row in rows], dtype=np.int64)
    lines = np.array([where for where, _ in rows], dtype=np.int64)
    return Fields(tokens_of([text for _, row in rows for text in row]), n_fields, lines)


def _with_one_character(chunk: bytes, delimiter: str) -> tuple[bytes, str]:
    """The same text with a delimiter of one character."""
    return (chunk.replace(RATINGS.encode(), UNIT.encode()), UNIT) if delimiter == RATINGS else (chunk, delimiter)


def _split_at_once(chunk: bytes, line: int, delimiter: int) -> Fields | None:
    """The fields of ordinary lines, None for a chunk that needs a closer look."""
    text = np.frombuffer(chunk, dtype=np.uint8)
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
    return Fields(Tokens(text, starts, lengths), n_fields, lines)


def scan_rows(source: Source, chunk: bytes, line: int, delimiter: str) -> list[tuple[int, list[bytes]]]:
    """``(line, fields)`` row by row, one field after the other."""
    chunk, delimiter = _with_one_character(chunk, delimiter)
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
        return "a quoted field does not end; close the quote. If this is the last line, the file may be truncated."
    if chunk[re.compile(rb'[^"\r]*').match(chunk, place).end()] == ord('"'):  # type: ignore[union-attr]
        return "a quote inside a field that is not quoted; put the field in quotes and double the quotes in it."
    return "a carriage return inside the line; end lines with line feeds, or put the field in quotes."
