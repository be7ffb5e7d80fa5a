"""Utility metrics by looking at every occurrence; published items are given as the sets they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Records = Sequence[Sequence[str]]
Meaning = Mapping[str, frozenset[str]]  # original item → the items its published item stands for; empty if suppressed


def ncp(records: Records, meaning: Meaning, n_domain: int) -> Fraction:
    losses = []
    for item in (item for record in records for item in record):
        size = len(meaning[item])
        losses.append(Fraction(0) if size == 1 else Fraction(1) if size == 0 else Fraction(size, n_domain))
    return sum(losses, Fraction(0)) / len(losses) if losses else Fraction(0)


def lm_cost(records: Records, meaning: Meaning, n_domain: int) -> Fraction:
    cost = Fraction(0)
    for item in (item for record in records for item in record):
        size = len(meaning[item])
        cost += Fraction(1) if size == 0 else Fraction(size - 1, n_domain - 1) if size > 1 else 0
    return cost


def ul(records: Records, meaning: Meaning, n_domain: int) -> Fraction:
    loss = Fraction(0)
    for group in {meaning[item] for record in records for item in record} - {frozenset()}:
        support = sum(1 for record in records if any(meaning[item] == group for item in record))
        loss += Fraction(2 ** len(group) - 1, 2**n_domain - 1) * Fraction(support, len(records))
    return loss


def edits(before: Records, after: Records) -> tuple[int, int]:
    """Items added, items removed."""
    added = sum(len(set(new) - set(old)) for old, new in zip(before, after, strict=True))
    removed = sum(len(set(old) - set(new)) for old, new in zip(before, after, strict=True))
    return added, removed


# -- reading a release ------------------------------------------------------------------------------------------------


def subsets(items: frozenset[str]) -> list[frozenset[str]]:
    """The non-empty ones."""
    ordered = sorted(items)
    return [frozenset(c) for size in range(1, len(ordered) + 1) for c in combinations(ordered, size)]


def shared_support(published: list[list[frozenset[str]]], itemset: frozenset[str]) -> Fraction:
    """The expected support when each item behind a published one is there with an equal share, by the smallest one."""
    support = Fraction(0)
    for record in published:
        chance = Fraction(1)
        for item in itemset:
            sizes = [len(meaning) for meaning in record if item in meaning]
            chance *= Fraction(1, min(sizes)) if sizes else 0
        support += chance
    return support


def read_supports(published: Sequence[Sequence[frozenset[str]]], itemset: frozenset[str]) -> tuple[int, Fraction]:
    """Expanded and expected support of an itemset; each published record is given as the sets its items stand for."""
    expanded, expected = 0, Fraction(0)
    for record in published:
        read_from: dict[frozenset[str], set[str]] = {}
        for item in itemset:
            covering = sorted((group for group in record if item in group), key=len)
            if not covering:
                break
            read_from.setdefault(covering[0], set()).add(item)  # the most specific
        else:
            expanded += 1
            share = Fraction(1)
            for group, wanted in read_from.items():
                worlds = subsets(group)
                share *= Fraction(sum(wanted <= world for world in worlds), len(worlds))
            expected += share
    return expanded, expected


def frequent(records: Records, min_support: int, max_size: int = 99) -> dict[frozenset[str], int]:
    """All frequent itemsets by counting every subset of every record."""
    counts: Counter[frozenset[str]] = Counter()
    for record in records:
        counts.update(subset for subset in subsets(frozenset(record)) if len(subset) <= max_size)
    return {itemset: count for itemset, count in counts.items() if count >= min_support}


# -- patterns ---------------------------------------------------------------------------------------------------------

Item = str | frozenset[str]


def compared(
    before: Mapping[frozenset[str], int], after: Mapping[frozenset[str], int]
) -> tuple[float | None, float | None, float | None]:
    """Precision, recall, support error."""
    common = before.keys() & after.keys()
    error = sum(abs(after[s] - before[s]) / before[s] for s in common) / len(common) if common else None
    return (len(common) / len(after) if after else None, len(common) / len(before) if before else None, error)


def rules(supports: Mapping[frozenset[str], int], confidence: Fraction) -> set[tuple[frozenset[str], str]]:
    """(left-hand side, right-hand item)."""
    return {
        (itemset - {item}, item)
        for itemset, count in supports.items()
        for item in itemset
        if len(itemset) > 1 and Fraction(count, supports[itemset - {item}]) >= confidence
    }


def raise_to(level: int, paths: Sequence[Sequence[str]]) -> dict[str, str]:
    """Item → its ancestor at that depth (the root has 0), or the item itself if it is not as deep."""
    return {path[0]: path[max(len(path) - 1 - level, 0)] for path in paths}


def mining_losses(
    before: Sequence[Records], after: Sequence[Records], up: Sequence[Mapping[str, str]], min_support: int
) -> tuple[int, int, int, int]:
    """Frequent itemsets of all levels, lost ones, differential ones, lost differential ones.

    ``before`` and ``after`` are the records at each level, the coarsest first. ``up[i]`` maps the names of level
    i + 1 to those of level i.
    """
    old, new = ([frequent(records, min_support) for records in levels] for levels in (before, after))
    differential: list[set[frozenset[str]]] = []
    for level, found in enumerate(old):
        finer = old[level + 1] if level + 1 < len(old) else {}
        images = {frozenset(up[level][item] for item in itemset) for itemset in finer}
        differential.append(set(found) - images)
    return (
        sum(map(len, old)),
        sum(len(set(found) - set(kept)) for found, kept in zip(old, new, strict=True)),
        sum(map(len, differential)),
        sum(len(found - set(kept)) for found, kept in zip(differential, new, strict=True)),
    )
