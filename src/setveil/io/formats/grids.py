"""Tables with one row per person and items in several columns: wide, one-hot, and items ``column=value``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.io.formats.base import Entries, Format, on_demand, table_plan

if TYPE_CHECKING:
    from setveil.io.transactions.grids import CellReader


def _grid(name: str, words: str, label: str, entries: Entries, reader: str) -> Format:
    """The format of a table whose cells ``reader`` understands, a class in ``io/transactions/grids``."""

    def cells() -> type[CellReader]:
        from setveil.io.transactions import grids

        found: type[CellReader] = getattr(grids, reader)
        return found

    takes = frozenset({"columns", "delimiter", "no_header", "id_column", "item_columns", "keep_ids"})
    return Format(
        name, words, on_demand("setveil.io.transactions.grids:read_text_grid"),
        plan=table_plan(name), takes=takes, label=label, entries=entries, cells=cells,
    )  # fmt: skip


WIDE = _grid("wide", "a wide table", "wide table: one row per person, items in columns", "cell", "WideItems")
ONEHOT = _grid("onehot", "a one-hot table", "one column per item, 0 or 1", "answer", "OneHotItems")
TABLE = _grid("table", "a table of column=value", "table of attributes: items are column=value", "value", "ValueItems")
