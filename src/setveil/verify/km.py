"""k^m-anonymity: no occurring itemset of at most m published items is rarer than k."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from setveil.core.progress import Progress
from setveil.errors import times
from setveil.models import KmAnonymity
from setveil.verify.dense import can_count, count_itemsets, count_single_items, first_itemset
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation, in_braces


def check(published: Published, model: KmAnonymity, progress: Progress) -> Verdict:
    """The first violation by size, then ascending; ``m="all"`` is decided by whole records where that is cheaper."""
    return judge(published, model, progress)[0]


def judge(published: Published, model: KmAnonymity, progress: Progress) -> tuple[Verdict, dict[str, int | float]]:
    """The verdict and, where the claim holds, the smallest support of an occurring itemset of at most m items."""
    published = published.of_items(model.observable)
    few = too_few(published.n_records, model)
    if few is not None:
        return few, {}
    if counts_in_tables(published, model):
        return _judge_by_tables(published, model, progress)
    first = next(_rare(published, model, progress, hurry=True), None)
    if first is not None:
        return _broken(*first), {}
    return Verdict(True), achieved(published, model, progress)


def counts_in_tables(published: Published, model: KmAnonymity) -> bool:
    """Whether all itemsets are few enough to count each of them."""
    return model.m != "all" and all(can_count(published, size) for size in range(2, model.m + 1))


def _judge_by_tables(
    published: Published, model: KmAnonymity, progress: Progress
) -> tuple[Verdict, dict[str, int | float]]:
    assert model.m != "all"
    smallest: list[int] = []
    n_items = len(published.labels)
    for size in range(1, model.m + 1):
        supports = count_single_items(published) if size == 1 else count_itemsets(published, size, progress)
        occurring = supports[supports > 0]
        if not len(occurring):
            break
        smallest.append(int(occurring.min()))
        k = model.k_for(size)
        if smallest[-1] < k:
            rare = np.flatnonzero((supports > 0) & (supports < k))
            itemset, place = first_itemset(rare, size, n_items)
            labels = tuple(published.labels[item] for item in itemset)
            return _broken(Violation(labels, int(supports[place])), k), {}
    return Verdict(True), {"smallest_support": min(smallest)} if smallest else {}


def too_few(n_records: int, model: KmAnonymity) -> Verdict | None:
    """An attacker who knows nothing matches all records; ``k_known`` says how many that must be."""
    if model.k_known is None or not 0 < n_records < model.k_for(0):
        return None
    reason = f"there are {times(n_records, 'record')} in all, fewer than k={model.k_for(0)}."
    return Verdict(False, (), n_records, reason)


def _broken(first: Violation, k: int) -> Verdict:
    return Verdict(
        False,
        first.itemset,
        first.support,
        f"{in_braces(first.itemset)} occurs in {times(first.support, 'record')}, fewer than k={k}.",
    )


def violations(published: Published, model: KmAnonymity, progress: Progress, limit: int = 1000) -> Iterator[Violation]:
    """Every itemset of at most m items with 0 < support < k none of whose proper subsets is one."""
    published = published.of_items(model.observable)
    few = too_few(published.n_records, model)
    if few is not None:
        yield Violation((), published.n_records)
        return
    yield from (found for found, _ in _rare(published, model, progress))


def achieved(published: Published, model: KmAnonymity, progress: Progress) -> dict[str, int | float]:
    """The smallest support of an occurring itemset of at most m items."""
    from setveil.verify.search import smallest_support
    from setveil.verify.tables import Indexed, make_table

    published = published.of_items(model.observable)
    indexed = Indexed.of(make_table(published, progress=progress), progress)
    smallest = smallest_support(indexed, model.largest, progress)
    return {} if smallest is None else {"smallest_support": smallest}


def _rare(
    published: Published, model: KmAnonymity, progress: Progress, hurry: bool = False
) -> Iterator[tuple[Violation, int]]:
    """Minimal violations, each with the k that it does not reach."""
    from setveil.verify.search import rare_by_size
    from setveil.verify.tables import Indexed, make_table

    indexed = Indexed.of(make_table(published, progress=progress), progress)
    for itemset, support, k in rare_by_size(indexed, model.graded, progress, hurry):
        yield Violation(indexed.table.names(itemset), support), k
