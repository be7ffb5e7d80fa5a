"""Long tables: one row per person and item, delimited as RFC 4180 has it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from setveil.io.formats.base import Format, Output, on_demand, table_plan
from setveil.io.options import check_delimiter


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
    on_demand("setveil.io.transactions.delimited:read_long"),
    _write,
    extension=".csv",
    plan=table_plan("long"),
    takes=frozenset({"columns", "delimiter", "no_header", "id_column", "item_column", "keep_ids"}),
    label="long table: one row per person and item",
    entries="row",
    on_cluster="csv",
    writes_ids=True,
    needs_ids=True,
    in_pieces=True,
    details=("delimiter", "id_column", "item_column"),
)
