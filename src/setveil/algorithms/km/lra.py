"""LRA, local recoding anonymization: AA on parts of similar records.

M. Terrovitis, N. Mamoulis, P. Kalnis: Local and global recoding methods for anonymizing set-valued data. VLDB Journal
20(1), 2011.

Guarantee: in the published data every itemset of at most m published items that occurs, occurs in at least k records;
with ``m="all"`` this holds for itemsets of every size. Published items are distinguished by their label alone.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: sorting the records, then that of AA for each part; one part is in work at a time.

What follows the paper (the method as it is generally described, not its pseudocode): the records are sorted in Gray
order, so that similar ones are neighbours; the sequence is cut into parts of equal size; AA finds a cut of the
hierarchy for each part alone. An itemset that occurs in a part occurs in k records of that part, so the parts together
are k^m-anonymous, whatever the others publish.

Departures from the paper
1. The number of parts is an option; there are never more than let every part have k records. Sizes differ by at most
   one, larger parts first. Empty records belong to no part.
2. In the Gray order the first item depth first in the hierarchy is the most significant bit (option ``bits``), so that
   neighbours have related items. Equal records at the border of two parts are divided by their order in the data
   alone, which cannot be seen in what is published.
3. AA departs from its own paper as its file says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.count_tree import tree_order_option
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import LocalRecoding

BITS = ("hierarchy", "frequency", "id")


@dataclass(frozen=True)
class LRA(Algorithm):
    """Sorts the records, cuts the sequence into parts, and lets AA generalize each part for itself."""

    parts: int = option(2, "the number of parts; fewer if a part would have less than k records", least=1)
    bits: str = option(
        "hierarchy",
        "the most significant bit of the Gray code: the first item depth first, the most frequent, or the first",
        BITS,
    )
    tree_order: str = tree_order_option()

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> LocalRecoding:
        hierarchy = context.need_hierarchy("lra")
        require_k_records(data, model.k)
        bits = depth_first_ranks(data, hierarchy) if self.bits == "hierarchy" else self.bits
        order = gray_order(data, bits)
        order = order[data.lengths[order] > 0]
        parts = np.array_split(order, max(min(self.parts, len(order) // model.k), 1))
        part_of = np.zeros(data.n_records, dtype=np.int64)
        cuts = np.empty((len(parts), hierarchy.n_items), dtype=np.int32)  # the published node of each leaf, by part
        moves = []
        for number, part in enumerate(parts):
            recoding = AA(self.tree_order).run(data.select(part), model, of_part(context, number, len(parts)))
            assert recoding.node_of_leaf is not None
            cuts[number] = recoding.node_of_leaf
            part_of[part] = number
            moves.append(len(recoding.details["moves"]))
        nodes = cuts[part_of[data.owners], hierarchy.leaf_of_items(data.vocabulary)[data.items]]
        return LocalRecoding.from_nodes(data, hierarchy, nodes, {"parts": len(parts), "moves_by_part": moves})


def depth_first_ranks(data: Transactions, hierarchy: Hierarchy) -> NDArray[np.int64]:
    """The rank of each item of the data in the hierarchy's order of leaves, int64[n_items]."""
    return np.argsort(np.argsort(hierarchy.first[hierarchy.leaf_of_items(data.vocabulary)]))


def of_part(context: Context, number: int, n_parts: int) -> Context:
    """The same surroundings, whose progress is that of one part among others."""

    def progress(stage: str, share: float | None) -> None:
        context.progress(f"part {number + 1} of {n_parts}", (number + (share or 0.0)) / n_parts)

    return replace(context, progress=progress)
