"""LG, local generalization from the top down (the algorithm Partition).

Y. He, J. F. Naughton: Anonymization of set-valued data via top-down, local generalization. PVLDB 2(1), 2009.

Guarantee: every published set of non-sensitive nodes is the set of at least k records, the empty set included.

Preconditions: a hierarchy that covers the items; at least k non-empty records; no diversity of sensitive items (l = 1).

Cost: for each partition the number of its distinct records times its nodes; a record takes part in at most as many
partitions as its items have ancestors, plus one for each time it is left over. Memory is linear in the occurrences.

What follows the paper (the method as it is generally described, not its pseudocode): all records start in one
partition, every item published as the root. A partition stands for one set of nodes, shared by its records. *Pick
node*: the node whose replacement by its children would lower the loss of the partition most. *Distribute*: records with
something below the same children go together into a new partition. *Balance*: partitions with fewer than k records are
joined to one of leftovers, which keeps the node; if these are fewer than k, records are moved to them from partitions
that have more than k. Each new partition goes on alone; the leftovers may expand other nodes, but not this one again.
Partitions that can expand nothing are published.

Departures from the paper
1. The loss is NCP: an occurrence published as a node costs the number of its leaves, 0 if it is one. Ties: the first
   node depth first.
2. Records moved to the leftovers are those that lose least by keeping the node, ties in lexicographic order, as long
   as their partition keeps k. If all partitions together cannot spare enough, the one that loses least joins the
   leftovers as a whole (ties: the one with the first children).
3. Records with equal public items are handled together, with their number. Which of them are moved is settled by their
   sensitive items; between equal records it cannot be seen in what is published.
4. The paper has no empty records. If some, but fewer than k, have no public items, the shortest other records are
   suppressed until there are k (ties in lexicographic order); if then fewer than k others are left, these are
   suppressed too.
5. Sensitive items of the model are published as they are, and take no part in all this.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, require_k_records
from setveil.core import Hierarchy, Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import KAnonymity
from setveil.releases import LocalRecoding

Nodes = tuple[int, ...]
Members = list[tuple[int, int]]  # distinct record, how many of its copies


@dataclass(frozen=True)
class Partition:
    """Records published as the same set of nodes, so far."""

    open: Nodes  # nodes that may still be expanded
    closed: Nodes  # leaves, and nodes whose expansion left these records over
    members: Members


@dataclass(frozen=True)
class LG(Algorithm):
    """Starts with the root in place of everything, and splits partitions of records while each keeps k."""

    def run(self, data: Transactions, model: KAnonymity, context: Context) -> LocalRecoding:
        hierarchy = context.need_hierarchy("lg")
        if model.l > 1:
            raise InputError(f'algorithm "lg" does not support l={model.l}; use l=1, or another algorithm.')
        require_k_records(data, model.k)
        if 0 < data.n_records < model.k:
            raise InfeasibleError(
                f"there are {data.n_records:,} records, fewer than k={model.k}; lower k or add records."
            )
        is_public = np.ones(data.n_items, dtype=np.bool_)
        is_public[[item for item in data.vocabulary.numbers(model.sensitive).tolist() if item >= 0]] = False
        public = data.recode(np.where(is_public, np.arange(data.n_items), -1), data.vocabulary)
        distinct, weights, inverse = context.engine.distinct(public)
        records = Records(distinct, hierarchy)
        members, blank = set_aside(distinct, weights, model.k)
        waiting = [records.partition((hierarchy.root,), (), members)] if members else []
        finished: list[Partition] = []
        n_finished = 0
        while waiting:
            context.step("partitions", n_finished / data.n_records)
            partition = waiting.pop()
            if partition.open:
                waiting += anonymize(partition, records, model.k)
            else:
                finished.append(partition)
                records.forget(partition.members)
                n_finished += size_of(partition.members)
        nodes = hierarchy.leaf_of_items(data.vocabulary)[data.items]
        copies = np.lexsort((data.row_ranks(), inverse))  # record numbers; sensitive items settle the order of copies
        nodes[is_public[data.items]] = records.published(finished, blank, copies)
        details = {
            "partitions": len(finished),
            "suppressed_records": sum(copies for row, copies in blank if distinct.lengths[row]),
        }
        return LocalRecoding.from_nodes(data, hierarchy, nodes, details, never_generalized=model.sensitive)


def set_aside(distinct: Transactions, weights: NDArray[np.int64], k: int) -> tuple[Members, Members]:
    """What to generalize, and what to publish as empty records; see departure 4."""
    members = list(enumerate(weights.tolist()))
    blank = [(row, copies) for row, copies in members if not distinct.lengths[row]]
    others = sorted(members[len(blank) :], key=lambda member: (distinct.lengths[member[0]], member[0]))
    n_others = size_of(others)
    n_more = k - size_of(blank) if blank else 0
    if n_more > 0 or 0 < n_others < k:
        blank += take(others, n_others if n_others - max(n_more, 0) < k else n_more)
        taken = dict(blank)
        members = [(row, copies - taken.get(row, 0)) for row, copies in members]
    elif blank:
        members = members[len(blank) :]
    return [(row, copies) for row, copies in members if copies], blank


def size_of(members: Members) -> int:
    """Records in all."""
    return sum(copies for _, copies in members)


def take(members: Members, n: int) -> Members:
    """The first n records."""
    taken: Members = []
    for row, copies in members:
        if n <= 0:
            break
        taken.append((row, min(copies, n)))
        n -= copies
    return taken


class Records:
    """Distinct records as places in the hierarchy's order of leaves, and what expanding a node means for each."""

    def __init__(self, distinct: Transactions, hierarchy: Hierarchy) -> None:
        place = np.empty(hierarchy.n_items, dtype=np.int64)
        place[hierarchy.leaf_order] = np.arange(hierarchy.n_items)
        self.distinct = distinct
        self.leaves = hierarchy.leaf_of_items(distinct.vocabulary)  # [n_items]
        places = place[self.leaves][distinct.items]
        by_row = places[np.lexsort((places, distinct.owners))].tolist()
        bounds = distinct.indptr.tolist()
        self.places = [by_row[start:end] for start, end in zip(bounds[:-1], bounds[1:], strict=True)]
        self.first, self.last = hierarchy.first.tolist(), hierarchy.last.tolist()
        self.price = np.where(hierarchy.n_leaves > 1, hierarchy.n_leaves, 0).tolist()
        self.rank = hierarchy.preorder.tolist()
        self.n_items = hierarchy.n_items
        self.parent = hierarchy.parent.tolist()
        self.children: list[list[int]] = [[] for _ in self.parent]
        for node in hierarchy.in_preorder[1:].tolist():
            self.children[self.parent[node]].append(node)
        self.starts = [[self.first[child] for child in children] for children in self.children]
        self._expansions: list[dict[int, tuple[int, Nodes]]] = [{} for _ in self.places]

    def partition(self, nodes: Nodes, closed: Nodes, members: Members) -> Partition:
        """Leaves cannot be expanded."""
        leaves = tuple(node for node in nodes if node < self.n_items)
        return Partition(tuple(node for node in nodes if node >= self.n_items), closed + leaves, members)

    def expansion(self, row: int, node: int) -> tuple[int, Nodes]:
        """How much less one copy of a record costs if a node is replaced by its children, and by which of them."""
        known = self._expansions[row].get(node)
        if known is None:
            places = self.places[row]
            at, end = bisect_left(places, self.first[node]), bisect_left(places, self.last[node])
            gain, chosen = 0, []
            while at < end:
                child = self.children[node][bisect_left(self.starts[node], places[at] + 1) - 1]
                past = bisect_left(places, self.last[child], at, end)
                gain += (past - at) * (self.price[node] - self.price[child])
                chosen.append(child)
                at = past
            known = self._expansions[row][node] = gain, tuple(chosen)
        return known

    def forget(self, members: Members) -> None:
        """Free what is known of records that are done; copies elsewhere find it out again."""
        for row, _ in members:
            self._expansions[row].clear()

    def gain(self, members: Members, node: int) -> int:
        """How much less all these records cost if a node is replaced by its children."""
        return sum(copies * self.expansion(row, node)[0] for row, copies in members)

    def published(self, finished: list[Partition], blank: Members, copies: NDArray[np.int64]) -> NDArray[np.int32]:
        """The node of each public occurrence in the data; ``copies`` are the records by distinct record."""
        variants = [(row, n_copies, frozenset[int]()) for row, n_copies in blank]
        for partition in finished:
            nodes = frozenset(partition.open + partition.closed)
            variants += [(row, n_copies, nodes) for row, n_copies in partition.members]
        variants.sort(key=lambda variant: variant[0])
        codes, indptr = [], [0]
        for row, _, nodes in variants:
            codes += [self.node_above(leaf, nodes) for leaf in self.leaves[self.distinct.record(row)].tolist()]
            indptr.append(len(codes))
        variant_of_record = np.empty(len(copies), dtype=np.int64)
        variant_of_record[copies] = np.repeat(np.arange(len(variants)), [n_copies for _, n_copies, _ in variants])
        bounds = np.array(indptr, dtype=np.int64)
        lengths = np.diff(bounds)[variant_of_record]
        shift = bounds[variant_of_record] - (np.cumsum(lengths) - lengths)  # [n_records] from place in data to code
        places: NDArray[np.int64] = np.arange(int(lengths.sum())) + np.repeat(shift, lengths)
        return np.array(codes, dtype=np.int32)[places]

    def node_above(self, leaf: int, nodes: frozenset[int]) -> int:
        """The one of the given nodes that covers a leaf, -1 if there are none."""
        node = leaf
        while node >= 0 and node not in nodes:
            node = self.parent[node]
        return node


