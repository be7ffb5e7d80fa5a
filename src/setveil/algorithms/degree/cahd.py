"""CAHD: groups of records that stand close together in an ordering.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 5.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: the ordering, then O(alpha · p) records looked at per record with a sensitive item.

Departures from the paper
1. A group is accepted if the degree holds for what remains *without* it; the printed test uses the number of records
   before the group is taken away, which lets leftovers miss the degree.
2. A seed that finds fewer than p-1 candidates stays ungrouped; the printed code does not say.
3. Candidates are equally near by distance, then by gap in the sequence, predecessor before successor. Records that the
   ordering leaves equal stand in canonical order (by public, then by sensitive items), whatever their order in the
   file.
4. "Lowest Hamming distance" and "most items in common" are not the same; the first is the default, both are offered,
   and the Jaccard distance too.
5. Once 64 conflicting records per wanted candidate have been passed over in one direction, only records without
   sensitive items are looked at there. Otherwise a long stretch of records with the same item costs its square.
6. With ``absorb``, leftovers join the group of the nearest grouped record among the alpha · p before and after them
   while the degree holds on both sides (the paper's Figure 1d shows such groups, its algorithm does not make them).
7. ``suppress_excess`` takes occurrences out instead of refusing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree import _grouping as kernels
from setveil.algorithms.degree.groups import DISTANCES, SUPPRESS_EXCESS, Split, split_records
from setveil.core import Grouping, Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import ORDERINGS, order_records

SLICE = 500_000  # candidates looked at between two progress reports


@dataclass(frozen=True)
class CAHD(Algorithm):
    """Correlation-aware anonymization of high-dimensional data."""

    ordering: str = option("gray", "how similar records are put side by side", ORDERINGS)
    alpha: int = option(1, "candidates: alpha·p records before and alpha·p after", least=1)
    distance: str = option("hamming", "which candidates are nearest", DISTANCES)
    absorb: bool = option(False, "leftovers join the nearest group while the degree holds")
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Order, form groups in sequence, absorb on request."""
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        context.step("ordering")
        order = order_records(split.public, self.ordering, context.step)
        group_of = group_in_sequence(split, order, self.alpha, self.distance, self.absorb, context)
        return split.release(group_of, {"ordering": self.ordering})


def group_in_sequence(
    split: Split, order: NDArray[np.int64], alpha: int, distance: str, absorb: bool, context: Context
) -> NDArray[np.int64]:
    """The group of each record, -1 for leftovers, int64[n_records]; ``distance`` may be ``"none"``."""
    kind = (*DISTANCES, "none").index(distance)
    in_order = split.public.select(order)
    public = kernels.Rows(in_order.indptr, in_order.items)
    in_order = split.hidden.select(order)
    hidden = kernels.Rows(in_order.indptr, in_order.items)
    state = split.nothing_grouped()
    chain = _chain_of(hidden)
    n_seeds, n_slice = len(chain.telling), max(SLICE // (alpha * split.p), 1)
    for first in range(0, n_seeds, n_slice):
        context.step("grouping", first / n_seeds)
        seeds = (first, min(first + n_slice, n_seeds))
        kernels.form_groups_in_sequence(seeds, split.p, alpha, kind, public, hidden, chain, state)
    if absorb:
        members = _members_of(state)
        for first in range(0, split.n_records, n_slice):
            context.step("absorbing leftovers", first / split.n_records)
            span = (first, min(first + n_slice, split.n_records))
            kernels.absorb_leftovers(span, split.p, alpha, kind, public, hidden, members, state)
    group_of = np.empty(split.n_records, dtype=np.int64)
    group_of[order] = state.group_of
    return group_of


def _chain_of(hidden: kernels.Rows) -> kernels.Chain:
    """Every record in sequence, none grouped."""
    is_telling = np.diff(hidden.indptr) > 0
    n_records = len(is_telling)
    telling = np.flatnonzero(is_telling)
    left = np.arange(n_records + 1, dtype=np.int64)
    left[1:][is_telling] -= 1
    right = np.arange(n_records + 1, dtype=np.int64)
    right[:-1][is_telling] += 1
    number = np.arange(len(telling), dtype=np.int64)
    return kernels.Chain(telling, number - 1, number + 1, left, right)


def _members_of(state: kernels.State) -> kernels.Members:
    """The groups formed so far, as linked lists."""
    grouped = np.flatnonzero(state.group_of >= 0)
    n_groups = int(state.tally[1])
    by_group = grouped[np.argsort(state.group_of[grouped], kind="stable")]
    group = state.group_of[by_group]
    link = np.full(len(state.group_of), -1, dtype=np.int64)
    same = group[1:] == group[:-1]
    link[by_group[1:][same]] = by_group[:-1][same]
    last = np.empty(n_groups, dtype=np.int64)
    last[group] = by_group  # the last one written stays
    return kernels.Members(grouped, np.bincount(group, minlength=n_groups), last, link)
