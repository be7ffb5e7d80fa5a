"""Every layout of a text file as rows of items, read slowly and plainly; what does not fit is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from setveil.core.provenance import Interpretation
from setveil.errors import UncheckedError
from setveil.verify.originals.cells import (
    NO,
    YES,
    DifferentError,
    Digits,
    finished,
    is_person,
    labels_of_cell,
    shown,
    split_fields,
)
from setveil.verify.originals.text import TABLES, chosen_rows, delimiter_of, text_of

NUMBER = re.compile(r"[0-9]+")
WEIGHT = re.compile(r"=[0-9]+(?:\.[0-9]+)?$")


class NoReaderError(UncheckedError):
    """Nothing here reads the input a second time."""


class Row(NamedTuple):
    """One row of the input: ``number`` from 1, and the id of its record where it has one."""

    number: int
    id: str | None
    labels: list[str]
    cells: list[tuple[str | None, ...]] = []  # noqa: RUF012 - of columns of people; never changed in place


def read_text(form: Interpretation, chosen: Sequence[int] | None = None) -> Iterator[Row]:
    """The rows of a text file that hold a record or a part of one; of the chosen rows, from 0, or of all."""
    readers = {"fimi": _fimi, "spmf": _spmf, "basket": _basket, "gmt": _gmt, "jsonl": _json_lines, "arff": _arff}
    rows = chosen_rows(form, chosen)
    reader = readers.get(form.container)
    if reader is None and form.container not in TABLES:
        raise NoReaderError(
            f'format "{form.container}" has no second reader, so that the input cannot be read independently.'
        )
    if reader is None:
        return read_table(form, rows)
    if form.split is None and not form.strip:
        return reader(form, rows)
    return (Row(row.number, row.id, finished(form, row.labels), row.cells) for row in reader(form, rows))


# -- lines ------------------------------------------------------------------------------------------------------------


def _fimi(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for number, row in rows:
        labels = row.split()
        digits = "".join(labels)
        if labels and not (digits.isascii() and digits.isdigit()):
            raise DifferentError(number + 1)
        yield Row(number + 1, None, labels)


def _spmf(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    names = {}
    for line in text_of(form).split("\n"):
        if line.startswith("@ITEM="):
            item, _, name = line.removesuffix("\r").removeprefix("@ITEM=").partition("=")
            names[item] = name
    for number, row in rows:
        if row.startswith(("@", "#", "%")):
            continue
        items = [item for item in re.split("[ \t]+", row) if item not in ("", "-1", "-2")]
        if not form.has_words and not all(map(NUMBER.fullmatch, items)):
            raise DifferentError(number + 1)
        has_names = any(item not in ("-1", "-2") for item in names)
        yield Row(number + 1, None, [names[item] for item in items] if has_names else items)


def _json_lines(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for number, row in rows:
        if not row.strip():
            continue  # at the end of the file
        record = json.loads(row, parse_int=Digits)
        if isinstance(record, list):
            yield Row(number + 1, None, texts_of(record, number + 1), [("",) * len(form.columns)])
        else:
            said = record.get(form.id_key) if form.id_key else None
            id = None if not form.id_key else "" if said is None else str(said)
            if not is_person(form, id, number + 1, form.id_key, has_words=False):
                continue
            yield Row(number + 1, id, texts_of(record[form.item_key], number + 1), cells_of_object(form, record))


def cells_of_object(form: Interpretation, record: dict[str, Any]) -> list[tuple[str | None, ...]]:
    """What an object says in the columns of people."""
    return [tuple(shown(record.get(column.name), is_keyed=True) for column in form.columns)]


def texts_of(values: Any, row: int) -> list[str]:
    """Items of a JSON array: text, and whole numbers, which were left as text."""
    if not isinstance(values, list) or not all(isinstance(value, str) and value for value in values):
        raise DifferentError(row)
    return list(map(str, values))


# -- fields -----------------------------------------------------------------------------------------------------------


def _basket(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for number, row in rows:
        fields = split_fields(row, delimiter_of(form), number + 1)
        yield Row(number + 1, None, [label for field in fields for label in _basket_labels(form, field)])


def _basket_labels(form: Interpretation, field: str) -> list[str]:
    if not field:
        return []
    return [WEIGHT.sub("", field).strip()] if form.has_words else [field]  # ``bread=2`` is bread


def labels_of_field(form: Interpretation, field: str, row: int) -> list[str]:
    """The items that one field of a line stands for, in layouts with any number of fields per line."""
    if form.container == "basket":
        return finished(form, _basket_labels(form, field))
    if not (field.isascii() and field.isdigit()):
        raise DifferentError(row)
    return finished(form, [field])


def _gmt(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    for number, row in rows:
        name, _, *items = split_fields(row, "\t", number + 1)
        yield Row(number + 1, name, [item for item in items if item])


def read_table(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    """Long, wide, one-hot, and column=value."""
    delimiter, names, gap = delimiter_of(form), header_of(form), 0
    known: dict[tuple[int, str], list[str]] = {}  # the same text in a column stands for the same items
    for number, row in rows:
        if number == 0 and form.has_header:
            continue
        cells = split_fields(row, delimiter, number + 1)
        if cells == [""]:
            gap = number + 1
            continue
        if gap or len(cells) != form.n_columns:
            raise DifferentError(gap or number + 1)
        id = None if form.id_position is None else cells[form.id_position]
        if not is_person(form, id, number + 1, names[form.id_position or 0]):
            continue
        own = tuple(cells[column.place].strip() for column in form.columns)
        labels: list[str] = []
        for place in form.item_positions:
            if (cell := (place, cells[place])) not in known:
                known[cell] = labels_of_cell(form, names[place], cells[place], number + 1)
            labels += known[cell]
        yield Row(number + 1, id, labels, [own])


def header_of(form: Interpretation) -> list[str]:
    """The names of the columns; numbers from 1 where there is no header."""
    if not form.has_header:
        return [str(place + 1) for place in range(form.n_columns)]
    for _, row in chosen_rows(form, [0]):
        return split_fields(row, delimiter_of(form), 1)
    return []


# -- ARFF -------------------------------------------------------------------------------------------------------------

WORD = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s,{}'"%]+"""


