"""Tables with one row per person and items in several columns: wide, one-hot, and items ``column=value``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.io.formats.base import Entries, Format, Plan
from setveil.io.options import ReadOptions

if TYPE_CHECKING:
    from setveil.core.transactions import Transactions
    from setveil.io.source import Source
    from setveil.io.transactions.grids import CellReader


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.io.transactions.grids import read_text_grid

    return read_text_grid(source, plan, options)


def _grid(name: str, words: str, label: str, entries: Entries, reader: str) -> Format:
    """The format of a table whose cells ``reader`` understands, a class in ``io/transactions/grids``."""

    def plan(source: Source, options: ReadOptions, evidence: str) -> Plan:
        from setveil.io.transactions.tables import plan_table

        return plan_table(source, options, name, evidence)

    def cells() -> type[CellReader]:
        from setveil.io.transactions import grids

        found: type[CellReader] = getattr(grids, reader)
        return found

    takes = frozenset({"columns", "delimiter", "no_header", "id_column", "item_columns", "keep_ids"})
    return Format(name, words, _read, plan=plan, takes=takes, label=label, entries=entries, cells=cells)


WIDE = _grid("wide", "a wide table", "wide table: one row per person, items in columns", "cell", "WideItems")
ONEHOT = _grid("onehot", "a one-hot table", "one column per item, 0 or 1", "answer", "OneHotItems")
TABLE = _grid("table", "a table of column=value", "table of attributes: items are column=value", "value", "ValueItems")
