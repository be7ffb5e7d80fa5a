"""Long tables: one row per person and item, delimited as RFC 4180 has it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from setveil.io.formats.base import Format, Output, Plan
from setveil.io.options import ReadOptions, check_delimiter

if TYPE_CHECKING:
    from setveil.core.transactions import Transactions
    from setveil.io.source import Source


def _plan(source: Source, options: ReadOptions, evidence: str) -> Plan:
    from setveil.io.transactions.tables import plan_table

    return plan_table(source, options, "long", evidence)


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.io.transactions.delimited import read_long

    return read_long(source, plan, options)


def _write(output: Output) -> Iterator[bytes]:
    from setveil.io.transactions.writing import field

    layout, ids = output.layout, output.ids
    delimiter = check_delimiter(layout.delimiter)
    separator = delimiter.encode()

    def heads(start: int, records: Any) -> list[bytes]:
        if ids is not None:
            return [field(ids[record], delimiter) + separator for record in records.tolist()]
        first = output.n_before + start + 1
        return [b"%d%s" % (number, separator) for number in range(first, first + len(records))]

    header = separator.join(field(column, delimiter) for column in (layout.id_column, layout.item_column)) + b"\n"
    labels = [field(label, delimiter) for label in output.data.vocabulary]
    rows = output.join(labels, b"", b"\n", heads, is_long=True)
    return rows if output.n_before else chain([header], rows)


LONG = Format(
    "long",
    "a long table",
    _read,
    _write,
    extension=".csv",
    plan=_plan,
    takes=frozenset({"columns", "delimiter", "no_header", "id_column", "item_column", "keep_ids"}),
    label="long table: one row per person and item",
    entries="row",
    on_cluster="csv",
    writes_ids=True,
    needs_ids=True,
    in_pieces=True,
    details=("delimiter", "id_column", "item_column"),
)
