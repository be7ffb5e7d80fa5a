# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops of LG: pick a node of a partition, distribute its records, balance what is left over.

Partitions lie on a stack, one after the other; the last one is split first. Its parts take its place, in the order of
their children, the leftovers last. Members of a partition are always in the order of distinct records.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import mix_in, place_in
from setveil.arrays.sorting import stable_order

PARTITIONS, WAITING, VARIANTS, FINISHED = 0, 1, 2, 3  # positions in ``Stack.sizes``


class Tree(NamedTuple):
    """The hierarchy, with the children of each node in the order of leaves."""

    first: NDArray[np.int32]  # [n_nodes] node v covers the leaves at positions first[v] … last[v]-1
    last: NDArray[np.int32]
    price: NDArray[np.int64]  # [n_nodes] what an entry published as this node costs
    rank: NDArray[np.int32]  # [n_nodes] preorder
    bounds: NDArray[np.int64]  # [n_nodes + 1] the children of v are children[bounds[v]:bounds[v + 1]]
    children: NDArray[np.int32]
    starts: NDArray[np.int32]  # [n_nodes - 1] ``first`` of each of these children


class Variants(NamedTuple):
    """Copies of a distinct record that are published alike; entries are those of ``indptr``, in the order of leaves."""

    indptr: NDArray[np.int64]
    copies: NDArray[np.int64]
    row: NDArray[np.int64]  # the distinct record
    place: NDArray[np.int32]  # [entries] the leaf's place in the hierarchy's order of leaves
    cover: NDArray[np.int32]  # [entries] the node that is published
    below: NDArray[np.int32]  # [entries] the child that would replace it; -1 if it cannot be expanded (any more)


class Stack(NamedTuple):
    """Partitions that wait, and variants that are finished."""

    bounds: NDArray[np.int64]  # partition j has the variants members[bounds[j]:bounds[j + 1]]
    members: NDArray[np.int64]
    finished: NDArray[np.int64]  # variants of finished partitions, one after the other
    sizes: NDArray[np.int64]  # [4] finished partitions, waiting partitions, variants, finished variants


@compiled
def split_partitions(tree: Tree, variants: Variants, stack: Stack, k: int, n_entries: int) -> bool:
    """Split partitions until none waits, so many entries were looked at, or there is no room; whether there was."""
    gain = np.zeros(len(tree.price), dtype=np.int64)
    while stack.sizes[WAITING] > 0 and n_entries > 0:
        begin, end = stack.bounds[stack.sizes[WAITING] - 1], stack.bounds[stack.sizes[WAITING]]
        members = stack.members[begin:end].copy()
        n_new = min(k, end - begin)  # at most so many records are moved to the leftovers
        longest = 0
        for variant in members:
            n_entries -= variants.indptr[variant + 1] - variants.indptr[variant]
            longest = max(longest, variants.indptr[variant + 1] - variants.indptr[variant])
        n_variants = stack.sizes[VARIANTS]
        if (
            end + n_new > len(stack.members)
            or n_variants + n_new > len(variants.copies)
            or variants.indptr[n_variants] + n_new * longest > len(variants.place)
        ):
            return False
        node = pick_node(tree, variants, members, gain)
        if node < 0:
            finish(stack, members)
        else:
            expand(tree, variants, stack, members, node, k)
    return True


@compiled
def finish(stack: Stack, members: NDArray[np.int64]) -> None:
    """The last partition is published as it is."""
    stack.sizes[WAITING] -= 1
    stack.sizes[PARTITIONS] += 1
    for variant in members:
        stack.finished[stack.sizes[FINISHED]] = variant
        stack.sizes[FINISHED] += 1


@compiled
def pick_node(tree: Tree, variants: Variants, members: NDArray[np.int64], gain: NDArray[np.int64]) -> int:
    """The node with the largest gain that may be expanded, the first depth first among equals; -1 if there is none.

    ``gain`` [n_nodes] is all zeros before and after.
    """
    for variant in members:
        for entry in range(variants.indptr[variant], variants.indptr[variant + 1]):
            if variants.below[entry] >= 0:
                node = variants.cover[entry]
                gain[node] += variants.copies[variant] * (tree.price[node] - tree.price[variants.below[entry]])
    best = np.int64(-1)
    begin, end = variants.indptr[members[0]], variants.indptr[members[0] + 1]  # all members have the same nodes
    for entry in range(begin, end):
        if variants.below[entry] >= 0:
            node = np.int64(variants.cover[entry])
            if best < 0 or (gain[node], -tree.rank[node]) > (gain[best], -tree.rank[best]):
                best = node
    for entry in range(begin, end):
        gain[variants.cover[entry]] = 0
    return best


