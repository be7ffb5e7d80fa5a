"""One set of items per person, wherever the records are: what can be counted of them and made from them anywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import Columns
from setveil.core.deferred import call
from setveil.core.provenance import Reading
from setveil.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from setveil.core.transactions import Layout, Transactions
    from setveil.engines import Engine

Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]  # indptr, items
Seen = TypeVar("Seen")
Sparse: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]  # positions of a table, each once, and counts


class Dataset(ABC):
    """What ``Transactions``, in memory, and the data of a cluster have in common. Functions that look at single records
    take ``Transactions``; all others take a ``Dataset``.
    """

    written_in_parts: ClassVar[bool]  # whether a release of these records is a folder of files, made where they are
    vocabulary: Vocabulary
    ids: tuple[str, ...] | None
    layout: Layout
    reading: Reading | None
    columns: Columns | None

    @abstractmethod
    def look(self, here: Callable[[Transactions], Seen], there: Callable[[], Seen]) -> Seen:
        """``here`` of the records if they are in memory; else ``there``, which does without single records."""

    # -- counts -----------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def rows(self) -> Transactions:
        """The records in memory; an InputError where they are not."""

    @property
    @abstractmethod
    def supports(self) -> NDArray[np.int64]:
        """In how many records each item occurs, int64[n_items]."""

    @property
    @abstractmethod
    def by_length(self) -> NDArray[np.int64]:
        """How many records there are of each length, int64[longest + 1]."""

    @property
    def n_records(self) -> int:
        """Number of records, empty ones included."""
        return int(self.by_length.sum())

    @property
    def n_items(self) -> int:
        """Size of the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of (record, item) pairs."""
        return int(self.supports.sum())

    @property
    def n_empty(self) -> int:
        """Number of records without items."""
        return int(self.by_length[:1].sum())

    @property
    def longest(self) -> int:
        """Items in the longest record."""
        return int(np.flatnonzero(self.by_length).max(initial=0))

    @abstractmethod
    def add_up(self, count: Callable[[Iterator[Csr]], Sparse], size: int) -> NDArray[np.int64]:
        """A table of ``size`` positions: what ``count`` finds in each part of the records, added up."""

    # -- as text ----------------------------------------------------------------------------------------------------

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
            ("items per record", f"{self.n_occurrences / self.n_records:.1f}" if self.n_records else "–"),
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

    def to_lists(self) -> list[list[str]]:
        """Labels, record by record, each in ascending order; for records in memory."""
        return self.rows.to_lists()

    # -- deriving -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def recode(self, target: NDArray[np.integer], vocabulary: Vocabulary) -> Self:
        """Replace every item ``i`` by ``target[i]``; -1 drops it. Items that fall together are kept once per record."""

    @abstractmethod
    def over(self, vocabulary: Vocabulary) -> Self:
        """The same records over a larger vocabulary, which must hold every item of this one."""

    @abstractmethod
    def keep_items(self, keep: NDArray[np.bool_]) -> Self:
        """Only the items marked true, renumbered over a smaller vocabulary."""

    def used_items(self) -> Self:
        """Without the vocabulary's items that never occur."""
        occurs = self.supports > 0
        return self if bool(occurs.all()) else self.keep_items(occurs)

    @abstractmethod
    def keep_records(self, choose: Callable[[Csr], NDArray[np.int64]]) -> Self:
        """Only the records that ``choose`` names in each part of them."""

    @abstractmethod
    def hand_on(
        self, is_handed_on: NDArray[np.bool_], goes_to: Callable[[NDArray[np.int64], int], NDArray[np.int64]]
    ) -> Self:
        """Other records: some items of each go to the record at another place.

        Records with other items than these take part. Of n such records the one at place i in canonical order gives
        them to the one at ``goes_to(i, n)``.
        """

    @abstractmethod
    def evenly_spaced(self, step: int) -> Transactions:
        """Every ``step``-th record in canonical order, in memory."""

    @abstractmethod
    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        """``(number, encode(records))`` of each run of ``part_size`` records in canonical order, in any order."""

    # -- engine -------------------------------------------------------------------------------------------------------

    def own_engine(self) -> Engine | None:
        """The engine that works where the records are; None for the one of this process."""
        return None

    # -- memory -------------------------------------------------------------------------------------------------------

    def without_index(self) -> Self:
        """The same records, for a question whose index nobody else needs."""
        return self

    def forget_index(self) -> None:  # noqa: B027 (most have none)
        """Give up what was found out and can be found out again."""

    def release_memory(self) -> None:  # noqa: B027 (most have nothing to forget)
        """Let a cluster forget what it keeps of the records."""
