"""The paper's priority queue of privacy constraints, PQ: what is in it, and in which order it is worked off.

The order is that of supports in the present data (``dynamic``) or in the original (``static``). Itemsets of one and
two items are never written out; larger ones, and constraints that were given, are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.constraints._clusters import Clusters, link_sets
from setveil.algorithms.constraints._pair_queue import (
    N_READY,
    N_WAITING,
    PairQueue,
    are_current,
    list_rare_pairs,
    protect_pairs_by_support,
    protect_pairs_in_order,
)
from setveil.algorithms.constraints._protecting import Rules
from setveil.algorithms.constraints._rare_itemsets import list_rare_itemsets
from setveil.algorithms.constraints._set_queue import (
    N_LISTED,
    SetQueue,
    count_sets,
    protect_sets_by_support,
    protect_sets_in_order,
)
from setveil.algorithms.constraints.clusters import Ask, Sets, slots_of
from setveil.core.row_order import bounds_of, take_rows
from setveil.errors import InputError

MOST_AT_ONCE = 1_000_000  # itemsets of three and more items that are queued together
CONSTRAINTS_PER_REPORT = 20_000  # constraints counted between two reports of progress


class ConstraintQueue(ABC):
    """PQ: constraints that still have to be looked at."""

    stage: str

    @abstractmethod
    def protect_next(self, count: int) -> float:
        """Take up to ``count`` constraints from the top, protect each, and drop it; the share that is done, 1 if PQ is
        empty.
        """


def queues_of(ask: Ask, clusters: Clusters, rules: Rules, order: str, context: Context) -> Iterator[ConstraintQueue]:
    """Line 2: the constraints. For k^m itemsets of one and two items, then those of three, four, … as they then
    read.
    """
    if ask.m == 0:
        yield queue_of_sets(ask.sets, clusters, rules, order, context)
    elif ask.m == 1:
        slots = np.arange(len(clusters.first) + 1)
        single = (slots.astype(np.int64), slots[:-1].astype(np.int32))
        yield queue_of_sets(single, clusters, rules, order, context)
    else:
        yield queue_of_pairs(clusters, rules, order)
    for size in range(3, ask.m + 1):
        while True:
            context.step(f"itemsets of {size} items")
            sets = list_rare_itemsets(clusters, size, rules.k, MOST_AT_ONCE)
            if len(sets) == 0:
                break
            by_first = np.sort(clusters.first[sets], axis=1)  # [n_sets, size] clusters by their smallest item
            sets = sets[np.lexsort(by_first.T[::-1])]
            starts = np.arange(0, sets.size + 1, size, dtype=np.int64)
            yield queue_of_sets((starts, sets.ravel()), clusters, rules, order, context)


# -- all occurring items and pairs ------------------------------------------------------------------------------------


def queue_of_pairs(clusters: Clusters, rules: Rules, order: str) -> ConstraintQueue:
    """All items and pairs that fewer than k records have."""
    bits = max(len(clusters.first), 1).bit_length()
    if 2 * bits + 1 + rules.k.bit_length() > 63:
        raise InputError(
            f"k={rules.k} and {len(clusters.first):,} items do not fit in the queue's 63-bit keys; lower k."
        )
    keys, subjects = list_rare_pairs(clusters, rules.k, bits)
    if order == "static":
        return _PairsInOrder(clusters, rules, subjects[np.argsort(keys)])
    return _PairsBySupport(clusters, rules, keys, subjects, bits)


class _PairsInOrder(ConstraintQueue):
    """By support in the original."""

    stage = "pairs"

    def __init__(self, clusters: Clusters, rules: Rules, subjects: NDArray[np.int64]) -> None:
        self._clusters, self._rules, self._subjects = clusters, rules, subjects
        self._n_done = 0

    def protect_next(self, count: int) -> float:
        some = self._subjects[self._n_done : self._n_done + count]
        protect_pairs_in_order(self._clusters, some, self._rules)
        self._n_done += len(some)
        return self._n_done / len(self._subjects) if len(self._subjects) else 1.0


class _PairsBySupport(ConstraintQueue):
    """By present support, level after level: those with the largest support there is are ready, all others wait."""

    stage = "pairs"

    def __init__(
        self, clusters: Clusters, rules: Rules, keys: NDArray[np.int64], subjects: NDArray[np.int64], bits: int
    ) -> None:
        self._clusters, self._rules, self._bits = clusters, rules, bits
        empty = np.empty(0, dtype=np.int64)
        self._queue = PairQueue(empty, empty, keys, subjects, np.array([0, len(keys)], dtype=np.int64), -1)

    def protect_next(self, count: int) -> float:
        if self._queue.counts[N_READY] == 0:
            self._queue = self._next_level()
            if self._queue.counts[N_READY] == 0:
                return 1.0
        self._queue = self._with_room()
        protect_pairs_by_support(self._clusters, self._queue, self._bits, self._rules, count)
        # The levels, k - 1 to 1, are done one after the other; the share inside a level is not known.
        return min((self._queue.last_ready >> (2 * self._bits + 1)) / self._rules.k, 0.99)

    def _next_level(self) -> PairQueue:
        """With the keys of the largest support that is left ready."""
        keys, subjects = self._current_waiting()
        if len(keys) == 0:
            return PairQueue(keys, subjects, keys, subjects, np.zeros(2, dtype=np.int64), self._queue.last_ready)
        support_bit = 2 * self._bits + 1
        last_ready = (((int(keys.min()) >> support_bit) + 1) << support_bit) - 1
        ready = np.flatnonzero(keys <= last_ready)
        ready = ready[np.argsort(keys[ready], kind="stable")]  # sorted, so it is a heap
        rest = keys > last_ready
        counts = np.array([len(ready), rest.sum()], dtype=np.int64)
        return PairQueue(keys[ready], subjects[ready], keys[rest], subjects[rest], counts, last_ready)

    def _current_waiting(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What waits, without keys that are out of date."""
        n_waiting = self._queue.counts[N_WAITING]
        keys, subjects = self._queue.waiting[:n_waiting], self._queue.waiting_subject[:n_waiting]
        current = are_current(self._clusters, keys, subjects, self._rules.k, self._bits)
        return keys[current], subjects[current]

    def _with_room(self) -> PairQueue:
        """With room for the pairs of two more clusters, ready and waiting."""
        queue, room = self._queue, 2 * len(self._clusters.first) + 2
        if len(queue.waiting) - queue.counts[N_WAITING] < room:
            waiting, waiting_subject = self._current_waiting()
            queue = queue._replace(waiting=waiting, waiting_subject=waiting_subject)
            queue.counts[N_WAITING] = len(waiting)
        n_ready, n_waiting = queue.counts.tolist()
        return queue._replace(
            ready=_with_room(queue.ready, n_ready, room),
            ready_subject=_with_room(queue.ready_subject, n_ready, room),
            waiting=_with_room(queue.waiting, n_waiting, room),
            waiting_subject=_with_room(queue.waiting_subject, n_waiting, room),
        )


