"""What is being checked, as the verifier's own arrays, whatever it came as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.core import Dataset, Transactions
from setveil.core.naming import fresh_name
from setveil.core.transactions import label_of
from setveil.core.vocabulary import ascending
from setveil.errors import InputError
from setveil.releases import KINDS, Grouping, Release, is_grouped
from setveil.verify.book import Book, read_book
from setveil.verify.columns import PublishedColumn, read_columns

NUMBERED = ("fimi", "spmf")  # layouts in which every item may have another name


@dataclass(frozen=True, eq=False)
class Published:
    """Records as CSR over labels in ascending order; each row ascending and without repeats."""

    labels: tuple[str, ...]
    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    release: Release | None = None  # where the codebook, the groups and the sensitive counts are, if there are any
    number_of: NDArray[np.int32] | None = None  # [release.published.vocabulary] the verifier's number of each label
    columns: tuple[PublishedColumn, ...] = ()

    @cached_property
    def book(self) -> Book | None:
        """What the codebook says; None where every label is the item it names."""
        return read_book(self.release)

    @property
    def grouping(self) -> Grouping | None:
        """The release, if it has groups."""
        return self.release if self.release is not None and is_grouped(self.release) else None

    @property
    def n_records(self) -> int:
        """Number of records, empty ones included."""
        return len(self.indptr) - 1

    def to_lists(self) -> list[list[str]]:
        """The labels of each record: for verifiers that need no speed."""
        bounds = self.indptr.tolist()
        return [
            [self.labels[item] for item in self.items[start:end].tolist()]
            for start, end in zip(bounds[:-1], bounds[1:], strict=True)
        ]

    def with_columns_as_items(self) -> Published:
        """Every record with the values of its known columns as further items, ``column=value``."""
        labels, items, lengths = list(self.labels), self.items, np.diff(self.indptr)
        taken = set(labels)
        for column in self.columns:
            if column.role != "known":
                continue
            ends = np.cumsum(lengths)
            items = np.insert(items, ends, (len(labels) + column.codes).astype(np.int32))  # above all others of a row
            lengths = lengths + 1
            for value in column.values:
                labels.append(fresh_name(f"{column.name}={value}", taken))
                taken.add(labels[-1])
        return replace(self, labels=tuple(labels), indptr=bounds_of(lengths), items=items)

    def of_items(self, items: Iterable[str] | None) -> Published:
        """The same records with those labels only that cover one of the original ``items``; all labels for None."""
        if items is None:
            return self
        wanted = set(items)
        if self.book is None or self.release is None or self.number_of is None:
            is_kept = np.array([label in wanted for label in self.labels], dtype=bool)
        else:
            is_wanted = np.array([item in wanted for item in self.book.domain], dtype=bool)
            is_kept = np.zeros(len(self.labels), dtype=bool)
            is_kept[self.number_of[self.book.labels[is_wanted[self.book.items]]]] = True
        number = np.cumsum(is_kept) - 1
        stays = is_kept[self.items]
        indptr = bounds_of(stays)[self.indptr]
        labels = tuple(label for label, kept in zip(self.labels, is_kept.tolist(), strict=True) if kept)
        return Published(labels, indptr, number[self.items[stays]].astype(np.int32), columns=self.columns)

    def numbers(self, labels: Iterable[str]) -> list[int]:
        """Numbers of those labels that are known here, ascending."""
        known = {label: number for number, label in enumerate(self.labels)}
        return sorted({known[label] for label in labels if label in known})

    def sensitive(self, items: Iterable[str]) -> list[str]:
        """The published labels that stand for sensitive items of the original, and for nothing else.

        In recodings the codebook tells; layouts of whole numbers give every item another name. Elsewhere items keep
        theirs.
        """
        wanted = set(items)
        if self.book is None or self.release is None:
            return sorted(wanted)
        labels, members, domain = self.book.labels, self.book.items, self.book.domain
        names = self.release.published.vocabulary
        is_wanted = np.array([item in wanted for item in domain], dtype=bool)
        stands_for_others = np.ones(len(names), dtype=bool)
        stands_for_others[labels] = False  # those no item stands behind are nobody's secret
        stands_for_others[labels[~is_wanted[members]]] = True
        return [names[number] for number in np.flatnonzero(~stands_for_others).tolist()]

    def misnamed(self, sensitive: Iterable[str]) -> list[tuple[str, str, int]]:
        """``(published item, sensitive item, support)`` where a sensitive item is not published under its own name
        alone; ascending by published item.

        Sensitive items are set aside before records are compared. If any label could cover one, a codebook could
        set aside whatever it likes: the names of people, each "standing for" a disease. So a sensitive item has one
        label, which stands for nothing else, and is its own name; in layouts of whole numbers it is a number.
        """
        wanted = set(sensitive)
        if not wanted or self.book is None or self.release is None or self.number_of is None:
            return []
        labels, members, domain = self.book.labels, self.book.items, self.book.domain
        names = self.release.published.vocabulary
        supports = np.bincount(self.items, minlength=len(self.labels))[self.number_of]
        occurs = supports[labels] > 0
        labels, members = labels[occurs], members[occurs]
        n_items = np.bincount(labels, minlength=len(names))  # that a label stands for
        n_labels = np.bincount(members, minlength=len(domain))  # that stand for an item
        is_wanted = np.array([item in wanted for item in domain], dtype=bool)
        is_numbered = self.release.published.layout.name in NUMBERED
        found: dict[str, tuple[str, int]] = {}
        for label, member in zip(
            labels[is_wanted[members]].tolist(), members[is_wanted[members]].tolist(), strict=True
        ):
            is_own = n_items[label] == 1 and n_labels[member] == 1
            if not is_own or not (is_numbered or names[label] == domain[member]):
                if n_labels[member] > 1 and n_items[label] == 1 and names[label] == domain[member]:
                    continue  # the others are to blame
                found.setdefault(names[label], (domain[member], int(supports[label])))
        return [(label, *found[label]) for label in ascending(set(found))]


def read_published(what: Any) -> Published:
    """From a release, from transactions, or from any iterable of iterables of labels. Nothing about the arrays is
    trusted.
    """
    if isinstance(what, Release):
        if what.kind not in KINDS:
            raise InputError(f"a release of kind {what.kind} cannot be verified.")
        return _from_transactions(what.rows, what)
    if isinstance(what, Dataset):
        return _from_transactions(what.rows, None)
    if isinstance(what, Mapping):
        what = what.values()
    if isinstance(what, str | bytes) or not isinstance(what, Iterable):
        raise InputError(
            "what is to be verified must be a release, transactions, or an iterable of iterables of labels."
        )
    return _from_records(what)


def _from_records(records: Iterable[Iterable[Any]]) -> Published:
    number: dict[str, int] = {}
    flat: list[int] = []
    lengths: list[int] = []
    for position, record in enumerate(records):
        if isinstance(record, str | bytes) or not isinstance(record, Iterable):
            raise InputError(f"record {position} is not a collection of items; give a list of items per record.")
        row = {label_of(item, f"record {position}") for item in record}
        lengths.append(len(row))
        flat.extend(number.setdefault(label, len(number)) for label in row)
    return _in_label_order(tuple(number), bounds_of(lengths), np.array(flat, dtype=np.int32), None)


def _from_transactions(data: Transactions, release: Release | None) -> Published:
    indptr = np.asarray(data.indptr, dtype=np.int64)
    items = np.asarray(data.items, dtype=np.int32)
    if len(indptr) == 0 or indptr[0] != 0 or indptr[-1] != len(items) or bool((np.diff(indptr) < 0).any()):
        raise InputError("the published records are damaged: row bounds do not fit the items.")
    if len(items) and (items.min() < 0 or items.max() >= len(data.vocabulary)):
        raise InputError("the published records are damaged: an item number has no label.")
    read = _in_label_order(tuple(data.vocabulary), indptr, items, release)
    return replace(read, columns=read_columns(data.columns, read.n_records))


def _in_label_order(
    given: tuple[str, ...], indptr: NDArray[np.int64], items: NDArray[np.int32], release: Release | None
) -> Published:
    labels = tuple(ascending(set(given)))
    if labels == given:
        number_of = np.arange(len(given), dtype=np.int32)
    else:
        number = {label: place for place, label in enumerate(labels)}
        number_of = np.array([number[label] for label in given], dtype=np.int32)
        items = number_of[items]
    indptr, items = sorted_rows(indptr, items, len(labels))
    return Published(labels, indptr, items, release, number_of)


Csr = tuple[NDArray[np.int64], NDArray[np.int32]]  # bounds of rows, and their items

AT_ONCE = 1 << 20  # entries: memory for some rows is used again for the next


def some_rows(indptr: NDArray[np.int64]) -> list[tuple[int, int]]:
    """All rows in runs of about ``AT_ONCE`` entries."""
    bounds = np.searchsorted(indptr, np.arange(0, int(indptr[-1]), AT_ONCE)).tolist()
    bounds = sorted({0, *bounds, len(indptr) - 1})
    return list(pairwise(bounds))


def bounds_of(lengths: ArrayLike) -> NDArray[np.int64]:
    """Where each of some parts of these lengths begins, and where the last one ends; int64[parts + 1]."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))


