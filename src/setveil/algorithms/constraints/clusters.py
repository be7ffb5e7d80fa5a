"""What PCTA, UPCTA, COAT and pcta+ share: the ask in numbers, the clustering, and the queue of constraints.

Items that do not occur in the data take no part: nothing could be gained by merging them, and nothing is published of
them. All others are renumbered 0, 1, … in ascending order and called slots.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.constraints._clustering import (
    SUPPRESSED,
    Clusters,
    Rules,
    build_graph,
    count_pairs,
    find_root,
    link_sets,
)
from setveil.algorithms.constraints._constraint_queue import (
    Queue,
    are_current,
    list_rare_pairs,
    protect_by_support,
    protect_in_order,
)
from setveil.algorithms.constraints._constraint_sets import (
    Agenda,
    count_sets,
    protect_sets_by_support,
    protect_sets_in_order,
)
from setveil.algorithms.constraints._merge_costs import DELTA_MASS, DELTA_UL, UL
from setveil.algorithms.constraints._rare_itemsets import list_rare_itemsets
from setveil.core import Recoding, Transactions
from setveil.core.label_numbers import label_numbers
from setveil.errors import InputError, name_some
from setveil.models import ConstraintAnonymity, KmAnonymity

CRITERIA = {"ul": UL, "delta-ul": DELTA_UL, "delta-mass": DELTA_MASS}
SCALE = 10**6  # weights and penalties are counted in millionths, so that comparisons are exact
MOST_AT_ONCE = 1_000_000  # itemsets of three and more items that are queued together

Sets = tuple[NDArray[np.int64], NDArray[np.int32]]  # CSR: starts, slots


@dataclass(frozen=True)
class ClusterAlgorithm(Algorithm):
    """The options of the family."""

    order: str = option(
        "dynamic",
        "which constraint comes next: the one with the largest support now (dynamic) or in the original (static)",
        ("dynamic", "static"),
    )
    criterion: str = option(
        "ul",
        "which merge is cheapest: by the utility loss of the merged item (ul, the paper), by what the merge adds to the total "
        "utility loss (delta-ul), or to the sum of size times support (delta-mass)",
        tuple(CRITERIA),
    )
    weights: Mapping[str, float] | str | None = option(
        None,
        "how useful each item is, 0 to 1: a CSV file item,weight; 1 for items not listed; a set counts as its best",
    )
    penalty: Mapping[str, float] | str | float | None = option(
        None,
        "what suppressing an item costs: one number, or a CSV file item,penalty (0 for items not listed); the cheapest item "
        "is suppressed first, and the rarest of the equally cheap",
    )

    def rules(self, k: int, rarest_only: bool = False) -> Rules:
        """The options as the kernels take them."""
        return Rules(k, CRITERIA[self.criterion], int(rarest_only))


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
        if model.m != "all":
            return Ask(rows, weight, slot_items, group, model.k, int(model.m), none, Fraction(0))
        ask = Ask(rows, weight, slot_items, group, model.k, 0, none, Fraction(0))
        return replace(ask, sets=pgen(ask))
    group = _groups(used, model.utility)
    allowed = Fraction(str(model.max_suppressed)) * len(slot_items) / 100
    return Ask(rows, weight, slot_items, group, model.k, 0, encode_sets(used, model.constraints), allowed)


def encode_sets(data: Transactions, itemsets: Sequence[Sequence[str]]) -> Sets:
    """Itemsets as slots, each once and ascending; those with an item that does not occur are left out (support 0)."""
    number = {label: slot for slot, label in enumerate(data.vocabulary)}
    encoded = {tuple(sorted({number.get(label, -1) for label in itemset})) for itemset in itemsets}
    kept = sorted(slots for slots in encoded if slots and slots[0] >= 0)
    starts = np.zeros(len(kept) + 1, dtype=np.int64)
    np.cumsum([len(slots) for slots in kept], out=starts[1:])
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
            f"{len(lost):,} item(s) are in no utility group: {name_some(lost)}; add them, or say what to do with the "
            "rest: --utility-rest keep (publish as they are) or free (may be merged with each other)."
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
    """Every item a cluster of its own."""
    n_slots = len(ask.slot_items)
    start, end = ask.data.indptr[:-1].copy(), ask.data.indptr[1:].copy()
    records = link_sets(start, end, ask.data.items.copy(), n_slots)
    starts = np.zeros(n_slots + 1, dtype=np.int64)
    count_pairs(records, ask.weight, starts)
    np.cumsum(starts, out=starts)
    if starts[-1] >= 2**30:
        raise InputError(f"{starts[-1]:,} pairs of items occur together, more than 2^30; leave out very long records.")
    partner, count = count_pairs(records, ask.weight, starts)
    support = np.zeros(n_slots, dtype=np.int64)
    np.add.at(support, ask.data.items, ask.weight[ask.data.owners])
    mates = np.argsort(ask.group, kind="stable").astype(np.int32)
    place = np.empty(n_slots, dtype=np.int64)
    place[mates] = np.arange(n_slots)
    group_sizes = np.bincount(ask.group, minlength=1).astype(np.int64)
    group_end = np.cumsum(group_sizes)
    return Clusters(
        records=records,
        graph=build_graph(starts, partner, count),
        weight=ask.weight,
        size=np.ones(n_slots, dtype=np.int64),
        support=support,
        value=item_numbers(ask.data, weights, "weight", 1.0),
        toll=item_numbers(ask.data, penalty, "penalty", 0.0),
        first=np.arange(n_slots, dtype=np.int32),
        parent=np.arange(n_slots, dtype=np.int32),
        fate=np.zeros(n_slots, dtype=np.int8),
        group=ask.group,
        group_start=group_end - group_sizes,
        group_end=group_end,
        mates=mates,
        place=place,
        marks=np.zeros(n_slots, dtype=np.int64),
        edges=np.full(n_slots, -1, dtype=np.int64),
        n_suppressed=np.zeros(1, dtype=np.int64),
    )


def item_numbers(data: Transactions, given: Any, what: str, default: float) -> NDArray[np.int64]:
    """Weights or penalties of the slots, in millionths; without any, weights are 1 to keep the integers small."""
    if given is None:
        return np.full(data.n_items, int(default), dtype=np.int64)
    if isinstance(given, int | float) and what == "penalty":
        numbers = dict.fromkeys(data.vocabulary, float(given))
        label_numbers(numbers, what)
    else:
        numbers = label_numbers(given, what)
    most = 1.0 if what == "weight" else 1e6
    for label, value in numbers.items():
        if value > most:
            raise InputError(f'{what} of "{label}" is {value:g}; it must be from 0 to {most:g}.')
    return np.array([round(numbers.get(label, default) * SCALE) for label in data.vocabulary], dtype=np.int64)


def protect(clusters: Clusters, ask: Ask, rules: Rules, order: str, context: Context) -> None:
    """Merge and suppress until every constraint is met."""
    work = Work(clusters, rules, context, np.empty(2 * len(clusters.first) + 2, dtype=np.int32))
    if ask.m == 0:
        work.protect_sets(ask.sets, order)
        return
    if ask.m == 1:
        slots = np.arange(len(clusters.first) + 1)
        work.protect_sets((slots.astype(np.int64), slots[:-1].astype(np.int32)), order)
        return
    work.protect_pairs(order)
    for size in range(3, ask.m + 1):
        while True:
            context.step(f"itemsets of {size} items")
            sets = list_rare_itemsets(clusters, size, rules.k, MOST_AT_ONCE)
            if len(sets) == 0:
                break
            by_first = np.sort(
                clusters.first[sets], axis=1
            )  # [n_sets, size] clusters are ordered by their smallest item
            sets = sets[np.lexsort(by_first.T[::-1])]
            starts = np.arange(0, sets.size + 1, size, dtype=np.int64)
            work.protect_sets((starts, sets.ravel()), order)


@dataclass
class Work:
    """One clustering being brought to keep constraints."""

    clusters: Clusters
    rules: Rules
    context: Context
    log: NDArray[np.int32]  # [2 n_slots + 2] kept, gone, kept, gone, …; every step uses up a slot
    n_logged: int = 0

    def protect_pairs(self, order: str) -> None:
        """All occurring items and pairs; they are never written out, only those in fewer than k records are queued."""
        clusters, k = self.clusters, self.rules.k
        bits = max(len(clusters.first), 1).bit_length()
        if 2 * bits + 1 + k.bit_length() > 63:
            raise InputError(f"k={k} and {len(clusters.first):,} items do not fit in the queue's 63-bit keys; lower k.")
        keys, whats = list_rare_pairs(clusters, k, bits)
        if order == "static":
            self._pairs_in_order(keys, whats)
        else:
            self._pairs_by_support(keys, whats, bits)

    def _pairs_in_order(self, keys: NDArray[np.int64], whats: NDArray[np.int64]) -> None:
        whats = whats[np.argsort(keys)]
        state = np.array([0, self.n_logged, 0, 0], dtype=np.int64)

        def protect_some(count: int) -> float:
            state[2] = count
            protect_in_order(self.clusters, whats, self.rules, self.log, state)
            return float(state[0] / len(whats)) if len(whats) else 1.0

        self._paced("pairs", protect_some)
        self.n_logged = int(state[1])

    def _pairs_by_support(self, keys: NDArray[np.int64], whats: NDArray[np.int64], bits: int) -> None:
        clusters, k = self.clusters, self.rules.k
        empty = np.empty(0, dtype=np.int64)
        queue = Queue(empty, empty, keys, whats, -1)
        state = np.array([0, self.n_logged, 0, len(keys)], dtype=np.int64)  # near, logged, count, far

        def protect_some(count: int) -> float:
            nonlocal queue
            if state[0] == 0:
                queue = self._next_level(queue, int(state[3]), bits)
                state[0], state[3] = len(queue.near), len(queue.far)
                if state[0] == 0:
                    return 1.0
            queue = self._make_room(queue, state, bits)
            state[2] = count
            protect_by_support(clusters, queue, bits, self.rules, self.log, state)
            # The levels, k - 1 to 1, are done one after the other; the share inside a level is not known.
            return min((queue.horizon >> (2 * bits + 1)) / k, 0.99)

        self._paced("pairs", protect_some)
        self.n_logged = int(state[1])

    def _make_room(self, queue: Queue, state: NDArray[np.int64], bits: int) -> Queue:
        """Room for the pairs of two more clusters, near and far; far keys that are out of date are dropped first."""
        room = 2 * len(self.clusters.first) + 2
        near, near_what, far, far_what, horizon = queue
        if len(far) - state[3] < room:
            far, far_what = far[: state[3]], far_what[: state[3]]
            current = are_current(self.clusters, far, far_what, self.rules.k, bits)
            far, far_what = far[current], far_what[current]
            state[3] = len(far)
        n_near, n_far = int(state[0]), int(state[3])
        return Queue(
            _with_room(near, n_near, room),
            _with_room(near_what, n_near, room),
            _with_room(far, n_far, room),
            _with_room(far_what, n_far, room),
            horizon,
        )

    def _next_level(self, queue: Queue, n_far: int, bits: int) -> Queue:
        """Move the keys of the largest support that is left from far to near."""
        far, whats = queue.far[:n_far], queue.far_what[:n_far]
        current = are_current(self.clusters, far, whats, self.rules.k, bits)
        far, whats = far[current], whats[current]
        if len(far) == 0:
            return Queue(far, whats, far, whats, queue.horizon)
        horizon = (((int(far.min()) >> (2 * bits + 1)) + 1) << (2 * bits + 1)) - 1
        near = np.flatnonzero(far <= horizon)
        near = near[np.argsort(far[near], kind="stable")]  # sorted, so it is a heap
        rest = far > horizon
        return Queue(far[near], whats[near], far[rest], whats[rest], horizon)

    def protect_sets(self, sets: Sets, order: str) -> None:
        """The given itemsets."""
        starts, items = sets
        support = self._count(starts, items)
        needy = np.flatnonzero(support < self.rules.k)  # one that has k records keeps them; one with none may gain some
        sizes = np.diff(starts)
        if order == "static":
            # Itemsets come in lexicographic order, and the sort is stable.
            needy = needy[np.lexsort((sizes[needy], -support[needy]))]
        chosen = _select(starts, items, needy)
        if order == "static":
            self._sets_in_order(*chosen)
        else:
            self._sets_by_support(*_as_published(chosen, slots_of(self.clusters)), support[needy])

    def _count(self, starts: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.int64]:
        n_sets = len(starts) - 1
        support = np.empty(n_sets, dtype=np.int64)
        for begin in range(0, n_sets, 20_000):
            self.context.step("counting constraints", begin / n_sets)
            end = min(begin + 20_000, n_sets)
            support[begin:end] = count_sets(self.clusters, starts, items, begin, end, self.rules.k)
        return support

    def _sets_in_order(self, starts: NDArray[np.int64], items: NDArray[np.int32]) -> None:
        """Pass by pass: a constraint that no record had may have become violated by a merge for a later one."""
        n_sets = len(starts) - 1
        state = np.array([0, self.n_logged, 0, 0], dtype=np.int64)

        def protect_some(count: int) -> float:
            state[2] = count
            protect_sets_in_order(self.clusters, starts, items, self.rules, self.log, state)
            return float(state[0] / n_sets) if n_sets else 1.0

        before = -1
        while before != state[1]:
            before, state[0] = int(state[1]), 0
            self._paced("constraints", protect_some)
        self.n_logged = int(state[1])

    def _sets_by_support(self, starts: NDArray[np.int64], items: NDArray[np.int32], support: NDArray[np.int64]) -> None:
        n_sets = len(starts) - 1
        agenda = Agenda(
            link_sets(starts[:-1].copy(), starts[1:].copy(), items.copy(), len(self.clusters.first)),
            support.copy(),
            np.empty(n_sets, dtype=np.int32),
            np.full(n_sets, -1, dtype=np.int32),
        )
        state = np.array([0, self.n_logged, 0, self.rules.k], dtype=np.int64)  # near, logged, count, horizon

        def protect_some(count: int) -> float:
            state[2] = count
            protect_sets_by_support(self.clusters, agenda, self.rules, self.log, state)
            if state[0] == 0 and not ((agenda.support > 0) & (agenda.support < self.rules.k)).any():
                return 1.0
            return float(min((agenda.support >= self.rules.k).mean(), 0.99))

        self._paced("constraints", protect_some)
        self.n_logged = int(state[1])

    def _paced(self, stage: str, protect_some: Callable[[int], float]) -> None:
        """Call for more and more constraints at a time while a call takes a small part of a second, until all are done."""
        count = 32
        while True:
            started = time.perf_counter()
            share = protect_some(count)
            self.context.step(stage, share)
            if share >= 1:
                return
            seconds = time.perf_counter() - started
            count = 2 * count if seconds < 0.1 else max(count // 2, 1) if seconds > 0.3 else count


def _with_room(keys: NDArray[np.int64], n_keys: int, room: int) -> NDArray[np.int64]:
    if len(keys) - n_keys >= room:
        return keys
    larger = np.empty(n_keys + n_keys // 2 + room, dtype=np.int64)
    larger[:n_keys] = keys[:n_keys]
    return larger


def _as_published(sets: Sets, cluster_of_slot: NDArray[np.int64]) -> Sets:
    """Sets of clusters: members of one cluster once, suppressed ones not at all."""
    starts, slots = sets
    n_sets, n_slots = len(starts) - 1, max(len(cluster_of_slot), 1)
    owners = np.repeat(np.arange(n_sets), np.diff(starts))
    clusters = cluster_of_slot[slots]
    keys = np.unique(owners[clusters >= 0] * n_slots + clusters[clusters >= 0])
    shorter = np.zeros(n_sets + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys // n_slots, minlength=n_sets), out=shorter[1:])
    return shorter, (keys % n_slots).astype(np.int32)


def _select(
    starts: NDArray[np.int64], items: NDArray[np.int32], numbers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    sizes = np.diff(starts)[numbers]
    chosen = np.zeros(len(numbers) + 1, dtype=np.int64)
    np.cumsum(sizes, out=chosen[1:])
    gather = np.arange(chosen[-1]) + np.repeat(starts[numbers] - chosen[:-1], sizes)
    return chosen, items[gather]


# -- the release ---------------------------------------------------------------------------------------------------


def slots_of(clusters: Clusters) -> NDArray[np.int64]:
    """The cluster of every slot, -1 if it is suppressed."""
    roots = np.array([find_root(clusters.parent, slot) for slot in range(len(clusters.parent))], dtype=np.int64)
    if len(roots):
        roots[clusters.fate[roots] == SUPPRESSED] = -1
    return roots


def publish(data: Transactions, ask: Ask, cluster_of_slot: NDArray[np.int64], details: Mapping[str, Any]) -> Recoding:
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