@compiled
def expand(tree: Tree, variants: Variants, stack: Stack, members: NDArray[np.int64], node: int, k: int) -> None:
    """Replace the last partition by its parts."""
    group_of, n_groups = distribute(tree, variants, members, node, k)
    moved = balance(tree, variants, members, node, group_of, n_groups, k)
    n_members = np.zeros(n_groups + 1, dtype=np.int64)  # of each group, and of the leftovers
    for at in range(len(members)):
        n_members[n_groups] += moved[at] > 0
        if moved[at] < variants.copies[members[at]]:
            n_members[group_of[at]] += 1
    stack.sizes[WAITING] -= 1
    end = stack.bounds[stack.sizes[WAITING]]
    free = np.empty(n_groups + 1, dtype=np.int64)
    for group in range(n_groups + 1):
        free[group] = end
        if n_members[group] > 0:
            end += n_members[group]
            stack.sizes[WAITING] += 1
            stack.bounds[stack.sizes[WAITING]] = end
    for at in range(len(members)):
        variant = members[at]
        if moved[at] > 0:
            left = variant if moved[at] == variants.copies[variant] else split_off(variants, stack, variant, moved[at])
            stack.members[free[n_groups]] = left
            free[n_groups] += 1
            begin, end = entries_below(tree, variants, left, node)
            for entry in range(begin, end):
                variants.below[entry] = -1
            if left == variant:
                continue
        stack.members[free[group_of[at]]] = variant
        free[group_of[at]] += 1
        begin, end = entries_below(tree, variants, variant, node)
        for entry in range(begin, end):
            variants.cover[entry] = variants.below[entry]
            variants.below[entry] = child_above(tree, variants.cover[entry], variants.place[entry])


@compiled
def entries_below(tree: Tree, variants: Variants, variant: int, node: int) -> tuple[int, int]:
    """The entries of a variant that a node covers, from and to."""
    end = variants.indptr[variant + 1]
    begin = place_in(variants.place, variants.indptr[variant], end, tree.first[node])
    return begin, place_in(variants.place, begin, end, tree.last[node])


@compiled
def child_above(tree: Tree, node: int, place: int) -> int:
    """The child of a node that covers the leaf at a place, -1 if the node is a leaf."""
    begin, end = tree.bounds[node], tree.bounds[node + 1]
    return tree.children[place_in(tree.starts, begin, end, place + 1) - 1] if begin < end else np.int32(-1)


@compiled
def show_children(tree: Tree, place: NDArray[np.int32], cover: NDArray[np.int32], below: NDArray[np.int32]) -> None:
    """Write below which child of its node each entry lies."""
    for entry in range(len(place)):
        below[entry] = child_above(tree, cover[entry], place[entry])


@compiled
def gain_of(tree: Tree, variants: Variants, variant: int, node: int) -> int:
    """How much less one copy costs if a node is replaced by its children."""
    begin, end = entries_below(tree, variants, variant, node)
    gain = np.int64(0)
    for entry in range(begin, end):
        gain += tree.price[node] - tree.price[variants.below[entry]]
    return gain


@compiled
def distribute(
    tree: Tree, variants: Variants, members: NDArray[np.int64], node: int, k: int
) -> tuple[NDArray[np.int64], int]:
    """The group of each member, and the number of groups: records with something below the same children.

    Groups of fewer than k records are -1, the others are numbered in the order of their children. A group is a path
    from the root of a trie, whose node t stands for the path to ``above[t]`` and ``child[t]``.
    """
    n_entries = np.int64(1)
    for variant in members:
        begin, end = entries_below(tree, variants, variant, node)
        n_entries += end - begin
    above = np.empty(n_entries, dtype=np.int64)
    child = np.empty(n_entries, dtype=np.int64)
    size = np.zeros(n_entries, dtype=np.int64)  # records whose path ends here
    mask = np.int64(1)
    while mask < 2 * n_entries:
        mask *= 2
    table = np.full(mask, -1, dtype=np.int64)  # open hash table of nodes of the trie
    mask -= 1
    n_known = np.int64(1)
    path_of = np.zeros(len(members), dtype=np.int64)
    for at in range(len(members)):
        begin, end = entries_below(tree, variants, members[at], node)
        path, last = np.int64(0), np.int64(-1)
        for entry in range(begin, end):
            if variants.below[entry] == last:
                continue
            last = np.int64(variants.below[entry])
            slot = np.int64(mix_in(mix_in(np.uint64(path), last), 0) >> np.uint64(2)) & mask
            while table[slot] >= 0 and (above[table[slot]] != path or child[table[slot]] != last):
                slot = (slot + 1) & mask
            if table[slot] < 0:
                table[slot], above[n_known], child[n_known] = n_known, path, last
                n_known += 1
            path = table[slot]
        path_of[at] = path
        size[path] += variants.copies[members[at]]
    number, n_groups = number_in_order(above[:n_known], child, size, k)
    for at in range(len(members)):
        path_of[at] = number[path_of[at]]
    return path_of, n_groups


