"""Classes from the top down: a tree of splits along the columns' hierarchies, down to classes that cannot be split.

*Grow.* All people are one class. A class is split by one column: people below different children of the node that the
class publishes there go apart. Parts that are too small, or not diverse enough, stay together as the rest, which keeps
the node; if the rest is too small itself, the smallest other part joins it. Of all columns that can be split, a class
takes the one after which the weighted sum of both losses is lowest. What items lose is estimated.

Every node of the tree is a class, and every set of nodes that covers each person once is a choice of classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.kkm.estimates import Estimates
from setveil.algorithms.kkm.people import People
from setveil.core.row_order import entries_of

Cells = NDArray[np.int64]


class Splits:
    """The tree: node 0 is everybody, children come after their parents."""

    def __init__(self, people: People) -> None:
        self.people = people
        self.parent = np.empty(0, dtype=np.int64)
        self.cells: list[Cells] = []  # of each node
        self.column_cost = np.empty(0)  # [nodes] what its people lose in their columns
        self.item_cost = np.empty(0)  # [nodes] what its entries lose, an estimate

    def add(
        self, parent: NDArray[np.int64], cells: list[Cells], columns: NDArray[np.float64], items: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """New nodes; their numbers."""
        first = len(self.parent)
        self.parent = np.append(self.parent, parent)
        self.cells += cells
        self.column_cost = np.append(self.column_cost, columns)
        self.item_cost = np.append(self.item_cost, items)
        return np.arange(first, len(self.parent))

    def class_of(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The class of each record, -1 for records of none of the nodes."""
        by_cell = np.full(self.people.n_cells, -1, dtype=np.int64)
        for number, node in enumerate(nodes.tolist()):
            by_cell[self.cells[node]] = number
        return by_cell[self.people.cell_of]


def grow(people: People, estimates: Estimates, per_column: float, per_item: float, context: Context) -> Splits:
    """The tree of splits for these weights, down to classes that cannot be split."""
    tree = Splits(people)
    everybody = np.arange(people.n_cells)
    nodes = people.lowest_nodes(everybody, np.array([0, people.n_cells]))
    columns = people.column_costs(nodes, np.array([people.n_records]))
    items = estimates(np.arange(people.n_records), np.array([0, people.n_records]), context)
    level = tree.add(np.array([-1]), [everybody], columns, items)
    while len(level):
        level = _grow_level(tree, level, estimates, per_column, per_item, context)
    return tree


def _grow_level(
    tree: Splits,
    level: NDArray[np.int64],
    estimates: Estimates,
    per_column: float,
    per_item: float,
    context: Context,
) -> NDArray[np.int64]:
    """Split the classes of a level; the new ones."""
    people = tree.people
    cells = np.concatenate([tree.cells[node] for node in level.tolist()])
    class_of = np.repeat(np.arange(len(level)), [len(tree.cells[node]) for node in level.tolist()])
    starts = np.searchsorted(class_of, np.arange(len(level) + 1))
    published = people.lowest_nodes(cells, starts)
    least, chosen = np.full(len(level), np.inf), np.full(len(level), -1)
    found = []
    for column in range(len(people.trees)):
        parts = _split(people, cells, class_of, published[:, column], column)
        parts.column_cost = people.column_costs(people.lowest_nodes(parts.cells, parts.starts), parts.sizes)
        parts.item_cost = estimates(parts.members, parts.member_starts, context)
        cost = np.bincount(parts.whole, per_column * parts.column_cost + per_item * parts.item_cost, len(level))
        is_better = (np.bincount(parts.whole, minlength=len(level)) > 0) & (cost < least)
        least[is_better], chosen[is_better] = cost[is_better], column
        found.append(parts)
    new = []
    for column, parts in enumerate(found):
        taken = np.flatnonzero(chosen[parts.whole] == column)
        own = [parts.cells[parts.starts[part] : parts.starts[part + 1]] for part in taken.tolist()]
        new.append(tree.add(level[parts.whole[taken]], own, parts.column_cost[taken], parts.item_cost[taken]))
    return np.concatenate(new) if new else level[:0]


@dataclass(eq=False)
class Parts:
    """Parts of classes: ``cells[starts[i]:starts[i+1]]`` of class ``whole[i]``."""

    cells: Cells
    starts: NDArray[np.int64]
    whole: NDArray[np.int64]
    sizes: NDArray[np.int64]
    members: NDArray[np.int64]  # records, part by part
    member_starts: NDArray[np.int64]
    column_cost: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    item_cost: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))


def _split(
    people: People, cells: Cells, class_of: NDArray[np.int64], published: NDArray[np.int32], column: int
) -> Parts:
    """Every class by one column, as far as that gives two parts or more."""
    tree = people.trees[column]
    depth = np.minimum(tree.depth[published[class_of]] + 1, tree.height)
    child = people.ancestors[column][depth, people.cells[cells, column]]
    key = class_of * tree.n_nodes + tree.preorder[child]
    once, part = np.unique(key, return_inverse=True)
    part = part.reshape(-1)
    whole = once // tree.n_nodes
    by_cell = np.full(people.n_cells, -1, dtype=np.int64)
    by_cell[cells] = part
    sizes = np.bincount(part, np.diff(people.cell_starts)[cells], len(once)).astype(np.int64)
    joined = _join_rest(people, by_cell[people.cell_of], whole, sizes)  # [parts] the part it belongs to
    n_parts = np.bincount(whole[np.unique(joined[joined >= 0])], minlength=int(class_of.max(initial=0)) + 1)
    joined = np.where(n_parts[whole] >= 2, joined, -1)
    part = joined[part]
    kept = part >= 0
    order = np.argsort(part[kept], kind="stable")
    cells, part = cells[kept][order], part[kept][order]
    used, starts = np.unique(part, return_index=True)
    bounds, members = entries_of(people.cell_starts, cells)
    member_starts = bounds[np.append(starts, len(cells))]
    return Parts(
        cells, np.append(starts, len(cells)), whole[used], np.diff(member_starts), members, member_starts
    )  # fmt: skip


def _join_rest(
    people: People, part_of: NDArray[np.int64], whole: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The part that each part belongs to when small ones are together; -1 in classes that cannot be split."""
    n_parts = len(whole)
    viable = people.is_viable(part_of, n_parts)
    n_classes = int(whole.max(initial=0)) + 1
    rest = np.full(n_classes, n_parts)  # of each class its first part that is too small
    np.minimum.at(rest, whole[~viable], np.flatnonzero(~viable))
    joined = np.where(viable, np.arange(n_parts), rest[whole])
    again = people.is_viable(np.where(part_of >= 0, joined[part_of], -1), n_parts)
    lacking = (rest < n_parts) & ~again[np.minimum(rest, n_parts - 1)]  # [classes] whose rest is too small
    order = np.lexsort((np.arange(n_parts), sizes))
    order = order[viable[order] & lacking[whole[order]]]
    smallest = np.full(n_classes, -1)
    smallest[whole[order][::-1]] = order[::-1]  # the first one in order is written last
    has_one = lacking & (smallest >= 0)
    joined[smallest[has_one]] = rest[has_one]
    joined[(lacking & (smallest < 0))[whole]] = -1
    return joined
