"""Hierarchies built from the data itself, so that little is lost when items are generalized along them.

The nodes of such a tree mean nothing to people: they hold items that are cheap to confuse, not items that are alike.
And the tree tells something about the data (which items are frequent, which occur together), so that a release made
with it says so. Where a taxonomy with a meaning exists, use that.

What a node costs when it is published is its occurrences times its items, so frequent items must not come into large
groups, and rare ones may. Binary trees make every step up as small as possible; wider ones have fewer steps to choose
from. Which tree loses least depends on the data: ``workflows.hierarchy`` tries them.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.core import Hierarchy, Transactions
from setveil.core.naming import SHOWN, is_shown, name_of_set
from setveil.errors import InputError

Merges = list[tuple[int, ...]]  # the j-th merge makes node n_items + j of two nodes or more

N_PARTNERS = 32  # how many partners are compared for each merge
MAX_ITEMS = 6_000  # co-occurrences of all pairs are held in memory: eight bytes each, so that sums never wrap
ONE = 1 << 20  # parts of one in which scarcity is counted; whole numbers, so that every machine builds the same tree
HEAD_START = ONE // 10  # lets the price decide where nothing is shared


def auto(data: Transactions, method: str) -> Hierarchy:
    """A tree over the items of the data.

    ``cooccurrence`` merges the cheapest group with one that shares its neighbours; ``frequency`` puts items of similar
    frequency together, two by two; ``wide`` does so five by five; ``ids`` takes five by five in ascending order.
    """
    if method not in METHODS:
        raise InputError(
            f'there is no hierarchy "auto:{method}"; write auto, or auto: and one of {", ".join(METHODS)}.'
        )
    if not data.n_items:
        raise InputError("a hierarchy cannot be built from data without items.")
    return tree_of(data, METHODS[method](data))


def merge_by_frequency(data: Transactions, fanout: int = 2) -> Merges:
    """Balanced: neighbours in descending order of frequency (ties: in order of the items), then neighbouring groups,
    ...
    """
    return merge_neighbours(np.argsort(-data.supports, kind="stable").tolist(), fanout)


def merge_neighbours(level: list[int], fanout: int) -> Merges:
    """So many neighbours at a time, level by level; what is left alone moves up."""
    n_items, merges = len(level), Merges()
    while len(level) > 1:
        above = []
        for start in range(0, len(level), fanout):
            group = tuple(level[start : start + fanout])
            if len(group) > 1:
                merges.append(group)
            above.append(n_items + len(merges) - 1 if len(group) > 1 else group[0])
        level = above
    return merges


def merge_by_cooccurrence(data: Transactions) -> Merges:
    """Bottom up: the cheapest group joins the partner with the most shared neighbours for the increase of price.

    A pair of items that occurs x times together is counted as 1/x scarce. If two groups have a neighbour in common,
    merging them makes one less scarce pair of two, and the gain is what scarcity falls by. Partners are the next
    cheapest groups.
    """
    n_items = data.n_items
    if n_items > MAX_ITEMS:
        raise InputError(
            f"auto:cooccurrence takes at most {MAX_ITEMS:,} items, and the data has {n_items:,}; use auto:frequency."
        )
    together = count_pairs(data)  # int64[n_items, n_items] by the first item of each group
    occurrences, sizes = data.supports.copy(), np.ones(n_items, dtype=np.int64)
    node = list(range(n_items))  # of the group that an item stands for
    queue = sorted((int(occurrences[item]), item) for item in range(n_items))  # (price, item)
    merges: Merges = []
    while len(queue) > 1:
        _, one = queue.pop(0)
        partners = np.array([item for _, item in queue[:N_PARTNERS]])
        gain = gain_of_merging(together, one, partners) + HEAD_START
        price = (occurrences[one] + occurrences[partners]) * (sizes[one] + sizes[partners])
        increase = price - occurrences[one] * sizes[one] - occurrences[partners] * sizes[partners]
        chosen = int(np.argmax(gain / increase))  # the first of equals is the cheapest
        other = queue.pop(chosen)[1]
        together[other] += together[one]
        together[:, other] = together[other]
        together[other, other] = 0
        together[one] = 0
        together[:, one] = 0
        occurrences[other] += occurrences[one]
        sizes[other] += sizes[one]
        merges.append((node[one], node[other]))
        node[other] = n_items + len(merges) - 1
        insort(queue, (int(occurrences[other] * sizes[other]), other))
    return merges


def count_pairs(data: Transactions) -> NDArray[np.int64]:
    """In how many records two items occur together; 0 on the diagonal."""
    from scipy.sparse import csr_array

    shape = (data.n_records, data.n_items)
    occurs = csr_array((np.ones(data.n_occurrences, dtype=np.int64), data.items, data.indptr), shape=shape)
    together: NDArray[np.int64] = (occurs.T @ occurs).toarray()
    np.fill_diagonal(together, 0)
    return together


def gain_of_merging(together: NDArray[np.int64], one: int, partners: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much scarcity falls if a group is merged with each of its partners, in parts of ``ONE``."""
    neighbours = np.flatnonzero(together[one])
    mine = together[one, neighbours]
    theirs = together[np.ix_(partners, neighbours)]
    gain = ONE // mine + ONE // np.maximum(theirs, 1) - ONE // (mine + theirs)
    fallen: NDArray[np.int64] = np.where(theirs > 0, gain, 0).sum(axis=1)
    return fallen


def tree_of(data: Transactions, merges: Merges) -> Hierarchy:
    """The tree of merges; its groups have no names of their own, and large ones are numbered from the root down."""
    n_items = data.n_items
    parents = [-1] * (n_items + len(merges))
    members = [[item] for item in range(n_items)]  # of small groups; of large ones the first few
    sizes = [1] * n_items
    for number, group in enumerate(merges):
        for node in group:
            parents[node] = n_items + number
        members.append(sorted(item for node in group for item in members[node])[: SHOWN + 1])
        sizes.append(sum(sizes[node] for node in group))
    labels = list(data.vocabulary) + [""] * len(merges)
    n_numbered, pending = 0, [n_items + len(merges) - 1]
    while pending:  # depth first
        node = pending.pop()
        if node < n_items:
            continue
        named = [data.vocabulary[item] for item in members[node]]
        n_numbered += not is_shown(named)
        labels[node] = name_of_set(named, sizes[node], n_numbered)
        pending.extend(reversed(merges[node - n_items]))
    return Hierarchy.from_parents(parents, labels, derived_from_data=True)


METHODS: dict[str, Callable[[Transactions], Merges]] = {
    "cooccurrence": merge_by_cooccurrence,
    "frequency": merge_by_frequency,
    "wide": lambda data: merge_by_frequency(data, 5),
    "ids": lambda data: merge_neighbours(list(range(data.n_items)), 5),
}
