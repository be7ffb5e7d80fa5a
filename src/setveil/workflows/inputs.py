"""Data comes in here: one door from any file or object to Transactions, for every function a user calls."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from setveil.core import Dataset, Transactions, Vocabulary
from setveil.errors import InputError, UncheckedError, name_some, one_line, times, warn
from setveil.workflows.cluster import check_engine, is_spark_frame, read_frame, read_path
from setveil.workflows.forecast import before_reading

if TYPE_CHECKING:
    from setveil.policy.schema import Policy
    from setveil.workflows.visits import Visits

log = logging.getLogger("setveil.reading")


class Cursor(dict[str, list[Any]]):
    """The columns that a database cursor gave; summaries name the type of an object."""


def held(source: Any, options: Mapping[str, Any]) -> Any:
    """An object that can be read twice: rows of a cursor or another iterator, and what Arrow, DuckDB or a lazy frame
    would compute again, are taken into memory. Anything else is given back as it is.

    Columns of a cursor have names, unless the options number them (``person=1``).
    """
    described = getattr(source, "description", None)
    if described and callable(getattr(source, "fetchall", None)):  # a cursor of any database
        names, rows = [str(column[0]) for column in described], source.fetchall()
        are_numbered = any(isinstance(one, int) and not isinstance(one, bool) for one in options.values())
        if rows and not isinstance(rows[0], Mapping) and len(set(names)) == len(names) and not are_numbered:
            return Cursor(zip(names, map(list, zip(*rows, strict=True)), strict=True))
        return rows
    library = type(source).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(source, "to_table"):  # a dataset, such as a folder of Parquet files
        source = source.to_table()
    if type(source).__name__ == "LazyFrame" and library == "polars":
        return source.collect()
    if type(source).__name__ == "Series" and not any(getattr(getattr(source, "index", None), "names", ())):
        return source.to_frame(source.name or "items")
    is_stream = hasattr(source, "__arrow_c_stream__") and type(source).__name__ != "ChunkedArray"  # which stays
    if library not in ("pandas", "polars", "pyspark") and is_stream:
        import polars as pl

        return pl.DataFrame(source)
    return list(source) if isinstance(source, Iterator) and not hasattr(source, "read") else source


def as_transactions(data: Any, **options: Any) -> Transactions:
    """``as_dataset`` for whoever looks at single records: an error for those of a cluster."""
    return as_dataset(data, **options).rows


def as_dataset(data: Any, **options: Any) -> Dataset:
    """Data as given to the library: a Dataset, a file (path or open), standard input (``-``) or a Python object.

    The options are those of ``read``; one that does not exist is an error, whatever the data is.
    """
    from setveil.io.transactions.reading import read_transactions

    options = _with_known_columns(options)
    if isinstance(data, Dataset) and not isinstance(data, Transactions):
        return data
    if is_spark_frame(data):
        return read_frame(data, "DataFrame", options)
    before_reading(data)
    data = held(data, options)
    records = read_transactions(data, **options)
    if not isinstance(data, Dataset):
        log.info("read %d records, %d items, %d entries", records.n_records, records.n_items, records.n_occurrences)
    return records


def split_roles(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """``(options of reading, other arguments)``; ``known`` names known columns."""
    from setveil.io.options import READING

    renamed = _with_known_columns(given)
    reading = {name: value for name, value in renamed.items() if name in READING}
    return reading, {name: value for name, value in renamed.items() if name not in READING}


def _with_known_columns(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with ``known`` under its other name, ``known_columns``."""
    if "known" in given and "known_columns" in given:
        raise InputError("known and known_columns mean the same; remove one of them.")
    return {"known_columns" if name == "known" else name: value for name, value in given.items()}


def read_twice(data: Any, **options: Any) -> Dataset:
    """``as_dataset`` for data that is to be published.

    Objects are read again at once by the verifier's own reader; files when the release is published.
    """
    from setveil.verify.originals import compare_readings

    data = held(data, options)
    records = as_dataset(data, **options)
    form = None if records.reading is None else records.reading.interpretation
    is_object = form is not None and form.container == "object" and not isinstance(data, Transactions)
    return compare_readings(records.rows, data) if is_object else records


