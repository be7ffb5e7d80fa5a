"""PermMondrian: split the records by one item after the other, as long as both sides keep the degree.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 6.2, after Mondrian
(LeFevre, DeWitt, Ramakrishnan 2006) and Anatomy (Xiao, Tao 2006). A baseline: it does not cope with many items.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: every split reads its group once; splits are uneven on sparse data, so a record is read many times. Counters for
every pair of a public and a sensitive item.

Departures from the paper
1. The paper favours splits that balance the sensitive items and gives no formula. Here the best split is the one with
   the highest mean, over the sensitive items, of the share of occurrences on the side that has fewer; then the one
   whose smaller side is largest. Ties: lowest item.
2. A group without sensitive items is not split further: nothing is lost by leaving it whole.
3. ``suppress_excess`` takes occurrences out instead of refusing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree._splitting import Counts, split_group
from setveil.algorithms.degree.groups import SUPPRESS_EXCESS, Split, split_records
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping


@dataclass(frozen=True)
class PermMondrian(Algorithm):
    """Top-down splitting with exact public items."""

    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Split until no split is left that keeps the degree."""
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        return split.release(_split_all(split, context), {})


def _split_all(split: Split, context: Context) -> NDArray[np.int64]:
    """The group of each record, int64[n_records]."""
    public = Rows(split.public.indptr, split.public.items)
    hidden = Rows(split.hidden.indptr, split.hidden.items)
    is_telling = split.hidden.lengths > 0
    counts = Counts(
        records=np.zeros(split.public.n_items, dtype=np.int64),
        hidden=np.zeros((split.public.n_items, split.hidden.n_items), dtype=np.int64),
        buffer=np.empty(split.n_records, dtype=np.int64),
    )
    members = np.arange(split.n_records, dtype=np.int64)
    group_of = np.empty(split.n_records, dtype=np.int64)
    open_spans, n_groups, n_done = [(0, split.n_records)], 0, 0
    while open_spans:
        context.step("splitting", n_done / max(split.n_records, 1))
        first, last = open_spans.pop()
        mine = members[first:last]
        n_with = split_group(mine, split.p, public, hidden, counts) if is_telling[mine].any() else 0
        if n_with:
            open_spans += [(first + n_with, last), (first, first + n_with)]
        else:
            group_of[mine] = n_groups
            n_groups += 1
            n_done += len(mine)
    return group_of
