"""Targets: drawn people, what attackers know of them, and what attackers find out."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import are_matches
from setveil.core import Itemsets
from setveil.risk.attackers import KNOWLEDGE
from setveil.risk.inference import Revealed, reveal
from setveil.risk.knowledge import People
from setveil.risk.surface import Match, Outcomes, Surface


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
        exact: Surface | None = None,  # labels that stand for one item, where the targets' own records are known
    ) -> None:
        self.strange, self.exact = strange, exact
        self.people, self.size, self.wrong = people, size, wrong
        self.seed = (seed, size) if are_in_data else (seed, size, len(KNOWLEDGE) + 1)
        self.group = people.draw(size, n, np.random.default_rng(self.seed))
        self.own = self.group.records if are_in_data else np.zeros(n, dtype=np.int64)
        self.outcomes: dict[tuple[int, str, Match], Outcomes] = {}
        self.revealed: dict[tuple[int, str], Revealed] = {}

    def attacked(self, surface: Surface, knows: str, match: Match) -> Outcomes:
        """The outcomes; attackers who know and see the same are one."""
        key = (id(surface), knows, match)
        if key not in self.outcomes:
            known, classes = self._known(knows), self.classes(surface)
            self.outcomes[key] = surface.search(known, self.own, self.group.secrets, match, classes)
        return self.outcomes[key]

    def inferred(self, surface: Surface, knows: str, has_own: bool) -> Revealed:
        """What is revealed about further items; ``has_own``: the targets' own records are where they are expected."""
        key = (id(surface), knows)
        if key not in self.revealed:
            own = self.own if has_own else np.full_like(self.own, -1)
            known, classes = self._known(knows), self.classes(surface)
            self.revealed[key] = reveal(surface, self.people, self.group, known, own, classes)
        return self.revealed[key]

    @cache  # noqa: B019 (there are few, and they go with the targets)
    def classes(self, surface: Surface) -> NDArray[np.int64] | None:
        """The class of each target among the records of a surface; None where no column is known."""
        if surface.places is None:
            return None
        if surface in self.strange:
            columns = self.people.data.columns
            assert columns is not None, "people without columns cannot be looked up"
            return surface.places.of_people(columns.select(self.group.records))
        return surface.places.of_record[self.own]

    @cache  # noqa: B019 (there are few, and they go with the targets)
    def _known(self, knows: str) -> Itemsets:
        """Drawn apart: what an attacker knows does not depend on who else attacks."""
        random = np.random.default_rng((*self.seed, 1 + KNOWLEDGE.index(knows)))
        is_shown = self._is_shown() if knows == "shown" and self.exact is not None else None
        return self.people.known(knows, self.size, self.group, self.wrong, random, is_shown)

    def _is_shown(self) -> NDArray[np.bool_]:
        """Which public items of the targets their records show under a label of their own."""
        assert self.exact is not None
        owners, items = self.people.public_items(self.group.records)
        image = self.exact.images.of_item[items]
        shown = image >= 0
        queries = np.arange(int(shown.sum()) + 1, dtype=np.int64), image[shown]
        shown[shown] = are_matches(self.exact.postings, queries, self.own[owners[shown]])
        return shown
