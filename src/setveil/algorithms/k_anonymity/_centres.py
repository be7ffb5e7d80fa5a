"""Loops over classes and their centres: majority votes, changes, the nearest centre."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import sort_values


@compiled
def vote_centres(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    n_items: int,
    members: NDArray[np.int64],
    bounds: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Per class the items that more than half of its records have, as CSR; class c is
    ``members[bounds[c]:bounds[c+1]]``.
    """
    n_classes = len(bounds) - 1
    count = np.zeros(n_items, dtype=np.int64)
    ends = np.zeros(n_classes + 1, dtype=np.int64)
    chosen = np.empty(1024, dtype=np.int32)
    for c in range(n_classes):
        size = bounds[c + 1] - bounds[c]
        end = ends[c]
        for member in members[bounds[c] : bounds[c + 1]]:
            for place in range(indptr[member], indptr[member + 1]):
                item = items[place]
                count[item] += 1
                if 2 * count[item] > size and 2 * (count[item] - 1) <= size:  # just elected
                    if end == len(chosen):
                        longer = np.empty(2 * end, dtype=np.int32)
                        for at in range(end):
                            longer[at] = chosen[at]
                        chosen = longer
                    chosen[end] = item
                    end += 1
        for member in members[bounds[c] : bounds[c + 1]]:
            for place in range(indptr[member], indptr[member + 1]):
                count[items[place]] = 0
        sort_values(chosen[ends[c] : end])
        ends[c + 1] = end
    return ends, chosen[: ends[n_classes]].copy()


@compiled
def count_common(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    centre_of: NDArray[np.int64],
    centre_indptr: NDArray[np.int64],
    centre_items: NDArray[np.int32],
) -> NDArray[np.int64]:
    """How many items each record has in common with its centre, int64[n_records]; both sorted."""
    common = np.zeros(len(centre_of), dtype=np.int64)
    for record in range(len(centre_of)):
        here, there = indptr[record], centre_indptr[centre_of[record]]
        end_here, end_there = indptr[record + 1], centre_indptr[centre_of[record] + 1]
        while here < end_here and there < end_there:
            common[record] += items[here] == centre_items[there]
            step_here = items[here] <= centre_items[there]
            there += items[here] >= centre_items[there]
            here += step_here
    return common


@compiled
def find_nearest(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    records: NDArray[np.int64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    centre_indptr: NDArray[np.int64],
    centre_items: NDArray[np.int32],
) -> NDArray[np.int64]:
    """For each record the nearest of the centres ``first[j] … last[j]-1`` by Hamming distance, the first among
    equals.
    """
    nearest = np.empty(len(records), dtype=np.int64)
    for number in range(len(records)):
        begin, end_here = indptr[records[number]], indptr[records[number] + 1]
        least = np.int64(1) << 62
        for centre in range(first[number], last[number]):
            here, there = begin, centre_indptr[centre]
            end_there = centre_indptr[centre + 1]
            distance = (end_here - begin) + (end_there - there)
            while here < end_here and there < end_there:
                if items[here] == centre_items[there]:
                    distance -= 2
                    here += 1
                    there += 1
                elif items[here] < centre_items[there]:
                    here += 1
                else:
                    there += 1
            if distance < least:
                least = distance
                nearest[number] = centre
    return nearest