def spread_rows(rows: Csr, bounds: NDArray[np.int64], members: NDArray[np.integer], n_items: int) -> Csr:
    """Every item ``i`` replaced by ``members[bounds[i]:bounds[i + 1]]``, of which there are ``n_items`` different ones;
    each row ascending and without repeats.
    """
    indptr, items = rows
    repeats = np.diff(bounds)[items]
    ends = bounds_of(repeats)
    offset = np.arange(ends[-1]) - np.repeat(ends[:-1], repeats)
    spread = members[np.repeat(bounds[items], repeats) + offset].astype(np.int32)
    return sorted_rows(ends[indptr], spread, n_items)


def number_both(first: Csr, second: Csr) -> NDArray[np.int64]:
    """A number per row of both, first ones first; equal rows have equal numbers."""
    from setveil.verify.tables import number_rows  # loads Numba

    (bounds, items), (others, more) = first, second
    starts, ends = (np.concatenate((bounds[one], others[one] + len(items))) for one in (slice(-1), slice(1, None)))
    return number_rows(starts, ends, np.concatenate((items, more)))[0]


def sorted_rows(indptr: NDArray[np.int64], items: NDArray[np.int32], n_items: int) -> Csr:
    """Each row ascending and without repeats; the same arrays if they are that already."""
    if len(items) < 2:
        return indptr, items
    ascends = items[1:] > items[:-1]
    begins = indptr[1:-1]
    ascends[begins[(begins > 0) & (begins < len(items))] - 1] = True  # from one row to the next anything goes
    if ascends.all():
        return indptr, items
    lengths = np.zeros(len(indptr), dtype=np.int64)
    parts = []
    for first, last in some_rows(indptr):
        start, end = indptr[first], indptr[last]
        owners = np.repeat(np.arange(last - first), np.diff(indptr[first : last + 1]))
        keys = owners * max(n_items, 1) + items[start:end]
        keys.sort()  # nearly in order already, which np.unique would not use
        keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
        owners, numbers = np.divmod(keys, max(n_items, 1))
        lengths[first + 1 : last + 1] = np.bincount(owners, minlength=last - first)
        parts.append(numbers.astype(np.int32))
    return np.cumsum(lengths), np.concatenate(parts)
