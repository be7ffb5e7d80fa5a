"""Which records contain what: inverted lists and what follows from intersecting them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.compile import compiled

Lists: TypeAlias = tuple[
    NDArray[np.int64], NDArray[np.int32]
]  # indptr, records: record numbers of each item, ascending
Queries: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items: one itemset per query


@compiled
def invert_rows(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> Lists:
    """The rows of each item, ascending."""
    list_indptr = np.zeros(n_items + 1, dtype=np.int64)
    for item in items:
        list_indptr[item + 1] += 1
    for item in range(n_items):
        list_indptr[item + 1] += list_indptr[item]
    fill = list_indptr[:-1].copy()
    rows = np.empty(len(items), dtype=np.int32)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            rows[fill[items[place]]] = row
            fill[items[place]] += 1
    return list_indptr, rows


@compiled
def count_supports(lists: Lists, weights: NDArray[np.int64], queries: Queries) -> NDArray[np.int64]:
    """The total weight of the rows that contain each queried itemset; all of them for the empty itemset."""
    list_indptr, rows = lists
    query_indptr, query_items = queries
    supports = np.zeros(len(query_indptr) - 1, dtype=np.int64)
    common = np.empty(0, dtype=np.int32)
    for query in range(len(supports)):
        itemset = query_items[query_indptr[query] : query_indptr[query + 1]]
        if len(itemset) == 0:
            supports[query] = weights.sum()
            continue
        by_length = np.argsort(list_indptr[itemset + 1] - list_indptr[itemset])  # shortest first: fewest candidates
        item = itemset[by_length[0]]
        n_common = list_indptr[item + 1] - list_indptr[item]
        if n_common > len(common):
            common = np.empty(2 * n_common, dtype=np.int32)
        common[:n_common] = rows[list_indptr[item] : list_indptr[item + 1]]
        for number in by_length[1:]:
            item = itemset[number]
            n_common = intersect(common, n_common, rows[list_indptr[item] : list_indptr[item + 1]])
        for at in range(n_common):
            supports[query] += weights[common[at]]
    return supports


@compiled
def intersect(common: NDArray[np.int32], n_common: int, other: NDArray[np.int32]) -> int:
    """Keep in ``common[:n_common]`` what ``other`` has too, both ascending; returns how many stay. Gallops in ``other``."""
    kept, low = 0, 0
    for at in range(n_common):
        wanted = common[at]
        step = 1
        while low + step < len(other) and other[low + step] < wanted:
            low += step
            step *= 2
        high = min(low + step, len(other))  # other[high] >= wanted, or the end
        while low < high:
            middle = (low + high) // 2
            if other[middle] < wanted:
                low = middle + 1
            else:
                high = middle
        if low == len(other):
            break
        if other[low] == wanted:
            common[kept] = wanted
            kept += 1
    return kept
