"""The search of ``trim``: itemsets that k records hold are numbered, rows choose what they show, and what has become
rare is filled up or given up until nothing is.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km._trim_holders import Lists, mark_rows
from setveil.algorithms.km._trim_moves import BOUND, REPAIR, SETTLE, Task, work_on
from setveil.algorithms.km._trim_rows import LONGEST, Scratch, State
from setveil.algorithms.km._trim_scan import count_sets, scan_rows
from setveil.algorithms.km._trim_sets import Sets, count_extensions, move_keys
from setveil.algorithms.km._trim_shake import Mood, luck_table, shake_rows
from setveil.arrays.chance import chance_from
from setveil.core import Transactions

MOST_SETS = 20_000_000  # itemsets that are numbered, 12 bytes each and as much again to find them
MOST_STEPS = 4_000_000_000  # of counting them
MOST_LISTED = 30_000_000  # entries of the lists of records per itemset; frequent itemsets go without
MOST_PAIRS = 30_000_000  # pairs of all rows whose numbers are remembered; other rows look them up each time
LISTED = 100  # times k: sets of more rows have no list, their items have
SLICE = 3_000_000  # steps between two signs of life
BOUNDING = 16  # nodes of the search tree of a row for the bound, in hundreds
BREAKS = 1e6  # the price of taking an itemset from others that need it: above any value
PRESSURE, FADING = 0.4, 0.3  # the price of an itemset at k - 1 others per (k - 1) / m, and its decline per record less
CAUTION, MARGIN = 0.6, 10  # its decline per record more, for others may drop it, too; and how far it reaches
SCARCE = 1.6  # times k holders of an itemset
NEAR = 8  # times k: rows with an itemset of fewer holders are shaken
SWEEPS = 20  # through all of them, each time
NO_TRIES = np.zeros(0, dtype=np.uint8)
RARE, HEAT = (0.5, 1.0), (0.3, 0.1)  # at first and at last: the price of rare itemsets, and what a change may cost


class Effort(NamedTuple):
    """How long to look for less to leave out, in counted work: the result must not depend on the machine."""

    fills: int  # how often an itemset is filled up before it is given up
    others: int  # holders weighed for that, those that seem to lose least
    rounds: int  # of reviving
    revivals: int  # itemsets looked at in each
    weighed: int  # items of a row that is weighed each time one of its itemsets is at stake, at most
    nodes: int  # of its search tree
    shakes: int  # how often rows are shaken, and what has become rare is repaired,
    work: int  # as long as the combinations of m items within rows, times m² each time, are no more than this in all


EFFORTS = {
    "fast": Effort(0, 0, 0, 0, 24, 1, 0, 0),
    "normal": Effort(3, 8, 1, 1_000_000, 64, 4, 8, 10_000_000),
    "best": Effort(3, 8, 12, 1_000_000, 64, 4, 24, 240_000_000),
}


def number_sets(rows: Transactions, k: int, m: int, context: Context) -> Sets | None:
    """All itemsets of at most m items that k rows hold, size by size; None if there are too many."""
    n_items = max(rows.n_items, 1)
    sets = Sets(
        np.full(16, -1, dtype=np.int64),
        np.zeros(16, dtype=np.int32),
        np.full(rows.n_items, -1, dtype=np.int32),
        np.arange(rows.n_items, dtype=np.int32),
        rows.supports.astype(np.int32),
        n_items,
        np.uint64(60),
    )
    known = np.empty(0, dtype=np.int64)
    steps = 0
    for size in range(2, m + 1):
        keys, counts = np.full(1 << 16, -1, dtype=np.int64), np.zeros(1 << 16, dtype=np.int32)
        state = np.zeros(4, dtype=np.int64)
        while state[0] < rows.n_records:
            context.step(f"counting itemsets of size {size}", float(state[0] / rows.n_records))
            count_extensions(rows.indptr, rows.items, sets, size, (keys, counts), state, SLICE)
            if steps + state[3] > MOST_STEPS or state[2] > 4 * MOST_SETS:
                return None
            if state[2] > len(keys) * 5 // 8:
                capacity = 1 << int(2 * state[2]).bit_length()
                keys, counts = _moved(keys, counts, capacity, context)
        steps += int(state[3])
        found, support = keys[(keys >= 0) & (counts >= k)], counts[(keys >= 0) & (counts >= k)]
        found, support = found[order := np.argsort(found)], support[order]
        if not len(found):
            break
        known = np.concatenate((known, found))
        if len(known) > MOST_SETS:
            return None
        capacity = max(1 << int(2 * len(known)).bit_length(), 16)
        keys, numbers = np.full(capacity, -1, dtype=np.int64), np.zeros(capacity, dtype=np.int32)
        move_keys(known, np.arange(rows.n_items, rows.n_items + len(known), dtype=np.int32), keys, numbers)
        sets = Sets(
            keys,
            numbers,
            np.concatenate((sets.prefix, (found // n_items).astype(np.int32))),
            np.concatenate((sets.last, (found % n_items).astype(np.int32))),
            np.concatenate((sets.support, support)),
            n_items,
            np.uint64(65 - capacity.bit_length()),
        )
    return sets


def _moved(
    keys: NDArray[np.int64], counts: NDArray[np.int32], capacity: int, context: Context
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same keys in a larger table, with a sign of life in between."""
    table = np.empty(capacity, dtype=np.int64), np.zeros(capacity, dtype=np.int32)
    for start in range(0, capacity, 2 * SLICE):
        context.step("counting itemsets")
        table[0][start : start + 2 * SLICE] = -1
    for start in range(0, len(keys), SLICE):
        context.step("counting itemsets")
        move_keys(keys[start : start + SLICE], counts[start : start + SLICE], *table)
    return table


