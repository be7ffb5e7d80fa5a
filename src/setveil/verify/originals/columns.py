"""Known, sensitive and carried columns as the second reader reads them: one value per person, from all of its rows."""

from __future__ import annotations

from collections.abc import Iterable

from setveil.core import Transactions
from setveil.core.provenance import Interpretation
from setveil.verify.originals.cells import MISSING, DifferentError
from setveil.verify.originals.layouts import TABLES, Row


def reads_columns(form: Interpretation) -> bool:
    """Whether the second reader reads columns of such an input: delimited text."""
    return form.container in TABLES


class ColumnValues:
    """The values that the first reader found, held against the cells of rows."""

    def __init__(self, data: Transactions, form: Interpretation) -> None:
        self.form = form
        names = [column.name for column in form.columns] if reads_columns(form) else []
        known = {} if data.columns is None else {column.name: column for column in data.columns}
        if len(known) != len(names) and reads_columns(form):
            raise DifferentError(1)
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
        said = [cells[place] for cells in row.cells]
        gone = MISSING if self.form.missing == "drop" else {""}
        said = [cell for cell in said if cell not in gone]
        if not said:
            return value == ""
        if self.form.per_person in ("first", "last"):
            return value == said[0 if self.form.per_person == "first" else -1]
        if self.form.per_person is None and len(set(said)) > 1:
            return False
        return value in said  # of the smallest, largest and commonest value only that a row has it
