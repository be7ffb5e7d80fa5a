# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 5 of trim: publish entries as nodes of a hierarchy instead of suppressing them.

*For counts* (``generalize_suppressed``), what is published without a hierarchy stays exact. Level by level, from the
parents of the items up, suppressed entries are offered as the nodes above them, and the records, with what they show
and what is offered, are trimmed like any others. A node is worth one of its items (1/n), which is what a count can make
of it.

*For least loss* (``lose_least``), every entry begins as the node that a global recoding makes of it, which is safe.
Then node by node, the one that loses most first: records that show the node show what is below it instead, its
children; all that still may. A record that would show a combination that fewer than k records show returns to the node;
and as the node must not be rare together with anything either, others return with it where it would be. When all have
returned, everything is as it was before. So the loss only falls, and no global recoding that it begins with loses less.
Children take their turn as nodes. All labels of a record but those below the node stay what they are, so only
combinations with the node or its children have to be counted, and these only in records that show the node.

Published labels are counted as opaque items.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.km._trim_itemsets import FREE, KEY, NUMBER, copy_table, empty_table, find_place, shift_for
from setveil.arrays.compiling import compiled
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.models import KmAnonymity
from setveil.releases import Recoding

LEAST_WORTH = 0.001
PROVABLE = {"fast": 0, "normal": 10_000, "best": 100_000}  # rows of the program of a cut that provably loses least
MOST_ENTRIES = {"fast": 0, "normal": 100_000, "best": 1_000_000}  # for which suppressing items is tried, too
MOST_VISITS = 100_000_000  # combinations of all records that show a node; with more the node stays
BLOCK = 20_000  # records between two signs of life
LARGEST_KEY = 2**62
START, N_OWN, N_SETS = 0, 1, 2  # columns of ``faces``

# Records, the value of their items, and which items are to stay -> entries to keep.
Trimming = Callable[[Transactions, NDArray[np.float64], NDArray[np.bool_]], NDArray[np.bool_]]


def information_kept(nodes: NDArray[np.int64], value: NDArray[np.float64], hierarchy: Hierarchy) -> float:
    """The value of entries published as these nodes, -1 for none, less the loss of each (LM)."""
    worth = 1.0 - (hierarchy.n_leaves - 1) / max(hierarchy.n_items - 1, 1)
    return float((value * np.append(worth, 0.0)[nodes]).sum())


# -- for counts -------------------------------------------------------------------------------------------------------


def generalize_suppressed(
    records: Transactions, shown: NDArray[np.int64], value: NDArray[np.float64], hierarchy: Hierarchy, trim: Trimming
) -> NDArray[np.int64]:
    """The node to publish for each entry, -1 for none; from ``shown``, leaves that are safe.

    ``value`` is what each entry is worth.
    """
    above = hierarchy.parent[hierarchy.leaf_of_items(records.vocabulary)[records.items]].astype(np.int64)
    while (above >= 0).any():
        tells = (hierarchy.n_leaves[above] > 1) & (hierarchy.n_leaves[above] < hierarchy.n_items)
        offered = (shown < 0) & (above >= 0) & tells
        if offered.any():
            tried = _trim_nodes(records, np.where(offered, above, shown), value, hierarchy, trim)
            if (tried >= 0)[(shown >= 0) & (shown < hierarchy.n_items)].all():
                shown = tried
        above = np.where(above >= 0, hierarchy.parent[above], -1)
    return shown


