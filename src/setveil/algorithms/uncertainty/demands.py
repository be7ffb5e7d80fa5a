"""What makes a sensitive item too certain: itemsets, their holders, and how many holders must go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.uncertainty import _demands
from setveil.arrays.mining import Lists, count_matches, index_rows, invert_rows
from setveil.core import Transactions
from setveil.core.row_order import take_rows
from setveil.errors import InfeasibleError
from setveil.models import Uncertainty

BUDGET = 20_000_000  # steps per compiled call
MOST_STEPS = 40_000_000_000  # per sensitive item


@dataclass(frozen=True, eq=False)
class Demands:
    """Rows of a covering program: of the holders ``owners[bounds[j]:bounds[j+1]]`` at least ``least[j]`` must go."""

    bounds: NDArray[np.int64]
    owners: NDArray[np.int32]
    least: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.least)

    @property
    def row_of(self) -> NDArray[np.int64]:
        """The row of each entry of ``owners``."""
        return np.repeat(np.arange(len(self.least)), np.diff(self.bounds))

    def by_owner(self, n_owners: int) -> Lists:
        """The rows of each holder."""
        return invert_rows(self.bounds, self.owners, n_owners)

    def left(self, taken: NDArray[np.int64] | NDArray[np.bool_]) -> NDArray[np.int64]:
        """What each row still demands, 0 or less for nothing, where ``taken`` says how many of each holder are gone."""
        return self.least - np.bincount(self.row_of, taken[self.owners], len(self)).astype(np.int64)

    def select(self, rows: NDArray[np.int64]) -> Demands:
        """Some rows."""
        return Demands(*take_rows(self.bounds, self.owners, rows), self.least[rows])


def allowed_counts(model: Uncertainty, n_records: int) -> NDArray[np.int64]:
    """How many of 0 … n records may have a sensitive item, without any float."""
    over, under = model.share.numerator, model.share.denominator
    if over * n_records < 2**62:
        return np.arange(n_records + 1, dtype=np.int64) * over // under
    return np.array([count * over // under for count in range(n_records + 1)], dtype=np.int64)


def find_demands(
    holders: Transactions,
    holder_weights: NDArray[np.int64],
    others: Transactions,
    size_limit: int | None,
    allowed: NDArray[np.int64],
    context: Context,
) -> Demands:
    """The demands of all itemsets of at most ``size_limit`` items; without a limit, of those that matter.

    ``holders`` are distinct records with the sensitive item, without it; ``others`` are records that do not have it.
    """
    if size_limit == 0:
        return _empty_itemset(holder_weights, others.n_records, allowed)
    supports = holders.supports
    by_support = np.lexsort((np.arange(len(supports)), -supports))[: int((supports > 0).sum())]
    number = np.full(len(supports), -1, dtype=np.int32)
    number[by_support] = np.arange(len(by_support), dtype=np.int32)
    found = [whole_holders(holders, holder_weights, others, allowed)] if size_limit is None else []
    if size_limit is None:
        number[supports < 2] = -1
    if holders.n_records > (size_limit is None):
        joined = _side_by_side(holders, holder_weights, others, number, size_limit)
        found.extend(_walk(*joined, size_limit, allowed, context))
    if not found:
        return Demands(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))
    ends = np.cumsum([len(part.owners) for part in found])
    bounds = [np.zeros(1, dtype=np.int64)]
    bounds.extend(part.bounds[1:] + end - len(part.owners) for part, end in zip(found, ends.tolist(), strict=True))
    owners, least = np.concatenate([part.owners for part in found]), np.concatenate([part.least for part in found])
    return Demands(np.concatenate(bounds), owners, least)


def _empty_itemset(weights: NDArray[np.int64], n_others: int, allowed: NDArray[np.int64]) -> Demands:
    """The demand of knowing nothing."""
    total = int(weights.sum())
    least = total - int(allowed[total + n_others])
    if least <= 0:
        return Demands(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))
    owners = np.arange(len(weights), dtype=np.int32)
    return Demands(np.array([0, len(owners)], dtype=np.int64), owners, np.array([least], dtype=np.int64))


def whole_holders(
    holders: Transactions, weights: NDArray[np.int64], others: Transactions, allowed: NDArray[np.int64]
) -> Demands:
    """The demands of each holder's items; where they are those of several holders, of all these."""
    queries = (holders.indptr, holders.items)
    none = np.empty(0, dtype=np.int64)
    own = index_rows(holders.indptr, holders.items, holders.n_items)
    both = count_matches(own, weights, queries)
    alone = both + count_matches(index_rows(others.indptr, others.items, others.n_items), none, queries)
    is_empty = holders.lengths == 0
    both[is_empty], alone[is_empty] = weights.sum(), weights.sum() + others.n_records
    least = both - allowed[alone]
    # A holder whose items others have, too, is an intersection of several: the walk lists it.
    rows = np.flatnonzero((least > 0) & (both == weights))
    return Demands(np.arange(len(rows) + 1, dtype=np.int64), rows.astype(np.int32), least[rows])


