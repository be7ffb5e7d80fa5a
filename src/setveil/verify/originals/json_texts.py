"""One JSON text, read again: lists of items, objects with one list each, flat objects as the rows of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from setveil.core.provenance import Interpretation
from setveil.verify.originals.cells import Digits, finished, items_of_row, shown
from setveil.verify.originals.layouts import Row, cells_of_object, texts_of
from setveil.verify.originals.text import text_of


def read_json(form: Interpretation) -> Iterator[Row]:
    """All records; a record's number stands for its row."""
    content = json.loads(text_of(form), parse_int=Digits)
    if isinstance(content, dict):
        (only,) = content.values() if len(content) == 1 else (None,)
        if isinstance(only, list) and all(isinstance(record, dict | list) for record in only):
            content = only
    records: list[tuple[str | None, Any]]
    records = list(content.items()) if isinstance(content, dict) else [(None, record) for record in content]
    names = list(dict.fromkeys(name for _, record in records if isinstance(record, dict) for name in record))
    for number, (id, record) in enumerate(records, start=1):
        if isinstance(record, list):
            yield Row(number, id, finished(form, texts_of(record, number)), [("",) * len(form.columns)])
        elif form.shape == "json":
            found = str(record[form.id_key]) if form.id_key else None
            labels = finished(form, texts_of(record[form.item_key], number))
            yield Row(number, found, labels, cells_of_object(form, record))
        else:
            cells = [_cell(record.get(name)) for name in names]
            found = None if form.id_position is None else cells[form.id_position]
            own = tuple(shown(record.get(column.name)) for column in form.columns)
            yield Row(number, found, items_of_row(form, names, cells, number), [own])


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
