"""Grouping around sensitive items, by looking: orderings, the degree, group formation, reconstruction."""

from __future__ import annotations

from collections.abc import Collection, Sequence

Record = frozenset[str]


def gray_rank(record: Collection[str], bits: Sequence[str]) -> int:
    """The literal inverse Gray code of a record; ``bits`` from the most to the least significant."""
    rank = bit = 0
    for item in bits:
        bit ^= item in record
        rank = 2 * rank + bit
    return rank


def gray_order(records: Sequence[Collection[str]], bits: Sequence[str]) -> list[int]:
    return sorted(range(len(records)), key=lambda number: (gray_rank(records[number], bits), number))
