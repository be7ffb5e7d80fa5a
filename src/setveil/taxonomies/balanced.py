"""Balanced hierarchies over items in ascending order, for data that comes without one: packed, or evenly split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from setveil.core import Hierarchy, Vocabulary
from setveil.errors import InputError


class _Group(NamedTuple):
    """An item, or consecutive groups."""

    first: str
    last: str
    members: tuple[_Group, ...] = ()


Runs = list[Sequence[_Group]]


def balanced(vocabulary: Vocabulary, fanout: int, even: bool = False) -> Hierarchy:
    """Group ``fanout`` consecutive items, then ``fanout`` consecutive groups, and so on up to one root.

    Built from the bottom: every group but the last of its level is full, so that the last branch is a remainder. With
    ``even`` there are as many groups, but their members are spread: groups of a level differ by at most one member.
    A group of one member would only repeat that member, so the member itself moves up a level. An inner node is called
    ``first..last`` after the items at its ends.
    """
    if isinstance(fanout, bool) or not isinstance(fanout, int) or fanout < 2:
        raise InputError(f"the fan-out of a balanced hierarchy must be a whole number of at least 2, not {fanout!r}.")

    def split(level: Sequence[_Group]) -> Runs:
        if even:
            return _spread(level, -(-len(level) // fanout))
        return [level[start : start + fanout] for start in range(0, len(level), fanout)]

    return _grow(vocabulary, split)


def with_levels(vocabulary: Vocabulary, levels: int) -> Hierarchy:
    """An evenly split hierarchy of so many levels, root and items counted: every item lies at the same depth.

    Level j of n items in L levels has the largest whole number of nodes that is at most n^(j / (L-1)): the same fan-out
    everywhere, as nearly as whole numbers allow, and never a node with one child.
    """
    n_items, most = len(vocabulary), len(vocabulary).bit_length()
    if isinstance(levels, bool) or not isinstance(levels, int) or levels < 2:
        raise InputError(f"a hierarchy has at least 2 levels, the items and the root, not {levels!r}.")
    if n_items > 1 and levels > most:
        needed = f"{2 ** (levels - 1):,}" if levels <= 64 else f"2^{levels - 1}"
        raise InputError(f"{levels} levels need at least {needed} items; {n_items:,} have at most {most}.")
    # n_items in the first step, then one level up per step
    sizes = iter([_root(n_items**depth, levels - 1) for depth in range(levels - 2, -1, -1)])
    return _grow(vocabulary, lambda level: _spread(level, next(sizes)))


def _root(number: int, degree: int) -> int:
    """The largest whole number whose power is at most ``number``."""
    low, high = 1, number + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle)
    return low


def _spread(level: Sequence[_Group], n_runs: int) -> Runs:
    """Consecutive runs whose lengths differ by at most one."""
    ends = [len(level) * (run + 1) // n_runs for run in range(n_runs)]
    return [level[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _grow(vocabulary: Vocabulary, split: Callable[[Sequence[_Group]], Runs]) -> Hierarchy:
    """From the items up, a level of groups at a time, until one is left."""
    if not len(vocabulary):
        raise InputError("a balanced hierarchy needs at least one item; the data has none.")
    level: Sequence[_Group] = [_Group(label, label) for label in vocabulary]
    while len(level) > 1:
        level = [_Group(run[0].first, run[-1].last, tuple(run)) if len(run) > 1 else run[0] for run in split(level)]
    parents: list[int] = []
    labels: list[str] = []
    stack = [(level[0], -1)]
    while stack:  # depth first, so that children are numbered in ascending order of their items
        group, parent = stack.pop()
        stack.extend((member, len(parents)) for member in reversed(group.members))
        labels.append(f"{group.first}..{group.last}" if group.members else group.first)
        parents.append(parent)
    tree = Hierarchy.from_parents(parents, labels, derived_from_data=True)  # its leaves are the items that occur
    return replace(tree, has_meaning=False)


def from_words(words: str, vocabulary: Vocabulary) -> Hierarchy:
    """What ``--hierarchy`` calls them: ``fanout:5``, ``fanout:5:even`` or ``levels:4``."""
    kind, *parameters = words.split(":")
    number = int(parameters[0][:18]) if parameters and parameters[0].isdecimal() else 0  # more is as good as that
    if kind == "levels" and number >= 2 and len(parameters) == 1:
        return with_levels(vocabulary, number)
    if kind == "fanout" and number >= 2 and parameters[1:] in ([], ["even"]):
        return balanced(vocabulary, number, even=len(parameters) > 1)
    if kind == "levels":
        raise InputError(f'--hierarchy {words}: write a number of levels of at least 2, as in "levels:4".')
    raise InputError(f'--hierarchy {words}: write a fan-out of at least 2, as in "fanout:5" or "fanout:5:even".')
