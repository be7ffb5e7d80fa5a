# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Rare itemsets over the nodes of a tree, found by counting only its lowest level.

Records are sets of nodes of which none lies above another. An itemset of unrelated nodes is contained in a record if
the record has something at or below each of them. Almost all of the work of counting such itemsets is spent on those
that are frequent anyway, so they are settled first:

1. *Count* the itemsets of the lowest level, the records as they are. There are few of them per record.
2. *Spread*: an itemset above a frequent one is frequent. What is left has only rare itemsets below it.
3. *Recount*: every rare itemset of the lowest level occurs fewer than k times, so going through these occurrences once
   more and counting, per record, everything above them that is left, is cheap, and exact.

Supports up to ``k`` live in one dense table. Nodes are numbered so that ancestors come first; the itemset x1 < x2 < …
< xs has the place C(x1, 1) + C(x2, 2) + … + C(xs, s). Counting stops at k, so adding up tables of parts of the
records, stopping at k again, gives the same table whatever the parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown
from setveil.arrays.sorting import sort_values

MAX_K = 65_535  # supports are kept in 16 bits
MAX_TABLE_SIZE = 1 << 27  # of a table


class NumberedTree(NamedTuple):
    """Nodes in an order in which ancestors come first; only these are counted."""

    parent: NDArray[np.int32]  # [n] number of the parent, -1 where there is none or it is not counted
    first: NDArray[np.int32]  # [n] two nodes are related if their runs first..last overlap
    last: NDArray[np.int32]  # [n]


