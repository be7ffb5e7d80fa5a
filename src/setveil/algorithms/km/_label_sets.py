# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Count the sets of at most m labels of records that have a label in question, and find those that are rare.

Labels are what is published: items or nodes of a hierarchy, numbers from 1, counted as opaque items. All labels of a
record but its *own*, those in question, stay what they are and are safe by themselves. So only sets with an own label
have to be counted, and only in records that have one. A set is *rare* if some records show it, but fewer than k. The
arrays:

- ``faces`` int64[n_records + 1, 3]: START of a record's labels; N_OWN labels that are its own and come first; N_SETS
  sets of at most m labels that have one of them.
- ``labels`` int64: ascending among those that come first and among the others; 0 is a label withdrawn.
- ``table``: a hash table with the number of records of each set. Its key: that of the set without its last label,
  times the number of labels and one, plus the last label.
- ``state`` int64[5]: the NEXT record, the END of the block, CHANGES so far, KEYS in the table, the CLOCK.
- ``stack`` int64[…, 5]: the way through the sets; HITS, the rare sets of each place of a record; and TURNED, those that
  have become rare by what was withdrawn last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.arrays.compiling import compiled
from setveil.arrays.hash_table import FREE, KEY, NUMBER, empty_table, find_place, larger_table, shift_for

Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

MOST_SETS = 1e12  # that are counted exactly; more are too many in any case
SETS_PER_CALL = 1_000_000  # sets that a compiled call visits, well below half a second
LARGEST_KEY = 2**62
START, N_OWN, N_SETS = 0, 1, 2
NEXT, END, CHANGES, KEYS, CLOCK = 0, 1, 2, 3, 4
AT, PREFIX, HAS, HITS, TURNED = 0, 1, 2, 3, 4
NOWHERE, NONE, ONE = np.int64(-1), np.int64(0), np.int64(1)  # typed: a loop is compiled anew for each plain constant


class Limits(NamedTuple):
    """Numbers that loops need."""

    m: int
    width: int  # above every label
    shift: int  # of a hash of 64 bits, to fall into the table
    k: int
    longest: int  # labels of a record, at most


class Sweeps:
    """Compiled loops over all records, block by block, that share one table of sets, which grows as it must."""

    def __init__(self, faces: Ints, k: int, m: int, width: int, context: Context) -> None:
        self.context = context
        self.n_records = len(faces) - 1
        self.sets_before = np.append(0, np.cumsum(faces[:-1, N_SETS]))
        self.table = empty_table(1 << 10)
        self.state = np.zeros(5, dtype=np.int64)
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
                room = int(state[KEYS] + self.sets_before[state[NEXT] + 1] - self.sets_before[state[NEXT]])
                self.table = larger_table(self.table, 2 * max(room, len(self.table)))  # small tables are quick
                self.limits = self.limits._replace(shift=shift_for(self.table))
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
    return np.minimum(np.round(total), MOST_SETS)


# -- loops ------------------------------------------------------------------------------------------------------------


@compiled
def visit_sets(
    labels: Ints, n_own: int, table: Ints, state: Ints, stack: Ints, limits: Limits, must: int, amount: int
) -> int:
    """Add ``amount`` to the count of every set of at most m labels of a record that has one of its own, and the one at
    ``must`` unless that is -1. Returns how many of them are rare then, and HITS says in how many of these each place
    is. If the amount is negative, both are about those that were rare, HITS falls, and TURNED is counted.
    """
    for place in range(len(labels)):
        stack[place, TURNED] = 0
        if amount >= 0:
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
            elif amount < 0 and count == limits.k - 1:
                for level in range(depth):
                    stack[stack[level + 1, AT], TURNED] += ONE
        if depth < limits.m:
            stack[depth, PREFIX] = key
            stack[depth, HAS] = 1 if has_it else 0
            depth += 1
            stack[depth, AT] = here
    return n_rare


@compiled
def new_stack(limits: Limits) -> Ints:
    """Room for the way through the itemsets of any record."""
    return np.zeros((max(limits.longest, limits.m) + 2, 5), dtype=np.int64)


@compiled
def count_faces(faces: Ints, labels: Ints, table: Ints, state: Ints, limits: Limits) -> None:
    """Count the itemsets of the records of a block, as long as the table has room."""
    stack = new_stack(limits)
    while state[NEXT] < state[END] and 2 * (state[KEYS] + faces[state[NEXT], N_SETS]) <= len(table):
        record = state[NEXT]
        shown = labels[faces[record, START] : faces[record + 1, START]]
        visit_sets(shown, faces[record, N_OWN], table, state, stack, limits, NOWHERE, ONE)
        state[NEXT] += 1


@compiled
def withdraw_offers(
    faces: Ints, labels: Ints, offers: Ints, worth: Floats, turned: Ints, table: Ints, state: Ints, limits: Limits
) -> None:
    """Let records of a block withdraw offers until they show no rare set: that with most of them per worth first.

    ``offers`` are the labels that may be withdrawn, 0 for others. ``turned``: when a set with each label became rare
    for the last time. A record is looked at again only if that happened to a label of its own after its last turn.
    """
    stack = new_stack(limits)
    for record in range(state[NEXT], state[END]):
        state[CLOCK] += 1
        start, n_own = faces[record, START], faces[record, N_OWN]
        shown = labels[start : faces[record + 1, START]]
        last_turn = state[CLOCK] - (len(faces) - 1)
        is_changed = False
        for at in range(n_own):
            is_changed |= shown[at] > 0 and turned[shown[at]] >= last_turn
        n_rare = visit_sets(shown, n_own, table, state, stack, limits, NOWHERE, NONE) if is_changed else NONE
        while n_rare > 0:
            worst, most = NOWHERE, 0.0
            for at in range(n_own):
                if shown[at] * offers[start + at] > 0 and stack[at, HITS] / worth[shown[at]] > most:
                    worst, most = at, stack[at, HITS] / worth[shown[at]]
            if worst < 0:
                break  # what is left is not for this record to withdraw
            n_rare -= stack[worst, HITS]
            visit_sets(shown, n_own, table, state, stack, limits, worst, -ONE)
            for at in range(len(shown)):
                if stack[at, TURNED] > 0:
                    turned[shown[at]] = state[CLOCK]
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
                if visit_sets(shown, n_own, table, state, stack, limits, at, ONE) > 0:
                    visit_sets(shown, n_own, table, state, stack, limits, at, -ONE)
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
            visit_sets(below, n_below, table, state, stack, limits, NOWHERE, NONE) > 0
            or visit_sets(above, n_above, table, state, stack, limits, NOWHERE, NONE) > 0
        ):
            visit_sets(below, n_below, table, state, stack, limits, NOWHERE, -ONE)
            visit_sets(above, n_above, table, state, stack, limits, NOWHERE, ONE)
            is_low[record] = 0
            state[CHANGES] += 1
        state[NEXT] += 1
