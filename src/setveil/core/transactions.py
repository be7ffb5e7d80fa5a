"""The data: one set of items per person."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.core.reading import Reading
from setveil.core.row_order import LARGE, distinct_rows, sort_rows, take_rows
from setveil.core.seam import call
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError


@dataclass(frozen=True)
class Layout:
    """How records look in a file: which layout, and the few details needed to write the same again."""

    name: str = "jsonl"
    delimiter: str = ","
    id_column: str = "id"
    item_column: str = "item"
    long: bool = False  # Parquet only: one row per (id, item) instead of one list per record


class Distinct(NamedTuple):
    """Distinct rows in lexicographic order, how often each occurs, and which one each record is."""

    rows: Transactions
    weights: NDArray[np.int64]
    inverse: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Transactions:
    """Records as CSR: row ``i`` is ``items[indptr[i]:indptr[i+1]]``, sorted and without repeats.

    Examples:
        >>> import setveil as sv
        >>> data = sv.Transactions.from_lists([["milk", "bread"], ["milk"]])
        >>> data.n_records, data.n_items, data.supports.tolist()
        (2, 2, [1, 2])
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: Vocabulary
    ids: tuple[str, ...] | None = None
    layout: Layout = field(default_factory=Layout)
    reading: Reading | None = None  # how it was read; None for data made in Python

    # -- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_lists(cls, records: Iterable[Iterable[Hashable]], ids: Iterable[str] | None = None) -> Transactions:
        """From any iterable of iterables. Strings are labels; integers become their decimal label."""
        rows: list[list[str]] = []
        for position, record in enumerate(records):
            if isinstance(record, str | bytes):
                raise InputError(f"record {position} is a string; give a list of items per record.")
            rows.append([label_of(item, f"record {position}") for item in record])
        vocabulary = Vocabulary({label for row in rows for label in row})
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        items = vocabulary.numbers(label for row in rows for label in row)
        data = cls.from_pairs(np.repeat(np.arange(len(rows)), lengths), items, len(rows), vocabulary)
        return data if ids is None else replace(data, ids=tuple(ids))

    @classmethod
    def from_pairs(
        cls,
        records: ArrayLike,
        items: ArrayLike,
        n_records: int,
        vocabulary: Vocabulary,
        ids: tuple[str, ...] | None = None,
        layout: Layout | None = None,
    ) -> Transactions:
        """From (record number, item number) pairs in any order, repeats allowed."""
        width = max(len(vocabulary), 1)
        if n_records * width >= 2**63:
            raise InputError("too many records times items for 64-bit keys.")
        keys = np.asarray(records, dtype=np.int64) * width
        keys += np.asarray(items, dtype=np.int64)
        if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
            keys.sort()
            keys = keys[np.concatenate(([True], keys[1:] != keys[:-1]))]
        owners = keys // width
        indptr = np.searchsorted(owners, np.arange(n_records + 1)).astype(np.int64, copy=False)
        keys -= owners * width
        return cls(indptr, keys.astype(np.int32), vocabulary, ids, layout or Layout())

    @classmethod
    def from_rows(
        cls, lengths: NDArray[np.int64], items: NDArray[np.int32], vocabulary: Vocabulary, layout: Layout | None = None
    ) -> Transactions:
        """From the item numbers of one record after the other, in any order within a record, repeats allowed."""
        indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        rises = np.ones(len(items) + 1, dtype=bool)
        np.greater(items[1:], items[:-1], out=rises[1:-1])
        rises[indptr] = True  # a new record may begin anywhere
        if rises.all():  # as most files are written: nothing to sort
            return cls(indptr, np.ascontiguousarray(items, dtype=np.int32), vocabulary, layout=layout or Layout())
        records = np.repeat(np.arange(len(lengths)), lengths)
        return cls.from_pairs(records, items, len(lengths), vocabulary, layout=layout)

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def n_records(self) -> int:
        """Number of records, empty ones included."""
        return len(self.indptr) - 1

    @property
    def n_items(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of (record, item) pairs."""
        return len(self.items)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Items per record, int64[n_records]."""
        return np.diff(self.indptr)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The record of each occurrence, int64[n_occurrences]."""
        return np.repeat(np.arange(self.n_records), self.lengths)

    @property
    def n_empty(self) -> int:
        """Number of records without items."""
        return int((self.lengths == 0).sum())

    @property
    def longest(self) -> int:
        """Items in the longest record."""
        return int(self.lengths.max(initial=0))

    @cached_property
    def supports(self) -> NDArray[np.int64]:
        """In how many records each item occurs, int64[n_items]."""
        counts = np.zeros(self.n_items, dtype=np.int64)
        for begin in range(0, self.n_occurrences, LARGE):  # in parts: NumPy makes a copy twice as large
            counts += np.bincount(self.items[begin : begin + LARGE], minlength=self.n_items)
        return counts

    def __len__(self) -> int:
        return self.n_records

    def __repr__(self) -> str:
        counts = f"{self.n_records:,} records, {self.n_items:,} items, {self.n_occurrences:,} occurrences"
        if self.reading is None:
            return f"Transactions({counts})"
        return f"Transactions({counts}; {self.reading.kind} from {self.reading.name})"

    def _repr_html_(self) -> str:
        facts = [
            ("records", f"{self.n_records:,}"),
            ("items", f"{self.n_items:,}"),
            ("entries", f"{self.n_occurrences:,}"),
            ("items per record", f"{self.lengths.mean():.1f}" if self.n_records else "–"),
        ]
        return str(call("card", "Transactions", facts=facts, note="" if self.reading is None else self.summary()))

    def summary(self) -> str:
        """How the data was read, in one line: layout, people, items, entries, what was not used, and the evidence."""
        reading = self.reading or Reading("records", "lists", "lists of items", "")
        return reading.sentence(self.n_records, self.n_items, self.n_occurrences)

    def facts(self) -> dict[str, Any]:
        """``summary`` for programs: the ``input`` object of ``--json``."""
        counts = {
            "records": self.n_records,
            "items": self.n_items,
            "entries": self.n_occurrences,
            "empty_records": self.n_empty,
            "summary": self.summary(),
        }
        return counts if self.reading is None else {**self.reading.to_dict(), **counts}

    def record(self, number: int) -> NDArray[np.int32]:
        """The items of one record."""
        return self.items[self.indptr[number] : self.indptr[number + 1]]

    def to_lists(self) -> list[list[str]]:
        """Labels, record by record, each in ascending order."""
        labels = self.vocabulary.labels
        flat = [labels[item] for item in self.items.tolist()]
        bounds = self.indptr.tolist()
        return [flat[start:end] for start, end in zip(bounds[:-1], bounds[1:], strict=True)]

    def inverted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """``(indptr, records)``: the records of item ``i``, ascending, are ``records[indptr[i]:indptr[i+1]]``."""
        if self.n_occurrences > LARGE:  # worth loading a compiled loop
            indptr, records = call("Transactions.inverted", self.indptr, self.items, self.n_items)
            return indptr, records.astype(np.int64)
        indptr = np.zeros(self.n_items + 1, dtype=np.int64)
        np.cumsum(self.supports, out=indptr[1:])
        items = self.items.astype(np.uint16) if self.n_items <= 1 << 16 else self.items  # short numbers sort by radix
        return indptr, self.owners[np.argsort(items, kind="stable")]

    @cached_property
    def postings(self) -> Any:
        """The records of each item, for queries: ``arrays.mining.Postings``."""
        return call("Transactions.postings", self.indptr, self.items, self.n_items)

    @property
    def _reading_of_part(self) -> Reading | None:
        """How the whole was read; a part of it is not what a second reading of the input would give."""
        return None if self.reading is None else replace(self.reading, interpretation=None)

    # -- deriving -------------------------------------------------------------------------------------------------

    def select(self, records: NDArray[np.integer]) -> Transactions:
        """The given records, in the given order, over the same vocabulary."""
        ids = None if self.ids is None else tuple(self.ids[record] for record in records)
        if self.n_occurrences > LARGE:  # worth loading a compiled loop
            indptr, items = call("Transactions.select", self.indptr, self.items, np.asarray(records, dtype=np.int64))
        else:
            indptr, items = take_rows(self.indptr, self.items, records)
        return replace(self, indptr=indptr, items=items, ids=ids, reading=self._reading_of_part)

    def recode(self, target: NDArray[np.integer], vocabulary: Vocabulary) -> Transactions:
        """Replace every item ``i`` by ``target[i]``; -1 drops it. Items that fall together are kept once per record."""
        if self.n_occurrences > LARGE:  # worth loading a compiled loop
            indptr, numbers = call("Transactions.recode", self.indptr, self.items, np.asarray(target, dtype=np.int32))
            return Transactions(indptr, numbers, vocabulary, self.ids, self.layout)
        items = np.asarray(target)[self.items]
        keep = items >= 0
        return Transactions.from_pairs(
            self.owners[keep], items[keep], self.n_records, vocabulary, self.ids, self.layout
        )

    def over(self, vocabulary: Vocabulary) -> Transactions:
        """The same records over a larger vocabulary, which must hold every item of this one."""
        return replace(self.recode(vocabulary.encode(self.vocabulary), vocabulary), reading=self.reading)

    def keep_items(self, keep: NDArray[np.bool_]) -> Transactions:
        """Only the items marked true, renumbered over a smaller vocabulary."""
        vocabulary = Vocabulary.presorted([label for label, kept in zip(self.vocabulary, keep, strict=True) if kept])
        kept = np.asarray(keep)[self.items]
        n_kept = np.zeros(self.n_occurrences + 1, dtype=np.int64)
        np.cumsum(kept, out=n_kept[1:])
        number = (np.cumsum(keep) - 1).astype(np.int32)  # order is kept, so rows stay sorted
        return replace(
            self,
            indptr=n_kept[self.indptr],
            items=number[self.items[kept]],
            vocabulary=vocabulary,
            reading=self._reading_of_part,
        )

    def keep_occurrences(self, keep: NDArray[np.bool_]) -> Transactions:
        """Only the occurrences marked true; records and vocabulary stay."""
        n_kept = np.zeros(self.n_occurrences + 1, dtype=np.int64)
        np.cumsum(keep, out=n_kept[1:])
        return replace(self, indptr=n_kept[self.indptr], items=self.items[keep], reading=self._reading_of_part)

    def used_items(self) -> Transactions:
        """Without the vocabulary's items that never occur."""
        occurs = self.supports > 0
        return self if bool(occurs.all()) else self.keep_items(occurs)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return sort_rows(self.indptr, self.items, self.n_items)

    def lexicographic_order(self) -> NDArray[np.int64]:
        """Record numbers in lexicographic order of their items (a prefix before its extensions), stable."""
        return self._sorted[0]

    def row_ranks(self) -> NDArray[np.int64]:
        """The place of each record in lexicographic order, int64[n_records]; equal records share the first one's."""
        order, start = self._sorted
        ranks = np.empty(self.n_records, dtype=np.int64)
        ranks[order] = start
        return ranks

    def distinct(self) -> Distinct:
        """Distinct rows with weights; ``rows.select(inverse)`` has the same content as ``self``."""
        once, inverse = distinct_rows(*self._sorted)
        rows = replace(self, ids=None).select(once)
        weights = np.bincount(inverse, minlength=rows.n_records).astype(np.int64, copy=False)
        return Distinct(rows, weights, inverse)


def in_label_order(rows: Transactions) -> Transactions:
    """The same records; their labels in ascending order, which is another one where only numbers are left of them."""
    vocabulary = Vocabulary(rows.vocabulary)
    return rows if vocabulary == rows.vocabulary else rows.recode(vocabulary.numbers(rows.vocabulary), vocabulary)


def label_of(item: object, where: str) -> str:
    """The label of one item given from Python: text as it is, an integer in decimal; anything else is an error."""
    if isinstance(item, str):
        if not item:
            raise InputError(f"{where}: an item label is empty; give every item a name.")
        return str(item)
    if isinstance(item, int | np.integer) and not isinstance(item, bool | np.bool_):
        return str(int(item))
    if item is None or (isinstance(item, float | np.floating) and np.isnan(item)):
        raise InputError(f"{where}: an item is null or NaN; drop it or give it a name.")
    raise InputError(f"{where}: item {item!r} is neither text nor an integer; convert it to text.")
