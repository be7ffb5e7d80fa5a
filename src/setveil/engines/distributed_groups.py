"""Groups of records that are not in this process: how they are made, and what is known of them here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Csr, Dataset
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.engines.distributed import DistributedDataset
from setveil.releases.base import Release
from setveil.releases.grouping import Grouping, SomeGroups, SortedGroups
from setveil.releases.replacement import Replacement


class GroupMaker(ABC):
    """How records become groups; it goes to the workers as it is.

    A record is a row of numbers: public items below ``n_public``, then ``n_sensitive`` numbers for sensitive items.
    """

    n_public: int
    n_sensitive: int
    bounds: NDArray[np.int64]  # of the runs that are solved alone, before some are joined

    @abstractmethod
    def key(self, rows: Csr) -> Csr:
        """Rows whose lexicographic order is the wanted one."""

    @abstractmethod
    def join(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bounds of the runs once some are joined; ``counts[run, item]``: how many records of each hold an item."""

    @abstractmethod
    def group(self, rows: Csr) -> tuple[NDArray[np.int64], int]:
        """The group of each record of a run, 0, 1, …, and how many records are left over, which have the last one."""

    def public(self, rows: Csr) -> Csr:
        """The public items of each row."""
        return items_between(rows, 0, self.n_public)

    def hidden(self, rows: Csr) -> Csr:
        """The sensitive items of each row, from 0 on."""
        return items_between(rows, self.n_public, self.n_public + self.n_sensitive)


class GroupFigures(NamedTuple):
    """What the published files tell of groups in sum."""

    sizes: NDArray[np.int64]  # ascending
    times: NDArray[np.int64]  # how many groups have each size
    totals: NDArray[np.int64]  # [counted items]
    largest: NDArray[np.float64]  # [counted items] the largest share of a group that holds it


class DistributedGroups(ABC):
    """Groups that stay where their records are."""

    counted: Vocabulary  # the sensitive items that a group counts
    made: Mapping[str, int]  # "shards", "leftovers"; empty if read from files

    @property
    @abstractmethod
    def figures(self) -> GroupFigures:
        """Sizes and counts of all groups."""

    @abstractmethod
    def in_order(self) -> AbstractContextManager[SortedGroups]:
        """Numbered by their content, kept on the workers meanwhile."""

    @abstractmethod
    def pick(
        self,
        is_fit: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
        choose: Callable[[int], NDArray[np.int64]],
    ) -> tuple[Transactions, NDArray[np.int64]]:
        """A few groups with all that is secret about them, in the order in which they were made.

        ``is_fit(sizes, n_counts)`` says which groups come into question, ``choose(n)`` which of these are wanted.
        Gives their original records, and the group of each.
        """

    @abstractmethod
    def forget(self) -> None:
        """Let the cluster drop them."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DistributedGrouping(Grouping):
    """A grouping whose groups stay with their records.

    Here are the counts of all groups together (``count_group`` is 0), and no group of a record.
    """

    groups: DistributedGroups

    @classmethod
    def of(
        cls, published: Dataset, groups: DistributedGroups, sensitive: Vocabulary, details: dict[str, object]
    ) -> DistributedGrouping:
        """``sensitive``: all items that were called so."""
        return cls(
            published=published,
            group_of=np.empty(0, dtype=np.int64),
            sensitive=sensitive,
            count_group=np.zeros(len(groups.counted), dtype=np.int64),
            count_item=sensitive.numbers(groups.counted),
            count=groups.figures.totals,
            details=details,
            groups=groups,
        )

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.groups.figures.times.sum())

    def size_counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.groups.figures.sizes, self.groups.figures.times

    @property
    def largest_shares(self) -> NDArray[np.float64]:
        largest = np.zeros(len(self.sensitive))
        largest[self.count_item] = self.groups.figures.largest
        return largest

    @property
    def counted(self) -> Vocabulary:
        return self.groups.counted

    def in_order(self) -> AbstractContextManager[SortedGroups]:
        return self.groups.in_order()

    def some_groups(
        self,
        original: Dataset,
        is_fit: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
        choose: Callable[[int], NDArray[np.int64]],
    ) -> SomeGroups:
        """Only the wanted groups are brought here."""
        rows, group_of = self.groups.pick(is_fit, choose)
        some = Grouping.from_groups(rows, group_of, self.sensitive)
        supports = self.published.supports[self.published.vocabulary.numbers(some.published.vocabulary)]
        return SomeGroups(rows, some, np.arange(some.n_groups), supports, False)

    def forget(self) -> None:
        self.groups.forget()


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DistributedReplacement(Replacement):
    """A replacement without sensitive items: equal records form a class, and ``class_of`` is empty."""

    published: DistributedDataset

    @classmethod
    def of(cls, published: DistributedDataset, details: Mapping[str, Any] | None = None) -> DistributedReplacement:
        """``details``: what the run has counted, ``removed`` among it."""
        return cls(published=published, class_of=np.empty(0, dtype=np.int64), details=details or {})

    def n_kept(self, original: Dataset) -> int:
        return original.n_occurrences - int(self.details["removed"])

    @cached_property
    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return self.published.class_sizes()

    @property
    def empty_classes(self) -> tuple[int, int]:
        return int(self.published.n_empty > 0), self.published.n_empty


@dataclass(frozen=True)
class DistributedParts:
    """The published parts of a release, read by a cluster."""

    rows: DistributedDataset
    read_groups: Callable[[], DistributedGroups]

    def release(self, kind: str, sensitive: Sequence[str]) -> Release | None:
        """The release of a kind that stays on the cluster; None for kinds that are made from ``rows`` like others."""
        if kind == Grouping.kind:
            groups = self.read_groups()
            return DistributedGrouping.of(self.rows, groups, Vocabulary({*sensitive, *groups.counted}), {})
        return DistributedReplacement.of(self.rows) if kind == Replacement.kind else None


def items_between(rows: Csr, low: int, high: int) -> Csr:
    """Of each row the items from ``low`` to below ``high``, which becomes their zero."""
    indptr, items = rows
    is_kept = (items >= low) & (items < high)
    n_kept = np.concatenate(([0], np.cumsum(is_kept)))
    return n_kept[indptr].astype(np.int64), items[is_kept] - np.int32(low)


def side_by_side(one: Csr, other: Csr) -> Csr:
    """Rows continued by other rows."""
    indptr = one[0] + other[0]
    items = np.empty(int(indptr[-1]), dtype=np.int32)
    items[np.arange(len(one[1])) + np.repeat(other[0][:-1], np.diff(one[0]))] = one[1]
    items[np.arange(len(other[1])) + np.repeat(one[0][1:], np.diff(other[0]))] = other[1]
    return indptr, items
