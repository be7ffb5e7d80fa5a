"""JSON lines: one object with ``items`` (and perhaps ``id``), or one array, per line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError
from setveil.io.formats.base import Plan, PlannedColumn
from setveil.io.options import ReadOptions
from setveil.io.roles import OPTION_OF, READ_ROLES
from setveil.io.source import Source, one_line
from setveil.io.transactions.labels import Ids, Rows, assemble, is_proper, joined, number_apart, tokens_of
from setveil.io.transactions.people import finish_values

ITEMS, ID = "items", "id"


class RepeatedKeyError(ValueError):
    """An object names a key twice."""


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a JSON text; one that names a key twice is refused, for one of the two values would be lost."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise RepeatedKeyError
    return found


# Integers stay the text they are: labels have no value, and no limit of digits.
_scan = json.JSONDecoder(object_pairs_hook=unique_keys, parse_int=str).scan_once  # type: ignore[attr-defined]


class Chunk:
    """What some lines say. Only texts are kept: millions of small lists and dicts would keep the garbage collector
    busy.
    """

    def __init__(self) -> None:
        self.items: list[Any] = []  # of all records, one after the other
        self.n_items: list[int] = []  # [records]
        self.ids: list[Any] = []  # [records] None where there is none
        self.lines: list[int] = []  # [records]
        self.keys: dict[str, None] = {}  # of the objects, in order of appearance
        self.columns: list[list[Any]] = []  # [columns][records] what objects say about people

    def line_of(self, item: int) -> int:
        return self.lines[int(np.searchsorted(np.cumsum(self.n_items), item, side="right"))]


def read_json_lines(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Read one record per line; lines with the same id are one record. The plan then has the keys of the objects."""
    id_column, keep_ids = options.id_column, options.keep_ids
    id_key, item_key = id_column or ID, options.item_column or ITEMS
    keys: dict[str, None] = {}
    number_of: dict[str, int] = {}
    numbers: list[NDArray[np.int32]] = []
    lengths: list[NDArray[np.int64]] = []
    ids = Ids()
    has_ids: bool | None = None if id_column is None else True
    texts_of: dict[str, list[bytes]] = {
        column.name: [] for column in options.roles.columns if column.role in READ_ROLES
    }
    for chunk in _chunks(source, id_key, item_key, list(texts_of)):
        keys |= chunk.keys
        for (name, texts), values in zip(texts_of.items(), chunk.columns, strict=True):
            texts += [text_of_value(source, name, *one) for one in zip(values, chunk.lines, strict=True)]
        _check_items(source, chunk)
        fresh = set(chunk.items) - number_of.keys()
        bad = {label for label in fresh if not (label and is_proper(label))}
        if bad:
            place = next(place for place, label in enumerate(chunk.items) if label in bad)
            raise source.error(_bad_label(chunk.items[place]), chunk.line_of(place))
        number_of.update(zip(fresh, range(len(number_of), len(number_of) + len(fresh)), strict=True))
        numbers.append(np.fromiter(map(number_of.__getitem__, chunk.items), dtype=np.int32, count=len(chunk.items)))
        lengths.append(np.array(chunk.n_items, dtype=np.int64))
        if has_ids is None:
            has_ids = chunk.ids[0] is not None
        id_texts = _check_ids(source, chunk, has_ids, id_key, options)
        if has_ids:
            ids.add(number_apart(tokens_of(id_texts)))
    n_items = joined(lengths, np.int64)
    if len(n_items) == 0:
        raise source.error("the file holds no records.", None)
    rows = Rows(np.arange(len(n_items)), len(n_items))
    if has_ids:
        rows = ids.rows(keep_ids)
        plan = replace(plan, ids=rows.seen)
    elif keep_ids:
        raise source.error(f'the records have no "{one_line(id_key)}" to keep; remove --keep-ids.', 1)
    owners = np.repeat(rows.of_row, n_items)
    data = assemble(owners, joined(numbers, np.int32), rows.n_records, list(number_of), Layout("jsonl"), rows.ids)
    names = tuple(keys)
    used = (names.index(item_key),) if item_key in keys else ()  # arrays have no keys
    columns = stated_keys(names, id_key, item_key, options, source.name)
    plan = replace(
        plan, names=names, id_position=names.index(id_key) if has_ids else None, item_positions=used, columns=columns
    )
    data, dropped = finish_values(data, rows, texts_of, plan, options, source.name)
    return data, replace(plan, notes=(*plan.notes, *dropped))


def stated_keys(
    names: Sequence[str], id_key: str | None, item_key: str, options: ReadOptions, where: str
) -> tuple[PlannedColumn, ...]:
    """The keys with a stated role."""
    found = []
    for column in options.roles.columns:
        if column.name in (id_key, item_key):
            raise InputError(
                f'{where}: "{one_line(column.name)}" has two roles ({column.role} and '
                f"{'item' if column.name == item_key else 'person'}); give it one."
            )
        if column.name not in names:
            option = "--" + OPTION_OF[column.role].replace("_", "-")
            raise InputError(f'{where}: no record has "{one_line(column.name)}"; correct {option}.')
        found.append(PlannedColumn(names.index(column.name), column.role, column.hierarchy))
    return tuple(found)


