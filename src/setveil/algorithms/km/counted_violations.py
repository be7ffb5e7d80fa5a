"""Which itemsets on a cut are too rare, found from counts alone, for records that are not at hand.

The engine counts once which itemsets of unrelated nodes are rare, for all nodes at or above a *floor*. Every cut at or
above the floor is then judged here: it is valid unless one of these itemsets has all its members on it. The floor is
the leaves where that is cheap; else it is lowered as the search asks for more special cuts, one level at a time.

The answers, and their order, are those of ``Violations``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.km.violations import LIMIT, Lifting
from setveil.arrays.tree_itemsets import n_itemsets_of
from setveil.core import Hierarchy
from setveil.engines.base import TreeCounts
from setveil.errors import InputError
from setveil.models import KmAnonymity

AT_ONCE = 1 << 22  # itemsets over all nodes up to which the floor is the leaves from the start


@dataclass(frozen=True, eq=False)
class RareItemsets:
    """The rare itemsets of one size over some nodes."""

    itemsets: NDArray[np.int32]  # [n, size] nodes
    supports: NDArray[np.int64]  # [n]
    starts: NDArray[np.int64]  # [n_nodes + 1] node v is in the itemsets rows[starts[v]:starts[v + 1]]
    rows: NDArray[np.int64]
    place: NDArray[np.int64]  # [n_nodes] of each node among those that were counted
    keys: NDArray[np.int64]  # [n] ascending, a number for each itemset

    @classmethod
    def of(
        cls, itemsets: NDArray[np.int32], supports: NDArray[np.int64], nodes: NDArray[np.int32], n_nodes: int
    ) -> RareItemsets:
        """``itemsets`` are positions in ``nodes``, ascending in each row, in lexicographic order."""
        place = np.full(n_nodes, -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        found = nodes[itemsets]
        order = np.argsort(found, axis=None, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(found.ravel(), minlength=n_nodes))))
        return cls(found, supports, starts, order // found.shape[1], place, _keys(itemsets, len(nodes)))

    def on(self, is_on_cut: NDArray[np.bool_], holding: list[int] | None = None) -> NDArray[np.int32]:
        """Those whose members are all on a cut, [n, size]; only those that hold one of some nodes, if given."""
        some = self.itemsets
        if holding is not None:
            rows = [self.rows[self.starts[node] : self.starts[node + 1]] for node in holding]
            some = some[np.unique(np.concatenate(rows))]
        return some[is_on_cut[some].all(axis=1)]

    def support(self, itemset: list[int]) -> int | None:
        """The support of an itemset if it is rare, else None."""
        positions = np.sort(self.place[itemset])
        key = int(_keys(positions[None, :], int(self.place.max()) + 1)[0])
        at = int(np.searchsorted(self.keys, key))
        return int(self.supports[at]) if at < len(self.keys) and self.keys[at] == key else None


def _keys(positions: NDArray[np.integer], n: int) -> NDArray[np.int64]:
    """Ascending positions as one number; tables that fit into memory keep it far below 2^63."""
    keys = np.zeros(len(positions), dtype=np.int64)
    for column in positions.T:
        keys = keys * n + column
    return keys


class CountedViolations:
    """Rare itemsets on cuts of one hierarchy, from counts of the engine."""

    def __init__(self, counts: TreeCounts, hierarchy: Hierarchy, model: KmAnonymity, context: Context) -> None:
        if model.m == "all":
            raise InputError('m="all" needs whole records; set m to a number, or use --engine local.')
        self.hierarchy = hierarchy
        self.k = model.k
        self.m: int | Literal["all"] = model.m
        self.node_supports = counts.node_supports()
        self._largest = int(model.m)
        self._counts, self._context = counts, context
        self._floor = np.full(hierarchy.n_items, hierarchy.root, dtype=np.int32)
        self._rare: list[RareItemsets] = []  # of sizes 2 … m
        if n_itemsets_of(hierarchy.n_nodes, self._largest) <= AT_ONCE:
            self._count(np.arange(hierarchy.n_items, dtype=np.int32))

    # -- questions ------------------------------------------------------------------------------------------------

    def on_cut(self, target: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """Rare itemsets of the smallest size there is, as [n, size]; at most ``LIMIT``. None: the cut is valid."""
        is_on_cut = self._marked(target)
        rare = np.flatnonzero(is_on_cut & (self.node_supports < self.k)).astype(np.int32)
        if len(rare):
            return [rare[:, None]]
        self._reach(target, target)
        for table in self._rare:
            found = np.sort(table.on(is_on_cut), axis=1)
            if len(found):
                return [found[np.lexsort(found.T[::-1])][:LIMIT]]
        return []

    def through(self, node: int, parts: list[int], target: NDArray[np.int32]) -> tuple[int, ...] | None:
        """The first rare itemset that holds one of ``parts``, or None. Parts come first, then nodes by number."""
        is_on_cut = self._marked(target)
        here = [part for part in parts if is_on_cut[part]]
        for part in here:
            if self.node_supports[part] < self.k:
                return (part,)
        if not here:
            return None
        before = target.copy()
        before[: self.hierarchy.n_items][np.isin(target[: self.hierarchy.n_items], parts)] = node
        self._reach(target, before)
        nodes = np.concatenate((here, np.setdiff1d(np.flatnonzero(is_on_cut), here)))
        number = np.empty(self.hierarchy.n_nodes, dtype=np.int64)
        number[nodes] = np.arange(len(nodes))
        for table in self._rare:
            found = np.sort(number[table.on(is_on_cut, here)], axis=1)
            if len(found):
                first = found[np.lexsort(found.T[::-1])[0]]
                return tuple(nodes[first].tolist())
        return None

    def support(self, itemset: tuple[int, ...]) -> int:
        """In how many records the nodes of a rare itemset occur together."""
        if len(itemset) == 1:
            return int(self.node_supports[itemset[0]])
        found = self._rare[len(itemset) - 2].support(list(itemset))
        assert found is not None, "only rare itemsets are witnesses"
        return found

    def is_rare(self, itemset: list[int]) -> bool:
        """Whether an itemset of unrelated nodes at or above the floor that occurs is rare."""
        if len(itemset) == 1:
            return bool(self.node_supports[itemset[0]] < self.k)
        return self._rare[len(itemset) - 2].support(itemset) is not None

    def lifting(self, bottom: NDArray[np.int32], above: NDArray[np.int32]) -> Lifting:
        """Itemsets at or above ``bottom``."""
        self._reach(bottom, bottom)
        return CountedLifting(self, above)

    # -- counting -------------------------------------------------------------------------------------------------

    def _marked(self, target: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which nodes are on a cut and occur."""
        is_on_cut = np.zeros(self.hierarchy.n_nodes + 1, dtype=np.bool_)  # the last entry serves -1
        is_on_cut[target[: self.hierarchy.n_items]] = True
        return is_on_cut[:-1] & (self.node_supports > 0)

    def _reach(self, target: NDArray[np.int32], usual: NDArray[np.int32]) -> None:
        """Lower the floor to ``target`` and, as more will be asked, to just below ``usual``."""
        if self._largest < 2:
            return
        depth, leaves = self.hierarchy.depth, slice(0, self.hierarchy.n_items)
        asked = np.where(target[leaves] < 0, np.arange(self.hierarchy.n_items, dtype=np.int32), target[leaves])
        occurs = self.node_supports[leaves] > 0
        if self._rare and not (occurs & (depth[asked] > depth[self._floor])).any():
            return
        floor = _deeper(self.hierarchy, asked, _one_below(self.hierarchy, usual[leaves]))
        self._count(_deeper(self.hierarchy, floor, self._floor))

    def _count(self, floor: NDArray[np.int32]) -> None:
        """All rare itemsets over the nodes at or above the floor, again."""
        hierarchy = self.hierarchy
        is_counted = np.zeros(hierarchy.n_nodes, dtype=np.bool_)
        for node in np.unique(floor).tolist():
            is_counted[node] = True
            is_counted[hierarchy.ancestors(node)] = True
        is_counted &= self.node_supports > 0
        nodes = hierarchy.in_preorder[1:]
        nodes = nodes[is_counted[nodes]]
        target = np.arange(hierarchy.n_nodes, dtype=np.int32)
        target[: hierarchy.n_items] = floor
        self._floor, self._rare = floor, []
        for size in range(2, self._largest + 1):
            self._counts.can_count(len(nodes), size, self.k)  # an engine without another way says so
            found = self._counts.rare_itemsets(nodes, target, size, self.k, self._watch)
            self._rare.append(RareItemsets.of(*found, nodes, hierarchy.n_nodes))

    def _watch(self, share: float) -> None:
        self._context.step("rare itemsets", share)


