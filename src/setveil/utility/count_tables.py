"""Tables of counts: how much is listed, and how counts are read off a table.

A listed count is read as it is. Any other is estimated from the published counts of its parts, each taken as the middle
of its rounding interval: the distribution of largest entropy gives an expected number of people e. For an unlisted
pair, which has no parts but its items, e allows for the published lengths of records. Where the table says that fewer
than k people have a set, the estimate is the mean of a Poisson distribution with mean e below k. Nothing is assumed
about who asks: a set that nobody may have is read like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import lgamma, log

import numpy as np

from setveil.core import Dataset
from setveil.releases import CountTable

ROUNDS, NEAR = 200, 1e-9  # of iterative scaling
MOST_ITEMS = 12  # of a set that is estimated: its cells are all counted


def table_figures(original: Dataset, release: CountTable) -> dict[str, float | int | None]:
    """Sizes of the table."""
    return {**release.public_figures(), "n_length_groups": len(release.lengths)}


class TableReader:
    """Counts of itemsets, from the table where they are listed, otherwise by iterative scaling of their parts."""

    def __init__(self, release: CountTable) -> None:
        self.n_records = release.published.n_records
        bounds, items = release.sets.indptr.tolist(), release.sets.items.tolist()
        self.counts = {
            tuple(items[a:b]): count for a, b, count in zip(bounds, bounds[1:], release.counts.tolist(), strict=False)
        }
        smallest = int(release.counts.min(initial=2))
        self.k, self.r = getattr(release.model, "k", smallest), getattr(release.model, "r", smallest)
        self.triples_from = release.triples_from
        lengths = release.rows.lengths
        # Two items meet more often in records of unequal lengths than if every record were equally long.
        self.together = self.n_records * float((lengths * (lengths - 1)).sum()) / max(float(lengths.sum()) ** 2, 1.0)
        self._made: dict[tuple[int, ...], float] = {}

    def count(self, itemset: tuple[int, ...]) -> tuple[float, bool]:
        """How many people have all items (ascending), and whether the table lists that."""
        if not itemset:
            return float(self.n_records), True
        if itemset in self.counts:
            return float(min(self.counts[itemset], self.n_records)), True
        if itemset not in self._made:
            self._made[itemset] = self._estimate(itemset)
        return self._made[itemset], False

    def bounds(self, itemset: tuple[int, ...]) -> tuple[int, int]:
        """The smallest and the largest number of people that rounding leaves possible, given all listed parts."""
        low, high = 0, self.n_records
        for size in range(1, len(itemset) + 1):
            for part in combinations(itemset, size):
                if part in self.counts:
                    least, most = rounding_interval(self.counts[part], self.k, self.r)
                    high = min(high, most)
                    low = least if part == itemset else low
                elif size <= 2:
                    high = min(high, self.k - 1)
        return min(low, high), high

    def _estimate(self, itemset: tuple[int, ...]) -> float:
        if any((item,) not in self.counts for item in itemset):
            return 0.0
        if len(itemset) > MOST_ITEMS:
            return self._by_parts(itemset)
        parts = [part for size in range(1, len(itemset)) for part in combinations(itemset, size) if part in self.counts]
        known = {part: self._middle(self.counts[part]) for part in parts}
        unlisted = [pair for pair in combinations(itemset, 2) if pair not in self.counts]
        if len(itemset) > 2:
            known |= {pair: self.count(pair)[0] for pair in unlisted}
        positions = {tuple(itemset.index(item) for item in part): people for part, people in known.items()}
        estimate = scaled(self.n_records, len(itemset), positions)
        few = range(self.k)
        if unlisted:
            return mean_within(estimate * (self.together if len(itemset) == 2 else 1), few)
        if len(itemset) == 3 and self.triples_from is not None:
            few = range(max(self.triples_from - self.r + (self.r + 1) // 2, self.k))
            rarest = min(self.counts[pair] for pair in combinations(itemset, 2))
            low, high = rounding_interval(rarest, self.k, self.r)
            return mean_within(estimate, [*few, *range(max(low, self.k), high + 1)])
        return estimate

    def _middle(self, count: int) -> float:
        return min(sum(rounding_interval(count, self.k, self.r)) / 2, float(self.n_records))

    def _by_parts(self, itemset: tuple[int, ...]) -> float:
        """Of very long itemsets: items one after the other, each given the two before it."""
        found = self.count(itemset[:2])[0]
        for place in range(2, len(itemset)):
            given = self.count(itemset[place - 2 : place])[0]
            found *= self.count(itemset[place - 2 : place + 1])[0] / given if given else 0.0
        return found


def rounding_interval(count: int, k: int, r: int) -> tuple[int, int]:
    """The numbers of people that are published as ``count``."""
    least = k if count == r * -(-k // r) else count - r // 2
    return least, count + (r + 1) // 2 - 1


def mean_within(expected: float, values: Sequence[int]) -> float:
    """The mean of a Poisson distribution if one of these values was drawn."""
    if expected <= 0:
        return 0.0
    chances = np.array([value * log(expected) - lgamma(value + 1) for value in values])
    return float(np.average(values, weights=np.exp(chances - chances.max())))


def scaled(n_records: int, n_items: int, counts: Mapping[tuple[int, ...], float]) -> float:
    """How many of ``n_records`` have all of ``n_items`` items, if the sets in ``counts`` (by place) have these counts.

    Iterative proportional fitting over all cells, from independence on: the distribution of largest entropy.
    """
    cells = np.full(1 << n_items, 1.0 / (1 << n_items))
    numbers = np.arange(1 << n_items)
    masks = [sum(1 << place for place in part) for part in counts]
    inside = [(numbers & mask) == mask for mask in masks]
    shares = [min(count, n_records) / max(n_records, 1) for count in counts.values()]
    for _ in range(ROUNDS):
        largest = 0.0
        for chosen, share in zip(inside, shares, strict=True):
            now = float(cells[chosen].sum())
            largest = max(largest, abs(now - share))
            if 0 < now < 1:
                factor = np.where(chosen, share / now, (1 - share) / (1 - now))
                cells = cells * factor
        if largest < NEAR:
            break
    return float(cells[-1] * n_records)
