"""Known, sensitive and carried columns as the second reader reads them: one value per person, from all of its rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal

from setveil.core import Transactions
from setveil.core.provenance import Interpretation
from setveil.verify.originals.cells import MISSING, DifferentError
from setveil.verify.originals.layouts import Row

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")


class ColumnValues:
    """The values that the first reader found, compared with the cells of rows."""

    def __init__(self, data: Transactions, form: Interpretation) -> None:
        self.form = form
        names = [column.name for column in form.columns]
        known = {} if data.columns is None else {column.name: column for column in data.columns}
        if len(known) != len(names):
            raise DifferentError(1)
        self.unread: set[str] = set()  # columns with values that can be written in several ways
        self.columns = [known[name] for name in names]

    def compare(self, row: Row, record: int) -> None:
        """DifferentError if a person's rows do not say what the first reader found for a record."""
        for place, column in enumerate(self.columns):
            if not self._fits(row, place, self._value(place, record)):
                raise DifferentError(row.number, column.name)

    def compare_any(self, row: Row, records: Iterable[int]) -> None:
        """The same where the record is one of several."""
        possible = [int(record) for record in records]
        for place, column in enumerate(self.columns):
            possible = [one for one in possible if self._fits(row, place, self._value(place, one))]
            if not possible:
                raise DifferentError(row.number, column.name)

    def _value(self, place: int, record: int) -> str:
        """The first reader's value, empty if it is missing."""
        column = self.columns[place]
        value = column.values[int(column.codes[record])]
        return "" if column.missing and value == column.missing else value

    def _fits(self, row: Row, place: int, value: str) -> bool:
        cells = [cells[place] for cells in row.cells]
        if None in cells:
            self.unread.add(self.columns[place].name)
            return True
        # In JSON a word for "missing" is a value.
        gone = MISSING if self.form.missing == "drop" and self.form.shape not in ("json", "jsonl") else {""}
        said = [cell for cell in cells if cell is not None and cell not in gone]
        if not said:
            return value == ""
        match self.form.per_person:
            case "first":
                return value == said[0]
            case "last":
                return value == said[-1]
            case "most":
                return said.count(value) == max(map(said.count, said))
            case "min" | "max" as rule:
                return value in _ends(said, min if rule == "min" else max)
        return {value} == set(said)


def _ends(said: list[str], end: Callable[..., str]) -> set[str]:
    """The smallest or largest value as text, and as a number if all are numbers; the whole column decides which."""
    found = {end(said)}
    if all(NUMBER.fullmatch(text) for text in said):
        found.add(end(said, key=lambda text: (Decimal(text), text)))
    return found
