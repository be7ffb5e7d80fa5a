"""Supports by looking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations
from typing import Any

Records = list[frozenset[str]]


def records_of(lists: Iterable[Iterable[str]]) -> Records:
    return [frozenset(row) for row in lists]


def support(records: Iterable[Collection[str]], itemset: Iterable[str]) -> int:
    wanted = set(itemset)
    return sum(1 for record in records if wanted <= set(record))


def occurring_itemsets(records: Iterable[Collection[str]], size: int) -> Counter[frozenset[str]]:
    """Every itemset of exactly this size that occurs, with its support."""
    counts: Counter[frozenset[str]] = Counter()
    for record in records:
        for itemset in combinations(sorted(record), size):
            counts[frozenset(itemset)] += 1
    return counts


def is_km_anonymous(records: Iterable[Collection[Any]], k: int, m: int | str) -> bool:
    rows = [frozenset(record) for record in records]
    if m == "all":
        return all(support(rows, row) >= k for row in rows if row)
    return all(count >= k for size in range(1, int(m) + 1) for count in occurring_itemsets(rows, size).values())
