"""The first and the last step of pcta+: what must be suppressed, and moving single items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.constraints._cluster_moves import ClusterState, fill_together, move_items
from setveil.algorithms.constraints._cluster_set_moves import Limits, count_images, move_items_under
from setveil.algorithms.constraints._clusters import LIVE, suppress_cluster
from setveil.algorithms.constraints.clusters import Ask, Sets, start_clusters
from setveil.algorithms.constraints.feasibility import group_supports
from setveil.core.row_order import bounds_of

MOST_CLUSTERS = 8192  # a matrix of so many clusters squared takes 256 MB
SPARE_CLUSTERS = 400  # empty clusters to move to
LAST_SWEEPS = 20  # rounds that only go down
BUDGET = 1_000_000_000  # items seen while counting given constraints; a few seconds
ITEMS_PER_REPORT = 64  # items between two reports of progress


def suppress_hopeless(ask: Ask, weights: Any, penalty: Any, context: Context) -> list[int]:
    """Suppress items until every constraint is met if all utility groups are published whole; which, in order.

    Then no merge can lead into a dead end. The item in most hopeless constraints for each of its records goes first.
    Ties: least penalty, smallest item. Suppressing takes records from the groups, so look again.
    """
    gone: list[int] = []
    if len(ask.sets[0]) == 1 or not ask.group.any():
        return gone
    clusters = start_clusters(ask, weights, penalty)
    while True:
        context.step("constraints beyond merging")
        starts, slots = ask.sets
        widest = group_supports(ask, clusters.status != LIVE)
        hopeless = np.flatnonzero((widest > 0) & (widest < ask.k))
        left = {
            int(number): [
                slot for slot in slots[starts[number] : starts[number + 1]].tolist() if clusters.status[slot] == LIVE
            ]
            for number in hopeless
        }
        if not left:
            return gone
        hits = np.zeros(len(clusters.first), dtype=np.int64)
        hopeless_of: dict[int, list[int]] = {}
        for number, members in left.items():
            hits[members] += 1
            for slot in members:
                hopeless_of.setdefault(slot, []).append(number)
        while left:
            candidates = np.flatnonzero(hits)
            per_record = (hits[candidates] << 32) // clusters.support[candidates]
            keys = (candidates, clusters.penalty[candidates], -per_record)
            chosen = int(candidates[np.lexsort(keys)[0]])
            suppress_cluster(clusters, chosen)
            gone.append(chosen)
            for number in hopeless_of[chosen]:
                hits[left.pop(number, [])] -= 1


def loss_of_clusters(ask: Ask, cluster_of_slot: NDArray[np.int64]) -> int:
    """Size times occurrences, over clusters of more than one item."""
    kept = cluster_of_slot >= 0
    size = np.bincount(cluster_of_slot[kept], minlength=len(kept))
    occurrences = np.bincount(ask.data.items, weights=ask.weight[ask.data.owners], minlength=len(kept)).astype(np.int64)
    sizes = size[cluster_of_slot[kept]]
    return int((occurrences[kept] * sizes)[sizes > 1].sum())


@dataclass
class Mover:
    """Moves single items from cluster to cluster while the constraints stay met."""

    ask: Ask
    kept: NDArray[np.int64]  # [n_kept] slots that are not suppressed
    part: ClusterState
    limits: Limits | None  # given constraints; None: all occurring items and pairs

    @classmethod
    def of(cls, ask: Ask, cluster_of_slot: NDArray[np.int64], weights: NDArray[np.int64]) -> Mover | None:
        """None if there is nothing to move, or too many clusters to keep their pairs in a matrix."""
        kept = np.flatnonzero(cluster_of_slot >= 0)
        names, place = np.unique(cluster_of_slot[kept], return_inverse=True)
        if len(names) == len(kept) or (ask.m > 0 and len(names) > MOST_CLUSTERS):
            return None
        data = ask.data.keep_items(cluster_of_slot >= 0)
        n_clusters = min(len(names) + SPARE_CLUSTERS, len(kept))
        support = np.bincount(data.items, weights=ask.weight[data.owners], minlength=len(kept)).astype(np.int64)
        item_starts, item_records = data.inverted()
        mass = support * weights[kept]
        load = np.zeros(n_clusters, dtype=np.int64)
        np.add.at(load, place, mass)
        owner = np.zeros(n_clusters, dtype=np.int32)
        owner[place] = ask.group[kept]
        by_pairs = ask.m == 2
        n_shown = len(kept) if by_pairs and len(kept) ** 2 <= data.n_occurrences else 0
        part = ClusterState(
            starts=data.indptr,
            items=data.items,
            weight=ask.weight,
            item_starts=item_starts,
            item_records=item_records.astype(np.int64),
            mass=mass,
            group=ask.group[kept],
            place=place.astype(np.int32),
            size=np.bincount(place, minlength=n_clusters).astype(np.int64),
            load=load,
            owner=owner,
            together=np.zeros((n_clusters, n_clusters) if by_pairs else (0, 0), dtype=np.int32),
            both=np.zeros((n_shown, n_shown), dtype=np.int32),
        )
        if n_shown:
            fill_together(part, np.arange(n_shown, dtype=np.int32), part.both)
        if by_pairs:
            fill_together(part, part.place, part.together)
            return cls(ask, kept, part, None)
        limits = _limits(ask, kept, part)
        return cls(ask, kept, part, limits)

    def run(self, sweeps: int, context: Context) -> None:
        """``sweeps`` rounds with slack, then down until nothing moves."""
        random = np.random.default_rng(context.seed)
        n_items = len(self.kept)
        most = int(self.part.mass.sum()) * n_items // 100_000  # slack of the first round
        for sweep in range(sweeps):
            left = sweeps - sweep
            self._sweep(random, most * left * left // (sweeps * sweeps), context, sweep / (sweeps + LAST_SWEEPS))
        for sweep in range(LAST_SWEEPS):
            if self._sweep(random, 0, context, (sweeps + sweep) / (sweeps + LAST_SWEEPS)) == 0:
                return

    def _sweep(self, random: np.random.Generator, most: int, context: Context, share: float) -> int:
        n_items = len(self.kept)
        order = random.permutation(n_items).astype(np.int32)
        slack = random.integers(0, most + 1, n_items)
        moves = 0
        budget = BUDGET if most == 0 else BUDGET // 3  # most of it is for going down
        for begin in range(0, n_items, ITEMS_PER_REPORT):
            context.step("moving items", share)
            some, limit = order[begin : begin + ITEMS_PER_REPORT], slack[begin : begin + ITEMS_PER_REPORT]
            if self.limits is None:
                moves += move_items(self.part, some, limit, self.ask.k)
            else:
                moves += move_items_under(self.part, self.limits, some, limit, self.ask.k, _enough(self.ask.k), budget)
        return moves

    def loss(self) -> int:
        """Size times occurrences, over clusters of more than one item."""
        shared = self.part.size > 1
        return int((self.part.size[shared] * self.part.load[shared]).sum())

    def clusters(self) -> NDArray[np.int64]:
        """The cluster of every slot, named by its first slot; -1 if suppressed."""
        result = np.full(len(self.ask.slot_items), -1, dtype=np.int64)
        _, first, place = np.unique(self.part.place, return_index=True, return_inverse=True)
        result[self.kept] = self.kept[first[place]]
        return result


def _limits(ask: Ask, kept: NDArray[np.int64], part: ClusterState) -> Limits:
    """The constraints over the items that are kept; an item that is suppressed leaves its constraints."""
    number = np.full(len(ask.slot_items), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    starts, items = _without(_sets(ask), number)
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    item_starts = bounds_of(np.bincount(items, minlength=len(kept)))
    n_sets = len(starts) - 1
    limits = Limits(
        starts=starts,
        items=items,
        item_starts=item_starts,
        item_sets=owners[np.argsort(items, kind="stable")],
        bound=np.zeros(n_sets, dtype=np.int64),
        fresh=np.zeros(n_sets, dtype=np.int64),
        touched=np.zeros(n_sets, dtype=np.int64),
        seen=np.zeros(len(part.weight), dtype=np.int64),
        clock=np.zeros(3, dtype=np.int64),
    )
    count_images(part, limits, 0, n_sets, _enough(ask.k))
    return limits


def _sets(ask: Ask) -> Sets:
    """The constraints; for m=1 every item is one."""
    if ask.m == 0:
        return ask.sets
    slots = np.arange(len(ask.slot_items) + 1)
    return slots.astype(np.int64), slots[:-1].astype(np.int32)


def _without(sets: Sets, number: NDArray[np.int64]) -> Sets:
    """Sets in new numbers; items with number -1 are skipped, and so are sets without other items."""
    starts, slots = sets
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    renamed = number[slots]
    sizes = np.bincount(owners[renamed >= 0], minlength=len(starts) - 1)
    shorter = bounds_of(sizes[sizes > 0])
    return shorter, renamed[renamed >= 0].astype(np.int32)


def _enough(k: int) -> int:
    """Supports are counted up to this: far enough above k that small losses need no new count."""
    return 4 * k + 100
