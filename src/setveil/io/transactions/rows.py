"""Tables of plain Python values: dicts, rows as a database cursor gives them, a dict of columns.

Records are sets of items, and rows of a table can look like them: ``(17, "milk")`` is a row, or a set of two items.
What names its columns is a table. What is ambiguous is refused, with the option that settles it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from setveil.errors import InputError, one_line, warn
from setveil.io.formats.registry import FORMATS
from setveil.io.options import ReadOptions
from setveil.io.transactions.columns import Frame, PolarsFrame
from setveil.io.transactions.headers import rank_of_ids, rank_of_items

LEAST_ROWS = 20  # different ones; below, everything may be chance
LISTS = (list, tuple, set, frozenset, np.ndarray)


def frame_of_plain(obj: Any, options: ReadOptions, where: str) -> Frame | None:
    """A table of plain values as a frame; None if the object holds one set of items per record."""
    if isinstance(obj, np.ndarray) and obj.dtype.names:
        obj = {name: obj[name] for name in obj.dtype.names}
    if isinstance(obj, Mapping):
        return _of_columns(obj) if are_columns(obj, options, where) else None
    if not isinstance(obj, list | tuple) or not obj:
        return None
    if all(isinstance(record, Mapping) for record in obj):
        names = list(dict.fromkeys(name for record in obj for name in record))
        return _frame(names, [[record.get(name) for record in obj] for name in names], "list of dicts")
    fields = field_names(obj[0])
    if fields is not None and all(field_names(record) == fields for record in obj):
        return _frame(list(fields), list(zip(*obj, strict=True)), "list of rows")
    if names_columns(options):
        return _of_rows(obj)
    refuse_rows(obj, options, where)
    return None


def field_names(record: Any) -> tuple[str, ...] | None:
    """The columns of a row that knows them: a named tuple, a row of sqlite3 or of SQLAlchemy."""
    fields = getattr(record, "_fields", None)
    if fields is None and not isinstance(record, Mapping) and hasattr(record, "keys"):
        fields = record.keys()
    return None if fields is None or not len(record) else tuple(map(str, fields))


def names_columns(options: ReadOptions) -> bool:
    """Whether the user said something about columns."""
    is_table = options.format is not None and "no_header" in FORMATS[options.format].takes
    return bool(is_table or options.id_column or options.item_column or options.item_columns or options.roles.columns)


# -- rows or records --------------------------------------------------------------------------------------------------


def refuse_rows(records: Sequence[Any], options: ReadOptions, where: str, advice: str = "") -> None:
    """Refuse pairs and the like whose first (or another) value is never an item elsewhere, as ids are."""
    if options.labels_as_they_are or len(records) < LEAST_ROWS:
        return
    width = len(records[0]) if isinstance(records[0], list | tuple | np.ndarray) else 0
    if width < 2 or not all(isinstance(record, LISTS) and len(record) == width for record in records):
        return
    if any(isinstance(record, set | frozenset) for record in records):
        return
    try:
        different = set(map(tuple, records))
        values = [{record[place] for record in different} for place in range(width)]
    except TypeError:  # no labels; refused later, by name
        return
    if len(different) < LEAST_ROWS:
        return
    apart = [place for place in range(width) if _is_apart(place, values)]
    advice = advice or "name the columns by number, as in --person 1, --item 2"
    kind = "tuples" if isinstance(records[0], tuple) else "lists"
    if apart or kind == "tuples":
        why = f"the {_ordinal(apart[0])} value is never in another position" if apart else "databases give such rows"
        raise InputError(
            f"{where}: all {len(records):,} records are {kind} of {width} values, and {why}: they look like rows of a "
            f"table, not like sets of items; {advice}, or add --labels-as-they-are if all values are items."
        )
    if _comes_in_runs([record[0] for record in records]):
        warn(
            f"{where}: all {len(records):,} records are lists of {width} values, ordered by the first one, as rows of "
            f"a table are. Is the first value an id? Then {advice}."
        )


def _is_apart(place: int, values: Sequence[set[Any]]) -> bool:
    """Whether the values of a place are not found in any other, and are no constant."""
    others = (others for other, others in enumerate(values) if other != place)
    return len(values[place]) > 1 and all(values[place].isdisjoint(other) for other in others)


def _ordinal(place: int) -> str:
    return ("first", "second", "third")[place] if place < 3 else f"{place + 1}th"


def _comes_in_runs(values: Sequence[Any]) -> bool:
    """Whether equal values stand together, some of them several times."""
    n_runs = 1 + sum(before != after for before, after in zip(values, values[1:], strict=False))
    return bool(n_runs == len(set(values)) <= 0.8 * len(values))


# -- columns or records -----------------------------------------------------------------------------------------------


def are_columns(content: Mapping[Any, Any], options: ReadOptions, where: str) -> bool:
    """Whether the values are the columns of a table, and not the items of one person each."""
    values = list(content.values())
    lengths = {len(value) if _is_column(value) else -1 for value in values}
    is_table = len(lengths) == 1 and min(lengths, default=-1) > 0 and all(isinstance(name, str) for name in content)
    if names_columns(options):
        if not is_table:
            raise InputError(f"{where}: the values are not columns: give lists of one length under the columns' names.")
        return True
    if not is_table:
        return False
    if any(isinstance(cell, LISTS) for value in values for cell in value):
        return True  # no item is a list
    ids = [name for name in content if rank_of_ids(name)]
    if ids and any(rank_of_items(name) for name in content if name not in ids[:1]):
        return True
    (n_rows,) = lengths
    if not options.labels_as_they_are and len(values) > 1 and n_rows >= LEAST_ROWS and n_rows > len(values):
        raise InputError(
            f"{where}: the dict has {len(values):,} lists of {n_rows:,} values each, as columns of a table are; name "
            "the columns with --person and --item, or add --labels-as-they-are if every key is a person."
        )
    return False


def _is_column(value: Any) -> bool:
    return isinstance(value, list | tuple | range) or (hasattr(value, "tolist") and getattr(value, "ndim", 0) == 1)


# -- frames -----------------------------------------------------------------------------------------------------------


def _of_columns(content: Mapping[str, Any]) -> Frame:
    columns = [value.tolist() if hasattr(value, "tolist") else list(value) for value in content.values()]
    return _frame(list(content), columns, "dict of columns")


def _of_rows(rows: Sequence[Any]) -> Frame:
    """Rows without names: their columns are numbered from 1, as those of a file without header."""
    for number, row in enumerate(rows):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != len(rows[0]):
            found = f"{len(row):,} values" if isinstance(row, list | tuple | np.ndarray) else type(row).__name__
            raise InputError(
                f"list of rows: row {number + 1} is {found}, and row 1 has {len(rows[0]):,}; columns can be named only "
                "if all rows are lists or tuples of one length."
            )
    names = [str(place + 1) for place in range(len(rows[0]))]
    return _frame(names, list(zip(*rows, strict=True)), "list of rows")


def _frame(names: Sequence[Any], columns: Iterable[Sequence[Any]], where: str) -> Frame:
    import polars as pl

    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}: the names of the columns are not all text; name the columns.")
    series = []
    for name, values in zip(names, columns, strict=True):
        cells = [list(cell) if isinstance(cell, LISTS) else cell for cell in _plain(values)]
        try:
            series.append(pl.Series(name, cells, strict=True))
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            raise InputError(
                f'{where}: column "{one_line(name)}" holds values of different types; convert them to text.'
            ) from None
    return PolarsFrame(pl.DataFrame(series), where)


def _plain(values: Sequence[Any]) -> Iterator[Any]:
    """NumPy's numbers as Python's."""
    return (value.item() if isinstance(value, np.generic) else value for value in values)
