"""Utility metrics by looking at every occurrence; published items are given as the sets they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

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
