"""Transactions from files and objects: the one way in, for every layout, detected or named."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from setveil.core.provenance import Interpretation, ReadColumn, Reading, TableForm
from setveil.core.transactions import Layout, Transactions, in_label_order
from setveil.errors import InputError, one_line
from setveil.io.formats.base import Format, Plan, Start
from setveil.io.formats.registry import FORMATS, words_for, written_format
from setveil.io.options import ReadOptions
from setveil.io.source import EncodingError, Source, guessed_encoding
from setveil.io.transactions import guards
from setveil.io.transactions.labels import warn_about_blanks
from setveil.io.transactions.missing import MissingCells
from setveil.io.transactions.relabel import split_labels, strip_labels
from setveil.io.transactions.tables import plan_table
from setveil.io.transactions.writing import write_transactions

__all__ = ["layout_for", "read_transactions", "read_written", "write_transactions"]


def read_transactions(source: Any, *, table: str | None = None, **given: Any) -> Transactions:
    """Read a path, ``-`` for standard input, a binary file object, or a Python object (see ``from_object``).

    ``format`` names the layout (long, wide, onehot, table, basket, jsonl, json, parquet, gmt, arff, spmf, fimi);
    without it the layout is detected. ``delimiter`` and ``no_header`` are for tables; ``id_column``, ``item_column``
    and ``item_columns`` take names, numbers from 1, and (the last) globs. ``person`` and ``item`` say the same;
    ``known_columns``, ``sensitive_columns`` and ``carry`` name columns whose values come with the records, one per
    person, ``drop`` those that are not read. ``column_hierarchy`` maps known columns to hierarchies
    (``{"age": "bands:5,10"}``). ``split`` takes cells that hold lists apart, ``missing`` says what words such as ``NA``
    mean in the cells of a table (``drop``: absent; ``value``: values), ``missing_person`` what becomes of rows without
    the id of a person (``drop`` or ``error``), ``per_person`` which value counts where a column differs between the
    rows of one person (``first``, ``last``, ``min``, ``max``, ``most``). ``strip`` takes blanks off labels,
    ``labels_as_they_are`` switches the guards against slips off (and takes such words for values), ``keep_ids`` keeps
    the records' ids. ``table`` is the name of a stored table that ``source``, a frame, was read from: messages show it,
    and it is written as a Parquet file is.
    """
    options = ReadOptions.of(given).checked()
    if isinstance(source, Transactions):
        if options.roles.columns:
            raise InputError("the data has been read; state the roles of its columns where it is read.")
        return source
    name = type(source).__name__
    if isinstance(source, str | os.PathLike) and source != "-" and os.path.isdir(source):  # noqa: PTH112 - odd names are no folders
        source, name = _folder_of_tables(Path(source)), Path(source).name
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return _read_file(source, options)
    from setveil.io.transactions.objects import from_object

    if any(
        value not in (None, False) for value in (options.delimiter, options.no_header, options.encoding, options.sheet)
    ):
        raise InputError("delimiter, no_header, encoding and sheet are for files, not for Python objects; remove them.")
    data, plan = from_object(source, options, table)
    name = table or name
    reading = Reading(name, plan.layout, "", plan.evidence, interpretation=_interpretation("object", plan, options))
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
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            where = one_line(str(file), 120)
            raise InputError(f"{where}: the Parquet data is damaged or incomplete; write the file again.") from None
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
        guessed = guessed_encoding(source, options.encoding)
        if guessed is None:
            raise
    return _read_source(source, replace(options, encoding=guessed), True, f"read as {guessed}, because it is not UTF-8")


def _read_source(source: Any, options: ReadOptions, is_guessed: bool, *notes: str) -> Transactions:
    with Source(source, options.encoding, is_guessed, options.sheet) as opened:
        if not opened.start():
            raise opened.error("the file is empty.", None)
        plan = make_plan(opened, options)
        format = FORMATS[plan.layout]
        options.check_for(format)
        data, plan = format.read(opened, plan, options)
        if data.layout == Layout() and format.write is not None:  # the reader did not say how to write it
            data = replace(data, layout=Layout(format.name))
        sha256, n_bytes = opened.digest()
        if options.encoding is not None and not notes:
            notes = (f"read as {opened.encoding}",)
        if opened.is_workbook:
            notes = (*notes, "an Excel workbook" if options.sheet is None else f'sheet "{one_line(options.sheet, 40)}"')
        if opened.ends_in_carriage_returns:
            notes = (*notes, "lines end in carriage returns")
        name = "standard input" if opened.name == "<stdin>" else Path(opened.name).name
        reading = Reading(
            name, plan.layout, "", plan.evidence, notes=notes, encoding=opened.encoding, sha256=sha256, n_bytes=n_bytes,
            interpretation=_interpretation(format.name, plan, options, opened),
        )  # fmt: skip
        return _finish(data, plan, options, reading, opened.name)


def _interpretation(container: str, plan: Plan, options: ReadOptions, source: Source | None = None) -> Interpretation:
    """Which cells were read, for whoever reads them again."""
    is_keyed = container in FORMATS and FORMATS[container].has_keys
    return Interpretation(
        container=container,
        shape=plan.shape or plan.layout,
        path=None if source is None or source.path is None else os.path.abspath(source.path),  # noqa: PTH100
        delimiter=plan.delimiter,
        has_header=plan.has_header,
        encoding="utf-8" if source is None else source.encoding,
        ends_in_carriage_returns=source is not None and source.ends_in_carriage_returns,
        is_workbook=source is not None and source.is_workbook,
        sheet=options.sheet,
        n_columns=len(plan.names),
        id_position=plan.id_position,
        item_positions=plan.item_positions,
        id_key=plan.names[plan.id_position] if is_keyed and plan.id_position is not None else "",
        item_key=plan.names[plan.item_positions[0]] if is_keyed and plan.item_positions else "",
        has_words=bool(plan.kind),
        split=options.split,
        strip=options.strip,
        missing=options.missing,
        columns=tuple(ReadColumn(column.place, plan.names[column.place], column.role) for column in plan.read_columns),
        missing_person=options.missing_person,
        per_person=options.per_person,
    )


def _finish(data: Transactions, plan: Plan, options: ReadOptions, reading: Reading, where: str = "") -> Transactions:
    """Labels as the user wants them, slips refused, and how it was read said."""
    notes = [*reading.notes, *plan.notes]
    if options.split is not None:
        notes.append(f'cells split at "{options.split}"')
        data = data if plan.is_split else split_labels(data, options.split)
        if plan.is_table and not plan.is_split:
            missing = MissingCells(options)
            data = missing.take_labels(data, plan.item_name)
            notes += missing.report(where or reading.name, data.n_records)
    if options.strip:
        data = strip_labels(data)
        notes.append("blanks around labels removed")
    warn_about_blanks(data.vocabulary.labels)
    found = guards.Findings() if options.labels_as_they_are else guards.check(data, plan, where or reading.name)
    found = found.joined(guards.tell_visits(plan, where or reading.name, options.labels_as_they_are))
    data = in_label_order(data)  # labels that do not occur are gone by now
    reading = replace(
        reading,
        kind=plan.kind or words_for(plan.layout),
        id_column=plan.id_name,
        item_column=plan.item_name,
        has_several=len(plan.item_positions) > 1,
        unused=plan.unused,
        columns=tuple((plan.names[column.place], column.role) for column in plan.columns),
        notes=tuple(notes),
        warnings=found.warnings,
        doubts=found.doubts,
        form=TableForm(plan.delimiter, plan.has_header, reading.encoding, options.strip),
    )
    return replace(data, reading=reading)


# -- detecting --------------------------------------------------------------------------------------------------------


def _by_magic(source: Source) -> Format | None:
    """The format whose files begin with certain bytes, if these do."""
    start = source.start()
    return next((format for format in FORMATS.values() if format.magic and start.startswith(format.magic)), None)


def make_plan(source: Source, options: ReadOptions) -> Plan:
    """What to read the file as: the user's word, or detected from its first bytes, its extension and its first lines.

    Only evidence decides, and it is said. A table of two columns and baskets of two items look alike; then the user is
    asked instead, with the options that distinguish them.
    """
    if options.format is not None:
        named = FORMATS[options.format]
        options.check_for(named)
        if "no_header" in named.takes:  # a table, which another kind of file may hold as well
            named = _by_magic(source) or named
        return named.understand(source, options, f"--format {options.format}")
    binary = _by_magic(source)
    if binary is not None:
        return binary.understand(source, options, "the first bytes")
    start = Start(source, options)
    for format in FORMATS.values():
        if start.extension in format.extensions:
            return format.understand(source, options, f"the extension {start.extension}")
    if not start.first:
        raise source.error(
            "the file has only empty lines, so that its layout cannot be detected; use --format with one of "
            f"{', '.join(FORMATS)}.",
            1,
        )
    for format in FORMATS.values():
        plan = None if format.sniff is None else format.sniff(start)
        if plan is not None:
            return plan
    return plan_table(source, options)


# -- what was written -------------------------------------------------------------------------------------------------


def read_written(path: str | os.PathLike[str] | IO[bytes], layout: Layout, keep_ids: bool = False) -> Transactions:
    """Read back what ``write_transactions`` wrote in this layout: from a path or an opened file."""
    format = FORMATS[layout.name]
    is_long = format.needs_ids or layout.long
    has_columns = is_long and layout.id_column != layout.item_column  # else only their positions show which is which
    has_items = has_columns or ("item_column" in format.details and not format.needs_ids)
    return read_transactions(
        path,
        format=layout.name,
        delimiter=layout.delimiter if "delimiter" in format.details else None,
        id_column=layout.id_column if has_columns else None,
        item_column=layout.item_column if has_items else None,
        labels_as_they_are=True,  # what was written is known to be meant
        keep_ids=keep_ids,
    )


def layout_for(name: str, like: Layout) -> Layout:
    """The layout ``name`` for data that came as ``like``: the same one, or the named one with its usual details."""
    format = written_format(name)
    if format.name == like.name:
        return like
    usual = Layout(format.name, item_column=format.item_column)
    if "id_column" in format.details and (FORMATS[like.name].needs_ids or like.long):
        return replace(usual, id_column=like.id_column, item_column=like.item_column, long="long" in format.details)
    return usual
