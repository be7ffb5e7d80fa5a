"""Trim: leave out single entries, as few as possible, and publish the rest as it is.

An own method; the model is that of M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of
set-valued data. VLDB 2008.

Idea. Every record shows a part of its items. An itemset of at most m items is *shown* by the records that show all of
its items, and the release keeps its promise if every itemset is shown by no record or by k records or more. So the
question is which itemsets to give up. Those that fewer than k records hold are given up from the start; every record
drops what it must to show none of them, and each entry dropped makes other itemsets rarer. Four things keep that from
spreading:

1. *Prices.* A record chooses what to leave out by branch and bound over its own itemsets. It pays for each entry, and
   for each itemset that it would leave to fewer than k others, the more the nearer they are to k.
2. *Fill up or give up.* Itemsets shown by fewer than half of k records are given up at once, and their holders choose
   anew. One shown by more, but fewer than k, is either shown by more of its holders or given up, whichever costs less,
   counted over what a change can touch in the records concerned. Rarest first.
3. *Shake.* What is safe then is not the best. Records change at random what they show, at a price for itemsets that
   are rare (``_trim_shake``), and what has become rare is filled up or given up again. That is repeated as the data's
   size allows, and the best is kept.
4. *Back again.* When all is safe, each record takes the best choice among what the others show anyway without taking
   anything from them; and an itemset that nobody shows is revived, if k holders lose nothing in all by showing it at
   once: others may then show more.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` every published record is contained in at least k of them.

Bound. What is left out costs at least ``lower_bound``. Proof: an itemset that fewer than k original records hold is
shown by fewer than k, so by none. Each record therefore leaves out an entry of each of its rare itemsets of at most m
items, which costs it at least the least value of entries that hit all of them. These are costs of different entries
for different records, so they add up. The bound takes the least hitting set where the search is finished. Where it is
not, it takes disjoint rare itemsets, the cheapest entry of each; or disjoint groups of items every two of which are a
rare pair, of which one item can be shown at most: all but the most valuable entry of each.

With a hierarchy an entry that is left out may be published as a node above it, if that is safe: published labels are
counted as opaque items, and the loss (LM) is never above that of leaving out alone, nor above that of a global recoding
by the same hierarchy (``trim_raise``). Where recoding loses less than leaving out, only records that need it are
recoded.

Preconditions: at least k non-empty records.

Cost: the itemsets of at most m items held by k records are numbered and counted, one pass per size; then work in
proportion to the records whose itemsets become rare. With ``m="all"``, and where there are more itemsets than can be
numbered, records are cut to the longest common beginnings instead (``trim_whole``), which keeps every m.

Departures: there is no paper to depart from. Where the search is cut short, less is optimal, never less is safe:
records of more than 64 items drop the item with most dead pairs instead of searching, and ``effort`` says how many
nodes a search has, how long a record may be to be weighed for each of its itemsets, how many holders of an itemset
are looked at before it is given up, and how often records are shaken; the random numbers are always the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.k_anonymity._chance import chance_from
from setveil.algorithms.km._trim_holders import Lists, mark_rows
from setveil.algorithms.km._trim_moves import bound_rows, repair, settle_rows
from setveil.algorithms.km._trim_rows import LONGEST, Scratch, State
from setveil.algorithms.km._trim_scan import count_sets, scan_rows
from setveil.algorithms.km._trim_sets import Sets, count_extensions, move_keys
from setveil.algorithms.km._trim_shake import Mood, luck_table, shake_rows
from setveil.algorithms.km.aa_refine import AARefine
from setveil.algorithms.km.trim_raise import raise_entries
from setveil.algorithms.km.trim_whole import trim_whole
from setveil.core import Hierarchy, LocalRecoding, Transactions
from setveil.core.label_numbers import label_numbers
from setveil.errors import InputError
from setveil.models import KmAnonymity

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


@dataclass(frozen=True)
class Trim(Algorithm):
    """Decides for every itemset whether to show it, and lets every record show as much as that allows."""

    weights: Mapping[str, float] | str | None = option(
        None, "what an entry of each item is worth, above 0: a CSV file item,weight; 1 for items not listed"
    )
    effort: str = option("normal", "how long to look for less to leave out", tuple(EFFORTS))
    raising: bool = option(True, "with a hierarchy: publish entries as something more general before leaving them out")

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> LocalRecoding:
        require_k_records(data, model.k)
        value = item_values(data, self.weights)
        order = data.lexicographic_order()  # so that the order of the input does not matter
        rows = data.select(order)
        trimmed = trim_rows(rows, value, model, self.effort, context)
        hierarchy = context.hierarchy or Hierarchy.balanced(data, max(data.n_items, 2))
        leaf = hierarchy.leaf_of_items(data.vocabulary)[rows.items]
        shown = np.where(trimmed.kept, leaf, np.int32(-1))
        raises = self.raising and context.hierarchy is not None
        if raises:
            shown = raise_entries(
                rows,
                shown.astype(np.int64),
                value[rows.items],
                hierarchy,
                lambda some: recode_rows(some, model, context),
                lambda raised, worth: trim_rows(raised, worth, model, self.effort, context, is_bounded=False).kept,
            ).astype(np.int32)
        nodes = replace(rows, items=shown).select(np.argsort(order)).items  # in the order of the data
        details = trimmed.details(data, value, nodes >= 0)
        if raises:
            details["entries_raised"] = int((shown >= hierarchy.n_items).sum())
        del rows, leaf, shown, trimmed  # a million records are 40 MB each time
        return LocalRecoding.from_nodes(data, hierarchy, nodes, details)

    @classmethod
    def compile_backwards(cls) -> None:
        """First what repairs, then what shakes, what settles, and what bounds."""
        rows = Transactions.from_lists([["a", "b"], ["a", "b"], ["a", "c"], ["b", "c"]])
        sets = number_sets(rows, 2, 2, Context())
        assert sets is not None
        work = _Work(rows, sets, np.ones(rows.n_items), 2, 2, EFFORTS["normal"], Context())
        work.repair_some(work.state, np.arange(1), np.zeros(len(work.state.count), dtype=np.uint8), "repairing")
        work.shake(0)
        work.settle()
        work.bound()


@dataclass(frozen=True, eq=False)
class Trimmed:
    """What is kept of rows, and what must at least be lost."""

    kept: NDArray[np.bool_]  # [entries]
    lower_bound: float
    n_possible: int = 0  # itemsets that k records hold
    n_shown: int = 0
    method: str = "itemsets"

    def details(self, data: Transactions, value: NDArray[np.float64], kept: NDArray[np.bool_]) -> dict[str, object]:
        """For the record of the run."""
        total = float((data.supports * value).sum())
        lost = float((np.bincount(data.items[~kept], minlength=data.n_items) * value).sum())
        return {
            "entries_left_out": int((~kept).sum()),
            "entries": data.n_occurrences,
            "share_left_out": lost / total if total else 0.0,
            "lower_bound": self.lower_bound / total if total else 0.0,
            "times_the_bound": lost / self.lower_bound if self.lower_bound else (1.0 if not lost else None),
            "itemsets_possible": self.n_possible,
            "itemsets_shown": self.n_shown,
            "method": self.method,
        }


def item_values(data: Transactions, weights: Mapping[str, float] | str | None) -> NDArray[np.float64]:
    """The value of an entry of each item, float64[n_items]."""
    if weights is None:
        return np.ones(data.n_items)
    given = label_numbers(weights, "weight")
    strangers = [label for label in given if label not in data.vocabulary]
    if strangers:
        raise InputError(f'weight of "{strangers[0]}": the data has no such item; check the spelling.')
    for label, weight in given.items():
        if not 0.001 <= weight <= 1000:
            raise InputError(f'weight of "{label}" is {weight:g}; it must be from 0.001 to 1000.')
    return np.array([given.get(label, 1.0) for label in data.vocabulary])


def recode_rows(rows: Transactions, model: KmAnonymity, context: Context) -> NDArray[np.int64] | None:
    """The node of each entry in a global recoding; None if too few rows have any, and for whole records (m="all")."""
    if model.m == "all" or np.count_nonzero(rows.lengths) < model.k or context.hierarchy is None:
        return None
    cut = AARefine().run(rows, model, context).node_of_leaf
    return None if cut is None else cut[context.hierarchy.leaf_of_items(rows.vocabulary)[rows.items]].astype(np.int64)


def trim_rows(
    rows: Transactions,
    value: NDArray[np.float64],
    model: KmAnonymity,
    effort: str,
    context: Context,
    is_bounded: bool = True,
) -> Trimmed:
    """Which entries of the rows to keep; equal rows may be treated differently. The bound is only sought if asked."""
    k = model.k
    frequent = rows.supports >= k
    in_play = frequent[rows.items]  # entries of rare items go in any case
    core = rows.keep_items(frequent)
    lost = float(value[rows.items[~in_play]].sum())
    longest = int(core.lengths.max(initial=0))
    kept = np.zeros(rows.n_occurrences, dtype=bool)
    m = 0 if model.m == "all" else max(min(model.m, longest), 1)
    sets = number_sets(core, k, m, context) if m else None
    if sets is None:
        kept[in_play] = trim_whole(core, k, value[frequent], context)
        if (
            m != 1 and is_bounded and (pairs := number_sets(core, k, 2, context)) is not None
        ):  # rare pairs are rare itemsets, too
            lost += _Work(core, pairs, value[frequent], k, 2, EFFORTS["fast"], context).bound()
        return Trimmed(kept, lost, method="whole records")
    work = _Work(core, sets, value[frequent], k, m, EFFORTS[effort], context)
    bound = lost + (work.bound() if is_bounded else 0.0)
    work.search()
    kept[in_play] = work.state.kept.astype(bool)
    return Trimmed(kept, bound, len(sets.prefix), int((work.state.count > 0).sum()))


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
            count_extensions(rows.indptr, rows.items, sets, size, (keys, counts), state, 10 * SLICE)
            if steps + state[3] > MOST_STEPS or state[2] > 4 * MOST_SETS:
                return None
            if state[2] > len(keys) * 5 // 8:
                capacity = 1 << int(2 * state[2]).bit_length()
                table = np.full(capacity, -1, dtype=np.int64), np.zeros(capacity, dtype=np.int32)
                move_keys(keys, counts, *table)
                keys, counts = table
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


class _Work:
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
    ) -> None:
        n_sets, n_entries = len(sets.prefix), rows.n_occurrences
        self.k, self.sets, self.effort, self.context = k, sets, effort, context
        self.rows = np.arange(rows.n_records)
        self.scale = scale = float(value.mean()) if len(value) else 1.0
        peak = scale * PRESSURE / m * (k - 1)
        prices = peak * np.append(FADING ** np.arange(k - 1, -1, -1.0), CAUTION ** np.arange(1, MARGIN + 1))
        lengths = rows.lengths
        n_pairs = int((lengths * (lengths - 1) // 2).sum()) if m > 1 else 0
        n_combinations = sum(n * comb(length, m) for length, n in enumerate(np.bincount(lengths).tolist()))
        self.shakes = min(effort.shakes, effort.work // max(m * m * n_combinations, 1)) if m > 1 else 0
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
        self.strict = self.state._replace(price=np.append(np.zeros(k - 1), BREAKS * scale))
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
        total, done = 0.0, 0
        while done < len(self.concerned):
            self.context.step("bounding", done / len(self.concerned))
            done, more = bound_rows(free, self.sets, self.room, self.concerned, done, SLICE)
            total += more
        return total

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
        done = 0
        while done < len(rows):
            self.context.step("choosing", done / len(rows))
            done = settle_rows(state, self.sets, self.room, rows, done, k, SLICE)

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
        done = 0
        settings = (self.k, self.effort.fills, self.effort.others, SLICE // 10)
        numbers = rare.astype(np.int32)
        while done < len(numbers):
            self.context.step(stage, done / len(numbers))
            done = repair(state, self.sets, self.room, self.lists, numbers, tries, done, settings)


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