class Original(NamedTuple):
    """The original of a release as the verifier reads it."""

    data: Dataset
    problems: list[str]  # where the two readings differ
    unchecked: list[str]  # why it could not be read a second time
    notes: list[str]
    visits: Visits | None = None  # where records are visits of people whom the owner names


def read_original(source: Any, **options: Any) -> Original:
    """The original for whoever checks a release: read once to tell its layout, then again by the verifier's reader."""
    from setveil.verify.originals import NoReaderError, read_again

    source = held(source, options)
    data = as_dataset(source, **options)
    if isinstance(source, Dataset) or is_spark_frame(source):  # that one was read twice
        return Original(data, [], [], [])
    try:
        again, problems = read_again(data.rows, source)
    except NoReaderError as problem:
        return Original(data, [], [f"the original: {problem}"], [])
    except UncheckedError as problem:
        return Original(data, [], [], [f"the original was read once only: {problem}"])
    columns = data.rows.columns
    notes = ["the columns of the original were read once only."] if columns and again.columns is None else []
    return Original(replace(again, reading=data.reading, columns=columns), problems, [], notes)


def read(source: Any, format: str | None = None, **options: Any) -> Transactions:
    """Read a file (any layout, plain or .gz), standard input (``-``) or a Python object (lists, frames, sparse matrix).

    ``data.summary()`` says how it was read. Options as on the command line: roles of columns (``person``, ``item``,
    ``known`` (or ``known_columns``), ``sensitive_columns``, ``carry``, ``drop``, ``column_hierarchy``), ``missing``,
    ``missing_person``, ``per_person``, ``format``, ``delimiter``, ``item_columns``, ``split``, ``no_header``,
    ``strip``, ``encoding``, ``labels_as_they_are``, ``keep_ids``; ``id_column`` and ``item_column`` are other names of
    ``person`` and ``item``.

    Args:
        source: a path, ``-``, a binary file object, lists, a dict, a pandas, Polars or Arrow frame, a SciPy or NumPy
            matrix.
        format: the layout, if it is not to be detected.
        options: as named above.

    Returns:
        The records.

    Raises:
        InputError: what was wrong, where, and how to fix it.

    Examples:
        >>> import setveil as sv
        >>> sv.read("baskets.txt")
        Transactions(6 records, 5 items, 14 occurrences; baskets from baskets.txt)
        >>> sv.read([["milk", "bread"], ["beer"]]).to_lists()
        [['bread', 'milk'], ['beer']]
    """
    return cast("Transactions", as_dataset(source, format=format, **options))  # but for a Spark frame


def read_input(
    source: Any, policy: Policy, engine: str = "local", master: str | None = None
) -> tuple[Dataset, dict[str, Any]]:
    """The data a policy is about, and what the internal record says about where it came from."""
    options = policy.reading()
    options["keep_ids"] = policy.output.keep_ids
    if check_engine(engine, master) and policy.output.keep_order:
        raise InputError("tables of Spark have no order to keep; remove --keep-order.")
    if engine == "spark" and not is_spark_frame(source):
        data: Dataset = read_path(source, master, options)
    else:
        from setveil.verify.originals import compare_readings

        source = held(source, options)
        read = data = as_dataset(source, **options)
        data = read.look(lambda rows: compare_readings(rows, source), lambda: read)  # before the long work
    if policy.input.domain:
        from setveil.policy.selection import read_items

        public = frozenset(read_items(policy.input.domain))
        unknown = [label for label in data.vocabulary if label not in public]
        if unknown:
            warn(
                f"{times(len(unknown), 'item of the data is', 'items of the data are')} not in the domain: "
                f"{name_some(map(one_line, unknown), 3)}; published labels will name them. Check that the list "
                "belongs to this data."
            )
        data = data.over(Vocabulary({*data.vocabulary, *public}))
    return data, data.facts()
