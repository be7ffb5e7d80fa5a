"""The risk of records that are in many places is the risk of all of them together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.core import Itemsets, RemoteTransactions, Transactions
from setveil.core.remote import Csr, Found, Mark, Sparse
from setveil.engines import LocalEngine
from setveil.risk import assess, elsewhere
from setveil.risk.assess import risk
from setveil.risk.elsewhere import risk_elsewhere


class Scattered(RemoteTransactions):
    """A cluster by the book: some parts, and loops over them."""

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
        self, emit: Callable[[Csr], tuple[NDArray[np.int32], Csr]], work: Callable[[int, Csr], int]
    ) -> dict[int, int]:
        made: dict[int, list[list[int]]] = defaultdict(list)
        for part in self.parts:
            keys, (indptr, items) = emit((part.indptr, part.items))
            for number, key in enumerate(keys.tolist()):
                made[key].append(items[indptr[number] : indptr[number + 1]].tolist())
        results = {}
        for key, lists in made.items():
            indptr = np.concatenate(([0], np.cumsum([len(row) for row in lists]))).astype(np.int64)
            results[key] = work(key, (indptr, np.array([place for row in lists for place in row], dtype=np.int32)))
        return results

    def sorted_parts(self, part_size: int, encode: Callable[[Transactions], bytes]) -> Iterator[tuple[int, bytes]]:
        raise NotImplementedError


def some_data(seed: int) -> Transactions:
    random = np.random.default_rng(seed)
    n_items = int(random.integers(4, 14))
    weights = random.random(n_items) ** 2 + 0.02
    sizes = random.integers(0, n_items // 2 + 2, 80)
    return Transactions.from_lists(
        [[f"i{item}" for item in random.choice(n_items, size, False, weights / weights.sum())] for size in sizes]
    )


@pytest.mark.parametrize("max_pairs", [0, 1 << 24])
@pytest.mark.parametrize("budget", [None, 1, 150])
def test_the_same_table(budget: int | None, max_pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "MAX_PAIRS", max_pairs)
    n_sampled, verdicts = 0, set()
    for seed in range(18):
        for module in (assess, elsewhere):
            monkeypatch.setattr(module, "PATIENCE", (20, 200, 2_000)[seed % 3])
            monkeypatch.setattr(module, "N_SEARCHED", 30)
        data = some_data(seed)
        asked: dict[str, Any] = {"known": (1, 2, 3, 4, 9), "k": 2 + seed % 4, "seed": seed, "budget": budget}
        expected = risk(data, targets=40, **asked)
        assert risk_elsewhere(Scattered(data, 1 + seed % 4), targets=40, **asked) == expected
        sampled = [row for row in expected.rows if not row.exact]
        n_sampled += len(sampled)
        verdicts |= {row.below_k for row in sampled}
    assert (n_sampled > 20) == (budget is not None)
    assert budget is None or len(verdicts) > 5


def test_one_known_item_and_none_at_all() -> None:
    data = some_data(3)
    assert risk_elsewhere(Scattered(data, 2), known=(1,)) == risk(data, known=(1,))
    empty = Transactions.from_lists([[], []])
    assert risk_elsewhere(Scattered(empty, 2)) == risk(empty)
