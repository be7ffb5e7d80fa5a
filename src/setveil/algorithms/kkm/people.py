"""People as the algorithms for columns and items see them: cells of equal columns, trees, and what a class costs.

People with the same values in all known columns form a *cell*. Algorithms gather cells, or people of a cell, to
*classes*; a class publishes in each column the lowest node above all its values, so its people have equal columns.
The loss of a column is NCP: a node above n of N values costs n / N, a value itself nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context, require_k_records
from setveil.core import Hierarchy, Transactions
from setveil.core.columns import Columns
from setveil.errors import InfeasibleError, InputError
from setveil.models import KKmAnonymity
from setveil.releases import LocalRecoding
from setveil.releases.columns import publish_columns


@dataclass(frozen=True, eq=False)
class People:
    """Records in an order that depends on their contents only, their cells, and the trees of the known columns."""

    data: Transactions
    model: KKmAnonymity
    order: NDArray[np.int64]  # [n_records] by columns, then by items: the record of the data
    rows: Transactions  # in that order
    is_public: NDArray[np.bool_]  # [entries of rows] of items that an attacker may know
    trees: tuple[Hierarchy, ...]  # [known columns]
    weights: NDArray[np.float64]  # [known columns] of the losses, 1 in all
    cells: NDArray[np.int32]  # [n_cells, known columns] leaves
    cell_of: NDArray[np.int64]  # [n_records] ascending

    @classmethod
    def of(cls, data: Transactions, model: KKmAnonymity, weights: Mapping[str, float] | None = None) -> People:
        """Refuses data that no release can protect.

        Raises:
            InfeasibleError: there are fewer people, or sensitive values, than the model asks for.
        """
        if 0 < data.n_records < model.k_for(0):
            raise InfeasibleError(
                f"there are {data.n_records:,} people, fewer than k={model.k_for(0)}; lower k or add people."
            )
        if model.m != 0:
            require_k_records(data, model.k_for(1))
        columns = data.columns or Columns(())
        known = columns.with_role("known")
        trees = tuple(column.tree for column in known)
        leaves = np.zeros((data.n_records, len(trees)), dtype=np.int32)
        for number, column in enumerate(known):
            leaves[:, number] = column.leaves[column.codes]
        # People who differ in nothing else than their place in the data may be exchanged.
        others = [column.codes for column in columns if column.role != "known"]
        order = np.lexsort((*others, data.row_ranks(), *leaves.T[::-1])).astype(np.int64)
        leaves = leaves[order]
        is_new = np.ones(data.n_records, dtype=bool)
        is_new[1:] = (leaves[1:] != leaves[:-1]).any(axis=1)
        rows = data.select(order)
        secret = data.vocabulary.numbers(model.sensitive)
        is_public = ~np.isin(rows.items, secret[secret >= 0])
        shares = column_weights(known.names, weights)
        people = cls(
            data, model, order, rows, is_public, trees, shares, leaves[is_new], np.cumsum(is_new) - 1
        )  # fmt: skip
        people._require_diversity()
        return people

    # -- sizes --------------------------------------------------------------------------------------------------------

    @property
    def n_records(self) -> int:
        """All people."""
        return self.data.n_records

    @property
    def n_cells(self) -> int:
        """Distinct combinations of values of the known columns."""
        return len(self.cells)

    @cached_property
    def cell_starts(self) -> NDArray[np.int64]:
        """The first record of each cell, and the end, int64[n_cells + 1]."""
        return np.searchsorted(self.cell_of, np.arange(self.n_cells + 1)).astype(np.int64)

    @cached_property
    def public(self) -> Transactions:
        """The rows with nothing but items that an attacker may know."""
        return replace(self.rows.keep_occurrences(self.is_public), ids=None, columns=None)

    @property
    def n_entries(self) -> int:
        """Entries of items that an attacker may know."""
        return self.public.n_occurrences

    # -- trees --------------------------------------------------------------------------------------------------------

    @cached_property
    def node_losses(self) -> tuple[NDArray[np.float64], ...]:
        """What a person loses in each column by each node, in parts of the loss of all columns."""
        return tuple(weight * losses_of(tree) for weight, tree in zip(self.weights.tolist(), self.trees, strict=True))

    @cached_property
    def ancestors(self) -> tuple[NDArray[np.int32], ...]:
        """For each column the node above each leaf at each depth, int32[height + 1, leaves]; below it the leaf."""
        return tuple(ancestors_of(tree) for tree in self.trees)

    @cached_property
    def positions(self) -> NDArray[np.int32]:
        """The place of each cell's leaf from left to right, int32[n_cells, known columns]."""
        positions = np.empty_like(self.cells)
        for number, tree in enumerate(self.trees):
            place = np.empty(tree.n_items, dtype=np.int32)
            place[tree.leaf_order] = np.arange(tree.n_items)
            positions[:, number] = place[self.cells[:, number]]
        return positions

    def lowest_nodes(self, cells: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int32]:
        """The lowest node above all cells of each part ``cells[starts[i]:starts[i+1]]``, int32[parts, columns]."""
        nodes = np.zeros((len(starts) - 1, len(self.trees)), dtype=np.int32)
        for number, (tree, above) in enumerate(zip(self.trees, self.ancestors, strict=True)):
            place = self.positions[cells, number]
            one = tree.leaf_order[np.minimum.reduceat(place, starts[:-1])]
            other = tree.leaf_order[np.maximum.reduceat(place, starts[:-1])]
            nodes[:, number] = one
            for depth in range(tree.height, -1, -1):
                differs = above[min(depth + 1, tree.height), one] != above[min(depth + 1, tree.height), other]
                nodes[differs, number] = above[depth, one[differs]]
        return nodes

    def column_costs(self, nodes: NDArray[np.int32], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        """What the people of each class lose in all columns together, float64[classes]."""
        each = np.zeros(len(nodes))
        for number, losses in enumerate(self.node_losses):
            each += losses[nodes[:, number]]
        return each * sizes

    # -- classes ------------------------------------------------------------------------------------------------------

    def class_nodes(self, class_of: NDArray[np.int64]) -> NDArray[np.int32]:
        """What each class publishes in each column, int32[classes, columns]."""
        order = np.argsort(class_of, kind="stable")
        starts = np.searchsorted(class_of[order], np.arange(int(class_of.max(initial=-1)) + 2))
        return self.lowest_nodes(self.cell_of[order], starts.astype(np.int64))

    def joined(self, class_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Classes that publish the same columns are one; numbered in the order of what they publish."""
        if not self.trees or not self.n_records:
            return np.zeros(self.n_records, dtype=np.int64)
        same = np.unique(self.class_nodes(class_of), axis=0, return_inverse=True)[1].reshape(-1)
        return same[class_of].astype(np.int64)

    def is_viable(self, part_of: NDArray[np.int64], n_parts: int) -> NDArray[np.bool_]:
        """Which parts have enough people and enough distinct sensitive values; ``part_of`` of each record, or -1."""
        known = np.flatnonzero(part_of >= 0)
        viable = np.bincount(part_of[known], minlength=n_parts) >= self.model.k_for(0)
        for owners, values in self.secrets:
            pairs = np.unique(part_of[owners] * (int(values.max(initial=0)) + 1) + values)
            pairs = pairs[pairs >= 0] // (int(values.max(initial=0)) + 1)
            viable &= np.bincount(pairs, minlength=n_parts) >= self.model.l
        return viable

    @cached_property
    def secrets(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """``(record, value)`` of each sensitive column, and of the sensitive items: what has to be diverse."""
        if self.model.l <= 1:
            return []
        found = [
            (np.arange(self.n_records), column.codes.astype(np.int64))
            for column in (self.rows.columns or Columns(())).with_role("sensitive")
        ]
        if self.model.sensitive:
            found.append((self.rows.owners[~self.is_public], self.rows.items[~self.is_public].astype(np.int64)))
        return found

    def _require_diversity(self) -> None:
        if self.n_records and not self.is_viable(np.zeros(self.n_records, dtype=np.int64), 1)[0]:
            raise InfeasibleError(
                f"all people together have fewer than l={self.model.l} distinct sensitive values; lower l."
            )

    # -- the release --------------------------------------------------------------------------------------------------

    def release(
        self,
        class_of: NDArray[np.int64],
        nodes: NDArray[np.int64],
        context: Context,
        details: Mapping[str, Any],
        class_nodes: NDArray[np.int32] | None = None,
    ) -> LocalRecoding:
        """The release of classes; ``nodes``: of the item hierarchy, for each public entry, -1 to suppress it.

        ``class_nodes``: what each class publishes in its columns, int32[classes, columns]; the lowest nodes otherwise.
        """
        hierarchy = item_hierarchy(self.data, context)
        shown = hierarchy.leaf_of_items(self.data.vocabulary)[self.rows.items].astype(np.int32)
        shown[self.is_public] = nodes
        back = np.argsort(self.order)
        in_data_order = replace(self.rows, items=shown, columns=None, ids=None).select(back).items
        made = LocalRecoding.from_nodes(
            self.data, hierarchy, in_data_order, details, never_generalized=self.model.sensitive
        )
        if self.data.columns is None:
            return made
        known = self.data.columns.with_role("known").names
        if self.n_records:
            of_class = self.class_nodes(class_of) if class_nodes is None else class_nodes
            by_record = of_class[class_of][back]
            published = {name: by_record[:, number] for number, name in enumerate(known)}
        else:
            published = {}
        columns = publish_columns(self.data.columns, published)
        assert isinstance(made.published, Transactions)
        return replace(made, published=replace(made.published, columns=columns))


class Found(NamedTuple):
    """Classes, and what becomes of the items in them."""

    class_of: NDArray[np.int64]  # [records]
    nodes: NDArray[np.int64]  # [public entries] of the item hierarchy, -1 if it is suppressed
    items: float  # the loss of items, 0 to 1
    least: float  # what the items lose at least in these classes, in entries


def item_hierarchy(data: Transactions, context: Context) -> Hierarchy:
    """That of the run, or one in which entries are published or suppressed."""
    if context.hierarchy is None and not data.n_items:  # people without items have columns, too
        return Hierarchy.from_parents([-1], ["*"])
    return context.hierarchy or Hierarchy.balanced(data, max(data.n_items, 2))


def losses_of(tree: Hierarchy) -> NDArray[np.float64]:
    """What publishing each node loses (NCP): the share of all leaves that are below it, nothing for a leaf."""
    return np.where(tree.n_leaves > 1, tree.n_leaves / tree.n_items, 0.0)


def ancestors_of(tree: Hierarchy) -> NDArray[np.int32]:
    """The node above each leaf at each depth, int32[height + 1, leaves]; below it the leaf itself."""
    above = np.empty((tree.height + 1, tree.n_items), dtype=np.int32)
    above[:] = np.arange(tree.n_items)
    node = np.arange(tree.n_items)
    for _ in range(tree.height):
        node = np.where(tree.parent[node] >= 0, tree.parent[node], node)
        above[tree.depth[node], np.arange(tree.n_items)] = node
    return above


def column_weights(names: Sequence[str], weights: Mapping[str, float] | None) -> NDArray[np.float64]:
    """The share of each column in the loss of all columns; columns that are not listed weigh 1."""
    given = weights or {}
    for name, weight in given.items():
        if name not in names:
            raise InputError(f'weight of column "{name}": there is no such known column; check the spelling.')
        if not 0.001 <= weight <= 1000:
            raise InputError(f'weight of column "{name}" is {weight:g}; it must be from 0.001 to 1000.')
    shares = np.array([given.get(name, 1.0) for name in names])
    return shares / shares.sum() if len(shares) else shares
