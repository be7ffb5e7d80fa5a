"""Few holders that meet every demand, and how few they can be at least."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km.covering import WHOLE, CoveringProgram
from setveil.algorithms.uncertainty._cover import give_back, take_forced, take_greedily
from setveil.algorithms.uncertainty.demands import Demands

MOST_IN_PARTS = 200_000  # entries of a program that is solved in parts of holders
MOST_IN_WHOLES = 20_000  # and in whole ones
MOST_NODES = 500  # of the search tree: a number, not a time, so that every run gives the same


def cover(
    demands: Demands, weights: NDArray[np.int64], rank: NDArray[np.int64], context: Context, is_bounded: bool = True
) -> tuple[NDArray[np.int64], int]:
    """How many of each holder to take, and the least number that any choice takes.

    Where a row needs all its holders they are taken. For the others: the program in parts of holders, its whole parts
    and the holder with most unmet rows next, what is not needed given back; the program in whole holders, where small.
    """
    work = _Work(demands, weights, rank)
    taken, left, spare = np.zeros(len(weights), dtype=np.int64), demands.least.copy(), weights.copy()
    forced = take_forced(demands.bounds, demands.owners, left, spare, work.by_owner, work.rows, taken)
    rest = demands.select(np.flatnonzero(left > 0))
    if not len(rest):
        return taken, forced
    rest = Demands(rest.bounds, rest.owners, left[left > 0])
    work = _Work(rest, spare, rank)
    chosen, bound = work.greedy(np.zeros_like(spare)), _packing_bound(rest)
    if is_bounded and len(rest.owners) <= MOST_IN_PARTS and chosen.sum() > bound:
        chosen, bound = _solve(rest, work, chosen, bound, context)
    return taken + chosen, forced + bound


class _Work:
    """Rows, and the rows of each holder."""

    def __init__(self, demands: Demands, spare: NDArray[np.int64], rank: NDArray[np.int64]) -> None:
        self.demands, self.spare, self.rank = demands, spare, rank
        self.by_owner, self.rows = demands.by_owner(len(spare))

    def greedy(self, start: NDArray[np.int64]) -> NDArray[np.int64]:
        """A choice that has ``start``, but for what is not needed."""
        taken, spare, left = start.copy(), self.spare - start, self.demands.left(start)
        take_greedily(left, spare, self.rank, self.by_owner, self.rows, self.demands.bounds, self.demands.owners, taken)
        uses = np.diff(self.by_owner)
        give_back(left, np.lexsort((-self.rank, uses)), self.by_owner, self.rows, taken)
        return taken


def _solve(
    rest: Demands, work: _Work, chosen: NDArray[np.int64], bound: int, context: Context
) -> tuple[NDArray[np.int64], int]:
    used, columns = np.unique(rest.owners, return_inverse=True)
    none = np.empty((0, 2), dtype=np.int32)
    ones = np.ones(len(used), dtype=np.int64)
    program = CoveringProgram(ones, none, np.empty((0, 3), dtype=np.int32), none, 0.0, work.spare[used], MOST_NODES)
    program.require(np.split(columns.astype(np.int32), rest.bounds[1:-1]), rest.least)
    step = lambda: context.step("least number of entries to suppress")  # noqa: E731
    is_small = len(rest.owners) <= MOST_IN_WHOLES
    for whole in (False, True):
        if chosen.sum() <= bound or (whole and not is_small):
            break
        start = chosen[used].astype(np.float64) if whole else None
        solution = program.solve(whole, step, start=start)
        if np.isfinite(solution.bound):
            bound = max(bound, ceil(solution.bound - WHOLE))
        if solution.values is not None:
            start_from = np.zeros_like(chosen)
            start_from[used] = np.floor(solution.values + (WHOLE if not whole else 0.5)).astype(np.int64)
            better = work.greedy(np.minimum(start_from, work.spare))
            chosen = better if better.sum() < chosen.sum() else chosen
    return chosen, bound


def _packing_bound(demands: Demands) -> int:
    """Rows that share no holder, few holders first: their demands add up."""
    lengths = np.diff(demands.bounds)
    is_used = np.zeros(int(demands.owners.max(initial=-1)) + 1, dtype=bool)
    total = 0
    for row in np.lexsort((-demands.least, lengths)).tolist():
        owners = demands.owners[demands.bounds[row] : demands.bounds[row + 1]]
        if not is_used[owners].any():
            is_used[owners] = True
            total += int(demands.least[row])
    return total
