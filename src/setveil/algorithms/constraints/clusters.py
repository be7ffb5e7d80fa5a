"""What PCTA, UPCTA, COAT and pcta+ share: the ask in numbers, the clusters they start from, and the release.

Items that do not occur in the data take no part: nothing could be gained by merging them, and nothing is published of
them. All others are renumbered 0, 1, … in ascending order and called slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.constraints._clusters import (
    SUPPRESSED,
    Clusters,
    build_graph,
    count_larger_partners,
    find_root,
    link_sets,
)
from setveil.algorithms.constraints._merge_costs import DELTA_MASS, DELTA_UL, UL
from setveil.algorithms.constraints._protecting import Rules
from setveil.algorithms.constraints._set_queue import count_sets
from setveil.core import Transactions
from setveil.core.label_numbers import label_numbers
from setveil.core.row_order import bounds_of
from setveil.errors import InputError, name_some, times, warn
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.releases import Recoding

CRITERIA = {"ul": UL, "delta-ul": DELTA_UL, "delta-mass": DELTA_MASS}
MOST_PAIRS = 2**30 - 1  # of items that occur together: both halves of an edge are numbered in 32 bits
SCALE = 10**6  # weights and penalties are counted in millionths, so that comparisons are exact

Sets = tuple[NDArray[np.int64], NDArray[np.int32]]  # CSR: starts, slots


@dataclass(frozen=True)
class ClusterAlgorithm(Algorithm):
    """The options of the family."""

    order: str = option(
        "dynamic",
        "the order of constraints: by the largest support now (dynamic) or in the original (static)",
        ("dynamic", "static"),
    )
    criterion: str = option(
        "ul",
        "the cost of a merge: the utility loss of the merged item (ul, the paper), the increase of the total utility "
        "loss (delta-ul), or the increase of the sum of size times support (delta-mass)",
        tuple(CRITERIA),
    )
    weights: Mapping[str, float] | str | None = option(
        None,
        "the utility of each item, 0 to 1: a CSV file item,weight; 1 for items not listed; a category has the highest "
        "weight of its items",
    )
    penalty: Mapping[str, float] | str | float | None = option(
        None,
        "the cost of suppressing an item: one number, or a CSV file item,penalty (0 for items not listed); the item "
        "with the lowest cost is suppressed first, then the rarest",
    )

    def rules(self, ask: Ask, rarest_only: bool = False) -> Rules:
        """The options as the kernels take them."""
        return Rules(ask.k, CRITERIA[self.criterion], int(rarest_only), ask.mixed)


# -- the ask -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ask:
    """Data and model in numbers."""

    data: Transactions  # only items that occur, only records with items, distinct
    weight: NDArray[np.int64]  # [n_records] how many records look like this one
    slot_items: NDArray[np.int64]  # [n_slots] the item of each slot
    group: NDArray[np.int32]  # [n_slots] utility group
    k: int
    m: int  # every occurring itemset of up to so many items is a constraint; 0: those in ``sets``
    sets: Sets
    max_suppressed: Fraction  # items
    branch: NDArray[np.int32] | None = None  # [n_slots] of the owner's hierarchy, where groups are free otherwise

    @property
    def mixed(self) -> int:
        """The number of the group of clusters of several branches; -1 where there are no branches."""
        return -1 if self.branch is None else int(self.branch.max(initial=-1)) + 1


def understand(data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Ask:
    """Resolve labels, and check what can be checked before anything is counted."""
    slot_items = np.flatnonzero(data.supports)
    used = data.used_items()
    distinct = context.engine.distinct(used)
    filled = np.flatnonzero(distinct.rows.lengths)
    rows, weight = distinct.rows.select(filled), distinct.weights[filled]
    none: Sets = (np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32))
    if isinstance(model, KmAnonymity):
        require_k_records(data, model.k)
        group = np.zeros(len(slot_items), dtype=np.int32)
        branch = _branches(used, context)
        if model.m != "all":
            return Ask(rows, weight, slot_items, group, model.k, int(model.m), none, Fraction(0), branch)
        ask = Ask(rows, weight, slot_items, group, model.k, 0, none, Fraction(0), branch)
        return replace(ask, sets=pgen(ask))
    group = _groups(used, model.utility)
    branch = _branches(used, context) if model.utility is None else None
    allowed = Fraction(str(model.max_suppressed)) * len(slot_items) / 100
    return Ask(rows, weight, slot_items, group, model.k, 0, encode_sets(used, model.constraints), allowed, branch)


def _branches(data: Transactions, context: Context) -> NDArray[np.int32] | None:
    """The branch of each slot in a hierarchy that people made, numbered 0, 1, …; None where there are not two."""
    tree = context.hierarchy
    if tree is None or not tree.has_meaning:
        return None
    found, branch = np.unique(tree.branches[tree.leaf_of_items(data.vocabulary)], return_inverse=True)
    return branch.astype(np.int32) if len(found) > 1 else None


def encode_sets(data: Transactions, itemsets: Sequence[Sequence[str]]) -> Sets:
    """Itemsets as slots, each once and ascending; itemsets with an item that does not occur are skipped (support 0)."""
    number = {label: slot for slot, label in enumerate(data.vocabulary)}
    encoded = {tuple(sorted({number.get(label, -1) for label in itemset})) for itemset in itemsets}
    kept = sorted(slots for slots in encoded if slots and slots[0] >= 0)
    starts = bounds_of([len(slots) for slots in kept])
    return starts, np.fromiter((slot for slots in kept for slot in slots), dtype=np.int32, count=int(starts[-1]))


def _groups(data: Transactions, utility: Sequence[Sequence[str]] | None) -> NDArray[np.int32]:
    group = np.full(data.n_items, -1, dtype=np.int32)
    if utility is None:
        group[:] = 0
    for number, labels in enumerate(utility or ()):
        slots = data.vocabulary.numbers(labels)
        group[slots[slots >= 0]] = number
    if (group < 0).any():
        lost = [data.vocabulary[int(slot)] for slot in np.flatnonzero(group < 0)]
        raise InputError(
            f"{times(len(lost), 'item is', 'items are')} in no utility group: {name_some(lost)}; add them to a group, "
            "or use --utility-rest keep (publish them unchanged) or free (they may be generalized together)."
        )
    return group


def pgen(ask: Ask) -> Sets:
    """Pgen: the distinct records that fewer than k records contain, without those contained in another one of them.

    A record that others strictly contain is contained in more records than are equal to it, and those others are rarer
    still: so what stays is what as many records contain as are equal to it.
    """
    clusters = start_clusters(ask)
    starts, items = ask.data.indptr, ask.data.items
    support = count_sets(clusters, starts, items, 0, ask.data.n_records, ask.k)
    kept = ask.data.select(np.flatnonzero((support < ask.k) & (support == ask.weight)))
    return kept.indptr, kept.items


# -- the clustering ------------------------------------------------------------------------------------------------


def start_clusters(ask: Ask, weights: Any = None, penalty: Any = None) -> Clusters:
    """Every item a cluster of its own; groups are the branches of a hierarchy, if there is one, and mixed clusters."""
    n_slots = len(ask.slot_items)
    group = ask.group.copy() if ask.branch is None else ask.branch.copy()
    start, end = ask.data.indptr[:-1].copy(), ask.data.indptr[1:].copy()
    records = link_sets(start, end, ask.data.items.copy(), n_slots)
    starts, partner, count = count_larger_partners(records, ask.weight, MOST_PAIRS)
    if len(partner) > MOST_PAIRS:
        raise InputError("more than 2^30 pairs of items occur together; remove very long records.")
    support = np.zeros(n_slots, dtype=np.int64)
    np.add.at(support, ask.data.items, ask.weight[ask.data.owners])
    group_slots = np.argsort(group, kind="stable").astype(np.int32)
    place = np.empty(n_slots, dtype=np.int64)
    place[group_slots] = np.arange(n_slots)
    group_sizes = np.bincount(group, minlength=max(ask.mixed + 1, 1)).astype(np.int64)
    group_end = np.cumsum(group_sizes)
    if ask.branch is not None:
        group_slots = np.concatenate((group_slots, np.zeros(n_slots, dtype=np.int32)))  # room for mixed ones
    return Clusters(
        records=records,
        graph=build_graph(starts, partner, count),
        weight=ask.weight,
        size=np.ones(n_slots, dtype=np.int64),
        support=support,
        usefulness=item_numbers(ask.data, weights, "weight", 1.0),
        penalty=item_numbers(ask.data, penalty, "penalty", 0.0),
        first=np.arange(n_slots, dtype=np.int32),
        parent=np.arange(n_slots, dtype=np.int32),
        status=np.zeros(n_slots, dtype=np.int8),
        group=group,
        group_start=group_end - group_sizes,
        group_end=group_end,
        group_slots=group_slots,
        place_in_group=place,
        marks=np.zeros(n_slots, dtype=np.int64),
        edges=np.full(n_slots, -1, dtype=np.int64),
    )


def item_numbers(data: Transactions, given: Any, what: str, default: float) -> NDArray[np.int64]:
    """Weights or penalties of the slots, in millionths; without any, weights are 1 to keep the integers small."""
    if given is None:
        return np.full(data.n_items, int(default), dtype=np.int64)
    if isinstance(given, int | float) and what == "penalty":
        numbers = label_numbers(dict.fromkeys(data.vocabulary, given), what)
    else:
        numbers = label_numbers(given, what)
        _check_items(data, numbers, what)
    most = 1.0 if what == "weight" else 1e6
    for label, value in numbers.items():
        if value > most:
            raise InputError(f'{what} of "{label}" is {value:g}; it must be from 0 to {most:g}.')
    return np.array([round(numbers.get(label, default) * SCALE) for label in data.vocabulary], dtype=np.int64)


def _check_items(data: Transactions, numbers: Mapping[str, float], what: str) -> None:
    """A list of other data says nothing about these; single items that do not occur are a warning."""
    strangers = sorted(label for label in numbers if label not in data.vocabulary)
    if strangers and len(strangers) == len(numbers):
        raise InputError(
            f"{what}: no item of the list is in the data: {name_some(strangers)}; check that the list "
            "belongs to this data."
        )
    if strangers:
        warn(f"{what}: {name_some(strangers)} not in the data; check the spelling.")


# -- the release ---------------------------------------------------------------------------------------------------


def slots_of(clusters: Clusters) -> NDArray[np.int64]:
    """The cluster of every slot, -1 if it is suppressed."""
    roots = np.array([find_root(clusters.parent, slot) for slot in range(len(clusters.parent))], dtype=np.int64)
    if len(roots):
        roots[clusters.status[roots] == SUPPRESSED] = -1
    return roots


def release_of(
    data: Transactions, ask: Ask, cluster_of_slot: NDArray[np.int64], details: Mapping[str, Any]
) -> Recoding:
    """A recoding in which items that do not occur stay what they are."""
    cluster_of_item = np.arange(data.n_items, dtype=np.int64)
    kept = cluster_of_slot >= 0
    cluster_of_item[ask.slot_items[kept]] = ask.slot_items[cluster_of_slot[kept]]
    cluster_of_item[ask.slot_items[~kept]] = -1
    sizes = np.bincount(cluster_of_slot[kept]) if kept.any() else np.zeros(1, dtype=np.int64)
    shown = {
        "clusters": int((sizes > 0).sum()),
        "largest_cluster": int(sizes.max()),
        "suppressed_items": int((~kept).sum()),
    }
    return Recoding.from_clusters(data, cluster_of_item, {**shown, **details})