class _Attribute(NamedTuple):
    name: str
    is_item: bool  # a declared answer of yes or no, so that its name alone is the item


def _arff(form: Interpretation, rows: Iterator[tuple[int, str]]) -> Iterator[Row]:
    """Attributes are declared above ``@data``, so that the lines above it are always read."""
    attributes: list[_Attribute] = []
    first = 0
    for number, row in chosen_rows(form, None):
        first = number + 1
        if row.strip().lower().startswith("@data"):
            break
        found = re.fullmatch(rf"@attribute\s+({WORD})\s+(.+)", row.strip(), re.IGNORECASE)
        if found:
            attributes.append(_Attribute(_bare(found.group(1)), _is_yes_or_no(found.group(2).strip())))
    for number, row in rows:
        text = row.strip()
        if number < first or not text or text.startswith("%"):
            continue
        yield Row(number + 1, None, _arff_items(form, attributes, text, number + 1))


def _arff_items(form: Interpretation, attributes: list[_Attribute], text: str, row: int) -> list[str]:
    if text.startswith("{"):
        pairs = re.findall(rf"([0-9]+)\s+({WORD})", text.strip("{} \t"))
        cells = [(int(place), value) for place, value in pairs]
    else:
        values = [value for value, _ in re.findall(rf"\s*({WORD}|)\s*(,|$)", text)]
        cells = list(enumerate(values[: len(attributes)]))
        if len(cells) != len(attributes):
            raise DifferentError(row)
    labels = []
    for place, value in cells:
        if place not in form.item_positions or value in ("", "?"):
            continue
        attribute, said = attributes[place], _bare(value)
        if not attribute.is_item:
            labels.append(f"{attribute.name}={said}")
        elif said.lower() in YES or (said.strip("0.") and said.lower() not in NO):
            labels.append(attribute.name)
    return labels


def _is_yes_or_no(declared: str) -> bool:
    """Whether an attribute is declared as two answers, such as ``{0,1}``, ``{f,t}`` or ``{t}``, one of them a yes."""
    if not declared.startswith("{"):
        return False
    values = {_bare(value).lower() for value in re.findall(f"({WORD})", declared.strip("{} "))} - {"?"}
    if values <= {"0", "1"} or values <= {"0.0", "1.0"}:
        return bool(values & {"1", "1.0"})
    return values <= YES | NO and bool(values & YES)


def _bare(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", word[1:-1]).strip()
    return word.strip()
