"""(h, k, p)-coherence: sets of at most p public items are frequent, and their records do not share a sensitive item."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from setveil.core.progress import Progress
from setveil.errors import times
from setveil.models import Coherence
from setveil.verify.published import Published
from setveil.verify.verdict import Found, Verdict, Violation, in_braces

if TYPE_CHECKING:
    from setveil.verify.tables import Find, Indexed, Table


def check(published: Published, model: Coherence, progress: Progress) -> Verdict:
    """The first violation by size, then ascending."""
    table = _table(published, model, progress)
    for hit in _hits(table, model, progress):
        itemset = table.names(hit.itemset)
        who, why = f"{in_braces(itemset)} occurs in {times(hit.support, 'record')}", f"fewer than k={model.k}"
        if hit.sensitive >= 0:
            item = table.labels[hit.sensitive]
            why = f'of which {hit.shared:,} hold "{item}", more than h={model.h:g} %'
        return Verdict(False, itemset, hit.support, f"{who}, {why}.")
    return Verdict(True)


def violations(published: Published, model: Coherence, progress: Progress, limit: int = 1000) -> Iterator[Violation]:
    """Every violating set of at most p public items none of whose proper subsets violates."""
    table = _table(published, model, progress)
    for hit in _hits(table, model, progress):
        yield Violation(table.names(hit.itemset), hit.support)


def achieved(published: Published, model: Coherence, progress: Progress) -> dict[str, int | float]:
    """The smallest support of a set of at most p public items, and the largest percentage that shares an item."""
    from setveil.verify.search import smallest_support
    from setveil.verify.tables import Indexed, Walker

    table = _table(published, model, progress)
    smallest = smallest_support(Indexed.of(table.public(), progress), model.p, progress)
    if smallest is None:
        return {}
    indexed = Indexed.of(table, progress)
    largest = Fraction(0)
    for size in range(1, min(model.p, table.longest) + 1):
        walker = Walker(indexed, size, _shows_sensitive(table), shares=True)
        while largest < 1 and (found := walker.find(1, largest.numerator, largest.denominator, progress)):
            largest = Fraction(found.shared, found.support)
    return {"smallest_support": smallest, "largest_percentage": float(100 * largest)}


def largest_share(h: float, n_records: int) -> Fraction:
    """The largest fraction that is at most h percent and whose denominator is at most ``n_records``.

    A share of records exceeds h percent if and only if it exceeds this fraction, and with it no product in the counting
    loops can overflow. It is the lower neighbour of h/100 among such fractions, found by its continued fraction.
    """
    return below(Fraction(str(h)) / 100, n_records)


def below(limit: Fraction, n_records: int) -> Fraction:
    """The largest fraction that is at most ``limit`` and whose denominator is at most ``n_records``."""
    most = max(n_records, 1)
    if limit.denominator <= most:
        return limit
    n, d = limit.numerator, limit.denominator
    p0, q0, p1, q1 = 0, 1, 1, 0
    while True:
        a = n // d
        if q0 + a * q1 > most:
            break
        p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
        n, d = d, n - a * d
    a = (most - q0) // q1
    return min(Fraction(p0 + a * p1, q0 + a * q1), Fraction(p1, q1))


def _table(published: Published, model: Coherence, progress: Progress) -> Table:
    from setveil.verify.tables import make_table

    return make_table(published, published.sensitive(model.sensitive), progress)


def _shows_sensitive(table: Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return table.tails < table.indptr[1:]


def _hits(table: Table, model: Coherence, progress: Progress) -> Iterator[Find]:
    """Minimal violations by size, then ascending. Memory grows with what was found, not with what was looked at."""
    from setveil.verify.tables import Indexed

    k = min(model.k, int(table.weights.sum()) + 1)
    share = largest_share(model.h, int(table.weights.sum()))
    indexed, public = Indexed.of(table, progress), Indexed.of(table.public(), progress)
    shared_so_far, singles = Found[int](), []
    for size in range(1, min(model.p, table.longest) + 1):
        rare = _rare(public, size, k, progress)
        shared = _shared(indexed, size, k, share, progress)
        for hit in heapq.merge(rare, shared):
            # Neither kind of hit has a rare proper subset: the walk leaves those out.
            if shared_so_far.has_part_of(hit.itemset):
                continue
            if hit.sensitive >= 0:
                shared_so_far.add(hit.itemset)
            if size == 1:
                singles.append(hit.itemset[0])
            yield hit
        if size == 1 and singles:  # supersets of these are not minimal
            table = table.without(singles)
            indexed, public = Indexed.of(table, progress), Indexed.of(table.public(), progress)


def _rare(public: Indexed, size: int, k: int, progress: Progress) -> Iterator[Find]:
    from setveil.verify.search import AT_ONCE
    from setveil.verify.tables import Find, Walker

    if size == 1:
        for item in np.flatnonzero((public.supports > 0) & (public.supports < k)).tolist():
            yield Find((item,), int(public.supports[item]))
        return
    walker = Walker(public, size, public.table.weights < k, at_once=AT_ONCE)
    while found := walker.find(k, progress=progress):
        yield found


def _shared(indexed: Indexed, size: int, k: int, share: Fraction, progress: Progress) -> Iterator[Find]:
    from setveil.verify.search import AT_ONCE
    from setveil.verify.tables import Walker

    if share < 1:
        walker = Walker(indexed, size, _shows_sensitive(indexed.table), shares=True, at_once=AT_ONCE)
        while found := walker.find(k, share.numerator, share.denominator, progress):
            yield found
