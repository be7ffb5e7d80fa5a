"""The loop that splits a group of records by an item."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._grouping import Rows
from setveil.arrays.compiling import compiled


class Counts(NamedTuple):
    """Room to count in, all zero between calls."""

    records: NDArray[np.int64]  # [public items]
    hidden: NDArray[np.int64]  # [public items, sensitive items]
    buffer: NDArray[np.int64]  # [records]


@compiled
def split_group(members: NDArray[np.int64], p: int, public: Rows, hidden: Rows, counts: Counts) -> int:
    """Put the records that have the best item to split by before those that have not; how many have it, or 0.

    Both sides must have degree p. Best: the mean, over the sensitive items, of the share of their occurrences on the
    side that has fewer; then the smaller side's share of the records. Ties: lowest item.
    """
    size = len(members)
    total = np.zeros(counts.hidden.shape[1], dtype=np.int64)
    for record in members:
        for j in range(public.indptr[record], public.indptr[record + 1]):
            counts.records[public.items[j]] += 1
        for i in range(hidden.indptr[record], hidden.indptr[record + 1]):
            total[hidden.items[i]] += 1
            for j in range(public.indptr[record], public.indptr[record + 1]):
                counts.hidden[public.items[j], hidden.items[i]] += 1
    best, best_even, best_share = -1, -1.0, -1.0
    for item in range(len(counts.records)):
        n_with = counts.records[item]
        if n_with < size and n_with > 0:
            even = 0.0
            allowed = True
            for secret in range(len(total)):
                with_item = counts.hidden[item, secret]
                if with_item * p > n_with or (total[secret] - with_item) * p > size - n_with:
                    allowed = False
                    break
                if total[secret]:
                    even += min(with_item, total[secret] - with_item) / total[secret]
            share = min(n_with, size - n_with) / size
            if allowed and (even > best_even or (even == best_even and share > best_share)):
                best, best_even, best_share = item, even, share
        if n_with:
            counts.records[item] = 0
            counts.hidden[item, :] = 0
    if best < 0:
        return 0
    n_with = n_without = 0
    for record in members:
        has_item = False
        for j in range(public.indptr[record], public.indptr[record + 1]):
            has_item |= public.items[j] == best
        if has_item:
            members[n_with] = record
            n_with += 1
        else:
            counts.buffer[n_without] = record
            n_without += 1
    for number in range(n_without):
        members[n_with + number] = counts.buffer[number]
    return n_with
