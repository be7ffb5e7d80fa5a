"""Records that are not in this process: their counts are known here, their rows are worked on where they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.itemsets import Itemsets
from setveil.core.transactions import Transactions
from setveil.errors import InputError

if TYPE_CHECKING:
    from setveil.releases.remote_grouping import GroupMaker, RemoteGroups

Result = TypeVar("Result")
Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items
Sparse: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]  # places of a table, counts
Mark: TypeAlias = tuple[int, int]  # length of a record, its smallest mark
Found: TypeAlias = tuple[Any, NDArray[np.int8]]  # something small, and a mark for each row, -1 for none


class RemoteTransactions(Transactions):
    """Transactions with all their counts and none of their rows; whatever asks for rows is refused."""

    @property
    def indptr(self) -> NDArray[np.int64]:
        """Refused."""
        raise _elsewhere()

    @property
    def items(self) -> NDArray[np.int32]:
        """Refused."""
        raise _elsewhere()

    @abstractmethod
    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""

    @property
    @abstractmethod
    def by_length(self) -> NDArray[np.int64]:
        """How many records there are of each length, int64[longest + 1]."""

    @abstractmethod
    def kept(self) -> AbstractContextManager[None]:
        """Encoded records stay on the workers meanwhile."""

    @abstractmethod
    def supports_of(self, itemsets: Itemsets) -> NDArray[np.int64]:
        """In how many records each itemset is contained."""

    @abstractmethod
    def add_up(self, count: Callable[[Iterator[Csr]], Sparse], size: int) -> NDArray[np.int64]:
        """A table of ``size`` places: what ``count`` finds in each part of the records, added up."""

    @abstractmethod
    def gather(self, work: Callable[[Iterator[Csr]], Result]) -> list[Result]:
        """What ``work`` makes of each part of the records, in any order; something small."""

    @abstractmethod
    def distinct_by_length(self) -> NDArray[np.int64]:
        """How many different records there are of each length."""

    @abstractmethod
    def records_at(self, places: Mapping[int, NDArray[np.int64]]) -> dict[int, Csr]:
        """For each length the records at some places, in canonical order of the records with at least that length."""

    @abstractmethod
    def by_item(self, work: Callable[[int, Csr, NDArray[np.int64]], Found]) -> tuple[list[Any], dict[Mark, int]]:
        """``work(item, rows, weights)`` of the different records with each item: something small, and a mark per row.

        Gives all that is small, and how many records have which length and smallest mark.
        """

    @abstractmethod
    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How often records occur: how many records are alike, ascending, and how many such classes there are."""

    @abstractmethod
    def in_shards(
        self,
        encode: Callable[[Csr], Csr],
        bounds: NDArray[np.int64],
        work: Callable[[int, Transactions], tuple[Csr, Any]],
    ) -> tuple[RemoteTransactions, list[Any]]:
        """The records in the order of their codes, cut at ``bounds``; ``work(number, shard)`` makes other rows.

        Gives these rows as records, and what ``work`` tells of each shard, in any order.
        """

    @abstractmethod
    def in_groups(self, maker: GroupMaker, published: RemoteTransactions, sensitive: Sequence[str]) -> RemoteGroups:
        """The records in groups; ``published`` are these with their public items, ``sensitive`` the other labels."""

    @abstractmethod
    def keep_records(self, choose: Callable[[Csr], NDArray[np.int64]]) -> RemoteTransactions:
        """Only the rows that ``choose`` names in each part of the records."""

    @abstractmethod
    def hand_on(
        self, is_handed_on: NDArray[np.bool_], goes_to: Callable[[NDArray[np.int64], int], NDArray[np.int64]]
    ) -> RemoteTransactions:
        """Other records: some items of each go to the record at another place.

        Records with other items than these take part. Of n such records the one at place i in canonical order gives
        them to the one at ``goes_to(i, n)``.
        """

    @abstractmethod
    def by_key(
        self,
        emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]],
        work: Callable[[int, Csr, NDArray[np.int64]], int],
    ) -> dict[int, int]:
        """``work(key, rows, weights)`` of the rows that ``emit`` makes under each key of all parts of the records.

        A weight says how often a row was made; the same row may come more than once.
        """

    @abstractmethod
    def release_memory(self) -> None:
        """Let the cluster forget what it keeps of the records."""

    def __reduce__(self) -> Any:
        raise _elsewhere()


def _elsewhere() -> InputError:
    return InputError(
        "the records stay on the cluster, and this needs them in one place; use --engine local, or read less data."
    )
