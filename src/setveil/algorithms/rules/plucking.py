"""Entries of sensitive items that must be suppressed because a right side is too frequent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.rules.clustering import Clustering
from setveil.algorithms.uncertainty.cover import cover
from setveil.algorithms.uncertainty.demands import Demands
from setveil.core.row_order import bounds_of


def pluck_entries(state: Clustering, context: Context) -> NDArray[np.int64]:
    """Entries to suppress so that every rule is met."""
    every = np.arange(len(state.rules))
    _, surplus = state.count(every)
    rules = np.flatnonzero(surplus > 0)
    if not len(rules):
        return np.empty(0, dtype=np.int64)
    rank = np.random.default_rng(context.seed).permutation(len(state.data.items)).astype(np.int64)
    gone = []
    for item, mine in _by_item(state, rules).items():
        demands, positions = _demands(state, item, mine, surplus)
        taken, _ = cover(demands, np.ones(len(positions), dtype=np.int64), rank[positions], context)
        gone.append(positions[taken > 0])
    return np.sort(np.concatenate(gone))


def fewest_entries(state: Clustering, rules: NDArray[np.int64], demand: NDArray[np.int64], context: Context) -> int:
    """How many entries some rules need at least, counted over items that are not merged.

    Only rules with one sensitive item count: of several, any one could be suppressed.
    """
    alone = np.array([rule for rule in rules.tolist() if len(state.rules[rule].sensitive) == 1], dtype=np.int64)
    bits, clusters = state.bits, state.cluster_of
    state.bits, state.cluster_of = state.own, np.arange(len(state.own), dtype=np.int64)
    bound = 0
    for item, mine in _by_item(state, alone).items():
        demands, positions = _demands(state, item, mine, demand)
        bound += cover(demands, np.ones(len(positions), dtype=np.int64), np.arange(len(positions)), context)[1]
    state.bits, state.cluster_of = bits, clusters
    return bound


def _by_item(state: Clustering, rules: NDArray[np.int64]) -> dict[int, list[int]]:
    """The sensitive item whose entries are suppressed for each rule: the one in most rules, then the rarest."""
    data = state.data
    numbers = [data.vocabulary.numbers(state.rules[rule].sensitive).tolist() for rule in rules.tolist()]
    uses = np.bincount([item for some in numbers for item in some], minlength=data.n_items)
    by_item: dict[int, list[int]] = {}
    for rule, some in zip(rules.tolist(), numbers, strict=True):
        item = min(some, key=lambda item: (-uses[item], data.supports[item], item))
        by_item.setdefault(item, []).append(rule)
    return dict(sorted(by_item.items()))


def _demands(
    state: Clustering, item: int, rules: list[int], surplus: NDArray[np.int64]
) -> tuple[Demands, NDArray[np.int64]]:
    """Rows over the entries of an item, and the place of each such entry in the records."""
    data = state.data
    positions = np.flatnonzero(data.items == item)
    number = np.full(data.n_records, -1, dtype=np.int64)
    number[data.owners[positions]] = np.arange(len(positions))
    rows: dict[bytes, tuple[NDArray[np.int64], int]] = {}
    for rule in rules:
        state.context.step("entries to suppress")
        clusters = np.unique(state.cluster_of[state.known[state.starts[rule] : state.starts[rule + 1]]])
        words = np.bitwise_and.reduce(state.bits[clusters], axis=0) & state.sides[state.limits[rule, 0]]
        key, least = words.tobytes(), int(surplus[rule])
        if key not in rows or rows[key][1] < least:
            holders = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")[: data.n_records])
            rows[key] = (number[holders], least)
    bounds = bounds_of([len(owners) for owners, _ in rows.values()])
    owners = np.concatenate([owners for owners, _ in rows.values()]).astype(np.int32)
    return Demands(bounds, owners, np.array([least for _, least in rows.values()], dtype=np.int64)), positions