@compiled
def number_in_order(
    above: NDArray[np.int64], child: NDArray[np.int64], size: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int64], int]:
    """Number the paths of a trie that at least k records have, in the order of their children; the others are -1."""
    number = np.full(len(above), -1, dtype=np.int64)
    depth = np.zeros(len(above), dtype=np.int64)
    n_groups, deepest = 0, 0
    for path in range(1, len(above)):  # after the one above
        depth[path] = depth[above[path]] + 1
        if size[path] >= k:
            n_groups += 1
            deepest = max(deepest, depth[path])
    paths = np.empty(n_groups, dtype=np.int64)
    n_groups = 0
    for path in range(1, len(above)):
        if size[path] >= k:
            paths[n_groups] = path
            n_groups += 1
    keys = np.empty(n_groups, dtype=np.int64)
    for level in range(deepest, 0, -1):  # the last child first; sorting keeps the order of equal ones
        for place in range(n_groups):
            path = paths[place]
            while depth[path] > level:
                path = above[path]
            keys[place] = child[path] if depth[path] == level else -1
        order = stable_order(keys)
        for place in range(n_groups):
            order[place] = paths[order[place]]
        paths = order
    for place in range(n_groups):
        number[paths[place]] = place
    return number, n_groups


@compiled
def balance(
    tree: Tree,
    variants: Variants,
    members: NDArray[np.int64],
    node: int,
    group_of: NDArray[np.int64],
    n_groups: int,
    k: int,
) -> NDArray[np.int64]:
    """How many copies of each member join the leftovers: all of groups below k, and more if these are fewer than k."""
    moved = np.zeros(len(members), dtype=np.int64)
    spare = np.full(n_groups, -k, dtype=np.int64)
    n_left, n_spare = np.int64(0), -k * n_groups
    for at in range(len(members)):
        copies = variants.copies[members[at]]
        if group_of[at] < 0:
            moved[at] = copies
            n_left += copies
        else:
            spare[group_of[at]] += copies
            n_spare += copies
    if n_left == 0 or n_left >= k:
        return moved
    gain = np.empty(len(members), dtype=np.int64)  # of one copy
    for at in range(len(members)):
        gain[at] = gain_of(tree, variants, members[at], node)
    if n_spare < k - n_left:
        return move_group(variants, members, gain, group_of, n_groups, moved)
    for at in stable_order(gain):  # members are in the order of records
        if group_of[at] >= 0:
            moved[at] = min(variants.copies[members[at]], spare[group_of[at]], k - n_left)
            spare[group_of[at]] -= moved[at]
            n_left += moved[at]
    return moved


@compiled
def move_group(
    variants: Variants,
    members: NDArray[np.int64],
    gain: NDArray[np.int64],
    group_of: NDArray[np.int64],
    n_groups: int,
    moved: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The group that loses least joins the leftovers, the one with the first children among equals."""
    loss = np.zeros(n_groups, dtype=np.int64)
    for at in range(len(members)):
        if group_of[at] >= 0:
            loss[group_of[at]] += variants.copies[members[at]] * gain[at]
    least = 0
    for group in range(n_groups):
        if loss[group] < loss[least]:
            least = group
    for at in range(len(members)):
        if group_of[at] == least:
            moved[at] = variants.copies[members[at]]
    return moved


@compiled
def split_off(variants: Variants, stack: Stack, variant: int, n_copies: int) -> int:
    """A new variant that takes over some copies of another."""
    new = stack.sizes[VARIANTS]
    stack.sizes[VARIANTS] += 1
    variants.copies[variant] -= n_copies
    variants.copies[new] = n_copies
    variants.row[new] = variants.row[variant]
    end = variants.indptr[new]
    for entry in range(variants.indptr[variant], variants.indptr[variant + 1]):
        variants.place[end] = variants.place[entry]
        variants.cover[end] = variants.cover[entry]
        variants.below[end] = variants.below[entry]
        end += 1
    variants.indptr[new + 1] = end
    return new
