"""Classes of identical records: how large they are, and what their sensitive items still reveal.

k-anonymity hides which of the records of a class is whose. It does not hide what they have in common: a class is
*homogeneous* if all of its records share a sensitive item.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset
from setveil.releases import Replacement
from setveil.utility.measure import Metrics


class SharedItems(NamedTuple):
    """What the records of each class have in common, in the order of the classes' numbers."""

    size: NDArray[np.int64]  # [n_classes] records
    n_sensitive: NDArray[np.int64]  # [n_classes] different sensitive items
    most: NDArray[np.int64]  # [n_classes] records that share the most frequent of them

    @property
    def is_homogeneous(self) -> NDArray[np.bool_]:
        """Classes whose records all share a sensitive item, bool[n_classes]."""
        return np.equal(self.most, self.size)


def shared_items(release: Replacement) -> SharedItems:
    """How many records of a class share sensitive items."""
    rows = release.rows
    _, class_of = np.unique(release.class_of, return_inverse=True)
    size = np.bincount(class_of).astype(np.int64)
    numbers = rows.vocabulary.numbers(release.sensitive)
    is_sensitive = np.isin(rows.items, numbers[numbers >= 0])
    width = max(rows.n_items, 1)
    pairs, count = np.unique(class_of[rows.owners[is_sensitive]] * width + rows.items[is_sensitive], return_counts=True)
    most = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(most, pairs // width, count)
    return SharedItems(size, np.bincount(pairs // width, minlength=len(size)), most)


def class_figures(original: Dataset, release: Replacement) -> Metrics:
    """Class sizes, records whose centre is empty, and with sensitive items how homogeneous classes are."""
    sizes, n_classes = release.class_sizes
    until = np.cumsum(n_classes)  # [different sizes]
    middle = [(until[-1] - 1) // 2, until[-1] // 2] if len(until) else []
    n_records = max(original.n_records, 1)
    figures: Metrics = {
        "smallest_class": int(sizes.min(initial=original.n_records)),
        "median_class": float(sizes[np.searchsorted(until, middle, side="right")].mean()) if middle else None,
        "largest_class": int(sizes.max(initial=0)),
        "records_in_empty_classes": release.empty_classes[1],
    }
    if release.sensitive and len(sizes):
        shared = shared_items(release)
        figures |= {
            "homogeneous_classes": int(shared.is_homogeneous.sum()),
            "homogeneous_ratio": int(shared.size[shared.is_homogeneous].sum()) / n_records,
            "fewest_sensitive_items": int(shared.n_sensitive.min()),
            "highest_sensitive_share": float((shared.most / shared.size).max()),
        }
    return figures
