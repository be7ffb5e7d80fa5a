"""Loss by replacing records: items added and removed (IL of PTA; Lin, Liu, Fournier-Viger, Hong 2016).

IL counts the items that a published record has and the original has not, and the other way round. Ratios divide by the
entries of the original.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.core import RemoteTransactions, Transactions
from setveil.releases import Replacement
from setveil.utility.measure import Metrics


def added_and_removed(original: Transactions, release: Replacement) -> Metrics:
    """Record by record, which items were added and which were removed."""
    published, n_entries, n_kept = release.published, original.n_occurrences, release.n_kept(original)
    added, removed = published.n_occurrences - n_kept, n_entries - n_kept
    after = np.append(published.supports, 0)[published.vocabulary.numbers(original.vocabulary)]
    total = max(n_entries, 1)
    is_here = not isinstance(published, RemoteTransactions)
    return {
        "exact_ratio": n_kept / n_entries if n_entries else None,
        "il": added + removed,
        "il_ratio": (added + removed) / total,
        "added_ratio": added / total,
        "removed_ratio": removed / total,
        "suppressed_items": int(((original.supports > 0) & (after == 0)).sum()),
        "n_classes": _n_distinct(release.class_of) if is_here else int(release.details["classes"]),
        "empty_classes": _empty_classes(release) if is_here else int(published.n_empty > 0),  # equal centres are one
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
