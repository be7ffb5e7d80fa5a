"""Records on a cluster by the book: some parts of them, and loops over these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets, RemoteTransactions, Transactions
from setveil.core.remote import Csr, Found, Mark, Sparse
from setveil.engines import LocalEngine


class Scattered(RemoteTransactions):
    """Transactions in ``n_parts`` parts, in no particular order."""

    def __init__(self, whole: Transactions, n_parts: int) -> None:
        order = np.random.default_rng(n_parts).permutation(whole.n_records)
        for name, value in {
            "vocabulary": whole.vocabulary,
            "whole": whole,
            "parts": [whole.select(part) for part in np.array_split(order, n_parts)],
        }.items():
            object.__setattr__(self, name, value)

    whole: Transactions
    parts: list[Transactions]

    @property
    def supports(self) -> NDArray[np.int64]:
        return self.whole.supports

    @property
    def n_records(self) -> int:
        return self.whole.n_records

    @property
    def longest(self) -> int:
        return self.whole.longest

    @property
    def by_length(self) -> NDArray[np.int64]:
        return np.bincount(self.whole.lengths)

    @contextmanager
    def kept(self) -> Iterator[None]:
        yield

    def supports_of(self, itemsets: Itemsets) -> NDArray[np.int64]:
        return LocalEngine().supports(self.whole, itemsets)

    def add_up(self, count: Callable[[Iterator[Csr]], Sparse], size: int) -> NDArray[np.int64]:
        table = np.zeros(size, dtype=np.int64)
        for places, counts in self.gather(count):
            table[places] += counts
        return table

    def gather(self, work: Callable[[Iterator[Csr]], Any]) -> list[Any]:
        return [work(iter([(part.indptr, part.items)])) for part in self.parts]

    def distinct_by_length(self) -> NDArray[np.int64]:
        return np.bincount(self.whole.distinct().rows.lengths)

    def records_at(self, places: Mapping[int, NDArray[np.int64]]) -> dict[int, Csr]:
        found = {}
        for length, wanted in places.items():
            in_order = self.whole.select(self.whole.lexicographic_order())
            some = in_order.select(np.flatnonzero(in_order.lengths >= length)).select(wanted)
            found[length] = (some.indptr, some.items)
        return found

    def by_item(self, work: Callable[[int, Csr, NDArray[np.int64]], Found]) -> tuple[list[Any], dict[Mark, int]]:
        rows, weights, _ = self.whole.distinct()
        smallest: dict[int, int] = {}
        told = []
        for item in np.flatnonzero(self.supports).tolist():
            chosen = np.array([number for number in range(rows.n_records) if item in rows.record(number)])
            some = rows.select(chosen)
            small, marks = work(item, (some.indptr, some.items), weights[chosen])
            told.append(small)
            for number, mark in zip(chosen.tolist(), marks.tolist(), strict=True):
                if mark >= 0:
                    smallest[number] = min(mark, smallest.get(number, mark))
        counted: dict[Mark, int] = defaultdict(int)
        for number, mark in smallest.items():
            counted[int(rows.lengths[number]), mark] += int(weights[number])
        return told, counted

    def by_key(
        self,
        emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]],
        work: Callable[[int, Csr, NDArray[np.int64]], int],
    ) -> dict[int, int]:
        made: dict[int, list[list[int]]] = defaultdict(list)
        for part in self.parts:
            keys, (indptr, items) = emit((part.indptr, part.items))
            for number, key in enumerate(keys.tolist()):
                made[key].append(items[indptr[number] : indptr[number + 1]].tolist())
        results = {}
        for key, lists in made.items():
            indptr = np.concatenate(([0], np.cumsum([len(row) for row in lists]))).astype(np.int64)
            rows = indptr, np.array([place for row in lists for place in row], dtype=np.int32)
            results[key] = work(key, rows, np.ones(len(lists), dtype=np.int64))
        return results

    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        raise NotImplementedError

    @property
    def n_occurrences(self) -> int:
        return self.whole.n_occurrences

    @property
    def n_empty(self) -> int:
        return self.whole.n_empty

    def keep_items(self, keep: NDArray[np.bool_]) -> Transactions:
        return Scattered(self.whole.keep_items(keep), len(self.parts))

    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        sizes, times = np.unique(self.whole.distinct().weights, return_counts=True)
        return sizes, times

    def in_shards(
        self,
        encode: Callable[[Csr], Csr],
        bounds: NDArray[np.int64],
        work: Callable[[int, Transactions], tuple[Csr, Any]],
    ) -> tuple[RemoteTransactions, list[Any]]:
        indptr, codes = encode((self.whole.indptr, self.whole.items))
        rows = [tuple(codes[start:end].tolist()) for start, end in zip(indptr[:-1], indptr[1:], strict=True)]
        order = sorted(np.random.default_rng(5).permutation(len(rows)).tolist(), key=lambda number: rows[number])
        lengths, items, told = [], [], []
        for number in range(len(bounds) - 1):
            shard = self.whole.select(np.array(order[bounds[number] : bounds[number + 1]]))
            made, said = work(number, shard)
            lengths.append(np.diff(made[0]))
            items.append(made[1])
            told.append(said)
        whole = Transactions.from_rows(np.concatenate(lengths), np.concatenate(items), self.vocabulary)
        return Scattered(whole, len(self.parts)), told
