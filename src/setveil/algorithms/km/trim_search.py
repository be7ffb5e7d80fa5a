"""The search of trim: what records show, so that every itemset is shown by k records or by none.

The phases, in order: records *choose* what they show; itemsets that have become rare are filled up or given up
(*repair*); *anneal* and repair again, and the best is remembered; records get back what takes nothing from others
(*choose safely*), and itemsets that nobody shows are *revived*.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np

from setveil.algorithms.base import Context
from setveil.algorithms.km._trim_annealing import anneal_records, exponential_thresholds
from setveil.algorithms.km._trim_itemsets import (
    COUNT,
    ITEM,
    KEPT,
    NEXT,
    PAIRS,
    WANTED,
    Bytes,
    Floats,
    Ints,
    Itemsets,
    Limits,
    Shorts,
    list_holders,
)
from setveil.algorithms.km._trim_records import CAPACITY, CONFLICT, LONGEST, STEP
from setveil.algorithms.km._trim_repair import choose_again, mark_records, repair_itemsets, show_all_next
from setveil.arrays.chance import chance_from
from setveil.arrays.hash_table import shift_for
from setveil.core import Transactions

MOST_LISTED = 30_000_000  # entries of the lists of holders; frequent itemsets go without
MOST_PAIRS = 30_000_000  # pairs of all records whose numbers are remembered; other records look them up each time
LISTED = 100  # times k: itemsets of more records have no list, their items have
STEPS_PER_CALL = 3_000_000  # steps of a compiled call, well below half a second
BREAKS = 1e6  # the price of taking an itemset from others that need it: above any value
PRESSURE, FADING = 0.4, 0.3  # the price of an itemset at k - 1 others per (k - 1) / m, and its decline per record less
CAUTION, MARGIN = 0.6, 10  # its decline per record more, for others may drop it, too; and how far it reaches
SCARCE = 1.6  # times k holders of an itemset
NEAR = 8  # times k: records with an itemset of fewer holders are annealed
SWEEPS = 20  # through all of them, each time
RARE, TEMPERATURE = (0.5, 1.0), (0.3, 0.1)  # at first and at last: the price of rare itemsets, what a change may cost
MOST_REVIVALS = 1_000_000  # itemsets that nobody shows that are looked at each time


class Effort(NamedTuple):
    """How long to look for less to suppress, in counted work: the result must not depend on the machine."""

    fills: int  # how often an itemset is filled up before it is given up
    rounds: int  # of reviving
    longest: int  # items of a record that is searched each time one of its itemsets is at stake, at most
    nodes: int  # of its search tree
    anneals: int  # how often records are annealed, and what has become rare is repaired,
    work: int  # as long as the combinations of m items within records, times m² each time, are no more than this in all


class Search:
    """The search over records of items that k records hold each; ``number_itemsets`` has numbered their itemsets."""

    def __init__(
        self, records: Transactions, numbered: Itemsets, value: Floats, k: int, m: int, effort: Effort, context: Context
    ) -> None:
        self.k, self.effort, self.context, self.value = k, effort, context, value
        self.itemsets, self.support, self.table = numbered
        self.count, self.wanted = self.itemsets[:, COUNT], self.itemsets[:, WANTED]  # views
        lengths = records.lengths
        self.scale = float(value.mean()) if len(value) else 1.0
        peak = self.scale * PRESSURE / m * (k - 1)
        prices = peak * np.append(FADING ** np.arange(k - 1, -1, -1.0), CAUTION ** np.arange(1, MARGIN + 1))
        self.costs = np.append(value, prices)
        # Nothing that k others show is at stake: only what would leave fewer has a price, and it is never paid.
        self.strict_costs = np.concatenate((value, np.zeros(k - 1), [BREAKS * value.max(initial=1.0)]))
        n_combinations = sum(n * comb(length, m) for length, n in enumerate(np.bincount(lengths).tolist()))
        self.n_anneals = min(effort.anneals, effort.work // max(m * m * n_combinations, 1)) if m > 1 else 0
        self.records = np.stack((records.indptr, np.full(records.n_records + 1, -1)), axis=1)
        self.entries = np.ones((records.n_occurrences, 3), dtype=np.int32)
        self.entries[:, ITEM] = records.items
        self.kept = self.entries[:, KEPT]  # a view
        n_pairs = int((lengths * (lengths - 1) // 2).sum()) if m > 1 else 0
        self.pairs = np.empty(min(n_pairs, MOST_PAIRS), dtype=np.int32)
        self.conflicts = np.zeros((2, CAPACITY), dtype=CONFLICT)
        self.stack = np.zeros(max(LONGEST, m) + 2, dtype=STEP)
        self.limits = Limits(
            m, max(records.n_items, 1), shift_for(self.table), k, effort.longest, effort.nodes, effort.fills
        )
        self.steps_per_call = steps_per_call(lengths, m)
        self.everybody = np.arange(records.n_records)
        self.starts, self.holders, self.concerned = self._list_holders(records.n_items)
        self.annealed = np.flatnonzero(self.records[:-1, PAIRS] >= 0)

    def _list_holders(self, n_items: int) -> tuple[Ints, Shorts, Ints]:
        """The records that hold each itemset, as far as there is room, and the records that hold a rare one."""
        listed = self.support.astype(np.int64)
        listed[listed > LISTED * self.k] = 0
        if listed.sum() > MOST_LISTED:
            listed[np.cumsum(np.sort(listed))[np.argsort(np.argsort(listed, kind="stable"))] > MOST_LISTED] = 0
        listed[:n_items] = self.support[:n_items]
        starts = np.append(0, np.cumsum(listed))
        fill = np.where(listed > 0, starts[:-1], -1)
        holders = np.empty(starts[-1], dtype=np.int32)
        near = (self.support < (NEAR * self.k if self.n_anneals else 0)).astype(np.uint8)
        has_rare = np.zeros(len(self.everybody), dtype=np.uint8)
        state = np.zeros(2, dtype=np.int64)
        arrays = self.records, self.entries, self.table, near, self.pairs, fill, holders, has_rare, state
        while state[0] < len(has_rare):
            self.context.step("listing itemsets", float(state[0] / len(has_rare)))
            list_holders(*arrays, self.limits, 5 * STEPS_PER_CALL)
        return starts, holders, np.flatnonzero(has_rare)

    def arrays(self, costs: Floats, **limits: int) -> tuple[Any, ...]:
        """What most loops take first."""
        arrays = self.records, self.entries, self.itemsets, self.table, self.pairs, costs, self.conflicts, self.stack
        return *arrays, self.limits._replace(**limits)

    def through(
        self, stage: str, loop: Callable[..., int], arrays: tuple[Any, ...], chosen: Ints, *more: Any, part: int = 0,
        n_parts: int = 1,
    ) -> None:  # fmt: skip
        """Call a loop until it is through with all that is chosen: it stops after so many steps and says where."""
        done = 0
        while done < len(chosen):
            self.context.step(stage, (part + done / len(chosen)) / n_parts)
            done = loop(*arrays, chosen, done, *more)

    def run(self) -> None:
        """Find something safe to show; anneal and repair it to find something better; then put back what may be."""
        if self.n_anneals:  # a rough beginning will do: what hardly more than k records hold is given up for now
            self.wanted[self.support < SCARCE * self.k] = 0
            self.choose(np.union1d(self.concerned, self.annealed))
            self.repair_all(0)
        else:
            self.choose(self.concerned)
            self.repair_all(self.effort.fills)
        best, most = self.kept.copy(), self._value_kept()
        for number in range(self.n_anneals):
            self.anneal(number)
            self.repair_all(self.effort.fills)
            if self._value_kept() > most:
                best, most = self.kept.copy(), self._value_kept()
        self._show(best)
        self.choose_safely(self.everybody)
        self.revive()

    def anneal(self, number: int) -> None:
        """Let records change at random what they show, at rising prices for rare itemsets; none is given up yet."""
        self.wanted[:] = 1
        chance = chance_from(number)
        distance = np.minimum(np.arange(self.k + 1.0), np.arange(self.k, -1.0, -1.0))
        arrays = self.records, self.entries, self.itemsets, self.table, self.pairs, self.costs, self.stack, self.limits
        for sweep in range(SWEEPS):
            way = sweep / (SWEEPS - 1)
            rises = self.scale * (RARE[0] + way * (RARE[1] - RARE[0])) * np.diff(distance)
            temperature = self.scale * (TEMPERATURE[0] + way * (TEMPERATURE[1] - TEMPERATURE[0]))
            more = rises, temperature * exponential_thresholds(), chance, STEPS_PER_CALL
            self.through("annealing", anneal_records, arrays, self.annealed, *more, part=sweep, n_parts=SWEEPS)

    def choose(self, chosen: Ints) -> None:
        """Let records choose what they show, one after another."""
        self.through("choosing", choose_again, self.arrays(self.costs), chosen, 0, self.steps_per_call)

    def choose_safely(self, chosen: Ints) -> None:
        """The same for records that suppress something, taking nothing from others that need it."""
        self.through("choosing", choose_again, self.arrays(self.strict_costs), chosen, self.k, self.steps_per_call)

    def repair_all(self, most_fills: int) -> None:
        """Fill up or give up until no itemset is shown by fewer than k records, the rarest first."""
        fills = np.zeros(len(self.count), dtype=np.uint8)
        far = (self.k - 1) // 2
        for level in (far, *range(far + 1, self.k - 1, max(self.k // 5, 1)), self.k - 1):
            while len(rare := np.flatnonzero((self.count > 0) & (self.count <= level))):
                if level == far or not most_fills:  # too far from k to be filled up: given up all at once
                    has_list = self.starts[rare + 1] > self.starts[rare]
                    self.wanted[rare[has_list]] = 0
                    self.choose(self._records_with(rare[has_list], must_show=True))
                    rare = rare[~has_list]
                rare = rare[np.argsort(self.count[rare], kind="stable")]
                self._repair("repairing", self.costs, rare, fills)
        self.wanted[:] = self.count >= self.k

    def _records_with(self, numbers: Ints, must_show: bool) -> Ints:
        """The records that hold, or show, one of the itemsets that have a list."""
        found = np.zeros(len(self.everybody), dtype=np.uint8)
        mark_records(self.records, self.entries, self.itemsets, self.starts, self.holders, numbers, must_show, found)
        return np.flatnonzero(found)

    def _repair(self, stage: str, costs: Floats, rare: Ints, fills: Bytes) -> None:
        """Fill up or give up these itemsets, one after another."""
        more = self.starts, self.holders, fills, self.steps_per_call // 10
        self.through(stage, repair_itemsets, self.arrays(costs), rare, *more)

    def revive(self) -> None:
        """Revive itemsets nobody shows, those with most holders first, as long as that brings entries back."""
        for _ in range(self.effort.rounds):
            before, best = self._value_kept(), self.kept.copy()
            was_shown = self.count > 0
            gone = np.flatnonzero(~was_shown)
            gone = gone[np.argsort(-self.support[gone], kind="stable")][:MOST_REVIVALS]
            self._repair("reviving", self.strict_costs, gone, np.zeros(len(was_shown), dtype=np.uint8))
            self.repair_all(self.effort.fills)
            revived = np.flatnonzero((self.count > 0) & ~was_shown)
            self.choose_safely(self._records_with(revived, must_show=False))
            if self._value_kept() <= before:
                self._show(best)
                break

    def _show(self, kept: Shorts) -> None:
        """Back to something shown before."""
        if not np.array_equal(self.kept, kept):
            self.entries[:, NEXT] = kept
            show_all_next(self.records, self.entries, self.itemsets, self.table, self.pairs, self.stack, self.limits)
            self.wanted[:] = self.count >= self.k

    def _value_kept(self) -> float:
        return float((self.count[: len(self.value)] * self.value).sum())


def steps_per_call(lengths: Ints, m: int) -> int:
    """Steps of a call that takes well below half a second.

    Loops count length² steps for a record; beyond pairs a record takes as many as it has itemsets of m items.
    """
    long = min(int(np.quantile(lengths, 0.95)) if len(lengths) else 0, LONGEST)
    share = min(long**2 / max(2 * comb(long, m), 1), 1.0) if long else 1.0
    return max(int(share * STEPS_PER_CALL), STEPS_PER_CALL // 100)
