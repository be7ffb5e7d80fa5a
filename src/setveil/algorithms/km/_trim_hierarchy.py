# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 5 of trim: publish entries as nodes of a hierarchy instead of suppressing them.

*For counts* (``generalize_suppressed``), what is published without a hierarchy stays exact, and suppressed entries are
offered as the nodes above them, level by level (``add_offered``). A node is worth one of its items (1/n), which is what
a count can make of it. *For least loss* (``lose_least``), every entry begins as the node that a global recoding makes
of it, which is safe, and node by node records show its children instead (``lower_entries``). A record that would show
a combination that fewer than k records show returns to the node; and as the node must not be rare together with
anything either, others return with it where it would be. When all have returned, everything is as it was before. So
the loss only falls.

Published labels are counted as opaque items. All labels of a record but its *own*, those in question, stay what they
are. So only combinations with an own label have to be counted, and only in records that have one. The arrays:

- ``faces`` int64[n_records + 1, 3]: START of a record's labels; N_OWN labels that are its own and come first; N_SETS
  itemsets of at most m labels that have one of them.
- ``labels`` int64: from 1, ascending among those that come first and among the others; 0 is a label withdrawn.
- ``table`` int64[2^bits, 2]: as in ``_trim_itemsets``, with the key and the number of records of an itemset.
- ``state`` int64[4]: the NEXT record, the END of the block, CHANGES so far, KEYS in the table.
- ``stack`` int64[…, 4]: the way through the itemsets; and HITS, the rare itemsets of each place of a record.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.km._trim_itemsets import (
    FREE,
    KEY,
    NUMBER,
    Bools,
    Floats,
    Ints,
    copy_table,
    empty_table,
    find_place,
    shift_for,
)
from setveil.arrays.compiling import compiled
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding

PROVABLE = {"fast": 0, "normal": 10_000, "best": 100_000}  # rows of the program of a cut that provably loses least
MOST_ENTRIES = {"fast": 0, "normal": 100_000, "best": 1_000_000}  # for which suppressing items is tried, too
MOST_VISITS = 100_000_000  # combinations of all records that show a node; with more the node stays
MOST_OFFERED = 1_000_000_000  # combinations with offers; with more, records are compared as a whole
SETS_PER_CALL = 1_000_000  # itemsets that a compiled call visits, well below half a second
LARGEST_KEY = 2**62
START, N_OWN, N_SETS = 0, 1, 2
NEXT, END, CHANGES, KEYS = 0, 1, 2, 3
AT, PREFIX, HAS, HITS = 0, 1, 2, 3
NOWHERE, NONE, ONE = np.int64(-1), np.int64(0), np.int64(1)  # typed: a loop is compiled anew for each plain constant


class Limits(NamedTuple):
    """Numbers that loops need."""

    m: int
    width: int  # above every label
    shift: int  # of a hash of 64 bits, to fall into the table
    k: int
    longest: int  # labels of a record, at most


Offers: TypeAlias = Callable[[Ints, Ints, Bools, Floats], Bools]


def information_kept(nodes: Ints, value: Floats, hierarchy: Hierarchy) -> float:
    """The value of entries published as these nodes, -1 for none, less the loss of each (LM)."""
    worth = 1.0 - (hierarchy.n_leaves - 1) / max(hierarchy.n_items - 1, 1)
    return float((value * np.append(worth, 0.0)[nodes]).sum())


# -- for counts -------------------------------------------------------------------------------------------------------


