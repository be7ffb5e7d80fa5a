"""The least that has to be left out, by trying everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

Records = Sequence[frozenset[str]]


def is_km_anonymous(records: Records, k: int, m: int) -> bool:
    """Whether every itemset of at most m items occurs in no record or in k."""
    return all(count >= k for count in itemset_counts(records, m).values())


def itemset_counts(records: Records, m: int) -> Counter[tuple[str, ...]]:
    """In how many records each itemset of at most m items occurs."""
    return Counter(
        itemset for record in records for size in range(1, m + 1) for itemset in combinations(sorted(record), size)
    )


def least_left_out(records: Records, k: int, m: int) -> int:
    """The smallest number of entries whose removal makes the records k^m-anonymous."""
    entries = [(number, item) for number, record in enumerate(records) for item in sorted(record)]
    for n_gone in range(len(entries) + 1):
        for gone in combinations(entries, n_gone):
            left = [record - {item for owner, item in gone if owner == number} for number, record in enumerate(records)]
            if is_km_anonymous(left, k, m):
                return n_gone
    raise AssertionError("leaving out everything is always safe")
