"""Parquet: a list column, one row per (id, item), or one column per item."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from setveil.io.formats.base import Format, Output, on_demand


def _write(output: Output) -> Iterator[bytes]:
    import numpy as np

    from setveil.io.transactions.parquet import encode, label_column, list_column
    from setveil.io.transactions.writing import items_or_nothing

    layout, ids, order = output.layout, output.ids, output.order
    labels = list(output.data.vocabulary)

    def part(some: slice) -> dict[str, Any]:
        records = order[some]
        numbers, lengths = items_or_nothing(output.data, records)
        if layout.long:
            positions = np.repeat(np.arange(len(records)), lengths)
            column = some.start + positions + 1 if ids is None else label_column(records[positions], ids)
            return {layout.id_column: column, layout.item_column: label_column(numbers, [*labels, ""])}
        known = {} if ids is None else {layout.id_column: label_column(records, ids)}
        return {**known, layout.item_column: list_column(lengths, numbers, labels)}

    return iter([encode(len(order), part)])


PARQUET = Format(
    "parquet",
    "Parquet",
    on_demand("setveil.io.transactions.parquet:read_parquet"),
    _write,
    extensions=(".parquet", ".pq"),
    magic=b"PAR1",
    takes=frozenset({"columns", "id_column", "item_column", "item_columns", "keep_ids"}),
    entries=None,
    on_cluster="parquet",
    writes_ids=True,
    details=("id_column", "item_column", "long"),
    item_column="items",
)
