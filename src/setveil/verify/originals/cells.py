"""What a cell says to the second reader. Nothing here comes from the first reader."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from numbers import Integral
from typing import Any

from setveil.core.provenance import Interpretation
from setveil.errors import SetveilError

YES = {"true", "t", "yes", "y", "x", "✓", "present"}
NO = {"false", "f", "no", "n", "absent"}
MISSING = {
    "?", "-", "--", ".", "NA", "N/A", "n/a", "#N/A", "<NA>", "None", "\\N", "null", "NULL", "Null", "unknown",
    "UNKNOWN", "Unknown", "missing", "MISSING", "Missing", "NaN", "nan", "NAN", "",
}  # fmt: skip


NO_PERSON = {
    spelling
    for word in ("NA", "N/A", "NaN", "null", "None", "?", "-", "#N/A", ".", "missing", "unknown", "\\N")
    for spelling in (word, word.lower(), word.upper(), word.capitalize())
}  # in place of an id


class DifferentError(SetveilError):
    """The second reader understands the input differently; ``row`` from 1, ``column`` by its name."""

    def __init__(self, row: int, column: str = "") -> None:
        super().__init__(row, column)
        self.row, self.column = row, column


def items_of_row(form: Interpretation, names: Sequence[str], cells: Sequence[str], row: int) -> list[str]:
    """The items of one row of a table."""
    return [label for place in form.item_positions for label in labels_of_cell(form, names[place], cells[place], row)]


def labels_of_cell(form: Interpretation, name: str, cell: str, row: int) -> list[str]:
    """The items that one cell of a table stands for; ``name`` of its column."""
    values = values_of_cell(form, cell)
    if form.shape == "onehot":
        return stripped(form, [name for value in values if says_yes(value, row, name)])
    return stripped(form, [f"{name}={value}" if form.shape == "table" else value for value in values])


def values_of_cell(form: Interpretation, cell: str) -> list[str]:
    """What the cell of a table says: nothing if it is empty or its word for "missing" means that."""
    if form.shape in ("onehot", "table"):
        cell = cell.strip()
    parts = split_list(form, cell)
    return [part for part in parts if part != "" and not is_missing(form, part)]


def is_missing(form: Interpretation, value: str) -> bool:
    """Whether a value counts as an empty cell."""
    if form.missing == "drop":
        return value.strip() in MISSING
    return form.missing is None and form.shape in ("onehot", "table") and value == "?"


def is_person(form: Interpretation, id: str | None, row: int, name: str, has_words: bool = True) -> bool:
    """Whether a row belongs to a person; one that does not is dropped, if that was asked for, and else an error."""
    if id is None or not (id == "" or (has_words and form.missing != "value" and id in NO_PERSON)):
        return True
    if form.missing_person != "drop":
        raise DifferentError(row, name)
    return False


def says_yes(cell: str, row: int, name: str) -> bool:
    """Whether the cell of an item's column says that the record has the item."""
    word = cell.strip().lower()
    if word in YES:
        return True
    if word in NO:
        return False
    whole, _, decimals = word.partition(".")
    if not (whole.isascii() and whole.isdigit() and (decimals == "" or (decimals.isascii() and decimals.isdigit()))):
        raise DifferentError(row, name)
    return word.strip("0.") != ""


def finished(form: Interpretation, labels: Sequence[str]) -> list[str]:
    """Labels of a list as the options ask for: lists in them taken apart, blanks taken off."""
    if form.split is None:
        return stripped(form, labels)
    return stripped(form, [part for label in labels for part in split_list(form, label) if part])


def split_list(form: Interpretation, text: str) -> list[str]:
    """The parts of a text that holds a list."""
    if form.split is None or form.shape == "onehot":
        return [text]
    return [part.strip() for part in text.split(None if form.split.isspace() else form.split)]


def stripped(form: Interpretation, labels: Sequence[str]) -> list[str]:
    """Labels without blanks around them, if that was asked for; what is empty then is none."""
    return [label.strip() for label in labels if label.strip()] if form.strip else list(labels)


class Digits(str):
    """A whole number in JSON, as it is written."""


def shown(value: Any, is_keyed: bool = False, is_pandas: bool = False) -> str | None:
    """The value of a column of people as text, without blanks around it; None if it can be written in several ways.

    ``is_keyed``: of a record in JSON that names its items, where whole numbers may have decimals.
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, str):
        return str(int(value)) if isinstance(value, Digits) else value.strip()
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return str(bool(value)) if is_pandas else str(bool(value)).lower()
    if isinstance(value, Integral) or (isinstance(value, float) and value.is_integer() and not is_keyed):
        return str(int(value))
    return str(value) if type(value) in (float, date) else None


def split_fields(row: str, delimiter: str, number: int) -> list[str]:
    """The fields of one row, as RFC 4180 has it."""
    if '"' not in row:
        return row.split(delimiter)
    fields, place = [], 0
    while True:
        if row.startswith('"', place):
            text, place = _quoted(row, place + 1, number)
        else:
            end = row.find(delimiter, place)
            end = len(row) if end < 0 else end
            text, place = row[place:end], end
            if '"' in text:
                raise DifferentError(number)
        fields.append(text)
        if place == len(row):
            return fields
        if not row.startswith(delimiter, place):
            raise DifferentError(number)
        place += len(delimiter)


def _quoted(row: str, place: int, number: int) -> tuple[str, int]:
    """The text up to the closing quote, and the place behind it."""
    text = ""
    while True:
        end = row.find('"', place)
        if end < 0:
            raise DifferentError(number)
        text += row[place:end]
        if not row.startswith('""', end):
            return text, end + 1
        text, place = text + '"', end + 2
