"""What a choice of classes costs: the losses of columns and of items, 0 to 1 each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.kkm.item_part import protect_items
from setveil.algorithms.kkm.people import People, item_hierarchy, losses_of
from setveil.errors import InputError

if TYPE_CHECKING:
    from setveil.algorithms.kkm.splits import Splits


@dataclass(frozen=True, eq=False)
class Losses:
    """Of the people of one run."""

    people: People
    context: Context
    algorithm: str  # for the items of a class

    @property
    def n_records(self) -> int:
        """The base of the loss of columns."""
        return max(self.people.n_records, 1)

    @property
    def n_entries(self) -> int:
        """The base of the loss of items."""
        return max(self.people.n_entries, 1)

    def per(self, weight: float) -> tuple[float, float]:
        """What a person's columns and an entry count in a sum in which columns have this weight."""
        return weight / self.n_records, (1.0 - weight) / self.n_entries

    def of_choice(self, tree: Splits, nodes: NDArray[np.int64], item_cost: NDArray[np.float64]) -> tuple[float, float]:
        """The losses of columns and items of some nodes of the tree."""
        columns = float(tree.column_cost[nodes].sum())
        return columns / self.n_records, float(item_cost[nodes].sum()) / self.n_entries

    def weight_at(self, tree: Splits, nodes: NDArray[np.int64]) -> float:
        """The weight of columns for which a choice of nodes is best: what columns gain and items lose around it."""
        above = np.unique(tree.parent[nodes])
        above = above[above >= 0]
        is_below = np.isin(tree.parent, above)
        columns = (tree.column_cost[above].sum() - tree.column_cost[is_below].sum()) / self.n_records
        items = (tree.item_cost[is_below].sum() - tree.item_cost[above].sum()) / self.n_entries
        return float(np.clip(items / (items + columns), 0.05, 0.95)) if items + columns > 0 else 0.5

    def of_nodes(self, nodes: NDArray[np.int64]) -> float:
        """The loss of items published as these nodes."""
        return float(self._of_entries(nodes).sum()) / self.n_entries

    def measure(self, class_of: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
        """What the items of each class lose, float64[n_classes], in entries; quickly."""
        nodes, _ = protect_items(self.people, class_of, self.context, self.algorithm, "fast")
        owner = class_of[self.people.public.owners]
        is_in = owner >= 0
        return np.bincount(owner[is_in], self._of_entries(nodes)[is_in], n_classes).astype(np.float64, copy=False)

    def _of_entries(self, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.append(losses_of(item_hierarchy(self.people.data, self.context)), 1.0)[nodes]


def summary(people: People, class_of: NDArray[np.int64], items: float) -> dict[str, Any]:
    """For the record of the run."""
    sizes = np.bincount(class_of)
    return {
        "classes": len(sizes),
        "smallest_class": int(sizes.min(initial=people.n_records)),
        "loss_of_columns": loss_of_columns(people, class_of),
        "loss_of_items": items,
    }


def loss_of_columns(people: People, class_of: NDArray[np.int64]) -> float:
    """The loss of columns of some classes."""
    nodes = people.class_nodes(class_of)
    return float(people.column_costs(nodes, np.bincount(class_of)).sum() / max(people.n_records, 1))


def columns_given(weights: Mapping[str, float] | str | None) -> Mapping[str, float] | None:
    """Weights of columns as given in Python, or as text: ``age=2,sex=1``."""
    if weights is None or isinstance(weights, Mapping):
        return weights
    given = {}
    for part in weights.split(","):
        name, sign, number = part.rpartition("=")
        try:
            given[name.strip()] = float(number)
        except ValueError:
            sign = ""
        if not sign:
            raise InputError(f'option "column_weights": "{part}" is not a column and its weight; write age=2,sex=1.')
    return given
