"""Tables of attributes: one row per person, items are ``column=value``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.io.formats.base import Format, Plan
from setveil.io.options import ReadOptions

if TYPE_CHECKING:
    from setveil.core.transactions import Transactions
    from setveil.io.source import Source
    from setveil.io.transactions.grids import CellReader


def _plan(source: Source, options: ReadOptions, evidence: str) -> Plan:
    from setveil.io.transactions.tables import plan_table

    return plan_table(source, options, "table", evidence)


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.io.transactions.grids import read_text_grid

    return read_text_grid(source, plan, options)


def _cells() -> type[CellReader]:
    from setveil.io.transactions.grids import ValueItems

    return ValueItems


TABLE = Format(
    "table",
    "a table of column=value",
    _read,
    plan=_plan,
    takes=frozenset({"columns", "delimiter", "no_header", "id_column", "item_columns", "keep_ids"}),
    label="table of attributes: items are column=value",
    entries="value",
    cells=_cells,
)
