"""DA, direct anonymization.

M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008, section
4.3.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` this holds for itemsets of every size.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: at most linear in the number of itemsets of up to m nodes over the expanded distinct records, less what earlier
moves cut off; usually much more than AA, which has settled the smaller itemsets before it looks at larger ones.

Departures from the paper
1. Support at least k is enough, and itemsets that never occur are safe.
2. The count-tree is not built: each path is counted when the traversal reaches it. The order of visits is that of the
   explicit tree.
3. A leaf of the count-tree is a path that no other path extends, at any depth: records with fewer than m items end
   early.
4. The generalization that makes a rare itemset frequent is searched cheapest first: each item goes to itself or to an
   ancestor, targets below another target are absorbed by it, and the first choice with support at least k is taken.
   Ties: fewer generalized nodes, then fewer steps up, then the nodes that come first depth first.
5. An itemset may lie above the cut; only items that are generalized change it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from setveil.algorithms.base import Algorithm, Context, require_k_records
from setveil.algorithms.km.count_tree import (
    MAX_PATHS,
    DistinctRecords,
    NodeIndex,
    Paths,
    node_order,
    paths_of_count_tree,
    tree_order_option,
)
from setveil.algorithms.km.cuts import Cut, Move
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding

Choice = frozenset[int]  # nodes that are to stand for the items of a rare itemset
Order = tuple[int, int, int, tuple[int, ...]]


@dataclass(frozen=True)
class DA(Algorithm):
    """Fixes rare itemsets in one traversal of the count-tree of all sizes up to m."""

    tree_order: str = tree_order_option()

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("da")
        require_k_records(data, model.k)
        records = DistinctRecords.of_leaves(data, hierarchy, context)
        order = node_order(hierarchy, records.node_supports(hierarchy), self.tree_order)
        cut = Cut(hierarchy, data)
        height = max(records.longest if model.m == "all" else min(model.m, records.longest), 1)
        limit = MAX_PATHS if model.m == "all" else None
        paths = paths_of_count_tree(records, hierarchy, order, height, to_leaves=True, limit=limit)
        moves = list(traverse(cut, paths, NodeIndex(records, hierarchy), model.k, context))
        details = {
            "ncp": cut.ncp(),
            "count_tree_nodes": paths.n_reached,  # nodes the traversal reached and counted
            "moves": [move.describe(cut) for move in moves],
        }
        return Recoding.from_cut(data, hierarchy, cut.node_of_leaf, details)


def traverse(cut: Cut, paths: Paths, index: NodeIndex, k: int, context: Context) -> Iterator[Move]:
    """Visit the rare leaves of the count-tree in preorder and make those anonymous that lie on the cut or above it."""
    while paths.share_done < 1:
        context.step("itemsets", paths.share_done)
        for path, support in paths.next_rare(k):
            if paths.is_alive(path):
                raised = find_generalization(cut, index, path, k)
                yield Move(path, support, raised, sum(cut.increase(node) for node in raised))
                for node in raised:
                    cut.raise_to(node)
                    paths.take_out(cut.below(node))


def find_generalization(cut: Cut, index: NodeIndex, itemset: tuple[int, ...], k: int) -> tuple[int, ...]:
    """The nodes to raise the cut to, so that ``itemset`` becomes frequent at the least cost; see departure 4."""
    start = frozenset(itemset)
    seen = {start}
    fringe = [(order_of_choice(cut, start, start), start)]
    best: tuple[Order, Choice] | None = None
    while fringe:
        order, targets = heappop(fringe)
        if best is not None and order[0] > best[0][0]:
            break  # all choices of the best cost have been seen
        if index.support(targets) >= k:
            best = (order, targets) if best is None else min(best, (order, targets))
            continue
        for node in targets:
            higher = absorb(cut.hierarchy, targets, int(cut.hierarchy.parent[node]))
            if higher not in seen:
                seen.add(higher)
                heappush(fringe, (order_of_choice(cut, start, higher), higher))
    assert best is not None, "the root holds all non-empty records"
    return tuple(sorted(best[1] - start))


def order_of_choice(cut: Cut, start: Choice, targets: Choice) -> Order:
    """Cost, generalized nodes, steps up, these nodes depth first: the order in which choices are tried."""
    hierarchy = cut.hierarchy
    raised = targets - start
    steps = sum(min(hierarchy.depth[x] - hierarchy.depth[t] for x in start if hierarchy.covers(t, x)) for t in raised)
    cost = sum(cut.increase(node) for node in raised)
    return cost, len(raised), int(steps), tuple(sorted(hierarchy.preorder[list(raised)].tolist()))


def absorb(hierarchy: Hierarchy, targets: Choice, node: int) -> Choice:
    """The targets with ``node`` among them and nothing below it."""
    return frozenset(target for target in targets if not hierarchy.covers(node, target)) | {node}