class Sets(NamedTuple):
    """Records with their number, as leaves; ``lowest[leaf]`` is the number of the node it stands for, -1 for none."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.int64]
    lowest: NDArray[np.int32]
    longest: int


def binomials(n: int, size: int) -> NDArray[np.int64]:
    """``[x, j]`` = C(x, j) for x ≤ n, j ≤ size; only for tables that fit into memory, so that nothing overflows."""
    table = np.zeros((n + 1, size + 1), dtype=np.int64)
    table[:, 0] = 1
    for x in range(1, n + 1):
        table[x, 1:] = table[x - 1, 1:] + table[x - 1, :-1]
    return table


def n_itemsets_of(n: int, size: int) -> int:
    """How many itemsets of one size there are over n nodes, without regard to who is related to whom."""
    count = 1
    for taken in range(size):
        count = count * max(n - taken, 0) // (taken + 1)
    return count


def decode(positions: NDArray[np.int64], choose: NDArray[np.int64]) -> NDArray[np.int32]:
    """The itemsets at some positions, ascending in each row: int32[len(positions), size]."""
    size = choose.shape[1] - 1
    itemsets = np.empty((len(positions), size), dtype=np.int32)
    rest = positions.copy()
    for j in range(size, 0, -1):
        itemsets[:, j - 1] = np.searchsorted(choose[:, j], rest, side="right") - 1
        rest -= choose[itemsets[:, j - 1], j]
    return itemsets


@compiled
def count_node_supports(
    indptr: NDArray[np.int64], leaves: NDArray[np.int32], parent: NDArray[np.int32]
) -> NDArray[np.int64]:
    """In how many records each node of a tree, or something below it, occurs: int64[n_nodes]."""
    supports = np.zeros(len(parent), dtype=np.int64)
    seen_in = np.full(len(parent), -1, dtype=np.int64)
    for row in range(len(indptr) - 1):
        for place in range(indptr[row], indptr[row + 1]):
            node = leaves[place]
            while node >= 0 and seen_in[node] != row:
                seen_in[node] = row
                supports[node] += 1
                node = parent[node]
    return supports


@compiled
def read_line(sets: Sets, row: int, line: NDArray[np.int32]) -> int:
    """Write the numbers of a record, ascending and each once, into ``line``; returns how many there are."""
    n = 0
    for place in range(sets.indptr[row], sets.indptr[row + 1]):
        value = sets.lowest[sets.items[place]]
        if value < 0:
            continue
        at = n
        while at > 0 and line[at - 1] > value:
            at -= 1
        if at > 0 and line[at - 1] == value:
            continue
        for move in range(n, at, -1):
            line[move] = line[move - 1]
        line[at] = value
        n += 1
    return n


@compiled
def next_rest(
    line: NDArray[np.int32], choose: NDArray[np.int64], chosen: NDArray[np.int64], base: NDArray[np.int64]
) -> bool:
    """Go on to the next choice of all items of an itemset but the two smallest; False after the last one.

    ``chosen[j]`` is the place in ``line`` of the j-th smallest item, ``base[j]`` what items j and up add to the place
    in the table. ``chosen[0]`` holds the item that is being chosen; ``begin`` sets everything up.
    """
    size = choose.shape[1] - 1
    if size == 2:  # nothing to choose: once
        chosen[0] += 1
        return bool(chosen[0] == 3)
    j = chosen[0]
    while j <= size:
        chosen[j] += 1
        if chosen[j] >= chosen[j + 1]:
            j += 1
            continue
        base[j] = base[j + 1] + choose[line[chosen[j]], j]
        if j == 3:
            chosen[0] = 3
            return True
        j -= 1
        chosen[j] = j - 2
    return False


@compiled
def begin(n: int, size: int, chosen: NDArray[np.int64], base: NDArray[np.int64]) -> None:
    """Before the first choice from a line of n."""
    chosen[0], chosen[size], chosen[size + 1], base[size + 1] = size, size - 2, n, 0


@compiled
def count_lowest(
    sets: Sets, first: int, last: int, choose: NDArray[np.int64], k: int, table: NDArray[np.uint16]
) -> None:
    """Add the records ``first:last`` to the supports of the itemsets they are made of, up to k."""
    size = choose.shape[1] - 1
    line = np.empty(sets.longest, dtype=np.int32)
    chosen = np.empty(size + 2, dtype=np.int64)
    base = np.zeros(size + 2, dtype=np.int64)
    for row in range(first, last):
        n = read_line(sets, row, line)
        weight = min(sets.weights[row], k)
        begin(n, size, chosen, base)
        while next_rest(line, choose, chosen, base):
            for second in range(1, chosen[3]):
                before = base[3] + choose[line[second], 2]
                for at in range(second):
                    place = np.uint64(before + line[at])
                    if table[place] < k:  # most are not: looking is cheaper than writing
                        support = table[place] + weight
                        table[place] = support if support < k else k


@compiled
def add_up_to(k: int, table: NDArray[np.uint16], other: NDArray[np.uint16]) -> None:
    """Add one table to another, up to k."""
    for place in range(len(table)):
        support = np.int64(table[place]) + other[place]
        table[place] = support if support < k else k


@compiled
def spread_frequent(tree: NumberedTree, choose: NDArray[np.int64], k: int, table: NDArray[np.uint16]) -> None:
    """Set the support of everything above a frequent itemset to k.

    A step up to a parent leads to an earlier place, so going backwards each itemset is seen after those below it.
    """
    size = choose.shape[1] - 1
    members = np.empty(size, dtype=np.int32)
    higher = np.empty(size, dtype=np.int32)
    for place in range(len(table) - 1, -1, -1):
        if table[place] < k:
            continue
        rest = place
        above = len(choose)
        for j in range(size, 0, -1):
            low, high = 0, above  # the largest x with C(x, j) <= rest
            while high - low > 1:
                middle = (low + high) // 2
                if choose[middle, j] <= rest:
                    low = middle
                else:
                    high = middle
            members[j - 1] = low
            rest -= choose[low, j]
            above = low + 1
        for raised in range(size):
            parent = tree.parent[members[raised]]
            if parent < 0:
                continue
            is_free = True
            for j in range(size):
                higher[j] = members[j]
                is_free &= j == raised or not are_related(tree, parent, members[j])
            if is_free:
                higher[raised] = parent
                table[place_of(higher, choose)] = k


@compiled
def are_related(tree: NumberedTree, one: int, other: int) -> bool:
    """Whether one node is the other, or lies above or below it."""
    return tree.first[one] < tree.last[other] and tree.first[other] < tree.last[one]


@compiled
def place_of(members: NDArray[np.int32], choose: NDArray[np.int64]) -> int:
    """The place of an itemset; sorts it."""
    place = 0
    for j in range(len(members)):
        value = members[j]
        at = j
        while at > 0 and members[at - 1] > value:
            members[at] = members[at - 1]
            at -= 1
        members[at] = value
    for j in range(len(members)):
        place += choose[members[j], j + 1]
    return place


@compiled
def has_rare(
    line: NDArray[np.int32],
    n: int,
    choose: NDArray[np.int64],
    k: int,
    table: NDArray[np.uint16],
    chosen: NDArray[np.int64],
    base: NDArray[np.int64],
) -> bool:
    """Whether a line has an itemset below k. Most have none, and this loop has nothing else to do."""
    begin(n, choose.shape[1] - 1, chosen, base)
    while next_rest(line, choose, chosen, base):
        for second in range(1, chosen[3]):
            before, n_rare = base[3] + choose[line[second], 2], 0
            for at in range(second):
                n_rare += table[np.uint64(before + line[at])] < k
            if n_rare > 0:
                return True
    return False


@compiled
def recount_rare(
    sets: Sets,
    first: int,
    last: int,
    tree: NumberedTree,
    choose: NDArray[np.int64],
    k: int,
    table: NDArray[np.uint16],
    rare: NDArray[np.uint16],
) -> None:
    """Add the records ``first:last`` to the supports, up to k, of all itemsets that have only rare ones below them."""
    size = choose.shape[1] - 1
    line = np.empty(sets.longest, dtype=np.int32)
    chosen = np.empty(size + 2, dtype=np.int64)
    base = np.zeros(size + 2, dtype=np.int64)
    members = np.empty(size, dtype=np.int32)
    found = np.empty(1024, dtype=np.int64)
    for row in range(first, last):
        n = read_line(sets, row, line)
        if not has_rare(line, n, choose, k, table, chosen, base):
            continue
        n_found = 0
        begin(n, size, chosen, base)
        while next_rest(line, choose, chosen, base):
            for second in range(1, chosen[3]):
                before = base[3] + choose[line[second], 2]
                for at in range(second):
                    if table[before + line[at]] < k:
                        members[0], members[1] = line[at], line[second]
                        for j in range(3, size + 1):
                            members[j - 1] = line[chosen[j]]
                        found, n_found = collect_above(members, tree, choose, k, table, found, n_found)
        sort_values(found[:n_found])
        weight = min(sets.weights[row], k)
        for at in range(n_found):
            if at == 0 or found[at] != found[at - 1]:  # a record counts once
                support = rare[found[at]] + weight
                rare[found[at]] = support if support < k else k


@compiled
def collect_above(
    members: NDArray[np.int32],
    tree: NumberedTree,
    choose: NDArray[np.int64],
    k: int,
    table: NDArray[np.uint16],
    found: NDArray[np.int64],
    n_found: int,
) -> tuple[NDArray[np.int64], int]:
    """Append the positions of an itemset and of everything above it that may be rare; the list may have to grow."""
    size = len(members)
    current = members.copy()
    raised = np.empty(size, dtype=np.int32)
    j = 0
    while j < size:
        is_free = True
        for one in range(size):
            raised[one] = current[one]
            for other in range(one):
                is_free &= not are_related(tree, current[one], current[other])
        if is_free:
            place = place_of(raised, choose)
            if table[place] < k:
                if n_found == len(found):
                    found = grown(found, n_found + 1)
                found[n_found] = place
                n_found += 1
        j = 0
        while j < size:  # the next combination of ancestors
            current[j] = tree.parent[current[j]]
            if current[j] >= 0:
                break
            current[j] = members[j]
            j += 1
    return found, n_found
