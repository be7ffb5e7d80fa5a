"""Transactions from files and back: six layouts, detected or named."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from setveil.core.transactions import Layout, Transactions
from setveil.errors import InputError
from setveil.io.source import Source
from setveil.io.transactions.detect import check_delimiter, check_format, choose_delimiter, detect
from setveil.io.transactions.writing import write_transactions

EXTENSIONS = {
    "fimi": ".dat", "spmf": ".txt", "long": ".csv", "basket": ".csv", "jsonl": ".jsonl", "parquet": ".parquet",
}  # fmt: skip

__all__ = ["extension", "layout_for", "read_transactions", "read_written", "write_transactions"]


def read_transactions(
    source: Any,
    *,
    format: str | None = None,
    delimiter: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    keep_ids: bool = False,
) -> Transactions:
    """Read a path, ``-`` for standard input, a binary file object, or a Python object (see ``from_object``).

    ``format`` is one of fimi, spmf, long, basket, jsonl, parquet; without it the layout is detected. ``delimiter`` is for
    long and basket, ``id_column`` and ``item_column`` for long, jsonl and parquet. ``keep_ids`` keeps the records' ids.
    """
    if not (isinstance(source, str | os.PathLike) or hasattr(source, "read")):
        from setveil.io.transactions.objects import from_object

        if format is not None or delimiter is not None:
            raise InputError("format and delimiter are for files, not for Python objects; leave them out.")
        return from_object(source, id_column=id_column, item_column=item_column, keep_ids=keep_ids)
    name = None if format is None else check_format(format)
    character = None if delimiter is None else check_delimiter(delimiter)
    with Source(source) as opened:
        if not opened.start():
            raise opened.error("the file is empty.", None)
        layout = name or detect(opened, character, id_column is not None or item_column is not None)
        _check_options(layout, delimiter, id_column, item_column, keep_ids)
        return _read(opened, layout, character, id_column, item_column, keep_ids)


def _check_options(
    layout: str, delimiter: str | None, id_column: str | None, item_column: str | None, keep_ids: bool
) -> None:
    if delimiter is not None and layout not in ("long", "basket"):
        raise InputError(f"--delimiter is for long and basket layouts, not for {layout}; leave it out.")
    if layout in ("fimi", "spmf", "basket"):
        for option, given in (
            ("--id-column", id_column is not None),
            ("--item-column", item_column is not None),
            ("--keep-ids", keep_ids),
        ):
            if given:
                raise InputError(f"{option} needs a layout with ids, and {layout} has none; leave it out.")


def _read(
    source: Source, layout: str, delimiter: str | None, id_column: str | None, item_column: str | None, keep_ids: bool
) -> Transactions:
    if layout == "fimi":
        from setveil.io.transactions.fimi import read_fimi

        return read_fimi(source)
    if layout == "spmf":
        from setveil.io.transactions.fimi import read_spmf

        return read_spmf(source)
    if layout == "jsonl":
        from setveil.io.transactions.json_lines import read_json_lines

        return read_json_lines(source, id_column, item_column, keep_ids)
    if layout == "parquet":
        from setveil.io.transactions.parquet import read_parquet

        return read_parquet(source, id_column, item_column, keep_ids)
    from setveil.io.transactions.delimited import read_basket, read_long

    character = delimiter or choose_delimiter(source, layout, id_column, item_column)
    if layout == "basket":
        return read_basket(source, character)
    return read_long(source, character, id_column, item_column, keep_ids)


def read_written(path: str | os.PathLike[str], layout: Layout, keep_ids: bool = False) -> Transactions:
    """Read back what ``write_transactions`` wrote in this layout."""
    has_columns = layout.name == "long" or (layout.name == "parquet" and layout.long)
    has_columns = has_columns and layout.id_column != layout.item_column  # else only their places tell them apart
    return read_transactions(
        path,
        format=layout.name,
        delimiter=layout.delimiter if layout.name in ("long", "basket") else None,
        id_column=layout.id_column if has_columns else None,
        item_column=layout.item_column if has_columns or layout.name == "parquet" else None,
        keep_ids=keep_ids,
    )


def extension(layout_name: str) -> str:
    """The file extension of a layout, with its dot."""
    return EXTENSIONS[check_format(layout_name)]


def layout_for(name: str, like: Layout) -> Layout:
    """The layout ``name`` for data that came as ``like``: the same one, or the named one with its usual details."""
    if check_format(name) == like.name:
        return like
    usual = Layout(name, item_column="items" if name == "parquet" else "item")
    if name in ("long", "parquet") and (like.name == "long" or like.long):
        return replace(usual, id_column=like.id_column, item_column=like.item_column, long=name == "parquet")
    return usual
