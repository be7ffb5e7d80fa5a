"""Publish every entry as a node of a hierarchy, as low as is safe: the least loss (LM) that we find.

Every entry begins as the node that a global recoding makes of it, which is safe, and node by node records show its
children instead (``lower_entries``). A record that would show a combination that fewer than k records show returns to
the node; and as the node must not be rare together with anything either, others return with it where it would be. When
all have returned, everything is as it was before. So the loss only falls. Labels are counted as opaque items.

Assumed: ``nodes`` are a cut of the hierarchy that is safe, or suppressed (-1). Ensured: what is published is safe, and
each entry is a node between its item and the cut.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.km._label_sets import (
    LARGEST_KEY,
    N_SETS,
    Bools,
    Floats,
    Ints,
    Sweeps,
    count_faces,
    faces_of,
    lift_records,
)
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding

PROVABLE = {"fast": 0, "normal": 10_000, "best": 100_000}  # rows of the program of a cut that provably loses least
MOST_ENTRIES = {"fast": 0, "normal": 100_000, "best": 1_000_000}  # for which suppressing items is tried, too
MOST_VISITS = 100_000_000  # combinations of all records that show a node; with more the node stays


def information_kept(nodes: Ints, value: Floats, hierarchy: Hierarchy) -> float:
    """The value of entries published as these nodes, -1 for none, less the loss of each (LM)."""
    worth = 1.0 - (hierarchy.n_leaves - 1) / max(hierarchy.n_items - 1, 1)
    return float((value * np.append(worth, 0.0)[nodes]).sum())


def lose_least(records: Transactions, value: Floats, model: KmAnonymity, effort: str, context: Context) -> Ints | None:
    """The node to publish for each entry, -1 for none; it loses no more than any of the global recodings. None for
    whole records (m="all"), and if there are no entries.
    """
    from setveil.algorithms.km.aa_refine import AARefine
    from setveil.algorithms.km.mhghs_refine import MHgHsRefine
    from setveil.algorithms.km.optimal import Optimal

    if model.m == "all" or not records.n_occurrences:
        return None
    hierarchy = context.need_hierarchy("trim")
    leaves = hierarchy.leaf_of_items(records.vocabulary)[records.items]

    def recode(algorithm: Algorithm) -> Ints:
        release = algorithm.run(records, model, context)
        assert isinstance(release, Recoding) and release.node_of_leaf is not None
        return release.node_of_leaf[leaves].astype(np.int64)

    def is_better(one: Ints, other: Ints) -> bool:
        return information_kept(one, value, hierarchy) > information_kept(other, value, hierarchy)

    def lower(nodes: Ints) -> Ints:
        return lower_entries(records, nodes, value, hierarchy, model.k, int(model.m), context)

    nodes = recode(AARefine())
    if PROVABLE[effort] and is_better(proven := recode(Optimal(most_rows=PROVABLE[effort])), nodes):
        nodes = proven
    nodes = lower(nodes)
    if records.n_occurrences <= MOST_ENTRIES[effort] and is_better(suppressed := recode(MHgHsRefine()), nodes):
        nodes = lower(suppressed)
    if effort == "best" and is_better(
        suppressed := recode(Optimal(most_rows=PROVABLE["normal"], suppression=True)), nodes
    ):
        nodes = lower(suppressed)
    return nodes


def lower_entries(
    records: Transactions, nodes: Ints, value: Floats, hierarchy: Hierarchy, k: int, m: int, context: Context
) -> Ints:
    """The node to publish for each entry, -1 for none; from ``nodes``, a safe cut of the hierarchy.

    ``value`` is what each entry is worth.
    """
    nodes = nodes.copy()
    position = np.empty(hierarchy.n_items, dtype=np.int64)  # of leaves, from left to right
    position[hierarchy.leaf_order] = np.arange(hierarchy.n_items)
    place = position[hierarchy.leaf_of_items(records.vocabulary)[records.items]]
    by_node = np.argsort(nodes, kind="stable")
    present, starts = np.unique(nodes[by_node], return_index=True)
    entries_of = dict(zip(present.tolist(), np.split(by_node, starts[1:]), strict=True))
    entries_of.pop(-1, None)

    def turn(node: int) -> tuple[float, int]:
        return -float(value[entries_of[node]].sum() * (hierarchy.n_leaves[node] - 1)), node

    queue = [turn(node) for node in entries_of]
    heapify(queue)
    while queue:
        _, node = heappop(queue)
        entries = entries_of.pop(node)
        if not hierarchy.children[node]:
            continue
        context.step("lowering nodes", None)
        children = np.array(hierarchy.children[node])  # from left to right
        below = children[np.searchsorted(hierarchy.first[children], place[entries], side="right") - 1]
        lowered = lower_node(records, nodes, entries, below, k, m, context)
        nodes[entries[lowered]] = below[lowered]
        for child in np.unique(below[lowered]).tolist():
            entries_of[child] = entries[lowered & (below == child)]
            heappush(queue, turn(child))
    return nodes


def lower_node(
    records: Transactions, nodes: Ints, entries: Ints, below: Ints, k: int, m: int, context: Context
) -> Bools:
    """Which of the entries published as one node, all there are, may be published as the children ``below`` instead."""
    concerned, owner = np.unique(records.owners[entries], return_inverse=True)
    lengths = records.lengths[concerned]
    first = np.cumsum(lengths) - lengths
    around = np.arange(lengths.sum()) + np.repeat(records.indptr[concerned] - first, lengths)  # of the same records
    owners = np.repeat(np.arange(len(concerned)), lengths)
    owners, around = owners[nodes[around] >= 0], around[nodes[around] >= 0]
    before, changes = nodes[around], np.isin(around, entries)
    after = before.copy()
    after[changes] = below
    known, numbers = np.unique(np.concatenate((before, after)), return_inverse=True)
    width = len(known) + 1
    before, after = np.split(numbers.reshape(-1) + 1, 2)
    (high, of_high, _), (low, of_low, _) = (
        faces_of(owners, labels, changes, ~changes, m) for labels in (before, after)
    )
    if width**m > LARGEST_KEY or high[:, N_SETS].sum() + low[:, N_SETS].sum() > MOST_VISITS:
        return np.zeros(len(entries), dtype=bool)
    both = low.copy()
    both[:, N_SETS] += high[:, N_SETS]
    is_low = np.ones(len(concerned), dtype=np.int64)
    sweeps = Sweeps(both, k, m, width, context)
    sweeps.through(count_faces, low, after[of_low])
    while sweeps.through(lift_records, high, before[of_high], low, after[of_low], is_low):
        pass
    return is_low.astype(bool)[owner]
