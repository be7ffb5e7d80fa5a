"""Transactions from files and objects: the one way in, for every layout, detected or named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from setveil.core.reading import Interpretation, Reading, TableForm
from setveil.core.transactions import Layout, Transactions, in_label_order
from setveil.errors import InputError, one_line
from setveil.io.source import EncodingError, Source, beginning_of_text, guess_encoding
from setveil.io.transactions import guards
from setveil.io.transactions.detect import make_plan
from setveil.io.transactions.labels import warn_about_blanks
from setveil.io.transactions.layouts import KINDS, WRITTEN, Plan, ReadOptions, check_format
from setveil.io.transactions.missing import MissingCells
from setveil.io.transactions.relabel import drop_weights, split_labels, strip_labels
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
    id_column: str | int | None = None,
    item_column: str | int | None = None,
    item_columns: str | Sequence[str] | None = None,
    split: str | None = None,
    missing: str | None = None,
    no_header: bool = False,
    strip: bool = False,
    encoding: str | None = None,
    labels_as_they_are: bool = False,
    keep_ids: bool = False,
) -> Transactions:
    """Read a path, ``-`` for standard input, a binary file object, or a Python object (see ``from_object``).

    ``format`` names the layout (fimi, spmf, long, wide, onehot, table, basket, gmt, arff, jsonl, json, parquet);
    without it the layout is detected. ``delimiter`` and ``no_header`` are for tables; ``id_column``, ``item_column``
    and ``item_columns`` take names, numbers from 1, and (the last) globs. ``split`` takes cells that hold lists apart,
    ``missing`` says what words such as ``NA`` mean in the cells of a table (``drop``: absent; ``value``: values),
    ``strip`` takes blanks off labels, ``labels_as_they_are`` switches the guards against slips off (and takes such
    words for values), ``keep_ids`` keeps the records' ids.
    """
    if isinstance(source, Transactions):
        return source
    several = item_columns.split(",") if isinstance(item_columns, str) else item_columns or ()
    options = ReadOptions(
        format=format,
        delimiter=delimiter,
        id_column=None if id_column is None else str(id_column),
        item_column=None if item_column is None else str(item_column),
        item_columns=tuple(name.strip() for name in several if name.strip()),
        split=split,
        missing=missing,
        no_header=no_header,
        strip=strip,
        encoding=encoding,
        labels_as_they_are=labels_as_they_are,
        keep_ids=keep_ids,
    ).checked()
    name = type(source).__name__
    if isinstance(source, str | os.PathLike) and source != "-" and os.path.isdir(source):  # noqa: PTH112 - odd names are no folders
        source, name = _folder_of_tables(Path(source)), Path(source).name
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return _read_file(source, options)
    from setveil.io.transactions.objects import from_object

    if delimiter is not None or no_header or encoding is not None:
        raise InputError("delimiter, no_header and encoding are for files, not for Python objects; leave them out.")
    data, plan = from_object(source, options)
    reading = Reading(name, plan.layout, "", plan.told_by, interpretation=_interpretation("object", plan, options))
    return _finish(data, plan, options, reading)


def _folder_of_tables(folder: Path) -> Any:
    """The Parquet files of a folder as one table; a release is opened otherwise."""
    files = sorted(folder.rglob("*.parquet"))
    if not files or (folder / "certificate.json").exists():
        return folder
    import polars as pl

    first: Any = None
    for file in files:
        try:
            columns = pl.read_parquet_schema(file)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
            reason = one_line(str(problem).partition("\n")[0], 80)
            raise InputError(f"{one_line(str(file), 120)}: the Parquet data is damaged ({reason}).") from None
        if columns != (first := first or columns):
            raise InputError(
                f"{one_line(str(file), 120)}: has other columns than {one_line(files[0].name)}; the Parquet files of a "
                "folder are read as one table."
            )
    return pl.scan_parquet(files)


def _read_file(source: Any, options: ReadOptions) -> Transactions:
    try:
        return _read_source(source, options, False)
    except EncodingError:
        if options.encoding is not None or not isinstance(source, str | os.PathLike) or not Path(source).is_file():
            raise
        guessed = guess_encoding(beginning_of_text(Path(source))) if os.path.isfile(source) else None  # noqa: PTH113
        if guessed is None:
            raise
    return _read_source(source, replace(options, encoding=guessed), True, f"read as {guessed}, for it is not UTF-8")


def _read_source(source: Any, options: ReadOptions, is_guessed: bool, *notes: str) -> Transactions:
    with Source(source, options.encoding, is_guessed) as opened:
        if not opened.start():
            raise opened.error("the file is empty.", None)
        plan = make_plan(opened, options)
        options.check_for(plan.layout)
        container = plan.layout
        data, plan = _read(opened, plan, options)
        sha256, n_bytes = opened.digest()
        if options.encoding is not None and not notes:
            notes = (f"read as {opened.encoding}",)
        if opened.ends_in_carriage_returns:
            notes = (*notes, "lines end in carriage returns")
        name = "standard input" if opened.name == "<stdin>" else Path(opened.name).name
        reading = Reading(
            name, plan.layout, "", plan.told_by, notes=notes, encoding=opened.encoding, sha256=sha256, n_bytes=n_bytes,
            interpretation=_interpretation(container, plan, options, opened),
        )  # fmt: skip
        return _finish(data, plan, options, reading, opened.name)


def _interpretation(container: str, plan: Plan, options: ReadOptions, source: Source | None = None) -> Interpretation:
    """Which cells were read, for whoever reads them again."""
    is_keyed = container in ("json", "jsonl")
    return Interpretation(
        container=container,
        shape=plan.shape or plan.layout,
        path=None if source is None or source.path is None else os.path.abspath(source.path),  # noqa: PTH100
        delimiter=plan.delimiter,
        has_header=plan.has_header,
        encoding="utf-8" if source is None else source.encoding,
        ends_in_carriage_returns=source is not None and source.ends_in_carriage_returns,
        n_columns=len(plan.names),
        id_place=plan.id_place,
        item_places=plan.item_places,
        id_key=plan.names[plan.id_place] if is_keyed and plan.id_place is not None else "",
        item_key=plan.names[plan.item_places[0]] if is_keyed and plan.item_places else "",
        has_words=bool(plan.kind),
        split=options.split,
        strip=options.strip,
        missing=options.missing,
    )


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """The records, and the plan with what only the whole file could tell."""
    if plan.layout == "fimi":
        from setveil.io.transactions.fimi import read_fimi

        return read_fimi(source), plan
    if plan.layout == "spmf":
        from setveil.io.transactions.fimi import read_spmf

        return read_spmf(source, has_names=bool(plan.kind)), plan
    if plan.layout == "jsonl":
        from setveil.io.transactions.json_lines import read_json_lines

        return read_json_lines(source, plan, options)
    if plan.layout == "json":
        from setveil.io.transactions.json_files import read_json

        return read_json(source, plan, options)
    if plan.layout == "parquet":
        from setveil.io.transactions.parquet import read_parquet

        return read_parquet(source, options)
    if plan.layout == "gmt":
        from setveil.io.transactions.gmt import read_gmt

        return read_gmt(source, options.keep_ids), plan
    if plan.layout == "arff":
        from setveil.io.transactions.arff import read_arff

        return read_arff(source, options.item_columns)
    if plan.layout in ("wide", "onehot", "table"):
        from setveil.io.transactions.grids import read_text_grid

        return read_text_grid(source, plan, options)
    from setveil.io.transactions.delimited import read_basket, read_long

    if plan.layout == "long":
        return read_long(source, plan, options)
    data, plan = read_basket(source, plan)
    return (drop_weights(data) if plan.kind else data), plan  # Orange's baskets


def _finish(data: Transactions, plan: Plan, options: ReadOptions, reading: Reading, where: str = "") -> Transactions:
    """Labels as the user wants them, slips refused, and how it was read said."""
    notes = [*reading.notes, *plan.notes]
    if options.split is not None:
        notes.append(f'cells split at "{options.split}"')
        data = data if plan.is_split else split_labels(data, options.split)
        if plan.is_table and not plan.is_split:
            missing = MissingCells(options)
            data = missing.take_labels(data, plan.item_name)
            notes += missing.told(where or reading.name, data.n_records)
    if options.strip:
        data = strip_labels(data)
        notes.append("blanks around labels taken off")
    warn_about_blanks(data.vocabulary.labels)
    told = guards.Told() if options.labels_as_they_are else guards.check(data, plan, where or reading.name)
    data = in_label_order(data)  # labels that do not occur are gone by now
    reading = replace(
        reading,
        kind=plan.kind or KINDS[plan.layout],
        id_column=plan.id_name,
        item_column=plan.item_name,
        unused=plan.unused,
        notes=tuple(notes),
        warnings=told.warnings,
        doubts=told.doubts,
        form=TableForm(plan.delimiter, plan.has_header, reading.encoding, options.strip),
    )
    return replace(data, reading=reading)


def read_written(path: str | os.PathLike[str] | IO[bytes], layout: Layout, keep_ids: bool = False) -> Transactions:
    """Read back what ``write_transactions`` wrote in this layout: from a path or an opened file."""
    has_columns = layout.name == "long" or (layout.name == "parquet" and layout.long)
    has_columns = has_columns and layout.id_column != layout.item_column  # else only their places tell them apart
    return read_transactions(
        path,
        format=layout.name,
        delimiter=layout.delimiter if layout.name in ("long", "basket") else None,
        id_column=layout.id_column if has_columns else None,
        item_column=layout.item_column if has_columns or layout.name == "parquet" else None,
        labels_as_they_are=True,  # what was written is known to be meant
        keep_ids=keep_ids,
    )


def extension(layout_name: str) -> str:
    """The file extension of a layout, with its dot."""
    return EXTENSIONS[check_format(layout_name, WRITTEN)]


def layout_for(name: str, like: Layout) -> Layout:
    """The layout ``name`` for data that came as ``like``: the same one, or the named one with its usual details."""
    if check_format(name, WRITTEN) == like.name:
        return like
    usual = Layout(name, item_column="items" if name == "parquet" else "item")
    if name in ("long", "parquet") and (like.name == "long" or like.long):
        return replace(usual, id_column=like.id_column, item_column=like.item_column, long=name == "parquet")
    return usual
