"""Many itemsets at once: constraints, workloads, violations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.core.row_order import bounds_of, distinct_rows, sort_rows, take_rows
from setveil.core.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Itemsets:
    """CSR over a vocabulary; each itemset sorted and without repeats. Order is the caller's."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: Vocabulary

    @classmethod
    def from_lists(
        cls, itemsets: Iterable[Iterable[str]], vocabulary: Vocabulary
    ) -> tuple[Itemsets, dict[int, list[str]]]:
        """Encode label lists. Returns the itemsets whose labels are all known, and ``{position: unknown labels}``.

        An itemset with an unknown label has support 0 in any data over this vocabulary, so it is not in the
        arrays.
        """
        rows: list[NDArray[np.int32]] = []
        unknown: dict[int, list[str]] = {}
        for position, labels in enumerate(itemsets):
            wanted = sorted(set(labels))
            numbers = vocabulary.numbers(wanted)
            if (numbers < 0).any():
                unknown[position] = [label for label, number in zip(wanted, numbers, strict=True) if number < 0]
            else:
                rows.append(np.sort(numbers))
        indptr = bounds_of([len(row) for row in rows])
        items = np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)
        return cls(indptr, items.astype(np.int32, copy=False), vocabulary), unknown

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        for position in range(len(self)):
            yield self[position]

    def __getitem__(self, position: int) -> NDArray[np.int32]:
        return self.items[self.indptr[position] : self.indptr[position + 1]]

    def select(self, positions: NDArray[np.integer]) -> Itemsets:
        """The given itemsets, in the given order."""
        return Itemsets(*take_rows(self.indptr, self.items, positions), self.vocabulary)

    def renumbered(self, number: NDArray[np.integer], vocabulary: Vocabulary) -> Itemsets:
        """The same itemsets over another vocabulary, in which item ``i`` has ``number[i]``."""
        items = np.asarray(number)[self.items]
        owner = np.repeat(np.arange(len(self)), np.diff(self.indptr))
        return Itemsets(self.indptr, items[np.lexsort((items, owner))].astype(np.int32), vocabulary)

    def distinct(self) -> tuple[Itemsets, NDArray[np.int64]]:
        """Every itemset once, and for each of ``self`` which of these it is."""
        once, kind = distinct_rows(*sort_rows(self.indptr, self.items, len(self.vocabulary)))
        return self.select(once), kind

    def to_lists(self) -> list[list[str]]:
        """Back to labels."""
        labels: Sequence[str] = self.vocabulary.labels
        return [[labels[item] for item in row] for row in self]
