"""What a format declares, what a look at a file decides, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from setveil.io.roles import READ_ROLES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from setveil.core.transactions import Layout, Transactions
    from setveil.io.options import ReadOptions
    from setveil.io.source import Source
    from setveil.io.transactions.grids import CellReader

# How a file writes an entry: as a row of its own, a cell, the answer in an item's column, the value of a column, or
# with the others of its record: on a line of delimited fields, or in a list.
Entries: TypeAlias = Literal["row", "cell", "answer", "value", "line", "list"]


@dataclass(frozen=True)
class Format:
    """A file format. Another package adds one through an entry point of the group ``setveil.formats``.

    ``read(source, plan, options)`` gives the records, and the plan with what only the whole file could show.
    ``write(output)`` gives the bytes of a file, piece by piece; None if the format is only read.
    """

    name: str
    words: str  # what it is called in sentences
    read: Callable[[Source, Plan, ReadOptions], tuple[Transactions, Plan]]
    write: Callable[[Output], Iterator[bytes]] | None = None
    extensions: tuple[str, ...] = ()  # that detect it, with their dot
    extension: str = ""  # of files that are written; the first of the others unless given
    magic: bytes = b""  # first bytes that detect it
    sniff: Callable[[Start], Plan | None] | None = None  # detects it from the first lines
    plan: Callable[[Source, ReadOptions, str], Plan] | None = None  # of a file that is known to have it, by evidence
    takes: frozenset[str] = frozenset()  # the options that not every format has a use for
    label: str = ""  # on the page, where formats are chosen from a list; its words unless given
    entries: Entries | None = "list"  # None if that depends on the table in the file (``Plan.shape``)
    on_cluster: str = ""  # what Spark calls it, if it can be read there
    cells: Callable[[], type[CellReader]] | None = None  # of a table of one row per record: what its cells say
    has_keys: bool = False  # records are objects, columns their keys
    has_numbers: bool = False  # items are written as whole numbers
    writes_ids: bool = False  # files have a place for record ids
    needs_ids: bool = False  # and cannot do without; records are numbered then
    in_pieces: bool = False  # records can be written before the last one is known
    details: tuple[str, ...] = ()  # of a ``Layout``: those that a written file shows
    item_column: str = "item"  # what the column of items is called, if nobody named it

    @property
    def shown(self) -> str:
        """What it is called in a list to choose from."""
        return self.label or self.words

    @property
    def suffix(self) -> str:
        """The extension of files that are written."""
        return self.extension or (self.extensions[0] if self.extensions else f".{self.name}")

    def understand(self, source: Source, options: ReadOptions, evidence: str) -> Plan:
        """How to read a file that is known to have this format."""
        return Plan(self.name, evidence) if self.plan is None else self.plan(source, options, evidence)


class Start:
    """The beginning of a file whose format is not known."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.extension: str = source.suffix[0] if source.suffix else ""

    @cached_property
    def sample(self) -> bytes:
        """The first whole lines, about 64 KiB."""
        return self.source.sample()

    @cached_property
    def first(self) -> bytes:
        """The first line that is not empty, without blanks around it."""
        from setveil.io.source import SAMPLE

        return next((line for line in self.sample.split(b"\n") if line.strip()), b"")[:SAMPLE].strip()

    @property
    def is_delimited(self) -> bool:
        """Whether extension or options say that it is a table."""
        options = self.options
        return self.extension in (".csv", ".tsv", ".tab") or options.delimiter is not None or options.no_header

    @property
    def has_columns(self) -> bool:
        """Whether it is a table, or the options name columns."""
        options = self.options
        named = options.id_column or options.item_column or options.item_columns or options.roles.columns
        return bool(self.is_delimited or named)


def on_demand(where: str) -> Callable[..., Any]:
    """The function ``package.module:name``, imported when it is called: detecting a format loads no reader."""
    module, _, name = where.partition(":")
    return lambda *given: getattr(import_module(module), name)(*given)


def table_plan(layout: str) -> Callable[[Source, ReadOptions, str], Plan]:
    """The ``plan`` of a format that is a delimited table."""
    plan = on_demand("setveil.io.transactions.tables:plan_table")
    return lambda source, options, evidence: plan(source, options, layout, evidence)


class SeenIds(NamedTuple):
    """What a reader of rows remembers of their ids, for the guards."""

    first: frozenset[str]  # a bounded number of different ones
    nobody: Mapping[str, int]  # words that stand for no id at all, and how many rows have them


class PlannedColumn(NamedTuple):
    """A column with a stated role other than person and item."""

    place: int
    role: str
    hierarchy: str | None = None  # as the user wrote it


@dataclass(frozen=True)
class Plan:
    """What a look at the first lines decided, and why."""

    layout: str
    evidence: str  # to follow "detected from"
    delimiter: str = ","
    names: tuple[str, ...] = ()  # of the columns of a table
    has_header: bool = True
    id_position: int | None = None
    item_positions: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = ""  # in words, where the layout alone does not say it
    n_rows: int = 0  # of a long table; of baskets that are all equally long, their cells; 0 if nobody counted
    ids: SeenIds | None = None  # of a long table
    is_header_doubtful: bool = False  # the first line is said to name columns, and nothing shows it
    is_split: bool = False  # cells that hold lists are taken apart already
    is_table: bool = False  # read cell by cell, so that cells can be empty or say "missing"
    shape: str = ""  # of the table in a Parquet or JSON file, where ``layout`` names the file's
    columns: tuple[PlannedColumn, ...] = ()  # with a stated role, dropped ones included

    @property
    def unused(self) -> tuple[str, ...]:
        """The columns that are not read."""
        used = {self.id_position, *self.item_positions, *(column.place for column in self.columns)}
        return tuple(self._name(place) for place in range(len(self.names)) if place not in used)

    @property
    def read_columns(self) -> tuple[PlannedColumn, ...]:
        """The columns whose values come with the records, in the order of the input."""
        read = [column for column in self.columns if column.role in READ_ROLES]
        return tuple(sorted(read, key=lambda column: column.place))

    @property
    def id_name(self) -> str:
        """The column of the ids in words; empty where every row is a record."""
        return "" if self.id_position is None else self._name(self.id_position)

    @property
    def item_name(self) -> str:
        """The columns of the items in words."""
        if len(self.item_positions) > 2:
            return f"{self._name(self.item_positions[0])} to {self._name(self.item_positions[-1])}"
        return " and ".join(map(self._name, self.item_positions))

    def _name(self, place: int) -> str:
        name = self.names[place]
        return f"column {place + 1}" if not name or (name == str(place + 1) and not self.has_header) else name


@dataclass(frozen=True)
class Output:
    """What is to be written: records in an order."""

    data: Transactions  # without ids
    layout: Layout
    order: NDArray[np.int64]  # record numbers
    ids: Sequence[str] | None = None  # of the records of ``data``
    n_before: int = 0  # records that stand in the file already

    def join(
        self,
        labels: Sequence[bytes],
        between: bytes,
        end: bytes,
        heads: Callable[[int, Any], list[bytes]] | None = None,
        is_long: bool = False,
    ) -> Iterator[bytes]:
        """Records as ``head label between label end``, or one line ``head label end`` per item. ``labels`` has the
        text of each item, ``heads`` gives those of the records from a place of ``order`` on.
        """
        from setveil.io.transactions.writing import join_records

        return join_records(self.data, self.order, labels, between, end, heads, is_long)
