"""Tables with one row per record and items in several columns: wide, one-hot, and column=value.

A table comes from text (``TextGrid``) or a frame (``FrameGrid``); the three readers only see columns of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError
from setveil.io.formats.base import Plan
from setveil.io.formats.registry import FORMATS
from setveil.io.options import ReadOptions
from setveil.io.source import Source, one_line
from setveil.io.transactions.cells import is_present
from setveil.io.transactions.delimited import check_ids, long_layout, table_rows
from setveil.io.transactions.labels import Ids, Labels, Numbered, Rows, Tokens, assemble, joined, number_apart
from setveil.io.transactions.missing import MissingCells
from setveil.io.transactions.people import ColumnCells, finish_people
from setveil.io.transactions.relabel import split_cells

if TYPE_CHECKING:
    from setveil.io.transactions.frames import FrameGrid


class GridRows(NamedTuple):
    """Some rows of a grid."""

    n_rows: int
    cells: Callable[[int], Tokens]  # of a column, by its place
    where: Callable[[int], str]  # a row in messages


class TextGrid:
    """A delimited file, some rows at a time."""

    def __init__(self, source: Source, plan: Plan, options: ReadOptions) -> None:
        self.options = options
        self.source, self.plan, self.where = source, plan, source.name
        self._lines: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def parts(self) -> Iterator[GridRows]:
        width = len(self.plan.names)
        for fields in table_rows(self.source, self.plan, self.options):
            lines = self._lines = fields.lines
            tokens = fields.tokens
            yield GridRows(
                len(lines),
                lambda place, tokens=tokens: tokens.pick(slice(place, None, width)),  # type: ignore[misc]
                lambda row, lines=lines: f"{self.source.name}:{int(lines[row])}",  # type: ignore[misc]
            )

    def check_ids(self, part: GridRows, tokens: Tokens, ids: Ids) -> None:
        """Note where the first row without id is."""
        check_ids(self.source, tokens, self._lines, ids)


def read_grid(
    grid: TextGrid | FrameGrid, plan: Plan, options: ReadOptions, layout: Layout | None = None
) -> tuple[Transactions, Plan]:
    """Records of a wide, one-hot or column=value table; rows with the same id are one record."""
    if options.keep_ids and plan.id_position is None:
        raise InputError("--keep-ids: the rows have no ids to keep; name their column with --person.")
    cells = FORMATS[plan.layout].cells
    assert cells is not None
    kind = cells()
    if options.split is not None and not kind.can_hold_lists:
        raise InputError(f"{grid.where}: one-hot cells hold no lists; remove --split.")
    missing = MissingCells(options, is_stripped=kind.is_stripped)
    cells_of_people = ColumnCells(plan, MissingCells(options, is_stripped=True, like=missing))
    finder = kind(plan, missing, options)
    ids = Ids()
    owners: list[NDArray[np.int64]] = []
    numbers: list[NDArray[np.int32]] = []
    n_rows = 0
    for part in grid.parts():
        if plan.id_position is not None:
            texts = part.cells(plan.id_position)
            grid.check_ids(part, texts, ids)
            ids.add(number_apart(texts))
        cells_of_people.take([number_apart(part.cells(place)) for place in cells_of_people.positions])
        for place in plan.item_positions:
            rows, items = finder.find(part, place)
            owners.append(rows + n_rows)
            numbers.append(items)
        n_rows += part.n_rows
    rows = joined(owners, np.int64)
    people = Rows(np.arange(n_rows), n_rows)
    if plan.id_position is not None:
        people = ids.rows(options.keep_ids)
    data = assemble(
        people.of_row[rows], joined(numbers, np.int32), people.n_records, finder.labels(), layout or long_layout(plan),
        people.ids,
    )  # fmt: skip
    notes = (*plan.notes, *missing.report(grid.where, n_rows))
    data, dropped = finish_people(data.used_items(), people, cells_of_people, plan, options, grid.where)
    return data, replace(plan, notes=(*notes, *dropped), ids=people.seen, is_table=True, is_split=kind.is_split)


class CellReader:
    """What the cells of a column say."""

    can_hold_lists: ClassVar[bool] = True  # a cell may hold several items
    is_stripped: ClassVar[bool] = True  # blanks around the text of a cell do not count
    is_split: ClassVar[bool] = False  # cells that hold lists are taken apart here

    def __init__(self, plan: Plan, missing: MissingCells, options: ReadOptions) -> None:
        self._names, self._missing, self._split = list(plan.names), missing, options.split

    def find(self, part: GridRows, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """``(rows, items)``: the rows of a part whose cell in a column gives an item, and the item's number."""
        raise NotImplementedError

    def labels(self) -> list[str]:
        """The items by number."""
        raise NotImplementedError


class WideItems(CellReader):
    """Every cell that is not empty is an item."""

    is_stripped = False

    def __init__(self, plan: Plan, missing: MissingCells, options: ReadOptions) -> None:
        super().__init__(plan, missing, options)
        self._labels = Labels()

    def find(self, part: GridRows, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        numbers = self._labels.merge(self._missing.take(number_apart(part.cells(place)), self._names[place]))
        rows = np.flatnonzero(numbers >= 0)
        return rows, numbers[rows]

    def labels(self) -> list[str]:
        return self._labels.texts()


class OneHotItems(CellReader):
    """The column's name is an item of every row whose cell says so."""

    can_hold_lists = False

    def find(self, part: GridRows, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        cells = self._missing.take(number_apart(part.cells(place)), self._names[place])
        says = [is_present(text.decode()) for text in cells.texts]
        if None in says:
            number = says.index(None)
            where = part.where(int(np.argmax(cells.numbers == number)))
            raise InputError(
                f'{where}: "{one_line(cells.texts[number].decode(), 30)}" in column '
                f'"{one_line(self._names[place], 30)}" is neither yes nor no nor a count; name '
                "the columns that are items with --item-columns, or use --format table."
            )
        rows = np.flatnonzero(np.array([*says, False], dtype=bool)[cells.numbers])  # -1, an empty cell, says no
        return rows, np.full(len(rows), place, dtype=np.int32)

    def labels(self) -> list[str]:
        return self._names


class ValueItems(CellReader):
    """``column=value`` is an item of every row whose cell says something."""

    is_split = True

    def __init__(self, plan: Plan, missing: MissingCells, options: ReadOptions) -> None:
        super().__init__(plan, missing, options)
        self._items: dict[tuple[int, str], int] = {}

    def find(self, part: GridRows, place: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        cells = number_apart(part.cells(place))
        if self._split is not None:
            rows, parts = split_cells(cells, self._split)
            return self._number(rows, self._missing.take(parts, self._names[place]), place)
        return self._number(np.arange(part.n_rows), self._missing.take(cells, self._names[place]), place)

    def _number(
        self, rows: NDArray[np.int64], cells: Numbered, place: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        values = [text.decode().strip() for text in cells.texts]
        item_of = [self._items.setdefault((place, value), len(self._items)) if value else -1 for value in values]
        items = np.array([*item_of, -1], dtype=np.int32)[cells.numbers]  # -1, an empty cell, says nothing
        return rows[items >= 0], items[items >= 0]

    def labels(self) -> list[str]:
        return [f"{self._names[place]}={text}" for place, text in self._items]


def read_text_grid(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """A wide, one-hot or column=value table from a delimited file."""
    return read_grid(TextGrid(source, plan, options), plan, options)
