"""Loss by replacing records: items added and removed (IL of PTA; Lin, Liu, Fournier-Viger, Hong 2016).

IL counts the items a published record has and the original has not, and the other way round; ratios divide by the item
occurrences of the original.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.core import RemoteTransactions, Transactions, Vocabulary
from setveil.releases import Release, Replacement
from setveil.utility.measure import Metrics


def added_and_removed(original: Transactions, release: Release) -> Metrics:
    """Record by record, what is new and what is gone."""
    assert isinstance(release, Replacement)
    if isinstance(release.published, RemoteTransactions):
        return _told_by_run(original, release)
    both = Vocabulary({*original.vocabulary, *release.published.vocabulary})
    before = original.recode(both.numbers(original.vocabulary), both)
    after = release.published.recode(both.numbers(release.published.vocabulary), both)
    width = max(len(both), 1)
    n_common = len(
        np.intersect1d(before.owners * width + before.items, after.owners * width + after.items, assume_unique=True)
    )
    added, removed = after.n_occurrences - n_common, before.n_occurrences - n_common
    total = max(before.n_occurrences, 1)
    gone = (before.supports > 0) & (after.supports == 0)
    return {
        "exact_ratio": n_common / before.n_occurrences if before.n_occurrences else None,
        "il": added + removed,
        "il_ratio": (added + removed) / total,
        "added_ratio": added / total,
        "removed_ratio": removed / total,
        "suppressed_items": int(gone.sum()),
        "n_classes": _n_distinct(release.class_of),
        "empty_classes": _empty_classes(release),
    }


def _told_by_run(original: Transactions, release: Replacement) -> Metrics:
    """The same figures where the records are on a cluster: the run has counted what it changed."""
    added, removed = int(release.details["added"]), int(release.details["removed"])
    published, n_occurrences = release.published, original.n_occurrences
    after = np.append(published.supports, 0)[published.vocabulary.numbers(original.vocabulary)]
    total = max(n_occurrences, 1)
    return {
        "exact_ratio": (n_occurrences - removed) / n_occurrences if n_occurrences else None,
        "il": added + removed,
        "il_ratio": (added + removed) / total,
        "added_ratio": added / total,
        "removed_ratio": removed / total,
        "suppressed_items": int(((original.supports > 0) & (after == 0)).sum()),
        "n_classes": int(release.details["classes"]),
        "empty_classes": int(published.n_empty > 0),  # equal centres are one class
    }


def _empty_classes(release: Replacement) -> int:
    """Classes whose centre has no items: valid, but useless."""
    rows = release.published
    is_public = np.ones(rows.n_items, dtype=bool)
    hidden = rows.vocabulary.numbers(release.sensitive)
    is_public[hidden[hidden >= 0]] = False
    n_public = np.bincount(rows.owners[is_public[rows.items]], minlength=rows.n_records)
    return _n_distinct(release.class_of[n_public == 0])


def _n_distinct(numbers: NDArray[np.int64]) -> int:
    return int((np.bincount(numbers) > 0).sum())
