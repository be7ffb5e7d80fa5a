"""Rows in compiled loops, beside plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.arrays import mining
from setveil.arrays.mining import count_matches, index_rows, invert_side_by_side
from setveil.arrays.rows import find_new_rows, gather_runs, renumber_rows, take_rows
from setveil.core import row_order


def random_rows(rng: random.Random, longest: int) -> list[list[int]]:
    return [[rng.randrange(9) for _ in range(rng.randint(0, longest))] for _ in range(rng.randint(0, 12))]


def packed(rows: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return indptr, np.array([item for row in rows for item in row], dtype=np.int32)


def unpacked(indptr: np.ndarray, items: np.ndarray) -> list[list[int]]:
    return [items[start:end].tolist() for start, end in zip(indptr[:-1], indptr[1:], strict=True)]


def test_rows_are_renumbered_sorted_and_taken() -> None:
    rng = random.Random(6)
    for _ in range(150):
        rows = random_rows(rng, rng.choice([5, 100]))  # long rows are sorted in another way
        target = [rng.randrange(-1, 9) for _ in range(9)]
        expected = [sorted({target[item] for item in row} - {-1}) for row in rows]
        assert unpacked(*renumber_rows(*packed(rows), np.array(target, dtype=np.int32))) == expected
        chosen = [rng.randrange(len(rows)) for _ in range(rng.randint(0, 9))] if rows else []
        taken = take_rows(*packed(rows), np.array(chosen, dtype=np.int64))
        assert unpacked(*taken) == [rows[row] for row in chosen]


def test_rows_in_order_are_noticed() -> None:
    rng = random.Random(4)
    for _ in range(200):
        rows = [sorted(set(row)) for row in random_rows(rng, 3)]
        rows += rng.choices(rows, k=3) if rows else []
        if rng.random() < 0.7:
            rows.sort()
        is_new = find_new_rows(*packed(rows))
        if rows == sorted(rows):
            assert is_new is not None
            assert is_new.tolist() == [at == 0 or rows[at - 1] != row for at, row in enumerate(rows)]
        else:
            assert is_new is None


def test_runs_are_gathered_by_row() -> None:
    rng = random.Random(7)
    for _ in range(100):
        runs = random_rows(rng, 4)
        owners = [rng.randrange(4) for _ in runs]
        lengths = np.array([len(run) for run in runs], dtype=np.int32)
        found = gather_runs(np.array(owners, dtype=np.int64), lengths, packed(runs)[1], 4)
        parts = [[run for run, owner in zip(runs, owners, strict=True) if owner == row] for row in range(4)]
        assert unpacked(*found) == [[item for run in part for item in run] for part in parts]


@pytest.mark.parametrize("large", [0, 10**6])
def test_rows_are_ordered_alike_in_parts_and_as_a_whole(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_order, "LARGE", large or 2)
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


def test_lists_are_inverted_alike_by_one_and_by_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mining, "AT_ONCE", 3)
    monkeypatch.setattr(mining, "available_threads", lambda: 3)
    rng = random.Random(10)
    for _ in range(100):
        rows = [sorted(set(row)) for row in random_rows(rng, 6)]
        indptr, found = invert_side_by_side(*packed(rows), 9)
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
