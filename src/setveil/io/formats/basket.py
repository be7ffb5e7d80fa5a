"""Baskets: the items of one person per line, delimited and quoted as in a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from setveil.io.formats.base import Format, Output, Plan
from setveil.io.options import ReadOptions, check_delimiter

if TYPE_CHECKING:
    from setveil.core.transactions import Transactions
    from setveil.io.source import Source


def _plan(source: Source, options: ReadOptions, evidence: str) -> Plan:
    from setveil.io.transactions.tables import plan_table

    return plan_table(source, options, "basket", evidence)


def _read(source: Source, plan: Plan, options: ReadOptions) -> tuple[Transactions, Plan]:
    from setveil.io.transactions.delimited import read_basket
    from setveil.io.transactions.relabel import drop_weights

    data, plan = read_basket(source, plan)
    return (drop_weights(data) if plan.kind else data), plan  # Orange's baskets


def _write(output: Output) -> Iterator[bytes]:
    from setveil.io.transactions.writing import field

    delimiter = check_delimiter(output.layout.delimiter)
    labels = [field(label, delimiter) for label in output.data.vocabulary]
    return output.join(labels, delimiter.encode(), b"\n")


BASKET = Format(
    "basket",
    "baskets",
    _read,
    _write,
    extensions=(".basket",),
    extension=".csv",
    plan=_plan,
    takes=frozenset({"delimiter"}),
    label="baskets: items of a person on one line",
    entries="line",
    in_pieces=True,
    details=("delimiter",),
)
