"""k^m-anonymity and k-anonymity counted by Spark SQL, for releases that fit no machine: text in, counts out.

This shares nothing with the engine that made a release: neither its numbers of items, nor its blocks, nor a line of
code. The records are taken from the published files as lists of labels, and every itemset is counted by ``GROUP BY``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from setveil.core.progress import Progress
from setveil.errors import UncheckedError
from setveil.models import KAnonymity, KmAnonymity, PrivacyModel
from setveil.verify.verdict import Verdict, in_braces, times

Ask = Callable[[str], list[Any]]  # a query → its rows


def judge_table(
    ask: Ask, table: str, model: PrivacyModel, progress: Progress
) -> tuple[Verdict, dict[str, int | float]]:
    """The verdict on a table with a column ``items`` of lists and, where the claim holds, the smallest support."""
    if isinstance(model, KAnonymity) and not model.sensitive and model.l == 1:
        return _judge_classes(ask, table, model, progress)
    if not isinstance(model, KmAnonymity) or model.m == "all":
        raise UncheckedError(
            "Spark SQL counts k^m-anonymity for a number m, and k-anonymity without sensitive items; verify this with "
            "the local engine."
        )
    smallest: list[int] = []
    for size in range(1, model.m + 1):
        progress(f"counting itemsets of {size}", (size - 1) / model.m)
        counted = _counted(table, size)
        ((least,),) = ask(f"SELECT min(n) FROM ({counted})")
        if least is None:  # no record has as many items
            break
        smallest.append(int(least))
        if smallest[-1] < model.k:
            return _broken(ask, table, counted, size, model.k), {}
    return Verdict(True), {"smallest_support": min(smallest)} if smallest else {}


def _judge_classes(
    ask: Ask, table: str, model: KAnonymity, progress: Progress
) -> tuple[Verdict, dict[str, int | float]]:
    """Whether every record occurs at least k times; the first that does not by number of items, then ascending."""
    progress("counting classes", 0.0)
    classes = f"SELECT sort_array(array_distinct(items)) AS items, count(*) AS n FROM {table} GROUP BY 1"
    ((least,),) = ask(f"SELECT min(n) FROM ({classes})")
    if least is None:
        return Verdict(True), {}
    if least >= model.k:
        return Verdict(True), {"smallest_class": int(least)}
    members = f"sort_array(transform(items, item -> {_shape(ask, table).format('item')}))"
    rare = f"SELECT {members} AS itemset, n FROM ({classes}) WHERE n < {model.k}"
    ((itemset, support),) = ask(f"SELECT * FROM ({rare}) ORDER BY size(itemset), itemset LIMIT 1")
    witness = tuple(str(member[-1]) for member in itemset)
    who = f"{in_braces(witness)} is the non-sensitive part of {times(int(support), 'record')}"
    return Verdict(False, witness, int(support), f"{who}, fewer than k={model.k}."), {}


def _counted(table: str, size: int) -> str:
    """A query for all itemsets of one size that occur, ``item1 … n``."""
    items = [f"item{place}" for place in range(1, size + 1)]
    views = " ".join(f"LATERAL VIEW explode(items) row_{item} AS {item}" for item in items)
    ascending = " AND ".join(f"{low} < {high}" for low, high in zip(items[:-1], items[1:], strict=True)) or "true"
    rows = f"(SELECT array_distinct(items) AS items FROM {table})"
    columns = ", ".join(items)
    return f"SELECT {columns}, count(*) AS n FROM {rows} {views} WHERE {ascending} GROUP BY {columns}"


def _broken(ask: Ask, table: str, counted: str, size: int, k: int) -> Verdict:
    """The first itemset that is too rare, in the house order of labels: numbers by value, else by code point."""
    shape = _shape(ask, table)
    members = ", ".join(shape.format(f"item{place}") for place in range(1, size + 1))
    rare = f"SELECT sort_array(array({members})) AS itemset, n FROM ({counted}) WHERE n < {k}"
    ((itemset, support),) = ask(f"SELECT * FROM ({rare}) ORDER BY itemset LIMIT 1")
    witness = tuple(str(member[-1]) for member in itemset)
    reason = f"{in_braces(witness)} occurs in {times(int(support), 'record')}, fewer than k={k}."
    return Verdict(False, witness, int(support), reason)


def _shape(ask: Ask, table: str) -> str:
    """An item as something that sorts in the house order; a format with one place."""
    each = f"SELECT explode(items) AS item FROM {table}"
    ((strange,),) = ask(f"SELECT count(*) FROM ({each}) WHERE NOT item RLIKE '^[0-9]+$'")
    by_value = "" if strange else "'digits', length(ltrim('0', {0})), 'value', ltrim('0', {0}), "
    return f"named_struct({by_value}'label', {{0}})"
