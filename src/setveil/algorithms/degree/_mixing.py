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

    sensitive: Rows  # what each record holds
    group_of: NDArray[np.int64]  # [records]
    counts: NDArray[np.int64]  # [groups, items] how often each sensitive item occurs in each group
    allowed: NDArray[np.int64]  # [groups] how often one may


@compiled
def holds(record: int, item: int, rows: Rows) -> bool:
    """Whether a record holds an item."""
    for j in range(rows.indptr[record], rows.indptr[record + 1]):
        if rows.items[j] == item:
            return True
    return False


@compiled
def has_too_much(record: int, cut: Cut) -> bool:
    """Whether a record holds an item that occurs too often in its group."""
    group = cut.group_of[record]
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        if cut.counts[group, cut.sensitive.items[j]] > cut.allowed[group]:
            return True
    return False


@compiled
def change_by_leaving(record: int, successor: int, cut: Cut) -> int:
    """How the occurrences that are too many change by what a record takes with it to its successor's group."""
    here, there = cut.group_of[record], cut.group_of[successor]
    change = 0
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        item = cut.sensitive.items[j]
        if not holds(successor, item, cut.sensitive):
            if cut.counts[here, item] > cut.allowed[here]:
                change -= 1
            if cut.counts[there, item] >= cut.allowed[there]:
                change += 1
    return change


@compiled
def move(record: int, group: int, cut: Cut) -> None:
    """Deal a record to another group."""
    for j in range(cut.sensitive.indptr[record], cut.sensitive.indptr[record + 1]):
        cut.counts[cut.group_of[record], cut.sensitive.items[j]] -= 1
        cut.counts[group, cut.sensitive.items[j]] += 1
    cut.group_of[record] = group


@compiled
def exchange_excess(size: int, cut: Cut) -> None:
    """Records with too much change groups with others of their part, ``size`` records, while that lowers the excess."""
    is_lower = True
    while is_lower:
        is_lower = False
        for record in range(len(cut.group_of)):
            if not has_too_much(record, cut):
                continue
            first = record - record % size
            for other in range(first, first + size):
                mine, others = cut.group_of[record], cut.group_of[other]
                if mine == others:
                    continue
                if change_by_leaving(record, other, cut) + change_by_leaving(other, record, cut) < 0:
                    move(record, others, cut)
                    move(other, mine, cut)
                    is_lower = True
                    break