def generalize_suppressed(records: Transactions, shown: Ints, value: Floats, hierarchy: Hierarchy, add: Offers) -> Ints:
    """The node to publish for each entry, -1 for none; from ``shown``, leaves that are safe.

    ``value`` is what each entry is worth; ``add`` is ``add_offered`` for these records.
    """
    shown = shown.copy()
    above = hierarchy.parent[hierarchy.leaf_of_items(records.vocabulary)[records.items]].astype(np.int64)
    while (above >= 0).any():
        tells = (hierarchy.n_leaves[above] > 1) & (hierarchy.n_leaves[above] < hierarchy.n_items)
        offered = (shown < 0) & (above >= 0) & tells
        if offered.any():
            there = np.flatnonzero(offered | (shown >= 0))
            nodes, is_new = np.where(offered, above, shown)[there], offered[there]
            n_entries = np.bincount(nodes, minlength=hierarchy.n_nodes)
            worth = np.bincount(nodes, value[there], hierarchy.n_nodes) / np.maximum(n_entries, 1)
            kept = add(records.owners[there], nodes, is_new, worth / hierarchy.n_leaves)
            if kept[~is_new].all():
                shown[there] = np.where(kept, nodes, -1)
        above = np.where(above >= 0, hierarchy.parent[above], -1)
    return shown


def add_offered(
    owners: Ints, labels: Ints, is_new: Bools, worth: Floats, n_records: int, k: int, m: int, context: Context
) -> Bools | None:
    """Which entries to publish, bool[entries]: all that are not new, which are safe by themselves, and some that are.

    ``owners`` ascending; ``worth`` of each label, above 0. None if there are too many combinations to count.
    """
    is_own_label = np.zeros(len(worth), dtype=bool)
    is_own_label[labels[is_new]] = True
    is_concerned = np.zeros(n_records, dtype=bool)
    is_concerned[owners[is_own_label[labels]]] = True
    inside = np.flatnonzero(is_concerned[owners])
    owner, label = (np.cumsum(is_concerned) - 1)[owners[inside]], labels[inside]
    is_known = np.zeros(len(worth), dtype=bool)
    is_known[label] = True
    number = np.cumsum(is_known)[label]  # from 1
    m = min(m, int(np.bincount(owner).max(initial=1)))
    faces, order, place = faces_of(owner, number, is_own_label[label], is_new[inside], m)
    width = int(is_known.sum()) + 1
    if width**m > LARGEST_KEY or faces[:, N_SETS].sum() > MOST_OFFERED:
        return None
    shown = number[order]
    offers = np.where(is_new[inside][order], shown, 0)
    value = np.append(1.0, worth[is_known])
    sweeps = Sweeps(faces, k, m, width, context)
    sweeps.through(count_faces, faces, shown)
    while sweeps.through(withdraw_offers, faces, shown, offers, value):
        pass
    sweeps.through(return_offers, faces, shown, offers)
    kept = np.ones(len(labels), dtype=bool)
    kept[inside] = shown[place] > 0
    return kept


class Sweeps:
    """Compiled loops over all records, block by block, that share one table of itemsets, which grows as it must."""

    def __init__(self, faces: Ints, k: int, m: int, width: int, context: Context) -> None:
        self.context = context
        self.n_records = len(faces) - 1
        self.sets_before = np.append(0, np.cumsum(faces[:-1, N_SETS]))
        self.table = empty_table(1 << 10)
        self.state = np.zeros(4, dtype=np.int64)
        longest = int(np.diff(faces[:, START]).max(initial=0))
        self.limits = Limits(m, width, shift_for(self.table), k, longest)

    def through(self, loop: Callable[..., None], *arrays: Any) -> int:
        """Call a loop for all records; how many changes it made."""
        state = self.state
        state[NEXT] = state[CHANGES] = 0
        while state[NEXT] < self.n_records:
            self.context.step("generalizing entries", float(state[NEXT] / self.n_records))
            end = np.searchsorted(self.sets_before, self.sets_before[state[NEXT]] + SETS_PER_CALL)
            state[END] = min(max(int(end), int(state[NEXT]) + 1), self.n_records)
            loop(*arrays, self.table, state, self.limits)
            if state[NEXT] < state[END]:
                more = int(self.sets_before[state[END]] - self.sets_before[state[NEXT]])
                larger = empty_table(1 << (4 * (int(state[KEYS]) + more)).bit_length())
                copy_table(self.table, larger, shift_for(larger))
                self.table, self.limits = larger, self.limits._replace(shift=shift_for(larger))
        return int(state[CHANGES])


