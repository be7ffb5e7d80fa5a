"""Privacy degree p: in every group each sensitive item belongs to at most one in p of its records.

Sensitive is what the model names and whatever else a grouping counts: a count of an item nobody called sensitive links
it to people all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import InputError, times
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation


class _Fault(NamedTuple):
    item: str
    support: int
    group: int | None
    size: int | None  # of the group; None for an item that records show


def check(published: Published, model: PrivacyDegree, progress: Progress) -> Verdict:
    """Sensitive items that records show first (ascending), then group by group, item by item."""
    for item, support, group, size in _faults(published, model):
        if size is None:
            reason = f'sensitive item "{item}" is published unchanged in {times(support, "record")}.'
        else:
            reason = f'group {group}: {support:,} of {times(size, "record")} hold "{item}", more than one in {model.p}.'
        return Verdict(False, (item,), support, reason, group)
    return Verdict(True)


def violations(
    published: Published, model: PrivacyDegree, progress: Progress, limit: int = 1000
) -> Iterator[Violation]:
    """Each sensitive item that records show, then each one of a group that is too frequent there."""
    for item, support, _, _ in _faults(published, model):
        yield Violation((item,), support)


def _faults(published: Published, model: PrivacyDegree) -> Iterator[_Fault]:
    grouping = published.grouping
    supports = np.bincount(published.items, minlength=len(published.labels))
    for item in published.numbers(published.sensitive(_sensitive(model, grouping))):
        if supports[item]:
            group = None if grouping is None else _first_group(published, grouping, item)
            yield _Fault(published.labels[item], int(supports[item]), group, None)
    if grouping is None:
        return
    known, groups, items, count = _counts(grouping)
    for over in np.flatnonzero(count > known.sizes[groups] // min(model.p, 2**62)).tolist():
        group = int(groups[over])
        label = grouping.sensitive[int(items[over])]
        yield _Fault(label, int(count[over]), int(known.names[group]), int(known.sizes[group]))


def achieved(published: Published, model: PrivacyDegree, progress: Progress) -> dict[str, int | float]:
    """The largest whole degree that holds: the smallest quotient of group size and count. 1 for items that records
    show.
    """
    grouping = published.grouping
    shown = published.numbers(published.sensitive(_sensitive(model, grouping)))
    if shown and np.isin(published.items, shown).any():
        return {"privacy_degree": 1}
    if grouping is None:
        return {}
    known, groups, _, count = _counts(grouping)
    return {"privacy_degree": int((known.sizes[groups] // count).min())} if len(count) else {}


@dataclass(frozen=True, eq=False)
class GroupCounts:
    """The groups of a release and their sensitive counts, as far as the arrays make sense together."""

    names: NDArray[np.int64]  # [groups] as they are called in the release, ascending
    sizes: NDArray[np.int64]  # [groups] records; 0 for a group that only counts know
    group_of: NDArray[np.int64]  # [records] position in ``names``
    group: NDArray[np.int64]  # [counts] position in ``names``
    item: NDArray[np.int64]  # [counts]
    count: NDArray[np.int64]  # [counts]

    @classmethod
    def of(cls, grouping: Grouping) -> GroupCounts:
        """Read them; groups may have any numbers."""
        group_of = np.asarray(grouping.group_of, dtype=np.int64)
        if len(group_of) != grouping.published.n_records:
            raise InputError("the grouping is damaged: not every record has a group.")
        group = np.asarray(grouping.count_group, dtype=np.int64)
        item = np.asarray(grouping.count_item, dtype=np.int64)
        count = np.minimum(np.asarray(grouping.count, dtype=np.int64), 2**31)  # sums cannot overflow
        if not len(group) == len(item) == len(count):
            raise InputError("the sensitive counts are damaged: groups, items and counts differ in number.")
        if len(count) and (count.min() < 0 or item.min() < 0 or item.max() >= len(grouping.sensitive)):
            raise InputError("the sensitive counts are damaged: a count is negative or an item has no label.")
        names, place = np.unique(np.concatenate((group_of, group)), return_inverse=True)
        group_of, group = place[: len(group_of)], place[len(group_of) :]
        sizes = np.bincount(group_of, minlength=len(names)).astype(np.int64)
        return cls(names, sizes, group_of, group, item, count)


def _sensitive(model: PrivacyDegree, grouping: Grouping | None) -> set[str]:
    """What records must not show: the model's items, and those that are counted."""
    if grouping is None:
        return set(model.sensitive)
    return {*model.sensitive, *(grouping.sensitive[item] for item in np.unique(GroupCounts.of(grouping).item).tolist())}


def _counts(grouping: Grouping) -> tuple[GroupCounts, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The groups, and the counts above 0 in order of group, then item."""
    known = GroupCounts.of(grouping)
    chosen = known.count > 0
    # A group and item listed twice count together.
    width = max(len(grouping.sensitive), 1)
    keys, place = np.unique(known.group[chosen] * width + known.item[chosen], return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, place, known.count[chosen])
    return known, keys // width, keys % width, total


def _first_group(published: Published, grouping: Grouping, item: int) -> int:
    """The smallest group in which a record shows the item."""
    known = GroupCounts.of(grouping)
    records = np.searchsorted(published.indptr, np.flatnonzero(published.items == item), side="right") - 1
    return int(known.names[known.group_of[records].min()])
