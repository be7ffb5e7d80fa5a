"""Wide tables: one row per person, an item in every cell of some columns."""

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

    return plan_table(source, options, "wide", evidence)


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.io.transactions.grids import read_text_grid

    return read_text_grid(source, plan, options)


def _cells() -> type[CellReader]:
    from setveil.io.transactions.grids import WideItems

    return WideItems


WIDE = Format(
    "wide",
    "a wide table",
    _read,
    plan=_plan,
    takes=frozenset({"columns", "delimiter", "no_header", "id_column", "item_columns", "keep_ids"}),
    label="wide table: one row per person, items in columns",
    entries="cell",
    cells=_cells,
)
