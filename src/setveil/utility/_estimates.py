# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Estimated supports of itemsets in a local recoding, where an item is published differently from record to record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import Lists, Postings, Queries, Rows, list_matches

PROBABILITY, SHARE, EXACT = 0, 1, 2  # rows of ``sums``


@compiled
def sum_over_readings(
    postings: Postings,
    queries: Queries,
    itemsets: Rows,
    covering: Lists,
    published: Rows,
    sizes: NDArray[np.int64],
    bounds: tuple[int, int],
    sums: NDArray[np.float64],
) -> None:
    """For the itemsets ``bounds`` the sums over matching records of what each estimator reads there.

    ``queries`` are the itemsets as images; an itemset without a query is skipped. ``covering`` lists for each entry of
    an itemset the published items that cover it, the most specific last: the last one that a record has is what
    the entry is read from.
    """
    longest = 0
    for number in range(bounds[0], bounds[1]):
        longest = max(longest, itemsets[0][number + 1] - itemsets[0][number])
    place = np.zeros((longest, len(sizes)), dtype=np.int32)  # of a published item in the list of an entry, from 1
    read = np.zeros(longest, dtype=np.int64)
    for number in range(bounds[0], bounds[1]):
        first, last = itemsets[0][number], itemsets[0][number + 1]
        start, end = queries[0][number], queries[0][number + 1]
        if start == end:
            continue
        for entry in range(first, last):
            for at in range(covering[0][entry], covering[0][entry + 1]):
                place[entry - first, covering[1][at]] = at - covering[0][entry] + 1
        for record in list_matches(postings, queries[1][start:end]):
            share, chance, is_exact = 1.0, 1.0, True
            for entry in range(last - first):
                best, highest = -1, 0
                for at in range(published[0][record], published[0][record + 1]):
                    if place[entry, published[1][at]] > highest:
                        highest, best = place[entry, published[1][at]], published[1][at]
                read[entry] = best
                size = sizes[best]
                share /= size
                is_exact = is_exact and size == 1
                is_new = True
                for earlier in range(entry):
                    is_new = is_new and read[earlier] != best
                chance *= 0.5
                if is_new:  # the empty subset of what it covers is impossible
                    chance /= 1.0 - 0.5 ** np.float64(size)
            sums[PROBABILITY, number] += chance
            sums[SHARE, number] += share
            sums[EXACT, number] += is_exact
        for entry in range(first, last):
            for at in range(covering[0][entry], covering[0][entry + 1]):
                place[entry - first, covering[1][at]] = 0
