"""Supports of all pairs or triples of published items in one table, where the items are few enough for that.

Items x < y < z have the place x + y(y-1)/2 + z(z-1)(z-2)/6. Every thread counts some of the records in a table of its
own; the sum is exact whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.verify.published import Published

LARGEST = 3  # items in an itemset
MOST_CELLS = 1 << 25  # of a table: 128 MiB
SMALL = 1 << 20  # a table of this size is always worth it
AT_ONCE = 1 << 20  # occurrences per compiled call


def can_count(published: Published, size: int) -> bool:
    """Whether the table fits into memory and is not out of proportion to the records."""
    positions = comb(len(published.labels), size)
    if size > LARGEST or positions > MOST_CELLS:
        return False
    rows_of_length: list[int] = np.bincount(np.diff(published.indptr)).tolist()
    return positions <= SMALL + 4 * sum(n_rows * comb(length, size) for length, n_rows in enumerate(rows_of_length))


def count_single_items(published: Published) -> NDArray[np.int32]:
    """The support of every published item; part by part, for NumPy counts in a copy twice as large."""
    supports = np.zeros(len(published.labels), dtype=np.int64)
    for begin in range(0, len(published.items), AT_ONCE):
        supports += np.bincount(published.items[begin : begin + AT_ONCE], minlength=len(supports))
    return supports.astype(np.int32)


def count_itemsets(published: Published, size: int, progress: Progress) -> NDArray[np.int32]:
    """The support of every itemset of two or three published items, by place."""
    from setveil.verify.counting import count_pairs, count_triples

    count = {2: count_pairs, 3: count_triples}[size]
    parts = list(parts_of(published.indptr))
    n_threads = max(1, min(n_processors(), len(parts)))
    tables = [np.zeros(comb(len(published.labels), size), dtype=np.int32) for _ in range(n_threads)]
    with ThreadPoolExecutor(n_threads) as pool:
        for done in range(0, len(parts), n_threads):
            progress(f"itemsets of size {size}", done / len(parts))
            some = parts[done : done + n_threads]
            jobs = [
                pool.submit(count, published.indptr, published.items, *part, table)
                for part, table in zip(some, tables, strict=False)
            ]
            for job in jobs:
                job.result()
    for table in tables[1:]:
        tables[0] += table
    return tables[0]


def first_itemset(positions: NDArray[np.int64], size: int, n_items: int) -> tuple[tuple[int, ...], int]:
    """Of the itemsets at some positions the first in ascending order, and its place."""
    columns = []
    rest = positions
    for taken in range(size, 0, -1):
        before = np.array([comb(item, taken) for item in range(n_items)], dtype=np.int64)
        item = np.searchsorted(before, rest, side="right") - 1
        columns.append(item)
        rest = rest - before[item]
    first = int(np.lexsort(columns)[0])  # the largest item was taken first, so the smallest decides
    return tuple(int(column[first]) for column in reversed(columns)), int(positions[first])


def parts_of(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of records of about equal size."""
    marks = np.searchsorted(indptr, np.arange(0, indptr[-1], AT_ONCE)).tolist()
    bounds = sorted({0, *marks, len(indptr) - 1})
    return zip(bounds[:-1], bounds[1:], strict=True)


def n_processors() -> int:
    """Threads that count at the same time."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = os.environ.get("NUMBA_NUM_THREADS", "")
    return min(available, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else available
