"""Tables with one row per record and items in several columns: wide, one-hot, and column=value.

A ``Grid`` is a table column by column, whatever it came from (text or frame); the three readers only see columns of
cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError
from setveil.io.source import Source, one_line
from setveil.io.transactions.cells import UNKNOWN, is_present
from setveil.io.transactions.delimited import check_ids, long_layout, table_rows
from setveil.io.transactions.labels import Ids, Labels, Tokens, assemble, joined
from setveil.io.transactions.layouts import Plan


class Part(NamedTuple):
    """Some rows of a grid."""

    n_rows: int
    cells: Callable[[int], Tokens]  # of a column, by its place
    where: Callable[[int], str]  # a row in messages


class Grid(Protocol):
    """A table in parts."""

    def parts(self) -> Iterator[Part]:
        """Rows, some at a time."""

    def check_ids(self, part: Part, ids: Tokens) -> None:
        """Refuse rows without id."""


class TextGrid:
    """A delimited file."""

    def __init__(self, source: Source, plan: Plan) -> None:
        self.source, self.plan = source, plan
        self._lines: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def parts(self) -> Iterator[Part]:
        """Chunks of lines."""
        width = len(self.plan.names)
        for fields in table_rows(self.source, self.plan):
            lines = self._lines = fields.lines
            tokens = fields.tokens
            yield Part(
                len(lines),
                lambda place, tokens=tokens: tokens.pick(slice(place, None, width)),  # type: ignore[misc]
                lambda row, lines=lines: f"{self.source.name}:{int(lines[row])}",  # type: ignore[misc]
            )

    def check_ids(self, part: Part, ids: Tokens) -> None:
        """Refuse rows without id."""
        check_ids(self.source, ids, self._lines)


def read_grid(grid: Grid, plan: Plan, keep_ids: bool, layout: Layout | None = None) -> Transactions:
    """Records of a wide, one-hot or column=value table; rows with the same id are one record."""
    if keep_ids and plan.id_place is None:
        raise InputError("--keep-ids: the rows have no ids to keep; name their column with --id-column.")
    finders: dict[str, type[_WideItems] | type[_OneHotItems] | type[_ValueItems]]
    finders = {"wide": _WideItems, "onehot": _OneHotItems, "table": _ValueItems}
    finder = finders[plan.layout](plan)
    ids = Ids()
    owners: list[NDArray[np.int64]] = []
    numbers: list[NDArray[np.int32]] = []
    n_rows = 0
    for part in grid.parts():
        if plan.id_place is not None:
            texts = part.cells(plan.id_place)
            grid.check_ids(part, texts)
            ids.add(texts)
        for place in plan.item_places:
            rows, items = finder.find(part, place)
            owners.append(rows + n_rows)
            numbers.append(items)
        n_rows += part.n_rows
    rows = joined(owners, np.int64)
    records, n_records, kept = rows, n_rows, None
    if plan.id_place is not None:
        record_of_row, n_records, kept = ids.number(keep_ids)
        records = record_of_row[rows]
    data = assemble(records, joined(numbers, np.int32), n_records, finder.labels(), layout or long_layout(plan), kept)
    return data.used_items()


class _WideItems:
    """Every cell that is not empty is an item."""

    def __init__(self, plan: Plan) -> None:
        self._labels = Labels()

    def find(self, part: Part, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        cells = part.cells(place)
        rows = np.flatnonzero(cells.lengths > 0)
        return rows, self._labels.number(cells.pick(rows))

    def labels(self) -> list[str]:
        return self._labels.texts()


class _OneHotItems:
    """The column's name is an item of every row whose cell says so."""

    def __init__(self, plan: Plan) -> None:
        self._names = [plan.names[place] for place in range(len(plan.names))]
        self._answers = Labels()
        self._says: list[bool | None] = []

    def find(self, part: Part, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        answers = self._answers.number(part.cells(place))
        texts = self._answers.texts()
        self._says += [is_present(text) for text in texts[len(self._says) :]]
        says = np.array([-1 if said is None else int(said) for said in self._says], dtype=np.int8)[answers]
        if (says < 0).any():
            row = int(np.argmax(says < 0))
            raise InputError(
                f'{part.where(row)}: "{one_line(texts[answers[row]], 30)}" in column '
                f'"{one_line(self._names[place], 30)}" is neither yes '
                "nor no nor a count; name the columns that are items with --item-columns, or use --format table."
            )
        rows = np.flatnonzero(says > 0)
        return rows, np.full(len(rows), place, dtype=np.int32)

    def labels(self) -> list[str]:
        return self._names


class _ValueItems:
    """``column=value`` is an item of every row whose cell says something."""

    def __init__(self, plan: Plan) -> None:
        self._names = plan.names
        self._items: dict[tuple[int, str], int] = {}
        self._values = {place: Labels() for place in plan.item_places}

    def find(self, part: Part, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        values = self._values[place]
        numbers = values.number(part.cells(place))
        texts = values.texts()
        item_of = np.array(
            [
                -1 if text in UNKNOWN else self._items.setdefault((place, text), len(self._items))
                for text in map(str.strip, texts)
            ],
            dtype=np.int32,
        )
        items = item_of[numbers]
        rows = np.flatnonzero(items >= 0)
        return rows, items[rows]

    def labels(self) -> list[str]:
        return [f"{self._names[place]}={text}" for place, text in self._items]


def read_text_grid(source: Source, plan: Plan, keep_ids: bool) -> Transactions:
    """A wide, one-hot or column=value table from a delimited file."""
    return read_grid(TextGrid(source, plan), plan, keep_ids)
