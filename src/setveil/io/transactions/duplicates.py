"""People who are in the data more than once: exports that were joined, records that were copied.

Whoever is there twice hides behind herself, so every guarantee that counts people is weaker than it says. Equal records
of different people are no slip, and most data has some. Two signs tell copies from chance: how often *nearly every*
distinct record occurs, and records that occur twice at the *same* distance, as a block of rows that was pasted again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import LARGE, Transactions

LEAST_DISTINCT = (
    20  # different records; if counts were even by chance, one data set in 50,000 of this size would be reported
)
NEARLY_ALL, MANY, MOST = 0.95, 100, 0.8  # of the different records; of many a smaller share is no chance either
COPIES = (5, 4, 3, 2)
LEAST_BLOCK = 20  # records that occur again at one distance
MOST_LOOKED_AT = 4_000_000  # records; of more, all copies of some
_ODD, _MIXED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def describe_copies(data: Transactions) -> str | None:
    """A sentence about records that seem to be copies of others; None if nothing speaks for it."""
    positions = np.flatnonzero(np.diff(data.indptr) > 0)
    if len(positions) < 2 * LEAST_DISTINCT:
        return None
    keys = _content_keys(data, positions)
    if len(keys) > MOST_LOOKED_AT:  # by content, so that copies stay together
        some = keys % np.uint64(len(keys) // MOST_LOOKED_AT + 1) == 0
        keys, positions = keys[some], positions[some]
    order = np.argsort(keys)
    first = np.flatnonzero(np.concatenate(([True], keys[order][1:] != keys[order][:-1])))
    counts = np.diff(first, append=len(keys))
    return _every_record(counts) or _block(positions[order], first, counts)


def _every_record(counts: NDArray[np.int64]) -> str | None:
    if len(counts) < LEAST_DISTINCT:
        return None
    for copies in COPIES:
        share = float((counts % copies == 0).mean())
        if share >= (NEARLY_ALL if len(counts) < MANY else MOST):
            times = {2: "an even number of times", 3: "three times or a multiple"}.get(
                copies, f"{copies} times or a multiple"
            )
            return (
                f"{100 * share:.0f} % of the {len(counts):,} different records occur {times}, as if everybody were in "
                "the data more than once. Copies make people look safer than they are: remove them"
            )
    return None


def _block(positions: NDArray[np.int64], first: NDArray[np.int64], counts: NDArray[np.int64]) -> str | None:
    """Records that occur exactly twice, at one distance: by chance distances differ. Neighbours are only sorted."""
    twice = first[counts == 2]
    distances = np.abs(positions[twice + 1] - positions[twice])
    distances = distances[distances >= LEAST_BLOCK]
    if len(distances) < LEAST_BLOCK:
        return None
    found, n_found = np.unique(distances, return_counts=True)
    most = int(np.argmax(n_found))
    if n_found[most] < max(LEAST_BLOCK, len(distances) // 10):
        return None
    return (
        f"{int(n_found[most]):,} records occur again {int(found[most]):,} records later, as if a part of the data were "
        "there twice. Copies make people look safer than they are: remove them"
    )


def _content_keys(data: Transactions, positions: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each of the records that have items, equal for equal records; two different ones share theirs once
    in 2^64.
    """
    with np.errstate(over="ignore"):
        mixed = np.arange(1, data.n_items + 1, dtype=np.uint64) * _ODD
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIXED
        mixed ^= mixed >> np.uint64(27)
    if data.n_occurrences > LARGE:  # worth loading a compiled loop
        from setveil.arrays.rows import sum_rows

        return sum_rows(data.indptr, data.items, mixed, positions)
    return np.add.reduceat(mixed[data.items], data.indptr[positions])
