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
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Hierarchy
from setveil.core.dataset import Csr, Sparse
from setveil.core.naming import SHOWN, is_shown, name_of_set
from setveil.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Merges = list[tuple[int, ...]]  # the j-th merge makes node n_items + j of two nodes or more

N_PARTNERS = 32  # how many partners are compared for each merge
MAX_GROUPS = 6_000  # co-occurrences of all pairs are held in memory: eight bytes each, so that sums never wrap
ONE = 1 << 20  # parts of one in which scarcity is counted; whole numbers, so that every machine builds the same tree
HEAD_START = ONE // 10  # lets the price decide where nothing is shared


def auto(data: Dataset, method: str) -> Hierarchy:
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


def merge_by_frequency(data: Dataset, fanout: int = 2) -> Merges:
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


def merge_by_cooccurrence(data: Dataset) -> Merges:
    """Bottom up: the cheapest group joins the partner with the most shared neighbours for the increase of price.

    A pair of items that occurs x times together is counted as 1/x scarce. If two groups have a neighbour in common,
    merging them makes one less scarce pair of two, and the gain is what scarcity falls by. Partners are the next
    cheapest groups. Of more than ``MAX_GROUPS`` items the cheapest are merged by price alone until so many are left.
    """
    n_items = data.n_items
    merges, group_of, node = merge_cheapest(data.supports, MAX_GROUPS)
    n_groups = len(node)
    together = count_pairs(data, group_of, n_groups)  # int64[n_groups, n_groups]
    occurrences, sizes = np.zeros(n_groups, dtype=np.int64), np.bincount(group_of, minlength=n_groups)
    np.add.at(occurrences, group_of, data.supports)
    queue = sorted(zip((occurrences * sizes).tolist(), range(n_groups), strict=True))  # (price, group)
    while len(queue) > 1:
        _, one = queue.pop(0)
        partners = np.array([group for _, group in queue[:N_PARTNERS]])
        gain = gain_of_merging(together, one, partners) + HEAD_START
        price = (occurrences[one] + occurrences[partners]) * (sizes[one] + sizes[partners])
        increase = price - occurrences[one] * sizes[one] - occurrences[partners] * sizes[partners]
        rate = np.where(increase > 0, gain / np.maximum(increase, 1), np.inf)  # items that nobody has cost nothing
        chosen = int(np.argmax(rate))  # the first of equals is the cheapest
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


def merge_cheapest(supports: NDArray[np.int64], n_left: int) -> tuple[Merges, NDArray[np.int64], list[int]]:
    """The two cheapest groups become one until no more than ``n_left`` are there: the merges, the group of each item
    (a group is known by one of its items, and has its place among these), and the node of each group.
    """
    n_items = len(supports)
    occurrences, sizes, node = supports.tolist(), [1] * n_items, list(range(n_items))
    queue = [(price, item) for item, price in enumerate(occurrences)]
    heapify(queue)
    merges, joined = Merges(), list[tuple[int, int]]()
    while len(queue) > n_left:
        one, other = heappop(queue)[1], heappop(queue)[1]
        merges.append((node[one], node[other]))
        joined.append((one, other))
        node[other] = n_items + len(merges) - 1
        occurrences[other] += occurrences[one]
        sizes[other] += sizes[one]
        heappush(queue, (occurrences[other] * sizes[other], other))
    known = sorted(item for _, item in queue)
    group_of = np.empty(n_items, dtype=np.int64)
    group_of[known] = np.arange(len(known))
    for one, other in reversed(joined):
        group_of[one] = group_of[other]
    return merges, group_of, [node[item] for item in known]


def count_pairs(data: Dataset, group_of: NDArray[np.int64], n_groups: int) -> NDArray[np.int64]:
    """How often items of two groups occur together; 0 on the diagonal."""
    together = data.add_up(partial(_count_pairs, group_of, n_groups), n_groups**2).reshape(n_groups, n_groups)
    np.fill_diagonal(together, 0)
    return together


def _count_pairs(group_of: NDArray[np.int64], n_groups: int, blocks: Iterator[Csr]) -> Sparse:
    """The positions of the table of pairs that some records fill."""
    together: csr_array | None = None
    for indptr, items in blocks:
        here = _count_block(indptr, items, group_of, n_groups)
        together = here if together is None else together + here
    if together is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    found = together.tocoo()
    return found.row.astype(np.int64) * n_groups + found.col, found.data


def _count_block(
    indptr: NDArray[np.int64], items: NDArray[np.int32], group_of: NDArray[np.int64], n_groups: int
) -> csr_array:
    from scipy.sparse import csr_array

    ones = np.ones(len(items), dtype=np.int64)
    occurs = csr_array((ones, group_of[items], indptr), shape=(len(indptr) - 1, n_groups))
    return csr_array(occurs.T @ occurs)


def gain_of_merging(together: NDArray[np.int64], one: int, partners: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how much scarcity falls if a group is merged with each of its partners, in parts of ``ONE``."""
    neighbours = np.flatnonzero(together[one])
    mine = together[one, neighbours]
    theirs = together[np.ix_(partners, neighbours)]
    gain = ONE // mine + ONE // np.maximum(theirs, 1) - ONE // (mine + theirs)
    fallen: NDArray[np.int64] = np.where(theirs > 0, gain, 0).sum(axis=1)
    return fallen


def tree_of(data: Dataset, merges: Merges) -> Hierarchy:
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
    return replace(Hierarchy.from_parents(parents, labels, derived_from_data=True), has_meaning=False)


METHODS: dict[str, Callable[[Dataset], Merges]] = {
    "cooccurrence": merge_by_cooccurrence,
    "frequency": merge_by_frequency,
    "wide": lambda data: merge_by_frequency(data, 5),
    "ids": lambda data: merge_neighbours(list(range(data.n_items)), 5),
}
