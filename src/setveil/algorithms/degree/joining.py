"""Settle sets of records in which a sensitive item is too frequent, by rules that treat all members of a group alike.

A *part* is a pair of similar blocks of p records each (one block in small data); it *fails* if a sensitive item occurs
in it twice. A *unit* is a part at first. What a unit *holds* is how often each sensitive item occurs in it.

1. Units with a failing part, those that hold the most first, take others with them until the degree holds for all
   together: each time the one that fits and leaves the least room. Room is what the degree would still allow of the
   items that are there; items that were not there yet count against it. The rarer an item, the more its room counts:
   one occurrence in the wrong place is a third of an item that three records hold. Only what units hold decides; who
   of those that hold the same is drawn.
2. These parts are *mixed*: every one is cut, all in the same way, into as many pieces as possible, and each new group
   gets one piece of every part, such that the degree holds. What records hold decides; who of those of one part that
   hold the same goes where is drawn. If no such cut is found the parts are one group.
3. If nothing fits any more, units are paired along the order (an odd one without a failing part, drawn at random, stays
   as it is), pairs are the units, and all begins again. Only pairs with a failing part are settled.
4. If one unit is left and does not have the degree, all records are one group.

Every decision depends on what parts and their records hold, never on which parts and records these are;
``docs/algorithms/degree/blocks.md`` says what follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.degree import _mixing as kernels
from setveil.algorithms.degree._grouping import Rows
from setveil.core import Transactions

MOST_KINDS = 1024  # of units that are looked at: those of which there are the most
SCALE = 1 << 32  # shares of an item's occurrences are compared as whole numbers of this fineness


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of equal size, and the sensitive items in them."""

    members: NDArray[np.int64]  # [parts, size] records
    hidden: Transactions  # the sensitive items of all records
    p: int

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """The place of each record among all, those that hold the most first; equal ones share it."""
        alike = self.hidden.row_ranks()
        order = np.lexsort((alike, -self.hidden.lengths))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.cumsum(np.diff(alike[order], prepend=-1) != 0)
        return ranks

    @property
    def n_blocks(self) -> int:
        """How many blocks a part has: so often each sensitive item may occur in it."""
        return int(self.members.shape[1]) // self.p

    def holdings(self) -> NDArray[np.int64]:
        """How often each sensitive item occurs in each part, int64[parts, items]."""
        sensitive = self.hidden.select(self.members.ravel())
        held = np.zeros((len(self.members), sensitive.n_items), dtype=np.int64)
        np.add.at(held, (sensitive.owners // self.members.shape[1], sensitive.items), 1)
        return held


def join_parts(parts: Parts, rng: np.random.Generator) -> list[NDArray[np.int64]] | None:
    """The records of each group; None if all records have to be one group."""
    held = parts.holdings()
    fails = np.asarray((held > 1).any(axis=1), dtype=bool)
    units = np.arange(len(held))[:, None]  # the parts of each
    while (sets := choose_sets(held[units].sum(axis=1), _is_bad(units, fails), _capacity(parts, units), rng)) is None:
        paired = _pair(units, fails, rng)
        if paired is None:
            return None
        units = paired
    is_alone = np.ones(len(held), dtype=bool)
    groups: list[NDArray[np.int64]] = []
    for some in sets:
        together = units[some].ravel()
        is_alone[together] = False
        groups += mix(parts, rng, together)
    return [*parts.members[is_alone].reshape(-1, parts.p), *groups]


def _is_bad(units: NDArray[np.int64], fails: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a unit has a failing part, bool[units]."""
    return np.asarray(fails[units].any(axis=1), dtype=bool)


def _capacity(parts: Parts, units: NDArray[np.int64]) -> int:
    """How often a sensitive item may occur in a unit."""
    return parts.n_blocks * int(units.shape[1])


def choose_sets(
    held: NDArray[np.int64], is_bad: NDArray[np.bool_], capacity: int, rng: np.random.Generator
) -> list[list[int]] | None:
    """The units that are mixed, in sets that have the degree; None if a bad one finds nothing that fits.

    ``held``: int64[units, items]; ``capacity``: how often an item may occur in a unit.
    """
    if not is_bad.any():
        return []
    free_units = FreeUnits(held, rng)
    sets = []
    for first in free_units.most_sensitive_first(is_bad):
        if free_units.is_taken[first]:
            continue
        free_units.take(first)
        some, together = [first], held[first].copy()
        n_wanted = -(-int(together.max()) // capacity)
        while len(some) < n_wanted:
            other = free_units.take_fitting(together, capacity * n_wanted)
            if other is not None:
                some.append(other)
                together += held[other]
            elif free_units.n_left >= n_wanted + 1 - len(some):
                n_wanted += 1  # with one more there is more room
            else:
                return None
        sets.append(some)
    return sets


class FreeUnits:
    """Units, kept by what they hold: those that hold the same are one *kind*, in an order that is drawn."""

    def __init__(self, held: NDArray[np.int64], rng: np.random.Generator) -> None:
        self.kinds, kind_of, self.n_free = np.unique(held, axis=0, return_inverse=True, return_counts=True)
        self.kind_of = kind_of.ravel()
        self.weight = SCALE // np.maximum(held.sum(axis=0), 1)  # [items] of an occurrence among all of its item
        self.looked_at = self._most_frequent()
        self.drawn = rng.permutation(np.arange(len(held)))
        by_kind = self.drawn[np.argsort(self.kind_of[self.drawn], kind="stable")]
        self.waiting = [units.tolist() for units in np.split(by_kind, np.cumsum(self.n_free)[:-1])]
        self.is_taken = np.zeros(len(held), dtype=bool)
        self.n_left = len(held)

    def most_sensitive_first(self, is_wanted: NDArray[np.bool_]) -> list[int]:
        """The wanted units; kind by kind where they hold equally much."""
        wanted = self.drawn[is_wanted[self.drawn]]
        kind = self.kind_of[wanted]
        units: list[int] = wanted[np.lexsort((kind, -self.kinds.sum(axis=1)[kind]))].tolist()
        return units

    def take(self, unit: int) -> None:
        """This one."""
        self.is_taken[unit] = True
        self.n_free[self.kind_of[unit]] -= 1
        self.n_left -= 1

    def take_fitting(self, together: NDArray[np.int64], most: int) -> int | None:
        """A unit after which no item occurs more than ``most`` times, of the kind that leaves the least room.

        Room: the distance to ``most`` of the items that are there, and to 0 of the others, as a share of an item's
        occurrences.
        """
        if 2 * np.count_nonzero(self.n_free[self.looked_at]) < len(self.looked_at):
            self.looked_at = self._most_frequent()
        kind = kernels.find_fitting(self.kinds, self.looked_at, self.n_free, together, self.weight, most)
        if kind < 0:
            return None
        unit: int = self.waiting[kind].pop()
        while self.is_taken[unit]:
            unit = self.waiting[kind].pop()
        self.take(unit)
        return unit

    def _most_frequent(self) -> NDArray[np.int64]:
        free = np.flatnonzero(self.n_free)
        return np.sort(free[np.argsort(-self.n_free[free], kind="stable")[:MOST_KINDS]])


def mix(parts: Parts, rng: np.random.Generator, chosen: NDArray[np.int64] | None = None) -> list[NDArray[np.int64]]:
    """The groups that parts make which stand together: one piece of every part each, as many as possible.

    ``chosen``: numbers of these parts; None: all.
    """
    members = parts.members if chosen is None else parts.members[chosen]
    size = members.shape[1]
    by_holdings = np.argsort(parts.ranks[members], axis=1, kind="stable")
    records = np.take_along_axis(members, by_holdings, axis=1).ravel()  # part by part, those that hold the most first
    hidden = parts.hidden
    group_of = kernels.cut_parts(Rows(hidden.indptr, hidden.items), records, hidden.n_items, size, parts.p)
    ranks = parts.ranks[records]
    is_new = (ranks[1:] != ranks[:-1]) | (np.arange(1, len(ranks)) % size == 0)
    bounds = [0, *(np.flatnonzero(is_new) + 1).tolist(), len(ranks)]
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):  # of one part, holding the same
        if last - first > 1:
            group_of[first:last] = rng.permutation(group_of[first:last])
    return np.split(records[np.argsort(group_of, kind="stable")], np.cumsum(np.bincount(group_of))[:-1])


def _pair(units: NDArray[np.int64], fails: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Units of two, without one that does not fail if their number is odd; None if that is impossible."""
    if len(units) % 2:
        fine = rng.permutation(np.flatnonzero(~_is_bad(units, fails)))
        if not len(fine):
            return None
        units = np.delete(units, fine[0], axis=0)
    return units.reshape(-1, 2 * units.shape[1]) if len(units) else None