def _with_room(entries: NDArray[np.int64], n_entries: int, room: int) -> NDArray[np.int64]:
    if len(entries) - n_entries >= room:
        return entries
    return np.concatenate((entries[:n_entries], np.empty(n_entries // 2 + room, dtype=np.int64)))


# -- itemsets that are written out ------------------------------------------------------------------------------------


def queue_of_sets(sets: Sets, clusters: Clusters, rules: Rules, order: str, context: Context) -> ConstraintQueue:
    """The given itemsets, but for those that have k records: they keep them. One that has none may gain some."""
    starts, items = sets
    support = _count(sets, clusters, rules.k, context)
    open_sets = np.flatnonzero(support < rules.k)
    if order == "static":  # itemsets come in lexicographic order, and the sort is stable
        open_sets = open_sets[np.lexsort((np.diff(starts)[open_sets], -support[open_sets]))]
        return _SetsInOrder(clusters, rules, take_rows(starts, items, open_sets))
    published = _as_published(take_rows(starts, items, open_sets), slots_of(clusters))
    return _SetsBySupport(clusters, rules, published, support[open_sets])


class _SetsInOrder(ConstraintQueue):
    """By support in the original, pass by pass: one that no record had may have become violated by a merge for a later
    one.
    """

    stage = "constraints"

    def __init__(self, clusters: Clusters, rules: Rules, sets: Sets) -> None:
        self._clusters, self._rules, self._sets = clusters, rules, sets
        self._n_done = 0  # in this pass
        self._n_steps = 0  # in this pass

    def protect_next(self, count: int) -> float:
        starts, items = self._sets
        n_sets = len(starts) - 1
        end = min(self._n_done + count, n_sets)
        self._n_steps += protect_sets_in_order(self._clusters, starts, items, self._rules, self._n_done, end)
        self._n_done = end
        if end < n_sets:
            return end / n_sets
        is_over = self._n_steps == 0
        self._n_done = self._n_steps = 0
        return 1.0 if is_over else 0.0


class _SetsBySupport(ConstraintQueue):
    """By present support."""

    stage = "constraints"

    def __init__(self, clusters: Clusters, rules: Rules, sets: Sets, support: NDArray[np.int64]) -> None:
        self._clusters, self._rules = clusters, rules
        starts, items = sets
        n_sets = len(starts) - 1
        self._queue = SetQueue(
            sets=link_sets(starts[:-1].copy(), starts[1:].copy(), items.copy(), len(clusters.first)),
            support=support.copy(),
            listed=np.empty(n_sets, dtype=np.int32),
            place=np.full(n_sets, -1, dtype=np.int32),
            state=np.array([0, rules.k], dtype=np.int64),  # none is listed: the level is above them all
        )

    def protect_next(self, count: int) -> float:
        queue, k = self._queue, self._rules.k
        protect_sets_by_support(self._clusters, queue, self._rules, count)
        if queue.state[N_LISTED] == 0 and not ((queue.support > 0) & (queue.support < k)).any():
            return 1.0
        return float(min((queue.support >= k).mean(), 0.99))


def _count(sets: Sets, clusters: Clusters, k: int, context: Context) -> NDArray[np.int64]:
    """Present supports, up to k."""
    starts, items = sets
    n_sets = len(starts) - 1
    support = np.empty(n_sets, dtype=np.int64)
    for begin in range(0, n_sets, CONSTRAINTS_PER_REPORT):
        context.step("counting constraints", begin / n_sets)
        end = min(begin + CONSTRAINTS_PER_REPORT, n_sets)
        support[begin:end] = count_sets(clusters, starts, items, begin, end, k)
    return support


def _as_published(sets: Sets, cluster_of_slot: NDArray[np.int64]) -> Sets:
    """Sets of clusters: members of one cluster once, suppressed ones not at all."""
    starts, slots = sets
    n_sets, n_slots = len(starts) - 1, max(len(cluster_of_slot), 1)
    owners = np.repeat(np.arange(n_sets), np.diff(starts))
    clusters = cluster_of_slot[slots]
    keys = np.unique(owners[clusters >= 0] * n_slots + clusters[clusters >= 0])
    shorter = bounds_of(np.bincount(keys // n_slots, minlength=n_sets))
    return shorter, (keys % n_slots).astype(np.int32)
