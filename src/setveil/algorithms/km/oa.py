"""OA, optimal anonymization.

M. Terrovitis, N. Mamoulis, P. Kalnis: Privacy-preserving anonymization of set-valued data. PVLDB 1(1), 2008, section
4.2.

Guarantee: in the published data every itemset of at most m items that occurs, occurs in at least k records
(``m="all"``: of any size), and no other cut of the hierarchy that keeps this has a lower NCP.

Preconditions: a hierarchy that covers the items and has few cuts (tens of items); at least k non-empty records.

Cost: the number of cuts that are cheaper than the best one and break the guarantee, exponential in the number of
items; each is compared with the list of minimal privacy threats.

Departures from the paper
1. Support at least k is enough, and itemsets that never occur are safe.
2. Cuts are judged by the minimal privacy threats instead of the whole count-tree: a cut is anonymous if it contains
   none.
3. A cut is queued once (the pseudocode queues it for each way that leads to it), and not at all if it cannot become
   cheaper than the best cut found so far: going up never makes a cut cheaper.
4. Ties: the cut that the breadth-first search meets first; immediate ancestors are queued in depth-first order of the
   parent that replaces all its children.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option, require_k_records
from setveil.algorithms.km.count_tree import DistinctRecords, node_order
from setveil.algorithms.km.cuts import Cut
from setveil.algorithms.km.threats import Threats, find_threats
from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.models import KmAnonymity
from setveil.releases import Recoding


@dataclass(frozen=True)
class OA(Algorithm):
    """Searches all cuts of the hierarchy from the leaves up, breadth first."""

    max_cuts: int = option(2_000_000, "refuse a hierarchy that has more cuts than this", least=1)

    def run(self, data: Transactions, model: KmAnonymity, context: Context) -> Recoding:
        hierarchy = context.need_hierarchy("oa")
        require_k_records(data, model.k)
        refuse_too_many(number_of_cuts(hierarchy), self.max_cuts)
        records = DistinctRecords.of_leaves(data, hierarchy, context)
        nodes = node_order(hierarchy, records.node_supports(hierarchy), "frequency")
        m = records.longest if model.m == "all" else model.m
        threats = masks_of(find_threats(records, hierarchy, nodes, model.k, m, context), hierarchy.n_nodes)
        cut = Cut(hierarchy, data)
        nodes_of_best, n_examined = search(hierarchy, cut.price, threats, context)
        for node in nodes_of_best:
            cut.raise_to(node)
        details = {"ncp": cut.ncp(), "minimal_threats": len(threats), "cuts_examined": n_examined}
        return Recoding.from_cut(data, hierarchy, cut.node_of_leaf, details)


def search(
    hierarchy: Hierarchy, price: NDArray[np.int64], threats: NDArray[np.uint64], context: Context
) -> tuple[list[int], int]:
    """The inner nodes of the cheapest anonymous cut, and how many cuts were examined. A cut is a number, a bit per
    node.
    """
    families = families_of(hierarchy, price)
    bottom = (1 << hierarchy.n_items) - 1
    best_cost, best = int(price[hierarchy.root]) + 1, 0
    queue, seen, n_examined = deque([(0, bottom, 0)]), {bottom}, 0
    while queue:
        if n_examined % 1000 == 0:
            context.step(f"cuts examined: {n_examined:,}")
        cost, cut, threat = queue.popleft()  # a threat that the cut below contained, if it is still there
        if cost >= best_cost:
            continue
        n_examined += 1
        threat = threat or find_threat(cut, threats)
        if not threat:
            best_cost, best = cost, cut
        for family in families:
            if cut & family.children == family.children:
                ancestor = cut ^ family.children | family.parent
                if threat and ancestor not in seen and cost + family.increase < best_cost:
                    queue.append((cost + family.increase, ancestor, 0 if threat & family.children else threat))
                seen.add(ancestor)  # also above an anonymous cut: never to be queued
    return [node for node in range(hierarchy.n_items, hierarchy.n_nodes) if best >> node & 1], n_examined


class Family(NamedTuple):
    """A parent and all its children, as bits, and what replacing these by it costs."""

    parent: int
    children: int
    increase: int


def families_of(hierarchy: Hierarchy, price: NDArray[np.int64]) -> list[Family]:
    """All inner nodes, depth first."""
    inner = [node for node in hierarchy.in_preorder.tolist() if node >= hierarchy.n_items]
    return [
        Family(
            1 << node,
            sum(1 << child for child in hierarchy.children[node]),
            int(price[node] - price[list(hierarchy.children[node])].sum()),
        )
        for node in inner
    ]


def find_threat(cut: int, threats: NDArray[np.uint64]) -> int:
    """The first threat that a cut contains, as bits; 0 if it is anonymous."""
    missing = ~np.frombuffer(cut.to_bytes(8 * threats.shape[1], "little"), dtype="<u8")
    contained = ((threats & missing) == 0).all(axis=1)
    return int.from_bytes(threats[contained.argmax()].tobytes(), "little") if contained.any() else 0


def masks_of(threats: Threats, n_nodes: int) -> NDArray[np.uint64]:
    """Threats as bits, [n_threats, words]."""
    masks = np.zeros((len(threats), n_nodes // 64 + 1), dtype="<u8")
    row, place = np.nonzero(threats.nodes >= 0)
    node = threats.nodes[row, place].astype(np.uint64)
    np.bitwise_or.at(masks, (row, node // 64), np.uint64(1) << node % np.uint64(64))
    return masks


def number_of_cuts(hierarchy: Hierarchy) -> int:
    """How many cuts a hierarchy has."""
    cuts = [1] * hierarchy.n_nodes
    for node in hierarchy.in_preorder[::-1].tolist():  # children before their parents
        if node >= hierarchy.n_items:
            cuts[node] = 1 + prod(cuts[child] for child in hierarchy.children[node])
    return cuts[hierarchy.root]


def refuse_too_many(n_cuts: int, limit: int) -> None:
    """Raise InputError for hierarchies that cannot be searched cut by cut."""
    if n_cuts > limit:
        shown = f"{n_cuts:,}" if n_cuts < 10**12 else f"about 10^{len(str(n_cuts)) - 1}"
        raise InputError(
            f'the hierarchy has {shown} cuts, more than max_cuts={limit:,}; "oa" examines all of them. '
            'Use algorithm "optimal" for large hierarchies, or "aa" for a quick result.'
        )
