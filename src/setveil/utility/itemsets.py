"""Frequent itemsets: finding them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import invert_rows, mine_itemsets, sort_rows_by_item
from setveil.core import Itemsets, Transactions
from setveil.errors import InputError

LIMIT = 2_000_000  # itemsets; more are not worth comparing
_N_SLICES = 16


@dataclass(frozen=True, eq=False)
class FrequentItemsets:
    """Itemsets over the vocabulary of the data and their supports, all at least ``min_support``."""

    itemsets: Itemsets
    supports: NDArray[np.int64]
    min_support: int

    def __len__(self) -> int:
        return len(self.supports)

    def to_dict(self) -> dict[frozenset[str], int]:
        """As labels."""
        return dict(zip(map(frozenset, self.itemsets.to_lists()), self.supports.tolist(), strict=True))


def frequent_itemsets(
    data: Transactions, threshold: float, max_size: int | None = None, limit: int = LIMIT
) -> FrequentItemsets:
    """All non-empty itemsets of at most ``max_size`` items that at least so many records contain.

    ``threshold``: a share of the records (a float up to 1) or a number of records (an int). More than ``limit``
    itemsets are an error.
    """
    min_support = as_min_support(threshold, data.n_records)
    frequent = data.supports >= min_support
    kept = data.keep_items(frequent)
    rank = np.empty(kept.n_items, dtype=np.int32)
    by_support = np.argsort(kept.supports, kind="stable")
    rank[by_support] = np.arange(kept.n_items)
    lists = invert_rows(kept.indptr, rank[kept.items], kept.n_items)
    rows = (kept.indptr, sort_rows_by_item(lists, kept.indptr))
    number = np.flatnonzero(frequent)[by_support].astype(np.int32)  # rank → item of the data

    sizes, items, supports, n_left = [], [], [], limit
    bounds = np.linspace(0, kept.n_items, _N_SLICES + 1).astype(np.int64).tolist()
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        ends, found, counts, complete = mine_itemsets(
            rows, lists, first, last, min_support, max_size or kept.n_items, n_left
        )
        if not complete:
            raise InputError(
                f"more than {limit:,} itemsets are in {min_support:,} records or more; raise the threshold or limit "
                "their size."
            )
        n_left -= len(counts)
        sizes.append(np.diff(ends, prepend=0))
        items.append(number[found])
        supports.append(counts)
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int64)
    itemsets = Itemsets(indptr, _sorted_within(indptr, np.concatenate(items)), data.vocabulary)
    return FrequentItemsets(itemsets, np.concatenate(supports), min_support)


def as_min_support(threshold: float, n_records: int) -> int:
    """A share of the records or a number of records, as the least number of records that is enough."""
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or threshold <= 0:
        raise InputError(f"a support threshold is a share above 0 or a number of records, not {threshold!r}.")
    if isinstance(threshold, int):
        return threshold
    if threshold > 1:
        raise InputError(f"a support threshold is a share of at most 1, not {threshold}; write numbers as integers.")
    return max(ceil(threshold * n_records - 1e-9), 1)


def _sorted_within(indptr: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.int32]:
    """Items ascending inside each itemset."""
    owners = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return items[np.lexsort((items, owners))]
