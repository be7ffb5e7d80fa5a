"""Targets: drawn people, what attackers know of them, and what attackers find out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import are_matches
from setveil.core import Itemsets
from setveil.risk.attackers import KNOWLEDGE
from setveil.risk.inference import Revealed, reveal
from setveil.risk.intervals import Rate, rate_of
from setveil.risk.knowledge import People
from setveil.risk.surface import Match, Outcomes, Surface
from setveil.risk.worst import most_identifying


class Targets:
    """Drawn targets, what is known of them, and how attacks on them went."""

    def __init__(
        self,
        people: People,
        size: int,
        n: int,
        seed: int,
        wrong: float,
        are_in_data: bool = True,
        strange: Collection[Surface] = (),  # in which the records of the targets are not known
        exact: Surface | None = None,  # labels that cover one item, where the targets' own records are known
    ) -> None:
        self.strange, self.exact = strange, exact
        self.people, self.size, self.wrong = people, size, wrong
        self.seed = (seed, size) if are_in_data else (seed, size, len(KNOWLEDGE) + 1)
        self.group = people.draw(size, n, np.random.default_rng(self.seed))
        self.own = self.group.records if are_in_data else np.zeros_like(self.group.records)
        self.outcomes: dict[tuple[int, str, Match], Outcomes] = {}
        self.revealed: dict[tuple[int, str], Revealed] = {}
        self.known: dict[tuple[int, str], Itemsets] = {}

    def attacked(self, surface: Surface, knows: str, match: Match) -> Outcomes:
        """The outcomes; attackers who know and see the same are one."""
        key = (id(surface), knows, match)
        if key not in self.outcomes:
            known, classes = self._known(knows, surface), self.classes(surface)
            self.outcomes[key] = surface.search(known, self.own, self.group.secrets, match, classes)
        return self.outcomes[key]

    def inferred(self, surface: Surface, knows: str, has_own: bool) -> Revealed:
        """What is revealed about further items; ``has_own``: the targets' own records are where they are expected."""
        key = (id(surface), knows)
        if key not in self.revealed:
            own = self.own if has_own else np.full_like(self.own, -1)
            known, classes = self._known(knows, surface), self.classes(surface)
            self.revealed[key] = reveal(surface, self.people, self.group, known, own, classes)
        return self.revealed[key]

    def rate(self, knows: str, values: NDArray[Any], asked: NDArray[np.bool_] | None = None) -> Rate:
        """The mean of a figure over the targets, or over those of them who can be asked about."""
        weights = self.group.weights
        if weights is not None and asked is not None:
            weights = weights[asked]
        return rate_of(values, weights, self.group.is_exact(knows))

    def classes(self, surface: Surface) -> NDArray[np.int64] | None:
        """The class of each target among the records of a surface; None where no column is known."""
        if surface.column_classes is None:
            return None
        if surface in self.strange:
            columns = self.people.data.columns
            assert columns is not None, "people without columns cannot be looked up"
            return surface.column_classes.of_people(columns.select(self.group.records))
        return surface.column_classes.of_record[self.own]

    def _known(self, knows: str, surface: Surface) -> Itemsets:
        """What an attacker knows of each target."""
        key = (id(surface), knows)
        if key not in self.known:
            self.known[key] = self._draw_known(knows, surface)
        return self.known[key]

    def _draw_known(self, knows: str, surface: Surface) -> Itemsets:
        """Drawn apart: what an attacker knows does not depend on who else attacks. Which items identify a person best
        depends on where the attacker looks; of people who are not in the data these are the rarest.
        """
        random = np.random.default_rng((*self.seed, 1 + KNOWLEDGE.index(knows)))
        preferred = None
        if self.exact is not None and knows in ("shown", "identifying"):
            preferred = self._is_shown().astype(np.int64) if knows == "shown" else self._identifying(surface)
        return self.people.known(knows, self.size, self.group, self.wrong, random, preferred)

    def _identifying(self, surface: Surface) -> NDArray[np.int64]:
        """Which public items of the targets are the most identifying: 2; others that their records show: 1; else 0."""
        owners, items = self.people.public_items(self.group.records)
        entries, labels = surface.covering_labels(np.arange(len(items)), items)
        is_used = surface.shows_label(self.own[owners[entries]], labels)
        if surface.uses_exact_labels:
            is_used &= surface.label_sizes[labels] == 1
        entries, labels = entries[is_used], labels[is_used]
        order = np.lexsort((self.people.rank[items[entries]], labels, owners[entries]))  # of a label the rarest item
        width = max(len(surface.label_sizes), 1)
        once, first = np.unique((owners[entries] * width + labels)[order], return_index=True)
        entries, targets = entries[order][first], once // width
        numbers = surface.placed_labels(self.own[targets], once % width)
        indptr = np.searchsorted(targets, np.arange(len(self.own) + 1)).astype(np.int64)
        chosen, _ = most_identifying(surface.placed_records, (indptr, numbers), self.size)
        preferred = np.zeros(len(items), dtype=np.int64)
        preferred[entries] = 1
        preferred[entries[(chosen[targets] == numbers[:, None]).any(axis=1)]] = 2
        return preferred

    def _is_shown(self) -> NDArray[np.bool_]:
        """Which public items of the targets their records show under a label of their own."""
        assert self.exact is not None
        owners, items = self.people.public_items(self.group.records)
        image = self.exact.images.of_item[items]
        shown = image >= 0
        queries = np.arange(int(shown.sum()) + 1, dtype=np.int64), image[shown]
        shown[shown] = are_matches(self.exact.postings, queries, self.own[owners[shown]])
        return shown
