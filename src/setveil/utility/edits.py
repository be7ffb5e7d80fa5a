"""Loss by replacing records: items added and removed (IL of PTA; Lin, Liu, Fournier-Viger, Hong 2016).

IL counts the items that a published record has and the original has not, and the other way round. Ratios divide by the
entries of the original.
"""

from __future__ import annotations

import numpy as np

from setveil.core import Dataset
from setveil.releases import Replacement
from setveil.utility.measure import Metrics


def added_and_removed(original: Dataset, release: Replacement) -> Metrics:
    """Record by record, which items were added and which were removed."""
    published, n_entries, n_kept = release.published, original.n_occurrences, release.n_kept(original)
    added, removed = published.n_occurrences - n_kept, n_entries - n_kept
    after = np.append(published.supports, 0)[published.vocabulary.numbers(original.vocabulary)]
    total = max(n_entries, 1)
    _, n_classes = release.class_sizes
    return {
        "exact_ratio": n_kept / n_entries if n_entries else None,
        "il": added + removed,
        "il_ratio": (added + removed) / total,
        "added_ratio": added / total,
        "removed_ratio": removed / total,
        "suppressed_items": int(((original.supports > 0) & (after == 0)).sum()),
        "n_classes": int(n_classes.sum()),
        "empty_classes": release.empty_classes[0],
    }