def _one_below(hierarchy: Hierarchy, node_of_leaf: NDArray[np.int32]) -> NDArray[np.int32]:
    """For each leaf the next node below its published one that has a sibling; itself if there is none."""
    below = np.arange(hierarchy.n_items, dtype=np.int32)
    for node in np.unique(node_of_leaf[node_of_leaf >= 0]).tolist():
        for child in hierarchy.children[node]:
            lowest = child
            while len(hierarchy.children[lowest]) == 1:
                lowest = hierarchy.children[lowest][0]
            below[hierarchy.leaves(child)] = lowest
    below[node_of_leaf < 0] = np.flatnonzero(node_of_leaf < 0)
    return below


def _deeper(hierarchy: Hierarchy, one: NDArray[np.int32], other: NDArray[np.int32]) -> NDArray[np.int32]:
    """Of two nodes above each leaf the lower one."""
    return np.where(hierarchy.depth[one] >= hierarchy.depth[other], one, other).astype(np.int32)


class CountedLifting:
    """Lifts itemsets by looking up which ones are rare."""

    def __init__(self, questions: CountedViolations, above: NDArray[np.int32]) -> None:
        self._questions = questions
        self._hierarchy = questions.hierarchy
        self._above = above.tolist()

    def lift(self, itemsets: NDArray[np.int32], spreads: bool) -> NDArray[np.int32]:
        """Maximal rare itemsets above the given ones, in the order of ``lift_itemsets``."""
        size = itemsets.shape[1]
        lifted: list[list[int]] = []
        keys: set[tuple[int, ...]] = set()
        for itemset in itemsets.tolist():
            if self._lies_below(itemset, keys, spreads):
                continue
            for turn in range(size):
                members = list(itemset)
                for step in range(size):
                    self._lift_member(members, (turn + step) % size)
                key = tuple(sorted(self._above[member] if spreads else member for member in members))
                if key not in keys:
                    keys.add(key)
                    lifted.append(members)
        return np.array(lifted, dtype=np.int32).reshape(-1, size)

    def _lies_below(self, itemset: list[int], keys: set[tuple[int, ...]], spreads: bool) -> bool:
        """Whether raising members (with ``spreads`` all of them) gives a key; up to three members, as there."""
        if len(itemset) > 3 or not keys:
            return False
        chains = [self._upwards(self._above[member] if spreads else member) for member in itemset]
        return any(tuple(sorted(key)) in keys for key in product(*chains))

    def _upwards(self, node: int) -> list[int]:
        """A node and all above it that matter."""
        chain = [node]
        while chain[-1] >= 0 and self._above[chain[-1]] >= 0:
            chain.append(self._above[chain[-1]])
        return chain

    def _lift_member(self, members: list[int], j: int) -> None:
        """Push member ``j`` up as far as the itemset stays rare and covers no other member."""
        tree, node = self._hierarchy, members[j]
        others = [int(tree.first[member]) for place, member in enumerate(members) if place != j]
        while True:
            node = self._above[node]
            if node < 0 or any(tree.first[node] <= place < tree.last[node] for place in others):
                return
            if not self._questions.is_rare([*members[:j], node, *members[j + 1 :]]):
                return
            members[j] = node
