"""How many entries are published as the item they are, and how many items one published item stands for at most."""

from __future__ import annotations

from setveil.core import Transactions
from setveil.releases import Grouping, Release, Replacement
from setveil.utility.edits import added_and_removed
from setveil.utility.loss import spread_of


def exactness(original: Transactions, release: Release) -> tuple[float, int]:
    """The share of exact entries (1 for data without entries) and the size of the largest published set.

    A replacement keeps an entry if the centre of its record has it; a grouping keeps public entries and only counts
    the others. Records are in the order of the original.
    """
    if isinstance(release, Replacement):
        ratio = added_and_removed(original, release)["exact_ratio"]
        return (1.0 if ratio is None else float(ratio)), 1
    if isinstance(release, Grouping):
        public = original.supports[release.sensitive.numbers(original.vocabulary) < 0]
        return (int(public.sum()) / original.n_occurrences if original.n_occurrences else 1.0), 1
    spread = spread_of(original, release)  # type: ignore[arg-type]
    return (1.0 if spread.exact_ratio is None else spread.exact_ratio), spread.largest