def _side_by_side(
    holders: Transactions,
    weights: NDArray[np.int64],
    others: Transactions,
    number: NDArray[np.int32],
    size_limit: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], int]:
    """Holders, then others, over renumbered items: bounds, items, weights, how many are holders."""
    without, shown = others.keep_items(number >= 0), holders.keep_items(number >= 0)
    others_weights = np.ones(without.n_records, dtype=np.int64)
    if size_limit is None:  # a deep walk meets each record many times; else finding equal ones takes longer
        without, others_weights, _ = without.distinct()
    indptr = np.concatenate((shown.indptr, shown.indptr[-1] + without.indptr[1:])).astype(np.int64)
    items = number[number >= 0][np.concatenate((shown.items, without.items))]
    return indptr, items.astype(np.int32), np.concatenate((weights, others_weights)), holders.n_records


def _walk(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.int64],
    n_holders: int,
    size_limit: int | None,
    allowed: NDArray[np.int64],
    context: Context,
) -> Iterator[Demands]:
    n_items = int(items.max(initial=-1)) + 1
    longest = int(np.diff(indptr[: n_holders + 1]).max(initial=0))
    levels = np.zeros((longest + 3, 4), dtype=np.int64)
    branches = np.zeros((n_items + 16, 4), dtype=np.int64)
    rows = np.empty(len(weights) + 2 * len(items) + 16, dtype=np.int32)
    rows[: len(weights)] = np.arange(len(weights))
    branches[0] = (-1, 0, n_holders, len(weights))
    levels[0] = (0, 1, len(weights), 0)
    records = np.column_stack((indptr[:-1], indptr[1:], weights))
    known = np.empty(n_items + 1, dtype=np.int32)
    owners = np.empty(max(1_000_000, 2 * int(indptr[n_holders]) + 2 * n_holders), dtype=np.int32)
    found = np.empty((max(100_000, 2 * n_items + 2), 2), dtype=np.int64)
    state = np.zeros(8, dtype=np.int64)
    state[_demands.LIMIT], state[_demands.BUDGET] = size_limit or 0, BUDGET
    answer = _demands.PAUSED
    while answer != _demands.DONE:
        context.step("itemsets that reveal a sensitive item")
        answer = _demands.gather_demands(records, items, levels, branches, rows, known, owners, found, state, allowed)
        n_found, n_owners = int(state[_demands.N_FOUND]), int(state[_demands.N_OWNERS])
        if n_found:
            bounds = np.concatenate(([0], found[:n_found, 0]))
            yield Demands(bounds, owners[:n_owners].copy(), found[:n_found, 1].copy())
        state[_demands.N_FOUND] = state[_demands.N_OWNERS] = 0
        if state[_demands.STEPS] > MOST_STEPS:
            raise InfeasibleError("too many itemsets occur with a sensitive item; choose a smaller -p, as in -p 2.")
        if answer == _demands.FULL:
            rows = np.concatenate((rows, np.empty(max(int(state[_demands.NEED]), len(rows)), dtype=np.int32)))
            branches = np.concatenate((branches, np.zeros((len(branches) + n_items, 4), dtype=np.int64)))
            levels = np.concatenate((levels, np.zeros_like(levels)))
