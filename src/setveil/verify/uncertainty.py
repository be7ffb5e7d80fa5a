"""ρ-uncertainty: no itemset reveals a further sensitive item with more than ρ.

For ``p="all"`` only few itemsets matter. Let R be the records with a sensitive item α, without α. Of all itemsets that
the same records of R contain, the largest one, the intersection of these records, has the smallest support in all
records and so the largest confidence. So it is enough to look at intersections of records of R. With a bounded p every
itemset of at most p items of a record of R is looked at, because an intersection may have more than p items.

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
from setveil.models.uncertainty import Uncertainty
from setveil.releases import LocalRecoding
from setveil.verify.book import cover_pairs
from setveil.verify.coherence import below
from setveil.verify.published import Published, sorted_rows
from setveil.verify.rule_walk import Steps, rules_above
from setveil.verify.tables import Table, make_table
from setveil.verify.verdict import Verdict, Violation, in_braces, times


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
        for item in records.sensitive:
            for known, both, alone in rules_above(records.table, item, share, model.p, False, records.steps):
                rule = records.shrink(Rule(known, item, both, alone), share)
                labels = records.table.names((*rule.known, item))
                if labels not in seen:
                    seen.add(labels)
                    yield labels, rule
        if seen:
            return


def _largest(published: Published, model: Uncertainty, progress: Progress) -> Fraction:
    largest = Fraction(0)
    for records in _views(published, model, progress):
        for item in records.sensitive:
            for _, both, alone in rules_above(records.table, item, largest, model.p, True, records.steps):
                largest = Fraction(both, alone)
    return largest


def _views(published: Published, model: Uncertainty, progress: Progress) -> Iterator[_Records]:
    """The published labels; and where a label covers several items, all items that they can cover."""
    steps = Steps(progress)
    yield _Records(make_table(published, published.sensitive(model.sensitive), progress), steps)
    release = published.release
    if isinstance(release, LocalRecoding) and np.diff(np.asarray(release.cover.indptr)).max(initial=0) > 1:
        yield _Records(make_table(_expanded(published, release), model.sensitive, progress), steps)


def _expanded(published: Published, release: LocalRecoding) -> Published:
    """Every record with all items that its labels can cover."""
    assert published.number_of is not None
    labels, items = cover_pairs(release)
    order = np.argsort(published.number_of[labels], kind="stable")
    n_covered = np.bincount(published.number_of[labels], minlength=len(published.labels))
    first = np.cumsum(n_covered) - n_covered
    repeats = n_covered[published.items]
    offset = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    expanded = items[order][np.repeat(first[published.items], repeats) + offset].astype(np.int32)
    ends = np.concatenate(([0], np.cumsum(repeats)))
    domain = tuple(release.cover.vocabulary)
    indptr, expanded = sorted_rows(ends[published.indptr].astype(np.int64), expanded, len(domain))
    return Published(domain, indptr, expanded)


@dataclass
class _Records:
    """Distinct records, sensitive items numbered behind the others."""

    table: Table
    steps: Steps
    _holders: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None  # bounds and rows of each item

    @property
    def sensitive(self) -> range:
        return range(self.table.n_public, len(self.table.labels))

    @property
    def n_records(self) -> int:
        return int(self.table.weights.sum())

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
        rows = np.arange(self.table.n_rows)
        for other in sorted(known, key=lambda other: len(self._rows(other))):
            rows = np.intersect1d(rows, self._rows(other), assume_unique=True)
        both = np.intersect1d(rows, self._rows(item), assume_unique=True)
        return Rule(known, item, int(self.table.weights[both].sum()), int(self.table.weights[rows].sum()))

    def _rows(self, item: int) -> NDArray[np.int64]:
        if self._holders is None:
            owners = np.repeat(np.arange(self.table.n_rows), np.diff(self.table.indptr))
            bounds = np.concatenate(([0], np.cumsum(np.bincount(self.table.items, minlength=len(self.table.labels)))))
            self._holders = bounds, owners[np.argsort(self.table.items, kind="stable")]
        bounds, rows = self._holders
        return rows[bounds[item] : bounds[item + 1]]
