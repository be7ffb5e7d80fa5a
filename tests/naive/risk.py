"""The risk table by enumeration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations

from tests.naive.attack import Covers, group_likelihoods
from tests.naive.counting import occurring_itemsets


def exposure(records: Sequence[Collection[str]], known: int, k: int) -> dict[str, Fraction | int | None]:
    """The exact figures for one number of known items."""
    supports = occurring_itemsets(records, known)
    long_enough = [record for record in records if len(record) >= known]
    n = len(long_enough)
    row: dict[str, Fraction | int | None] = {"n_records": n}
    if n == 0:
        return row | dict.fromkeys(["singled_out", "mean_inverse_support", "max_inverse_support", "below_k"])
    singled_out = mean_inverse = below_k = Fraction(0)
    for record in long_enough:
        own = [supports[frozenset(subset)] for subset in combinations(record, known)]
        singled_out += Fraction(sum(s == 1 for s in own), len(own))
        mean_inverse += sum((Fraction(1, s) for s in own), Fraction(0)) / len(own)
        below_k += any(s < k for s in own)
    return row | {
        "singled_out": singled_out / n,
        "mean_inverse_support": mean_inverse / n,
        "max_inverse_support": Fraction(1, min(supports.values())),
        "below_k": below_k / n,
    }


def fewest_matches(records: Sequence[Collection[str]], classes: Sequence[object], known: int) -> list[int]:
    """How few records of a record's class match the most identifying of its items, of which up to so many are known."""
    return [
        min(
            sum(classes[other] == classes[number] and set(part) <= set(row) for other, row in enumerate(records))
            for size in range(known + 1)
            for part in combinations(sorted(record), size)
        )
        for number, record in enumerate(records)
    ]


def best_further_item(
    published: Covers, fitting: Sequence[int], everyone: Sequence[int], own: set[str], known: set[str]
) -> tuple[Fraction, bool]:
    """No item is named: the largest share of the candidates that show one of the person's other items under its own
    name, and whether all of them show some label that covers such an item and no known one.
    """
    asked = fitting or everyone
    best, is_certain = Fraction(0), False
    for label in {label for record in published for label in record}:
        if label & known or not label & own or not asked:
            continue
        implied = [any(shown and shown <= label for shown in published[number]) for number in asked]
        share = Fraction(sum(implied), len(asked))
        is_certain |= share == 1
        if len(label) == 1:
            best = max(best, share)
    return best, is_certain


def best_named_item(
    published: Covers, fitting: Sequence[int], everyone: Sequence[int], own: set[str], named: set[str]
) -> Fraction:
    """Items are named: the largest mean, over the candidates, of what a record says about one of the person's."""
    asked = fitting or everyone
    best = Fraction(0)
    for item in own & named:
        says = [
            max((Fraction(len(label & named), len(label)) for label in published[number] if item in label), default=0)
            for number in asked
        ]
        best = max(best, Fraction(sum(says)) / len(asked)) if asked else best
    return best


def best_grouped_item(
    secrets: Sequence[set[str]], group_of: Sequence[int], fitting: Sequence[int], own: set[str], without: int | None
) -> Fraction:
    """The same for a grouping: each record says the share of its group; ``without``: one person is not there."""
    everyone = [number for number in range(len(group_of)) if number != without]
    asked = fitting or everyone
    best = Fraction(0)
    for item in own & {label for row in secrets for label in row}:
        says = group_likelihoods(secrets, group_of, item, without)
        best = max(best, sum((says[number] for number in asked), Fraction(0)) / len(asked)) if asked else best
    return best
