"""A balanced hierarchy over items in ascending order, for data that comes without one."""

from __future__ import annotations

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
    parents = [-1] * len(vocabulary)
    labels = list(vocabulary)
    ends = [(label, label) for label in labels]  # first and last item below each node
    level = list(range(len(labels)))
    while len(level) > 1:
        above = []
        for start in range(0, len(level), fanout):
            members = level[start : start + fanout]
            if len(members) == 1:
                above.append(members[0])
                continue
            node = len(parents)
            for member in members:
                parents[member] = node
            ends.append((ends[members[0]][0], ends[members[-1]][1]))
            parents.append(-1)
            labels.append("..".join(ends[node]))
            above.append(node)
        level = above
    return Hierarchy.from_parents(parents, labels)
