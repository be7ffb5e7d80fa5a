"""Pluck: suppress single entries of sensitive items, as few as possible, and publish the rest as it is.

An own method; the model is that of J. Cao, P. Karras, C. Raïssi, K.-L. Tan: ρ-uncertainty: inference-proof transaction
anonymization. PVLDB 3(1), 2010.

Idea. Only entries of sensitive items are suppressed, so the support of an itemset χ of public items stays what it is.
If more than ⌊ρ·sup(χ)⌋ records have χ and the sensitive item α, the surplus of them must lose α: a row of a covering
program over the records with α, the *holders*. With ``p="all"`` only the χ matter that are intersections of holders,
and these stay the same or become fewer when holders lose α. So all rows are listed once, and the program falls apart
into one per sensitive item. Three steps:

1. *Public knowledge.* For each sensitive item the rows are listed and holders are chosen that meet them: rows that need
   all their holders, then HiGHS in parts of holders, rounded, or in whole holders where the program is small; greedily
   beyond that size.
2. *Sensitive knowledge.* An attacker may know other sensitive items. For each pair of sensitive items, in turn, the
   records with the one are searched for what reveals the other, and more entries are suppressed, until nothing is
   revealed: suppressing one item makes itemsets with it rarer.
3. *Back again.* What step 2 made unnecessary in step 1 is published again, in records without other sensitive items.

Guarantee: in the published data no itemset of at most p items reveals a further sensitive item with more than ρ.

Bound. The optima of step 1, or bounds below them, add up: they are about entries of different items, and every release
that suppresses entries of sensitive items only must meet these rows. If the release suppresses no more than that, it
suppresses least. Rows with other sensitive items are not part of the bound: their supports change.

Preconditions: none. Suppressing all entries of the sensitive items is always an answer.

Cost: a walk over the itemsets of each sensitive item's holders, in proportion to the records that have them.

Departures: there is no paper to depart from. Among holders that serve equally well one is drawn by the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.bounds import OPTIMUM, describe_entries
from setveil.algorithms.uncertainty._cover import give_back
from setveil.algorithms.uncertainty.cover import cover
from setveil.algorithms.uncertainty.demands import Demands, allowed_counts, find_demands, whole_holders
from setveil.core import Hierarchy, Transactions
from setveil.core.row_order import bounds_of, entries_of
from setveil.models import Uncertainty
from setveil.releases import LocalRecoding


@dataclass(frozen=True)
class Pluck(Algorithm):
    """Chooses the records that lose a sensitive item by a covering program, with a proven lower bound."""

    def run(self, data: Transactions, model: Uncertainty, context: Context) -> LocalRecoding:
        order = data.lexicographic_order()  # so that the order of the input does not matter
        work = Plucking(data.select(order), model, context)
        for item in work.sensitive:
            work.pluck_public(item)
        is_changed = True
        while is_changed:
            is_changed = False
            for item, other in permutations(work.sensitive, 2):
                is_changed |= work.pluck_known(item, other)
        for item in work.sensitive:
            work.restore(item)
        kept = np.empty(data.n_occurrences, dtype=bool)
        kept[entries_of(data.indptr, order)[1]] = work.kept
        hierarchy = context.hierarchy or Hierarchy.balanced(data, max(data.n_items, 2))
        leaf = hierarchy.leaf_of_items(data.vocabulary)[data.items]
        nodes = np.where(kept, leaf, np.int32(-1))
        return LocalRecoding.from_nodes(data, hierarchy, nodes, work.details())


class Plucking:
    """Records in lexicographic order, and which of their entries are kept so far."""

    def __init__(self, rows: Transactions, model: Uncertainty, context: Context) -> None:
        self.rows, self.model, self.context = rows, model, context
        self.sensitive = sorted(item for item in rows.vocabulary.numbers(model.sensitive).tolist() if item >= 0)
        self.is_public = np.ones(rows.n_items, dtype=bool)
        self.is_public[self.sensitive] = False
        self._current: Transactions | None = None
        self.public = rows.keep_items(self.is_public)
        self.kept = np.ones(rows.n_occurrences, dtype=bool)
        self.owners = rows.owners
        self.allowed = allowed_counts(model, rows.n_records)
        self.key = np.random.default_rng(context.seed).permutation(rows.n_records)
        self.bound = 0
        self.public_rows: dict[int, tuple[Demands, NDArray[np.int64]]] = {}  # demands, and the record of each holder
        positions = np.flatnonzero(~self.is_public[rows.items])
        self.positions = {item: positions[rows.items[positions] == item] for item in self.sensitive}

    @property
    def size_limit(self) -> int | None:
        return None if self.model.p == "all" else self.model.p

    def holders(self, item: int) -> NDArray[np.int64]:
        """The records that show a sensitive item, ascending."""
        positions = self.positions[item]
        shown: NDArray[np.int64] = self.owners[positions[self.kept[positions]]]
        return shown

    def pluck_public(self, item: int) -> None:
        """Suppress entries of ``item`` until no public items reveal it."""
        self.bound += self._pluck_unique(item, None)
        demands, holders, groups = self._demands(item, self.holders(item), None)
        weights = np.bincount(groups)
        taken, bound = cover(demands, weights, self._rank(holders, groups), self.context)
        self.bound += bound
        # One column per record from here on: equal records may be treated differently.
        self.public_rows[item] = _spread(demands, groups), holders
        self._suppress(item, holders, groups, taken)

    def pluck_known(self, item: int, other: int) -> bool:
        """Suppress entries of ``item`` until it is not revealed by itemsets with ``other``; whether any had to be."""
        n_unique = self._pluck_unique(item, other)
        demands, holders, groups = self._demands(item, self._holders_of_both(item, other), other)
        if not len(demands):
            return n_unique > 0
        rank = self._rank(holders, groups)
        taken, _ = cover(demands, np.bincount(groups), rank, self.context, is_bounded=False)
        self._suppress(item, holders, groups, taken)
        return True

    def restore(self, item: int) -> None:
        """Publish again what is suppressed for no reason, in records that show no other sensitive item.

        There the item is revealed by public items at most, and it makes itemsets with it more frequent.
        """
        demands, holders = self.public_rows[item]
        shown = np.zeros(self.rows.n_records, dtype=np.int64)
        for other in self.sensitive:
            shown[self.holders(other)] += 1
        is_gone = np.ones(len(holders), dtype=bool)
        is_gone[np.searchsorted(holders, self.holders(item))] = False
        taken = (is_gone & (shown[holders] == 0)).astype(np.int64)
        before = taken.copy()
        by_key = np.argsort(self.key[holders])
        give_back(demands.left(is_gone), by_key, *demands.by_owner(len(holders)), taken)
        self._show(item, holders[taken < before], True)

    def details(self) -> dict[str, object]:
        """For the record of the run."""
        suppressed, total = int((~self.kept).sum()), sum(len(positions) for positions in self.positions.values())
        return {
            OPTIMUM: describe_entries(suppressed, total, self.bound),
            "entries_suppressed": suppressed,
            "sensitive_entries": total,
            "lower_bound": self.bound,
            "gap": (suppressed - self.bound) / suppressed if suppressed else 0.0,
            "proven": suppressed == self.bound,
            "suppressed_by_item": {
                self.rows.vocabulary[item]: int((~self.kept[positions]).sum())
                for item, positions in self.positions.items()
            },
        }

    def _holders_of_both(self, item: int, other: int | None) -> NDArray[np.int64]:
        holders = self.holders(item)
        return holders if other is None else np.intersect1d(holders, self.holders(other), assume_unique=True)

    def _pluck_unique(self, item: int, other: int | None) -> int:
        """Suppress ``item`` in records all of whose other items no further record has; in how many.

        With ``p="all"`` every release must do so. Without these records few itemsets are left to look at.
        """
        n_gone = 0
        while self.size_limit is None:
            holders = self._holders_of_both(item, other)
            shown, others = self._shown(item, holders, other)
            distinct = shown.distinct()
            found = whole_holders(distinct.rows, distinct.weights, others, self.allowed)
            taken = np.zeros(len(distinct.weights), dtype=np.int64)
            forced = found.owners[found.least == distinct.weights[found.owners]]
            if not len(forced):
                break
            taken[forced] = distinct.weights[forced]
            n_gone += int(taken.sum())
            self._suppress(item, holders, distinct.inverse, taken)
        return n_gone

    def _demands(
        self, item: int, holders: NDArray[np.int64], other: int | None
    ) -> tuple[Demands, NDArray[np.int64], NDArray[np.int64]]:
        """What reveals ``item``: public items, or all items beside ``other``. Demands over groups of equal holders,
        the holders, and the group of each.
        """
        self.context.step(f'what reveals "{self.rows.vocabulary[item]}"')
        shown, others = self._shown(item, holders, other)
        distinct = shown.distinct()
        limit = self.size_limit if self.size_limit is None or other is None else self.size_limit - 1
        demands = find_demands(distinct.rows, distinct.weights, others, limit, self.allowed, self.context)
        return demands, holders, distinct.inverse

    def _shown(self, item: int, holders: NDArray[np.int64], other: int | None) -> tuple[Transactions, Transactions]:
        """The holders, and the records that are not, over what an attacker may know besides ``other``; only records
        with ``other``.
        """
        if other is None:
            is_other = np.ones(self.rows.n_records, dtype=bool)
            is_other[holders] = False
            return self.public.select(holders), self.public.select(np.flatnonzero(is_other))
        if self._current is None:
            self._current = self.rows.keep_occurrences(self.kept)
        is_kept = np.ones(self.rows.n_items, dtype=bool)
        is_kept[[item, other]] = False
        rest = np.setdiff1d(self.holders(other), holders, assume_unique=True)
        return self._current.select(holders).keep_items(is_kept), self._current.select(rest).keep_items(is_kept)

    def _rank(self, holders: NDArray[np.int64], groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """The smallest key of each group."""
        rank = np.full(int(groups.max(initial=-1)) + 1, self.rows.n_records, dtype=np.int64)
        np.minimum.at(rank, groups, self.key[holders])
        return rank

    def _suppress(
        self, item: int, holders: NDArray[np.int64], groups: NDArray[np.int64], taken: NDArray[np.int64]
    ) -> None:
        """So many records of each group lose the item, those with the smallest keys."""
        order = np.lexsort((self.key[holders], groups))
        sizes = np.bincount(groups, minlength=len(taken))
        place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self._show(item, holders[order[place < np.repeat(taken, sizes)]], False)

    def _show(self, item: int, records: NDArray[np.int64], is_shown: bool) -> None:
        """Show the item in some records, or not."""
        positions = self.positions[item]
        self.kept[positions[np.isin(self.owners[positions], records)]] = is_shown
        self._current = None


def _spread(demands: Demands, groups: NDArray[np.int64]) -> Demands:
    """The same rows with a column per record instead of one per group."""
    sizes = np.bincount(groups, minlength=int(demands.owners.max(initial=-1)) + 1)
    by_group = np.argsort(groups, kind="stable")
    first = np.cumsum(sizes) - sizes
    repeats = sizes[demands.owners]
    ends = bounds_of(repeats)
    offset = np.arange(ends[-1]) - np.repeat(ends[:-1], repeats)
    owners = by_group[np.repeat(first[demands.owners], repeats) + offset].astype(np.int32)
    return Demands(ends[demands.bounds], owners, demands.least)
