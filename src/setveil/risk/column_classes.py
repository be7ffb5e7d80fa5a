"""Known columns: attackers always know them, so they look among the records of one class only.

A *class* is the records with the same known columns, as they were or as they are published. An item of one class is
another one than the same item of another class: of such *class items*, the records that contain some are the records
of the class that contain them. Attackers who look for a person begin with the class in which the person's record is
published; of people whose record is not known, with the smallest class whose values cover theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import Postings, index_rows
from setveil.core import Transactions, Vocabulary
from setveil.core.columns import Column, Columns
from setveil.errors import InputError, name_some

_AT_ONCE = 10_000_000  # people times classes that are compared together


def known_columns(columns: Columns | None) -> Columns:
    """The columns that an attacker knows."""
    return Columns(()) if columns is None else columns.with_role("known")


@dataclass(frozen=True, eq=False)
class ColumnClasses:
    """The classes of some records."""

    columns: Columns  # known ones
    of_record: NDArray[np.int64]  # [records] class

    @classmethod
    def of(cls, data: Transactions) -> ColumnClasses | None:
        """None where no column is known."""
        known = known_columns(data.columns)
        return cls(known, known.classes(data.n_records)) if len(known) else None

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many records each class has, int64[classes]."""
        return np.bincount(self.of_record).astype(np.int64)

    @property
    def postings(self) -> Postings:
        """The records of each class; one more list, without records, is for people who fit in none."""
        n_records = len(self.of_record)
        rows = np.arange(n_records + 1, dtype=np.int64), self.of_record.astype(np.int32)
        return index_rows(*rows, len(self.sizes) + 1)

    def of_people(self, people: Columns) -> NDArray[np.int64]:
        """The smallest class whose values cover those of each person; the number of classes where none does."""
        sizes = self.sizes
        by_size = np.lexsort((np.arange(len(sizes)), sizes))
        number = known_columns(people).classes(len(people.columns[0].codes))
        found = np.full(int(number.max(initial=-1)) + 1, len(sizes), dtype=np.int64)
        for start, is_fitting in self._fits(people, by_size):
            best = is_fitting.argmax(axis=1)
            found[start : start + len(best)] = np.where(is_fitting.any(axis=1), by_size[best], len(sizes))
        return found[number]

    def people_by_class(self, people: Transactions) -> Postings:
        """The people whose values each class covers."""
        lacking = set(self.columns.names) - set(known_columns(people.columns).names)
        if people.columns is None or lacking:
            raise InputError(
                f"--population: the file has no known column {name_some(sorted(lacking))}; give those of the data."
            )
        number = known_columns(people.columns).classes(people.n_records)
        lists: list[NDArray[np.int64]] = []  # [cells] classes
        for _, is_fitting in self._fits(people.columns, np.arange(len(self.sizes))):
            lists.extend(np.flatnonzero(fits) for fits in is_fitting)
        rows = [lists[cell] for cell in number.tolist()]
        indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        return index_rows(indptr, np.concatenate(rows).astype(np.int32), len(self.sizes))

    def _fits(self, people: Columns, classes: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Which of some classes cover the values of people with the same values: ``(first cell, bool[cells, classes])``
        for a part of the cells at a time.
        """
        first = np.unique(self.of_record, return_index=True)[1]  # [classes] a record of each
        known = known_columns(people)
        number = known.classes(len(people.columns[0].codes))
        one_each = np.unique(number, return_index=True)[1]  # [cells] a person of each
        fits = [_fitting(known[column.name], column) for column in self.columns]
        step = max(1, _AT_ONCE // max(len(classes), 1))
        for start in range(0, len(one_each), step):
            some = one_each[start : start + step]
            is_fitting = np.ones((len(some), len(classes)), dtype=bool)
            for column, pairs in zip(self.columns, fits, strict=True):
                is_fitting &= pairs[known[column.name].codes[some]][:, column.codes[first[classes]]]
            yield start, is_fitting


def _fitting(column: Column, published: Column) -> NDArray[np.bool_]:
    """Which published values may be those of each value, bool[values, published values]."""
    fits = np.zeros((len(column.values), len(published.values)), dtype=bool)
    if published.cover is None:
        same = published.values.numbers(column.values)
        fits[same >= 0, same[same >= 0]] = True
        return fits
    for place, (value, covered) in enumerate(zip(published.values, published.cover.to_lists(), strict=True)):
        numbers = column.values.numbers(covered)
        fits[numbers[numbers >= 0], place] = True
        if value in published.unnamed:  # it also covers values that the files do not name
            fits[:, place] |= published.values.numbers(column.values) < 0
    return fits


class Numbers(Vocabulary):
    """The labels 0, 1, …: there may be many millions, and nobody reads them."""

    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n

    @property
    def labels(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(map(str, range(self.n)))

    def __len__(self) -> int:
        return self.n


def class_items(data: Transactions, column_classes: ColumnClasses) -> NDArray[np.int64]:
    """For each items_by_class item ``class * items + item``, ascending."""
    return np.unique(column_classes.of_record[data.owners] * max(data.n_items, 1) + data.items)


def items_by_class(data: Transactions, column_classes: ColumnClasses) -> Transactions:
    """The records over class items."""
    keys = column_classes.of_record[data.owners] * max(data.n_items, 1) + data.items
    once, items = np.unique(keys, return_inverse=True)
    return replace(
        data, items=items.reshape(-1).astype(np.int32), vocabulary=Numbers(len(once)), columns=None, ids=None
    )  # fmt: skip
