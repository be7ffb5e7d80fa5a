"""Which records show most of some items: counted for all records at once, in planes of bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import Postings, Queries, popcount


@compiled
def find_best(
    postings: Postings,
    queries: Queries,
    own: NDArray[np.int64],
    first: int,
    last: int,
    masks: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None:
    """For the queries ``first:last`` the records that show most of the queried items; a repeated item counts again.

    ``masks[query, 0]`` gets one bit per such record, ``masks[query, 1]`` the same among all records but ``own[query]``;
    ``counts[query]`` their numbers. Where nothing queried is shown, every record is as good as another.
    """
    query_indptr, query_items = queries
    n_words = masks.shape[2]
    longest = 0
    for query in range(first, last):
        longest = max(longest, query_indptr[query + 1] - query_indptr[query])
    n_planes = 0
    while (1 << n_planes) <= longest:
        n_planes += 1
    # planes[0, w] holds the lowest bit of the number of queried items that each of the records 64 w … 64 w + 63 shows.
    planes = np.zeros((n_planes, n_words), dtype=np.uint64)
    for query in range(first, last):
        for plane in range(n_planes):
            for word in range(n_words):
                planes[plane, word] = 0
        for place in range(query_indptr[query], query_indptr[query + 1]):
            item = query_items[place]
            if postings.dense[item] >= 0:
                row = postings.bits[postings.dense[item]]
                for word in range(n_words):
                    _add(planes, word, row[word])
            else:
                for at in range(postings.indptr[item], postings.indptr[item + 1]):
                    record = postings.records[at]
                    _add(planes, record >> 6, np.uint64(1) << np.uint64(record & 63))
        for side in range(2):
            mask = masks[query, side]
            for word in range(n_words):
                mask[word] = ~np.uint64(0)
            if postings.n_records & 63:
                mask[n_words - 1] = (np.uint64(1) << np.uint64(postings.n_records & 63)) - np.uint64(1)
            if side == 1:
                mask[own[query] >> 6] &= ~(np.uint64(1) << np.uint64(own[query] & 63))
            for plane in range(n_planes - 1, -1, -1):
                is_any = False
                for word in range(n_words):
                    if mask[word] & planes[plane, word] != 0:
                        is_any = True
                        break
                if is_any:
                    for word in range(n_words):
                        mask[word] &= planes[plane, word]
            n_best = 0
            for word in range(n_words):
                n_best += popcount(mask[word])
            counts[query, side] = n_best


@compiled
def _add(planes: NDArray[np.uint64], word: int, carry: np.uint64) -> None:
    """Add one to the counters of the records whose bits are set."""
    plane = 0
    while carry != 0:
        both = planes[plane, word] & carry
        planes[plane, word] ^= carry
        carry = both
        plane += 1
