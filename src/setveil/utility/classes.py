"""Classes of identical records: how large they are, and what their sensitive items still reveal.

k-anonymity hides which of the records of a class is whose. It does not hide what they have in common: a class is
*homogeneous* if all of its records share a sensitive item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset
from setveil.releases import Replacement
from setveil.utility.measure import Metrics


@dataclass(frozen=True, eq=False)
class ClassTable:
    """One row per class, in the order of their numbers."""

    size: NDArray[np.int64]  # [n_classes] records
    n_items: NDArray[np.int64]  # [n_classes] items of the centre
    n_sensitive: NDArray[np.int64]  # [n_classes] different sensitive items
    top_item: tuple[str | None, ...]  # [n_classes] the most frequent sensitive item, the first among equals
    top_count: NDArray[np.int64]  # [n_classes] records that have it

    @property
    def is_homogeneous(self) -> NDArray[np.bool_]:
        """Classes whose records all share a sensitive item, bool[n_classes]."""
        return np.equal(self.top_count, self.size)

    def to_dict(self) -> list[dict[str, Any]]:
        columns = (self.size.tolist(), self.n_items.tolist(), self.n_sensitive.tolist(), self.top_item)
        return [
            {"size": size, "n_items": n_items, "n_sensitive": n_sensitive, "top_item": item, "top_share": count / size}
            for size, n_items, n_sensitive, item, count in zip(*columns, self.top_count.tolist(), strict=True)
        ]


def class_table(release: Replacement) -> ClassTable:
    """Sizes and sensitive items of each class."""
    published = release.rows
    _, class_of = np.unique(release.class_of, return_inverse=True)
    size = np.bincount(class_of).astype(np.int64)
    numbers = published.vocabulary.numbers(release.sensitive)
    is_sensitive = np.zeros(published.n_items, dtype=bool)
    is_sensitive[numbers[numbers >= 0]] = True
    hidden = is_sensitive[published.items]
    owners = class_of[published.owners]

    width = max(published.n_items, 1)
    pairs, count = np.unique(owners[hidden] * width + published.items[hidden], return_counts=True)
    classes, items = pairs // width, pairs % width
    order = np.lexsort((items, -count, classes))  # per class the most frequent first
    shown, first = np.unique(classes[order], return_index=True)
    top_count = np.zeros(len(size), dtype=np.int64)
    top_count[shown] = count[order[first]]
    top_item: list[str | None] = [None] * len(size)
    for number, item in zip(shown.tolist(), items[order[first]].tolist(), strict=True):
        top_item[number] = published.vocabulary[item]
    return ClassTable(
        size=size,
        n_items=np.bincount(owners[~hidden], minlength=len(size)) // size,
        n_sensitive=np.bincount(classes, minlength=len(size)),
        top_item=tuple(top_item),
        top_count=top_count,
    )


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
        table = class_table(release)
        figures |= {
            "homogeneous_classes": int(table.is_homogeneous.sum()),
            "homogeneous_ratio": int(table.size[table.is_homogeneous].sum()) / n_records,
            "fewest_sensitive_items": int(table.n_sensitive.min()),
            "highest_sensitive_share": float((table.top_count / table.size).max()),
        }
    return figures
