"""``columns.csv``: the original values that each published value of a known column covers.

A row without a value says that the published value also covers values that the file does not name: they stand in no
record, and only the data shows that they occur.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from setveil.core import Itemsets, Vocabulary
from setveil.core.columns import Column, Columns
from setveil.errors import InputError, one_line
from setveil.io.releases.tables import encode_table, read_table

COLUMNS = "columns.csv"
HEADER = ("column", "published", "value")


def encode_columns(columns: Columns) -> Iterator[bytes]:
    """The bytes of ``columns.csv``: columns in order, published values and what they cover ascending."""
    return encode_table(HEADER, (row for column in columns for row in _rows(column)))


def _rows(column: Column) -> Iterator[tuple[str, str, str]]:
    if column.cover is None:
        return
    for value, covered in zip(column.values, column.cover.to_lists(), strict=True):
        if value in column.unnamed:
            yield column.name, value, ""
        for one in covered:
            yield column.name, value, one


def with_cover(columns: Columns, folder: Path) -> Columns:
    """Columns read from published records, with what ``columns.csv`` says about them."""
    known = columns.with_role("known")
    covered: dict[str, dict[str, list[str]]] = {column.name: {} for column in known}
    for line, (name, published, value) in read_table(folder / COLUMNS, HEADER):
        if name not in covered:
            raise InputError(f'{COLUMNS}:{line}: "{one_line(name)}" is not a known column of this release.')
        if published not in known[name].values:
            raise InputError(f'{COLUMNS}:{line}: no record has the value "{one_line(published)}".')
        covered[name].setdefault(published, []).append(value)
    return columns.replaced(_with_cover(column, covered[column.name]) for column in known)


def _with_cover(column: Column, covered: dict[str, list[str]]) -> Column:
    lacking = [value for value in column.values if value not in covered]
    if lacking:
        raise InputError(f'{COLUMNS}: it does not say what "{one_line(lacking[0])}" of "{column.name}" covers.')
    rows = [[one for one in covered[value] if one] for value in column.values]
    cover, _ = Itemsets.from_lists(rows, Vocabulary({one for row in rows for one in row}))
    unnamed = frozenset(value for value in column.values if "" in covered[value])
    return replace(column, cover=cover, unnamed=unnamed)
