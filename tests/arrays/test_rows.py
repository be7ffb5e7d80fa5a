"""Rows in compiled loops, beside plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.arrays.mining import count_holders, count_matches, index_rows, invert_rows, join_postings
from setveil.arrays.rows import renumber_rows, renumber_rows_into, sum_rows
from setveil.core import row_order


def random_rows(rng: random.Random, longest: int) -> list[list[int]]:
    return [[rng.randrange(9) for _ in range(rng.randint(0, longest))] for _ in range(rng.randint(0, 12))]


def packed(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return indptr, np.array([item for row in rows for item in row], dtype=np.int32)


def unpacked(indptr: np.ndarray, items: np.ndarray) -> list[list[int]]:
    return [items[start:end].tolist() for start, end in zip(indptr[:-1], indptr[1:], strict=True)]


@pytest.fixture(params=[row_order.MANY, 0], ids=["few", "many"])
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are worked on in NumPy, many in compiled loops."""
    monkeypatch.setattr(row_order, "MANY", request.param)


@pytest.mark.usefixtures("many")
def test_rows_are_renumbered_sorted_and_taken() -> None:
    rng = random.Random(6)
    for _ in range(150):
        rows = random_rows(rng, rng.choice([5, 100]))  # long rows are sorted in another way
        target = [rng.randrange(-1, 9) for _ in range(9)]
        expected = [sorted({target[item] for item in row} - {-1}) for row in rows]
        assert unpacked(*renumber_rows(*packed(rows), np.array(target, dtype=np.int32))) == expected
        indptr, items = packed(rows)
        assert unpacked(*renumber_rows_into(indptr, items, np.array(target, dtype=np.int32), items)) == expected
        chosen = [rng.randrange(len(rows)) for _ in range(rng.randint(0, 9))] if rows else []
        taken = row_order.take_rows(*packed(rows), np.array(chosen, dtype=np.int64))
        assert unpacked(*taken) == [rows[row] for row in chosen]


@pytest.mark.usefixtures("many")
def test_rows_are_ordered() -> None:
    rng = random.Random(9)
    for _ in range(60):
        rows = [sorted(set(row)) for row in random_rows(rng, rng.choice([2, 9, 40]))]
        rows += rng.choices(rows, k=3) if rows else []
        if rng.random() < 0.3:
            rows.sort()
        n_items = rng.choice([9, 9 << 20])  # so that a key holds three items, or many
        order, start = row_order.sort_rows(*packed(rows), n_items)
        assert order.tolist() == sorted(range(len(rows)), key=lambda row: (rows[row], row))
        ordered = [rows[row] for row in order.tolist()]
        assert start.tolist() == [ordered.index(row) for row in ordered]


def test_rows_are_summed() -> None:
    rng = random.Random(11)
    values = [rng.randrange(2**64) for _ in range(9)]
    for _ in range(60):
        rows = random_rows(rng, 6)
        chosen = [rng.randrange(len(rows)) for _ in range(5)] if rows else []
        sums = sum_rows(*packed(rows), np.array(values, dtype=np.uint64), np.array(chosen, dtype=np.int64))
        assert sums.tolist() == [sum(values[item] for item in rows[row]) % 2**64 for row in chosen]


def test_postings_of_rows_equal_those_of_lists() -> None:
    """Frequent items are bits, rare ones lists; joined with themselves, bits are there once."""
    rng = random.Random(12)
    for _ in range(40):
        n_records, n_items = rng.choice([5, 70, 400]), 9
        chances = [rng.choice([0.004, 0.03, 0.4]) for _ in range(n_items)]
        rows = [[item for item in range(n_items) if rng.random() < chances[item]] for _ in range(n_records)]
        postings = index_rows(*packed(rows), n_items)
        assert all((postings.dense[item] < 0) == (len(records_of(rows, item)) * 64 <= n_records) for item in range(9))
        for found in (postings, join_postings(postings, postings)):
            itemsets = [rng.sample(range(len(found.dense)), rng.randint(1, 3)) for _ in range(9)]
            expected = [set.intersection(*(records_of(rows, item % 9) for item in itemset)) for itemset in itemsets]
            counts = count_matches(found, np.empty(0, dtype=np.int64), packed(itemsets))
            assert counts.tolist() == [len(records) for records in expected]
            for itemset in itemsets:
                holders = set.union(*(records_of(rows, item % 9) for item in itemset))
                assert count_holders(found, np.array(itemset, dtype=np.int32)) == len(holders)
        assert join_postings(postings, postings).bits is postings.bits


def records_of(rows: list[list[int]], item: int) -> set[int]:
    return {number for number, row in enumerate(rows) if item in row}


def test_lists_are_inverted() -> None:
    rng = random.Random(10)
    for _ in range(100):
        rows = [sorted(set(row)) for row in random_rows(rng, 6)]
        indptr, found = invert_rows(*packed(rows), 9)
        assert unpacked(indptr, found) == [[at for at, row in enumerate(rows) if item in row] for item in range(9)]


def test_many_queries_are_counted_side_by_side() -> None:
    rng = random.Random(8)
    rows = [sorted(rng.sample(range(60), rng.randint(1, 9))) for _ in range(2_000)]  # frequent and rare items
    rows += [[*row, 60] for row in rows[:3]]
    queries = [sorted(rng.sample(row, min(len(row), rng.randint(1, 3)))) for row in rng.choices(rows, k=2_200)]
    postings = index_rows(*packed(rows), 61)
    weights = np.array([rng.randint(1, 3) for _ in rows], dtype=np.int64)
    counts = count_matches(postings, weights, packed(queries))
    some = rng.sample(range(len(queries)), 100)
    sets = [set(row) for row in rows]
    for number in some:
        holders = [row for row, items in enumerate(sets) if items.issuperset(queries[number])]
        assert counts[number] == weights[holders].sum()
