"""Reverse Cuthill-McKee order: a breadth-first walk from a record at the rim, backwards.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 5.1.

Two records are neighbours if they share an item. The graph (A·Aᵀ) is never stored: the walk goes from a record to its
items and on to their records, and an item leads to new records only once. Cost: a few passes over the data.

Departures from the paper
1. A record's degree is the number of other occurrences of its items: a neighbour counts once per shared item. Counting
   distinct neighbours would take as long as writing A·Aᵀ out.
2. Where to start: the record of lowest degree in its component, then the record of lowest degree in the last level of
   the walk from there, as long as that makes the walk deeper. Ties: lowest record number.
3. Records without items come first, then component after component by its lowest degree; all that backwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.core.row_order import bounds_of

RECORDS_PER_REPORT = 100_000  # records walked through between two reports


def rcm_order(data: Transactions, step: Callable[[str, float | None], None] | None = None) -> NDArray[np.int64]:
    """Record numbers in reverse Cuthill-McKee order, int64[n_records]; ``step`` reports how far it is."""
    from setveil.orderings._loops import walk_on

    by_degree = _by_degree(data)
    ranked = data.select(by_degree)  # from here on a row's number is its rank by degree
    rows, columns = (ranked.indptr, ranked.items), ranked.inverted()
    n_records, n_walks = ranked.n_records, 0
    queue = np.arange(n_records, dtype=np.int64)
    seen_row, seen_item = (np.zeros(size, dtype=np.int64) for size in (n_records, ranked.n_items))

    def walk_from(root: int, first: int) -> tuple[int, int, int]:
        """Queue the root's component from place ``first`` on: its end, the start of its last level, its depth."""
        nonlocal n_walks
        n_walks += 1
        queue[first], seen_row[root] = root, n_walks
        tally = np.array([first, first + 1, first, first, 0], dtype=np.int64)
        while not walk_on(queue, tally, RECORDS_PER_REPORT, rows, columns, seen_row, seen_item, n_walks):
            if step is not None:
                step("ordering", int(tally[0]) / n_records)
        return int(tally[1]), int(tally[3]), int(tally[4])

    done = ranked.n_empty
    seen_row[:done] = -1
    for row in range(done, n_records):
        if seen_row[row]:
            continue
        end, rim, depth = walk_from(row, done)
        while end > done + 1:
            end, rim, deeper = walk_from(int(queue[rim:end].min()), done)
            if deeper <= depth:
                break
            depth = deeper
        done = end
    return by_degree[queue[::-1]]


def _by_degree(data: Transactions) -> NDArray[np.int64]:
    """Record numbers by degree, those without items first, then by number."""
    others = bounds_of(data.supports[data.items] - 1)
    degree = np.diff(others[data.indptr])
    return np.lexsort((data.lengths > 0, degree))
