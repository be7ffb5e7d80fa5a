"""How many records hold each item, counted over the whole input by the second reader.

This is for inputs of which only a sample of rows is compared cell by cell. The cells of a delimited file are separated
by a hash of their bytes, for a block of rows at once. Each different cell is then read once, by the same plain code as
the cells of the sample. Other inputs are read row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core import Vocabulary
from setveil.core.provenance import Interpretation
from setveil.verify.originals.cells import NO_PERSON, DifferentError, is_person, labels_of_cell, split_fields
from setveil.verify.originals.layouts import Row, header_of, labels_of_field, read_table
from setveil.verify.originals.text import LINE_FEED, QUOTE, TABLES, Rows, delimiter_of, rows_of

HASHED = ("fimi", "basket", *TABLES)
CARRIAGE_RETURN = 13
BLANKS = np.array([9, 10, 11, 12, 13, 28, 29, 30, 31, 32], dtype=np.uint8)  # what ``str.split`` takes for a blank
FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplying by it loses nothing
MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)

Ints = NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.uint64)
Read = Callable[[str, int], list[str]]  # a cell and its row, from 1 → its labels


CodedColumn = tuple[Ints, Ints, list[list[str]]]  # row and code of each value; the labels that each code stands for


class Totals(NamedTuple):
    """What is compared of an input as a whole."""

    n_records: int
    supports: Ints  # [items]


class Fields(NamedTuple):
    """Fields of a block of rows."""

    text: bytes
    first: int  # row of the file, from 0
    rows: Ints  # of each field, from 0 in the block
    starts: Ints
    ends: Ints
    unquoted: Mapping[int, str] = MappingProxyType({})  # fields with quotes inside, as they read

    def column(self, place: int, n_columns: int) -> Fields:
        """The fields of one column, if all rows have the same number."""
        unquoted = {n // n_columns: text for n, text in self.unquoted.items() if n % n_columns == place}
        rows, starts, ends = (part[place::n_columns] for part in (self.rows, self.starts, self.ends))
        return Fields(self.text, self.first, rows, starts, ends, unquoted)

    def cell(self, place: int) -> str:
        """What a field says."""
        return self.unquoted.get(place) or self.text[self.starts[place] : self.ends[place]].decode()

    def number(self, place: int) -> int:
        """Its row in the file, from 1."""
        return self.first + int(self.rows[place]) + 1

    def hashes(self) -> NDArray[np.uint64]:
        """A number per field, the same for the same text."""
        words = np.ndarray((len(self.text) + 1,), dtype="<u8", buffer=self.text + bytes(8), strides=(1,))
        lengths = self.ends - self.starts
        hashed = lengths.astype(np.uint64) * FACTOR
        longer, place = np.arange(len(lengths)), 0
        while len(longer := longer[lengths[longer] > place]):
            word = words[self.starts[longer] + place] & MASKS[np.minimum(lengths[longer] - place, 8)]
            mixed = (hashed[longer] ^ word) * FACTOR
            hashed[longer] = mixed ^ (mixed >> np.uint64(29))
            place += 8
        for place, text in self.unquoted.items():
            hashed[place] = hash_of(text)
        return hashed


def hash_of(text: str) -> int:
    """The hash of a field that holds this text."""
    content, zero = text.encode(), np.zeros(1, dtype=np.int64)
    return int(Fields(content, 0, zero, zero, zero + len(content)).hashes()[0])


# -- row by row -------------------------------------------------------------------------------------------------------


def count_rows(rows: Iterable[Row], vocabulary: Vocabulary) -> Totals:
    """The totals of rows that were read one by one."""
    numbers = {label: number for number, label in enumerate(vocabulary)}
    supports = np.zeros(len(vocabulary), dtype=np.int64)
    held: dict[str, set[int]] = {}
    n_records = 0
    for row in rows:
        items = {numbers.get(label, -1) for label in row.labels}
        if -1 in items:
            raise DifferentError(row.number)
        if row.id is None:
            n_records += 1
        else:
            seen = held.setdefault(row.id, set())
            items -= seen
            seen |= items
        for item in items:
            supports[item] += 1
    return Totals(n_records + len(held), supports)


def count_columns(columns: Iterable[CodedColumn], people: Ints | None, n_rows: int, vocabulary: Vocabulary) -> Totals:
    """The totals of columns whose different values are numbered; ``people``: the person of each row, or -1."""
    parts = []
    for rows, codes, labels in columns:
        lists = [_numbers(vocabulary, found, 1) for found in labels]
        parts.append(_spread(rows, codes, lists))
    rows, items = (np.concatenate(part) for part in zip(*parts, strict=True))
    if people is None:
        return Totals(n_rows, _count_once(rows, items, len(vocabulary)))
    is_one = people[rows] >= 0
    n_people = len(_each_once(people[people >= 0]))
    return Totals(n_people, _count_once(people[rows][is_one], items[is_one], len(vocabulary)))


# -- by hash ----------------------------------------------------------------------------------------------------------


def count_fields(form: Interpretation, vocabulary: Vocabulary) -> Totals:
    """The totals of a delimited text file, or of one with numbers between blanks."""
    is_table = form.container in TABLES
    names = header_of(form) if is_table else [""]
    readers = {
        place: _CellReader(vocabulary, _way_to_read(form, names[place]))
        for place in (form.item_positions if is_table else (0,))
    }
    supports = np.zeros(len(vocabulary), dtype=np.int64)
    ids, held = [], []  # of tables with ids: the person of each row, and (person, item) of each entry
    n_records = 0
    for block, fields in _tables(form) if is_table else _lines(form):
        entries = [readers[place].entries(fields(place)) for place in readers]
        rows, items = (np.concatenate(parts) for parts in zip(*entries, strict=True))
        if form.id_position is None:
            n_records += len(block.ends)
            supports += _count_once(rows, items, len(vocabulary))
            continue
        people, is_one = _people(form, names[form.id_position], fields(form.id_position))
        ids.append(people[is_one])
        held.append((people[rows][is_one[rows]], items[is_one[rows]]))
    if ids:
        known = _each_once(np.concatenate(ids))
        n_records = len(known)
        owners, items = (np.concatenate(parts) for parts in zip(*held, strict=True))
        supports = _count_once(np.searchsorted(known, owners), items, len(vocabulary))
    return Totals(n_records, supports)


def read_rows_of(form: Interpretation, ids: set[str]) -> Iterator[Row]:
    """All rows of a table with one of the ids, found by the hash of their id."""
    assert form.id_position is not None
    hashes, place = np.array([hash_of(one) for one in ids], dtype=np.uint64), form.id_position
    found = (
        (rows.first + number, rows.row(number))
        for rows, fields in _tables(form)
        for number in np.flatnonzero(np.isin(fields(place).hashes(), hashes)).tolist()
    )
    return (row for row in read_table(form, found) if row.id in ids)


def _spread(rows: Ints, kinds: Ints, lists: list[Ints]) -> tuple[Ints, Ints]:
    """The row and the item of each entry; cells of the same kind have the same items."""
    sizes = np.array([len(items) for items in lists], dtype=np.int64)
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    times = sizes[kinds]
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    items = np.concatenate([np.empty(0, dtype=np.int64), *lists])
    return np.repeat(rows, times), items[np.repeat(starts[kinds], times) + within]


def _count_once(rows: Ints, items: Ints, n_items: int) -> Ints:
    """In how many rows each item is, however often it is there."""
    if not n_items:
        return np.zeros(0, dtype=np.int64)
    return np.bincount(_each_once(rows * n_items + items) % n_items, minlength=n_items)


def _each_once(numbers: NDArray[Number]) -> NDArray[Number]:
    """The different numbers, ascending. Sorting large arrays takes a fraction of the time of ``np.unique``."""
    ordered = np.sort(numbers)
    is_new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    return ordered[is_new]


class _CellReader:
    """The items of cells; every different cell is read once, plainly."""

    def __init__(self, vocabulary: Vocabulary, read: Read) -> None:
        self.vocabulary, self.read = vocabulary, read
        self.known = np.array([hash_of("")], dtype=np.uint64)  # hashes of cells, ascending
        self.lists = [np.empty(0, dtype=np.int64)]  # their items; an empty cell has none

    def entries(self, fields: Fields) -> tuple[Ints, Ints]:
        """The row, from 0 in its block, and the item of each entry; a row may have an item more than once."""
        hashes = fields.hashes()
        kinds = np.searchsorted(self.known, hashes)
        is_new = self.known[np.minimum(kinds, len(self.known) - 1)] != hashes
        if is_new.any():
            positions = np.flatnonzero(is_new)
            fresh, first = np.unique(hashes[positions], return_index=True)
            lists = [self._items(fields.cell(place), fields.number(place)) for place in positions[first].tolist()]
            known, every = np.concatenate((self.known, fresh)), [*self.lists, *lists]
            order = np.argsort(known)
            self.known, self.lists = known[order], [every[n] for n in order.tolist()]
            kinds = np.searchsorted(self.known, hashes)
        return _spread(fields.rows, kinds, self.lists)

    def _items(self, cell: str, row: int) -> Ints:
        return _numbers(self.vocabulary, self.read(cell, row), row)


def _numbers(vocabulary: Vocabulary, labels: list[str], row: int) -> Ints:
    numbers = np.asarray(vocabulary.numbers(labels), dtype=np.int64)
    if (numbers < 0).any():
        raise DifferentError(row)
    return numbers


def _way_to_read(form: Interpretation, name: str) -> Read:
    if form.container in TABLES:
        return lambda cell, row: labels_of_cell(form, name, cell, row)
    return lambda cell, row: labels_of_field(form, cell, row)


def _people(form: Interpretation, name: str, fields: Fields) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The id of each row by its hash, and whether it names a person."""
    hashes = fields.hashes()
    is_one = np.ones(len(hashes), dtype=np.bool_)
    for place in np.flatnonzero(np.isin(hashes, np.array([hash_of(word) for word in ("", *NO_PERSON)]))).tolist():
        is_one[place] = is_person(form, fields.cell(place), fields.number(place), name)
    return hashes, is_one


