"""Baskets: the items of one person per line, delimited and quoted as in a table."""

from __future__ import annotations

from collections.abc import Iterator

from setveil.io.formats.base import Format, Output, on_demand, table_plan
from setveil.io.options import check_delimiter


def _write(output: Output) -> Iterator[bytes]:
    from setveil.io.transactions.writing import field

    delimiter = check_delimiter(output.layout.delimiter)
    labels = [field(label, delimiter) for label in output.data.vocabulary]
    return output.join(labels, delimiter.encode(), b"\n")


BASKET = Format(
    "basket",
    "baskets",
    on_demand("setveil.io.transactions.delimited:read_basket"),
    _write,
    extensions=(".basket",),
    extension=".csv",
    plan=table_plan("basket"),
    takes=frozenset({"delimiter"}),
    label="baskets: items of a person on one line",
    entries="line",
    in_pieces=True,
    details=("delimiter",),
)
