"""How many entries are published unchanged, and how many items the broadest category covers."""

from __future__ import annotations

from setveil.core import Dataset
from setveil.releases import Release
from setveil.utility.loss import spread_of


def exactness(original: Dataset, release: Release) -> tuple[float, int]:
    """The share of unchanged entries (1 for data without entries) and the size of the broadest published category.

    A replacement keeps an entry if the centre of its record has it. A grouping keeps public entries and only counts
    the others. Records are in the order of the original.
    """
    spread = spread_of(original, release)
    return (1.0 if spread.exact_ratio is None else spread.exact_ratio), spread.largest
