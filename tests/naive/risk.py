"""The risk table by enumeration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations

from naive.counting import occurring_itemsets


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