# -- fields of a block ------------------------------------------------------------------------------------------------

Block = tuple[Rows, Callable[[int], Fields]]  # some rows, and the fields of a column


def _lines(form: Interpretation) -> Iterator[Block]:
    """Lines of several items each, as one column of fields."""
    for rows in rows_of(form):
        fields = _between_blanks(rows) if form.container == "fimi" else _between(rows, delimiter_of(form))[0]
        yield rows, partial(fields.column, n_columns=1)


def _tables(form: Interpretation) -> Iterator[Block]:
    """Rows with the same number of fields; empty rows may only end the file."""
    gap = 0
    for rows in rows_of(form):
        rows = _without_header(rows) if form.has_header and rows.first == 0 else rows
        lengths = np.diff(rows.ends, prepend=0)
        is_blank = lengths == 1
        is_blank[lengths == 2] = np.frombuffer(rows.text, np.uint8)[rows.ends[lengths == 2] - 2] == CARRIAGE_RETURN
        n_rows = len(lengths) - int(is_blank[::-1].cumprod().sum())
        if n_rows and (gap or is_blank[:n_rows].any()):
            raise DifferentError(gap or rows.first + 1 + int(is_blank[:n_rows].argmax()))
        gap = gap or (rows.first + n_rows + 1 if n_rows < len(lengths) else 0)
        if not n_rows:
            continue
        ends = rows.ends[:n_rows]
        rows = Rows(rows.first, rows.text[: ends[-1]], ends)
        fields, last = _between(rows, delimiter_of(form))
        if len(last) != n_rows * form.n_columns or not last.reshape(n_rows, -1)[:, -1].all():
            raise DifferentError(rows.first + 1)
        yield rows, partial(fields.column, n_columns=form.n_columns)


