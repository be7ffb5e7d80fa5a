"""Sensitive rules: the image of each left side is in 0 or at least k records, and at most a share c has the right side.

Rules name *original* items; what each is published as comes from the codebook, as for privacy constraints. A suppressed
public item leaves the left side: whoever knows it learns nothing from it. If none is left, every record matches, and
only the share counts. A record has the right side if its labels can cover all items of it. No record has a right side
with an item that is published nowhere. Shares are compared as whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from setveil.core.progress import Progress
from setveil.core.vocabulary import ascending
from setveil.errors import times
from setveil.models import Rule, RuleAnonymity
from setveil.verify.constraints import ABSENT, SUPPRESSED, images
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation, in_braces


class Counted(NamedTuple):
    """A rule with the records that match its left side, and those of them that also have its right side."""

    rule: Rule
    is_named: bool  # whether anything of the left side is published
    alone: int
    both: int


def check(published: Published, model: RuleAnonymity, progress: Progress) -> Verdict:
    """The first violated rule: short left sides first, then ascending."""
    for one in islice(_violated(published, model, progress), 1):
        k, share = model.limits(one.rule)
        known = in_braces(one.rule.known)
        if _is_rare(one, k):
            reason = f"the image of {known} occurs in {times(one.alone, 'record')}, fewer than k={k}."
            return Verdict(False, one.rule.known, one.alone, reason)
        reason = (
            f"the image of {known} occurs in {times(one.alone, 'record')}, {one.both:,} of which have "
            f"{in_braces(one.rule.sensitive)}: more than c={share}."
        )
        return Verdict(False, one.rule.items, one.both, reason)
    return Verdict(True)


def violations(
    published: Published, model: RuleAnonymity, progress: Progress, limit: int = 1000
) -> Iterator[Violation]:
    """Every violated rule: its left side where that is too rare, else all its items."""
    for one in _violated(published, model, progress):
        is_rare = _is_rare(one, model.limits(one.rule)[0])
        yield Violation(one.rule.known, one.alone) if is_rare else Violation(one.rule.items, one.both)


def achieved(published: Published, model: RuleAnonymity, progress: Progress) -> dict[str, int | float]:
    """The smallest support above 0 of a left side, and the largest share with the right side, in percent."""
    counted = [one for one in _counted(published, model, progress) if one.alone]
    named = [one.alone for one in counted if one.is_named]
    result: dict[str, int | float] = {"smallest_support": min(named)} if named else {}
    if counted:
        result["largest_percentage"] = max(100 * one.both / one.alone for one in counted)
    return result


def _is_rare(one: Counted, k: int) -> bool:
    return one.is_named and 0 < one.alone < k


def _violated(published: Published, model: RuleAnonymity, progress: Progress) -> Iterator[Counted]:
    counted = _counted(published, model, progress)
    rank = {label: number for number, label in enumerate(ascending(model.listed_items))}
    found = []
    for one in counted:
        k, share = model.limits(one.rule)
        if _is_rare(one, k) or one.both * share.denominator > one.alone * share.numerator:
            found.append(one)
    by_size = lambda one: (len(one.rule.known), [rank[item] for item in one.rule.items], one.rule)  # noqa: E731
    yield from sorted(found, key=by_size)


def _counted(published: Published, model: RuleAnonymity, progress: Progress) -> list[Counted]:
    """Every rule with its counts."""
    from setveil.verify.tables import count_itemsets

    records, cell_of = images(published, model.listed_items)
    number_of: dict[tuple[int, ...], int] = {}
    positions = []  # per rule: the left side's cells, the numbers of the itemsets to count: left, and both sides
    for rule in model.rules:
        left = {cell_of[item] for item in rule.known} - {SUPPRESSED}
        right = {cell_of[item] for item in rule.sensitive}
        alone = both = -1  # support 0
        if ABSENT not in left:
            alone = number_of.setdefault(tuple(sorted(left)), len(number_of))
            if not right & {ABSENT, SUPPRESSED}:
                both = number_of.setdefault(tuple(sorted(left | right)), len(number_of))
        positions.append((bool(left), alone, both))
    supports = np.zeros(len(number_of) + 1, dtype=np.int64)  # the last entry serves -1
    named = [(cells, number) for cells, number in number_of.items() if cells]
    supports[[number for _, number in named]] = count_itemsets(records, [cells for cells, _ in named], progress)
    if () in number_of:
        supports[number_of[()]] = published.n_records
    return [
        Counted(rule, is_named, int(supports[alone]), int(supports[both]))
        for rule, (is_named, alone, both) in zip(model.rules, positions, strict=True)
    ]
