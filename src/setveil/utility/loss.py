"""Loss by generalization and suppression: NCP, LM and UL.

Every original occurrence of an item is published as something that stands for ``size`` items of the domain (the leaves
of the hierarchy, or without one the items of the codebook); size 1 is intact, and 0 is used here for suppressed.

- *NCP* (Terrovitis, Mamoulis, Kalnis 2008): per occurrence 0 if intact, size/|domain| if generalized, 1 if suppressed;
  averaged over the occurrences of the original.
- *LM* (Liu, Wang 2010): per occurrence (size − 1)/(|domain| − 1), 1 if suppressed; ``lm`` is the average and
  ``lm_cost`` the sum, the cost of their paper.
- *UL* (Gkoulalas-Divanis, Loukides 2012): per published item (2^size − 1)/(2^|domain| − 1) · weight ·
  support/|records|, plus a penalty per suppressed item; summed over published items, intact ones included. It is
  astronomically small or large, so the exact fraction is shown as its binary logarithm. Here weights are 1 unless
  given, and penalties 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset
from setveil.releases import LocalRecoding, Recoding, Release
from setveil.utility.measure import Metrics


def recoding_loss(original: Dataset, release: Recoding) -> Metrics:
    """NCP, LM, UL and suppression of a recoding."""
    sizes = release.item_sizes(original.vocabulary)
    occurs = original.supports > 0
    return {
        **Spread.of(sizes, original.supports, len(release.domain)).metrics(),
        "suppressed_items": int((sizes[occurs] == 0).sum()),
        "generalized_items": int((sizes[occurs] > 1).sum()),
        "ul_log2": _log2(utility_loss(release)),
    }


def local_recoding_loss(original: Dataset, release: LocalRecoding) -> Metrics:
    """NCP, LM and suppression of a local recoding, entry by entry."""
    sizes, ones = release.entry_sizes(original)
    largest = np.zeros(original.n_items, dtype=np.int64)
    np.maximum.at(largest, original.rows.items, sizes)
    return {
        **Spread.of(sizes, ones, len(release.cover.vocabulary)).metrics(),
        "suppressed_items": int((largest[original.supports > 0] == 0).sum()),
        "generalized_items": int((largest > 1).sum()),
    }


def ncp(original: Dataset, release: Release) -> float:
    """Normalized certainty penalty, 0 to 1."""
    return spread_of(original, release).ncp


def lm(original: Dataset, release: Release) -> float:
    """The loss metric LM per occurrence, 0 to 1."""
    return spread_of(original, release).lm


def utility_loss(release: Recoding, weights: Mapping[str, float] | None = None) -> Fraction:
    """UL as an exact fraction. ``weights``: of published labels, 1 for others."""
    n_domain, n_records = len(release.domain), release.published.n_records
    if n_domain == 0 or n_records == 0:
        return Fraction(0)
    total = Fraction(0)
    plain = 0  # the part without weights, in integers
    for label, size, support in zip(
        release.published.vocabulary, release.published_sizes.tolist(), release.published.supports.tolist(), strict=True
    ):
        mass = ((1 << size) - 1) * support
        if weights and label in weights:
            total += mass * Fraction(weights[label])
        else:
            plain += mass
    return (total + plain) / (((1 << n_domain) - 1) * n_records)


# -- from sizes to loss -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spread:
    """How many occurrences are published as something of which size; exact integers."""

    occurrences: NDArray[np.int64]  # [size], 0 = suppressed
    n_domain: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64], occurrences: NDArray[np.int64], n_domain: int) -> Spread:
        count = np.zeros(n_domain + 1, dtype=np.int64)
        np.add.at(count, sizes, occurrences)
        return cls(count, n_domain)

    @property
    def total(self) -> int:
        """All occurrences."""
        return int(self.occurrences.sum())

    @property
    def suppressed(self) -> int:
        """Suppressed occurrences."""
        return int(self.occurrences[0])

    @property
    def exact_ratio(self) -> float | None:
        """Share of occurrences published as the item they are; None for data without occurrences."""
        return int(self.occurrences[1:2].sum()) / self.total if self.total else None

    @property
    def largest(self) -> int:
        """The most items that an occurrence is published as."""
        return int(np.flatnonzero(self.occurrences).max(initial=0))

    @property
    def ncp(self) -> float:
        """Average penalty; 0 for data without occurrences."""
        cost = sum(size * count for size, count in self._counts() if size > 1) + self.n_domain * self.suppressed
        return cost / (self.n_domain * self.total) if self.total else 0.0

    @property
    def lm(self) -> float:
        """Average LM; 0 for data without occurrences."""
        width = max(self.n_domain - 1, 1)  # over one item nothing can be generalized
        cost = sum((size - 1) * count for size, count in self._counts() if size > 1) + width * self.suppressed
        return cost / (width * self.total) if self.total else 0.0

    def metrics(self) -> Metrics:
        """What loss says about an occurrence on average."""
        total = self.total
        generalized = int(self.occurrences[2:].sum())
        return {
            "exact_ratio": self.exact_ratio,
            "largest_set": self.largest,
            "ncp": self.ncp,
            "lm": self.lm,
            "lm_cost": self.lm * total,
            "suppressed_occurrences": self.suppressed,
            "suppression_ratio": self.suppressed / total if total else 0.0,
            "generalized_ratio": generalized / total if total else 0.0,
        }

    def _counts(self) -> list[tuple[int, int]]:
        return [(int(size), int(self.occurrences[size])) for size in np.flatnonzero(self.occurrences)]


def spread_of(original: Dataset, release: Release) -> Spread:
    """How many entries of the original are published as something of which size."""
    return Spread.of(*release.entry_sizes(original), len(release.domain_items))


def _log2(value: Fraction) -> float | None:
    return log2(value.numerator) - log2(value.denominator) if value else None
