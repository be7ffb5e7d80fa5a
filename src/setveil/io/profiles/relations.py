"""How columns of a table depend on each other, counted over its rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.io.profiles.cells import CellColumn

LEAST_REPEATED = 5  # values in several rows; below, dependence may be chance


class Dependence(NamedTuple):
    """Whether the rows of one value of a column agree on another column."""

    n_values: int  # values of the first column that several rows have
    n_differing: int  # of those, how many have several values of the second
    by_chance: float  # the share of pairs of rows that agree whatever they have in the first

    @property
    def holds(self) -> bool:
        """Whether (nearly) every value of the first column has one value of the second."""
        return self._agrees(0.95)

    @property
    def holds_always(self) -> bool:
        """The same with next to no exception."""
        return self._agrees(0.999)

    def _agrees(self, share: float) -> bool:
        if self.n_values < LEAST_REPEATED:
            return False
        agreeing = 1 - self.n_differing / self.n_values
        return agreeing >= share and agreeing - self.by_chance >= 0.5 * (1 - self.by_chance)


def dependence(first: CellColumn, second: CellColumn) -> Dependence:
    """How ``second`` depends on ``first``; rows in which one of both is missing are not counted."""
    is_there = (first.numbers >= 0) & (second.numbers >= 0)
    one, other = first.numbers[is_there].astype(np.int64), second.numbers[is_there].astype(np.int64)
    if not len(one):
        return Dependence(0, 0, 1.0)
    n_rows = np.bincount(one, minlength=len(first.texts))
    pairs = np.unique(one * len(second.texts) + other)
    n_others = np.bincount(pairs // len(second.texts), minlength=len(first.texts))
    is_repeated = n_rows > 1
    shares = np.bincount(other) / len(other)
    return Dependence(int(is_repeated.sum()), int((is_repeated & (n_others > 1)).sum()), float((shares * shares).sum()))


def n_pairs(first: CellColumn, second: CellColumn) -> int:
    """How many pairs of values occur."""
    is_there = (first.numbers >= 0) & (second.numbers >= 0)
    keys = first.numbers[is_there].astype(np.int64) * max(len(second.texts), 1) + second.numbers[is_there]
    return len(np.unique(keys))


def is_contiguous(column: CellColumn) -> bool:
    """Whether the rows of (nearly) every value follow each other, as in a file sorted by person."""
    numbers = column.numbers[column.numbers >= 0]
    n_values = len(column.texts)
    if n_values < 2 or len(numbers) < 1.5 * n_values:
        return False
    return int((np.diff(numbers) != 0).sum()) + 1 <= 1.1 * n_values


def counts_rows(column: CellColumn, within: CellColumn | None = None) -> bool:
    """Whether a column of whole numbers counts the rows, 1, 2, 3 …, of the table or of each value of another column."""
    numbers = np.array([int(text) if text.isdecimal() and len(text) < 10 else -1 for text in column.texts] + [-1])
    values: NDArray[np.int64] = numbers[column.numbers]
    if not len(values) or (values < 0).any():
        return False
    if within is None:
        return len(values) > 1 and int(values.max() - values.min()) + 1 == len(values) == len(np.unique(values))
    owners = within.numbers.astype(np.int64)
    order = np.lexsort((values, owners))
    owners, values = owners[order], values[order]
    starts = np.flatnonzero(np.diff(owners, prepend=-2) != 0)
    sizes = np.diff(np.append(starts, len(owners)))
    place = np.arange(len(owners)) - np.repeat(starts, sizes)
    from_first = values - np.repeat(values[starts], sizes)
    is_counted = np.add.reduceat((place != from_first).astype(np.int64), starts) == 0
    several = sizes > 1
    return bool(several.sum() >= LEAST_REPEATED and is_counted[several].mean() >= 0.9 and values[starts].mean() < 2)


def overlap(first: CellColumn, second: CellColumn) -> float:
    """The share of the smaller column's values that the other has, too."""
    one, other = set(first.texts), set(second.texts)
    return len(one & other) / max(min(len(one), len(other)), 1)
