"""Rules that reveal a sensitive item, with their items: for algorithms that suppress items everywhere.

Sets of items and sets of records are whole numbers whose bits are the members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from setveil.algorithms.base import Context
from setveil.core import Transactions
from setveil.errors import InfeasibleError
from setveil.models import Uncertainty

MOST_STEPS = 100_000_000  # itemsets that are looked at
RULES_PER_REPORT = 100_000  # of them between two signs of life
LISTED = 3  # known items up to which all rules are listed where p="all"; beyond, those with closed known items


class Rule(NamedTuple):
    """Known items, and the sensitive item that they reveal with more than ρ."""

    known: tuple[int, ...]
    item: int


class RuleFinder:
    """The distinct records over items of any kind, and the records with each item."""

    def __init__(self, data: Transactions, sensitive: list[int], model: Uncertainty, context: Context) -> None:
        self.share, self.p, self.context, self.sensitive = model.share, model.p, context, sensitive
        self.n_steps = 0
        distinct = data.distinct()
        bounds, items = distinct.rows.indptr.tolist(), distinct.rows.items.tolist()
        weights = distinct.weights.tolist()
        # Records that occur once come first: then most counts are counts of bits.
        order = sorted(range(len(weights)), key=lambda row: weights[row] > 1)
        self.rows = [items[bounds[row] : bounds[row + 1]] for row in order]
        self.weights = [weights[row] for row in order]
        self.single = (1 << sum(weight == 1 for weight in weights)) - 1
        members: list[list[int]] = [[] for _ in range(data.n_items)]
        for number, row in enumerate(self.rows):
            for item in row:
                members[item].append(number)
        self.members = members
        self.holders = [_bits(numbers, len(self.rows)) for numbers in members]

    def of_size(self, size: int, without: set[int]) -> Iterator[Rule]:
        """The rules with ``size`` known items, none of them in ``without``."""
        for item in self.sensitive:
            both: Counter[tuple[int, ...]] = Counter()
            for row in self.members[item] if item not in without else ():
                others = [other for other in self.rows[row] if other != item and other not in without]
                self._step(comb(len(others), size))
                for known in combinations(others, size):
                    both[known] += self.weights[row]
            for known, count in both.items():
                self._step(1)
                if count > self.share * self._count(self._having(known)):
                    yield Rule(known, item)

    def closed(self, without: set[int]) -> Iterator[Rule]:
        """Rules whose known items are the intersection of some holders, cut down to known items that are needed."""
        for item in self.sensitive:
            closed: set[frozenset[int]] = set()
            for row in self.members[item] if item not in without else ():
                own = frozenset(self.rows[row]) - {item} - without
                self._step(len(closed))
                closed |= {own & other for other in closed}
                closed.add(own)
            for known in sorted(tuple(sorted(itemset)) for itemset in closed):
                if self._is_violated(known, item):
                    yield self._shrunk(known, item)

    def any_size(self, without: set[int]) -> list[Rule]:
        """Violated rules; none only if no rule is violated."""
        if self.p == "all":
            return list(dict.fromkeys(self.closed(without)))
        return [rule for size in range(self.p + 1) for rule in self.of_size(size, without)]

    def _shrunk(self, known: tuple[int, ...], item: int) -> Rule:
        while True:
            parts = (tuple(other for other in known if other != dropped) for dropped in known)
            shorter = next((part for part in parts if self._is_violated(part, item)), None)
            if shorter is None:
                return Rule(known, item)
            known = shorter

    def _is_violated(self, known: tuple[int, ...], item: int) -> bool:
        self._step(1)
        rows = self._having(known)
        return self._count(rows & self.holders[item]) > self.share * self._count(rows)

    def _having(self, items: tuple[int, ...]) -> int:
        rows = (1 << len(self.rows)) - 1
        for item in sorted(items, key=lambda item: len(self.members[item])):
            rows &= self.holders[item]
        return rows

    def _count(self, rows: int) -> int:
        several = rows & ~self.single
        total: int = (rows & self.single).bit_count()
        while several:
            lowest = several & -several
            total += self.weights[lowest.bit_length() - 1]
            several ^= lowest
        return total

    def _step(self, n_steps: int) -> None:
        if (self.n_steps + n_steps) // RULES_PER_REPORT > self.n_steps // RULES_PER_REPORT:
            self.context.step("itemsets that reveal a sensitive item")
        self.n_steps += n_steps
        if self.n_steps > MOST_STEPS:
            raise InfeasibleError(
                f"more than {MOST_STEPS:,} itemsets occur with a sensitive item; choose a smaller -p, or the "
                "algorithm pluck."
            )


def _bits(numbers: list[int], size: int) -> int:
    marks = np.zeros(size, dtype=bool)
    marks[numbers] = True
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")
