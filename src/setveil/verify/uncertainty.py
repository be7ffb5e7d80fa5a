"""ρ-uncertainty: no itemset reveals a further sensitive item with more than ρ.

For ``p="all"`` only few itemsets matter. Let R be the records with a sensitive item α, without α. Of all itemsets that
the same records of R contain, the largest one, the intersection of these records, has the smallest support in all
records and so the largest confidence. So it is enough to look at intersections of records of R. With a bounded p every
itemset of at most p items of a record of R is looked at, because an intersection may have more than p items.

Sets of items and sets of records are whole numbers whose bits are the members.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from setveil.core.progress import Progress
from setveil.errors import UncheckedError
from setveil.models.uncertainty import Uncertainty
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation, in_braces, times

MOST_STEPS = 200_000_000  # intersections or itemsets that are looked at, before the answer is "cannot be verified"
SLICE = 200_000  # of them between two signs of life


class Rule(NamedTuple):
    """Known items, a sensitive item, and in how many records both and the known items alone are."""

    known: tuple[int, ...]
    item: int
    both: int
    alone: int

    @property
    def confidence(self) -> Fraction:
        return Fraction(self.both, self.alone)


def check(published: Published, model: Uncertainty, progress: Progress) -> Verdict:
    """The first rule that is too certain, without known items that are not needed for that."""
    records = _Records(published, progress)
    for rule in _rules(records, model):
        if rule.confidence > model.share:
            rule = records.shrink(rule, model)
            labels = tuple(published.labels[item] for item in rule.known)
            who = f"{in_braces(labels)} is in {times(rule.alone, 'record')}" if labels else f"of {rule.alone:,} records"
            name = published.labels[rule.item]
            return Verdict(
                False, (*labels, name), rule.both, f'{who}, {rule.both:,} have "{name}": more than rho={model.rho}.'
            )
    return Verdict(True)


def violations(published: Published, model: Uncertainty, progress: Progress, limit: int = 1000) -> Iterator[Violation]:
    """Rules that are too certain, each without known items that are not needed for that; the sensitive item last."""
    records, seen = _Records(published, progress), set()
    for rule in _rules(records, model):
        if rule.confidence > model.share:
            rule = records.shrink(rule, model)
            if (rule.known, rule.item) not in seen:
                seen.add((rule.known, rule.item))
                yield Violation(tuple(published.labels[item] for item in (*rule.known, rule.item)), rule.both)


def achieved(published: Published, model: Uncertainty, progress: Progress) -> dict[str, int | float]:
    """The largest confidence, in percent."""
    largest = max((rule.confidence for rule in _rules(_Records(published, progress), model)), default=None)
    return {} if largest is None else {"largest_percentage": float(100 * largest)}


def _rules(records: _Records, model: Uncertainty) -> Iterator[Rule]:
    """For each sensitive item the rules that can be the most certain ones."""
    published = records.published
    for item in published.numbers(published.sensitive(model.sensitive)):
        yield from records.closed_rules(item) if model.p == "all" else records.short_rules(item, model.p)


class _Records:
    """The distinct published records, and the records with each item."""

    def __init__(self, published: Published, progress: Progress) -> None:
        self.published = published
        self.progress = progress
        self.steps = 0
        rows = Counter(
            published.items[start:end].tobytes()
            for start, end in zip(published.indptr[:-1].tolist(), published.indptr[1:].tolist(), strict=True)
        )
        self.rows = [tuple(np.frombuffer(row, dtype=published.items.dtype).tolist()) for row in rows]
        self.weights = list(rows.values())
        # Records are numbered so that those which occur once come first: then most counts are counts of bits.
        order = sorted(range(len(self.rows)), key=lambda row: self.weights[row] > 1)
        self.rows, self.weights = [self.rows[row] for row in order], [self.weights[row] for row in order]
        self.n_single = sum(weight == 1 for weight in self.weights)
        self.all = (1 << len(self.rows)) - 1
        members: list[list[int]] = [[] for _ in published.labels]
        for number, row in enumerate(self.rows):
            for label in row:
                members[label].append(number)
        self.holders = [_bits(numbers, len(self.rows)) for numbers in members]

    def n_records(self, rows: int) -> int:
        """How many records a set of distinct rows stands for."""
        single = rows & ((1 << self.n_single) - 1)
        total, several = single.bit_count(), rows >> self.n_single
        while several:
            lowest = several & -several
            total += self.weights[self.n_single + lowest.bit_length() - 1]
            several ^= lowest
        return total

    def having(self, items: tuple[int, ...]) -> int:
        """The rows that contain all of some items."""
        rows = self.all
        for item in sorted(items, key=lambda item: self.holders[item].bit_count()):
            rows &= self.holders[item]
        return rows

    def rule(self, known: tuple[int, ...], item: int) -> Rule:
        """A rule with its counts."""
        rows = self.having(known)
        return Rule(known, item, self.n_records(rows & self.holders[item]), self.n_records(rows))

    def closed_rules(self, item: int) -> Iterator[Rule]:
        """The rules whose known items are the intersection of some records with ``item``."""
        others = sorted({other for row in _members(self.holders[item]) for other in self.rows[row]} - {item})
        place = {other: number for number, other in enumerate(others)}
        closed: set[int] = set()
        for row in _members(self.holders[item]):
            own = _bits([place[other] for other in self.rows[row] if other != item], len(others))
            self.step(len(closed))
            closed |= {own & other for other in closed}
            closed.add(own)
        for known in closed:
            self.step(1)
            yield self.rule(tuple(others[number] for number in _members(known)), item)

    def short_rules(self, item: int, p: int) -> Iterator[Rule]:
        """The rules with at most ``p`` known items that are in a record with ``item``."""
        both: Counter[tuple[int, ...]] = Counter()
        for row in _members(self.holders[item]):
            others = [other for other in self.rows[row] if other != item]
            self.step(sum(comb(len(others), size) for size in range(min(p, len(others)) + 1)))
            for size in range(min(p, len(others)) + 1):
                for known in combinations(others, size):
                    both[known] += self.weights[row]
        for known, count in both.items():
            self.step(1)
            yield Rule(known, item, count, self.n_records(self.having(known)))

    def shrink(self, rule: Rule, model: Uncertainty) -> Rule:
        """Drop known items, one at a time, while the rule stays too certain.

        Confidence is not monotone: after an item is dropped, one that was needed before may no longer be.
        """
        while True:
            parts = (tuple(item for item in rule.known if item != dropped) for dropped in rule.known)
            shorter = (self.rule(part, rule.item) for part in parts)
            found = next((part for part in shorter if part.confidence > model.share), None)
            if found is None:
                return rule
            rule = found

    def step(self, n_steps: int) -> None:
        """Count work, show that it goes on, and give up beyond the limit."""
        if (self.steps + n_steps) // SLICE > self.steps // SLICE:
            self.progress("verify", None)
        self.steps += n_steps
        if self.steps > MOST_STEPS:
            raise UncheckedError(
                f"more than {MOST_STEPS:,} combinations of items would have to be checked; choose a smaller -p."
            )


def _bits(numbers: list[int], size: int) -> int:
    """A set of numbers below ``size``."""
    marks = np.zeros(size, dtype=bool)
    marks[numbers] = True
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")


def _members(bits: int) -> list[int]:
    """The numbers in a set, ascending."""
    n_bytes = (bits.bit_length() + 7) // 8
    marks = np.unpackbits(np.frombuffer(bits.to_bytes(n_bytes, "little"), dtype=np.uint8), bitorder="little")
    numbers: list[int] = np.flatnonzero(marks).tolist()
    return numbers
