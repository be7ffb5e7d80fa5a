"""Minimal privacy threats (Liu, Wang 2010, section 4.1).

A threat is an itemset of at most m nodes, no two related, that occurs, but in fewer than k records. It is minimal if no
subset of it is a threat. A cut is k^m-anonymous if and only if it contains no minimal threat, so that, once they are
known, any cut of the hierarchy can be judged without looking at the data again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km._counting import STEPS_PER_CALL, collect_rare, start_walk
from setveil.algorithms.km._threats import add_to_table, mark_supersets
from setveil.algorithms.km.count_tree import DistinctRecords, node_order
from setveil.core import Hierarchy, Itemsets, Transactions, Vocabulary
from setveil.errors import InputError

MAX_THREATS = 20_000_000
MAX_COUNTED = 50_000_000  # itemsets of one size: well under a minute
BATCH = 1_000_000  # rare itemsets looked at together


@dataclass(frozen=True)
class Threats:
    """Minimal threats, smaller ones first."""

    nodes: NDArray[np.int32]  # [n_threats, width] padded with -1
    sizes: NDArray[np.int64]  # [n_threats]
    supports: NDArray[np.int64]  # [n_threats]

    @classmethod
    def of_size(cls, nodes: NDArray[np.int32], supports: NDArray[np.int64]) -> Threats:
        """Threats of one size, [n_threats, size]."""
        return cls(nodes, np.full(len(nodes), nodes.shape[1], dtype=np.int64), supports)

    def __len__(self) -> int:
        return len(self.sizes)

    def __add__(self, other: Threats) -> Threats:
        nodes = np.full((len(self) + len(other), max(self.nodes.shape[1], other.nodes.shape[1])), -1, dtype=np.int32)
        nodes[: len(self), : self.nodes.shape[1]] = self.nodes
        nodes[len(self) :, : other.nodes.shape[1]] = other.nodes
        joined = (np.concatenate(both) for both in ((self.sizes, other.sizes), (self.supports, other.supports)))
        return Threats(nodes, *joined)


def minimal_privacy_threats(
    data: Transactions, k: int, m: int | Literal["all"], hierarchy: Hierarchy | None = None
) -> tuple[Itemsets, NDArray[np.int64]]:
    """The minimal privacy threats of the data, smaller ones first, then in order of their items; and their supports.

    With a hierarchy, the threats of all its cuts: itemsets of items and inner nodes, by their published labels.
    """
    if not data.n_items:
        return Itemsets(np.zeros(1, dtype=np.int64), data.items, data.vocabulary), np.empty(0, dtype=np.int64)
    tree = hierarchy or Hierarchy.from_parents([-1] * data.n_items, data.vocabulary.labels)
    records = DistinctRecords.of_leaves(data, tree, Context())
    occurring = node_order(tree, records.node_supports(tree), "frequency")
    nodes = occurring if hierarchy else occurring[occurring < tree.n_items]
    found = find_threats(records, tree, nodes, k, records.longest if m == "all" else m, Context())
    labels = tree.published_labels if hierarchy else data.vocabulary.labels
    vocabulary = Vocabulary(labels)
    number = vocabulary.numbers(labels)
    rows = [np.sort(number[row[:size]]) for row, size in zip(found.nodes, found.sizes.tolist(), strict=True)]
    order = sorted(range(len(rows)), key=lambda row: (len(rows[row]), rows[row].tolist()))
    indptr = np.concatenate(([0], np.cumsum(found.sizes[order]))).astype(np.int64)
    items = np.concatenate([np.empty(0, dtype=np.int32), *(rows[row] for row in order)])
    return Itemsets(indptr, items, vocabulary), found.supports[order]


def find_threats(
    records: DistinctRecords, hierarchy: Hierarchy, nodes: NDArray[np.int32], k: int, m: int, context: Context
) -> Threats:
    """The minimal threats among itemsets of the given nodes; ``records`` hold nodes too.

    Apriori: rare nodes take no part in larger itemsets, rare prefixes are not extended, and what contains a smaller
    threat in another place is taken out.
    """
    supports = records.node_supports(hierarchy)[nodes]
    is_rare = (supports > 0) & (supports < k)
    frequent = nodes[supports >= k]
    number = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
    number[frequent] = np.arange(len(frequent))
    rows = records.expand(hierarchy, number)
    runs = (hierarchy.first[frequent], hierarchy.last[frequent])
    alive = np.ones(len(frequent), dtype=np.bool_)
    found = Threats.of_size(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int64))  # indices of ``frequent``
    for size in range(2, min(m, records.longest) + 1):
        table = table_of(found)
        walk = start_walk(rows.indptr, rows.items, rows.weights, runs, alive, size)
        batches: list[tuple[NDArray[np.int32], NDArray[np.int64]]] = []
        n_found = len(found)
        while walk.at[0] >= 0:
            context.step(f"threats of size {size}", max(int(walk.position[0]), 0) / max(len(frequent), 1))
            rare = np.empty((len(frequent) + BATCH, size), dtype=np.int32)
            n_rare, rare_supports = collect_rare(walk, k, STEPS_PER_CALL, rare)
            is_new = ~mark_supersets(rare[:n_rare], table, found.nodes, found.sizes)
            batches.append((rare[:n_rare][is_new], rare_supports[is_new]))
            n_found += int(is_new.sum())
            if n_found > MAX_THREATS or walk.reached[0] > MAX_COUNTED:
                raise InputError(
                    f"there are too many itemsets of {size} nodes to list all minimal privacy threats (more than "
                    f"{MAX_THREATS:,} threats or {MAX_COUNTED:,} itemsets); lower m, or use mhghs or aa."
                )
        if batches:
            found += Threats.of_size(*(np.concatenate(parts) for parts in zip(*batches, strict=True)))
    singles = Threats.of_size(nodes[is_rare, None], supports[is_rare])
    return singles + Threats(np.where(found.nodes >= 0, frequent[found.nodes], -1), found.sizes, found.supports)


def supersets(candidates: NDArray[np.int32], known: Threats) -> NDArray[np.bool_]:
    """Which candidates [n, size] contain a known threat."""
    return mark_supersets(candidates, table_of(known), known.nodes, known.sizes)


def table_of(threats: Threats) -> NDArray[np.int64]:
    """A hash table to look up threats in."""
    table = np.full(1 << (2 * len(threats) + 1).bit_length(), -1, dtype=np.int64)
    add_to_table(table, threats.nodes, threats.sizes)
    return table
