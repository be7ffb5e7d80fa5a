"""HgHs and mHgHs: heuristic generalization with heuristic suppression, in one round or in m.

J. Liu, K. Wang: Anonymizing transaction data by integrating suppression and generalization. PAKDD 2010.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records; with
``m="all"`` this holds for itemsets of every size. Some items may be suppressed everywhere.

Preconditions: a hierarchy that covers the items; at least k non-empty records.

Cost: HgHs lists the minimal privacy threats of all cuts of the hierarchy (millions for hundreds of items and m=3),
then looks in every step at the threats of every node that could be split. mHgHs does the same for m = 1, 2, … on the
part of the hierarchy above the cut of the round before, which keeps the lists short.

Departures from the paper
1. A threat occurs in the data: 0 < support < k. Minimality is by subset only.
2. Nodes with one child are skipped: splitting one does not change the cost, and would stop the greedy search.
3. Nodes are kept in descending order of what suppressing them would cost; ties: more occurrences, then depth first.
   Costs are compared as whole numbers. Among equally good splits the first depth first is taken, and only if the cost
   falls.
4. mHgHs measures costs on the original hierarchy and chooses what to suppress anew in each round.
5. Records that become empty stay as empty records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, require_k_records
from setveil.algorithms.km._threats import (
    ThreatTree,
    cost_suppression_after_splits,
    find_threats_after_split,
    suppress_greedily,
)
from setveil.algorithms.km.count_tree import DistinctRecords, node_order, sort_within_rows
from setveil.algorithms.km.cuts import Cut
from setveil.algorithms.km.threats import Threats, find_threats
from setveil.core import Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding

TOP, OUTSIDE = -1, -2


@dataclass(frozen=True)
class HgHs(Algorithm):
    """Refines the cut from the root down while that lowers the cost, suppressing what stays too rare."""

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("hghs")
        require_k_records(data, model.k)
        records = DistinctRecords.of_leaves(data, hierarchy, context)
        m = records.longest if model.m == "all" else model.m
        return release(data, [refine(records, Cut(hierarchy, data), model.k, m, context)])


@dataclass(frozen=True)
class MHgHs(Algorithm):
    """HgHs for itemsets of size 1, then 2, … then m; each round starts from the root and ends at or above the last
    cut.
    """

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("mhghs")
        require_k_records(data, model.k)
        records = DistinctRecords.of_leaves(data, hierarchy, context)
        cut = Cut(hierarchy, data)
        rounds: list[Round] = []
        size = 1
        while not rounds or ((model.m == "all" or size <= model.m) and size <= records.longest):
            rounds.append(refine(records, cut, model.k, size, context))
            cut = rounds[-1].cut
            records = records.recode(cut.target)
            size += 1
        return release(data, rounds)


@dataclass(frozen=True)
class Round:
    """What a round found."""

    size: int  # of the largest itemsets it looked at
    cut: Cut
    suppressed: list[int]  # nodes of the cut
    reasons: list[tuple[list[int], int]]  # for each of them the threat that decided, and its support
    cost: int  # times (leaves of the hierarchy - 1)
    n_threats: int


def refine(records: DistinctRecords, floor: Cut, k: int, size: int, context: Context) -> Round:
    """One round of HgHs for itemsets of up to ``size`` items, over cuts on ``floor`` or above; ``records`` hold its
    nodes.
    """
    hierarchy = floor.hierarchy
    parent = parents_without_unary_nodes(floor)
    nodes = node_order(hierarchy, records.node_supports(hierarchy), "frequency")
    threats = find_threats(records, hierarchy, nodes[parent[nodes] >= 0], k, size, context)
    tree, threat_supports = make_threat_tree(threats, parent, floor)
    # int64[n_nodes]: what publishing a node costs, and how much less its children cost.
    cost_of_node = floor.occurrences * (hierarchy.n_leaves - 1)
    gain = cost_of_node.copy()
    np.subtract.at(gain, parent[parent >= 0], cost_of_node[parent >= 0])

    top = int(np.flatnonzero(parent == TOP)[0])
    tree.is_in_cut[top] = True
    generalized, suppressed = int(cost_of_node[top]), 0  # the two parts of the cost
    active = np.empty(0, dtype=np.int32)  # threats within the cut: none yet, the top holds all non-empty records
    splittable = hierarchy.in_preorder[np.diff(tree.child_starts)[hierarchy.in_preorder] > 0]
    while True:
        context.step(f"refining the cut for {size} items", generalized / max(int(cost_of_node[top]), 1))
        candidates = splittable[tree.is_in_cut[splittable]]
        after = generalized - gain[candidates] + cost_suppression_after_splits(tree, active, candidates)
        if not len(candidates) or after.min() >= generalized + suppressed:
            break
        node = int(candidates[after.argmin()])  # the first of the best, depth first
        active = find_threats_after_split(tree, active, node)
        generalized -= int(gain[node])
        suppressed = int(after.min()) - generalized
        tree.is_in_cut[node] = False
        tree.is_in_cut[parent == node] = True

    _, deciding = suppress_greedily(tree, active, np.zeros(hierarchy.n_nodes, dtype=np.int64), 1)
    reasons = [
        (tree.members[threat, : tree.sizes[threat]].tolist(), int(threat_supports[threat])) for threat in deciding
    ]
    return Round(
        size,
        floor.at_or_above(np.flatnonzero(tree.is_in_cut).tolist()),
        [members[-1] for members, _ in reasons],
        reasons,
        generalized + suppressed,
        len(threats),
    )


def parents_without_unary_nodes(floor: Cut) -> NDArray[np.int32]:
    """The parent of each node in the hierarchy above ``floor`` without nodes of one child: int32[n_nodes].

    The new root has ``TOP``; nodes that are not part of it have ``OUTSIDE``.
    """
    hierarchy = floor.hierarchy
    available = floor.is_available
    parent = np.full(hierarchy.n_nodes, OUTSIDE, dtype=np.int32)
    nearest = np.full(hierarchy.n_nodes, TOP, dtype=np.int32)  # the closest node above that is part of it
    for node in hierarchy.in_preorder.tolist():
        if not available[node]:
            continue
        children = hierarchy.children[node]
        is_part = len(children) != 1 or not available[children[0]]
        if is_part:
            parent[node] = nearest[node]
        for child in children:
            nearest[child] = node if is_part else nearest[node]
    return parent


def make_threat_tree(threats: Threats, parent: NDArray[np.int32], floor: Cut) -> tuple[ThreatTree, NDArray[np.int64]]:
    """The tree of all cuts with its threats in the order of the inner loop, and the supports of the threats in that
    order.

    The inner loop (section 3.2) goes through the nodes of a cut from the most to the least expensive to suppress and
    keeps each that completes no threat with those kept before. So what decides about a threat is its last member in
    that order.
    """
    hierarchy = floor.hierarchy
    n_nodes = hierarchy.n_nodes
    # Section 3.2: nodes by what suppressing them would cost, the most expensive first. int64[n_nodes]
    suppression_cost = floor.occurrences * (hierarchy.n_items - hierarchy.n_leaves)
    by_cost = np.lexsort((hierarchy.preorder, -floor.occurrences, -suppression_cost))
    rank = np.empty(n_nodes + 1, dtype=np.int64)  # place of each node there; the last entry serves the padding
    rank[by_cost] = np.arange(n_nodes)
    rank[n_nodes] = n_nodes
    # Section 4.1: the minimal threats of all cuts, members by rank, threats by the rank of their last member.
    ranks = np.sort(rank[threats.nodes], axis=1)  # [n_threats, width]
    last_rank = ranks[np.arange(len(threats)), threats.sizes - 1]
    order = np.argsort(last_rank, kind="stable")
    members = np.append(by_cost, -1).astype(np.int32)[ranks[order]]
    sizes = threats.sizes[order]
    threat_starts, threats_of_node = _threats_by_node(members, sizes, n_nodes)
    # Section 3.1: a cut is split by replacing a node by its children.
    children = np.flatnonzero(parent >= 0).astype(np.int32)
    children = children[np.argsort(parent[children], kind="stable")]
    tree = ThreatTree(
        members=members,
        sizes=sizes,
        threat_starts=threat_starts,
        threats=threats_of_node,
        child_starts=np.searchsorted(parent[children], np.arange(n_nodes + 1)).astype(np.int64),
        children=children,
        parent=parent,
        suppression_cost=suppression_cost,
        is_in_cut=np.zeros(n_nodes, dtype=np.bool_),
    )
    return tree, threats.supports[order]


def _threats_by_node(
    members: NDArray[np.int32], sizes: NDArray[np.int64], n_nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """``(starts, threats)``: the threats that hold node v, ascending, are ``threats[starts[v]:starts[v + 1]]``."""
    indptr = np.concatenate(([0], np.cumsum(sizes)))
    _, starts, positions = sort_within_rows(indptr, members[members >= 0], n_nodes)
    return starts, np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)[positions]


def release(data: Transactions, rounds: list[Round]) -> Recoding:
    """The last round's solution as a release, with what the report needs."""
    found = rounds[-1]
    cut, hierarchy = found.cut, found.cut.hierarchy
    labels = hierarchy.published_labels
    hidden = cut.occurrences[found.suppressed]
    lost = hidden * hierarchy.n_items - cut.price[found.suppressed]  # what suppressing adds, on the scale of NCP
    details: dict[str, Any] = {
        "ncp": cut.ncp(cut.cost + int(lost.sum())),
        "cost": found.cost / max(hierarchy.n_items - 1, 1),  # LM, summed over occurrences as in the paper
        "suppressed_items": int(hierarchy.n_leaves[found.suppressed].sum()),
        "suppressed_occurrences": int(hidden.sum()),
        "rounds": [
            {
                "size": solution.size,
                "minimal_threats": solution.n_threats,
                "cost": solution.cost / max(hierarchy.n_items - 1, 1),
                "suppressed": [labels[node] for node in solution.suppressed],
            }
            for solution in rounds
        ],
        "moves": [
            {
                "witness": [labels[node] for node in threat],
                "support": support,
                "raised": [],
                "suppressed": [labels[threat[-1]]],
                "cost": cut.ncp(int(more)),
            }
            for (threat, support), more in zip(found.reasons, lost.tolist(), strict=True)
        ],
    }
    node_of_leaf = cut.node_of_leaf.copy()
    node_of_leaf[np.isin(node_of_leaf, found.suppressed)] = -1
    return Recoding.from_cut(data, hierarchy, node_of_leaf, details)