class Search:
    """The state of the search over rows of items that k rows hold each."""

    def __init__(
        self,
        rows: Transactions,
        sets: Sets,
        value: NDArray[np.float64],
        k: int,
        m: int,
        effort: Effort,
        context: Context,
        stays: NDArray[np.bool_] | None = None,
    ) -> None:
        n_sets, n_entries = len(sets.prefix), rows.n_occurrences
        self.k, self.sets, self.effort, self.context = k, sets, effort, context
        self.rows = np.arange(rows.n_records)
        scale = float(value.mean()) if len(value) else 1.0
        if stays is not None:
            scale = float(value[~stays].mean()) if not stays.all() else 1.0
            value = np.where(stays, BREAKS * value.max(initial=0.0), value)
        self.scale = scale
        peak = scale * PRESSURE / m * (k - 1)
        prices = peak * np.append(FADING ** np.arange(k - 1, -1, -1.0), CAUTION ** np.arange(1, MARGIN + 1))
        lengths = rows.lengths
        n_pairs = int((lengths * (lengths - 1) // 2).sum()) if m > 1 else 0
        n_combinations = sum(n * comb(length, m) for length, n in enumerate(np.bincount(lengths).tolist()))
        self.shakes = (
            min(effort.shakes, effort.work // max(m * m * n_combinations, 1)) if m > 1 and stays is None else 0
        )
        self.state = State(
            rows.indptr,
            rows.items,
            np.ones(n_entries, dtype=np.uint8),
            sets.support.copy(),
            np.ones(n_sets, dtype=np.uint8),
            value,
            np.ones(rows.n_records),
            prices,
            m,
            effort.weighed,
            effort.nodes,
            np.full(rows.n_records, -1, dtype=np.int64),
            np.empty(min(n_pairs, MOST_PAIRS), dtype=np.int32),
        )
        # Nothing that k others show is at stake: only what would leave fewer has a price, and it is never paid.
        self.strict = self.state._replace(price=np.append(np.zeros(k - 1), BREAKS * value.max(initial=1.0)))
        self.room = _room_for(m, int(lengths.max(initial=0)))
        self.lists, self.concerned = self._scan(rows.n_items)

    def _scan(self, n_items: int) -> tuple[Lists, NDArray[np.int64]]:
        """The rows that hold each set, as far as there is room, and the rows that hold a rare one."""
        state = self.state
        listed = self.sets.support.astype(np.int64)
        listed[listed > LISTED * self.k] = 0
        if listed.sum() > MOST_LISTED:
            listed[np.cumsum(np.sort(listed))[np.argsort(np.argsort(listed, kind="stable"))] > MOST_LISTED] = 0
        listed[:n_items] = self.sets.support[:n_items]
        starts = np.zeros(len(listed) + 1, dtype=np.int64)
        np.cumsum(listed, out=starts[1:])
        fill = np.where(listed > 0, starts[:-1], -1)
        holders = np.empty(starts[-1], dtype=np.int32)
        has_rare = np.zeros(len(state.pair_starts), dtype=np.uint8)
        progress = np.zeros(2, dtype=np.int64)
        limits = (10 * SLICE, NEAR * self.k if self.shakes else 0)
        while progress[0] < len(has_rare):
            self.context.step("listing itemsets", float(progress[0] / len(has_rare)))
            scan_rows(state, self.sets, fill, holders, has_rare, progress, limits)
        return (starts, holders), np.flatnonzero(has_rare)

    def bound(self) -> float:
        """What the rows lose at least, because fewer than k of them hold some itemsets."""
        free = self.state._replace(price=np.zeros(1), nodes=BOUNDING)
        return self._work_on(free, self.concerned, Task(BOUND, self.k, SLICE), "bounding")

    def search(self) -> None:
        """Find something safe to show; shake and repair it to find something better; then put back what may be."""
        if self.shakes:  # a rough beginning will do: what hardly more than k rows hold is given up for now
            self.state.wanted[self.sets.support < SCARCE * self.k] = 0
            self._settle(self.state, np.flatnonzero(self.state.pair_starts >= 0), 0)
            self.repair_all(0)
        else:
            self.settle()
            self.repair_all(self.effort.fills)
        best, most = self.state.kept.copy(), self._value_kept()
        for number in range(self.shakes):
            self.shake(number)
            self.repair_all(self.effort.fills)
            if self._value_kept() > most:
                best, most = self.state.kept.copy(), self._value_kept()
        self._show(best)
        self.settle_safely(self.rows)
        self.improve()

    def shake(self, number: int) -> None:
        """Let rows change at random what they show, at ever higher prices for rare itemsets; none is given up yet."""
        self.state.wanted[:] = 1
        rows = np.flatnonzero(self.state.pair_starts >= 0)
        chance = chance_from(number)
        costs = np.minimum(np.arange(self.k + 1.0), np.arange(self.k, -1.0, -1.0))
        luck = luck_table()
        for sweep in range(SWEEPS):
            done, way = 0, sweep / (SWEEPS - 1)
            rise = self.scale * (RARE[0] + way * (RARE[1] - RARE[0]))
            mood = Mood(rise * np.diff(costs), luck, self.scale * (HEAT[0] + way * (HEAT[1] - HEAT[0])))
            while done < len(rows):
                self.context.step("shaking", (sweep + done / len(rows)) / SWEEPS)
                done = shake_rows(self.state, self.sets, self.room, rows, done, mood, chance, SLICE)

    def settle(self) -> None:
        """Let every row choose that holds a rare itemset, one after another."""
        self._settle(self.state, self.concerned, 0)

    def settle_safely(self, rows: NDArray[np.int64]) -> None:
        """Let rows choose anew that leave something out, taking nothing from others that need it."""
        self._settle(self.strict, rows, self.k)

    def _settle(self, state: State, rows: NDArray[np.int64], k: int) -> None:
        self._work_on(state, rows, Task(SETTLE, k, SLICE), "choosing")

    def repair_all(self, fills: int) -> None:
        """Fill up or give up until no itemset is shown by fewer than k rows, the rarest first."""
        tries = np.zeros(len(self.state.count), dtype=np.uint8)
        far = (self.k - 1) // 2
        for level in (far, *range(far + 1, self.k - 1, max(self.k // 5, 1)), self.k - 1):
            while len(rare := np.flatnonzero((self.state.count > 0) & (self.state.count <= level))):
                if level == far or not fills:  # too far from k to be filled up
                    rare = self._give_up(rare)
                rare = rare[np.argsort(self.state.count[rare], kind="stable")]
                self.repair_some(self.state, rare, tries, "repairing")
        self.state.wanted[:] = self.state.count >= self.k

    def _give_up(self, rare: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give up itemsets all at once, and let the rows that show them choose anew; those without a list are left."""
        starts, _ = self.lists
        has_list = starts[rare + 1] > starts[rare]
        given_up, without_list = rare[has_list], rare[~has_list]
        self.state.wanted[given_up] = 0
        self._settle(self.state, self._rows_with(given_up, must_show=True), 0)
        return without_list

    def _rows_with(self, numbers: NDArray[np.int64], must_show: bool) -> NDArray[np.int64]:
        """The rows that hold, or show, one of the itemsets that have a list."""
        found = np.zeros(len(self.rows), dtype=np.uint8)
        mark_rows(self.state, self.sets, self.lists, numbers, must_show, found)
        return np.flatnonzero(found)

    def improve(self) -> None:
        """Revive itemsets nobody shows, those with most holders first, as long as that brings entries back."""
        for _ in range(self.effort.rounds):
            before, best = self._value_kept(), self.state.kept.copy()
            was_shown = self.state.count > 0
            gone = np.flatnonzero(self.state.count == 0)
            gone = gone[np.argsort(-self.sets.support[gone], kind="stable")][: self.effort.revivals]
            self.repair_some(self.strict, gone, np.zeros(len(was_shown), dtype=np.uint8), "reviving")
            self.repair_all(self.effort.fills)
            revived = np.flatnonzero((self.state.count > 0) & ~was_shown)
            self.settle_safely(self._rows_with(revived, must_show=False))
            if self._value_kept() <= before:
                self._show(best)
                break

    def keep(self, entries: NDArray[np.bool_]) -> None:
        """Show these entries, safe by themselves and worth most, in any case; others go wherever an itemset is rare."""
        state = self.state
        owners = np.repeat(self.rows, np.diff(state.indptr))
        is_hurt = np.bincount(owners[entries & (state.kept == 0)], minlength=len(self.rows)) > 0
        state.kept[is_hurt[owners]] = entries[is_hurt[owners]]
        count_sets(self.state, self.sets)
        cheapest_goes, self.effort = self.state._replace(weighed=-1), self.effort._replace(fills=0)
        while len(rare := np.flatnonzero((self.state.count > 0) & (self.state.count < self.k))):
            self.repair_some(cheapest_goes, rare, np.zeros(len(self.state.count), dtype=np.uint8), "repairing")
        self.state.wanted[:] = self.state.count >= self.k
        self.settle_safely(self.rows)

    def _show(self, kept: NDArray[np.uint8]) -> None:
        """Back to something shown before."""
        if not np.array_equal(self.state.kept, kept):
            self.state.kept[:] = kept
            count_sets(self.state, self.sets)
            self.state.wanted[:] = self.state.count >= self.k

    def _value_kept(self) -> float:
        return float((self.state.count[: len(self.state.value)] * self.state.value).sum())

    def repair_some(self, state: State, rare: NDArray[np.int64], tries: NDArray[np.uint8], stage: str) -> None:
        """Fill up or give up these itemsets, one after another."""
        task = Task(REPAIR, self.k, SLICE // 10, self.effort.fills, self.effort.others)
        self._work_on(state, rare, task, stage, tries)

    def _work_on(
        self, state: State, numbers: NDArray[np.int64], task: Task, stage: str, tries: NDArray[np.uint8] = NO_TRIES
    ) -> float:
        done, total = 0, 0.0
        while done < len(numbers):
            self.context.step(stage, done / len(numbers))
            done, more = work_on(state, self.sets, self.room, self.lists, numbers, tries, done, task)
            total += more
        return total


def _room_for(m: int, longest: int) -> Scratch:
    capacity = 1 << 16
    return Scratch(
        dead=np.zeros(capacity, dtype=np.uint64),
        dead_places=np.zeros((capacity, m), dtype=np.uint8),
        dead_size=np.zeros(capacity, dtype=np.uint8),
        cheapest=np.zeros(capacity),
        priced=np.zeros(capacity, dtype=np.uint64),
        prices=np.zeros(capacity),
        priced_places=np.zeros((capacity, m), dtype=np.uint8),
        priced_size=np.zeros(capacity, dtype=np.uint8),
        dead_starts=np.zeros(LONGEST + 1, dtype=np.int64),
        dead_lists=np.zeros(capacity * m, dtype=np.int32),
        price_starts=np.zeros(LONGEST + 1, dtype=np.int64),
        price_lists=np.zeros(capacity * m, dtype=np.int32),
        hits=np.zeros(LONGEST, dtype=np.int64),
        more=np.zeros(LONGEST),
        out=np.zeros(LONGEST + 2, dtype=np.uint64),
        fixed=np.zeros(LONGEST + 2, dtype=np.uint64),
        todo=np.zeros(LONGEST + 2, dtype=np.uint64),
        loss=np.zeros(LONGEST + 2),
        first_open=np.zeros(LONGEST + 2, dtype=np.int64),
        sizes=np.zeros(3, dtype=np.int64),
        alive=np.zeros(LONGEST, dtype=np.uint64),
        at=np.zeros(m + 2, dtype=np.int64),
        number=np.zeros(m + 2, dtype=np.int64),
        mask=np.zeros(m + 2, dtype=np.uint64),
        open=np.zeros(m + 2, dtype=np.uint64),
        show=np.zeros(longest, dtype=np.uint8),
    )
