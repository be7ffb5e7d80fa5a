"""A hierarchy from the columns of a table, the data file itself included."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.core.provenance import TableForm
from setveil.errors import InputError, name_some
from setveil.io.hierarchies.drafts import Draft
from setveil.io.hierarchies.tables import read_rows
from setveil.io.hierarchies.text import first_bytes, load_text
from setveil.io.source import PARQUET
from setveil.io.workbooks import sheet_as_text

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = ",;\t|"
REPEATED = "_duplicated_0"  # what Polars adds to a name that the header has before


def read_columns(draft: Draft, path: str | PathLike[str], columns: Sequence[str], form: TableForm) -> None:
    """Leaf to top or top to leaf: the end with more values is the leaf. Every distinct row counts once."""
    import polars as pl

    names = [name.strip() for name in columns if name.strip()]
    if len(names) < 2 or len(set(names)) != len(names):
        raise InputError(
            "--hierarchy-columns: name the column of the items and at least one of groups, as in Product,Category."
        )
    table = _read_table(path, form)
    found = _found(draft.file, table.columns, names, form.has_header)
    if len(set(found)) != len(found):
        raise InputError(f"{draft.file}:1: --hierarchy-columns names a column twice, once by its number; name it once.")
    table = table.select(found).fill_null("")
    n_values = [table.to_series(place).n_unique() for place in range(table.width)]
    if n_values[0] < n_values[-1]:
        table = table.select(table.columns[::-1])
    lines = pl.Series(range(1 + form.has_header, table.height + 1 + form.has_header), dtype=pl.Int64)
    is_first = table.select(pl.struct(pl.all()).is_first_distinct() & (pl.nth(0) != "")).to_series()
    rows = zip(lines.filter(is_first).to_list(), table.filter(is_first).rows(), strict=True)
    read_rows(draft, [(line, list(row)) for line, row in rows], None)
    if not draft.labels and not draft.problems:
        draft.report("error", "the hierarchy has no nodes.")


def from_leaves(
    path: str | PathLike[str], columns: Sequence[str], form: TableForm, vocabulary: Iterable[str], item_column: str = ""
) -> list[str]:
    """The columns of a hierarchy from the items up to the broadest groups.

    They stay as they are where the first or the last of them has items. Otherwise the column of the items comes first:
    the named one, or the one that has most of them. Groups are then sorted by how many values they have.
    """
    table = _read_table(path, form)
    file = os.fspath(path)
    names = _found(file, table.columns, [name.strip() for name in columns if name.strip()], form.has_header)
    items = set(vocabulary)
    held = {name: len(items.intersection(table.get_column(name).drop_nulls().unique())) for name in table.columns}
    if names and not item_column and max(held[names[0]], held[names[-1]]):
        return list(columns)
    leaf = item_column if item_column in held else max(held, key=lambda name: held[name])
    if not held[leaf]:
        raise InputError(f"{file}: no column has one of the items; add a column with their codes.")
    groups = sorted({*names} - {leaf}, key=lambda name: (-table.get_column(name).n_unique(), table.columns.index(name)))
    return [name if form.has_header else str(table.columns.index(name) + 1) for name in (leaf, *groups)]


def _read_table(path: str | PathLike[str], form: TableForm) -> pl.DataFrame:
    """All cells as text."""
    import polars as pl

    table = _read_cells(path, form)
    return table.with_columns(pl.all().str.strip_chars()) if form.is_stripped else table


def _read_cells(path: str | PathLike[str], form: TableForm) -> pl.DataFrame:
    import polars as pl

    file = os.fspath(path)
    try:
        if first_bytes(path, len(PARQUET)) == PARQUET:
            return pl.read_parquet(file).cast(pl.String)
        if first_bytes(path, 4) == b"PK\x03\x04":
            text = sheet_as_text(Path(file).read_bytes(), None, file).decode()
        else:
            text = load_text(path, form.encoding)
        separator = form.delimiter or max(DELIMITERS, key=text.partition("\n")[0].count)
        if len(separator) > 1:  # the :: of rating files
            text, separator = text.replace(separator, "\x1f"), "\x1f"
        lines = text if "\n" in text else text.replace("\r", "\n")
        return pl.read_csv(BytesIO(lines.encode()), separator=separator, infer_schema=False, has_header=form.has_header)
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).partition("\n")[0][:80]
        raise InputError(f"{file}: cannot be read as a table ({reason}); see --hierarchy-columns.") from None


def _found(file: str, columns: Sequence[str], names: Sequence[str], has_header: bool) -> list[str]:
    """The columns that are meant: by name, or by number from 1."""
    found = []
    for name in names:
        if has_header and f"{name}{REPEATED}" in columns:
            raise InputError(f"{file}:1: the header names column {name_some([name])} several times; rename one.")
        if has_header and name in columns:
            found.append(name)
        elif re.fullmatch("[0-9]{1,9}", name) and 0 < int(name) <= len(columns):
            found.append(columns[int(name) - 1])
        else:
            what = f"the header has no column {name_some([name])}" if has_header else f"there is no column {name}"
            raise InputError(f"{file}:1: {what}; correct --hierarchy-columns.")
    return found
