"""What counts of the items of a category reveal, by looking at every database that is consistent with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations


def _fillings(total: int, n_cells: int) -> Iterator[tuple[int, ...]]:
    if n_cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _fillings(total - first, n_cells - 1):
            yield (first, *rest)


@cache
def supports_of_databases(items: str, support: int) -> list[dict[frozenset[str], int]]:
    """Every way to give each of ``support`` records a non-empty subset of the items: the supports of all itemsets."""
    cells = [frozenset(cell) for size in range(1, len(items) + 1) for cell in combinations(items, size)]
    return [
        {
            itemset: sum(number for cell, number in zip(cells, filling, strict=True) if itemset <= cell)
            for itemset in cells
        }
        for filling in _fillings(support, len(cells))
    ]


def revealed_sets(
    items: str, support: int, listed: Mapping[str, int], k: int, largest: float, all_occur: bool
) -> list[frozenset[str]]:
    """The itemsets of at most ``largest`` items that have 1 to k - 1 people in every database with the listed counts.

    ``all_occur``: somebody has each of the items, which a codebook without absent items reveals.
    """
    least: dict[frozenset[str], int] = {}
    most: dict[frozenset[str], int] = {}
    for supports in supports_of_databases(items, support):
        if any(supports[frozenset((item,))] != count for item, count in listed.items()):
            continue
        if all_occur and any(not supports[frozenset((item,))] for item in items):
            continue
        for itemset, count in supports.items():
            least[itemset] = min(least.get(itemset, count), count)
            most[itemset] = max(most.get(itemset, count), count)
    return [s for s in least if len(s) <= largest and least[s] >= 1 and most[s] < k]
