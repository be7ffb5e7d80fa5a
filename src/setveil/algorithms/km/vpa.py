"""VPA, vertical partitioning anonymization: AA on parts of the domain, then on what they publish together.

M. Terrovitis, N. Mamoulis, P. Kalnis: Local and global recoding methods for anonymizing set-valued data. VLDB Journal
20(1), 2011.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` this holds for itemsets of every size.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: that of AA on the records restricted to each part, which have fewer and shorter distinct rows, then that of AA on
the whole, from a cut that is already higher.

What follows the paper (the method as it is generally described, not its pseudocode): the domain is split into parts; AA
makes the records, restricted to a part, k^m-anonymous, for each part alone; the results are joined, and AA runs once
more over the whole, for itemsets with items of several parts. Every item is published the same way everywhere.

Departures from the paper
1. The parts follow the hierarchy: each is what lies below one node of a given depth (option ``depth``, 1 for the
   children of the root). That node is the root of its part: within the part nothing is generalized beyond it. Leaves
   above that depth belong to no part and are left to the last run.
2. A part that occurs in fewer than k records becomes its root, and the last run goes on from there.
3. The last run counts itemsets of every size again, those of one part included: they hold already and cost little to
   skip.
4. AA departs from its own paper as its file says. Its order of nodes is that of the whole data in every part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km.aa import traverse
from setveil.algorithms.km.count_tree import DistinctRecords, node_order, paths_of_count_tree, tree_order_option
from setveil.algorithms.km.cuts import Cut, Move
from setveil.core import Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class VPA(Algorithm):
    """AA below each node of a given depth, then AA over everything."""

    depth: int = option(1, "depth of the nodes that define the parts; 1: the children of the root", least=1)
    tree_order: str = tree_order_option()

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("vpa")
        require_k_records(data, model.k)
        records = DistinctRecords.of_leaves(data, hierarchy, context)
        supports = records.node_supports(hierarchy)
        order = node_order(hierarchy, supports, self.tree_order)
        cut = Cut(hierarchy, data)
        in_order = hierarchy.in_preorder
        is_top = (hierarchy.depth[in_order] == self.depth) & (in_order >= hierarchy.n_items) & (supports[in_order] > 0)
        moves: list[Move] = []
        for top in in_order[is_top].tolist():
            moves += apriori(cut, records, order, top, model, context)
        n_moves = len(moves)
        moves += apriori(cut, records, order, hierarchy.root, model, context)
        details = {
            "ncp": cut.ncp(),
            "parts": int(is_top.sum()),
            "moves_within_parts": n_moves,
            "moves": [move.describe(cut) for move in moves],
        }
        return Recoding.from_cut(data, hierarchy, cut.node_of_leaf, details)


def apriori(
    cut: Cut, records: DistinctRecords, order: NDArray[np.int32], top: int, model: KmAnonymity, context: Context
) -> list[Move]:
    """AA on the nodes below ``top``, from the current cut; nothing is generalized beyond ``top``."""
    is_below = np.zeros(cut.hierarchy.n_nodes, dtype=np.bool_)
    is_below[cut.below(top)] = True
    moves: list[Move] = []
    size = 1
    while model.m == "all" or size <= model.m:
        # Records without what lies elsewhere, or has become ``top`` itself.
        records = records.recode(np.where(is_below[cut.target], cut.target, -1).astype(np.int32))
        if size > records.longest:
            break
        available = order[is_below[order] & cut.is_available[order]]
        paths = paths_of_count_tree(records, cut.hierarchy, available, size)
        moves += traverse(cut, paths, model.k, context)
        size += 1
    return moves
