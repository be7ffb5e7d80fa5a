"""Columns besides the items, as the verifier's own arrays. Nothing about the given ones is trusted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import Columns
from setveil.core.vocabulary import ascending
from setveil.errors import InputError, one_line


@dataclass(frozen=True, eq=False)
class PublishedColumn:
    """One value per record: ``values[codes[i]]`` is that of record ``i``; values are ascending and differ."""

    name: str
    role: str
    values: tuple[str, ...]
    codes: NDArray[np.int64]  # [n_records]


@dataclass(frozen=True, eq=False)
class Classes:
    """Records with equal values in some columns, numbered in ascending order of these values."""

    of_record: NDArray[np.int64]  # [n_records]
    sizes: NDArray[np.int64]  # [classes]
    columns: tuple[PublishedColumn, ...]
    first: NDArray[np.int64]  # [classes] one record of each

    def names(self, number: int) -> tuple[str, ...]:
        """``column=value`` for each column."""
        record = int(self.first[number])
        return tuple(f"{column.name}={column.values[int(column.codes[record])]}" for column in self.columns)


def read_columns(columns: Columns | None, n_records: int) -> tuple[PublishedColumn, ...]:
    """InputError where the arrays do not fit together."""
    found = []
    for column in columns or ():
        codes = np.asarray(column.codes, dtype=np.int64)
        given = tuple(column.values)
        if len(codes) != n_records:
            raise InputError(f'column "{one_line(column.name)}" is damaged: it has {len(codes):,} values, and there '
                             f"are {n_records:,} records.")  # fmt: skip
        if len(codes) and (codes.min() < 0 or codes.max() >= len(given)):
            raise InputError(f'column "{one_line(column.name)}" is damaged: a value has no label.')
        values = tuple(ascending(set(given)))
        number = {value: place for place, value in enumerate(values)}
        place = np.array([number[value] for value in given], dtype=np.int64)
        found.append(PublishedColumn(column.name, column.role, values, place[codes]))
    if len({column.name for column in found}) < len(found):
        raise InputError("two columns have the same name; rename one.")
    return tuple(found)


def classes_of(columns: Iterable[PublishedColumn], n_records: int) -> Classes:
    """Records with equal values in all ``known`` columns; without any, all records are one class."""
    known = tuple(column for column in columns if column.role == "known")
    order = np.lexsort([column.codes for column in reversed(known)]) if known else np.arange(n_records)
    begins = np.zeros(n_records, dtype=bool)
    begins[:1] = True
    for column in known:
        begins[1:] |= column.codes[order[1:]] != column.codes[order[:-1]]
    of_record = np.empty(n_records, dtype=np.int64)
    of_record[order] = np.cumsum(begins) - 1
    sizes = np.bincount(of_record, minlength=int(begins.sum())).astype(np.int64)
    return Classes(of_record, sizes, known, order[begins])


def n_values_per_class(classes: Classes, codes: NDArray[np.int64], n_values: int) -> NDArray[np.int64]:
    """How many different values each class has in a column, int64[classes]."""
    pairs = np.unique(classes.of_record * max(n_values, 1) + codes)
    return np.bincount(pairs // max(n_values, 1), minlength=len(classes.sizes)).astype(np.int64)
