"""One record per person: rows without a person, and the columns that have one value per person.

A cell of a column that is empty says nothing. So a person whose other rows have a value has that value, and a person
whose rows are all empty has the value "missing". Blanks around values do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import MISSING, Column, Columns, Role
from setveil.core.naming import fresh_name
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary, ascending
from setveil.errors import InputError, name_some, times
from setveil.io.formats.base import Plan
from setveil.io.hierarchies.values import hierarchy_of_values, number_in
from setveil.io.options import ReadOptions
from setveil.io.source import one_line
from setveil.io.transactions.labels import Labels, Numbered, Rows, number_apart, tokens_of
from setveil.io.transactions.missing import MissingCells

LEAST_PEOPLE = 20  # below, values may all differ by chance
Numbers = NDArray[np.int64]


class ColumnCells:
    """The cells of the columns of people, as the rows of an input pass."""

    def __init__(self, plan: Plan, missing: MissingCells | None) -> None:
        self.names = [plan.names[column.place] for column in plan.read_columns]
        self.positions = [column.place for column in plan.read_columns]
        self._missing = missing  # None: a word for "missing" is a value
        self._labels = [Labels() for _ in self.names]
        self._numbers: list[list[NDArray[np.int32]]] = [[] for _ in self.names]

    def take(self, cells: Sequence[Numbered]) -> None:
        """The cells of some more rows, column by column."""
        for place, numbered in enumerate(cells):
            if self._missing is not None:
                numbered = self._missing.take(numbered, self.names[place])
            texts = [text.decode().strip().encode() for text in numbered.texts]
            numbers = self._labels[place].numbers_of(texts)
            empty = self._labels[place].number_of.pop(b"", None)
            if empty is not None:  # white space alone
                numbers = np.where(numbers == empty, -1, numbers - (numbers > empty)).astype(np.int32)
                known = self._labels[place].number_of
                known |= {text: number - (number > empty) for text, number in known.items()}
            self._numbers[place].append(numbers[numbered.numbers])

    def cells(self, place: int) -> tuple[NDArray[np.int32], list[str]]:
        """``(numbers, texts)`` of a column: one number per row, -1 for an empty cell."""
        parts = self._numbers[place]
        whole = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
        return whole, self._labels[place].texts()


def finish_people(
    data: Transactions, rows: Rows, cells: ColumnCells, plan: Plan, options: ReadOptions, where: str
) -> tuple[Transactions, tuple[str, ...]]:
    """The records of people with their columns, and notes on what was dropped."""
    nobody, notes = _rows_without_person(rows, plan, options, where)
    is_person = np.ones(rows.n_records, dtype=bool)
    is_person[nobody] = False
    if len(nobody):
        data = data.select(np.flatnonzero(is_person)).used_items()
        if not data.n_records:
            raise InputError(f"{where}: no row has the id of a person; name another column with --person.")
    if not cells.names:
        return data, notes
    number_of = np.where(is_person, np.cumsum(is_person) - 1, -1)  # [records before] the number of those that are left
    of_row = number_of[rows.of_row]
    columns = []
    for place, column_plan in enumerate(plan.read_columns):
        numbers, texts = cells.cells(place)
        chosen = _one_per_person(cells.names[place], numbers, texts, of_row, data.n_records, options, where)
        column = _column(cells.names[place], cast(Role, column_plan.role), chosen, texts)
        _refuse_ids(column, column_plan.hierarchy, options, where)
        if column_plan.hierarchy is not None:
            tree = hierarchy_of_values(column_plan.hierarchy, column, where)
            column = replace(column, hierarchy=tree)
        columns.append(column)
    return replace(data, columns=Columns(tuple(columns))), notes


def finish_values(
    data: Transactions, rows: Rows, texts_of: Mapping[str, list[bytes]], plan: Plan, options: ReadOptions, where: str
) -> tuple[Transactions, tuple[str, ...]]:
    """The same for records in JSON, where words for "missing" are values and ids like any other."""
    cells = ColumnCells(plan, None)
    cells.take([number_apart(tokens_of(texts_of[name])) for name in cells.names])
    return finish_people(data, rows, cells, plan, replace(options, missing="value"), where)


# -- rows without a person --------------------------------------------------------------------------------------------


def _rows_without_person(rows: Rows, plan: Plan, options: ReadOptions, where: str) -> tuple[Numbers, tuple[str, ...]]:
    """The records of rows that have no id, or a word for "missing" in its place; an error unless they are dropped."""
    found = rows.nobody
    words = [word for word in found if word]
    if options.missing == "value":
        found = {word: record for word, record in found.items() if not word}
    if not found:
        return np.empty(0, dtype=np.int64), ()
    column = one_line(plan.id_name, 40)
    numbers = np.array(sorted(set(found.values())), dtype=np.int64)
    n_rows = int(np.isin(rows.of_row, numbers).sum())
    if options.missing_person == "drop":
        return numbers, (f'dropped: {times(n_rows, "row")} without an id in "{column}"',)
    if "" in found and rows.first_empty:
        n_empty = int((rows.of_row == found[""]).sum())
        others = f", like {times(n_empty - 1, 'other row')}" if n_empty > 1 else ""
        raise InputError(
            f"{rows.first_empty}: the row has no id{others}; give every row the id of its person, or use "
            "--missing-person drop."
        )
    raise InputError(
        f'{where}: column "{column}": {times(n_rows, "row has", "rows have")} the id {name_some(sorted(words), 3)}. '
        "Does it mean that "
        "the person is not known? Use --missing-person drop. Is it an id like any other? Use --missing value."
    )


# -- one value per person ---------------------------------------------------------------------------------------------


def _one_per_person(
    name: str,
    numbers: NDArray[np.int32],
    texts: list[str],
    of_row: Numbers,
    n_records: int,
    options: ReadOptions,
    where: str,
) -> NDArray[np.int32]:
    """The value of each record, int32[n_records]; -1 where all of its cells are empty."""
    chosen = np.full(n_records, -1, dtype=np.int32)
    says = (numbers >= 0) & (of_row >= 0)
    records, values = of_row[says], numbers[says].astype(np.int64)
    if not len(records):
        return chosen
    rule = options.per_person
    if rule in ("first", "last"):
        step = 1 if rule == "first" else -1
        some, positions = np.unique(records[::step], return_index=True)
        chosen[some] = values[::step][positions]
        return chosen
    said = np.unique(values)
    ordered = said[in_order([texts[number] for number in said.tolist()])]  # numbers of values, ascending
    rank = np.empty(len(texts), dtype=np.int64)
    rank[ordered] = np.arange(len(ordered))
    pairs, counts = np.unique(records * len(texts) + rank[values], return_counts=True)
    owners, ranks = pairs // len(texts), pairs % len(texts)  # ascending by record, then by value
    n_values = np.bincount(owners, minlength=n_records)
    if rule is None and n_values.max() > 1:
        n_people = int((n_values > 1).sum())
        raise InputError(
            f'{where}: column "{one_line(name, 40)}" differs between the rows of one person, for {n_people:,} of '
            f"{n_records:,} people. Choose one value with --per-person first, last, min, max or most, or make it an "
            "item of each row with --format table."
        )
    if rule == "most":
        order = np.lexsort((ranks, -counts, owners))  # the smallest of equally frequent values
        owners, ranks = owners[order], ranks[order]
    if rule == "max":
        owners, ranks = owners[::-1], ranks[::-1]
    some, positions = np.unique(owners, return_index=True)
    chosen[some] = ordered[ranks[positions]]
    return chosen


def in_order(texts: Sequence[str]) -> Numbers:
    """The numbers of values in ascending order: by value if all are numbers, else as labels are."""
    numbers = [number_in(text) for text in texts]
    if None not in numbers:
        order = sorted(range(len(texts)), key=lambda place: (numbers[place], texts[place]))
        return np.array(order, dtype=np.int64)
    place_of = {text: place for place, text in enumerate(texts)}
    return np.array([place_of[text] for text in ascending(texts)], dtype=np.int64)


def _column(name: str, role: Role, chosen: NDArray[np.int32], texts: list[str]) -> Column:
    used = np.unique(chosen)
    present = {texts[number] for number in used.tolist() if number >= 0}
    missing = fresh_name(MISSING, present) if len(used) and used[0] < 0 else ""
    values = Vocabulary(present | {missing} if missing else present)
    number_of = np.append(values.numbers(texts), values.number(missing))
    return Column(name, role, values, number_of[chosen].astype(np.int32), missing)


def _refuse_ids(column: Column, hierarchy: str | None, options: ReadOptions, where: str) -> None:
    """A known column in which nobody shares a value cannot be published as it is."""
    n_people = len(column.codes)
    is_flat = hierarchy in (None, "flat")
    if options.labels_as_they_are or column.role != "known" or not is_flat or n_people < LEAST_PEOPLE:
        return
    if int(column.counts.max()) == 1:
        raise InputError(
            f'{where}: column "{one_line(column.name, 40)}": all {n_people:,} people have different values, as ids '
            "have. Drop it with --drop, or give it a hierarchy with --column-hierarchy."
        )
