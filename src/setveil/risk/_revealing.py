# mypy: disable-error-code="assignment"
"""How many of the records that fit show further labels: counted target by target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import (
    Postings,
    Queries,
    and_bits,
    are_dense,
    common_records,
    contains_item,
    intersect,
    popcount,
)

_WORDS = 4  # words of 64 records that cost as much as one record


@compiled
def count_further(
    postings: Postings,
    queries: Queries,
    labels: Postings,
    supports: NDArray[np.int64],
    further: Queries,
    own: NDArray[np.int64],
    n_fitting: NDArray[np.int64],
    n_showing: NDArray[np.int64],
) -> None:
    """For each query: ``n_fitting[query]`` gets the number of records that contain the itemset, and
    ``n_showing[place]`` how many of these show the label ``further[1][place]``; ``[:, 1]`` are the same numbers without
    the record ``own[query]`` (-1: nobody's). A label that at most half of them can show, by its ``supports``, is not
    counted: its number stays 0.
    """
    further_indptr, further_labels = further
    words = np.empty(postings.bits.shape[1], dtype=np.uint64)
    for query in range(len(own)):
        begin, end = further_indptr[query], further_indptr[query + 1]
        if begin == end:
            continue
        itemset = queries[1][queries[0][query] : queries[0][query + 1]]
        are_all, n_fitting_here = len(itemset) == 0, np.int64(0)
        if not are_all and are_dense(postings, itemset):
            and_bits(postings, itemset, words)
            for word in words:
                n_fitting_here += popcount(word)
        are_many = _WORDS * n_fitting_here > len(words)  # then 64 are looked at together
        fitting = np.empty(0, dtype=np.int32) if are_all or are_many else common_records(postings, itemset, words)
        if are_all:
            n_fitting_here = np.int64(postings.n_records)
        elif not are_many:
            n_fitting_here = np.int64(len(fitting))
        is_own = own[query] >= 0
        for item in itemset:
            is_own = is_own and contains_item(postings, item, own[query])
        n_fitting[query, 0], n_fitting[query, 1] = n_fitting_here, n_fitting_here - is_own
        common = np.empty(len(fitting), dtype=np.int32)
        for place in range(begin, end):
            label = further_labels[place]
            if 2 * supports[label] <= n_fitting[query, 1]:
                continue
            n_both = np.int64(0)
            showing = labels.records[labels.indptr[label] : labels.indptr[label + 1]]
            if are_all:
                n_both = supports[label]
            elif labels.dense[label] >= 0:
                row = labels.bits[labels.dense[label]]
                if are_many:
                    for at in range(len(words)):
                        n_both += popcount(words[at] & row[at])
                for record in fitting:
                    n_both += np.int64((row[record >> 6] >> np.uint64(record & 63)) & np.uint64(1))
            elif are_many:
                for record in showing:
                    n_both += np.int64((words[record >> 6] >> np.uint64(record & 63)) & np.uint64(1))
            else:
                for at in range(len(fitting)):
                    common[at] = fitting[at]
                n_both = intersect(common, len(fitting), showing)
            n_showing[place, 0] = n_both
            n_showing[place, 1] = n_both - (is_own and contains_item(labels, label, own[query]))
