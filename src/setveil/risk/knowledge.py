"""People, and what an attacker knows of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.sampling import draw_subsets
from setveil.core import Itemsets, Transactions
from setveil.core.row_order import bounds_of

_TRIES = 20  # draws of a wrong item that the target does not have


class Group(NamedTuple):
    """Targets: drawn, or everybody."""

    records: NDArray[np.int64]
    secrets: NDArray[np.int64]  # which secret is asked for, -1 if the target has none
    weights: NDArray[np.float64] | None = None  # [targets] so that each person counts alike; None: draws
    positions: NDArray[np.int64] | None = None  # [targets, known items] every choice of known items; None: drawn

    @property
    def n_people(self) -> int:
        """People attacked."""
        return len(self.records) if self.weights is None else len(np.unique(self.records))

    @property
    def n_with_secrets(self) -> int:
        """Those of them who have a sensitive item."""
        records = self.records[self.secrets >= 0]
        return len(records) if self.weights is None else len(np.unique(records))

    def is_exact(self, way: str) -> bool:
        """Whether nothing is left to chance for attackers who know items in that way."""
        if way in ("random", "wrong"):
            return way == "random" and self.positions is not None
        return self.weights is not None


def each_once(items: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """``(indptr, items)`` of the rows of a table, each item once and ascending."""
    items = np.sort(items, axis=1)
    is_new = np.ones(items.shape, dtype=bool)
    is_new[:, 1:] = items[:, 1:] != items[:, :-1]
    return bounds_of(is_new.sum(axis=1)), items[is_new]


@dataclass(frozen=True, eq=False)
class People:
    """People with their items; those of drawn people are looked at from the rarest public one to the most frequent."""

    data: Transactions
    rank: NDArray[np.int32]  # [items] the rarest first; -1 for secrets
    private: Transactions  # over secrets
    n_public: NDArray[np.int64]  # [people] public items

    @classmethod
    def of(cls, data: Transactions, secrets: NDArray[np.int32], observable: NDArray[np.bool_] | None = None) -> People:
        """``observable``: bool[items], those that an attacker can know; None: all but the secrets."""
        rank = np.empty(data.n_items, dtype=np.int32)
        rank[np.argsort(data.supports, kind="stable")] = np.arange(data.n_items)
        rank[secrets] = -1
        number = np.full(data.n_items, -1, dtype=np.int32)
        number[secrets] = np.arange(len(secrets))
        nothing = Transactions(np.zeros_like(data.indptr), data.items[:0], data.vocabulary)
        private = data.recode(number, data.vocabulary) if len(secrets) else nothing
        if observable is None:
            return cls(data, rank, private, data.lengths - private.lengths)
        rank[~observable] = -1
        before = bounds_of(rank[data.items] >= 0)
        return cls(data, rank, private, np.diff(before[data.indptr]).astype(np.int64))

    def can_be_known(self, size: int) -> bool:
        return bool((self.n_public >= size).any())

    def draw(self, size: int, n: int, random: np.random.Generator) -> Group:
        """Targets with at least that many public items, and one of the secrets of each that has some.

        Everybody with every secret where these are at most ``n``, and also with every choice of known items where even
        these are; else ``n`` random people with a random secret.
        """
        people = np.flatnonzero(self.n_public >= size)
        n_asked = np.maximum(self.private.lengths[people], 1)
        if int(n_asked.sum()) <= n:
            return self._everybody(people, n_asked, size, n)
        records = random.choice(people, n)
        n_secrets = self.private.lengths[records]
        chosen = self.private.indptr[records] + random.integers(0, np.maximum(n_secrets, 1))
        secrets = np.full(n, -1, dtype=np.int64)
        secrets[n_secrets > 0] = self.private.items[chosen[n_secrets > 0]]
        return Group(records, secrets)

    def _everybody(self, people: NDArray[np.int64], n_asked: NDArray[np.int64], size: int, n: int) -> Group:
        pairs = [
            (person, int(secret))
            for person in people.tolist()
            for secret in (self.private.record(person) if self.private.lengths[person] else (-1,))
        ]
        lengths = self.n_public[people].tolist()
        n_all = sum(comb(length, size) * asked for length, asked in zip(lengths, n_asked.tolist(), strict=True))
        if n_all <= n:  # as often as targets allow, for items that are drawn wrong
            choices = {length: list(combinations(range(length), size)) for length in set(lengths)}
            each = [choices[int(self.n_public[person])] for person, _ in pairs]
            listed = [choice for some in each for choice in some * (n // n_all)]
            positions = np.array(listed, dtype=np.int64).reshape(len(listed), size)
            repeats = np.array([len(some) * (n // n_all) for some in each])
        else:
            positions, repeats = None, np.full(len(pairs), n // len(pairs))
        rows = np.repeat(np.array(pairs, dtype=np.int64), repeats, axis=0)
        records = np.ascontiguousarray(rows[:, 0])
        weights = 1 / np.bincount(records)[records]
        return Group(records, np.ascontiguousarray(rows[:, 1]), weights, positions)

    def known(
        self,
        way: str,
        size: int,
        group: Group,
        wrong: float,
        random: np.random.Generator,
        preferred: NDArray[np.int64] | None = None,
    ) -> Itemsets:
        """What the attacker knows of each target; ``preferred``: those of their ``public_items`` with the largest
        number come first.
        """
        lengths = self.n_public[group.records]
        if preferred is not None:
            owners, items = self.public_items(group.records)
            starts = np.cumsum(lengths) - lengths
            order = np.lexsort((self.rank[items], -preferred, owners))  # of these the rarest comes first
            ranks = np.argsort(np.lexsort((self.rank[items], owners)))  # [public items] place in its record, + starts
            positions = ranks[order][starts[:, None] + np.arange(size)] - starts[:, None]
        elif way in ("rarest", "shown", "identifying"):
            positions = np.broadcast_to(np.arange(size), (len(lengths), size))
        elif way == "frequent":
            positions = lengths[:, None] - 1 - np.arange(size)
        else:
            positions = draw_subsets(lengths, size, random) if group.positions is None else group.positions
        items = self._items_at(group.records, positions)
        if way == "wrong":
            items = self._with_errors(items, group.records, wrong, random)
        return Itemsets(*each_once(items), self.data.vocabulary)

    def public_items(self, records: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """What attackers can know of each of these people: ``(positions among the records, items)``."""
        own = self.data.select(records)
        is_public = self.rank[own.items] >= 0
        return own.owners[is_public], own.items[is_public]

    def _items_at(self, records: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The public items at some positions of each record, counted from the rarest."""
        public = self.data.select(records).recode(self.rank, self.data.vocabulary)
        item_of_rank = np.argsort(self.data.supports, kind="stable").astype(np.int32)
        items: NDArray[np.int32] = item_of_rank[public.items[public.indptr[:-1][:, None] + positions]]
        return items

    def _with_errors(
        self, items: NDArray[np.int32], records: NDArray[np.int64], wrong: float, random: np.random.Generator
    ) -> NDArray[np.int32]:
        """Replace some items by others that the target does not have; where none is found the item stays."""
        width = self.data.n_items
        own = self.data.select(records)
        keys = own.owners * width + own.items  # ascending
        n_public = np.cumsum(self.n_public)
        items = items.copy()
        owners = np.broadcast_to(np.arange(len(records))[:, None], items.shape)
        pending = random.random(items.shape) < wrong
        for _ in range(_TRIES):
            n_pending = int(pending.sum())
            if not n_pending:
                break
            entries = random.integers(0, int(n_public[-1]), n_pending)  # so that an item is drawn by its frequency
            holders = np.searchsorted(n_public, entries, side="right")
            drawn = self._items_at(holders, (entries - n_public[holders] + self.n_public[holders])[:, None])[:, 0]
            wanted = owners[pending] * width + drawn
            is_false = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] != wanted
            settled = np.zeros_like(pending)
            settled[pending] = is_false
            items[settled] = drawn[is_false]
            pending &= ~settled
        return items
