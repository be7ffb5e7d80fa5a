"""Gene sets (``.gmt``): one record per line, its name, a description and its items, between tabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.io.formats.base import Format, Plan
from setveil.io.options import ReadOptions

if TYPE_CHECKING:
    from setveil.core.transactions import Transactions
    from setveil.io.source import Source


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    """Sets with their names; two lines of one name are one record."""
    import numpy as np

    from setveil.core.transactions import Layout
    from setveil.io.transactions.delimited import split_fields
    from setveil.io.transactions.labels import Ids, Labels, assemble, joined, number_apart

    labels, ids = Labels(), Ids()
    numbers, lengths = [], []
    for chunk, line in source.lines():
        fields = split_fields(source, chunk, line, "\t")
        short = np.flatnonzero(fields.n_fields < 2)
        if len(short):
            raise source.error(
                "a line needs a name, a description and items, between tabs.", int(fields.lines[short[0]])
            )
        row_of = np.repeat(np.arange(len(fields.n_fields)), fields.n_fields)
        first = np.cumsum(fields.n_fields) - fields.n_fields
        is_item = fields.tokens.lengths > 0
        is_item[first] = is_item[first + 1] = False
        nameless = np.flatnonzero(fields.tokens.lengths[first] == 0)
        if len(nameless):
            raise source.error("a set without name; give every line one.", int(fields.lines[nameless[0]]))
        ids.add(number_apart(fields.tokens.pick(first)))
        numbers.append(labels.number(fields.tokens.pick(is_item)))
        lengths.append(np.bincount(row_of[is_item], minlength=len(fields.n_fields)))
    n_items = joined(lengths, np.int64)
    rows = ids.rows(options.keep_ids)
    owners = np.repeat(rows.of_row, n_items)
    data = assemble(owners, joined(numbers, np.int32), rows.n_records, labels.texts(), Layout("jsonl"), rows.ids)
    return data, plan


GMT = Format(
    "gmt",
    "gene sets",
    _read,
    extensions=(".gmt",),
    takes=frozenset({"keep_ids"}),
    label="gene sets (GMT)",
)