def _trim_nodes(
    records: Transactions,
    offered: NDArray[np.int64],
    value: NDArray[np.float64],
    hierarchy: Hierarchy,
    trim: Trimming,
) -> NDArray[np.int64]:
    """What is left of the nodes offered for each entry when they are trimmed like items, and leaves stay."""
    there = offered >= 0
    owners = records.owners[there]
    is_offered = np.zeros(hierarchy.n_nodes, dtype=bool)
    is_offered[offered[there]] = True
    nodes = np.flatnonzero(is_offered)
    number = (np.cumsum(is_offered) - 1)[offered[there]]
    labels = Vocabulary.presorted([str(node) for node in nodes.tolist()])
    generalized = Transactions.from_pairs(owners, number, records.n_records, labels)
    mean_value = np.bincount(number, value[there], len(nodes)) / np.bincount(number, minlength=len(nodes))
    worth = np.maximum(mean_value / hierarchy.n_leaves[nodes], LEAST_WORTH)
    kept = trim(generalized, worth, nodes < hierarchy.n_items)
    width = max(len(nodes), 1)
    keys = generalized.owners * width + generalized.items  # ascending
    left = np.full(len(offered), -1, dtype=np.int64)
    left[there] = np.where(kept[np.searchsorted(keys, owners * width + number)], offered[there], -1)
    return left


# -- for least loss ---------------------------------------------------------------------------------------------------


def lose_least(
    records: Transactions, value: NDArray[np.float64], model: KmAnonymity, effort: str, context: Context
) -> NDArray[np.int64] | None:
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

    def recode(algorithm: Algorithm) -> NDArray[np.int64]:
        release = algorithm.run(records, model, context)
        assert isinstance(release, Recoding) and release.node_of_leaf is not None
        return release.node_of_leaf[leaves].astype(np.int64)

    def is_better(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
        return information_kept(one, value, hierarchy) > information_kept(other, value, hierarchy)

    def lower(nodes: NDArray[np.int64]) -> NDArray[np.int64]:
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
    records: Transactions,
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
    records: Transactions,
    nodes: NDArray[np.int64],
    entries: NDArray[np.int64],
    below: NDArray[np.int64],
    k: int,
    m: int,
    context: Context,
) -> NDArray[np.bool_]:
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
    high, low = (faces_of(owners, labels + 1, changes, len(concerned), m) for labels in np.split(numbers, 2))
    if width**m > LARGEST_KEY or high[0][:, N_SETS].sum() + low[0][:, N_SETS].sum() > MOST_VISITS:
        return np.zeros(len(entries), dtype=bool)
    table = empty_table(1 << 10)
    state = np.zeros(4, dtype=np.int64)  # next record, end of the block, records lifted, itemsets in the table
    while count_faces(*low, table, state, m, width, shift_for(table)) < len(concerned):
        table = _larger_table(table, state, int(low[0][state[0], N_SETS]))
    is_low = np.ones(len(concerned), dtype=np.uint8)
    state[0] = 0
    while state[0] < len(concerned) or state[2] > 0:
        if state[0] == len(concerned):  # some were lifted: look at all again
            state[0] = state[2] = 0
        context.step("lowering nodes", None)
        state[1] = min(int(state[0]) + BLOCK, len(concerned))
        lift_records(*high, *low, table, is_low, state, m, k, width, shift_for(table))
        if state[0] < state[1]:
            table = _larger_table(table, state, int(high[0][state[0], N_SETS]))
    return is_low.astype(bool)[owner]


def _larger_table(table: NDArray[np.int64], state: NDArray[np.int64], more: int) -> NDArray[np.int64]:
    """The same with room for so many itemsets more."""
    larger = empty_table(1 << (4 * (int(state[3]) + more)).bit_length())
    copy_table(table, larger, shift_for(larger))
    return larger


