"""Settle blocks in which a sensitive item is too frequent, by rules that treat all members of a group alike.

Blocks have p records each; a block *fails* if a sensitive item occurs in it twice. A *unit* is a block at first, a
*silent* unit one without any sensitive item.

1. Each unit with a failing block takes silent units, drawn at random from all there are, until the degree holds for
   them together; generously, so that the number of their blocks divides p, unless silent units are too few for that.
2. These blocks are *mixed*: every one is cut at random into as many parts of equal size as divide both p and the number
   of blocks, and each new group gets one part of every block, such that the degree holds. If no such cut is found
   they are one group.
3. If silent units are too few, units are paired along the order (an odd one without a failing block, drawn at random,
   stays as it is), pairs are the units, and all begins again. Only pairs with a failing block are joined.
4. If one unit is left and does not have the degree, all records are one group.

Every decision depends on the numbers of sensitive items per block alone, and treats units alike;
``docs/algorithms/degree/blocks.md`` says what follows from that.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

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


def join_blocks(blocks: Blocks, rng: np.random.Generator) -> list[NDArray[np.int64]] | None:
    """The records of each group, for blocks of p records; None if all records have to be one group."""
    n_blocks, p = blocks.members.shape
    units = np.arange(n_blocks)[:, None]
    fails = blocks.largest_counts(units) > 1
    while (sets := _gather(blocks.largest_counts(units), _is_bad(units, fails), units.shape[1], p, rng)) is None:
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
    most: NDArray[np.int64], is_bad: NDArray[np.bool_], width: int, p: int, rng: np.random.Generator
) -> list[NDArray[np.int64]] | None:
    """Each bad unit with the silent units it takes; None if there are too few. ``most``: the largest counts."""
    bad, silent = rng.permutation(np.flatnonzero(is_bad)), rng.permutation(np.flatnonzero(most == 0))
    for is_generous in (True, False):
        n_taken = [n_blocks_together(int(most[unit]), width, p, is_generous) // width - 1 for unit in bad]
        if sum(n_taken) <= len(silent):
            ends = np.cumsum(n_taken)
            return [
                np.concatenate(([unit], silent[end - n : end])) for unit, end, n in zip(bad, ends, n_taken, strict=True)
            ]
    return None


def n_blocks_together(most: int, width: int, p: int, is_generous: bool) -> int:
    """How many blocks make a set: a multiple of ``width``, at least ``most``; generously, one that divides p."""
    least = -(-most // width) * width
    if is_generous:
        for number in range(least, p + 1, width):
            if p % number == 0:
                return number
    return least


def mix(blocks: Blocks, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """The groups that a set of blocks makes: one part of every block each, as many as possible."""
    n_blocks, p = blocks.members.shape
    largest = gcd(p, n_blocks)
    for n_parts in (number for number in range(largest, 1, -1) if largest % number == 0):
        for _ in range(MOST_TRIES):
            cut = rng.permuted(blocks.members, axis=1).reshape(n_blocks, n_parts, -1)
            groups = Blocks(cut.transpose(1, 0, 2).reshape(n_parts, -1), blocks.hidden)
            if (groups.largest_counts(np.arange(n_parts)[:, None]) * n_parts <= n_blocks).all():
                return list(groups.members)
    return [blocks.members.ravel()]


def _pair(units: NDArray[np.int64], fails: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Units of two, one that does not fail left out if their number is odd; None if that is impossible."""
    if len(units) % 2:
        fine = rng.permutation(np.flatnonzero(~_is_bad(units, fails)))
        if not len(fine):
            return None
        units = np.delete(units, fine[0], axis=0)
    return units.reshape(-1, 2 * units.shape[1]) if len(units) else None
