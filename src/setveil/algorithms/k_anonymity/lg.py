"""LG, local generalization from the top down (the algorithm Partition).

Y. He, J. F. Naughton: Anonymization of set-valued data via top-down, local generalization. PVLDB 2(1), 2009.

Guarantee: every published set of non-sensitive nodes is the set of at least k records, the empty set included.

Preconditions: a hierarchy that covers the items; at least k non-empty records; no diversity of sensitive items (l = 1).

Cost: for each partition the number of entries of its distinct records; a record takes part in at most as many
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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, require_k_records
from setveil.algorithms.k_anonymity._partitions import (
    FINISHED,
    PARTITIONS,
    VARIANTS,
    WAITING,
    Stack,
    Tree,
    Variants,
    show_children,
    split_partitions,
)
from setveil.core import Hierarchy, Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import KAnonymity
from setveil.releases import LocalRecoding

AT_ONCE = 10_000_000  # entries that are looked at before progress is reported


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
        blank = set_aside(distinct, weights, model.k)
        partitions = Partitions(distinct, hierarchy, weights - blank)
        while partitions.wait:
            context.step("partitions", partitions.share)
            partitions.split(model.k)
        nodes = hierarchy.leaf_of_items(data.vocabulary)[data.items]
        copies = np.lexsort((data.row_ranks(), inverse))  # record numbers; sensitive items settle the order of copies
        nodes[is_public[data.items]] = partitions.published(blank, copies)
        details = {
            "partitions": int(partitions.stack.sizes[PARTITIONS]),
            "suppressed_records": int(blank[distinct.lengths > 0].sum()),
        }
        return LocalRecoding.from_nodes(data, hierarchy, nodes, details, never_generalized=model.sensitive)


def set_aside(distinct: Transactions, weights: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """How many copies of each distinct record to publish as empty records; see departure 4."""
    blank = np.where(distinct.lengths == 0, weights, 0)
    others = weights - blank
    n_blank, n_others = int(blank.sum()), int(others.sum())
    n_more = max(k - n_blank, 0) if n_blank else 0
    if n_others - n_more < k:
        n_more = n_others
    shortest = np.argsort(distinct.lengths, kind="stable")
    before = np.cumsum(others[shortest]) - others[shortest]
    blank[shortest] += np.clip(n_more - before, 0, others[shortest])
    return blank


class Partitions:
    """Partitions of copies of distinct records, with the node that is published for each of their entries."""

    def __init__(self, distinct: Transactions, hierarchy: Hierarchy, copies: NDArray[np.int64]) -> None:
        place = np.empty(hierarchy.n_items, dtype=np.int32)
        place[hierarchy.leaf_order] = np.arange(hierarchy.n_items)
        positions = place[hierarchy.leaf_of_items(distinct.vocabulary)][distinct.items]  # [entries]
        by_place = np.lexsort((positions, distinct.owners))
        self.rows = distinct
        self.entry = np.empty_like(by_place)  # [entries] where each stands in the order of leaves
        self.entry[by_place] = np.arange(len(by_place))
        self.tree = make_tree(hierarchy)
        cover = np.full(len(positions), hierarchy.root, dtype=np.int32)
        below = np.full(len(positions), -1, dtype=np.int32)
        self.variants = Variants(distinct.indptr, copies, np.arange(len(copies)), positions[by_place], cover, below)
        show_children(self.tree, self.variants.place, cover, below)
        (waiting,) = np.nonzero(copies)
        sizes = np.array([0, len(waiting) > 0, len(copies), 0])
        self.stack = Stack(np.array([0, len(waiting)]), waiting, np.empty(0, dtype=np.int64), sizes)
        self._make_room(2)

    def _make_room(self, k: int) -> None:
        """For more variants: an eighth of those that there are, and those of one more expansion."""
        n_variants = len(self.variants.copies) // 8 + k
        n_entries = len(self.variants.place) // 8 + k * self.rows.longest
        *waiting, sizes = self.stack
        indptr, copies, row, *entries = self.variants
        n_members = len(copies) + n_variants + 1
        self.stack = Stack(*[*(with_room(array, n_members - len(array)) for array in waiting), sizes])
        self.variants = Variants(
            *(with_room(array, n_variants) for array in (indptr, copies, row)),
            *(with_room(array, n_entries) for array in entries),
        )

    @property
    def wait(self) -> bool:
        """Whether some are to be split."""
        return bool(self.stack.sizes[WAITING])

    @property
    def share(self) -> float:
        """How many of the variants are finished."""
        return float(self.stack.sizes[FINISHED] / self.stack.sizes[VARIANTS])

    def split(self, k: int) -> None:
        """Split partitions for a fraction of a second."""
        if not split_partitions(self.tree, self.variants, self.stack, k, AT_ONCE):
            self._make_room(k)

    def published(self, blank: NDArray[np.int64], copies: NDArray[np.int64]) -> NDArray[np.int32]:
        """The node of each public occurrence in the data; ``copies`` are the records by distinct record."""
        (empty,) = np.nonzero(blank)
        finished = self.stack.finished[: self.stack.sizes[FINISHED]]
        nothing = len(self.variants.cover)  # from here on: suppressed
        cover = np.append(self.variants.cover, np.full(self.rows.longest, -1, dtype=np.int32))
        row = np.concatenate((empty, self.variants.row[finished]))
        start = np.concatenate((np.full(len(empty), nothing), self.variants.indptr[finished]))
        n_copies = np.concatenate((blank[empty], self.variants.copies[finished]))
        order = np.argsort(row, kind="stable")
        variant = np.empty(len(copies), dtype=np.int64)  # of each record
        variant[copies] = np.repeat(order, n_copies[order])
        lengths = self.rows.lengths[row[variant]]
        first = self.rows.indptr[row[variant]]
        entries = np.arange(int(lengths.sum())) + np.repeat(first - (np.cumsum(lengths) - lengths), lengths)
        positions = self.entry[entries] + np.repeat(start[variant] - first, lengths)  # [public occurrences]
        published: NDArray[np.int32] = cover[positions]
        return published


def make_tree(hierarchy: Hierarchy) -> Tree:
    """The hierarchy for compiled loops."""
    nodes = hierarchy.in_preorder[1:]
    children = nodes[np.argsort(hierarchy.parent[nodes], kind="stable")]
    bounds = np.searchsorted(hierarchy.parent[children], np.arange(hierarchy.n_nodes + 1))
    price = np.where(hierarchy.n_leaves > 1, hierarchy.n_leaves, 0)
    starts = hierarchy.first[children]
    return Tree(hierarchy.first, hierarchy.last, price, hierarchy.preorder, bounds, children, starts)


def with_room(array: NDArray[Any], n: int) -> NDArray[Any]:
    """The array, longer by n."""
    return np.concatenate((array, np.empty(max(n, 0), dtype=array.dtype)))
