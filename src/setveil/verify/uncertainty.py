"""ρ-uncertainty: no itemset reveals a further sensitive item with more than ρ.

For ``p="all"`` only few itemsets matter. Let R be the records with a sensitive item α, without α. Of all itemsets that
the same records of R contain, the largest one, the intersection of these records, has the smallest support in all
records and so the largest confidence. So it is enough to look at intersections of records of R. With a bounded p every
itemset of at most p items of a record of R is looked at, because an intersection may have more than p items. That is
the walk that also verifies coherence, over all sensitive items at once.

In a local recoding labels are checked as opaque items. Where a label covers several items, the same is checked once
more with every record expanded to all items that its labels can cover.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import times
from setveil.models.uncertainty import Uncertainty
from setveil.releases import LocalRecoding
from setveil.verify.book import cover_pairs
from setveil.verify.coherence import below
from setveil.verify.intersections import Steps, intersections
from setveil.verify.published import Published, bounds_of, spread_rows
from setveil.verify.tables import BUDGET, Indexed, Table, Walker, make_table
from setveil.verify.verdict import Verdict, Violation, in_braces


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
    for labels, rule in islice(_violated(published, model, progress), 1):
        known, item = labels[:-1], labels[-1]
        who = f"{in_braces(known)} is in {times(rule.alone, 'record')}" if known else f"of {rule.alone:,} records"
        return Verdict(False, labels, rule.both, f'{who}, {rule.both:,} have "{item}": more than rho={model.rho}.')
    return Verdict(True)


def violations(published: Published, model: Uncertainty, progress: Progress, limit: int = 1000) -> Iterator[Violation]:
    """Rules that are too certain, each without known items that are not needed for that; the sensitive item last."""
    for labels, rule in _violated(published, model, progress):
        yield Violation(labels, rule.both)


def achieved(published: Published, model: Uncertainty, progress: Progress) -> dict[str, int | float]:
    """The largest confidence, in percent."""
    largest = _largest(published, model, progress)
    return {"largest_percentage": float(100 * largest)} if largest else {}


def judge(published: Published, model: Uncertainty, progress: Progress) -> tuple[Verdict, dict[str, int | float]]:
    """The verdict and the largest confidence, from one walk where the guarantee is met."""
    largest = _largest(published, model, progress)
    if largest > model.share:
        return check(published, model, progress), {}
    return Verdict(True), {"largest_percentage": float(100 * largest)} if largest else {}


def _violated(published: Published, model: Uncertainty, progress: Progress) -> Iterator[tuple[tuple[str, ...], Rule]]:
    """Each rule that is too certain, once, with its labels."""
    for records in _views(published, model, progress):
        share, seen = below(model.share, records.n_records), set()
        for rule in records.rules_above(share, model.p, rises=False):
            rule = records.shrink(rule, share)
            labels = records.table.names((*rule.known, rule.item))
            if labels not in seen:
                seen.add(labels)
                yield labels, rule
        if seen:
            return


def _largest(published: Published, model: Uncertainty, progress: Progress) -> Fraction:
    largest = Fraction(0)
    for records in _views(published, model, progress):
        for rule in records.rules_above(largest, model.p, rises=True):
            largest = rule.confidence
    return largest


def _views(published: Published, model: Uncertainty, progress: Progress) -> Iterator[_Records]:
    """The published labels; and where a label covers several items, all items that they can cover."""
    steps = Steps(progress)
    yield _Records.of(make_table(published, published.sensitive(model.sensitive), progress), steps)
    release = published.release
    if isinstance(release, LocalRecoding) and np.diff(np.asarray(release.cover.indptr)).max(initial=0) > 1:
        yield _Records.of(make_table(_expanded(published, release), model.sensitive, progress), steps)


def _expanded(published: Published, release: LocalRecoding) -> Published:
    """Every record with all items that its labels can cover."""
    assert published.number_of is not None
    labels, items = cover_pairs(release)
    numbers = published.number_of[labels]
    bounds = bounds_of(np.bincount(numbers, minlength=len(published.labels)))
    members, domain = items[np.argsort(numbers, kind="stable")], tuple(release.cover.vocabulary)
    indptr, expanded = spread_rows((published.indptr, published.items), bounds, members, len(domain))
    return Published(domain, indptr, expanded)


@dataclass(frozen=True)
class _Records:
    """Distinct records. A sensitive item stands in them twice: among the items that an attacker may know, which come
    first, and behind them, ``n_sensitive`` numbers higher, as one that may be revealed.
    """

    table: Table
    indexed: Indexed
    n_sensitive: int
    steps: Steps

    @classmethod
    def of(cls, table: Table, steps: Steps) -> _Records:
        n_sensitive = len(table.labels) - table.n_public
        is_sensitive = table.items >= table.n_public
        before = bounds_of(is_sensitive)
        indptr, ends = table.indptr + before[table.indptr], table.indptr[1:]
        tails = ends + before[table.indptr[:-1]]
        items = np.empty(indptr[-1], dtype=np.int32)
        row_of = np.repeat(np.arange(table.n_rows), np.diff(table.indptr))
        position = np.arange(len(table.items)) + before[table.indptr[row_of]]
        items[position] = table.items
        twins = np.flatnonzero(is_sensitive)
        owners = row_of[twins]
        items[tails[owners] + np.arange(len(twins)) - before[table.indptr[owners]]] = table.items[twins] + n_sensitive
        labels = (*table.labels, *table.labels[table.n_public :])
        double = Table(labels, len(table.labels), indptr, tails, items, table.weights)
        return cls(table, Indexed.of(double, steps.progress), n_sensitive, steps)

    @property
    def n_records(self) -> int:
        return int(self.table.weights.sum())

    def rules_above(self, threshold: Fraction, p: int | str, rises: bool) -> Iterator[Rule]:
        """Rules with more than ``threshold``: for ``p="all"`` those of intersections; if it ``rises``, only rules above
        all before.
        """
        for rule in self._unknown() if isinstance(p, int) else self._intersected(threshold, rises):
            if rule.confidence > threshold:
                threshold = rule.confidence if rises else threshold
                yield rule
        if not isinstance(p, int):
            return
        shows = self.indexed.table.tails < self.indexed.table.indptr[1:]
        for size in range(1, min(p, self.indexed.table.longest) + 1):
            walker = Walker(self.indexed, size, shows, shares=True, twin=self.n_sensitive)
            while found := walker.find(1, threshold.numerator, threshold.denominator, self._count):
                rule = Rule(found.itemset, found.sensitive - self.n_sensitive, found.shared, found.support)
                threshold = rule.confidence if rises else threshold
                yield rule

    def _count(self, stage: str, fraction: float | None) -> None:
        """The walk reports at least once in ``BUDGET`` steps."""
        self.steps.add(BUDGET)

    def _unknown(self) -> Iterator[Rule]:
        """What an attacker can say who knows no item."""
        for item in range(self.table.n_public, len(self.table.labels)):
            if support := int(self.indexed.supports[item]):
                yield Rule((), item, support, self.n_records)

    def _intersected(self, threshold: Fraction, rises: bool) -> Iterator[Rule]:
        """The rules of intersections above ``threshold``."""
        for item in range(self.table.n_public, len(self.table.labels)):
            for bounds, items in intersections(self.table, item, self.steps):
                both = self._supports(bounds, items)
                known, bounds = items[items != item], bounds - np.arange(len(bounds))
                # Counting can stop where the share is not above the threshold.
                enough = -(-both * threshold.denominator // threshold.numerator) if threshold else 2**62
                alone = self._supports(bounds, known, enough)
                for number in np.flatnonzero(both * threshold.denominator > alone * threshold.numerator).tolist():
                    one = tuple(known[bounds[number] : bounds[number + 1]].tolist())
                    rule = Rule(one, item, int(both[number]), int(alone[number]))
                    if rises:
                        threshold = max(threshold, rule.confidence)
                    yield rule

    def _supports(
        self, bounds: NDArray[np.int64], items: NDArray[np.int32], enough: int | NDArray[np.int64] = 2**62
    ) -> NDArray[np.int64]:
        """Records with each itemset, which may be empty; counted up to ``enough``."""
        supports = np.full(len(bounds) - 1, self.n_records, dtype=np.int64)
        named = np.flatnonzero(np.diff(bounds))
        limits = np.broadcast_to(enough, len(supports))[named]
        supports[named] = self.indexed.count(bounds[named], bounds[named + 1], items, limits, self.steps.progress)
        return supports

    def shrink(self, rule: Rule, share: Fraction) -> Rule:
        """Drop known items, one at a time, while the rule stays too certain.

        Confidence is not monotone: after an item is dropped, one that was needed before may no longer be.
        """
        while True:
            parts = (tuple(item for item in rule.known if item != dropped) for dropped in rule.known)
            shorter = (self._rule(part, rule.item) for part in parts)
            found = next((part for part in shorter if part.confidence > share), None)
            if found is None:
                return rule
            rule = found

    def _rule(self, known: tuple[int, ...], item: int) -> Rule:
        """A rule with its counts."""
        items = np.array([*known, *sorted((*known, item))], dtype=np.int32)
        alone, both = self._supports(np.array([0, len(known), len(items)]), items).tolist()
        return Rule(known, item, both, alone)
