# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Rare itemsets of nodes pushed up a tree for as long as they stay rare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._counting import Csr, are_equal
from setveil.arrays.compiling import compiled
from setveil.arrays.containers import hash_items
from setveil.arrays.sorting import sort_values


class NodeRows(NamedTuple):
    """Weighted rows of nodes, in which of them each node of the tree occurs, and the tree.

    A row contains a node if it holds the node or something below it: an item whose place lies in the node's run.
    """

    indptr: NDArray[np.int64]  # [rows + 1]
    run_start: NDArray[np.int32]  # [z] where the run of each item begins
    weights: NDArray[np.int64]  # [rows]
    starts: NDArray[np.int64]  # [nodes + 1] node v occurs in the rows rows[starts[v]:starts[v + 1]], ascending
    rows: NDArray[np.int32]
    above: NDArray[np.int32]  # [nodes] where a node can be pushed to, -1 if nowhere
    first: NDArray[np.int32]  # [nodes] runs first..last
    last: NDArray[np.int32]


@compiled
def lift_itemsets(index: NodeRows, itemsets: NDArray[np.int32], k: int, spreads: bool) -> NDArray[np.int32]:
    """Push the members of rare itemsets [n, size] up as far as the support stays below ``k``: [n_lifted, size].

    An itemset is lifted once per member, that member first, so that the results are maximal in different ways. It is
    skipped if it lies below one that was lifted before, or, with ``spreads``, below siblings of one. Members of a
    result never cover one another.
    """
    n, size = itemsets.shape
    lifted = np.empty((max(n, 16), size), dtype=np.int32)
    keys = np.empty_like(lifted)  # [., size] the lifted members, or what stands above them, ascending
    n_lifted = 0
    table = np.full(64, -1, dtype=np.int64)  # open hash table of positions in ``keys``
    members = np.empty(size, dtype=np.int32)
    key = np.empty(size, dtype=np.int32)
    for i in range(n):
        if lies_below(index, itemsets[i], keys, table, spreads):
            continue
        for turn in range(size):
            for j in range(size):
                members[j] = itemsets[i, j]
            for step in range(size):
                lift_member(index, members, (turn + step) % size, k)
            for j in range(size):
                key[j] = index.above[members[j]] if spreads else members[j]
            sort_values(key)
            slot = find_slot(key, keys, table)
            if table[slot] < 0:
                if n_lifted == len(lifted):
                    lifted, keys = double(lifted), double(keys)
                for j in range(size):
                    lifted[n_lifted, j] = members[j]
                    keys[n_lifted, j] = key[j]
                table[slot] = n_lifted
                n_lifted += 1
                if 2 * n_lifted > len(table):
                    table = np.full(4 * len(table), -1, dtype=np.int64)
                    for number in range(n_lifted):
                        table[find_slot(keys[number], keys, table)] = number
    return lifted[:n_lifted]