def _without_header(rows: Rows) -> Rows:
    start = int(rows.ends[0])
    return Rows(1, rows.text[start:], rows.ends[1:] - start)


def _between_blanks(rows: Rows) -> Fields:
    """The words of each row, which must be numbers."""
    signs = np.frombuffer(rows.text, dtype=np.uint8)
    is_word = np.concatenate(([False], ~np.isin(signs, BLANKS), [False]))
    turns = np.flatnonzero(is_word[1:] != is_word[:-1])
    starts, ends = turns[::2], turns[1::2]
    return Fields(rows.text, rows.first, np.searchsorted(rows.ends, starts, "right"), starts, ends)


def _between(rows: Rows, delimiter: str) -> tuple[Fields, NDArray[np.bool_]]:
    """The fields of each row between delimiters, without the quotes around them; and which are the last of a row."""
    signs = np.frombuffer(rows.text, dtype=np.uint8)
    stops = np.flatnonzero((signs == ord(delimiter)) | (signs == LINE_FEED))
    has_quotes = b'"' in rows.text
    if has_quotes:
        n_quotes = np.concatenate((np.zeros(1, dtype=np.int32), np.cumsum(signs == QUOTE, dtype=np.int32)))
        stops = stops[n_quotes[stops] & 1 == 0]
    starts, ends = np.concatenate((np.zeros(1, dtype=np.int64), stops[:-1] + 1)), stops.copy()
    is_last = signs[stops] == LINE_FEED
    ends -= is_last & (ends > starts) & (signs[ends - 1] == CARRIAGE_RETURN)
    owner = np.cumsum(is_last) - is_last
    texts = {}
    if has_quotes:
        inside = n_quotes[ends] - n_quotes[starts]
        is_plain = (inside == 2) & (signs[starts] == QUOTE) & (signs[np.maximum(ends, 1) - 1] == QUOTE)
        texts = {
            place: split_fields(
                rows.text[starts[place] : ends[place]].decode(), delimiter, rows.first + 1 + int(owner[place])
            )
            for place in np.flatnonzero((inside > 0) & ~is_plain).tolist()
        }
        starts, ends = starts + is_plain, ends - is_plain
    return Fields(
        rows.text, rows.first, owner, starts, ends, {place: only for place, (only,) in texts.items()}
    ), is_last
