"""What can be known about constraints before anything is merged: met already, beyond merging, infeasible.

Merging inside utility groups can at most publish every group as one item. So a constraint that some record has, and
whose groups fewer than k records have, needs one of its items suppressed, whatever the algorithm. If that takes more
items than may be suppressed, the ask is infeasible. If it does not, an algorithm may still fail: the problem is
NP-hard.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context, require_k_records
from setveil.algorithms.constraints._set_queue import count_sets
from setveil.algorithms.constraints.clusters import Ask, Sets, start_clusters, understand
from setveil.core import Transactions, Vocabulary
from setveil.errors import InfeasibleError, name_some, times
from setveil.models import ConstraintAnonymity, KmAnonymity


@dataclass(frozen=True)
class Contradiction:
    """A constraint that no merging inside the utility groups can meet."""

    constraint: tuple[str, ...]
    groups: tuple[int, ...]  # of its items, counted from 1
    support: int  # records that have all of these groups, fewer than k


@dataclass(frozen=True)
class ConstraintReport:
    """What is known about a ConstraintAnonymity and data before anything is merged."""

    n_constraints: int  # distinct ones
    unknown: dict[str, int]  # item that does not occur in the data → constraints with it; they are met
    met: int  # in no or at least k records already, those with unknown items included
    open: int  # to be protected
    contradictions: tuple[Contradiction, ...]  # need suppression; by size, then ascending
    least_suppressed: int  # at least so many items must be suppressed
    most_suppressed: int  # so many may be
    feasible: bool | None  # None: not known
    reason: str  # one line, empty if nothing speaks against it
    items: tuple[str, ...]  # in the way


def check_constraints(
    data: Transactions, model: ConstraintAnonymity, context: Context | None = None
) -> ConstraintReport:
    """Which constraints are met, which contradict the utility groups, and whether the ask is infeasible."""
    context = context or Context()
    ask = understand(data, model, context)
    distinct = {tuple(dict.fromkeys(constraint)) for constraint in model.constraints}
    occurring = set(ask.data.vocabulary)
    unknown: dict[str, int] = {}
    for constraint in distinct:
        for item in set(constraint) - occurring:
            unknown[item] = unknown.get(item, 0) + 1
    support = _supports(ask, ask.sets)
    n_open = int(((support > 0) & (support < ask.k)).sum())
    widest = widest_supports(ask, support)
    hopeless = find_hopeless(ask, support, widest)
    apart = _disjoint(ask.sets, hopeless)
    reason = ""
    items: tuple[str, ...] = ()
    feasible = None if n_open else True
    try:
        if n_open:
            require_k_records(data, ask.k)
        _require_feasible(ask, hopeless, apart, widest)
    except InfeasibleError as problem:
        reason, items, feasible = str(problem), problem.items, False
    if n_open and model.utility is None and feasible is None:
        feasible = True  # one cluster of all items is in every record
    return ConstraintReport(
        n_constraints=len(distinct),
        unknown=dict(sorted(unknown.items())),
        met=len(distinct) - n_open,
        open=n_open,
        contradictions=tuple(_contradiction(ask, number, widest) for number in hopeless),
        least_suppressed=len(apart),
        most_suppressed=floor(ask.max_suppressed),
        feasible=feasible,
        reason=reason,
        items=items,
    )


def understand_or_explain(data: Transactions, model: KmAnonymity | ConstraintAnonymity, context: Context) -> Ask:
    """The ask in numbers, or an InfeasibleError where that is certain."""
    ask = understand(data, model, context)
    if isinstance(model, ConstraintAnonymity):
        support = _supports(ask, ask.sets)
        if ((support > 0) & (support < ask.k)).any():
            require_k_records(data, ask.k)
        widest = widest_supports(ask, support)
        hopeless = find_hopeless(ask, support, widest)
        _require_feasible(ask, hopeless, _disjoint(ask.sets, hopeless), widest)
    return ask


def require_bound(ask: Ask, cluster_of_slot: NDArray[np.int64], algorithm: str) -> None:
    """An InfeasibleError if more items than allowed were suppressed."""
    gone = np.flatnonzero(cluster_of_slot < 0)
    if len(gone) <= ask.max_suppressed:
        return
    groups, counts = np.unique(ask.group[gone], return_counts=True)
    worst = int(groups[np.argmax(counts)])
    labels = [ask.data.vocabulary[int(slot)] for slot in gone]
    raise InfeasibleError(
        f'"{algorithm}" would have to suppress {_items(len(gone), ask)}, but {_allowed(ask)}; most of them, '
        f"{int(counts.max())}, are "
        f"in utility group {worst + 1}: "
        f"{name_some(ask.data.vocabulary[int(slot)] for slot in gone if ask.group[slot] == worst)}; "
        "allow more, widen the groups, or lower k.",
        items=labels,
    )


def widest_supports(ask: Ask, support: NDArray[np.int64]) -> NDArray[np.int64]:
    """Records with all groups of each constraint, up to k; k for all if no constraint is open."""
    if not ((support > 0) & (support < ask.k)).any():
        return np.full(len(support), ask.k, dtype=np.int64)
    return group_supports(ask, np.zeros(len(ask.slot_items), dtype=bool))


def find_hopeless(ask: Ask, support: NDArray[np.int64], widest: NDArray[np.int64]) -> list[int]:
    """The constraints that need suppression, by size, then ascending; both supports up to k: of items and of their
    groups.
    """
    hopeless = np.flatnonzero((support > 0) & (support < ask.k) & (widest < ask.k))
    sizes = np.diff(ask.sets[0])[hopeless]
    return hopeless[np.argsort(sizes, kind="stable")].tolist()  # type: ignore[no-any-return]


def group_supports(ask: Ask, gone: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Records with all groups of each constraint, up to k, if every group is published whole but for the slots in
    ``gone``.
    """
    n_groups = int(ask.group.max()) + 1
    names = Vocabulary.presorted([f"{number:09d}" for number in range(n_groups)])
    grouped = replace(
        ask,
        data=ask.data.recode(np.where(gone, -1, ask.group), names),
        slot_items=np.arange(n_groups),
        group=np.zeros(n_groups, dtype=np.int32),
        branch=None,
    )
    starts, slots = ask.sets
    kept = ~gone[slots]
    shorter = np.zeros(len(starts), dtype=np.int64)
    np.cumsum(
        np.bincount(np.repeat(np.arange(len(starts) - 1), np.diff(starts))[kept], minlength=len(starts) - 1),
        out=shorter[1:],
    )
    return _supports(grouped, (shorter, ask.group[slots[kept]]))


