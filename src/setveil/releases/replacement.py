"""Replacements: each record replaced by the centre of its class (PTA, …)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Dataset
from setveil.core.transactions import Transactions, in_label_order
from setveil.core.vocabulary import Vocabulary
from setveil.releases.base import Release


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Replacement(Release):
    """Every record is replaced by the centre of its class; its own sensitive items stay."""

    kind: ClassVar[str] = "replacement"
    keeps_labels: ClassVar[bool] = True
    is_truthful: ClassVar[bool] = False
    shown_entries: ClassVar[str] = (
        "each record shows the centre of its class; only the owner knows how many entries are unchanged"
    )

    class_of: NDArray[np.int64]  # [n_records] equal non-sensitive rows have equal numbers
    sensitive: tuple[str, ...] = ()

    @classmethod
    def from_centres(
        cls,
        data: Transactions,
        class_of: NDArray[np.integer],
        centres: Transactions,
        sensitive: Iterable[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> Replacement:
        """``centres`` has one row per class, over the vocabulary of the data and without sensitive items."""
        hidden = tuple(sensitive)
        is_sensitive = np.zeros(data.n_items, dtype=bool)
        is_sensitive[[number for number in data.vocabulary.numbers(hidden) if number >= 0]] = True
        replaced = centres.select(np.asarray(class_of))
        own = is_sensitive[data.items]
        published = Transactions.from_pairs(
            np.concatenate((replaced.owners, data.owners[own])),
            np.concatenate((replaced.items, data.items[own])),
            data.n_records,
            data.vocabulary,
            data.ids,
            data.layout,
        )
        return cls(
            published=in_label_order(published.used_items()),
            class_of=np.asarray(class_of, dtype=np.int64),
            sensitive=hidden,
            details=details or {},
        )

    def with_unchanged(self, data: Transactions, items: Collection[str]) -> Replacement:
        vocabulary = Vocabulary({*self.published.vocabulary, *items})
        is_other = np.zeros(data.n_items, dtype=bool)
        is_other[data.vocabulary.numbers(items)] = True
        parts = (self.rows.over(vocabulary), data.keep_items(is_other).over(vocabulary))
        owners, entries = (np.concatenate([getattr(one, name) for one in parts]) for name in ("owners", "items"))
        published = Transactions.from_pairs(owners, entries, data.n_records, vocabulary, data.ids, data.layout)
        return replace(self, published=published)

    @property
    def sensitive_items(self) -> Iterable[str]:
        return self.sensitive

    def entry_sizes(self, original: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        n_kept = self.n_kept(original)
        return np.array([1, 0]), np.array([n_kept, original.n_occurrences - n_kept])

    def n_kept(self, original: Dataset) -> int:
        """How many entries of the original their own published records show."""
        both = Vocabulary({*original.vocabulary, *self.published.vocabulary})
        rows = (data.recode(both.numbers(data.vocabulary), both) for data in (original.rows, self.rows))
        before, after = (data.owners * max(len(both), 1) + data.items for data in rows)
        return len(np.intersect1d(before, after, assume_unique=True))

    @property
    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sizes of classes, ascending, and how many classes have each."""
        sizes = np.bincount(self.class_of)
        return np.unique(sizes[sizes > 0], return_counts=True)

    @property
    def empty_classes(self) -> tuple[int, int]:
        """How many classes have a centre without items, and how many records they have: valid, but useless."""
        rows = self.rows
        is_public = np.ones(rows.n_items, dtype=bool)
        hidden = rows.vocabulary.numbers(self.sensitive)
        is_public[hidden[hidden >= 0]] = False
        n_public = np.bincount(rows.owners[is_public[rows.items]], minlength=rows.n_records)
        inside = self.class_of[n_public == 0]
        return len(np.unique(inside)), len(inside)

    def _originals_relabelled(self, name: Callable[[str], str]) -> Self:
        return replace(self, sensitive=tuple(name(label) for label in self.sensitive))

    def reordered(self, order: NDArray[np.integer]) -> Self:
        return replace(super().reordered(order), class_of=self.class_of[order])
