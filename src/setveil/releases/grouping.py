"""Groupings: groups of unchanged public items, with a count of each sensitive item per group (CAHD, NN, …)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from setveil.core.codebook import Codebook
from setveil.core.remote import RemoteTransactions
from setveil.core.transactions import Transactions, in_label_order
from setveil.core.vocabulary import Vocabulary
from setveil.releases.base import Release, renamed_vocabulary

NO_PUBLIC_ITEMS = "Suppressed records: people without any public item are not published; only the owner knows how many."


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Grouping(Release):
    """Groups of records with exact public items; sensitive items are only counted per group."""

    kind: ClassVar[str] = "grouping"
    class_noun: ClassVar[str] = "groups"
    keeps_labels: ClassVar[bool] = True
    has_groups: ClassVar[bool] = True
    suppression_by: ClassVar[Literal["", "algorithm", "option"]] = "option"
    further_files: ClassVar[tuple[str, ...]] = ("sensitive.csv",)
    not_protected: ClassVar[tuple[str, ...]] = (NO_PUBLIC_ITEMS,)

    group_of: NDArray[np.int64]  # [n_records] 0 … n_groups-1
    sensitive: Vocabulary  # the sensitive items
    count_group: NDArray[np.int64]  # [counts] sorted by (group, item), only counts above 0
    count_item: NDArray[np.int32]  # [counts] number in ``sensitive``
    count: NDArray[np.int64]  # [counts]

    @staticmethod
    def publishable(data: Transactions, sensitive: Iterable[str]) -> NDArray[np.int64]:
        """The records a grouping publishes, ascending: those with a public item.

        A record without public items would be published empty, and a person without any item has no sensitive item:
        publishing such records only if they have none, or only if they have one, tells which it was. So none is
        published.
        """
        is_public = Vocabulary(set(sensitive)).numbers(data.vocabulary) < 0
        return publishable_rows((data.indptr, data.items), is_public)

    @staticmethod
    def without_bare(data: Transactions, sensitive: Iterable[str]) -> Transactions:
        """The records a grouping publishes, with all their items."""
        if isinstance(data, RemoteTransactions):
            is_public = Vocabulary(set(sensitive)).numbers(data.vocabulary) < 0
            return data.keep_records(partial(publishable_rows, is_public=is_public))
        return data.select(Grouping.publishable(data, sensitive))

    @classmethod
    def from_groups(
        cls,
        data: Transactions,
        group_of: NDArray[np.integer],
        sensitive: Iterable[str],
        details: Mapping[str, Any] | None = None,
    ) -> Grouping:
        """Split each record into public items and sensitive counts. Groups may have any numbers; they are made
        dense.
        """
        vocabulary = Vocabulary(set(sensitive))
        number = vocabulary.numbers(data.vocabulary)  # [data items], -1 for public ones
        _, groups = np.unique(np.asarray(group_of), return_inverse=True)
        hidden = number[data.items] >= 0
        keys = groups[data.owners[hidden]].astype(np.int64) * max(len(vocabulary), 1) + number[data.items[hidden]]
        unique, count = np.unique(keys, return_counts=True)
        return cls(
            published=in_label_order(data.keep_items(number < 0).used_items()),
            group_of=groups.astype(np.int64),
            sensitive=vocabulary,
            count_group=unique // max(len(vocabulary), 1),
            count_item=(unique % max(len(vocabulary), 1)).astype(np.int32),
            count=count.astype(np.int64),
            details=details or {},
        )

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group_of.max()) + 1 if len(self.group_of) else 0

    def codebook(self) -> Codebook:
        """Identity over the published public items."""
        return Codebook({label: [label] for label in self.published.vocabulary})

    @property
    def counted_labels(self) -> set[str]:
        return {self.sensitive[item] for item in set(self.count_item.tolist())}

    @property
    def sensitive_items(self) -> Iterable[str]:
        return self.sensitive

    def can_lack_entries(self, algorithm_suppresses: bool) -> bool:
        asked = self.record.options.get("suppress_excess", False) if self.record is not None else False
        return asked if isinstance(asked, bool) else str(asked).lower() == "true"

    def entry_sizes(self, original: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return (self.sensitive.numbers(original.vocabulary) < 0).astype(np.int64), original.supports

    @property
    def group_sizes(self) -> NDArray[np.int64]:
        """Records of each group, int64[n_groups]."""
        return np.bincount(self.group_of, minlength=self.n_groups).astype(np.int64)

    def size_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sizes of groups, ascending, and how many groups have each."""
        return np.unique(self.group_sizes, return_counts=True)

    @property
    def largest_shares(self) -> NDArray[np.float64]:
        """The largest share of a group that has a sensitive item, float64[sensitive]."""
        largest = np.zeros(len(self.sensitive))
        np.maximum.at(largest, self.count_item, self.count / self.group_sizes[self.count_group])
        return largest

    @property
    def largest_share(self) -> float | None:
        return float(self.largest_shares.max(initial=0.0))

    def hidden_among(self) -> list[tuple[str, int, int]]:
        n_items, sizes = len(self.sensitive), self.group_sizes
        holders = np.bincount(self.count_item, weights=self.count, minlength=n_items).astype(np.int64)
        among = np.bincount(self.count_item, weights=sizes[self.count_group], minlength=n_items).astype(np.int64)
        return list(zip(self.sensitive, holders.tolist(), among.tolist(), strict=True))

    def public_figures(self) -> dict[str, int]:
        return {"n_groups": self.n_groups}

    def forget(self) -> None:
        """Free what a cluster keeps of the groups."""

    def codebook_rows(self) -> list[tuple[str, str]]:
        return [(label, label) for label in self.published.vocabulary]

    def _originals_relabelled(self, name: Callable[[str], str]) -> Self:
        sensitive, back = renamed_vocabulary(self.sensitive, name)
        counted = np.argsort(back)[self.count_item]
        order = np.lexsort((counted, self.count_group))
        return replace(
            self,
            sensitive=sensitive,
            count_group=self.count_group[order],
            count_item=counted[order].astype(np.int32),
            count=self.count[order],
        )

    def with_unseen(self, items: Iterable[str]) -> Self:
        sensitive = Vocabulary({*self.sensitive, *(set(items) - set(self.published.vocabulary))})
        counted = sensitive.numbers(self.sensitive)[self.count_item]
        order = np.lexsort((counted, self.count_group))
        return replace(
            self,
            sensitive=sensitive,
            count_group=self.count_group[order],
            count_item=counted[order],
            count=self.count[order],
        )

    def reordered(self, order: NDArray[np.integer]) -> Self:
        return replace(super().reordered(order), group_of=self.group_of[order])

    def published_part(self, original: Transactions) -> Transactions:
        if self.published.n_records >= original.n_records:
            return original
        return self.without_bare(original, self.sensitive)


def is_grouped(release: Release) -> TypeGuard[Grouping]:
    """``release.has_groups``, in a form that type checkers understand."""
    return release.has_groups


def publishable_rows(
    rows: tuple[NDArray[np.int64], NDArray[np.int32]], is_public: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """The places of the rows with a public item."""
    indptr, items = rows
    n_public = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(is_public[items], out=n_public[1:])
    return np.flatnonzero(np.diff(n_public[indptr]) > 0)
