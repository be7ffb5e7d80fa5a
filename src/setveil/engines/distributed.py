"""Records that are not in this process: their counts are known here, their rows are worked on where they are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Csr, Dataset
from setveil.core.itemsets import Itemsets
from setveil.core.transactions import Transactions
from setveil.errors import InputError

if TYPE_CHECKING:
    from setveil.engines.distributed_groups import DistributedGroups, GroupMaker

Result = TypeVar("Result")
Mark: TypeAlias = tuple[int, int]  # length of a record, its smallest mark
Found: TypeAlias = tuple[Any, NDArray[np.int8]]  # something small, and a mark for each row, -1 for none


class DistributedDataset(Dataset):
    """Records with all their counts and none of their rows."""

    written_in_parts = True
    ids = None
    columns = None

    def look(self, here: Callable[[Transactions], Result], there: Callable[[], Result]) -> Result:
        """Single records cannot be looked at."""
        return there()

    @property
    def rows(self) -> Transactions:
        """Refused."""
        raise _records_stay()

    @abstractmethod
    def kept(self) -> AbstractContextManager[None]:
        """Encoded records stay on the workers meanwhile."""

    @abstractmethod
    def supports_of(self, itemsets: Itemsets) -> NDArray[np.int64]:
        """In how many records each itemset is contained."""

    @abstractmethod
    def gather(self, work: Callable[[Iterator[Csr]], Result]) -> list[Result]:
        """What ``work`` makes of each part of the records, in any order; something small."""

    @abstractmethod
    def distinct_by_length(self) -> NDArray[np.int64]:
        """How many different records there are of each length."""

    @abstractmethod
    def records_at(self, positions: Mapping[int, NDArray[np.int64]]) -> dict[int, Csr]:
        """For each length the records at positions in the canonical order of the records with at least that length."""

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
    ) -> tuple[DistributedDataset, list[Any]]:
        """The records in the order of their codes, cut at ``bounds``; ``work(number, shard)`` makes other rows.

        Gives these rows as records, and what ``work`` tells of each shard, in any order.
        """

    @abstractmethod
    def in_groups(
        self, maker: GroupMaker, published: DistributedDataset, sensitive: Sequence[str]
    ) -> DistributedGroups:
        """The records in groups; ``published`` are these with their public items, ``sensitive`` the other labels."""

    @abstractmethod
    def by_key(
        self,
        emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]],
        work: Callable[[int, Csr, NDArray[np.int64]], int],
    ) -> dict[int, int]:
        """``work(key, rows, weights)`` of the rows that ``emit`` makes under each key of all parts of the records.

        A weight says how often a row was made; the same row may come more than once.
        """

    def evenly_spaced(self, step: int) -> Transactions:
        """Every ``step``-th record in canonical order, brought here."""
        return Transactions(*self.records_at({0: np.arange(0, self.n_records, step)})[0], self.vocabulary)

    def __reduce__(self) -> Any:
        raise _records_stay()


def _records_stay() -> InputError:
    return InputError(
        "the records stay on the cluster, and this needs them in one place; use --engine local, or read less data."
    )
