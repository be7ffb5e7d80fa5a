"""Orderings against their literal definitions."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.errors import InputError
from setveil.orderings import gray_order, order_records, rcm_order
from setveil.orderings import rcm as rcm_module
from tests.naive import degree as naive

NAMES = ["Bob", "David", "Claire", "Andrea", "Ellen"]
SHOPPING = [
    ["wine", "meat"],
    ["wine", "meat"],
    ["strawberries", "cream"],
    ["strawberries", "meat"],
    ["wine", "meat", "cream"],
]


def random_records(rng: random.Random, n_items: int, max_records: int = 14) -> list[list[str]]:
    items = [f"i{number:02}" for number in range(n_items)]
    size = rng.randrange(max_records)
    return [rng.sample(items, rng.randint(0, rng.choice([min(2, n_items), n_items]))) for _ in range(size)]


def test_gray_order_of_the_papers_example() -> None:
    data = Transactions.from_lists(SHOPPING)
    printed = ["wine", "strawberries", "meat", "cream"]
    order = gray_order(data, [printed.index(label) for label in data.vocabulary])
    assert [NAMES[record] for record in order] == ["Andrea", "Claire", "Bob", "David", "Ellen"]


def test_gray_order_walks_the_whole_cube_one_item_at_a_time() -> None:
    items = "abcdef"
    cube = [[item for bit, item in enumerate(items) if number >> bit & 1] for number in range(64)]
    data = Transactions.from_lists(cube)
    walk = [set(cube[record]) for record in gray_order(data, "id")]
    assert all(len(one ^ two) == 1 for one, two in zip(walk, walk[1:], strict=False))


@pytest.mark.parametrize("n_items", [1, 4, 9, 30])
def test_gray_order_is_the_inverse_gray_code(n_items: int) -> None:
    rng = random.Random(n_items)
    for _ in range(300):
        records = random_records(rng, n_items)
        data = Transactions.from_lists(records)
        labels = list(data.vocabulary)
        assert gray_order(data, "id").tolist() == naive.gray_order(records, labels)
        by_frequency = sorted(labels, key=lambda label: -sum(label in record for record in records))
        assert gray_order(data).tolist() == naive.gray_order(records, by_frequency)
        shuffled = rng.sample(labels, len(labels))
        ranks = [shuffled.index(label) for label in labels]
        assert gray_order(data, ranks).tolist() == naive.gray_order(records, shuffled)


def test_gray_order_of_long_rows() -> None:
    rng = random.Random(7)
    items = [f"i{number:03}" for number in range(300)]
    base = rng.sample(items, 200)
    records = [base[: len(base) - rng.randrange(3)] + rng.sample(items, 2) for _ in range(60)]
    data = Transactions.from_lists(records)
    assert gray_order(data, "id").tolist() == naive.gray_order(records, list(data.vocabulary))


@pytest.mark.parametrize("bits", ["size", [0, 1], [0, 0, 1, 2], []])
def test_gray_order_rejects_a_bit_order_that_is_none(bits: object) -> None:
    with pytest.raises(InputError, match="bit order"):
        gray_order(Transactions.from_lists(SHOPPING), bits)  # type: ignore[arg-type]


def test_gray_order_of_nothing() -> None:
    assert gray_order(Transactions.from_lists([])).tolist() == []
    assert gray_order(Transactions.from_lists([[], []])).tolist() == [0, 1]
    assert gray_order(Transactions.from_lists([[], []])).dtype == np.int64


@pytest.mark.parametrize("n_items", [2, 5, 12, 30])
def test_rcm_order_walks_the_explicit_graph(n_items: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rcm_module, "RECORDS_PER_REPORT", 3)
    rng = random.Random(n_items)
    for _ in range(150):
        records = random_records(rng, n_items, max_records=20)
        data = Transactions.from_lists(records)
        assert rcm_order(data).tolist() == naive.rcm_order([frozenset(record) for record in records])


def test_rcm_order_puts_a_chain_in_line() -> None:
    links = [["a", "b"], ["d", "e"], ["b", "c"], ["e", "f"], ["c", "d"]]
    order = rcm_order(Transactions.from_lists(links)).tolist()
    assert [links[record][0] for record in order] in (list("abcde"), list("edcba"))


def test_rcm_order_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rcm_module, "RECORDS_PER_REPORT", 2)
    told: list[float | None] = []
    data = Transactions.from_lists([["a", str(number)] for number in range(9)])
    order_records(data, "rcm", lambda stage, share: told.append(share))
    assert told
    assert all(share is not None and 0 <= share <= 1 for share in told)


def test_similar_records_stand_together(real_data: Callable[[str], Path]) -> None:
    """On real data neighbours in either order are nearer than at random, in Gray order by far."""
    with gzip.open(real_data("BMS1.dat.gz"), "rt") as lines:
        data = Transactions.from_lists(line.split() for _, line in zip(range(10_000), lines, strict=False))

    def mean_gap(order: NDArray[np.int64]) -> float:
        rows = [set(data.record(int(record)).tolist()) for record in order]
        return float(np.mean([len(one ^ two) for one, two in zip(rows, rows[1:], strict=False)]))

    at_random = mean_gap(np.random.default_rng(0).permutation(data.n_records))
    assert mean_gap(gray_order(data)) < 0.6 * at_random
    assert mean_gap(rcm_order(data)) < 0.9 * at_random
