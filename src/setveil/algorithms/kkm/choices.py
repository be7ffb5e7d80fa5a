"""Which nodes of a tree of splits become the classes.

For weights of both losses the best choice is found from the bottom up, as in CART: a node is published as it is, or as
the best choice below it; no choice in the tree has a lower weighted sum. The weights run from one end to the other,
finer and finer around the best choice so far. Between two such choices, which differ in a few subtrees, these are
exchanged one after another, those first that lower one loss most per rise of the other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.kkm._pruning import choose_nodes, owners_of

Rate = Callable[[float, float], float]  # losses of columns and of items, 0 to 1 each → how bad that is
Choice = NDArray[np.int64]  # nodes

STEPS = 33  # weights in a row
ZOOMS = 5  # how often they become finer
EXTREME = 12.0  # the largest logarithm of one weight over the other


def choose(parent: NDArray[np.int64], columns: NDArray[np.float64], items: NDArray[np.float64], rate: Rate) -> Choice:
    """The best choice; ``columns`` and ``items`` are the shares of the nodes in both losses of everybody."""

    def losses(nodes: Choice) -> tuple[float, float]:
        return float(columns[nodes].sum()), float(items[nodes].sum())

    def choose_by(slope: float) -> Choice:
        weight = 1.0 / (1.0 + np.exp(-slope))
        return np.flatnonzero(choose_nodes(parent, weight * columns + (1.0 - weight) * items))

    low, high = -EXTREME, EXTREME
    for _ in range(ZOOMS):
        slopes = np.linspace(low, high, STEPS)
        choices = [choose_by(float(slope)) for slope in slopes]
        rates = [rate(*losses(nodes)) for nodes in choices]
        best = int(np.argmin(rates))
        low, high = float(slopes[max(best - 1, 0)]), float(slopes[min(best + 1, STEPS - 1)])
    found = choices[best]
    for other in (choices[max(best - 1, 0)], choices[min(best + 1, STEPS - 1)]):
        coarser, finer = sorted((choices[best], other), key=len)
        between = _between(parent, columns, items, coarser, finer, rate)
        if rate(*losses(between)) < rate(*losses(found)):
            found = between
    return found


def _between(
    parent: NDArray[np.int64],
    columns: NDArray[np.float64],
    items: NDArray[np.float64],
    coarser: Choice,
    finer: Choice,
    rate: Rate,
) -> Choice:
    """The best choice on the way from the finer to the coarser one."""
    owner = owners_of(parent, coarser)[finer]
    top, start, count = np.unique(owner, return_index=True, return_counts=True)
    is_other = (top >= 0) & ~((count == 1) & (finer[start] == top))
    more = columns[top] - np.bincount(np.searchsorted(top, owner), columns[finer], len(top))
    less = np.bincount(np.searchsorted(top, owner), items[finer], len(top)) - items[top]
    order = np.lexsort((top, -less / np.maximum(more, 1e-15)))
    order = order[is_other[order]]
    column_path = columns[finer].sum() + np.append(0.0, np.cumsum(more[order]))
    item_path = items[finer].sum() - np.append(0.0, np.cumsum(less[order]))
    rates = [rate(float(one), float(other)) for one, other in zip(column_path, item_path, strict=True)]
    taken = top[order[: int(np.argmin(rates))]]
    return np.sort(np.concatenate((finer[~np.isin(owner, taken)], taken)))
