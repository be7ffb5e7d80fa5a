"""Parts of records that k records show, beside their twin by sets."""

from __future__ import annotations

import random

import numpy as np

import setveil as sv
from setveil.algorithms import Context
from setveil.algorithms.km.whole_records import show_common_parts
from tests.naive.whole_records import common_parts


def random_rows(rng: random.Random) -> sv.Transactions:
    items = "abcdefgh"[: rng.randint(2, 8)]
    weights = [1 / (number + 1) for number in range(len(items))]
    return sv.Transactions.from_lists(
        [sorted(set(rng.choices(items, weights, k=rng.randint(0, 6)))) for _ in range(rng.randint(2, 25))]
    )


def shown_parts(rows: sv.Transactions, kept: np.ndarray) -> list[set[int]]:
    return [
        set(rows.items[start:end][kept[start:end]].tolist())
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]


def test_as_its_twin_does() -> None:
    rng = random.Random(2)
    n_shown = n_suppressed = 0
    for _ in range(1500):
        rows, k = random_rows(rng), rng.randint(2, 4)
        value = np.array([rng.choice((0.5, 1.0, 4.0)) for _ in range(rows.n_items)])
        kept = show_common_parts(rows, k, value, Context())
        records = [set(rows.items[a:b].tolist()) for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
        shown = shown_parts(rows, kept)
        assert shown == common_parts(records, k, value.tolist())
        assert all(sum(one <= other for other in shown) >= k for one in shown if one)
        n_shown, n_suppressed = n_shown + int(kept.sum()), n_suppressed + int((~kept).sum())
    assert n_shown > 5000 and n_suppressed > 5000


def test_items_that_stay() -> None:
    """What is shown of some items, safe by itself, stays; the rest is shown beside it."""
    rng = random.Random(4)
    n_more = 0
    for _ in range(600):
        rows, k = random_rows(rng), rng.randint(2, 3)
        first = rows.select(np.repeat(np.arange(rows.n_records), k))  # every record k times: all of it is safe
        stays = np.array([rng.random() < 0.5 for _ in range(first.n_items)])
        kept = show_common_parts(first, k + 1, np.ones(first.n_items), Context(), stays)
        assert kept[stays[first.items]].all()
        shown = shown_parts(first, kept)
        fixed = shown_parts(first, stays[first.items])
        is_safe = all(sum(one <= other for other in fixed) > k for one in fixed if one)
        assert not is_safe or all(sum(one <= other for other in shown) > k for one in shown if one)
        n_more += int(kept.sum() - stays[first.items].sum()) * is_safe
    assert n_more > 100