def faces_of(owners: Ints, labels: Ints, is_own: Bools, is_new: Bools, m: int) -> tuple[Ints, Ints, Ints]:
    """``faces`` of records, each label once; the entries that their labels come from, not new ones if there are both;
    and the place of each entry among the labels. Owners are numbers from 0 without gaps.
    """
    width = int(labels.max(initial=0)) + 1
    key = (owners * 2 + ~is_own) * width + labels
    order = np.argsort(key * 2 + is_new, kind="stable")
    key = key[order]
    is_first = np.append(np.ones(min(len(key), 1), dtype=bool), key[1:] != key[:-1])
    place = np.empty(len(key), dtype=np.int64)
    place[order] = np.cumsum(is_first) - 1
    order = order[is_first]
    n_records = int(owners.max(initial=-1)) + 1
    lengths = np.bincount(owners[order], minlength=n_records)
    n_own = np.bincount(owners[order][is_own[order]], minlength=n_records)
    faces = np.zeros((n_records + 1, 3), dtype=np.int64)
    faces[1:, START] = np.cumsum(lengths)
    faces[:-1, N_OWN] = n_own
    faces[:-1, N_SETS] = subsets_up_to(lengths, m) - subsets_up_to(lengths - n_own, m)
    return faces, order, place


def subsets_up_to(sizes: Ints, m: int) -> Floats:
    """How many subsets of at most m elements sets of these sizes have, at least so many that it is too many."""
    total, binomial = np.zeros(len(sizes)), np.ones(len(sizes))
    for size in range(1, m + 1):
        binomial = binomial * np.maximum(sizes - size + 1, 0) / size
        total += binomial
    return np.minimum(np.round(total), 2.0 * MOST_OFFERED)


# -- for least loss ---------------------------------------------------------------------------------------------------


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


# -- loops ------------------------------------------------------------------------------------------------------------


@compiled
def visit_itemsets(
    labels: Ints, n_own: int, table: Ints, state: Ints, stack: Ints, limits: Limits, must: int, amount: int
) -> int:
    """Add ``amount`` to the count of every set of at most m labels of a record that has one of its own, and the one at
    ``must`` unless that is -1. Returns how many of them some records show then, but fewer than k, and HITS says in how
    many of these each place is. If the amount is negative, both are about those that were rare, and HITS falls.
    """
    for place in range(len(labels) if amount >= 0 else 0):
        stack[place, HITS] = 0
    n_rare = 0
    stack[0, PREFIX] = 0
    stack[0, HAS] = 1 if must < 0 else 0
    stack[1, AT] = -1
    depth = 1
    while depth > 0:
        stack[depth, AT] += 1
        here = stack[depth, AT]
        has_it = stack[depth - 1, HAS] == 1
        if here >= (n_own if depth == 1 else len(labels)) or (here > must and not has_it):
            depth -= 1
            continue
        has_it = has_it or here == must
        if labels[here] == 0 or (depth == limits.m and not has_it):
            continue
        key = stack[depth - 1, PREFIX] * limits.width + labels[here]
        if has_it:
            place = find_place(table, limits.shift, key)
            if amount != 0:
                if table[place, KEY] == FREE:
                    table[place, KEY] = key
                    state[KEYS] += 1
                table[place, NUMBER] += amount
            count = table[place, NUMBER] if table[place, KEY] != FREE else 0
            if count < limits.k - 1 if amount < 0 else 0 < count < limits.k:
                n_rare += 1
                for level in range(depth):
                    stack[stack[level + 1, AT], HITS] += ONE if amount >= 0 else -ONE
        if depth < limits.m:
            stack[depth, PREFIX] = key
            stack[depth, HAS] = 1 if has_it else 0
            depth += 1
            stack[depth, AT] = here
    return n_rare


@compiled
def new_stack(limits: Limits) -> Ints:
    """Room for the way through the itemsets of any record."""
    return np.zeros((max(limits.longest, limits.m) + 2, 4), dtype=np.int64)


