"""Records on a cluster by the book: some parts of them, and loops over these."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets, Transactions, Vocabulary
from setveil.core.dataset import Csr, Sparse
from setveil.engines import LocalEngine
from setveil.engines.distributed import DistributedDataset, Found, Mark
from setveil.engines.distributed_groups import DistributedGroups, GroupFigures, GroupMaker
from setveil.releases.grouping import SortedGroups


class Scattered(DistributedDataset):
    """Transactions in ``n_parts`` parts, in no particular order."""

    def __init__(self, whole: Transactions, n_parts: int) -> None:
        order = np.random.default_rng(n_parts).permutation(whole.n_records)
        self.vocabulary, self.layout, self.reading = whole.vocabulary, whole.layout, None
        self.whole = whole
        self.parts = [whole.select(part) for part in np.array_split(order, n_parts)]

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

    def keep_items(self, keep: NDArray[np.bool_]) -> Scattered:
        return Scattered(self.whole.keep_items(keep), len(self.parts))

    def class_sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        sizes, times = np.unique(self.whole.distinct().weights, return_counts=True)
        return sizes, times

    def in_shards(
        self,
        encode: Callable[[Csr], Csr],
        bounds: NDArray[np.int64],
        work: Callable[[int, Transactions], tuple[Csr, Any]],
    ) -> tuple[DistributedDataset, list[Any]]:
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

    def recode(self, target: NDArray[np.integer], vocabulary: Vocabulary) -> Scattered:
        return Scattered(self.whole.recode(target, vocabulary), len(self.parts))

    def over(self, vocabulary: Vocabulary) -> Scattered:
        return Scattered(self.whole.over(vocabulary), len(self.parts))

    def keep_records(self, choose: Callable[[Csr], NDArray[np.int64]]) -> Scattered:
        return Scattered(self.whole.select(choose((self.whole.indptr, self.whole.items))), len(self.parts))

    def hand_on(
        self, is_handed_on: NDArray[np.bool_], goes_to: Callable[[NDArray[np.int64], int], NDArray[np.int64]]
    ) -> Scattered:
        rows = [self.whole.record(number).tolist() for number in range(self.n_records)]
        rows.sort()
        stays = [[item for item in row if not is_handed_on[item]] for row in rows]
        able = [number for number, row in enumerate(stays) if row]
        made = [stay if stay else row for stay, row in zip(stays, rows, strict=True)]
        for place, goal in enumerate(goes_to(np.arange(len(able)), len(able)).tolist()):
            made[able[goal]] = made[able[goal]] + [item for item in rows[able[place]] if is_handed_on[item]]
        lengths = np.array([len(row) for row in made], dtype=np.int64)
        items = np.array([item for row in made for item in row], dtype=np.int32)
        return Scattered(Transactions.from_rows(lengths, items, self.vocabulary), len(self.parts))

    def release_memory(self) -> None:
        pass

    def in_groups(
        self, maker: GroupMaker, published: DistributedDataset, sensitive: Sequence[str]
    ) -> DistributedGroups:
        return group_by_the_book(self.whole, maker, published.vocabulary, sensitive)


def group_by_the_book(
    whole: Transactions, maker: GroupMaker, published: Vocabulary, sensitive: Sequence[str]
) -> ScatteredGroups:
    """All records at once."""
    order = np.random.default_rng(6).permutation(whole.n_records)
    mixed = whole.select(order)
    indptr, items = mixed.indptr, mixed.items
    records = [items[start:end].tolist() for start, end in zip(indptr[:-1], indptr[1:], strict=True)]
    starts, codes = maker.key((indptr, items))
    keys = [codes[start:end].tolist() for start, end in zip(starts[:-1], starts[1:], strict=True)]
    records = [records[number] for number in sorted(range(len(records)), key=lambda number: keys[number])]
    first = maker.n_public
    counts = np.zeros((len(maker.bounds) - 1, maker.n_sensitive), dtype=np.int64)
    for run, (low, high) in enumerate(zip(maker.bounds[:-1], maker.bounds[1:], strict=True)):
        for record in records[low:high]:
            for item in record:
                if first <= item:
                    counts[run, item - first] += 1
    bounds = maker.join(counts)
    groups: list[list[list[int]]] = []
    n_leftovers = 0
    for low, high in zip(bounds[:-1], bounds[1:], strict=True):
        run_rows = records[low:high]
        lengths = np.array([0, *map(len, run_rows)]).cumsum()
        flat = np.array([item for record in run_rows for item in record], dtype=np.int32)
        group_of, n_alone = maker.group((lengths, flat))
        own: list[list[list[int]]] = [[] for _ in range(int(group_of.max(initial=-1)) + 1)]
        for record, group in zip(run_rows, group_of.tolist(), strict=True):
            own[group].append(record)
        groups += own
        n_leftovers += n_alone
    made = {"shards": len(bounds) - 1, "leftovers": n_leftovers}
    labels = [*published, *sensitive]
    named = [[[labels[item] for item in record] for record in group] for group in groups]
    return ScatteredGroups(named, frozenset(sensitive), made)


@dataclass(frozen=True, eq=False)
class ScatteredGroups(DistributedGroups):
    """Groups as lists of records, in the order in which they were made."""

    original: list[list[list[str]]]
    sensitive: frozenset[str]
    made: Mapping[str, int]

    @property
    def counted(self) -> Vocabulary:  # type: ignore[override]
        return Vocabulary({item for group in self.original for row in group for item in row if item in self.sensitive})

    @property
    def figures(self) -> GroupFigures:
        sizes, times = np.unique([len(group) for group in self.original], return_counts=True)
        held = np.array([[sum(item in row for row in group) for group in self.original] for item in self.counted])
        shares = held / np.array([len(group) for group in self.original])
        return GroupFigures(sizes, times, held.sum(axis=-1).astype(np.int64), shares.max(axis=-1, initial=0.0))

    def in_order(self) -> AbstractContextManager[SortedGroups]:
        raise NotImplementedError

    def pick(
        self,
        is_fit: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]],
        choose: Callable[[int], NDArray[np.int64]],
    ) -> tuple[Transactions, NDArray[np.int64]]:
        sizes = np.array([len(group) for group in self.original])
        kinds = np.array(
            [len({item for row in group for item in row if item in self.sensitive}) for group in self.original]
        )
        fitting = np.flatnonzero(is_fit(sizes, kinds))
        chosen = fitting[choose(len(fitting))].tolist()
        group_of = np.repeat(np.arange(len(chosen)), sizes[chosen])
        labels = {item for group in self.original for row in group for item in row}
        rows = Transactions.from_lists([row for number in chosen for row in self.original[number]])
        return rows.over(Vocabulary(labels)), group_of

    def forget(self) -> None:
        pass
