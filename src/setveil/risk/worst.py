"""What the most identifying items of a person reveal: the worst case over everything that an attacker may know.

The attacker knows up to c items of a person, those that fewest others have. On a release these are labels of the
person's published record; on a release with known columns only records with the same columns match. *Worst singled out*
is the share of all records that some c of their items match alone.

No attacker of ``attackers.py`` who knows c items of a person singles out more, whatever labels they use and however
they match. Let such an attacker know the items S, and let L have one label of the person's own record for each item of
S that the record shows: its own name if the record shows that, else any label that covers it. L has at most c labels.
Every record with all labels of L fits S as well as the person's own, so it is a candidate wherever that one is. If the
person's own record is the only candidate, it is the only record with L.

The figure needs published files only, so the owner and a recipient get the same one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import Lists
from setveil.arrays.threads import for_slices
from setveil.core import Transactions
from setveil.risk._choosing import choose_items
from setveil.risk.intervals import wilson

if TYPE_CHECKING:
    from setveil.risk.assess import RiskRow

PATIENCE = 300_000  # steps of the choice for one record
_AT_ONCE = 50


class Searched(NamedTuple):
    """Drawn records that were searched for items that match them alone."""

    lengths: NDArray[np.int64]  # [records]
    verdicts: NDArray[np.int8]  # [records] 1: there are some, 0: there are none, -1: the search gave up


def with_worst(
    rows: Sequence[RiskRow],
    n_of_length: NDArray[np.int64],
    alone: NDArray[np.int64],
    n_unique: int,
    found: Mapping[int, Searched],
) -> list[RiskRow]:
    """The rows with their worst case.

    ``n_of_length``: records by number of items. ``alone``: [length, c-1] how many of these some c items single out, as
    far as all c were counted. ``n_unique``: records without items that are singled out by their columns. ``found``:
    what a search among drawn records found, by the number of items beyond which nothing was counted.
    """
    n_all, n_counted = int(n_of_length.sum()), alone.shape[1]
    completed = []
    for row in rows:
        if row.singled_out is None:
            completed.append(row)
            continue
        n_alone, drawn = float(n_unique), []  # (records that a sample speaks for, verdicts)
        for length in range(1, len(n_of_length)):
            if min(length, row.known) <= n_counted:
                n_alone += int(alone[length, min(length, row.known) - 1])
        for size in range(n_counted + 1, row.known):  # shorter records, of which everything is known
            some = found.get(size)
            verdicts = np.full(1, -1, np.int8) if some is None else some.verdicts[some.lengths == size]
            if size < len(n_of_length) and n_of_length[size]:
                drawn.append((int(n_of_length[size]), verdicts))
        if row.known > n_counted:
            drawn.append((int(n_of_length[row.known :].sum()), found[row.known].verdicts))
        low = high = value = n_alone
        for n_records, verdicts in drawn:
            surely, possibly = ((verdicts == 1).mean(), (verdicts != 0).mean()) if len(verdicts) else (0.0, 1.0)
            value += n_records * surely
            low += n_records * wilson(float(surely), len(verdicts))[0]
            high += n_records * wilson(float(possibly), len(verdicts))[1]
        interval = (low / n_all, min(high / n_all, 1.0)) if drawn else None
        completed.append(replace(row, worst_singled_out=value / n_all, worst_singled_out_interval=interval))
    return completed


def most_identifying(data: Transactions, own: Lists, size: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Of the items ``own`` of each target up to ``size`` that fewest records have, -1 where fewer are enough, and how
    many records have these. The record of the target must have the items. A long search ends with the best so far.

    ``data``: items of one class must be other ones than those of another; see ``items_by_class``.
    """
    n_targets = len(own[0]) - 1
    least, chosen = np.zeros(n_targets, dtype=np.int64), np.full((n_targets, size), -1, dtype=np.int32)
    where = data.postings, data.supports, own, PATIENCE
    for_slices(
        lambda first, last: choose_items(*where, first, last, least, chosen),
        [(first, min(first + _AT_ONCE, n_targets)) for first in range(0, n_targets, _AT_ONCE)],
    )
    return chosen, least
