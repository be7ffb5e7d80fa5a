"""NN+: partners chosen so that the groups of each sensitive item, taken together, answer like its records.

After Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011. Their problem statement
asks for the groups with the least reconstruction error; their algorithms look for similar records instead. This one
goes for the error itself: for every sensitive item it keeps the number of occurrences of each public item in the
item's records and in its groups, and gives a group the records that bring the second nearest to p times the first.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: Gray order, then for every group a number of candidates that does not grow with the data.

Departures from the paper
1. A group is accepted if the remaining records meet the degree *without* it; see ``nn``.
2. The error of a sensitive item is summed over single public items: the Kullback-Leibler divergence between the share
   of its records that have the item and the share expected from the groups. Queries about several items follow
   closely.
3. Records with the most public items go first: they have the fewest good partners.
4. Candidates share an item with the seed, or have one of the items that its sensitive items lack most. Of each such
   item, the ``reach`` ungrouped holders before and after the seed in Gray order are looked at.
5. When all groups stand, ``rounds`` times over each group chooses its partners without sensitive items anew, among its
   own and those in no group.
6. Ties: first in Gray order, then in canonical order (by public, then by sensitive items). If every candidate does
   harm, the shortest record without sensitive items may do less.
7. ``suppress_excess`` takes occurrences out instead of refusing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree import _profiles as kernels
from setveil.algorithms.degree._grouping import Rows, State
from setveil.algorithms.degree.groups import SUPPRESS_EXCESS, narrow_rows, split_records, width_of
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order
from setveil.releases import Grouping

GROUPS_PER_REPORT = 500  # groups between two progress reports
REINDEX = 0.8  # the index is made anew when only this share of its records is still ungrouped


class _Sequence(NamedTuple):
    """Records in Gray order and what is settled about them; profiles and state change in place."""

    p: int
    public: Transactions
    hidden: Transactions
    rows: Rows  # those of ``public``, in narrow numbers
    secrets: Rows  # those of ``hidden``
    profiles: kernels.Profiles
    state: State


@dataclass(frozen=True)
class NNPlus(Algorithm):
    """Neighbours chosen by what the answers need."""

    reach: int = option(128, "candidates on either side in Gray order, per item of the seed", least=1)
    needed: int = option(4, "most needed items per sensitive item that candidates may have instead", least=0)
    rounds: int = option(2, "how often groups choose their partners again", least=0)
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Order, form groups, let them choose anew."""
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        context.step("ordering")
        order = gray_order(split.public)
        public, hidden = split.public.select(order), split.hidden.select(order)  # from here on in Gray order
        rows, secrets = narrow_rows(public), Rows(hidden.indptr, hidden.items)
        profiles = _profiles_of(public, hidden, split.p)
        work = _Sequence(split.p, public, hidden, rows, secrets, profiles, split.nothing_grouped())
        index = _index_of(public, hidden)
        self._form_groups(work, index, context)
        self._refill_groups(work, index, context)
        group_of = np.empty(split.n_records, dtype=np.int64)
        group_of[order] = work.state.group_of
        return split.release(group_of, {})

    def _form_groups(self, work: _Sequence, index: kernels.CandidateIndex, context: Context) -> None:
        """One group per seed, longest seed first."""
        p, public, hidden, rows, secrets, profiles, state = work
        telling = np.flatnonzero(hidden.lengths)
        seeds = telling[np.argsort(-public.lengths[telling], kind="stable")]
        n_indexed = np.inf  # nothing yet
        for first in range(0, len(seeds), GROUPS_PER_REPORT):
            context.step("grouping", first / len(seeds))
            if state.tally[0] < REINDEX * n_indexed:
                n_indexed = int(state.tally[0])
                kernels.fill_index(np.flatnonzero(state.group_of < 0), rows, secrets, index, state)
            some = seeds[first : first + GROUPS_PER_REPORT]
            kernels.form_groups_by_profile(some, p, (self.reach, self.needed), rows, secrets, profiles, index, state)

    def _refill_groups(self, work: _Sequence, index: kernels.CandidateIndex, context: Context) -> None:
        """Groups choose their silent members anew, until a round changes nothing."""
        p, _, hidden, rows, secrets, profiles, state = work
        groups = _members_of(hidden, state, p)
        kernels.fill_index(np.flatnonzero(hidden.lengths == 0), rows, secrets, index, state)
        for number in range(self.rounds):
            n_new = 0
            for first in range(0, len(groups), GROUPS_PER_REPORT):
                context.step("choosing again", (number + first / len(groups)) / self.rounds)
                some = groups[first : first + GROUPS_PER_REPORT]
                n_new += kernels.refill_groups(
                    some, p, (self.reach, self.needed), rows, secrets, profiles, index, state
                )
            if not n_new:
                break


def _profiles_of(public: Transactions, hidden: Transactions, p: int) -> kernels.Profiles:
    """Each sensitive item's profile when its own records are all its groups hold so far."""
    width = max(public.n_items, 1)
    public_rows = public.select(hidden.owners)  # one row per occurrence of a sensitive item
    keys = np.repeat(hidden.items.astype(np.int64), public_rows.lengths) * width + public_rows.items
    entries, actual = np.unique(keys, return_counts=True)
    secret = entries // width  # [entries]
    full = p * hidden.supports
    share = actual / hidden.supports[secret]
    gain = np.empty(len(entries), dtype=np.float64)
    profiles = kernels.Profiles(
        indptr=np.searchsorted(secret, np.arange(hidden.n_items + 1)).astype(np.int64, copy=False),
        items=(entries % width).astype(np.int32),
        share=share,
        expected=actual.astype(np.int64, copy=False),
        gain=gain,
        full=full,
    )
    kernels.measure_all_gains(profiles)
    return profiles


def _index_of(public: Transactions, hidden: Transactions) -> kernels.CandidateIndex:
    """An index that is still to be filled, and room to work in."""
    n_records = public.n_records
    silent = np.flatnonzero(hidden.lengths == 0)
    shortest = silent[np.argsort(public.lengths[silent], kind="stable")]
    place_short = np.zeros(n_records, dtype=np.int64)
    place_short[shortest] = np.arange(len(shortest))
    return kernels.CandidateIndex(
        indptr=np.zeros(public.n_items + 1, dtype=np.int64),
        records=np.zeros(public.n_occurrences, dtype=np.uint32),
        kind=np.zeros(public.n_occurrences, dtype=np.uint8),
        place=np.zeros(public.n_occurrences, dtype=width_of(public.n_occurrences)),
        shortest=shortest,
        place_short=place_short,
        next_short=np.arange(len(shortest) + 1, dtype=np.int64),
        need=np.zeros(public.n_items, dtype=np.float64),
        seen=np.zeros(n_records, dtype=np.uint32),
        found=np.empty(n_records + 1, dtype=np.uint32),
        score=np.empty(n_records + 1, dtype=np.float64),
        clock=np.zeros(1, dtype=np.int64),
        cost=np.zeros(1, dtype=np.float64),
    )


def _members_of(hidden: Transactions, state: State, p: int) -> NDArray[np.int64]:
    """The records of each group, those with sensitive items first, int64[groups, p]."""
    grouped = np.flatnonzero(state.group_of >= 0)
    order = np.lexsort((grouped, hidden.lengths[grouped] == 0, state.group_of[grouped]))
    return grouped[order].reshape(-1, p)
