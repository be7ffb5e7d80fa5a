"""Sets of itemsets: which itemsets contain a known one, and what suppressing costs when a cut is refined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import hash_items
from setveil.arrays.sorting import sort_values

# -- itemsets that contain a known one ------------------------------------------------------------------------------


@compiled
def add_to_table(table: NDArray[np.int64], itemsets: NDArray[np.int32], sizes: NDArray[np.int64]) -> None:
    """Enter itemsets (rows, of which the first ``sizes`` items count) into an open hash table of their numbers, -1
    where free.
    """
    mask = len(table) - 1  # the length is a power of two, at least twice the number of itemsets
    for number in range(len(itemsets)):
        slot = hash_items(itemsets[number], 0, sizes[number]) & mask
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = number


@compiled
def mark_supersets(
    candidates: NDArray[np.int32],
    table: NDArray[np.int64],
    itemsets: NDArray[np.int32],
    sizes: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which candidates [n, size] contain one of the ``itemsets`` in the table; all are sorted the same way.

    Subsets of two items up to one less than the candidate's size are looked up.
    """
    size = candidates.shape[1]
    mask = len(table) - 1
    marked = np.zeros(len(candidates), dtype=np.bool_)
    subset = np.empty(size, dtype=np.int32)
    for c in range(len(candidates)):
        for chosen in range(1, (1 << size) - 1):
            n_chosen = 0
            for place in range(size):
                if chosen >> place & 1:
                    subset[n_chosen] = candidates[c, place]
                    n_chosen += 1
            if n_chosen < 2:
                continue
            slot = hash_items(subset, 0, n_chosen) & mask
            while table[slot] >= 0 and not marked[c]:
                known = table[slot]
                same = sizes[known] == n_chosen
                for place in range(n_chosen):
                    same = same and itemsets[known, place] == subset[place]
                marked[c] = same
                slot = (slot + 1) & mask
            if marked[c]:
                break
    return marked


# -- cuts that are refined, and what must be suppressed then --------------------------------------------------------


class ThreatTree(NamedTuple):
    """A cut that moves down a tree, and the threats of all cuts of that tree.

    Threats are numbered by the rank of their last member, members stand in order of rank: taken in turn, a threat none
    of whose members is suppressed yet takes its last member with it. That is the greedy pass over the nodes by rank.
    """

    members: NDArray[np.int32]  # [n_threats, width] padded with -1
    sizes: NDArray[np.int64]  # [n_threats]
    threat_starts: NDArray[np.int64]  # [n_nodes + 1] the threats of node v are threats[starts[v]:starts[v + 1]]
    threats: NDArray[np.int32]  # ascending for each node
    child_starts: NDArray[np.int64]  # [n_nodes + 1] the children of node v are children[starts[v]:starts[v + 1]]
    children: NDArray[np.int32]
    parent: NDArray[np.int32]  # [n_nodes]
    suppression_cost: NDArray[np.int64]  # [n_nodes]
    is_in_cut: NDArray[np.bool_]  # [n_nodes] changed by the caller


@compiled
def find_threats_after_split(tree: ThreatTree, active: NDArray[np.int32], node: int) -> NDArray[np.int32]:
    """The threats within the cut after ``node`` is replaced by its children; ``active`` are those before. Ascending."""
    n_new = 0
    for c in range(tree.child_starts[node], tree.child_starts[node + 1]):
        n_new += tree.threat_starts[tree.children[c] + 1] - tree.threat_starts[tree.children[c]]
    found = np.empty(n_new, dtype=np.int32)
    n_new = 0
    for c in range(tree.child_starts[node], tree.child_starts[node + 1]):
        child = tree.children[c]
        for t in range(tree.threat_starts[child], tree.threat_starts[child + 1]):
            threat = tree.threats[t]
            is_within = True
            for j in range(tree.sizes[threat]):
                member = tree.members[threat, j]
                if tree.parent[member] == node:
                    is_within = member >= child  # found once, by its smallest child of the node
                else:
                    is_within = tree.is_in_cut[member] and member != node
                if not is_within:
                    break
            if is_within:
                found[n_new] = threat
                n_new += 1
    sort_values(found[:n_new])
    merged = np.empty(n_new + len(active), dtype=np.int32)
    n_merged = 0
    new = 0
    for old in active:
        holds_node = False
        for j in range(tree.sizes[old]):
            holds_node |= tree.members[old, j] == node
        if holds_node:
            continue
        while new < n_new and found[new] < old:
            merged[n_merged] = found[new]
            n_merged += 1
            new += 1
        merged[n_merged] = old
        n_merged += 1
    for rest in range(new, n_new):
        merged[n_merged] = found[rest]
        n_merged += 1
    return merged[:n_merged]


@compiled
def suppress_greedily(
    tree: ThreatTree, active: NDArray[np.int32], suppressed_for: NDArray[np.int64], mark: int
) -> tuple[int, NDArray[np.int32]]:
    """Suppress until no active threat is left; returns the cost and the threats that decided.

    A node is suppressed where ``suppressed_for`` [n_nodes] holds ``mark``, which the caller has not used before.
    """
    cost = 0
    n_deciding = 0
    deciding = np.empty(len(active), dtype=np.int32)
    for threat in active:
        is_open = True
        for j in range(tree.sizes[threat]):
            is_open = is_open and suppressed_for[tree.members[threat, j]] != mark
        if is_open:
            last = tree.members[threat, tree.sizes[threat] - 1]
            suppressed_for[last] = mark
            cost += tree.suppression_cost[last]
            deciding[n_deciding] = threat
            n_deciding += 1
    return cost, deciding[:n_deciding]


@compiled
def cost_suppression_after_splits(
    tree: ThreatTree, active: NDArray[np.int32], nodes: NDArray[np.int32]
) -> NDArray[np.int64]:
    """For each of the ``nodes`` what suppression costs after it is replaced by its children."""
    costs = np.empty(len(nodes), dtype=np.int64)
    suppressed_for = np.full(len(tree.parent), -1, dtype=np.int64)
    for n in range(len(nodes)):
        costs[n], _ = suppress_greedily(tree, find_threats_after_split(tree, active, nodes[n]), suppressed_for, n)
    return costs