def _supports(ask: Ask, sets: Sets) -> NDArray[np.int64]:
    """Supports of itemsets in the original, counted up to k."""
    return count_sets(start_clusters(ask), *sets, 0, len(sets[0]) - 1, ask.k)


def _disjoint(sets: Sets, numbers: list[int]) -> list[int]:
    """Constraints without common items: each needs another item suppressed."""
    starts, slots = sets
    taken: set[int] = set()
    chosen = []
    for number in numbers:
        members = set(slots[starts[number] : starts[number + 1]].tolist())
        if not members & taken:
            taken |= members
            chosen.append(number)
    return chosen


def _require_feasible(ask: Ask, hopeless: list[int], apart: list[int], widest: NDArray[np.int64]) -> None:
    if len(apart) <= ask.max_suppressed:
        return
    first = _contradiction(ask, apart[0], widest)
    starts, slots = ask.sets
    blamed = [
        slot for number in apart[: floor(ask.max_suppressed) + 1] for slot in slots[starts[number] : starts[number + 1]]
    ]
    groups = " and ".join(str(group) for group in first.groups)
    more = f" and {times(len(hopeless) - 1, 'more constraint')}" if len(hopeless) > 1 else ""
    raise InfeasibleError(
        f"constraint {{{name_some(first.constraint)}}}{more} cannot be met by generalization. Even with utility "
        f"{'group' if len(first.groups) == 1 else 'groups'} {groups} as one category, it has "
        f"{times(first.support, 'matching record')}, fewer than k={ask.k}. At least {_items(len(apart), ask)} must be "
        f"suppressed, but {_allowed(ask)}; allow more, widen the groups, or lower k.",
        items=[ask.data.vocabulary[int(slot)] for slot in dict.fromkeys(blamed)],
    )


def _contradiction(ask: Ask, number: int, widest: NDArray[np.int64]) -> Contradiction:
    """A hopeless constraint in words; its widest support is below k, and so it was counted to the end."""
    starts, slots = ask.sets
    members = slots[starts[number] : starts[number + 1]]
    return Contradiction(
        tuple(ask.data.vocabulary[int(slot)] for slot in members),
        tuple(int(group) + 1 for group in np.unique(ask.group[members])),
        int(widest[number]),
    )


def _items(count: int, ask: Ask) -> str:
    return f"{times(count, 'item')} ({100 * count / max(len(ask.slot_items), 1):.3g} %)"


def _allowed(ask: Ask) -> str:
    share = float(100 * ask.max_suppressed / max(len(ask.slot_items), 1))
    return f"{floor(ask.max_suppressed):,} are allowed ({share:.3g} %)"