def text_of_value(source: Source, name: str, value: Any, line: int | None) -> bytes:
    """The value of a column as text; null is empty."""
    if isinstance(value, list | dict):
        raise source.error(f'"{one_line(name)}" is a list or an object, and a column has one value per record.', line)
    if value is None or value != value:
        return b""
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    if not is_proper(text):
        raise source.error(f'"{one_line(name)}" holds a NUL or an incomplete Unicode character; correct it.', line)
    return text.encode()


def _chunks(source: Source, id_key: str, item_key: str, columns: list[str]) -> Iterator[Chunk]:
    """Parsed lines. Empty lines at the end are passed over."""
    gap: int | None = None
    for block, line in source.lines():
        text = block.decode()
        chunk = Chunk()
        chunk.columns = [[] for _ in columns]
        start = 0
        while start < len(text):
            end = text.index("\n", start)
            begin = start
            while text[begin] in " \t\r":
                begin += 1
            if begin == end:
                gap = gap or line
            elif gap is not None:
                raise source.error('an empty line; write {"items": []} for a record without items.', gap)
            else:
                record = _parse(source, text, begin, end, line)
                items = _items(source, record, item_key, line)
                chunk.items += items
                chunk.n_items.append(len(items))
                if isinstance(record, dict):
                    chunk.keys.update(dict.fromkeys(record))
                    chunk.ids.append(record.get(id_key))
                else:
                    chunk.ids.append(None)
                for place, name in enumerate(columns):
                    chunk.columns[place].append(record.get(name) if isinstance(record, dict) else None)
                chunk.lines.append(line)
            start, line = end + 1, line + 1
        if chunk.lines:
            yield chunk


def _parse(source: Source, text: str, begin: int, end: int, line: int) -> Any:
    try:
        record, stop = _scan(text, begin)
    except StopIteration as problem:
        reason, place = "a value is missing", problem.value
    except json.JSONDecodeError as problem:
        reason, place = problem.msg, problem.pos
    except RepeatedKeyError:
        raise source.error("an object names the same key twice; keep one.", line) from None
    except RecursionError:
        raise source.error("the JSON is nested too deeply; write one list of items per line.", line) from None
    else:
        if stop <= end and not text[stop:end].strip(" \t\r"):
            return record
        reason, place = "something follows the record", stop
    if place > end:
        raise source.error("the JSON does not end on its line; write one record per line.", line)
    column = place - text.rfind("\n", 0, begin)
    raise source.error(f"invalid JSON at character {column} ({reason}); write one object or array per line.", line)


def _items(source: Source, record: Any, item_key: str, line: int) -> list[Any]:
    if isinstance(record, list):
        return record
    if not isinstance(record, dict):
        raise source.error(f'the line is neither an object with "{one_line(item_key)}" nor an array.', line)
    if item_key not in record:
        lists = [key for key, value in record.items() if isinstance(value, list)]
        advice = f"use --item {shlex.quote(one_line(lists[0]))}" if len(lists) == 1 else "use --item NAME"
        raise source.error(f'the object has no "{one_line(item_key)}"; {advice}.', line)
    items = record[item_key]
    if not isinstance(items, list):
        raise source.error(f'"{one_line(item_key)}" is not an array; write a list of items.', line)
    return items


def _check_ids(source: Source, chunk: Chunk, expected: bool, id_key: str, options: ReadOptions) -> list[bytes]:
    texts: list[bytes] = []
    for value, line in zip(chunk.ids, chunk.lines, strict=True):
        if expected and options.missing_person == "drop" and value in (None, ""):
            texts.append(b"")
            continue
        if (value is not None) != expected:
            problem = "has no" if expected else "has an"
            raise source.error(
                f'the record {problem} "{one_line(id_key)}", unlike others; give all records one or none.', line
            )
        if expected:
            if not isinstance(value, str) or not value or not is_proper(value) or len(value) > 1024:
                raise source.error(f'"{one_line(id_key)}" must be a whole number or short text.', line)
            texts.append(value.encode())
    return texts


def _check_items(source: Source, chunk: Chunk) -> None:
    if not set(map(type, chunk.items)) - {str}:
        return
    place = next(place for place, item in enumerate(chunk.items) if type(item) is not str)
    item = chunk.items[place]
    if item is None or item != item:
        raise source.error("an item is null or NaN; drop it or give it a name.", chunk.line_of(place))
    kind = {bool: "true or false", float: "a decimal number", list: "a list", dict: "an object"}[type(item)]
    raise source.error(f"an item is {kind}; items are text or whole numbers.", chunk.line_of(place))


def _bad_label(label: str) -> str:
    if not label:
        return "an item label is empty; give every item a name."
    return "an item label holds a NUL or an incomplete Unicode character; give it a proper name."