def faces_of(
    owners: NDArray[np.int64], labels: NDArray[np.int64], is_own: NDArray[np.bool_], n_records: int, m: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What each record shows, each label once, those that are its own first.

    ``faces`` int64[n_records + 1, 3]: START of its labels, N_OWN labels that come first, N_SETS itemsets of at most m
    labels that have one of them. ``labels`` int64, ascending among those that come first, and among the others.
    """
    order = np.lexsort((labels, ~is_own, owners))
    owners, labels, is_own = owners[order], labels[order], is_own[order]
    is_new = np.ones(len(owners), dtype=bool)
    is_new[1:] = (owners[1:] != owners[:-1]) | (labels[1:] != labels[:-1])
    owners, labels, is_own = owners[is_new], labels[is_new], is_own[is_new]
    lengths = np.bincount(owners, minlength=n_records)
    n_own = np.bincount(owners[is_own], minlength=n_records)
    faces = np.zeros((n_records + 1, 3), dtype=np.int64)
    faces[1:, START] = np.cumsum(lengths)
    faces[:-1, N_OWN] = n_own
    faces[:-1, N_SETS] = subsets_up_to(lengths, m) - subsets_up_to(lengths - n_own, m)
    return faces, labels.astype(np.int64)


def subsets_up_to(sizes: NDArray[np.int64], m: int) -> NDArray[np.float64]:
    """How many subsets of at most m elements sets of these sizes have, at least so many that it is too many."""
    total, binomial = np.zeros(len(sizes)), np.ones(len(sizes))
    for size in range(1, m + 1):
        binomial = binomial * np.maximum(sizes - size + 1, 0) / size
        total += binomial
    return np.minimum(np.round(total), 2.0 * MOST_VISITS)


@compiled
def visit_itemsets(
    faces: NDArray[np.int64],
    labels: NDArray[np.int64],
    table: NDArray[np.int64],
    state: NDArray[np.int64],
    record: int,
    m: int,
    width: int,
    shift: int,
    amount: int,
    k: int,
) -> bool:
    """Add ``amount`` to the count of every set of at most m labels of a record that has one of its own; whether one of
    them is then shown by some records, but fewer than k. With 0 nothing changes, and the first such set is enough.
    """
    start, end = faces[record, START], faces[record + 1, START]
    at = np.zeros(m + 1, dtype=np.int64)
    key = np.zeros(m + 1, dtype=np.int64)
    is_rare = False
    depth = 1
    at[1] = start - 1
    while depth > 0:
        at[depth] += 1
        if at[depth] >= (start + faces[record, N_OWN] if depth == 1 else end):
            depth -= 1
            continue
        key[depth] = key[depth - 1] * width + labels[at[depth]]
        place = find_place(table, shift, key[depth])
        if amount != 0:
            if table[place, KEY] == FREE:
                table[place, KEY] = key[depth]
                state[3] += 1
            table[place, NUMBER] += amount
        if table[place, KEY] != FREE and 0 < table[place, NUMBER] < k:
            is_rare = True
            if amount == 0:
                break
        if depth < m:
            depth += 1
            at[depth] = at[depth - 1]
    return is_rare


@compiled
def count_faces(
    faces: NDArray[np.int64],
    labels: NDArray[np.int64],
    table: NDArray[np.int64],
    state: NDArray[np.int64],
    m: int,
    width: int,
    shift: int,
) -> int:
    """Count the itemsets of records from ``state[0]`` on, as long as the table has room; where it stopped."""
    while state[0] < len(faces) - 1 and 2 * (state[3] + faces[state[0], N_SETS]) <= len(table):
        visit_itemsets(faces, labels, table, state, state[0], m, width, shift, 1, 0)
        state[0] += 1
    return state[0]


@compiled
def lift_records(
    high: NDArray[np.int64],
    high_labels: NDArray[np.int64],
    low: NDArray[np.int64],
    low_labels: NDArray[np.int64],
    table: NDArray[np.int64],
    is_low: NDArray[np.uint8],
    state: NDArray[np.int64],
    m: int,
    k: int,
    width: int,
    shift: int,
) -> None:
    """Return low records to the node that show a rare itemset, or share one with records that were returned, from
    record ``state[0]`` to before ``state[1]``; stops before a record for which the table may be too small.
    """
    while state[0] < state[1] and 2 * (state[3] + high[state[0], N_SETS]) <= len(table):
        record = state[0]
        if is_low[record] and (
            visit_itemsets(low, low_labels, table, state, record, m, width, shift, 0, k)
            or visit_itemsets(high, high_labels, table, state, record, m, width, shift, 0, k)
        ):
            visit_itemsets(low, low_labels, table, state, record, m, width, shift, -1, k)
            visit_itemsets(high, high_labels, table, state, record, m, width, shift, 1, k)
            is_low[record] = 0
            state[2] += 1
        state[0] += 1
