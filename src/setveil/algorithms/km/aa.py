"""AA, apriori anonymization.

M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008, section
4.4.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` this holds for itemsets of every size.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: for each size linear in the number of itemsets of the records, not of their expansions; memory one table over the
itemsets of available nodes per thread (at most a quarter of a gigabyte each).

Departures from the paper
1. Support at least k is enough ("more than k" in Definition 1 contradicts the rest), and itemsets that never occur are
   safe.
2. The count-tree is not built. Itemsets of the lowest level are counted; what lies above a frequent one is frequent;
   only what is left can be rare and is counted exactly. Where that table would be too large, each path is counted when
   the traversal reaches it. The order of visits, and so the result, is that of the explicit tree.
3. "Find the generalization that makes J anonymous" needs no search. The tree order puts ancestors first, so when J is
   visited every itemset one step above it has support at least k already: as large as J, it was visited before;
   smaller, it was settled in an earlier round. Raising one item of J to its parent is therefore enough, raising more
   never costs less, and the cheapest parent is taken. Ties: the parent that comes first depth first. (Above a node
   with one child the cost stays the same; the lower node is published.)
4. Nodes with equal support are ordered by more leaves below, then smaller depth, then depth first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from setveil.algorithms.base import Algorithm, Context, require_k_records
from setveil.algorithms.km.count_tree import (
    MAX_PATHS,
    CountedPaths,
    DistinctRecords,
    Paths,
    SingleNodes,
    node_order,
    paths_of_count_tree,
    tree_order_option,
)
from setveil.algorithms.km.cuts import Cut, Move
from setveil.core import Dataset
from setveil.engines.distributed import DistributedDataset
from setveil.models import KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class AA(Algorithm):
    """Fixes rare itemsets of size 1, then 2, … then m, each by raising its cheapest item to the parent."""

    tree_order: str = tree_order_option()

    def run(self, data: Dataset, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("aa")
        require_k_records(data, model.k)
        counts = context.engine.tree_counts(data, hierarchy)
        supports = counts.node_supports()
        order = node_order(hierarchy, supports, self.tree_order)
        cut = Cut(hierarchy, data)
        moves: list[Move] = []
        count_tree_nodes: list[int] = []
        size = 1
        while size <= largest_itemset(data, model, cut, context):
            available = order[cut.is_available[order]]
            if size == 1:
                paths: Paths = SingleNodes(supports, hierarchy, available)
            elif counts.can_count(len(available), size, model.k):
                paths = CountedPaths(counts, hierarchy, available, size, cut.target, context)
            else:
                records = DistinctRecords.of_leaves(data, hierarchy, context).recode(cut.target)
                limit = MAX_PATHS if model.m == "all" else None
                paths = paths_of_count_tree(records, hierarchy, available, size, limit=limit)
            moves += traverse(cut, paths, model.k, context)
            count_tree_nodes.append(paths.n_reached)
            size += 1
        details = {
            "ncp": cut.ncp(),
            "count_tree_nodes": count_tree_nodes,  # by size of itemset: nodes the traversal reached and counted
            "moves": [move.describe(cut) for move in moves],
        }
        return Recoding.from_cut(data, hierarchy, cut.node_of_leaf, details)

    def run_distributed(self, data: DistributedDataset, model: KmAnonymity, context: Context) -> Recoding:
        """The same: only counts are asked for."""
        return self.run(data, model, context)


def largest_itemset(data: Dataset, model: KmAnonymity, cut: Cut, context: Context) -> int:
    """How many items an itemset may have: m, or as many as a recoded record."""
    if model.m != "all":
        return min(model.m, data.longest)
    return DistinctRecords.of_leaves(data, cut.hierarchy, context).recode(cut.target).longest


def traverse(cut: Cut, paths: Paths, k: int, context: Context) -> Iterator[Move]:
    """Visit the rare paths of a count-tree in preorder and make those anonymous that have no node below the cut."""
    while paths.share_done < 1:
        context.step(f"itemsets of size {paths.size}", paths.share_done)
        for path, support in paths.next_rare(k):
            if paths.is_alive(path):
                move = make_anonymous(cut, path, support)
                paths.take_out(cut.below(move.raised[0]))
                yield move


def make_anonymous(cut: Cut, itemset: tuple[int, ...], support: int) -> Move:
    """Raise the item of ``itemset`` whose parent costs least; see departure 3."""
    parents = {int(cut.hierarchy.parent[node]) for node in itemset}
    cheapest = min(parents, key=lambda node: (cut.increase(node), cut.hierarchy.preorder[node]))
    move = Move(itemset, support, (cheapest,), cut.increase(cheapest))
    cut.raise_to(cheapest)
    return move
