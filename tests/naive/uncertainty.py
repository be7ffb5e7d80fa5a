"""ρ-uncertainty by its definition: every itemset of every record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations

Record = frozenset[str]


def support(records: Sequence[Record], items: Collection[str]) -> int:
    return sum(set(items) <= record for record in records)


def rules(
    records: Sequence[Record], sensitive: Collection[str], p: int | None = None
) -> Iterator[tuple[Record, str, Fraction]]:
    """Every itemset and further sensitive item that occur together, with the rule's confidence."""
    seen = set()
    for record in records:
        for item in sorted(record & set(sensitive)):
            others = sorted(record - {item})
            most = len(others) if p is None else min(p, len(others))
            for size in range(most + 1):
                for known in combinations(others, size):
                    if (known, item) not in seen:
                        seen.add((known, item))
                        both, alone = support(records, {*known, item}), support(records, known)
                        yield frozenset(known), item, Fraction(both, alone)


def violated(
    records: Sequence[Record], sensitive: Collection[str], rho: Fraction, p: int | None = None
) -> list[tuple[Record, str, Fraction]]:
    return [rule for rule in rules(records, sensitive, p) if rule[2] > rho]


def largest(records: Sequence[Record], sensitive: Collection[str], p: int | None = None) -> Fraction:
    return max((confidence for _, _, confidence in rules(records, sensitive, p)), default=Fraction(0))
