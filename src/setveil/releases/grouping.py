"""Groupings: groups of unchanged public items, with a count of each sensitive item per group (CAHD, NN, …)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Csr, Dataset
from setveil.core.row_order import bounds_of, sort_rows
from setveil.core.transactions import AnyDataset, Transactions, in_label_order
from setveil.core.vocabulary import Vocabulary
from setveil.releases.base import Release, renamed_vocabulary

NO_PUBLIC_ITEMS = "Suppressed records: people without any public item are not published; only the owner knows how many."

COUNTS_AT_ONCE = 1 << 16

EncodePart = Callable[[Transactions, NDArray[np.int64]], bytes]  # records and the number of each one's group
EncodeCounts = Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], bytes]  # groups, items, counts


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Grouping(Release):
    """Groups of records with exact public items; sensitive items are only counted per group."""

    kind: ClassVar[str] = "grouping"
    class_noun: ClassVar[str] = "groups"
    keeps_labels: ClassVar[bool] = True
    has_groups: ClassVar[bool] = True
    shown_entries: ClassVar[str] = "public items are published unchanged, sensitive items only as counts per group"
    no_order: ClassVar[str] = "they would reveal who is in which group"
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
    def without_bare(data: AnyDataset, sensitive: Iterable[str]) -> AnyDataset:
        """The records a grouping publishes, with all their items."""
        is_public = Vocabulary(set(sensitive)).numbers(data.vocabulary) < 0
        return data.keep_records(partial(publishable_rows, is_public=is_public))

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

    @property
    def counted_labels(self) -> set[str]:
        return {self.sensitive[item] for item in set(self.count_item.tolist())}

    @property
    def sensitive_items(self) -> Iterable[str]:
        return self.sensitive

    def can_lack_entries(self, algorithm_suppresses: bool) -> bool:
        asked = self.record.options.get("suppress_excess", False) if self.record is not None else False
        return asked if isinstance(asked, bool) else str(asked).lower() == "true"

    def entry_sizes(self, original: Dataset) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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

    def some_groups(
        self,
        original: Dataset,
        is_fit: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
        choose: Callable[[int], NDArray[np.int64]],
    ) -> SomeGroups:
        """Groups to look into, with all that is secret about them.

        ``is_fit(sizes, n_counts)`` says which groups come into question, ``choose(n)`` which of these are wanted.
        """
        fitting = np.flatnonzero(is_fit(self.group_sizes, np.bincount(self.count_group, minlength=self.n_groups)))
        return SomeGroups(original.rows, self, fitting[choose(len(fitting))], self.published.supports, True)

    def canonical(self) -> SortedRows:
        """Groups numbered by sorted content, and records sorted by group number, then content."""
        rank = self.rows.ranks()
        groups = self.group_of
        by_group = np.lexsort((rank, groups))
        # A group as a row of numbers: its records' ranks in order, then its sensitive counts above all ranks.
        items = self.counted.numbers(self.sensitive)[self.count_item]
        by_count = np.lexsort((self.count, items))
        is_new = (np.diff(items[by_count], prepend=-1) != 0) | (np.diff(self.count[by_count], prepend=-1) != 0)
        counts = np.empty(len(items), dtype=np.int64)
        counts[by_count] = len(rank) + np.cumsum(is_new)
        owner = np.concatenate((groups[by_group], self.count_group))
        content = np.concatenate((rank[by_group], counts))
        content = content[np.argsort(owner, kind="stable")]
        indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=self.n_groups)))).astype(np.int64)
        n_codes = int(content.max(initial=0)) + 1
        positions, _ = sort_rows(indptr, content.astype(np.int32), n_codes)
        number = np.empty(self.n_groups, dtype=np.int64)
        number[positions] = np.arange(self.n_groups)
        return SortedRows(self, number, np.lexsort((rank, number[groups])) if self.n_groups else by_group)

    @property
    def counted(self) -> Vocabulary:
        """The sensitive items that groups count; only these have a say in the order of counts."""
        return Vocabulary(self.sensitive[item] for item in np.unique(self.count_item).tolist())

    def in_order(self) -> AbstractContextManager[SortedGroups]:
        """The groups as they are written, while they are kept in that order."""
        return nullcontext(self.canonical())

    def forget(self) -> None:
        """Free what a cluster keeps of the groups."""

    def _originals_relabelled(self, name: Callable[[str], str]) -> Self:
        sensitive, back = renamed_vocabulary(self.sensitive, name)
        return self._with_sensitive(sensitive, np.argsort(back))

    def with_unseen(self, items: Iterable[str]) -> Self:
        sensitive = Vocabulary({*self.sensitive, *(set(items) - set(self.published.vocabulary))})
        return self._with_sensitive(sensitive, sensitive.numbers(self.sensitive))

    def _with_sensitive(self, sensitive: Vocabulary, number: NDArray[np.integer]) -> Self:
        """The same counts; ``number`` is the new one of each sensitive item."""
        counted = number[self.count_item].astype(np.int32)
        order = np.lexsort((counted, self.count_group))
        groups, counts = self.count_group[order], self.count[order]
        return replace(self, sensitive=sensitive, count_group=groups, count_item=counted[order], count=counts)

    def reordered(self, order: NDArray[np.integer]) -> Self:
        return replace(super().reordered(order), group_of=self.group_of[order])

    def published_part(self, original: AnyDataset) -> AnyDataset:
        if self.published.n_records >= original.n_records:
            return original
        return self.without_bare(original, self.sensitive)


class SortedGroups(ABC):
    """Groups in canonical order, numbered from 1."""

    @abstractmethod
    def parts(self, part_size: int, encode: EncodePart) -> Iterator[tuple[int, bytes]]:
        """``(number, encode(records, groups))`` of each run of ``part_size`` records, in any order."""

    @abstractmethod
    def counts(self, encode: EncodeCounts) -> Iterator[bytes]:
        """``encode(groups, items, counts)`` of all counts, in order, some at a time; items by number in ``counted``."""


@dataclass(frozen=True, eq=False)
class SortedRows(SortedGroups):
    """Of records in memory."""

    release: Grouping
    number: NDArray[np.int64]  # [groups] from 0
    order: NDArray[np.int64]  # [records]

    def parts(self, part_size: int, encode: EncodePart) -> Iterator[tuple[int, bytes]]:
        numbers = self.number[self.release.group_of] + 1
        for part, start in enumerate(range(0, len(self.order), part_size)):
            run = self.order[start : start + part_size]
            yield part, encode(self.release.rows.select(run), numbers[run])

    def counts(self, encode: EncodeCounts) -> Iterator[bytes]:
        release, group = self.release, self.number[self.release.count_group] + 1
        items = release.counted.numbers(release.sensitive)[release.count_item].astype(np.int64)
        order = np.lexsort((items, group))
        for start in range(0, len(order), COUNTS_AT_ONCE):
            some = order[start : start + COUNTS_AT_ONCE]
            yield encode(group[some], items[some], release.count[some])


class SomeGroups(NamedTuple):
    """Groups of a grouping, and their original records."""

    original: Transactions
    release: Grouping  # the records in the order of ``original``
    chosen: NDArray[np.int64]
    supports: NDArray[np.int64]  # of the items of ``release``, in the whole release
    has_input_order: bool  # whether the order of records is that of the input


def is_grouped(release: Release) -> TypeGuard[Grouping]:
    """``release.has_groups``, in a form that type checkers understand."""
    return release.has_groups


def publishable_rows(rows: Csr, is_public: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The positions of the rows with a public item."""
    indptr, items = rows
    n_public = bounds_of(is_public[items])
    return np.flatnonzero(np.diff(n_public[indptr]) > 0)
