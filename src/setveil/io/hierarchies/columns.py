"""A hierarchy from the columns of a table, the data file itself included."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike

from setveil.errors import InputError, name_some
from setveil.io.hierarchies.drafts import Draft
from setveil.io.hierarchies.tables import read_rows
from setveil.io.source import PARQUET, Source

DELIMITERS = ",;\t|"


def read_columns(draft: Draft, path: str | PathLike[str], columns: Sequence[str], delimiter: str | None) -> None:
    """Leaf to top or top to leaf: the end with more values is the leaf. Every distinct row counts once."""
    import polars as pl

    names = [name.strip() for name in columns if name.strip()]
    if len(names) < 2 or len(set(names)) != len(names):
        raise InputError(
            "--hierarchy-columns: name the column of the items and at least one of groups, as in Product,Category."
        )
    file = os.fspath(path)
    with Source(path) as source:  # complains about what is no file and no text
        is_parquet = source.start().startswith(PARQUET)
        first = "" if is_parquet else source.sample().split(b"\n", 1)[0].decode(errors="replace").strip("\r")
    try:
        if is_parquet:
            table = pl.read_parquet(file, columns=names).cast(pl.String)
        else:
            separator = delimiter or max(DELIMITERS, key=first.count)
            table = pl.read_csv(file, separator=separator, infer_schema=False, columns=names)
    except pl.exceptions.ColumnNotFoundError:
        raise InputError(
            f"{file}:1: the header has not all of {name_some(names)}; correct --hierarchy-columns."
        ) from None
    except (pl.exceptions.PolarsError, OSError) as problem:
        reason = str(problem).partition("\n")[0][:80]
        raise InputError(f"{file}: cannot be read as a table ({reason}); see --hierarchy-columns.") from None
    table = table.select(names).fill_null("")
    n_values = [table.to_series(place).n_unique() for place in range(len(names))]
    if n_values[0] < n_values[-1]:
        table = table.select(names[::-1])
    lines = pl.Series(range(2, table.height + 2), dtype=pl.Int64)  # below the header
    is_first = table.select(pl.struct(pl.all()).is_first_distinct() & (pl.nth(0) != "")).to_series()
    rows = zip(lines.filter(is_first).to_list(), table.filter(is_first).rows(), strict=True)
    read_rows(draft, [(line, list(row)) for line, row in rows], None)
    if not draft.labels and not draft.problems:
        draft.report("error", "the hierarchy has no nodes.")
