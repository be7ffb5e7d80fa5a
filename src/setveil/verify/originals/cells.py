"""What a cell says to the second reader. Nothing here comes from the first reader."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.core.reading import Interpretation
from setveil.errors import SetveilError

YES = {"true", "t", "yes", "y", "x", "✓", "present"}
NO = {"", "?", "false", "f", "no", "n", "absent"}


class DifferentError(SetveilError):
    """The second reader understands the input differently; ``row`` from 1, ``column`` by its name."""

    def __init__(self, row: int, column: str = "") -> None:
        super().__init__(row, column)
        self.row, self.column = row, column


def items_of_row(form: Interpretation, names: Sequence[str], cells: Sequence[str], row: int) -> list[str]:
    """The items of one row of a table."""
    found = []
    for place in form.item_places:
        cell, name = cells[place], names[place]
        if cell == "":
            continue
        if form.shape in ("wide", "long"):
            found.append(cell)
        elif form.shape == "onehot":
            if says_yes(cell, row, name):
                found.append(name)
        elif cell.strip() not in ("", "?"):
            found.append(f"{name}={cell.strip()}")
    return found


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
    """Labels as the options ask for: lists taken apart, blanks taken off."""
    parts = list(labels)
    if form.split is None and not form.strip:
        return parts
    if form.split is not None:
        separator = None if form.split.isspace() else form.split
        parts = [part.strip() for label in parts for part in label.split(separator)]
    if form.strip:
        parts = [part.strip() for part in parts]
    return [part for part in parts if part]


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
