"""Trim for counts: what is left out is offered again as something more general.

Level by level, from the parents of the items up: entries that are left out are offered as the nodes above them, and the
records, with what they show and what is offered, are trimmed like any others. Published labels are counted as opaque
items. What is shown already stays; so nothing that was exact is given up, and nodes only add to it. A node is worth one
of its items (1/n), which is what a count can make of it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.core import Hierarchy, Transactions, Vocabulary

LEAST_WORTH = 0.001

# Rows, the value of their items, and which items are to stay -> entries to keep.
Trimming = Callable[[Transactions, NDArray[np.float64], NDArray[np.bool_]], NDArray[np.bool_]]


def raise_left_out(
    rows: Transactions, shown: NDArray[np.int64], value: NDArray[np.float64], hierarchy: Hierarchy, trim: Trimming
) -> NDArray[np.int64]:
    """The node to publish for each entry, -1 for none; from ``shown``, leaves that are safe.

    ``value`` is what each entry is worth.
    """
    above = hierarchy.parent[hierarchy.leaf_of_items(rows.vocabulary)[rows.items]].astype(np.int64)
    while (above >= 0).any():
        tells = (hierarchy.n_leaves[above] > 1) & (hierarchy.n_leaves[above] < hierarchy.n_items)
        offered = (shown < 0) & (above >= 0) & tells
        if offered.any():
            tried = _trim_nodes(rows, np.where(offered, above, shown), value, hierarchy, trim)
            if (tried >= 0)[(shown >= 0) & (shown < hierarchy.n_items)].all():
                shown = tried
        above = np.where(above >= 0, hierarchy.parent[above], -1)
    return shown


def _trim_nodes(
    rows: Transactions,
    offered: NDArray[np.int64],
    value: NDArray[np.float64],
    hierarchy: Hierarchy,
    trim: Trimming,
) -> NDArray[np.int64]:
    """What is left of the nodes offered for each entry when they are trimmed like items, and leaves stay."""
    there = offered >= 0
    owners = rows.owners[there]
    nodes, number = np.unique(offered[there], return_inverse=True)
    raised = Transactions.from_pairs(owners, number, rows.n_records, Vocabulary(str(node) for node in nodes.tolist()))
    mean_value = np.bincount(number, value[there], len(nodes)) / np.bincount(number, minlength=len(nodes))
    worth = np.maximum(mean_value / hierarchy.n_leaves[nodes], LEAST_WORTH)
    kept = trim(raised, worth, nodes < hierarchy.n_items)
    width = max(len(nodes), 1)
    keys = (raised.owners * width + raised.items)[kept]  # ascending
    left = np.full(len(offered), -1, dtype=np.int64)
    left[there] = np.where(np.isin(owners * width + number, keys), offered[there], -1)
    return left
