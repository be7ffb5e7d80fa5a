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

With a hierarchy an entry may be published as a node above it, if that is safe: published labels are counted as opaque
items. For counts, what is shown without a hierarchy stays exact, and only what is left out is raised (``trim_raise``).
For least loss (LM), every entry begins as what a global recoding makes of it and goes down as far as it can
(``trim_lower``), unless leaving out alone loses less. Either way the loss is never above that of leaving out alone.

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

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km.trim_lower import least_loss, told
from setveil.algorithms.km.trim_raise import raise_left_out
from setveil.algorithms.km.trim_search import EFFORTS, Search, number_sets
from setveil.algorithms.km.trim_whole import trim_whole
from setveil.core import Hierarchy, LocalRecoding, Transactions
from setveil.core.label_numbers import label_numbers
from setveil.errors import InputError
from setveil.models import KmAnonymity


@dataclass(frozen=True)
class Trim(Algorithm):
    """Decides for every itemset whether to show it, and lets every record show as much as that allows."""

    weights: Mapping[str, float] | str | None = option(
        None, "what an entry of each item is worth, above 0: a CSV file item,weight; 1 for items not listed"
    )
    effort: str = option("normal", "how long to look for less to leave out", tuple(EFFORTS))
    raising: str = option(
        "counts",
        "with a hierarchy: show what is left out as something more general beside all that is exact (counts), "
        "show entries as what loses least in all (loss), or leave the hierarchy aside (none)",
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
        raises = self.raising != "none" and context.hierarchy is not None
        if raises:
            shown = self._raise(rows, shown.astype(np.int64), value[rows.items], hierarchy, model, context)
        nodes = replace(rows, items=shown).select(np.argsort(order)).items  # in the order of the data
        details = trimmed.details(data, value, nodes >= 0)
        if raises:
            details["entries_raised"] = int((shown >= hierarchy.n_items).sum())
        del rows, leaf, shown, trimmed  # a million records are 40 MB each time
        return LocalRecoding.from_nodes(data, hierarchy, nodes, details)

    def _raise(
        self,
        rows: Transactions,
        shown: NDArray[np.int64],
        value: NDArray[np.float64],
        hierarchy: Hierarchy,
        model: KmAnonymity,
        context: Context,
    ) -> NDArray[np.int32]:
        """The node to publish for each entry, -1 for none; ``shown``: the leaves shown without a hierarchy."""

        def trim(offered: Transactions, worth: NDArray[np.float64], stays: NDArray[np.bool_]) -> NDArray[np.bool_]:
            return trim_rows(offered, worth, model, self.effort, context, is_bounded=False, stays=stays).kept

        least = least_loss(rows, value, model, self.effort, context) if self.raising == "loss" else None
        if least is None or told(least, value, hierarchy) < told(shown, value, hierarchy):
            least = raise_left_out(rows, shown, value, hierarchy, trim)
        return least.astype(np.int32)


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


def trim_rows(
    rows: Transactions,
    value: NDArray[np.float64],
    model: KmAnonymity,
    effort: str,
    context: Context,
    is_bounded: bool = True,
    stays: NDArray[np.bool_] | None = None,
) -> Trimmed:
    """Which entries of the rows to keep; equal rows may be treated differently. The bound is only sought if asked.

    ``stays``: items of which every entry is kept; these entries must be safe by themselves.
    """
    k = model.k
    frequent = rows.supports >= k
    in_play = frequent[rows.items]  # entries of rare items go in any case
    core = rows.keep_items(frequent)
    core_stays = None if stays is None else stays[frequent]
    lost = float(value[rows.items[~in_play]].sum())
    longest = int(core.lengths.max(initial=0))
    kept = np.zeros(rows.n_occurrences, dtype=bool)
    m = 0 if model.m == "all" else max(min(model.m, longest), 1)
    sets = number_sets(core, k, m, context) if m else None
    if sets is None:
        kept[in_play] = trim_whole(core, k, value[frequent], context, core_stays)
        if (
            m != 1 and is_bounded and (pairs := number_sets(core, k, 2, context)) is not None
        ):  # rare pairs are rare itemsets, too
            lost += Search(core, pairs, value[frequent], k, 2, EFFORTS["fast"], context).bound()
        return Trimmed(kept, lost, method="whole records")
    work = Search(core, sets, value[frequent], k, m, EFFORTS[effort], context, core_stays)
    bound = lost + (work.bound() if is_bounded else 0.0)
    work.search()
    if core_stays is not None:
        work.keep(core_stays[core.items])
    kept[in_play] = work.state.kept.astype(bool)
    return Trimmed(kept, bound, len(sets.prefix), int((work.state.count > 0).sum()))