def anonymize(partition: Partition, records: Records, k: int) -> list[Partition]:
    """Expand one node of a partition."""
    node = pick_node(partition, records)
    groups = distribute(partition, node, records)
    leftovers = balance(groups, node, records, k)
    others = tuple(other for other in partition.open if other != node)
    parts = [
        records.partition(others + children, partition.closed, members) for children, members in sorted(groups.items())
    ]
    if leftovers:
        parts.append(Partition(others, (*partition.closed, node), leftovers))
    return parts


def pick_node(partition: Partition, records: Records) -> int:
    """The open node with the largest gain."""
    if len(partition.open) == 1:
        return partition.open[0]
    return min(partition.open, key=lambda node: (-records.gain(partition.members, node), records.rank[node]))


def distribute(partition: Partition, node: int, records: Records) -> dict[Nodes, Members]:
    """The records by the children of the node that they have something below."""
    groups: dict[Nodes, Members] = {}
    for row, copies in partition.members:
        groups.setdefault(records.expansion(row, node)[1], []).append((row, copies))
    return groups


def balance(groups: dict[Nodes, Members], node: int, records: Records, k: int) -> Members:
    """Take groups of fewer than k records out, and more if these are fewer than k together; returns what was taken."""
    leftovers = [member for members in groups.values() if size_of(members) < k for member in members]
    for children in [children for children, members in groups.items() if size_of(members) < k]:
        del groups[children]
    n_missing = k - size_of(leftovers)
    if not leftovers or n_missing <= 0:
        return sorted(leftovers)
    spare = {children: size_of(members) - k for children, members in groups.items()}
    if sum(spare.values()) < n_missing:
        least = min(groups, key=lambda children: (records.gain(groups[children], node), children))
        return sorted(leftovers + groups.pop(least))
    candidates = [
        (records.expansion(row, node)[0], row, copies) for members in groups.values() for row, copies in members
    ]
    moved: dict[int, int] = {}
    for _, row, copies in sorted(candidates):
        children = records.expansion(row, node)[1]
        n_moved = min(copies, spare[children], n_missing)
        if n_moved:
            moved[row] = n_moved
            spare[children] -= n_moved
            n_missing -= n_moved
    for children, members in groups.items():
        kept = [(row, copies - moved.get(row, 0)) for row, copies in members]
        groups[children] = [(row, copies) for row, copies in kept if copies]
    return sorted(leftovers + list(moved.items()))
