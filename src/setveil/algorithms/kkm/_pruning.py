"""Loops over the tree of splits: children come after their parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled

TINY = 1e-12


@compiled
def choose_nodes(parent: NDArray[np.int64], cost: NDArray[np.float64]) -> NDArray[np.uint8]:
    """1 for the nodes that cover each leaf once at the lowest sum of costs; of equal choices, the one higher up."""
    n = len(parent)
    best = np.zeros(n, dtype=np.float64)
    below = np.full(n, -1.0)  # the cost of the best choice below a node, -1 for leaves
    splits = np.zeros(n, dtype=np.uint8)
    chosen = np.zeros(n, dtype=np.uint8)
    for node in range(n - 1, -1, -1):
        best[node] = cost[node]
        if below[node] >= 0.0 and below[node] < cost[node] - TINY:
            best[node] = below[node]
            splits[node] = 1
        above = parent[node]
        if above >= 0:
            below[above] = max(below[above], 0.0) + best[node]
    for node in range(n):  # 1: chosen, 2: split; what is below a chosen node stays 0
        if parent[node] < 0 or chosen[parent[node]] == 2:
            chosen[node] = 2 if splits[node] else 1
    for node in range(n):
        if chosen[node] == 2:
            chosen[node] = 0
    return chosen


@compiled
def owners_of(parent: NDArray[np.int64], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each node the one among ``nodes`` that is the node itself or above it, -1 if there is none."""
    owner = np.full(len(parent), -1, dtype=np.int64)
    for node in nodes:
        owner[node] = node
    for node in range(len(parent)):
        if owner[node] < 0 and parent[node] >= 0:
            owner[node] = owner[parent[node]]
    return owner
