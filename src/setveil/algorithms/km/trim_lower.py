"""Trim for least loss: from a global recoding down, record by record.

Every entry begins as the node that a global recoding makes of it, which is safe. Then node by node, the one that loses
most first: records that show the node show what is below it instead, its children; all that still may. Whoever would
show a combination that fewer than k show goes back to the node; and as the node must not be rare beside anything
either, others go back with him where it would be. Going back can only end: when all are back, everything is as it was
before. So the loss only falls, and no global recoding that it begins with loses less.

Children take their turn as nodes. All labels of a record but those below the node stay what they are, so only
combinations with the node or its children have to be counted, and these only in records that show the node.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km._trim_lower import Faces, Table, count_rows, lift_rows
from setveil.algorithms.km._trim_sets import move_keys
from setveil.algorithms.km.aa_refine import AARefine
from setveil.algorithms.km.mhghs_refine import MHgHsRefine
from setveil.algorithms.km.optimal import Optimal
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity

PROVABLE = {"fast": 0, "normal": 10_000, "best": 100_000}  # rows of the program of a cut that provably loses least
MOST_ENTRIES = {"fast": 0, "normal": 100_000, "best": 1_000_000}  # for which suppressing items is tried, too
MOST_VISITS = 100_000_000  # combinations of all records that show a node; with more the node stays
BLOCK = 20_000  # records between two signs of life
LARGEST_KEY = 2**62


def least_loss(
    rows: Transactions, value: NDArray[np.float64], model: KmAnonymity, effort: str, context: Context
) -> NDArray[np.int64] | None:
    """The node to publish for each entry, -1 for none; it loses no more than any of the global recodings. None for
    whole records (m="all"), and if there are no entries.
    """
    if model.m == "all" or not rows.n_occurrences:
        return None
    hierarchy = context.need_hierarchy("trim")
    leaves = hierarchy.leaf_of_items(rows.vocabulary)[rows.items]

    def recode(algorithm: AARefine | MHgHsRefine | Optimal) -> NDArray[np.int64]:
        cut = algorithm.run(rows, model, context).node_of_leaf
        assert cut is not None
        return cut[leaves].astype(np.int64)

    def tells_more(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
        return told(one, value, hierarchy) > told(other, value, hierarchy)

    def lower(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        return lower_entries(rows, nodes, value, hierarchy, model.k, int(model.m), context)

    nodes = recode(AARefine())
    if PROVABLE[effort] and tells_more(proven := recode(Optimal(most_rows=PROVABLE[effort])), nodes):
        nodes = proven
    nodes = lower(nodes)
    if rows.n_occurrences <= MOST_ENTRIES[effort] and tells_more(suppressed := recode(MHgHsRefine()), nodes):
        nodes = lower(suppressed)
    if effort == "best" and tells_more(
        suppressed := recode(Optimal(most_rows=PROVABLE["normal"], suppression=True)), nodes
    ):
        nodes = lower(suppressed)
    return nodes


def told(nodes: NDArray[np.int64], value: NDArray[np.float64], hierarchy: Hierarchy) -> float:
    """What entries published as these nodes, -1 for none, still tell: their value without the loss (LM)."""
    worth = 1.0 - (hierarchy.n_leaves - 1) / max(hierarchy.n_items - 1, 1)
    return float((value * np.append(worth, 0.0)[nodes]).sum())


def lower_entries(
    rows: Transactions,
    nodes: NDArray[np.int64],
    value: NDArray[np.float64],
    hierarchy: Hierarchy,
    k: int,
    m: int,
    context: Context,
) -> NDArray[np.int64]:
    """The node to publish for each entry, -1 for none; from ``nodes``, a safe cut of the hierarchy.

    ``value`` is what each entry is worth.
    """
    nodes = nodes.copy()
    position = np.empty(hierarchy.n_items, dtype=np.int64)  # of leaves, from left to right
    position[hierarchy.leaf_order] = np.arange(hierarchy.n_items)
    place = position[hierarchy.leaf_of_items(rows.vocabulary)[rows.items]]
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
        lowered = lower_node(rows, nodes, entries, below, k, m, context)
        nodes[entries[lowered]] = below[lowered]
        for child in np.unique(below[lowered]).tolist():
            entries_of[child] = entries[lowered & (below == child)]
            heappush(queue, turn(child))
    return nodes


def lower_node(
    rows: Transactions,
    nodes: NDArray[np.int64],
    entries: NDArray[np.int64],
    below: NDArray[np.int64],
    k: int,
    m: int,
    context: Context,
) -> NDArray[np.bool_]:
    """Which of the entries published as one node, all there are, may be published as the children ``below`` instead."""
    concerned, owner = np.unique(rows.owners[entries], return_inverse=True)
    lengths = rows.lengths[concerned]
    first = np.cumsum(lengths) - lengths
    around = np.arange(lengths.sum()) + np.repeat(rows.indptr[concerned] - first, lengths)  # entries of the same rows
    owners = np.repeat(np.arange(len(concerned)), lengths)
    owners, around = owners[nodes[around] >= 0], around[nodes[around] >= 0]
    before, changes = nodes[around], np.isin(around, entries)
    after = before.copy()
    after[changes] = below
    known, numbers = np.unique(np.concatenate((before, after)), return_inverse=True)
    width = len(known) + 1
    high, low = (faces_of(owners, labels + 1, changes, len(concerned), m) for labels in np.split(numbers, 2))
    if width**m > LARGEST_KEY or high.n_sets.sum() + low.n_sets.sum() > MOST_VISITS:
        return np.zeros(len(entries), dtype=bool)
    table = empty_table(1 << 10)
    done = 0
    while (done := count_rows(low, m, width, table, done)) < len(concerned):
        table = larger_table(table, int(low.n_sets[done]))
    is_low = np.ones(len(concerned), dtype=np.uint8)
    at = np.zeros(3, dtype=np.int64)
    while at[0] < len(concerned) or at[2] > 0:
        if at[0] == len(concerned):  # some were lifted: look at all again
            at[0] = at[2] = 0
        context.step("lowering nodes", None)
        at[1] = min(int(at[0]) + BLOCK, len(concerned))
        lift_rows(high, low, m, k, width, table, is_low, at)
        if at[0] < at[1]:
            table = larger_table(table, int(high.n_sets[at[0]]))
    return is_low.astype(bool)[owner]


def faces_of(
    owners: NDArray[np.int64], labels: NDArray[np.int64], is_own: NDArray[np.bool_], n_rows: int, m: int
) -> Faces:
    """Each label of a row once, those that are its own first."""
    order = np.lexsort((labels, ~is_own, owners))
    owners, labels, is_own = owners[order], labels[order], is_own[order]
    is_new = np.ones(len(owners), dtype=bool)
    is_new[1:] = (owners[1:] != owners[:-1]) | (labels[1:] != labels[:-1])
    owners, labels, is_own = owners[is_new], labels[is_new], is_own[is_new]
    lengths = np.bincount(owners, minlength=n_rows)
    n_own = np.bincount(owners[is_own], minlength=n_rows)
    n_sets = subsets_up_to(lengths, m) - subsets_up_to(lengths - n_own, m)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    return Faces(indptr.astype(np.int64), labels.astype(np.int64), n_own.astype(np.int64), n_sets.astype(np.int64))


def subsets_up_to(sizes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """How many subsets of at most m elements sets of these sizes have, at least so many that it is too many."""
    total, binomial = np.zeros(len(sizes)), np.ones(len(sizes))
    for size in range(1, m + 1):
        binomial = binomial * np.maximum(sizes - size + 1, 0) / size
        total += binomial
    return np.minimum(np.round(total), 2.0 * MOST_VISITS)


def empty_table(capacity: int) -> Table:
    """Room for half as many sets."""
    return np.full(capacity, -1, dtype=np.int64), np.zeros(capacity, dtype=np.int32), np.zeros(1, dtype=np.int64)


def larger_table(table: Table, more: int) -> Table:
    """The same with room for so many sets more."""
    keys, counts, n_keys = table
    larger = empty_table(1 << (4 * (int(n_keys[0]) + more)).bit_length())
    move_keys(keys, counts, larger[0], larger[1])
    larger[2][0] = n_keys[0]
    return larger
