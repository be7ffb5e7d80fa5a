"""The data: one set of items per person."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.core.columns import Columns
from setveil.core.dataset import Csr, Dataset, Seen, Sparse
from setveil.core.deferred import call
from setveil.core.provenance import Reading
from setveil.core.row_order import bounds_of, distinct_rows, sort_rows, take_rows
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

AnyDataset = TypeVar("AnyDataset", bound=Dataset)
LARGE = 500_000  # occurrences from which a compiled loop is worth loading


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


@dataclass(frozen=True, eq=False, repr=False)
class Transactions(Dataset):
    """Records as CSR: row ``i`` is ``items[indptr[i]:indptr[i+1]]``, sorted and without repeats.

    Examples:
        >>> import setveil as sv
        >>> data = sv.Transactions.from_lists([["milk", "bread"], ["milk"]])
        >>> data.n_records, data.n_items, data.supports.tolist()
        (2, 2, [1, 2])
        >>> data[0], list(data), len(data[:1])
        (['bread', 'milk'], [['bread', 'milk'], ['milk']], 1)
        >>> data == sv.Transactions.from_lists([["bread", "milk"], ["milk"]])
        True
    """

    written_in_parts: ClassVar[bool] = False

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: Vocabulary
    ids: tuple[str, ...] | None = None
    layout: Layout = field(default_factory=Layout)
    reading: Reading | None = None  # how it was read; None for data made in Python
    columns: Columns | None = None  # what else is known of each person; None: nothing but the items

    # -- making ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_lists(cls, records: Iterable[Iterable[Hashable]], ids: Iterable[str] | None = None) -> Transactions:
        """From any iterable of iterables. Strings are labels; integers become their decimal label.

        Examples:
            >>> sv.Transactions.from_lists([["milk", 7], ["milk"]]).to_lists()
            [['7', 'milk'], ['milk']]
        """
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
        indptr = bounds_of(lengths)
        rises = np.ones(len(items) + 1, dtype=bool)
        np.greater(items[1:], items[:-1], out=rises[1:-1])
        rises[indptr] = True  # a new record may begin anywhere
        if rises.all():  # as most files are written: nothing to sort
            return cls(indptr, np.ascontiguousarray(items, dtype=np.int32), vocabulary, layout=layout or Layout())
        records = np.repeat(np.arange(len(lengths)), lengths)
        return cls.from_pairs(records, items, len(lengths), vocabulary, layout=layout)

    # -- looking --------------------------------------------------------------------------------------------------

    def look(self, here: Callable[[Transactions], Seen], there: Callable[[], Seen]) -> Seen:
        return here(self)

    @property
    def rows(self) -> Transactions:
        """Itself."""
        return self

    @property
    def n_records(self) -> int:
        """Number of records, empty ones included."""
        return len(self.indptr) - 1

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
    def by_length(self) -> NDArray[np.int64]:
        """How many records there are of each length, int64[longest + 1]."""
        return np.bincount(self.lengths, minlength=1)

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

    def record(self, number: int) -> NDArray[np.int32]:
        """The items of one record.

        Examples:
            >>> sv.read([["milk", "bread"], ["milk"]]).record(0).tolist()
            [0, 1]
        """
        return self.items[self.indptr[number] : self.indptr[number + 1]]

    @overload
    def __getitem__(self, place: int) -> list[str]: ...
    @overload
    def __getitem__(self, place: slice) -> Transactions: ...
    def __getitem__(self, place: int | slice) -> list[str] | Transactions:
        """The labels of one record, or some of the records."""
        if isinstance(place, slice):
            return self.select(np.arange(self.n_records)[place])
        number = range(self.n_records)[place]  # from the end, too; IndexError beyond it
        return [self.vocabulary[int(item)] for item in self.record(number)]

    def __iter__(self) -> Iterator[list[str]]:
        """The labels of each record."""
        return (self[number] for number in range(self.n_records))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same records in the same order, with the same columns."""
        if not isinstance(other, Transactions):
            return NotImplemented
        return self is other or (
            np.array_equal(self.indptr, other.indptr)
            and self._labels_in_use == other._labels_in_use
            and np.array_equal(self.used_items().items, other.used_items().items)
            and _cells(self.columns) == _cells(other.columns)
        )

    def __hash__(self) -> int:
        return hash((self.n_records, self.n_occurrences))

    @property
    def _labels_in_use(self) -> list[str]:
        return [self.vocabulary[int(item)] for item in np.flatnonzero(self.supports)]

    def to_polars(self, layout: str = "long") -> pl.DataFrame:
        """The records as a Polars frame: ``"long"`` (a row per record and item), ``"list"`` or ``"onehot"``.

        Examples:
            >>> sv.read([["milk", "bread"], ["beer"]]).to_polars("list")["items"].to_list()
            [['bread', 'milk'], ['beer']]
        """
        frame: pl.DataFrame = call("Transactions.to_polars", self, layout)
        return frame

    def to_pandas(self, layout: str = "long") -> pd.DataFrame:
        """The same as a pandas frame.

        Examples:
            >>> sv.read([["milk", "bread"], ["beer"]]).to_pandas("onehot").shape
            (2, 3)
        """
        return call("Transactions.to_pandas", self, layout)

    def to_lists(self) -> list[list[str]]:
        """Labels, record by record, each in ascending order.

        Examples:
            >>> sv.read([["milk", "bread"], ["beer"]]).to_lists()
            [['bread', 'milk'], ['beer']]
        """
        labels = self.vocabulary.labels
        flat = [labels[item] for item in self.items.tolist()]
        bounds = self.indptr.tolist()
        return [flat[start:end] for start, end in zip(bounds[:-1], bounds[1:], strict=True)]

    def inverted(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """``(indptr, records)``: the records of item ``i``, ascending, are ``records[indptr[i]:indptr[i+1]]``."""
        if self.n_occurrences > LARGE:  # worth loading a compiled loop
            from setveil.arrays.mining import invert_rows

            return invert_rows(self.indptr, self.items, self.n_items)
        indptr = bounds_of(self.supports)
        items = self.items.astype(np.uint16) if self.n_items <= 1 << 16 else self.items  # short numbers sort by radix
        return indptr, self.owners[np.argsort(items, kind="stable")].astype(np.int32)

    @cached_property
    def postings(self) -> Any:
        """The records of each item, for queries: ``arrays.mining.Postings``."""
        from setveil.arrays.mining import index_rows

        return index_rows(self.indptr, self.items, self.n_items)

    def add_up(self, count: Callable[[Iterator[Csr]], Sparse], size: int) -> NDArray[np.int64]:
        """A table of ``size`` positions: what ``count`` finds in the records."""
        table = np.zeros(size, dtype=np.int64)
        positions, counts = count(iter([(self.indptr, self.items)]))
        table[positions] = counts
        return table

    @property
    def _reading_of_part(self) -> Reading | None:
        """How the whole was read; a part of it is not what a second reading of the input would give."""
        return None if self.reading is None else replace(self.reading, interpretation=None)

    # -- deriving -------------------------------------------------------------------------------------------------

    def select(self, records: NDArray[np.integer]) -> Transactions:
        """The given records, in the given order, over the same vocabulary.

        Examples:
            >>> sv.read([["a"], ["b"], ["c"]]).select([2, 0]).to_lists()
            [['c'], ['a']]
        """
        ids = None if self.ids is None else tuple(self.ids[record] for record in records)
        indptr, items = take_rows(self.indptr, self.items, records)
        columns = None if self.columns is None else self.columns.select(records)
        return replace(self, indptr=indptr, items=items, ids=ids, reading=self._reading_of_part, columns=columns)

    def recode(self, target: NDArray[np.integer], vocabulary: Vocabulary) -> Transactions:
        """Replace every item ``i`` by ``target[i]``; -1 drops it. Items that fall together are kept once per record."""
        if self.n_occurrences > LARGE:  # worth loading a compiled loop
            from setveil.arrays.rows import renumber_rows

            indptr, numbers = renumber_rows(self.indptr, self.items, np.asarray(target, dtype=np.int32))
            return Transactions(indptr, numbers, vocabulary, self.ids, self.layout, columns=self.columns)
        items = np.asarray(target)[self.items]
        keep = items >= 0
        recoded = Transactions.from_pairs(
            self.owners[keep], items[keep], self.n_records, vocabulary, self.ids, self.layout
        )
        return replace(recoded, columns=self.columns)

    def over(self, vocabulary: Vocabulary) -> Transactions:
        """The same records over a larger vocabulary, which must hold every item of this one."""
        return replace(self.recode(vocabulary.encode(self.vocabulary), vocabulary), reading=self.reading)

    def keep_items(self, keep: NDArray[np.bool_]) -> Transactions:
        """Only the items marked true, renumbered over a smaller vocabulary."""
        vocabulary = Vocabulary.presorted([label for label, kept in zip(self.vocabulary, keep, strict=True) if kept])
        kept = np.asarray(keep)[self.items]
        n_kept = bounds_of(kept)
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
        n_kept = bounds_of(keep)
        return replace(self, indptr=n_kept[self.indptr], items=self.items[keep], reading=self._reading_of_part)

    def keep_records(self, choose: Callable[[Csr], NDArray[np.int64]]) -> Transactions:
        """Only the records that ``choose`` names."""
        return self.select(choose((self.indptr, self.items)))

    def hand_on(
        self, is_handed_on: NDArray[np.bool_], goes_to: Callable[[NDArray[np.int64], int], NDArray[np.int64]]
    ) -> Transactions:
        """Other records: some items of each go to the record at another place."""
        given = is_handed_on[self.items]
        stays, goes = self.keep_occurrences(~given), self.keep_occurrences(given)
        order = self.lexicographic_order()
        able = order[stays.lengths[order] > 0]
        source = np.arange(self.n_records)
        source[able[goes_to(np.arange(len(able)), len(able))]] = able
        dealt = goes.select(source)
        return Transactions.from_pairs(
            np.concatenate((stays.owners, dealt.owners)),
            np.concatenate((stays.items, dealt.items)),
            self.n_records,
            self.vocabulary,
            layout=self.layout,
        )

    def evenly_spaced(self, step: int) -> Transactions:
        """Every ``step``-th record in canonical order, but in the order of these records."""
        return self if step < 2 else self.select(np.sort(self.lexicographic_order()[::step]))

    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        """``(number, encode(records))`` of each run of ``part_size`` records in canonical order."""
        order = self.lexicographic_order()
        for number, start in enumerate(range(0, self.n_records, part_size)):
            yield number, encode(self.select(order[start : start + part_size]))

    def without_index(self) -> Transactions:
        """A copy that keeps what it finds out to itself."""
        return replace(self)

    def forget_index(self) -> None:
        for found in ("postings", "_sorted"):
            self.__dict__.pop(found, None)

    def with_used_values(self) -> Transactions:
        """Without values of columns that no record has."""
        return self if not self.columns else replace(self, columns=self.columns.with_used_values())

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

    def ranks(self) -> NDArray[np.int64]:
        """The place of each record in the order of its columns, then its items, int64[n_records]; equal ones share
        it. Without columns: ``row_ranks``.
        """
        keys = [*(column.codes.astype(np.int64) for column in self.columns or ()), self.row_ranks()]
        if len(keys) == 1:
            return keys[0]
        order = np.lexsort(keys[::-1])
        begins = np.zeros(len(order), dtype=bool)
        begins[:1] = True
        for key in keys:
            begins[1:] |= key[order[1:]] != key[order[:-1]]
        found = np.empty(len(order), dtype=np.int64)
        found[order] = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
        return found

    def distinct(self) -> Distinct:
        """Distinct rows with weights; ``rows.select(inverse)`` has the same items as ``self``, without its columns.

        Examples:
            >>> sv.read([["a"], ["b"], ["a"]]).distinct().weights.tolist()
            [2, 1]
        """
        once, inverse = distinct_rows(*self._sorted)
        rows = replace(self, ids=None, columns=None).select(once)
        weights = np.bincount(inverse, minlength=rows.n_records).astype(np.int64, copy=False)
        return Distinct(rows, weights, inverse)


def in_label_order(rows: AnyDataset) -> AnyDataset:
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


def _cells(columns: Columns | None) -> list[tuple[str, str, list[str]]]:
    """Names, roles and values of the columns of people, to be compared."""
    return [
        (column.name, column.role, [column.values[code] for code in column.codes.tolist()]) for column in columns or ()
    ]
