"""Itemsets that are too rare: the first one, all minimal ones, and the smallest support there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.verify.tables import Indexed, Table, Walker

Itemset = tuple[int, ...]

AT_ONCE = 4096  # finds per round when all are wanted
EXPENSIVE = 100_000_000  # itemsets in a level from which on it may pay to count whole rows first


def rare_itemsets(
    indexed: Indexed, k: int, largest: int | None, progress: Progress, hurry: bool = False
) -> Iterator[tuple[Itemset, int]]:
    """Minimal public itemsets of at most ``largest`` items (None: any number) with 0 < support < k, and their supports.

    By size, then ascending. Level by level: a caller who takes the first one pays for nothing beyond its level. With
    ``hurry`` a level that would cost more than counting every row is not walked if a row answers the question; what
    comes out then is a minimal itemset, not necessarily the first.
    """
    table = indexed.table
    k = min(k, int(table.weights.sum()) + 1)
    rare = np.flatnonzero((indexed.supports > 0) & (indexed.supports < k)).tolist()
    yield from (((item,), int(indexed.supports[item])) for item in rare)
    if rare:  # their supersets are not minimal
        table = table.without(rare)
        indexed = Indexed.of(table, progress)
    # An itemset of a row is at least as frequent as the row, so only itemsets of rare rows can be rare.
    live = (table.weights < k) & (table.lengths > 0)
    rows_counted = False
    most = most_items(indexed, largest)
    for size in range(2, most + 1):
        if not rows_counted and whole_rows_are_cheaper(indexed, live, size, most):
            live = live_rows(indexed, live, k, progress)
            rows_counted = True
            short = live & (table.lengths <= most)
            if hurry and short.any():
                yield shrink(indexed, smallest_row(indexed, short), k)
                return
        if not live.any():
            return
        walker = Walker(indexed, size, live, at_once=1 if hurry else AT_ONCE)
        while found := walker.find(k, progress=progress):
            yield found.itemset, found.support


def rare_by_size(
    indexed: Indexed, runs: Sequence[tuple[int, int, int | None]], progress: Progress, hurry: bool = False
) -> Iterator[tuple[Itemset, int, int]]:
    """``rare_itemsets`` where k depends on the size: ``(k, first, last)`` for each run of sizes, k not increasing.

    Gives ``(itemset, support, k)``. Whatever is minimal is minimal for the k of its own size, so that each run is
    searched for itself; a find of an earlier run makes its supersets no longer minimal.
    """
    found: set[Itemset] = set()
    for k, first, last in runs:
        for itemset, support in rare_itemsets(indexed, k, last, progress, hurry):
            parts = (part for size in range(1, first) for part in combinations(itemset, size))
            if len(itemset) >= first and not any(part in found for part in parts):
                yield itemset, support, k
                if len(runs) > 1:
                    found.add(itemset)


def smallest_support(indexed: Indexed, largest: int | None, progress: Progress) -> int | None:
    """The smallest support of an occurring public itemset of at most ``largest`` items; None if none occurs."""
    table = indexed.table
    occurring = indexed.supports[indexed.supports > 0]
    if not len(occurring):
        return None
    best = int(occurring.min())
    live = (table.weights < best) & (table.lengths > 0)
    rows_counted = False
    most = most_items(indexed, largest)
    for size in range(2, most + 1):
        if best == 1 or not live.any():
            return best
        if not rows_counted and whole_rows_are_cheaper(indexed, live, size, most):
            rows_counted = True
            chosen = np.flatnonzero(live)
            supports = indexed.supports_of_rows(chosen, best, progress)
            short = table.lengths[chosen] <= most
            best = min(best, int(supports[short].min(initial=best)))
            live[chosen[short | (supports >= best)]] = False
            if not live.any():
                return best
        walker = Walker(indexed, size, live)
        while best > 1 and (found := walker.find(best, progress=progress)):
            best = found.support
    return best


def most_items(indexed: Indexed, largest: int | None) -> int:
    """No itemset is larger than the longest row."""
    longest = indexed.table.longest
    return longest if largest is None else min(largest, longest)


def whole_rows_are_cheaper(indexed: Indexed, live: NDArray[np.bool_], size: int, most: int) -> bool:
    """Whether counting the support of every live row costs less than walking this level.

    If itemsets of every size count, whole rows settle the question: then all levels from triples on are compared
    with them.
    """
    table = indexed.table
    if size > 2 and most == table.longest:
        price, much = sum(table.n_itemsets(further) for further in range(size, most + 1)), EXPENSIVE // 100
    else:
        price, much = table.n_itemsets(size), EXPENSIVE
    return price > much and indexed.price_of_rows(np.flatnonzero(live)) < price


def live_rows(indexed: Indexed, live: NDArray[np.bool_], k: int, progress: Progress) -> NDArray[np.bool_]:
    """Those live rows that are contained in fewer than k records."""
    chosen = np.flatnonzero(live)
    rare = np.zeros_like(live)
    rare[chosen] = indexed.supports_of_rows(chosen, k, progress) < k
    return rare


def smallest_row(indexed: Indexed, among: NDArray[np.bool_]) -> Itemset:
    """The shortest row, and of those the first in ascending order."""
    table = indexed.table
    lengths = np.where(among, table.lengths, np.iinfo(np.int64).max)
    shortest = np.flatnonzero(lengths == lengths.min())
    row = int(first_rows_at(table, shortest, 1)[0])
    return tuple(table.items[table.indptr[row] : table.tails[row]].tolist())


def first_rows_at(table: Table, chosen: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Of the given rows, all of one public length, the first ``limit`` in ascending order of their public items."""
    length = int(table.lengths[chosen[0]])
    if length == 0:
        return chosen[:limit]
    block = table.items[table.indptr[chosen][:, None] + np.arange(length)]  # [chosen, length]
    return chosen[np.lexsort(block.T[::-1])[:limit]]


def shrink(indexed: Indexed, itemset: Itemset, k: int) -> tuple[Itemset, int]:
    """Drop items, largest first, as long as what is left stays rare: a minimal rare itemset and its support."""
    kept = list(itemset)
    for item in reversed(itemset):
        rest = [other for other in kept if other != item]
        if rest and support_of(indexed, rest, k) < k:
            kept = rest
    return tuple(kept), support_of(indexed, kept)


def support_of(indexed: Indexed, itemset: list[int], enough: int = 2**62) -> int:
    """The support of one public itemset that is not empty."""
    bounds = np.array([0, len(itemset)], dtype=np.int64)
    return int(indexed.count(bounds[:1], bounds[1:], np.array(itemset, dtype=np.int32), enough)[0])
