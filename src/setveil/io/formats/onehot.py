"""One-hot tables: one row per person, a column per item that says whether the person has it."""

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

    return plan_table(source, options, "onehot", evidence)


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.io.transactions.grids import read_text_grid

    return read_text_grid(source, plan, options)


def _cells() -> type[CellReader]:
    from setveil.io.transactions.grids import OneHotItems

    return OneHotItems


ONEHOT = Format(
    "onehot",
    "a one-hot table",
    _read,
    plan=_plan,
    takes=frozenset({"columns", "delimiter", "no_header", "id_column", "item_columns", "keep_ids"}),
    label="one column per item, 0 or 1",
    entries="answer",
    cells=_cells,
)
