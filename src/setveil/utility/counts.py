"""How much of what is published."""

from __future__ import annotations

from setveil.core import Dataset
from setveil.releases import Release
from setveil.utility.measure import Metrics


def published_counts(original: Dataset, release: Release) -> Metrics:
    """Sizes of the published data."""
    published = release.published
    return {
        "n_records": published.n_records,
        "n_items": int((original.supports > 0).sum()),
        "n_published_items": int((published.supports > 0).sum()),
        "n_occurrences": original.n_occurrences,
        "n_published_occurrences": published.n_occurrences,
        "empty_records": published.n_empty,
    }
