"""Minimal privacy threats: the 25 of the paper, and by the book on random databases."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from setveil.algorithms.km import threats
from setveil.algorithms.km.threats import minimal_privacy_threats
from setveil.core import Transactions
from setveil.errors import InputError
from tests.naive import km as naive
from tests.naive.km_cases import LIU_WANG, LIU_WANG_TREE, cases


def as_dict(data: Transactions, k: int, m: int | str, tree: object = None) -> dict[frozenset[str], int]:
    itemsets, supports = minimal_privacy_threats(data, k, m, tree)  # type: ignore[arg-type]
    lists = itemsets.to_lists()
    assert len({frozenset(itemset) for itemset in lists}) == len(lists)
    assert [len(itemset) for itemset in lists] == sorted(len(itemset) for itemset in lists)
    return {frozenset(itemset): support for itemset, support in zip(lists, supports.tolist(), strict=True)}


def test_paper_has_25_minimal_threats() -> None:
    found = as_dict(Transactions.from_lists(LIU_WANG), 2, "all", LIU_WANG_TREE)
    assert len(found) == 25
    assert frozenset("HKQ") in found
    assert frozenset("ei") in found
    assert frozenset("x") in found


def test_same_as_by_the_book() -> None:
    for data, tree, k in cases(250, seed=21, items="abcdef"):
        for m in (1, 2, 3, 4):
            base = naive.Database(data, tree)
            labels = tree.published_labels
            expected = naive.minimal_threats(base, k, m)
            assert as_dict(data, k, m, tree) == {frozenset(labels[v] for v in s): n for s, n in expected.items()}


def test_without_hierarchy() -> None:
    for data, _, k in cases(250, seed=22, items="abcdef"):
        rows = [frozenset(row) for row in data.to_lists()]
        expected: dict[frozenset[str], int] = {}
        for size in range(1, 6):
            for itemset in map(frozenset, combinations(data.vocabulary, size)):
                support = sum(itemset <= row for row in rows)
                if 0 < support < k and not any(smaller < itemset for smaller in expected):
                    expected[itemset] = support
        assert as_dict(data, k, "all") == expected


def test_no_items_no_threats() -> None:
    itemsets, supports = minimal_privacy_threats(Transactions.from_lists([[], []]), 2, 2)
    assert len(itemsets) == 0
    assert supports.tolist() == []


def test_too_many_to_list(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = Transactions.from_lists([rng.choice(30, size=4, replace=False).tolist() for _ in range(100)])
    monkeypatch.setattr(threats, "MAX_THREATS", 10)
    with pytest.raises(InputError, match="too many itemsets of 2 nodes"):
        minimal_privacy_threats(data, 3, 3)


def test_real_data(real_data: Callable[[str], Path]) -> None:
    """Every pair below k is listed once, and nothing else of size 2."""
    from setveil.io.transactions.reading import read_transactions

    data = read_transactions(real_data("groceries.csv.gz"))
    found = as_dict(data, 5, 2)
    dense = np.zeros((data.n_records, data.n_items), dtype=np.int64)
    dense[data.owners, data.items] = 1
    together = dense.T @ dense
    frequent = np.flatnonzero(np.diag(together) >= 5)
    pairs = together[np.ix_(frequent, frequent)]
    assert sum(len(itemset) == 2 for itemset in found) == np.triu((pairs > 0) & (pairs < 5), 1).sum()
    assert sum(len(itemset) == 1 for itemset in found) == (np.diag(together) < 5).sum()
