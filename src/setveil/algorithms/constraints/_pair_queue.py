# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""PQ for k^m with m of 2: all occurring items and pairs that fewer than k records have, never written out as itemsets.

The *subject* of such a constraint is a number: ``e`` for the pair of clusters at edge ``e``, ``-1 - s`` for the
cluster at slot ``s`` alone. Its *key* is an integer: k - 1 - support, whether it is a pair, its smaller and its larger
item, high bits first. Sorted, keys are the order of the queue: most frequent first, then the smaller set, then the
smaller items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.constraints._clusters import LIVE, Clusters, Ints, Slots, find_root
from setveil.algorithms.constraints._protecting import Rules, protect_constraint
from setveil.arrays.compiling import compiled
from setveil.arrays.containers import pop_heap, push_heap

N_READY, N_WAITING = 0, 1  # slots of ``PairQueue.counts``


class PairQueue(NamedTuple):
    """Items and pairs by present support: a heap of the keys up to ``last_ready``, and all others in no order."""

    ready: Ints  # [room] heap of keys, smallest on top
    ready_subject: Ints  # [room]
    waiting: Ints  # [room] keys
    waiting_subject: Ints  # [room]
    counts: Ints  # [N_READY, N_WAITING] how many of each there are
    last_ready: int


@compiled
def measure_key(clusters: Clusters, subject: int, k: int, bits: int) -> int:
    """The present key of a subject; -1 if it needs no protection."""
    if subject < 0:
        one = other = clusters.first[-1 - subject]
        support = clusters.support[-1 - subject] if clusters.status[-1 - subject] == LIVE else 0
    else:
        support = clusters.graph.count[subject]
        one, other = clusters.first[clusters.graph.to[2 * subject]], clusters.first[clusters.graph.to[2 * subject + 1]]
    if support == 0 or support >= k:
        return -1
    pair = 0 if subject < 0 else 1
    return ((((k - 1 - support) << 1 | pair) << bits | min(one, other)) << bits) | max(one, other)


@compiled
def list_rare_pairs(clusters: Clusters, k: int, bits: int) -> tuple[Ints, Ints]:
    """Keys and subjects of all items and pairs that occur in fewer than k records."""
    n_slots, n_edges = len(clusters.first), len(clusters.graph.count)
    keys = np.empty(n_slots + n_edges, dtype=np.int64)
    subjects = np.empty(n_slots + n_edges, dtype=np.int64)
    n_keys = 0
    for subject in range(-n_slots, n_edges):
        keys[n_keys] = measure_key(clusters, subject, k, bits)
        subjects[n_keys] = subject
        n_keys += 1 if keys[n_keys] >= 0 else 0
    return keys[:n_keys].copy(), subjects[:n_keys].copy()


@compiled
def list_members(clusters: Clusters, subject: int) -> Slots:
    """The clusters of a subject: p."""
    members = np.empty(2, dtype=np.int32)
    if subject < 0:
        members[0] = -1 - subject
        return members[:1]
    members[0] = clusters.graph.to[2 * subject]
    members[1] = clusters.graph.to[2 * subject + 1]
    return members


@compiled
def protect_pairs_in_order(clusters: Clusters, subjects: Ints, rules: Rules) -> None:
    """Protect items and pairs in the given order.

    A pair whose items have become one cluster is passed over: the rarer item stands before its pairs, so its cluster is
    protected already.
    """
    for number in range(len(subjects)):
        subject = subjects[number]
        if subject >= 0:
            subject = find_root(clusters.graph.into, subject)
        else:
            subject = -1 - find_root(clusters.parent, -1 - subject)
        if measure_key(clusters, subject, rules.k, 0) >= 0:
            protect_constraint(clusters, list_members(clusters, subject), rules)


@compiled
def protect_pairs_by_support(clusters: Clusters, queue: PairQueue, bits: int, rules: Rules, most: int) -> None:
    """Protect the item or pair that is most frequent now, at most ``most`` times.

    Stops early if nothing is ready, or if the pairs of two more clusters might not fit.
    """
    counts = queue.counts
    room = 2 * len(clusters.first) + 2
    for _ in range(most):
        if counts[N_READY] == 0 or len(queue.ready) - counts[N_READY] < room:
            return
        if len(queue.waiting) - counts[N_WAITING] < room:
            return
        key, subject = queue.ready[0], queue.ready_subject[0]
        pop_heap(queue.ready, queue.ready_subject, counts[N_READY])
        counts[N_READY] -= 1
        if key != measure_key(clusters, subject, rules.k, bits):
            continue  # gone, protected, or described by a newer key
        p = list_members(clusters, subject)
        protect_constraint(clusters, p, rules)
        one, other = find_root(clusters.parent, p[0]), find_root(clusters.parent, p[-1])
        enqueue_pairs(clusters, one, queue, bits, rules.k)
        if other != one:
            enqueue_pairs(clusters, other, queue, bits, rules.k)


@compiled
def enqueue_pairs(clusters: Clusters, slot: int, queue: PairQueue, bits: int, k: int) -> None:
    """Queue a cluster and its pairs as they now are."""
    counts = queue.counts
    subject = np.int64(-1 - slot)
    half = clusters.graph.head[slot]
    while True:
        key = measure_key(clusters, subject, k, bits)
        if key > queue.last_ready:
            queue.waiting[counts[N_WAITING]] = key
            queue.waiting_subject[counts[N_WAITING]] = subject
            counts[N_WAITING] += 1
        elif key >= 0:
            push_heap(queue.ready, queue.ready_subject, counts[N_READY], key, subject)
            counts[N_READY] += 1
        if half < 0:
            return
        subject = half >> 1
        half = clusters.graph.next[half]


@compiled
def are_current(clusters: Clusters, keys: Ints, subjects: Ints, k: int, bits: int) -> NDArray[np.bool_]:
    """Which keys still describe their subjects."""
    current = np.empty(len(keys), dtype=np.bool_)
    for number in range(len(keys)):
        current[number] = keys[number] == measure_key(clusters, subjects[number], k, bits)
    return current
