"""Guessing, from the shape of its records alone, who of a group holds a sensitive item.

Groups are formed around those who hold one, and that may show. Two guesses are tried in every group and for every sensitive item
counted there: the record with the most public items, and the most typical one, which has the least sum of Jaccard distances to the
others. Where several are equal, any of them is picked. Guessing at random is the measure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Grouping, Transactions
from setveil.risk.intervals import Rate, rate_of

LARGEST = 100  # records; in a larger group, such as that of the leftovers, nobody is looked for
MOST = 10_000  # groups; of more, evenly spread ones are tried


class Guess(NamedTuple):
    """Over all groups of a size to guess in, and the sensitive items counted there."""

    n_cases: int
    longest: Rate  # how often the longest record holds the item
    typical: Rate  # how often the most typical one does
    at_random: float  # how often any record of the group does


def guess_holders(original: Transactions, release: Grouping) -> Guess | None:
    """How often each guess is right; None if there is nothing to guess. Records are in the order of the original."""
    size = np.bincount(release.group_of, minlength=release.n_groups)
    loud = np.unique(release.count_group[size[release.count_group] <= LARGEST])
    chosen = (
        loud[np.unique(np.linspace(0, len(loud) - 1, min(len(loud), MOST)).astype(np.int64))] if len(loud) else loud
    )
    tried = np.isin(release.count_group, chosen)
    groups, items, counts = release.count_group[tried], release.count_item[tried], release.count[tried]
    if not len(groups):
        return None
    is_longest = np.zeros(original.n_records, dtype=bool)
    is_typical = np.zeros(original.n_records, dtype=bool)
    order = np.argsort(release.group_of, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(size)))
    for group in chosen.tolist():
        members = order[bounds[group] : bounds[group + 1]]
        rows = release.published.select(members)
        is_longest[members] = rows.lengths == rows.lengths.max()
        distance = _distances(rows)
        is_typical[members] = distance <= distance.min() + 1e-9
    number = release.sensitive.numbers(original.vocabulary)  # [original items], -1 for public ones
    hidden = np.flatnonzero(number[original.items] >= 0)
    record, width = original.owners[hidden], len(release.sensitive)
    holds = release.group_of[record] * width + number[original.items[hidden]]  # [occurrences] its case
    cases = groups * width + items  # ascending

    def right(is_guessed: NDArray[np.bool_]) -> Rate:
        held = holds[is_guessed[record]]
        place = np.minimum(np.searchsorted(cases, held), len(cases) - 1)
        hits = np.bincount(place[cases[place] == held], minlength=len(cases))  # what was suppressed is no case
        n_guessed = np.bincount(release.group_of[is_guessed], minlength=release.n_groups)
        return rate_of(hits / n_guessed[groups])

    return Guess(len(cases), right(is_longest), right(is_typical), float((counts / size[groups]).mean()))


def _distances(rows: Transactions) -> NDArray[np.float64]:
    """The sum of Jaccard distances of each record to all others, float64[records]; two empty records are alike."""
    used, column = np.unique(rows.items, return_inverse=True)
    has = np.zeros((rows.n_records, len(used)))
    has[rows.owners, column] = 1.0
    common = has @ has.T
    union = rows.lengths[:, None] + rows.lengths[None] - common
    alike = np.divide(common, union, out=np.ones_like(common), where=union > 0)
    return np.asarray((1.0 - alike).sum(axis=1))
