"""A balanced hierarchy over items in ascending order, for data that comes without one."""

from __future__ import annotations

from typing import NamedTuple

from setveil.core import Hierarchy, Vocabulary
from setveil.errors import InputError


def balanced(vocabulary: Vocabulary, fanout: int) -> Hierarchy:
    """Group ``fanout`` consecutive items, then ``fanout`` consecutive groups, and so on up to one root.

    Built from the bottom: every group but the last of its level is full. A last group of one member would only repeat
    that member, so the member itself moves up a level. An inner node is called ``first..last`` after the items at its ends.
    """
    if isinstance(fanout, bool) or not isinstance(fanout, int) or fanout < 2:
        raise InputError(f"the fan-out of a balanced hierarchy must be a whole number of at least 2, not {fanout!r}.")
    if not len(vocabulary):
        raise InputError("a balanced hierarchy needs at least one item; the data has none.")
    level = [_Group(label, label) for label in vocabulary]
    while len(level) > 1:
        runs = [level[start : start + fanout] for start in range(0, len(level), fanout)]
        level = [_Group(run[0].first, run[-1].last, tuple(run)) if len(run) > 1 else run[0] for run in runs]
    parents: list[int] = []
    labels: list[str] = []
    stack = [(level[0], -1)]
    while stack:  # depth first, so that children are numbered in ascending order of their items
        group, parent = stack.pop()
        stack.extend((member, len(parents)) for member in reversed(group.members))
        labels.append(f"{group.first}..{group.last}" if group.members else group.first)
        parents.append(parent)
    return Hierarchy.from_parents(parents, labels)


class _Group(NamedTuple):
    """An item, or consecutive groups."""

    first: str
    last: str
    members: tuple[_Group, ...] = ()
