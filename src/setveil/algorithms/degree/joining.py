"""Settle blocks in which a sensitive item is too frequent, by rules that treat all members of a group alike.

Blocks have p records each; a block *fails* if a sensitive item occurs in it twice. A *unit* is a pair of similar
blocks at first (a single block in small data), a *silent* unit one without any sensitive item.

1. Each unit with a failing block takes silent units, drawn at random from all there are, until the degree holds for
   them together. Often a pair needs none.
2. These blocks are *mixed*: every one is cut at random, all in the same way, into as many parts as possible, and each
   new group gets one part of every block, such that the degree holds. If no such cut is found they are one group.
3. If silent units are too few, units are paired along the order (an odd one without a failing block, drawn at random,
   stays as it is), pairs are the units, and all begins again. Only pairs with a failing block are joined.
4. If one unit is left and does not have the degree, all records are one group.

Every decision depends on the numbers of sensitive items per block alone, and treats units alike;
``docs/algorithms/degree/blocks.md`` says what follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions

MOST_TRIES = 100  # random cuts tried for a number of parts


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of equal size, and the sensitive items in them."""

    members: NDArray[np.int64]  # [blocks, size] records
    hidden: Transactions  # the sensitive items of all records

    def largest_counts(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often the most frequent sensitive item of each unit occurs there, int64[units].

        ``units`` are the blocks of each, int64[units, blocks per unit].
        """
        sensitive = self.hidden.select(self.members[units].ravel())
        width = max(sensitive.n_items, 1)
        keys = sensitive.owners // (units.shape[1] * self.members.shape[1]) * width + sensitive.items
        keys, counts = np.unique(keys, return_counts=True)
        most = np.zeros(len(units), dtype=np.int64)
        np.maximum.at(most, keys // width, counts)
        return most


def join_blocks(blocks: Blocks, width: int, rng: np.random.Generator) -> list[NDArray[np.int64]] | None:
    """The records of each group, for blocks of p records; None if all records have to be one group.

    ``width``: so many blocks, one after the other, are a unit at first.
    """
    n_blocks = len(blocks.members)
    units = np.arange(n_blocks).reshape(-1, width)
    fails = blocks.largest_counts(np.arange(n_blocks)[:, None]) > 1
    while (sets := _gather(blocks.largest_counts(units), _is_bad(units, fails), units.shape[1], rng)) is None:
        paired = _pair(units, fails, rng)
        if paired is None:
            return None
        units = paired
    is_alone = np.ones(n_blocks, dtype=bool)
    groups: list[NDArray[np.int64]] = []
    for some in sets:
        is_alone[units[some]] = False
        groups += mix(Blocks(blocks.members[units[some].ravel()], blocks.hidden), rng)
    return [*blocks.members[is_alone], *groups]


def _is_bad(units: NDArray[np.int64], fails: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a unit has a failing block, bool[units]."""
    return np.asarray(fails[units].any(axis=1), dtype=bool)


def _gather(
    most: NDArray[np.int64], is_bad: NDArray[np.bool_], width: int, rng: np.random.Generator
) -> list[NDArray[np.int64]] | None:
    """Each bad unit with the silent units it takes; None if there are too few. ``most``: the largest counts."""
    bad, silent = rng.permutation(np.flatnonzero(is_bad)), rng.permutation(np.flatnonzero(most == 0))
    n_taken = -(-most[bad] // width) - 1
    if n_taken.sum() > len(silent):
        return None
    ends = np.cumsum(n_taken)
    return [np.concatenate(([unit], silent[end - n : end])) for unit, end, n in zip(bad, ends, n_taken, strict=True)]


def mix(blocks: Blocks, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """The groups that a set of blocks makes: one part of every block each, as many as possible."""
    n_blocks, p = blocks.members.shape
    records = blocks.members.ravel()
    sensitive = blocks.hidden.select(records)
    most, width = int(sensitive.supports.max(initial=0)), max(sensitive.n_items, 1)
    for n_groups in range(p, 1, -1):
        sizes = np.full(n_groups, p // n_groups) + (np.arange(n_groups) < p % n_groups)  # what each gets of a block
        allowed = n_blocks * sizes // p
        if allowed.min() < 1 or allowed.sum() < most:
            continue
        parts = np.tile(np.repeat(np.arange(n_groups), sizes), (n_blocks, 1))
        for _ in range(MOST_TRIES):
            group_of = rng.permuted(parts, axis=1).ravel()
            keys, counts = np.unique(group_of[sensitive.owners] * width + sensitive.items, return_counts=True)
            if (counts <= allowed[keys // width]).all():
                return [records[group_of == group] for group in range(n_groups)]
    return [records]


def _pair(units: NDArray[np.int64], fails: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Units of two, one that does not fail left out if their number is odd; None if that is impossible."""
    if len(units) % 2:
        fine = rng.permutation(np.flatnonzero(~_is_bad(units, fails)))
        if not len(fine):
            return None
        units = np.delete(units, fine[0], axis=0)
    return units.reshape(-1, 2 * units.shape[1]) if len(units) else None
