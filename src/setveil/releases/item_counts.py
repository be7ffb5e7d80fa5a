"""Which items of a category may be counted by name, in ``item_counts.csv`` beside a recoding.

A category of s records covers g items. Of some of them the exact number of people is listed, of the others (U) it is
not. The published files say nothing else about which record has which of the items: every assignment of items to the
records of the category is consistent with the files if each record gets at least one item and each listed item its
number. Categories are independent of each other. So three rules decide what the counts reveal.

1. A listed count n is at least k and below s. (With n = s every record of the category would show the item.)
2. U never has one item only, and if U has any, one of them has no people or at least k. Unlisted items of a
   category are interchangeable: exchanging two of them in the original gives the same files. So the files do not tell
   of any single item that it has 1 to k − 1 people.
3. If U is empty, let S = Σ n − s. The support of r of the items is at least the sum of their counts − (r − 1)·s
   (Bonferroni; the complements can be laid side by side), and at most the smaller of their least count and
   ⌊S/(r − 1)⌋ (each of these records uses r − 1 of the S entries that are more than one per record). Both are
   reached. No r ≤ m items may have a lower bound of 1 or more and an upper bound below k.

Then no set of at most m original items is known, from the files alone, to have 1 to k − 1 people. Sets over several
categories follow: if their support is at least 1, the same is true of their part in each category. If it is below k,
one of the parts must be below k, because the categories themselves are together in at least k records.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def choose_items(counts: NDArray[np.int64], support: int, k: int, largest: float) -> NDArray[np.bool_]:
    """Which items of a category are listed, bool[items]: all that rules 1 to 3 allow; the rarest are removed first.

    Args:
        counts: the number of people with each item of the category.
        support: the number of records that show the category.
        k: the smallest number of people that may be shown.
        largest: the largest number of items that the guarantee covers.
    """
    is_listed = (counts >= k) & (counts < support)
    in_order = np.lexsort((np.arange(len(counts)), counts)).tolist()
    for item in in_order:
        if not is_listed.any() or _is_safe(counts, is_listed, support, k, largest):
            return is_listed
        is_listed[item] = False
    return np.zeros(len(counts), dtype=bool)


def _is_safe(counts: NDArray[np.int64], is_listed: NDArray[np.bool_], support: int, k: int, largest: float) -> bool:
    others = counts[~is_listed]
    if len(others):
        return len(others) > 1 and bool(((others == 0) | (others >= k)).any())
    most = np.sort(counts)[::-1].tolist()
    spare = sum(most) - support
    return not any(
        sum(most[:size]) - (size - 1) * support >= 1 and spare // (size - 1) < k
        for size in range(2, int(min(largest, len(most))) + 1)
    )
