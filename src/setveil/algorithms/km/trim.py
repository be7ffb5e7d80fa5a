"""Trim: suppress single entries, as few as possible, and publish the rest as it is.

An own method; the model is that of M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of
set-valued data. VLDB 2008.

Every record shows a part of its items. An itemset of at most m items is *shown* by the records that show all of its
items, and the release meets its guarantee if every itemset is shown by no record or by k records or more. So the
question is which itemsets to give up. docs/algorithms/km/trim.md has pseudo-code and a worked example. *Number* the
itemsets that k records hold (``_trim_itemsets``); search (``trim_search``): *choose* what records show
(``_trim_records``), *repair* (``_trim_repair``), *anneal* (``_trim_annealing``), *revive*. With a hierarchy, generalize
what is suppressed: for counts (``generalizing``) or for least loss (``lowering``), from any safe release.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` every published record is contained in at least k of them.

Bound: what is suppressed costs at least ``lower_bound`` (``_trim_bound`` has the proof).

Preconditions: at least k non-empty records. Cost: the itemsets of at most m items held by k records are counted, one
pass per size; then work in proportion to the records whose itemsets become rare. With ``m="all"``, and where there are
too many itemsets, records show parts that k records share (``whole_records``), which keeps every m.
Departures: none, for there is no paper. Where the search is cut short (``Effort``), less is optimal, never less safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km._trim_bound import bound_of
from setveil.algorithms.km._trim_itemsets import Bools, Floats, Ints, Shorts, number_itemsets
from setveil.algorithms.km.generalizing import generalize_suppressed
from setveil.algorithms.km.lowering import information_kept, lose_least
from setveil.algorithms.km.trim_search import Effort, Search
from setveil.algorithms.km.whole_records import show_common_parts
from setveil.core import Hierarchy, Transactions
from setveil.core.label_numbers import item_values
from setveil.models import KmAnonymity
from setveil.releases import LocalRecoding

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
        value = item_values(data.vocabulary, self.weights)
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
            nodes = generalize_suppressed(rows, shown, value, hierarchy, model, context)
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
        kept[in_play] = show_common_parts(core, k, value[frequent], context)
        if m != 1 and (pairs := number_itemsets(core, k, 2, context)) is not None:  # rare pairs are rare itemsets, too
            lost += bound_of(Search(core, pairs, value[frequent], k, 2, EFFORTS["fast"], context))
        return Trimmed(kept, lost, method="whole records")
    search = Search(core, numbered, value[frequent], k, m, EFFORTS[effort], context)
    bound = lost + bound_of(search)
    search.run()
    kept[in_play] = search.kept.astype(bool)
    return Trimmed(kept, bound, len(numbered.itemsets), int((search.count > 0).sum()))
