# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Estimated supports of itemsets in a local recoding, where an item is published differently from record to record."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import Lists, Rows, popcount, set_bits

PROBABILITY, SHARE, EXACT = 0, 1, 2  # rows of ``sums``


@compiled
def sum_over_readings(
    itemsets: Rows,
    covering: Lists,
    inverted: Lists,
    sizes: NDArray[np.int64],
    n_records: int,
    bounds: tuple[int, int],
    sums: NDArray[np.float64],
) -> None:
    """For the itemsets ``bounds`` the sums over matching records of what each estimator reads there.

    ``covering`` lists for each entry of an itemset the published items that cover it, the most specific last: the last
    one that a record has is what the entry is read from. ``inverted`` are the records of each published item.

    Records are sets of bits. Those in which an entry is read from a given label have the label and no more specific
    one. Going through the labels of one entry after the other, all records that are read from the same labels are
    counted at once.
    """
    longest, widest = 0, 0
    for number in range(bounds[0], bounds[1]):
        longest = max(longest, itemsets[0][number + 1] - itemsets[0][number])
        for entry in range(itemsets[0][number], itemsets[0][number + 1]):
            widest = max(widest, covering[0][entry + 1] - covering[0][entry])
    n_words = (n_records + 63) // 64
    read = np.zeros((longest, widest, n_words), dtype=np.uint64)  # records in which an entry is read from a label
    common = np.zeros((longest, n_words), dtype=np.uint64)  # of the labels chosen so far, in words that are not 0
    filled = np.zeros((longest + 1, n_words), dtype=np.int32)  # the numbers of these words
    n_filled = np.zeros(longest + 1, dtype=np.int64)
    for word in range(n_words):
        filled[0, word] = word
    n_filled[0] = n_words
    at = np.zeros(longest + 1, dtype=np.int64)
    share, chance = np.ones(longest + 1), np.ones(longest + 1)
    is_exact = np.ones(longest + 1, dtype=np.uint8)
    for number in range(bounds[0], bounds[1]):
        first, size = itemsets[0][number], itemsets[0][number + 1] - itemsets[0][number]
        for entry in range(size):
            start, end = covering[0][first + entry], covering[0][first + entry + 1]
            for word in range(n_words):
                common[entry, word] = np.uint64(0)  # records with a more specific label
            for place in range(end - start - 1, -1, -1):
                label = covering[1][start + place]
                for word in range(n_words):
                    read[entry, place, word] = np.uint64(0)
                set_bits(inverted[1][inverted[0][label] : inverted[0][label + 1]], read[entry, place])
                for word in range(n_words):
                    read[entry, place, word] &= ~common[entry, word]
                    common[entry, word] |= read[entry, place, word]
        depth = 0
        at[0] = -1
        while depth >= 0 and size > 0:
            at[depth] += 1
            start = covering[0][first + depth]
            if at[depth] >= covering[0][first + depth + 1] - start:
                depth -= 1
                continue
            n_common = np.int64(0)
            n_filled[depth + 1] = 0
            for place in range(n_filled[depth]):
                word = filled[depth, place]
                both = read[depth, at[depth], word]
                if depth > 0:
                    both &= common[depth - 1, word]
                if both != np.uint64(0):
                    common[depth, word] = both
                    filled[depth + 1, n_filled[depth + 1]] = word
                    n_filled[depth + 1] += 1
                    n_common += popcount(both)
            if n_common == 0:
                continue
            label = covering[1][start + at[depth]]
            is_new = True
            for earlier in range(depth):
                is_new = is_new and covering[1][covering[0][first + earlier] + at[earlier]] != label
            share[depth + 1] = share[depth] / sizes[label]
            chance[depth + 1] = 0.5 * chance[depth]
            if is_new:  # the empty subset of what it covers is impossible
                chance[depth + 1] /= 1.0 - 0.5 ** np.float64(sizes[label])
            is_exact[depth + 1] = is_exact[depth] if sizes[label] == 1 else 0
            if depth < size - 1:
                depth += 1
                at[depth] = -1
            else:
                sums[PROBABILITY, number] += n_common * chance[size]
                sums[SHARE, number] += n_common * share[size]
                sums[EXACT, number] += n_common * is_exact[size]
