"""CAHD: groups of records that stand close together in an ordering.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 5.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: the ordering, then O(alpha · p) records looked at per record with a sensitive item.

Departures from the paper
1. A group is accepted if the remaining records meet the degree *without* it; the printed test uses the number of
   records before the group is removed, and leftovers may then not meet the degree.
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
8. With ``shard_size=N`` runs of the Gray order are grouped alone, and the leftovers of each are a group of their own:
   what a cluster can do, and one machine does alike. Shards differ in size by at most one record, longer first. From
   the first one on, a shard in which a sensitive item is too frequent takes in the next one until it is not; the last
   one is taken in by the shards before it. Of equal records it is drawn which stands where.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree import _grouping as kernels
from setveil.algorithms.degree.groups import DISTANCES, SUPPRESS_EXCESS, Split, nothing_grouped, split_records
from setveil.algorithms.degree.shards import group_distributed, group_shards
from setveil.core import Transactions
from setveil.engines.distributed import DistributedDataset
from setveil.errors import InputError
from setveil.models import PrivacyDegree
from setveil.orderings import ORDERINGS, order_records
from setveil.releases import Grouping

CANDIDATES_PER_REPORT = 500_000  # candidates looked at between two progress reports


@dataclass(frozen=True)
class CAHD(Algorithm):
    """Correlation-aware anonymization of high-dimensional data."""

    ordering: str = option("gray", "the order that puts similar records next to each other", ORDERINGS)
    alpha: int = option(1, "candidates: alpha·p records before and alpha·p after", least=1)
    distance: str = option("hamming", "the distance between records", DISTANCES)
    absorb: bool = option(False, "leftovers join the nearest group as long as the degree is met")
    suppress_excess: bool = SUPPRESS_EXCESS
    shard_size: int | None = option(
        None, "number of records per shard; each shard, a run in Gray order, is grouped separately", least=1
    )

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Order, form groups in sequence, absorb on request."""
        context.step("feasibility")
        self._check_ordering()
        split = split_records(data, model, self.suppress_excess, context.seed)
        context.step("ordering")
        if self.shard_size is not None:
            group = partial(self.group, p=split.p, context=context)
            group_of, n_shards, n_leftovers = group_shards(split, self.shard_size, context.seed, group)
            return split.release(group_of, {"ordering": self.ordering, "shards": n_shards}, n_leftovers)
        order = order_records(split.public, self.ordering, context.step)
        group_of = group_in_sequence(split, order, self.alpha, self.distance, self.absorb, context)
        return split.release(group_of, {"ordering": self.ordering})

    def group(self, public: Transactions, hidden: Transactions, p: int, context: Context) -> NDArray[np.int64]:
        """The group of each record of a sequence, -1 for leftovers."""
        return group_sequence(public, hidden, p, self.alpha, self.distance, self.absorb, context)

    def _check_ordering(self) -> None:
        if self.shard_size is not None and self.ordering != "gray":
            raise InputError("shards are runs of the Gray order; remove the option ordering or shard_size.")

    def run_distributed(self, data: DistributedDataset, model: PrivacyDegree, context: Context) -> Grouping:
        """Every shard alone, where the records are."""
        self._check_ordering()
        if self.shard_size is None:
            raise InputError(
                "cahd compares each group with all remaining records; on Spark set its option shard_size, which gives "
                "the same release on one machine."
            )
        if self.suppress_excess:
            raise InputError("suppress_excess draws among all records; remove it on Spark, or use --engine local.")
        group = partial(self.group, p=model.p, context=Context())
        return group_distributed(data, model, self.shard_size, group)


def group_in_sequence(
    split: Split, order: NDArray[np.int64], alpha: int, distance: str, absorb: bool, context: Context
) -> NDArray[np.int64]:
    """The group of each record, -1 for leftovers, int64[n_records]; ``distance`` may be ``"none"``."""
    in_order = split.public.select(order), split.hidden.select(order)
    group_of = np.empty(split.n_records, dtype=np.int64)
    group_of[order] = group_sequence(*in_order, split.p, alpha, distance, absorb, context)
    return group_of


def group_sequence(
    sequence: Transactions,
    telling: Transactions,
    p: int,
    alpha: int,
    distance: str,
    absorb: bool,
    context: Context,
) -> NDArray[np.int64]:
    """The same for records in sequence, given by their public and by their sensitive items."""
    kind = (*DISTANCES, "none").index(distance)
    public, hidden = kernels.Rows(sequence.indptr, sequence.items), kernels.Rows(telling.indptr, telling.items)
    state = nothing_grouped(telling)
    chain = _chain_of(hidden)
    n_records, n_seeds, n_slice = sequence.n_records, len(chain.telling), max(CANDIDATES_PER_REPORT // (alpha * p), 1)
    for first in range(0, n_seeds, n_slice):
        context.step("grouping", first / n_seeds)
        seeds = (first, min(first + n_slice, n_seeds))
        kernels.form_groups_in_sequence(seeds, p, alpha, kind, public, hidden, chain, state)
    if absorb:
        members = _members_of(state)
        for first in range(0, n_records, n_slice):
            context.step("absorbing leftovers", first / n_records)
            span = (first, min(first + n_slice, n_records))
            kernels.absorb_leftovers(span, p, alpha, kind, public, hidden, members, state)
    return state.group_of


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