@compiled
def double(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """A table with the same rows and room for as many again."""
    n, width = table.shape
    larger = np.empty((2 * n, width), dtype=np.int32)
    for row in range(n):
        for column in range(width):
            larger[row, column] = table[row, column]
    return larger


@compiled
def find_slot(key: NDArray[np.int32], keys: NDArray[np.int32], table: NDArray[np.int64]) -> int:
    """Where a key stands in the table, or the free slot where it belongs."""
    mask = len(table) - 1
    slot = hash_items(key, 0, len(key)) & mask
    while table[slot] >= 0 and not are_equal(key, 0, len(key), keys[table[slot]], 0, len(key)):
        slot = (slot + 1) & mask
    return slot


@compiled
def lies_below(
    index: NodeRows, itemset: NDArray[np.int32], keys: NDArray[np.int32], table: NDArray[np.int64], spreads: bool
) -> bool:
    """Whether raising members (with ``spreads`` all of them) gives a key; not tried beyond three members, too many
    ways.
    """
    size = len(itemset)
    if size > 3:
        return False
    raised = np.empty(size, dtype=np.int32)
    key = np.empty(size, dtype=np.int32)
    for j in range(size):
        raised[j] = index.above[itemset[j]] if spreads else itemset[j]
    j = 0
    while j < size:  # all combinations of ancestors, like an odometer
        for part in range(size):
            key[part] = raised[part]
        sort_values(key)
        if table[find_slot(key, keys, table)] >= 0:
            return True
        j = 0
        while j < size:
            raised[j] = index.above[raised[j]]
            if raised[j] >= 0:
                break
            raised[j] = index.above[itemset[j]] if spreads else itemset[j]
            j += 1
    return False


@compiled
def lift_member(index: NodeRows, members: NDArray[np.int32], j: int, k: int) -> None:
    """Push member ``j`` up as far as the support of all members stays below ``k``."""
    n_levels = count_free_levels(index, members, j)
    if n_levels == 0:
        return
    rarest = -1
    for other in range(len(members)):
        if other != j and (rarest < 0 or n_rows_of(index, members[other]) < n_rows_of(index, members[rarest])):
            rarest = other
    counts = np.zeros(n_levels + 1, dtype=np.int64)  # records by the lowest level at which they hold member j
    highest, support = n_levels, 0  # support of the itemset with member j at level ``highest``
    if rarest < 0:
        begin, end = 0, len(index.weights)
    else:
        begin, end = index.starts[members[rarest]], index.starts[members[rarest] + 1]
    for entry in range(begin, end):
        row = entry if rarest < 0 else index.rows[entry]
        level = find_level(index, row, members, j, highest)
        if level <= highest:
            counts[level] += index.weights[row]
            support += index.weights[row]
            while support >= k:  # ends at level 0 at the latest: there the itemset is rare
                support -= counts[highest]
                highest -= 1
            if highest == 0:
                return
    node = members[j]
    for _ in range(highest):
        node = index.above[node]
    members[j] = node


@compiled
def n_rows_of(index: NodeRows, node: int) -> int:
    """In how many rows a node occurs."""
    return index.starts[node + 1] - index.starts[node]


@compiled
def count_free_levels(index: NodeRows, members: NDArray[np.int32], j: int) -> int:
    """How many steps member ``j`` can go up without covering another member."""
    node, n_levels = index.above[members[j]], 0
    while node >= 0:
        for other in range(len(members)):
            place = index.first[members[other]]
            if other != j and index.first[node] <= place < index.last[node]:
                return n_levels
        node = index.above[node]
        n_levels += 1
    return n_levels


@compiled
def find_level(index: NodeRows, row: int, members: NDArray[np.int32], j: int, highest: int) -> int:
    """How far member ``j`` must go up until the row contains all members; ``highest + 1`` if that is not enough."""
    begin, end = index.indptr[row], index.indptr[row + 1]
    for other in range(len(members)):
        if other != j:
            contained = False
            for p in range(begin, end):
                contained |= index.first[members[other]] <= index.run_start[p] < index.last[members[other]]
            if not contained:
                return highest + 1
    level = highest + 1
    for p in range(begin, end):
        node, steps = members[j], 0
        while steps < level and not index.first[node] <= index.run_start[p] < index.last[node]:
            steps += 1
            node = index.above[node]
            if node < 0:
                steps = level
        level = steps
    return level


@compiled
def collect_tuples(index: NodeRows, itemsets: NDArray[np.int32], item_at: NDArray[np.int32]) -> NDArray[np.int32]:
    """All ways to take one item below each member of an itemset from one row: [n_tuples, size + 1].

    The last column is the place of the itemset. ``item_at`` gives the item at each place of the tree. The same tuple
    may come from several rows.
    """
    n, size = itemsets.shape
    tuples = np.empty((max(4 * n, 16), size + 1), dtype=np.int32)
    n_tuples = 0
    at = np.empty(size, dtype=np.int64)  # where in the row each member's item stands
    for i in range(n):
        members = itemsets[i]
        rarest = 0
        for j in range(size):
            if n_rows_of(index, members[j]) < n_rows_of(index, members[rarest]):
                rarest = j
        for entry in range(index.starts[members[rarest]], index.starts[members[rarest] + 1]):
            row = index.rows[entry]
            j = 0
            at[0] = index.indptr[row] - 1
            while j >= 0:  # depth first over the members
                at[j] = find_next_below(index, members[j], at[j] + 1, index.indptr[row + 1])
                if at[j] < 0:
                    j -= 1
                elif j + 1 < size:
                    j += 1
                    at[j] = index.indptr[row] - 1
                else:
                    if n_tuples == len(tuples):
                        tuples = double(tuples)
                    for part in range(size):
                        tuples[n_tuples, part] = item_at[index.run_start[at[part]]]
                    tuples[n_tuples, size] = i
                    n_tuples += 1
    return tuples[:n_tuples]


@compiled
def find_next_below(index: NodeRows, node: int, begin: int, end: int) -> int:
    """The first position from ``begin`` to ``end`` that holds something below a node, or -1."""
    for p in range(begin, end):
        if index.first[node] <= index.run_start[p] < index.last[node]:
            return p
    return -1


@compiled
def shrink_rare_rows(index: NodeRows, items: NDArray[np.int32], begin: int, end: int, k: int) -> Csr:
    """For each of the rows ``begin`` to ``end`` with support below ``k`` one minimal rare itemset it contains, as CSR.

    ``items`` are the nodes at ``index.run_start``. Members are dropped from the right for as long as the rest is rare.
    """
    indptr = np.zeros(end - begin + 1, dtype=np.int64)
    kept = np.empty(index.indptr[end] - index.indptr[begin], dtype=np.int32)
    n_kept, n_found = 0, 0
    for row in range(begin, end):
        begins = index.indptr[row]
        size = index.indptr[row + 1] - begins
        members = np.empty(size, dtype=np.int32)
        for j in range(size):
            members[j] = items[begins + j]
        if size == 0 or is_frequent(index, members, k):
            continue
        j = size - 1
        while j >= 0 and size > 1:
            dropped = members[j]
            for place in range(j, size - 1):
                members[place] = members[place + 1]
            if is_frequent(index, members[: size - 1], k):
                for place in range(size - 1, j, -1):
                    members[place] = members[place - 1]
                members[j] = dropped
            else:
                size -= 1
            j -= 1
        for j in range(size):
            kept[n_kept] = members[j]
            n_kept += 1
        n_found += 1
        indptr[n_found] = n_kept
    return indptr[: n_found + 1], kept[:n_kept]


@compiled
def is_frequent(index: NodeRows, members: NDArray[np.int32], k: int) -> bool:
    """Whether at least ``k`` records contain all members."""
    rarest = 0
    for j in range(len(members)):
        if n_rows_of(index, members[j]) < n_rows_of(index, members[rarest]):
            rarest = j
    support = 0
    for row in index.rows[index.starts[members[rarest]] : index.starts[members[rarest] + 1]]:
        j = 0
        while j < len(members) and (
            j == rarest or find_next_below(index, members[j], index.indptr[row], index.indptr[row + 1]) >= 0
        ):
            j += 1
        if j == len(members):
            support += index.weights[row]
            if support >= k:
                return True
    return False
