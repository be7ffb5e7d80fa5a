"""k^m-anonymity: no occurring itemset of at most m published items is rarer than k."""

from __future__ import annotations

from collections.abc import Iterator

from setveil.core.progress import Progress
from setveil.models import KmAnonymity
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation, in_braces, times


def check(published: Published, model: KmAnonymity, progress: Progress) -> Verdict:
    """The first violation by size, then ascending; ``m="all"`` is decided by whole records where that is cheaper."""
    first = next(_rare(published, model, progress, hurry=True), None)
    if first is None:
        return Verdict(True)
    return Verdict(
        False,
        first.itemset,
        first.support,
        f"{in_braces(first.itemset)} occurs in {times(first.support, 'record')}, fewer than k={model.k}.",
    )


def violations(published: Published, model: KmAnonymity, progress: Progress, limit: int = 1000) -> Iterator[Violation]:
    """Every itemset of at most m items with 0 < support < k none of whose proper subsets is one."""
    yield from _rare(published, model, progress)


def achieved(published: Published, model: KmAnonymity, progress: Progress) -> dict[str, int | float]:
    """The smallest support of an occurring itemset of at most m items."""
    from setveil.verify.search import smallest_support
    from setveil.verify.tables import Indexed, make_table

    indexed = Indexed.of(make_table(published, progress=progress), progress)
    smallest = smallest_support(indexed, _largest(model), progress)
    return {} if smallest is None else {"smallest_support": smallest}


def _rare(published: Published, model: KmAnonymity, progress: Progress, hurry: bool = False) -> Iterator[Violation]:
    from setveil.verify.search import rare_itemsets
    from setveil.verify.tables import Indexed, make_table

    indexed = Indexed.of(make_table(published, progress=progress), progress)
    for itemset, support in rare_itemsets(indexed, model.k, _largest(model), progress, hurry):
        yield Violation(indexed.table.names(itemset), support)


def _largest(model: KmAnonymity) -> int | None:
    return None if model.m == "all" else model.m
