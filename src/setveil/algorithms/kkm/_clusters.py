# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops of the paper's algorithms: people are gathered to clusters of k by their columns, and clusters are compared.

``trees`` int32[nodes of all columns, 3]: PARENT (-1 for roots), DEPTH, and as which number the node counts in
``losses``. Cells and clusters are rows of such node numbers, one per column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

PARENT, DEPTH = 0, 1
TINY = 1e-12


@compiled
def lowest_above(trees: NDArray[np.int32], one: int, other: int) -> int:
    """The lowest node above two nodes of the same tree."""
    while one != other:
        if trees[one, DEPTH] >= trees[other, DEPTH]:
            one = trees[one, PARENT]
        else:
            other = trees[other, PARENT]
    return one


@compiled
def loss_together(
    trees: NDArray[np.int32],
    losses: NDArray[np.float64],
    nodes: NDArray[np.int32],
    row: int,
    others: NDArray[np.int32],
    other: int,
) -> float:
    """What a person loses in all columns if ``nodes[row]`` and ``others[other]`` are one cluster."""
    loss = 0.0
    for column in range(nodes.shape[1]):
        loss += losses[lowest_above(trees, np.int64(nodes[row, column]), np.int64(others[other, column]))]
    return loss


@compiled
def join_nodes(
    trees: NDArray[np.int32], nodes: NDArray[np.int32], row: int, others: NDArray[np.int32], other: int
) -> None:
    """Raise ``nodes[row]`` until it is above ``others[other]``, too."""
    for column in range(nodes.shape[1]):
        nodes[row, column] = lowest_above(trees, np.int64(nodes[row, column]), np.int64(others[other, column]))


@compiled
def gather_clusters(
    trees: NDArray[np.int32],
    losses: NDArray[np.float64],
    cells: NDArray[np.int32],
    left: NDArray[np.int64],
    nodes: NDArray[np.int32],
    taken: NDArray[np.int64],
    state: NDArray[np.int64],
    budget: int,
) -> None:
    """Gather clusters of k people: the first cell that has somebody left, then the cell that raises the loss least
    (ties: the first), as many people of it as are missing.

    ``left`` int64[cells]: people not gathered yet. ``nodes``: those of each cluster. ``taken`` int64[n, 3]: cluster,
    cell, people. ``state``: clusters, rows of ``taken``, people left, first cell that may have somebody, k.
    """
    steps, k = 0, state[4]
    while state[2] >= k and steps < budget:
        while left[state[3]] == 0:
            state[3] += 1
        cluster, cell, missing = state[0], state[3], k
        for column in range(cells.shape[1]):
            nodes[cluster, column] = cells[cell, column]
        while True:
            n_new = min(left[cell], missing)
            taken[state[1], 0], taken[state[1], 1], taken[state[1], 2] = cluster, cell, n_new
            state[1] += 1
            state[2] -= n_new
            left[cell] -= n_new
            missing -= n_new
            join_nodes(trees, nodes, cluster, cells, cell)
            if missing == 0:
                break
            best, least = np.int64(-1), np.inf
            for other in range(state[3], len(cells)):
                if left[other] > 0:
                    loss = loss_together(trees, losses, nodes, cluster, cells, other)
                    if loss < least - TINY:
                        best, least = np.int64(other), loss
            steps += len(cells) - state[3]
            cell = best
        state[0] += 1


@compiled
def added_losses(
    trees: NDArray[np.int32],
    losses: NDArray[np.float64],
    nodes: NDArray[np.int32],
    sizes: NDArray[np.int64],
    others: NDArray[np.int32],
    other: int,
    size: int,
    added: NDArray[np.float64],
) -> None:
    """How much more all people lose in their columns if a cluster joins each of those with ``sizes`` above 0."""
    own = loss_together(trees, losses, others, other, others, other)
    for row in range(len(nodes)):
        if sizes[row] > 0:
            together = loss_together(trees, losses, nodes, row, others, other)
            before = loss_together(trees, losses, nodes, row, nodes, row)
            added[row] = sizes[row] * (together - before) + size * (together - own)
        else:
            added[row] = np.inf
