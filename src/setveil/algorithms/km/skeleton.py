"""The part of a hierarchy that matters when the best cut is looked for.

Nodes below which nothing occurs cost nothing. Of nodes that hold the same occurring items, the lowest says most at the
smallest loss. And if a child of a node is itself too rare to be published, everything below that node must go up to it
at least. What is left are a bottom, the most special cut that may be possible, and the nodes above it where something
meets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km.covering import WHOLE, CoveringProgram
from setveil.algorithms.km.losses import Losses
from setveil.core import Hierarchy


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Nodes that matter, and their columns in a covering program.

    The column of a node says whether what is below it is published as the node or as something above it. Bottom nodes
    are always published in some way and need none, unless they can be suppressed: then their column says that they
    are. A suppressed leaf does not cost what the nodes above it cost; so with suppression it is not the node that costs
    something but each leaf below it, if it is published: one more column for every leaf and node above it.
    """

    hierarchy: Hierarchy
    bottom: NDArray[np.int32]  # [n_nodes] the bottom node of every leaf; other nodes stand for themselves
    above: NDArray[np.int32]  # [n_nodes] the next node above that matters, -1 if there is none
    nodes: NDArray[np.int32]  # [n] nodes that matter, depth first
    is_bottom: NDArray[np.bool_]  # [n_nodes]
    suppression: bool
    losses: Losses

    @classmethod
    def of(
        cls, hierarchy: Hierarchy, supports: NDArray[np.int64], k: int, losses: Losses, suppression: bool
    ) -> Skeleton:
        """``supports`` of all nodes. With suppression rare nodes force nothing, so that the bottom is the leaves."""
        n_nodes, parent = hierarchy.n_nodes, hierarchy.parent
        occurs = supports > 0
        branches = np.bincount(parent[occurs & (parent >= 0)], minlength=n_nodes)  # children that occur
        is_forced, is_bottom, matters = (np.zeros(n_nodes, dtype=np.bool_) for _ in range(3))
        if not suppression:
            is_forced[parent[occurs & (supports < k) & (parent >= 0)]] = True
        bottom = np.arange(n_nodes, dtype=np.int32)
        above = np.full(n_nodes, -1, dtype=np.int32)
        for node in hierarchy.in_preorder.tolist():
            up = int(parent[node])
            if up >= 0 and (is_bottom[up] or bottom[up] != up):
                bottom[node] = bottom[up]
                continue
            is_bottom[node] = occurs[node] and (is_forced[node] or node < hierarchy.n_items)
            matters[node] = is_bottom[node] or branches[node] > 1
            if up >= 0:
                above[node] = up if matters[up] else above[up]
        nodes = hierarchy.in_preorder[matters[hierarchy.in_preorder]]
        return cls(hierarchy, bottom, above, nodes, is_bottom, suppression, losses)

    @cached_property
    def column(self) -> NDArray[np.int32]:
        """The column of each node, -1 for those that have none, int32[n_nodes]."""
        column = np.full(self.hierarchy.n_nodes + 1, -1, dtype=np.int32)  # the last entry serves node -1
        free = self.nodes if self.suppression else self.nodes[~self.is_bottom[self.nodes]]
        column[free] = np.arange(len(free))
        return column

    @cached_property
    def fixed_loss(self) -> int:
        """What publishing the bottom costs."""
        return int(self.losses.price[self.nodes[self.is_bottom[self.nodes]]].sum())

    def program(self, gap: float, as_wholes: bool) -> CoveringProgram:
        """The program without any row: costs, and what implies what.

        ``as_wholes``: no leaf is suppressed below a published node, so that nodes cost what all leaves below them cost.
        """
        inner, leaves = (self.nodes[self.is_bottom[self.nodes] == is_leaf] for is_leaf in (False, True))
        implied = inner[self.above[inner] >= 0]
        costs = np.zeros(self.n_own_columns, dtype=np.int64)
        either, excluded = np.empty((0, 3), dtype=np.int32), np.empty((0, 2), dtype=np.int32)
        if self.suppression:
            costs[self.column[leaves]] = self.losses.suppressed[leaves]
        if as_wholes:
            costs[self.column[inner]] = self.losses.price[inner]
            below = self.nodes[self.above[self.nodes] >= 0]
            np.subtract.at(costs, self.column[self.above[below]], self.losses.price[below])
            if self.suppression:
                below = leaves[self.above[leaves] >= 0]
                excluded = self.column[np.column_stack((below, self.above[below]))]
        else:
            under, over, step = self.leaves_and_nodes_above
            costs = np.concatenate((costs, self.losses.occurrences[under] * step))
            extra = self.n_own_columns + np.arange(len(under))
            either = np.column_stack((extra, self.column[under], self.column[over])).astype(np.int32)
        return CoveringProgram(
            costs, self.column[np.column_stack((implied, self.above[implied]))], either, excluded, gap
        )

    @property
    def n_own_columns(self) -> int:
        """Columns that stand for nodes."""
        return int(self.column.max(initial=-1)) + 1

    @cached_property
    def leaves_and_nodes_above(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Every leaf with every node above it, and what an occurrence costs more there than one step below."""
        leaves = below = self.nodes[self.is_bottom[self.nodes]].astype(np.int64)
        found = [np.empty((0, 3), dtype=np.int64)]
        while len(leaves):
            over = self.above[below].astype(np.int64)
            leaves, below, over = leaves[over >= 0], below[over >= 0], over[over >= 0]
            found.append(np.column_stack((leaves, over, self.losses.rate[over] - self.losses.rate[below])))
            below = over
        under, nodes, steps = np.concatenate(found).T
        return under, nodes, steps

    def lowest_of(self, higher: NDArray[np.int32]) -> NDArray[np.int32]:
        """Columns of nodes [n, size], without those that another one in the row implies (it lies above), -1 instead."""
        first, last = self.hierarchy.first[higher], self.hierarchy.last[higher]
        columns = self.column[higher]
        for a in range(higher.shape[1]):
            for b in range(higher.shape[1]):
                if a != b:
                    covers = (first[:, a] <= first[:, b]) & (last[:, b] <= last[:, a])
                    repeats = covers & (higher[:, a] == higher[:, b])
                    columns[(covers & ~repeats) | (repeats & (a > b)), a] = -1
        columns[higher < 0] = -1
        return columns

    def cut_at(self, values: NDArray[np.float64], threshold: float) -> NDArray[np.int32]:
        """The cut of everything whose value reaches the threshold: a target for every node, -1 if suppressed."""
        hierarchy = self.hierarchy
        is_taken = np.zeros(hierarchy.n_nodes, dtype=np.bool_)
        with_column = self.nodes[self.column[self.nodes] >= 0]
        is_taken[with_column] = values[self.column[with_column]] >= threshold - WHOLE
        is_suppressed = is_taken & self.is_bottom & self.suppression
        is_on_or_above = (is_taken & ~self.is_bottom) | self.is_bottom
        is_on_or_above[: hierarchy.n_items] = True
        target = np.full(hierarchy.n_nodes, -1, dtype=np.int32)
        for node in hierarchy.in_preorder.tolist():
            up = hierarchy.parent[node]
            if up >= 0 and target[up] >= 0:
                target[node] = target[up]
            elif is_on_or_above[node]:
                target[node] = node
        target[is_suppressed] = -1
        if self.suppression:  # a node of which nothing is shown is not on the cut
            leaves = np.arange(hierarchy.n_items)
            is_shown = np.zeros(hierarchy.n_nodes, dtype=np.bool_)
            is_shown[target[leaves[(target[leaves] >= 0) & self.is_bottom[leaves]]]] = True
            idle = leaves[(target[leaves] >= 0) & ~is_shown[target[leaves]]]
            target[idle] = idle
        return target

    def values_of(self, node_of_leaf: NDArray[np.int32], as_wholes: bool) -> NDArray[np.float64]:
        """The columns' values of a cut, float64[n_columns]."""
        hierarchy = self.hierarchy
        is_on_or_below = np.zeros(hierarchy.n_nodes + 1, dtype=np.bool_)  # the last entry serves what is above the root
        is_occurring = self.losses.occurrences[: hierarchy.n_items] > 0
        is_on_or_below[node_of_leaf[(node_of_leaf >= 0) & is_occurring]] = True
        for node in hierarchy.in_preorder.tolist():
            is_on_or_below[node] |= is_on_or_below[hierarchy.parent[node]]
        values = np.zeros(self.n_own_columns)
        inner, leaves = (self.nodes[self.is_bottom[self.nodes] == is_leaf] for is_leaf in (False, True))
        values[self.column[inner]] = is_on_or_below[inner]
        if self.suppression:
            values[self.column[leaves]] = node_of_leaf[leaves] < 0
        if as_wholes:
            return values
        under, over, _ = self.leaves_and_nodes_above
        return np.concatenate((values, np.maximum(values[self.column[over]] - values[self.column[under]], 0.0)))
