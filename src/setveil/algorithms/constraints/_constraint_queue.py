"""The order in which constraints are protected: all occurring items and pairs, or any given itemsets.

An item or a pair that occurs in fewer than k records is one integer: k - 1 - support, whether it is a pair, its smaller and
its larger item, high bits first. Sorted, these integers are the queue of constraints: most frequent first, then the
smaller set, then the smaller items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.constraints._clustering import (
    Clusters,
    Ints,
    Rules,
    Slots,
    find_root,
    protect_constraint,
)
from setveil.arrays.compile import compiled


@compiled
def _key(clusters: Clusters, what: int, k: int, bits: int) -> int:
    """The key of the pair at edge ``what``, or of the single slot ``-1 - what``; -1 if it needs no protection."""
    if what < 0:
        one = other = clusters.first[-1 - what]
        support = clusters.support[-1 - what] if clusters.fate[-1 - what] == 0 else 0
    else:
        support = clusters.graph.count[what]
        one, other = clusters.first[clusters.graph.to[2 * what]], clusters.first[clusters.graph.to[2 * what + 1]]
    if support == 0 or support >= k:
        return -1
    pair = 0 if what < 0 else 1
    return ((((k - 1 - support) << 1 | pair) << bits | min(one, other)) << bits) | max(one, other)


@compiled
def list_rare_pairs(clusters: Clusters, k: int, bits: int) -> tuple[Ints, Ints]:
    """Keys of all items and pairs that occur in fewer than k records, and what each belongs to (see ``_key``)."""
    n_slots, n_edges = len(clusters.first), len(clusters.graph.count)
    keys = np.empty(n_slots + n_edges, np.int64)
    whats = np.empty(n_slots + n_edges, np.int64)
    n_keys = 0
    for what in range(-n_slots, n_edges):
        keys[n_keys] = _key(clusters, what, k, bits)
        whats[n_keys] = what
        n_keys += 1 if keys[n_keys] >= 0 else 0
    return keys[:n_keys].copy(), whats[:n_keys].copy()


@compiled
def _image(clusters: Clusters, what: int) -> Slots:
    """The slots of a live edge, or the slot ``-1 - what``."""
    image = np.empty(2, np.int32)
    if what < 0:
        image[0] = -1 - what
        return image[:1]
    image[0] = clusters.graph.to[2 * what]
    image[1] = clusters.graph.to[2 * what + 1]
    return image


@compiled
def protect_in_order(clusters: Clusters, whats: Ints, rules: Rules, log: Slots, state: Ints) -> None:
    """Protect items and pairs in the given order, at most ``state[2]`` of them.

    ``state[0]`` is the position in the order, ``state[1]`` the log's length. A pair whose items have become one cluster is
    passed over: the rarer item stands before its pairs, so its cluster is protected already.
    """
    last = min(len(whats), state[0] + state[2])
    while state[0] < last:
        what = whats[state[0]]
        what = find_root(clusters.graph.into, what) if what >= 0 else -1 - find_root(clusters.parent, -1 - what)
        if _key(clusters, what, rules.k, 0) >= 0:
            state[1] = protect_constraint(clusters, _image(clusters, what), rules, log, state[1])
        state[0] += 1


class Queue(NamedTuple):
    """Items and pairs by support: a heap of the keys up to ``horizon``, and the others in no order."""

    near: Ints  # [room] heap, smallest key on top
    near_what: Ints  # [room]
    far: Ints  # [room]
    far_what: Ints  # [room]
    horizon: int


@compiled
def protect_by_support(clusters: Clusters, queue: Queue, bits: int, rules: Rules, log: Slots, state: Ints) -> None:
    """Protect the item or pair that is most frequent now, at most ``state[2]`` times.

    ``state[0]`` and ``state[3]`` are the numbers of near and far keys, ``state[1]`` the log's length. Stops early if no
    near keys are left, or if the pairs of two more clusters might not fit.
    """
    room = 2 * len(clusters.first) + 2
    for _ in range(state[2]):
        if state[0] == 0 or len(queue.near) - state[0] < room or len(queue.far) - state[3] < room:
            return
        key, what = queue.near[0], queue.near_what[0]
        pop_heap(queue.near, queue.near_what, state)
        if key != _key(clusters, what, rules.k, bits):
            continue  # gone, protected, or described by a newer key
        image = _image(clusters, what)
        state[1] = protect_constraint(clusters, image, rules, log, state[1])
        one, other = find_root(clusters.parent, image[0]), find_root(clusters.parent, image[-1])
        _enqueue(clusters, one, queue, bits, rules.k, state)
        if other != one:
            _enqueue(clusters, other, queue, bits, rules.k, state)


@compiled
def _enqueue(clusters: Clusters, slot: int, queue: Queue, bits: int, k: int, state: Ints) -> None:
    """Queue a slot and its pairs as they now are."""
    what = np.int64(-1 - slot)
    half = clusters.graph.head[slot]
    while True:
        key = _key(clusters, what, k, bits)
        if key > queue.horizon:
            queue.far[state[3]] = key
            queue.far_what[state[3]] = what
            state[3] += 1
        elif key >= 0:
            push_heap(queue.near, queue.near_what, key, what, state)
        if half < 0:
            return
        what = half >> 1
        half = clusters.graph.next[half]


@compiled
def are_current(clusters: Clusters, keys: Ints, whats: Ints, k: int, bits: int) -> NDArray[np.bool_]:
    """Which keys still describe what they belong to."""
    current = np.empty(len(keys), np.bool_)
    for number in range(len(keys)):
        current[number] = keys[number] == _key(clusters, whats[number], k, bits)
    return current


@compiled
def push_heap(keys: Ints, whats: Ints, key: int, what: int, state: Ints) -> None:
    """Add to a binary heap of ``state[0]`` entries, smallest key on top."""
    place = state[0]
    while place > 0 and keys[(place - 1) >> 1] > key:
        keys[place] = keys[(place - 1) >> 1]
        whats[place] = whats[(place - 1) >> 1]
        place = (place - 1) >> 1
    keys[place] = key
    whats[place] = what
    state[0] += 1


@compiled
def pop_heap(keys: Ints, whats: Ints, state: Ints) -> None:
    """Drop the top of a binary heap of ``state[0]`` entries."""
    state[0] -= 1
    last = state[0]
    key, what = keys[last], whats[last]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= last:
            break
        if child + 1 < last and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place] = keys[child]
        whats[place] = whats[child]
        place = child
    keys[place] = key
    whats[place] = what
