"""Trim: suppress single entries, as few as possible, and publish the rest as it is.

An own method; the model is that of M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of
set-valued data. VLDB 2008.

Every record shows a part of its items. An itemset of at most m items is *shown* by the records that show all of its
items, and the release meets its guarantee if every itemset is shown by no record or by k records or more. So the
question is which itemsets to give up. docs/algorithms/km/trim.md has pseudo-code and a worked example. The phases:
*number* the itemsets that k records hold (``_trim_itemsets``); *choose and repair* what records show
(``_trim_records``, ``_trim_repair``); *anneal* (``_trim_annealing``); *put back and revive* what takes nothing from
others (``Search``); *generalize* what is suppressed, if there is a hierarchy (``_trim_hierarchy``).

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` every published record is contained in at least k of them.

Bound. What is suppressed costs at least ``lower_bound``. Proof: an itemset that fewer than k original records hold is
shown by fewer than k, so by none. Each record therefore suppresses an entry of each of its rare itemsets of at most m
items, which costs it at least the least value of entries that hit all of them. These are costs of different entries
for different records, so they add up. ``bound_losses`` counts less where the search for these entries is not finished.

Preconditions: at least k non-empty records. Cost: the itemsets of at most m items held by k records are counted, one
pass per size; then work in proportion to the records whose itemsets become rare. With ``m="all"``, and where there are
too many itemsets, records are cut to the longest common beginnings (``trim_whole``), which keeps every m.
Departures: none, for there is no paper. Where the search is cut short (``Effort``), less is optimal, never less safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any, NamedTuple

import numpy as np

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km._trim_annealing import anneal_records, exponential_thresholds
from setveil.algorithms.km._trim_hierarchy import add_offered, generalize_suppressed, information_kept, lose_least
from setveil.algorithms.km._trim_itemsets import (
    COUNT,
    ITEM,
    KEPT,
    NEXT,
    PAIRS,
    WANTED,
    Bools,
    Bytes,
    Floats,
    Ints,
    Itemsets,
    Limits,
    Shorts,
    list_holders,
    number_itemsets,
    shift_for,
)
from setveil.algorithms.km._trim_records import CAPACITY, CONFLICT, LONGEST, STEP
from setveil.algorithms.km._trim_repair import bound_losses, choose_again, mark_records, repair_itemsets, show_all_next
from setveil.arrays.chance import chance_from
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.core.label_numbers import label_numbers
from setveil.core.row_order import sort_rows
from setveil.errors import InputError
from setveil.models import KmAnonymity
from setveil.releases import LocalRecoding

MOST_LISTED = 30_000_000  # entries of the lists of holders; frequent itemsets go without
MOST_PAIRS = 30_000_000  # pairs of all records whose numbers are remembered; other records look them up each time
LISTED = 100  # times k: itemsets of more records have no list, their items have
STEPS_PER_CALL = 3_000_000  # steps of a compiled call, well below half a second
BOUNDING = 16  # nodes of the search tree of a record for the bound, in hundreds
BREAKS = 1e6  # the price of taking an itemset from others that need it: above any value
PRESSURE, FADING = 0.4, 0.3  # the price of an itemset at k - 1 others per (k - 1) / m, and its decline per record less
CAUTION, MARGIN = 0.6, 10  # its decline per record more, for others may drop it, too; and how far it reaches
SCARCE = 1.6  # times k holders of an itemset
NEAR = 8  # times k: records with an itemset of fewer holders are annealed
SWEEPS = 20  # through all of them, each time
RARE, TEMPERATURE = (0.5, 1.0), (0.3, 0.1)  # at first and at last: the price of rare itemsets, what a change may cost
MOST_REVIVALS = 1_000_000  # itemsets that nobody shows that are looked at each time
MOST_WORK = 60_000_000  # words of 64 records compared to bring entries of whole records back


class Effort(NamedTuple):
    """How long to look for less to suppress, in counted work: the result must not depend on the machine."""

    fills: int  # how often an itemset is filled up before it is given up
    rounds: int  # of reviving
    longest: int  # items of a record that is searched each time one of its itemsets is at stake, at most
    nodes: int  # of its search tree
    anneals: int  # how often records are annealed, and what has become rare is repaired,
    work: int  # as long as the combinations of m items within records, times m² each time, are no more than this in all


EFFORTS = {
    "fast": Effort(0, 0, 24, 1, 0, 0),
    "normal": Effort(3, 1, 64, 4, 8, 10_000_000),
    "best": Effort(3, 12, 64, 4, 24, 240_000_000),
}


@dataclass(frozen=True)
class Trim(Algorithm):
    """Decides for every itemset whether it is published, then publishes as much of every record as this allows."""

    weights: Mapping[str, float] | str | None = option(
        None, "the value of an entry of each item, above 0: a CSV file item,weight; 1 for items not listed"
    )
    effort: str = option(
        "normal", "search effort: more effort suppresses fewer entries and takes longer", tuple(EFFORTS)
    )
    raising: str = option(
        "counts",
        "with a hierarchy: generalize entries that would be suppressed and publish the others unchanged (counts), "
        "generalize for the lowest total loss (loss), or do not use the hierarchy (none)",
        ("counts", "loss", "none"),
    )

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> LocalRecoding:
        require_k_records(data, model.k)
        value = item_values(data, self.weights)
        order = data.lexicographic_order()  # so that the order of the input does not matter
        rows = data.select(order)
        trimmed = trim_rows(rows, value, model, self.effort, context)
        hierarchy = context.hierarchy or Hierarchy.balanced(data, max(data.n_items, 2))
        leaf = hierarchy.leaf_of_items(data.vocabulary)[rows.items]
        shown = np.where(trimmed.kept, leaf, np.int32(-1))
        generalizes = self.raising != "none" and context.hierarchy is not None
        if generalizes:
            shown = self._generalize(rows, shown.astype(np.int64), value[rows.items], hierarchy, model, context)
        nodes = replace(rows, items=shown).select(np.argsort(order)).items  # in the order of the data
        details = trimmed.details(data, value, nodes >= 0)
        if generalizes:
            details["entries_raised"] = int((shown >= hierarchy.n_items).sum())
        del rows, leaf, shown, trimmed  # a million records are 40 MB each time
        return LocalRecoding.from_nodes(data, hierarchy, nodes, details)

    def _generalize(
        self, rows: Transactions, shown: Ints, value: Floats, hierarchy: Hierarchy, model: KmAnonymity, context: Context
    ) -> Shorts:
        """The node to publish for each entry, -1 for none; ``shown``: the leaves shown without a hierarchy."""
        nodes = lose_least(rows, value, model, self.effort, context) if self.raising == "loss" else None
        if nodes is None or information_kept(nodes, value, hierarchy) < information_kept(shown, value, hierarchy):

            def add(owners: Ints, labels: Ints, is_new: Bools, worth: Floats) -> Bools:
                return add_offers(owners, labels, is_new, worth, rows.n_records, model, context)

            nodes = generalize_suppressed(rows, shown, value, hierarchy, add)
        return nodes.astype(np.int32)


@dataclass(frozen=True, eq=False)
class Trimmed:
    """What is kept of rows, and what must at least be lost."""

    kept: Bools  # [entries]
    lower_bound: float
    n_possible: int = 0  # itemsets that k records hold
    n_shown: int = 0
    method: str = "itemsets"

    def details(self, data: Transactions, value: Floats, kept: Bools) -> dict[str, object]:
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


def item_values(data: Transactions, weights: Mapping[str, float] | str | None) -> Floats:
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


def add_offers(
    owners: Ints, labels: Ints, is_new: Bools, worth: Floats, n_records: int, model: KmAnonymity, context: Context
) -> Bools:
    """Which entries to publish, bool[entries]: those that are not new, which are safe by themselves, and of the new
    ones, which are offered, as many as are safe, too.

    ``owners`` ascending; ``labels`` are numbers, as published; ``worth`` of each label, above 0. Where records are
    compared as a whole (m="all"), a label that is new somewhere may be lost where it is not.
    """
    kept = None
    if model.m != "all":
        kept = add_offered(owners, labels, is_new, worth, n_records, model.k, model.m, context)
    if kept is None:
        known, number = np.unique(labels, return_inverse=True)
        vocabulary = Vocabulary.presorted(tuple(map(str, range(len(known)))))
        rows = Transactions.from_pairs(owners, number, n_records, vocabulary)
        stays = np.bincount(number, is_new, len(known)) == 0
        shown = trim_whole(rows, model.k, worth[known], context, stays)
        kept = shown[np.searchsorted(rows.owners * len(known) + rows.items, owners * len(known) + number)]
    return kept


def _steps_per_call(lengths: Ints, m: int) -> int:
    """Steps of a call that takes well below half a second.

    Loops count length² steps for a record; beyond pairs a record takes as many as it has itemsets of m items.
    """
    long = min(int(np.quantile(lengths, 0.95)) if len(lengths) else 0, LONGEST)
    share = min(long**2 / max(2 * comb(long, m), 1), 1.0) if long else 1.0
    return max(int(share * STEPS_PER_CALL), STEPS_PER_CALL // 100)


def trim_rows(rows: Transactions, value: Floats, model: KmAnonymity, effort: str, context: Context) -> Trimmed:
    """Which entries of the rows to keep; equal rows may be treated differently."""
    k = model.k
    frequent = rows.supports >= k
    in_play = frequent[rows.items]  # entries of rare items go in any case
    core = rows.keep_items(frequent)
    lost = float(value[rows.items[~in_play]].sum())
    longest = int(core.lengths.max(initial=0))
    kept = np.zeros(rows.n_occurrences, dtype=bool)
    m = 0 if model.m == "all" else max(min(model.m, longest), 1)
    numbered = number_itemsets(core, k, m, context) if m else None
    if numbered is None:
        kept[in_play] = trim_whole(core, k, value[frequent], context)
        if m != 1 and (pairs := number_itemsets(core, k, 2, context)) is not None:  # rare pairs are rare itemsets, too
            lost += Search(core, pairs, value[frequent], k, 2, EFFORTS["fast"], context).bound()
        return Trimmed(kept, lost, method="whole records")
    search = Search(core, numbered, value[frequent], k, m, EFFORTS[effort], context)
    bound = lost + search.bound()
    search.search()
    kept[in_play] = search.kept.astype(bool)
    return Trimmed(kept, bound, len(numbered.itemsets), int((search.count > 0).sum()))


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
        self.limits = Limits(m, max(records.n_items, 1), shift_for(self.table), effort.longest, effort.nodes)
        self.steps_per_call = _steps_per_call(lengths, m)
        self.everybody = np.arange(records.n_records)
        self.starts, self.holders, self.concerned = self._list_holders(records.n_items)

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

    def _arrays(self, costs: Floats, **limits: int) -> tuple[Any, ...]:
        """What most loops take first."""
        arrays = self.records, self.entries, self.itemsets, self.table, self.pairs, costs, self.conflicts, self.stack
        return *arrays, self.limits._replace(**limits)

    def _through(
        self, stage: str, loop: Callable[..., int], arrays: tuple[Any, ...], chosen: Ints, *more: Any, part: int = 0,
        n_parts: int = 1,
    ) -> None:  # fmt: skip
        """Call a loop until it is through with all that is chosen: it stops after so many steps and says where."""
        done = 0
        while done < len(chosen):
            self.context.step(stage, (part + done / len(chosen)) / n_parts)
            done = loop(*arrays, chosen, done, *more)

    def bound(self) -> float:
        """What the records lose at least, because fewer than k of them hold some itemsets."""
        total = np.zeros(1)
        arrays = self._arrays(np.append(self.value, 0.0), nodes=BOUNDING)
        self._through("bounding", bound_losses, arrays, self.concerned, total, self.steps_per_call)
        return float(total[0])

    def search(self) -> None:
        """Find something safe to show; anneal and repair it to find something better; then put back what may be."""
        if self.n_anneals:  # a rough beginning will do: what hardly more than k records hold is given up for now
            self.wanted[self.support < SCARCE * self.k] = 0
            self.choose(self._with_pairs())
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

    def _with_pairs(self) -> Ints:
        return np.flatnonzero(self.records[:-1, PAIRS] >= 0)

    def anneal(self, number: int) -> None:
        """Let records change at random what they show, at rising prices for rare itemsets; none is given up yet."""
        self.wanted[:] = 1
        chosen, chance = self._with_pairs(), chance_from(number)
        distance = np.minimum(np.arange(self.k + 1.0), np.arange(self.k, -1.0, -1.0))
        arrays = self.records, self.entries, self.itemsets, self.table, self.pairs, self.costs, self.stack, self.limits
        for sweep in range(SWEEPS):
            way = sweep / (SWEEPS - 1)
            rises = self.scale * (RARE[0] + way * (RARE[1] - RARE[0])) * np.diff(distance)
            temperature = self.scale * (TEMPERATURE[0] + way * (TEMPERATURE[1] - TEMPERATURE[0]))
            more = rises, temperature * exponential_thresholds(), chance, STEPS_PER_CALL
            self._through("annealing", anneal_records, arrays, chosen, *more, part=sweep, n_parts=SWEEPS)

    def choose(self, chosen: Ints) -> None:
        """Let records choose what they show, one after another."""
        self._through("choosing", choose_again, self._arrays(self.costs), chosen, 0, self.steps_per_call)

    def choose_safely(self, chosen: Ints) -> None:
        """The same for records that suppress something, taking nothing from others that need it."""
        self._through("choosing", choose_again, self._arrays(self.strict_costs), chosen, self.k, self.steps_per_call)

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
        more = self.starts, self.holders, fills, self.k, self.effort.fills, self.steps_per_call // 10
        self._through(stage, repair_itemsets, self._arrays(costs), rare, *more)

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


# -- whole records ----------------------------------------------------------------------------------------------------


def trim_whole(records: Transactions, k: int, value: Floats, context: Context, stays: Bools | None = None) -> Bools:
    """Which entries to keep, bool[entries], so that every record is contained in k of them: that keeps every m.

    A record shows the longest beginning, most frequent items first, that k records share; all k then show at least as
    much. Then entries come back: a record may show one more item, if what it shows then is contained in what k - 1
    others show. Showing more never takes anything from the others.

    ``stays``: items of which every entry is kept; these entries must be safe by themselves.
    """
    context.step("reducing records to common parts", None)
    if stays is None:
        return bring_back(records, keep_beginnings(records, k, value), k, value, context)
    first = np.where(stays, value.max(initial=0.0) * (records.n_records + 1), value)  # they come first in every row
    shown = keep_beginnings(records, k, first)
    is_cut = np.bincount(records.owners[stays[records.items] & ~shown], minlength=records.n_records) > 0
    # Rows that share a beginning with more than what stays have the same that stays: all of them show the beginning.
    shown = stays[records.items] | (shown & ~is_cut[records.owners])
    return bring_back(records, shown, k, value, context)


def keep_beginnings(records: Transactions, k: int, value: Floats) -> Bools:
    """The longest beginning of each row, frequent and valuable items first, that k rows share."""
    rank = np.empty(records.n_items, dtype=np.int64)
    rank[np.lexsort((np.arange(records.n_items), -records.supports * value))] = np.arange(records.n_items)
    owners = records.owners
    by_rank = np.lexsort((rank[records.items], owners))  # entries of each row, by rank
    ranks = rank[records.items][by_rank].astype(np.int32)
    order, _ = sort_rows(records.indptr, ranks, records.n_items)
    shown = np.zeros(records.n_occurrences, dtype=bool)
    lengths = records.lengths
    # Rows in order, level by level: runs of rows that agree up to here and have one more item in common.
    run = np.zeros(records.n_records, dtype=np.int64)
    alive = order
    depth = 0
    while len(alive):
        has_more = lengths[alive] > depth
        alive, run = alive[has_more], run[has_more]
        if not len(alive):
            break
        here = ranks[records.indptr[alive] + depth]
        new = np.concatenate(([True], (run[1:] != run[:-1]) | (here[1:] != here[:-1])))
        run = np.cumsum(new) - 1
        enough = np.bincount(run)[run] >= k
        alive, run = alive[enough], run[enough]
        shown[by_rank[records.indptr[alive] + depth]] = True
        depth += 1
    return shown


def bring_back(records: Transactions, shown: Bools, k: int, value: Floats, context: Context) -> Bools:
    """Show more items of rows, as long as every row stays contained in k records."""
    n_words = -(-max(records.n_records, 1) // 64)
    if records.n_items * n_words > 4 * MOST_WORK:
        return shown
    holds = np.zeros((records.n_items, n_words * 64), dtype=bool)
    holds[records.items[shown], records.owners[shown]] = True
    bits = np.packbits(holds, axis=1, bitorder="little").view(np.uint64)  # [items, words] the rows that show each item
    del holds
    everyone = np.full(n_words, ~np.uint64(0))
    budget = MOST_WORK
    changed = True
    while changed and budget > 0:
        changed = False
        for row in np.flatnonzero(np.diff(np.append(0, np.cumsum(~shown))[records.indptr]) > 0).tolist():
            start, end = int(records.indptr[row]), int(records.indptr[row + 1])
            entry_indices = np.arange(start, end)
            mine = shown[start:end]
            budget -= n_words * (end - start)
            if budget <= 0:
                break
            context.step("restoring entries", None)
            others = np.bitwise_and.reduce(bits[records.items[entry_indices[mine]]], axis=0, initial=everyone[0])
            gone = entry_indices[~mine]
            worth = records.supports[records.items[gone]] * value[records.items[gone]]
            for place in gone[np.argsort(-worth, kind="stable")]:
                item = records.items[place]
                both = others & bits[item]
                if int(np.bitwise_count(both).sum()) >= k - 1:
                    shown[place] = True
                    bits[item, row // 64] |= np.uint64(1) << np.uint64(row % 64)
                    others = both
                    others[row // 64] |= np.uint64(1) << np.uint64(row % 64)
                    changed = True
    return shown
