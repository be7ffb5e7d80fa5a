"""One JSON text: an array of records, or an object from id to items."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError
from setveil.io.formats.base import Plan
from setveil.io.options import ReadOptions
from setveil.io.roles import READ_ROLES
from setveil.io.source import Source, one_line
from setveil.io.transactions.ambiguous_columns import refuse_two_people
from setveil.io.transactions.headers import rank_of_ids
from setveil.io.transactions.json_lines import RepeatedKeyError, stated_keys, text_of_value, unique_keys
from setveil.io.transactions.labels import Rows, is_proper
from setveil.io.transactions.people import finish_values
from setveil.io.transactions.rows import are_columns, refuse_rows


def read_json(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """An array of arrays, an array of objects with one list each, an array of flat objects, or an object from id to
    items.
    """
    content = parse_json(source)
    if content and isinstance(content, dict):
        lists = [value for value in content.values() if isinstance(value, list)]
        if len(content) == 1 and lists and all(isinstance(record, dict | list) for record in lists[0]):
            (content,) = lists  # {"records": [ … ]}
        elif len(lists) == len(content):
            if are_columns(content, options, source.name):
                raise source.error("the lists are columns of a table; write an array with one object per row.", 1)
            return _from_lists(source, list(content.values()), list(content), plan, options)
        else:
            raise source.error(
                "the object is neither one list of records nor a list of items per id; write JSON lines.", 1
            )
    if not isinstance(content, list) or not content:
        raise source.error("the file holds no records.", None)
    if all(isinstance(record, list) for record in content):
        refuse_rows(content, options, source.name, "write one object per row, with keys such as id and item")
        return _from_lists(source, content, None, plan, options)
    if not all(isinstance(record, dict) for record in content):
        if not any(isinstance(record, dict | list) for record in content):
            raise source.error("one list of plain values is one record; write one list per record.", 1)
        raise source.error("the records are neither all lists nor all objects; write one kind.", 1)
    names = list(dict.fromkeys(name for record in content for name in record))
    item_key = options.item_column
    if item_key is None:
        item_key = _list_key(source, content, names)
    elif item_key in names and not any(isinstance(record.get(item_key), list) for record in content):
        item_key = None  # flat objects: the column of items in the rows of a table
    if item_key is None:
        return _from_rows(source, content, names, plan, options)
    if options.id_column is None:
        left = [name for name in names if name not in {one.name for one in options.roles.columns}]
        refuse_two_people(left, [left.index(item_key)] if item_key in left else (), source.name)
    ranked = {name: rank_of_ids(name) for name in names if name != item_key and rank_of_ids(name)}
    id_key = options.id_column or ("id" if "id" in names else max(ranked, key=ranked.__getitem__, default=None))
    for number, record in enumerate(content):
        for key in (item_key, id_key):
            if key is not None and key not in record:
                raise source.error(f'record {number} has no "{one_line(key)}"; give all records one.', None)
        if not isinstance(record[item_key], list):
            raise source.error(
                f'"{one_line(item_key)}" of record {number} is not a list; name another with --item.', None
            )
    ids = None if id_key is None else [record[id_key] for record in content]
    for number, value in enumerate(ids or ()):
        if not isinstance(value, str) or not value or not is_proper(value):
            raise source.error(f'"{one_line(id_key or "")}" of record {number} must be a whole number or text.', None)
    positions = {name: place for place, name in enumerate(names)}
    seen = Plan(
        plan.layout, f'{plan.evidence} and "{one_line(item_key)}", which alone holds lists', names=tuple(names),
        id_position=None if id_key is None else positions[id_key], item_positions=(positions[item_key],),
        kind="JSON records",
        columns=stated_keys(names, id_key, item_key, options, source.name),
    )  # fmt: skip
    data, seen = _from_lists(source, [record[item_key] for record in content], ids, seen, options)
    keys = list(range(len(content))) if ids is None else ids
    number_of = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    of_row = np.array([number_of[key] for key in keys], dtype=np.int64)
    texts_of = {
        column.name: [text_of_value(source, column.name, record.get(column.name), None) for record in content]
        for column in options.roles.columns
        if column.role in READ_ROLES
    }
    data, dropped = finish_values(data, Rows(of_row, data.n_records), texts_of, seen, options, source.name)
    return data, replace(seen, notes=(*seen.notes, *dropped))


def parse_json(source: Source) -> Any:
    """The one JSON text of a file; whole numbers stay the text they are."""
    text = source.whole()
    source.check_text(text, 1)
    try:
        return json.loads(text.decode("utf-8-sig"), parse_int=str, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as problem:
        raise source.error(
            f"invalid JSON ({problem.msg}); write one array of records, or one record per line.", problem.lineno
        ) from None
    except RepeatedKeyError:
        raise source.error("an object names the same key twice; keep one.", None) from None
    except RecursionError:
        raise source.error("the JSON is nested too deeply; write one list of items per line.", 1) from None


def _list_key(source: Source, records: list[dict[str, Any]], names: list[str]) -> str | None:
    """The one key whose values are lists; ``items`` if there are several."""
    lists = [name for name in names if all(isinstance(record.get(name, []), list) for record in records)]
    if len(lists) > 1 and "items" not in lists:
        shown = ", ".join(one_line(name, 30) for name in lists[:5])
        raise source.error(f"several keys hold lists ({shown}); name the items with --item.", 1)
    return None if not lists else "items" if "items" in lists else lists[0]


def _from_lists(
    source: Source, lists: list[Any], ids: list[Any] | None, plan: Plan, options: ReadOptions
) -> tuple[Transactions, Plan]:
    if options.roles.columns and not plan.columns:
        raise source.error("the records have no keys, so that no column can be named; remove the roles.", 1)
    if options.keep_ids and ids is None:
        raise source.error("the records have no ids to keep; remove --keep-ids.", 1)
    merged: dict[str, list[Any]] = {}
    for number, record in enumerate(lists):
        key = str(number) if ids is None else str(ids[number])
        if not isinstance(record, list) or any(isinstance(item, list | dict | bool) for item in record):
            raise source.error(f"record {number} holds something else than text and whole numbers.", None)
        merged.setdefault(key, []).extend(record)
    try:
        data = Transactions.from_lists(merged.values(), ids=merged if options.keep_ids else None)
    except InputError as problem:
        raise source.error(str(problem), None) from None
    return Transactions(data.indptr, data.items, data.vocabulary, data.ids, Layout("jsonl")), plan


def _from_rows(
    source: Source, records: list[dict[str, Any]], names: list[str], plan: Plan, options: ReadOptions
) -> tuple[Transactions, Plan]:
    """Flat objects are the rows of a table."""
    import polars as pl

    from setveil.io.transactions.columns import PolarsFrame
    from setveil.io.transactions.frames import from_frame

    columns = {name: [record.get(name) for record in records] for name in names}
    for name, values in columns.items():
        if any(isinstance(value, list | dict) for value in values):
            raise source.error(f'"{one_line(name)}" holds lists in some records only; give all records one.', 1)
    texts = {
        name: [value if value is None or isinstance(value, bool) else _text(value) for value in values]
        for name, values in columns.items()
    }
    for name, values in texts.items():
        if len({type(value) for value in values if value is not None}) > 1:  # answers and texts in one column
            texts[name] = [_spelt(value) for value in values]
    frame = pl.DataFrame(texts)
    return from_frame(PolarsFrame(frame, source.name), options, evidence=plan.evidence)


def _text(value: Any) -> str | None:
    """A plain value as a cell; NaN is an empty one."""
    return None if value != value else str(value)


def _spelt(value: Any) -> str | None:
    return ("true" if value else "false") if isinstance(value, bool) else value
