# mypy: disable-error-code="return-value"
"""Loops that exchange records of one part between groups until no group holds a sensitive item too often.

They see what records hold, never which they are: see ``joining``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree._grouping import Rows
from setveil.arrays.compiling import compiled


class Cut(NamedTuple):
    """Records, part by part, and the groups they are dealt to; changed in place."""

    sensitive: Rows  # what each record of the data holds
    records: NDArray[np.int64]  # [members] which of these records
    group_of: NDArray[np.int64]  # [members]
    counts: NDArray[np.int64]  # [groups, items] how often each sensitive item occurs in each group
    allowed: NDArray[np.int64]  # [groups] how often one may


@compiled
def holds(member: int, item: int, cut: Cut) -> bool:
    """Whether a member holds an item."""
    record = cut.records[member]
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        if cut.sensitive.items[j] == item:
            return True
    return False


@compiled
def has_too_much(member: int, cut: Cut) -> bool:
    """Whether a member holds an item that occurs too often in its group."""
    group, record = cut.group_of[member], cut.records[member]
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        if cut.counts[group, cut.sensitive.items[j]] > cut.allowed[group]:
            return True
    return False


@compiled
def change_by_leaving(member: int, successor: int, cut: Cut) -> int:
    """How the occurrences that are too many change by what a member takes with it to its successor's group."""
    here, there = cut.group_of[member], cut.group_of[successor]
    record = cut.records[member]
    change = 0
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        item = cut.sensitive.items[j]
        if not holds(successor, item, cut):
            if cut.counts[here, item] > cut.allowed[here]:
                change -= 1
            if cut.counts[there, item] >= cut.allowed[there]:
                change += 1
    return change


@compiled
def deal(member: int, group: int, cut: Cut) -> None:
    """Give a member to a group; -1: it was in none."""
    record, before = cut.records[member], cut.group_of[member]
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        if before >= 0:
            cut.counts[before, cut.sensitive.items[j]] -= 1
        cut.counts[group, cut.sensitive.items[j]] += 1
    cut.group_of[member] = group


@compiled
def exchange_excess(size: int, cut: Cut) -> None:
    """Members with too much change groups with others of their part, ``size`` records, while that lowers the excess."""
    is_lower = True
    while is_lower:
        is_lower = False
        for member in range(len(cut.group_of)):
            if not has_too_much(member, cut):
                continue
            first = member - member % size
            for other in range(first, first + size):
                mine, others = cut.group_of[member], cut.group_of[other]
                if mine == others:
                    continue
                if change_by_leaving(member, other, cut) + change_by_leaving(other, member, cut) < 0:
                    deal(member, others, cut)
                    deal(other, mine, cut)
                    is_lower = True
                    break


@compiled
def cut_parts(sensitive: Rows, records: NDArray[np.int64], n_items: int, size: int, p: int) -> NDArray[np.int64]:
    """The group of each of ``records``, part by part: of every part the same number in each, and as many as possible.

    Those who hold something, of all parts one after the other, are dealt in turn, then change groups in their part.
    """
    n_parts = len(records) // size
    turn = np.empty(len(records), dtype=np.int64)
    support = np.zeros(n_items, dtype=np.int64)
    most = n_before = 0
    for part in range(n_parts):
        n_holders = 0
        for place in range(size):
            member = part * size + place
            turn[member] = (place + n_before) % size
            first, last = sensitive.indptr[records[member]], sensitive.indptr[records[member] + 1]
            n_holders += last > first
            for j in range(first, last):
                support[sensitive.items[j]] += 1
                most = max(most, support[sensitive.items[j]])
        n_before += n_holders
    group_of = np.empty(len(records), dtype=np.int64)
    for n_groups in range(size, 1, -1):
        allowed = np.empty(n_groups, dtype=np.int64)
        n_allowed = 0
        for group in range(n_groups):
            allowed[group] = n_parts * (size // n_groups + (group < size % n_groups)) // p
            n_allowed += allowed[group]
        if allowed[n_groups - 1] < 1 or n_allowed < most:  # the last one is the smallest
            continue
        cut = Cut(sensitive, records, group_of, np.zeros((n_groups, n_items), dtype=np.int64), allowed)
        for member in range(len(records)):
            group_of[member] = -1
            deal(member, turn[member] % n_groups, cut)
        exchange_excess(size, cut)
        if not any_too_much(cut):
            return group_of
    for member in range(len(records)):
        group_of[member] = 0
    return group_of


@compiled
def any_too_much(cut: Cut) -> bool:
    """Whether a sensitive item occurs too often in a group."""
    for member in range(len(cut.group_of)):
        if has_too_much(member, cut):
            return True
    return False


@compiled
def find_fitting(
    kinds: NDArray[np.int64],
    looked_at: NDArray[np.int64],
    n_free: NDArray[np.int64],
    together: NDArray[np.int64],
    weight: NDArray[np.int64],
    most: int,
) -> int:
    """The kind after which no item occurs more than ``most`` times and that leaves the least room; -1 if there is none.

    Room: the distance to ``most`` of the items that are there, and to 0 of the others, times the weight of an item.
    """
    best, least = np.int64(-1), np.int64(0)
    for kind in looked_at:
        if n_free[kind] == 0:
            continue
        room = np.int64(0)
        fits = True
        for item in range(len(together)):
            after = kinds[kind, item] + together[item]
            if after > most:
                fits = False
                break
            room += (most - after if together[item] > 0 else after) * weight[item]
        if fits and (best < 0 or room < least):
            best, least = kind, room
    return best