@compiled
def count_faces(faces: Ints, labels: Ints, table: Ints, state: Ints, limits: Limits) -> None:
    """Count the itemsets of the records of a block, as long as the table has room."""
    stack = new_stack(limits)
    while state[NEXT] < state[END] and 2 * (state[KEYS] + faces[state[NEXT], N_SETS]) <= len(table):
        record = state[NEXT]
        shown = labels[faces[record, START] : faces[record + 1, START]]
        visit_itemsets(shown, faces[record, N_OWN], table, state, stack, limits, NOWHERE, ONE)
        state[NEXT] += 1


@compiled
def withdraw_offers(
    faces: Ints, labels: Ints, offers: Ints, worth: Floats, table: Ints, state: Ints, limits: Limits
) -> None:
    """Let records of a block withdraw offers until they show no rare itemset: that with most of them per worth first.

    ``offers`` are the labels that may be withdrawn, 0 for others.
    """
    stack = new_stack(limits)
    for record in range(state[NEXT], state[END]):
        start, n_own = faces[record, START], faces[record, N_OWN]
        shown = labels[start : faces[record + 1, START]]
        n_rare = visit_itemsets(shown, n_own, table, state, stack, limits, NOWHERE, NONE)
        while n_rare > 0:
            worst, most = NOWHERE, 0.0
            for at in range(n_own):
                if shown[at] * offers[start + at] > 0 and stack[at, HITS] / worth[shown[at]] > most:
                    worst, most = at, stack[at, HITS] / worth[shown[at]]
            if worst < 0:
                break  # what is left is not for this record to withdraw
            n_rare -= stack[worst, HITS]
            visit_itemsets(shown, n_own, table, state, stack, limits, worst, -ONE)
            shown[worst] = 0
            state[CHANGES] += 1
    state[NEXT] = state[END]


@compiled
def return_offers(faces: Ints, labels: Ints, offers: Ints, table: Ints, state: Ints, limits: Limits) -> None:
    """Let offers return to the records of a block that make no rare itemset there."""
    stack = new_stack(limits)
    for record in range(state[NEXT], state[END]):
        start, n_own = faces[record, START], faces[record, N_OWN]
        shown = labels[start : faces[record + 1, START]]
        for at in range(n_own):
            offer = offers[start + at]
            if shown[at] == 0 and table[find_place(table, limits.shift, offer), NUMBER] >= limits.k - 1:
                shown[at] = offer
                if visit_itemsets(shown, n_own, table, state, stack, limits, at, ONE) > 0:
                    visit_itemsets(shown, n_own, table, state, stack, limits, at, -ONE)
                    shown[at] = 0
                else:
                    state[CHANGES] += 1
    state[NEXT] = state[END]


@compiled
def lift_records(
    high: Ints, high_labels: Ints, low: Ints, low_labels: Ints, is_low: Ints, table: Ints, state: Ints, limits: Limits
) -> None:
    """Return low records of a block to the node that show a rare itemset, or share one with records that were returned;
    stops before a record for which the table may be too small.
    """
    stack = new_stack(limits)
    while state[NEXT] < state[END] and 2 * (state[KEYS] + high[state[NEXT], N_SETS]) <= len(table):
        record = state[NEXT]
        below, n_below = low_labels[low[record, START] : low[record + 1, START]], low[record, N_OWN]
        above, n_above = high_labels[high[record, START] : high[record + 1, START]], high[record, N_OWN]
        if is_low[record] and (
            visit_itemsets(below, n_below, table, state, stack, limits, NOWHERE, NONE) > 0
            or visit_itemsets(above, n_above, table, state, stack, limits, NOWHERE, NONE) > 0
        ):
            visit_itemsets(below, n_below, table, state, stack, limits, NOWHERE, -ONE)
            visit_itemsets(above, n_above, table, state, stack, limits, NOWHERE, ONE)
            is_low[record] = 0
            state[CHANGES] += 1
        state[NEXT] += 1
