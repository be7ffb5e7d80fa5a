"""The published records of releases with columns or groups: one row per person, or one per person and item.

- ``people``: a CSV file with the columns, then ``items``: labels joined by ``|``, with ``\\`` before a ``|`` or ``\\``
- ``long``: a CSV file with ``row``, the columns, and ``item``; a person without items has one row with an empty item
- ``jsonl``: ``{"columns": {"sex": "f"}, "items": ["a", "b"]}`` per line
- ``parquet``: the columns, then ``items``, a list

Groups, where a release has them, come first. The last two layouts do without columns, too. Headers are neutral: they
name the columns and nothing else of the input.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Layout, Transactions, Vocabulary
from setveil.core.columns import Column, Columns, Role
from setveil.core.regular_files import open_regular
from setveil.errors import InputError, one_line
from setveil.io.releases.tables import read_table, split_labels
from setveil.io.transactions.labels import is_proper
from setveil.io.transactions.writing import field as cell_of
from setveil.io.transactions.writing import items_or_nothing, join_records

SUFFIXES = {"people": ".csv", "long": ".csv", "jsonl": ".jsonl", "parquet": ".parquet"}
USUAL = "people"  # where the layout of the input is none of these
GROUP, ROW, ITEM, ITEMS, COLUMNS = "group", "row", "item", "items", "columns"
SPECIAL = frozenset(',;\t"\r\n')
LONGEST_CELL = 2**30
MOST_GROUPS = 1 << 40  # more than any file has lines

Roles = Sequence[tuple[str, Role]]  # name and role of each column, in order


def people_layout(name: str) -> Layout:
    """The layout in which a release with columns is written, by that of the input or as asked for."""
    return Layout(name if name in SUFFIXES else USUAL)


def asked_layout(to: str | None, layout_of_input: str) -> Layout:
    """The layout of a release with columns: as asked for, else that of JSON lines and Parquet, else rows of people."""
    if to is not None and to not in SUFFIXES:
        known = ", ".join(name for name in SUFFIXES if name != USUAL)
        raise InputError(
            f'a release with columns cannot be written as "{one_line(to)}"; choose {known}, or remove --to for a '
            "table of one row per person."
        )
    return people_layout(to or (layout_of_input if layout_of_input in ("jsonl", "parquet") else USUAL))


def numbered(layout: Layout) -> Layout:
    """The layout with a neutral name over the numbers of records: they are not the ids that the input had there."""
    return replace(layout, id_column=_fresh(ROW, (layout.item_column,)))


# -- writing ----------------------------------------------------------------------------------------------------------


def encode_people(
    rows: Transactions, order: NDArray[np.int64], layout_name: str, groups: NDArray[np.int64] | None = None
) -> Iterator[bytes]:
    """Records in the given order, with their columns and the number of their group, where there are any."""
    for column in rows.columns or ():
        if not all(map(is_proper, column.values)) or "" in column.values or not is_proper(column.name):
            raise InputError(
                f'column "{one_line(column.name)}" has a value that no file can hold: it is empty, or holds a NUL.'
            )
    return {"people": _rows_of_people, "long": _rows_of_items, "jsonl": _objects, "parquet": _table}[layout_name](
        rows, order, groups
    )


def _heads(
    rows: Transactions, groups: NDArray[np.int64] | None, cell: Callable[[str], bytes], after: str
) -> Callable[[int, NDArray[np.int64]], list[bytes]]:
    """The cells before the items of each record, each followed by a comma; ``after`` follows the last."""
    assert rows.columns is not None
    texts = [[cell(value) + b"," for value in column.values] for column in rows.columns]
    codes = [column.codes for column in rows.columns]

    def heads(start: int, records: NDArray[np.int64]) -> list[bytes]:
        columns = [[of[code] for code in some[records].tolist()] for of, some in zip(texts, codes, strict=True)]
        if groups is not None:
            columns.insert(0, [b"%d," % number for number in groups[records].tolist()])
        return [b"".join(cells) + after.encode() for cells in zip(*columns, strict=True)]

    return heads


def _rows_of_people(rows: Transactions, order: NDArray[np.int64], groups: NDArray[np.int64] | None) -> Iterator[bytes]:
    """Cells of items are all quoted if one of them must be, so that every label is encoded once."""
    escaped = [label.replace("\\", "\\\\").replace("|", "\\|") for label in rows.vocabulary]
    quote = '"' if any(SPECIAL & set(text) or text != text.strip() for text in escaped) else ""
    labels = [text.replace('"', '""').encode() for text in escaped]
    yield _header(rows.columns, groups, (), ITEMS)
    yield from join_records(rows, order, labels, b"|", f"{quote}\n".encode(), _heads(rows, groups, _cell, quote))


def _rows_of_items(rows: Transactions, order: NDArray[np.int64], groups: NDArray[np.int64] | None) -> Iterator[bytes]:
    before = _heads(rows, groups, _cell, "")

    def heads(start: int, records: NDArray[np.int64]) -> list[bytes]:
        return [b"%d,%b" % (start + place, head) for place, head in enumerate(before(start, records), start=1)]

    yield _header(rows.columns, groups, (ROW,), ITEM)
    yield from join_records(rows, order, [_cell(label) for label in rows.vocabulary], b"", b"\n", heads, is_long=True)


def _objects(rows: Transactions, order: NDArray[np.int64], groups: NDArray[np.int64] | None) -> Iterator[bytes]:
    columns = tuple(rows.columns or ())
    texts = [[b"%b: %b" % (_json(column.name), _json(value)) for value in column.values] for column in columns]
    shape = b'{%b"columns": {%b}, "items": [' if columns else b'{%b%b"items": ['

    def heads(start: int, records: NDArray[np.int64]) -> list[bytes]:
        cells = [[of[code] for code in one.codes[records].tolist()] for of, one in zip(texts, columns, strict=True)]
        numbers = (
            [b""] * len(records) if groups is None else [b'"group": %d, ' % one for one in groups[records].tolist()]
        )
        return [shape % (number, b", ".join(some)) for number, *some in zip(numbers, *cells, strict=True)]

    return join_records(rows, order, [_json(label) for label in rows.vocabulary], b", ", b"]}\n", heads)


def _table(rows: Transactions, order: NDArray[np.int64], groups: NDArray[np.int64] | None) -> Iterator[bytes]:
    from setveil.io.transactions.parquet import encode, label_column, list_column

    columns, labels = tuple(rows.columns or ()), list(rows.vocabulary)
    names = tuple(column.name for column in columns)

    def part(some: slice) -> dict[str, Any]:
        records = order[some]
        numbers, lengths = items_or_nothing(rows, records)
        first = {} if groups is None else {_fresh(GROUP, names): groups[records]}
        cells = {column.name: label_column(column.codes[records], list(column.values)) for column in columns}
        return {**first, **cells, _fresh(ITEMS, names): list_column(lengths, numbers, labels)}

    return iter([encode(len(order), part)])


def encode_group_part(rows: Transactions, numbers: NDArray[np.int64]) -> bytes:
    """The bytes of a part of the published records of a grouping, which stand in canonical order."""
    return b"".join(_table(rows, np.arange(rows.n_records), numbers))


def _header(columns: Columns | None, groups: NDArray[np.int64] | None, first: tuple[str, ...], last: str) -> bytes:
    return b",".join(map(_cell, _names(columns.names if columns else (), groups is not None, first, last))) + b"\n"


def _names(names: tuple[str, ...], has_groups: bool, first: tuple[str, ...], last: str) -> list[str]:
    """The columns of a file, with names of their own for what is no column of the data."""
    before = [*first, *((GROUP,) if has_groups else ())]
    return [*(_fresh(name, names) for name in before), *names, _fresh(last, names)]


def _fresh(name: str, taken: Iterable[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _cell(text: str) -> bytes:
    return cell_of(text, ",")


def _json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass
class _Gathered:
    """What was read, value by value."""

    n_columns: int
    has_groups: bool
    groups: list[int] = field(default_factory=list)
    cells: list[list[str]] = field(init=False)  # [columns][records]
    lengths: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    number: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cells = [[] for _ in range(self.n_columns)]

    def add(self, group: Any, cells: Sequence[Any], items: Sequence[Any]) -> None:
        """One record; ValueError if something in it is no label."""
        texts = [*cells, *items]
        if not all(texts) or len(cells) != self.n_columns:
            raise ValueError
        "".join(texts).encode()  # an error if one is no text, or no proper one
        if self.has_groups:
            if type(group) is not int or not 1 <= group <= MOST_GROUPS:
                raise ValueError
            self.groups.append(group)
        for column, cell in zip(self.cells, cells, strict=True):
            column.append(cell)
        self.lengths.append(len(items))
        number = self.number
        self.items += [number.setdefault(item, len(number)) for item in items]

    def records(self, roles: Roles, layout_name: str) -> tuple[Transactions, NDArray[np.int64]]:
        vocabulary = Vocabulary(self.number)
        place = vocabulary.numbers(self.number)
        items = place[np.array(self.items, dtype=np.int64)] if self.items else np.empty(0, dtype=np.int32)
        lengths = np.array(self.lengths, dtype=np.int64)
        rows = Transactions.from_rows(lengths, items.astype(np.int32), vocabulary, Layout(layout_name))
        columns = [Column.of(name, role, cells) for (name, role), cells in zip(roles, self.cells, strict=True)]
        rows = replace(rows, columns=Columns(tuple(columns))) if columns else rows
        return rows, np.array(self.groups, dtype=np.int64)


def read_people(
    path: Path, layout_name: str, roles: Roles = (), has_groups: bool = False
) -> tuple[Transactions, NDArray[np.int64]]:
    """The records with their columns, in the order of the file, and the group number of each where there are any.

    Groups must be numbered 1, 2, … Those without columns may be the parts in a folder.
    """
    names = tuple(name for name, _ in roles)
    gathered = _Gathered(len(roles), has_groups)
    if layout_name == "parquet" and not roles:
        return _read_groups(path)
    read = {"people": _read_people, "long": _read_long, "jsonl": _read_objects, "parquet": _read_table}[layout_name]
    try:
        read(path, names, gathered)
    except OSError as problem:
        raise InputError(f"{path.name}: cannot be read ({problem.strerror}).") from None
    except UnicodeError:
        raise InputError(f"{path.name}: is not UTF-8 text.") from None
    rows, groups = gathered.records(roles, layout_name)
    return rows, _checked(groups, path)


def _checked(groups: NDArray[np.int64], path: Path) -> NDArray[np.int64]:
    """Groups are numbered from 1 on, without gaps."""
    if len(groups) and not (groups.min() >= 1 and groups.max() <= len(groups) and np.bincount(groups)[1:].all()):
        raise InputError(f"{path.name}: groups must be numbered 1, 2, … without gaps.")
    return groups


def _lines(path: Path, names: list[str]) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    return read_table(path, names)


def _read_people(path: Path, names: tuple[str, ...], gathered: _Gathered) -> None:
    at = 1 if gathered.has_groups else 0
    for line, row in _lines(path, _names(names, gathered.has_groups, (), ITEMS)):
        items = split_labels(row[-1], f"{path.name}:{line}") if row[-1] else []
        try:
            gathered.add(_whole(row[0]) if at else None, row[at:-1], items)
        except ValueError:
            raise InputError(f"{path.name}:{line}: a value or an item is empty, or a group is not a number.") from None


def _read_long(path: Path, names: tuple[str, ...], gathered: _Gathered) -> None:
    at = 2 if gathered.has_groups else 1
    last, head, items = 0, [""], list[str]()
    for line, row in _lines(path, _names(names, gathered.has_groups, (ROW,), ITEM)):
        try:
            if _whole(row[0]) == last + 1:
                if last:
                    gathered.add(_whole(head[1]) if at > 1 else None, head[at:-1], items)
                last, head, items = last + 1, row, [row[-1]] if row[-1] else []
            elif _whole(row[0]) == last and row[:-1] == head[:-1] and row[-1] and items:
                items.append(row[-1])
            else:
                raise ValueError
        except ValueError:
            raise InputError(
                f"{path.name}:{line}: rows must be numbered 1, 2, …, and each has the same columns throughout."
            ) from None
    if last:
        gathered.add(_whole(head[1]) if at > 1 else None, head[at:-1], items)


def _read_objects(path: Path, names: tuple[str, ...], gathered: _Gathered) -> None:
    shape = (
        '{"columns": {"sex": "f"}, "items": ["a"]} with the named columns' if names else '{"group": 1, "items": ["a"]}'
    )
    with io.TextIOWrapper(open_regular(path), encoding="utf-8", newline="\n") as file:
        for line, text in enumerate(file, start=1):
            try:
                entry = json.loads(text)
                columns, items = entry[COLUMNS] if names else {}, entry[ITEMS]
                if tuple(columns) != names or type(items) is not list:
                    raise ValueError
                gathered.add(entry.get(GROUP), list(columns.values()), items)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(f"{path.name}:{line}: is not a record like {shape}.") from None


def _read_table(path: Path, names: tuple[str, ...], gathered: _Gathered) -> None:
    import polars as pl

    first = [_fresh(GROUP, names)] if gathered.has_groups else []
    try:
        with open_regular(path) as file:
            frame = pl.read_parquet(io.BytesIO(file.read()))
        wanted = [*first, *names, _fresh(ITEMS, names)]
        if frame.columns != wanted:
            raise ValueError
        for row in frame.iter_rows():
            gathered.add(row[0], row[len(first) : -1], row[-1])
    except (OSError, TypeError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise InputError(f"{path.name}: is not a Parquet file with the named columns, then items.") from None


def _read_groups(path: Path) -> tuple[Transactions, NDArray[np.int64]]:
    """Columns at once: groupings are written as Parquet where there are very many records."""
    import polars as pl

    try:
        parts = sorted(path.glob("part-*.parquet")) if path.is_dir() else [path]
        frame = pl.concat([pl.read_parquet(part, columns=[GROUP, ITEMS]) for part in parts])
        flat = frame[ITEMS].list.explode(empty_as_null=False, keep_nulls=False).cast(pl.String)
        vocabulary = Vocabulary(flat.unique().to_list())
        numbers = pl.Series(range(len(vocabulary)), dtype=pl.Int32)
        items = flat.replace_strict(pl.Series(vocabulary, dtype=pl.String), numbers, return_dtype=pl.Int32).to_numpy()
        lengths, groups = (column.cast(pl.Int64).to_numpy() for column in (frame[ITEMS].list.len(), frame[GROUP]))
    except (OSError, TypeError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise InputError(f"{path.name}: is not a Parquet file with the columns group and items.") from None
    return Transactions.from_rows(lengths, items, vocabulary, Layout("parquet")), _checked(groups, path)


def _whole(text: str) -> int:
    """A number of a group or row; ValueError if it is none."""
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise ValueError
    return int(text)
