"""Tables of counts: how much is listed, and how counts are read off a table."""

from __future__ import annotations

from itertools import combinations

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
        smallest = int(release.counts.min(initial=0))
        self.below = getattr(release.model, "k", smallest) - 1  # people that an unlisted item or pair has at most
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

    def bounds(self, itemset: tuple[int, ...], k: int, r: int) -> tuple[int, int]:
        """The smallest and the largest number of people that rounding leaves possible, given all listed parts."""
        low, high = 0, self.n_records
        for size in range(1, len(itemset) + 1):
            for part in combinations(itemset, size):
                if part in self.counts:
                    least, most = rounding_interval(self.counts[part], k, r)
                    high = min(high, most)
                    low = least if part == itemset else low
                elif size <= 2:
                    high = min(high, k - 1)
        return min(low, high), high

    def _estimate(self, itemset: tuple[int, ...]) -> float:
        if any((item,) not in self.counts for item in itemset):
            return 0.0
        if len(itemset) > MOST_ITEMS:
            return self._by_parts(itemset)
        parts = [part for size in range(1, len(itemset)) for part in combinations(itemset, size) if part in self.counts]
        estimate = scaled(self.n_records, len(itemset), {
            tuple(itemset.index(item) for item in part): self.counts[part] for part in parts
        })  # fmt: skip
        unlisted = [pair for pair in combinations(itemset, 2) if pair not in self.counts]
        return min(estimate, float(self.below)) if unlisted else estimate

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


def scaled(n_records: int, n_items: int, counts: dict[tuple[int, ...], int]) -> float:
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
