"""pluck against brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest

import setveil as sv
from tests.naive import uncertainty as naive

SENSITIVE = ("s", "t")


def random_records(chance: random.Random, most: int = 10) -> list[frozenset[str]]:
    items = "abcd"[: chance.randint(1, 4)] + "st"[: chance.randint(1, 2)]
    share = chance.choice((0.3, 0.5, 0.7))
    drawn = [frozenset(item for item in items if chance.random() < share) for _ in range(chance.randint(1, most))]
    return [*drawn, frozenset("a"), frozenset(items[-1])]


def least(records: list[frozenset[str]], rho: Fraction, p: int | None) -> int:
    """The fewest entries of sensitive items that can be suppressed, by trying."""
    entries = [(number, item) for number, record in enumerate(records) for item in sorted(record & set(SENSITIVE))]
    for size in range(len(entries) + 1):
        for gone in combinations(entries, size):
            left = [record - {item for row, item in gone if row == number} for number, record in enumerate(records)]
            if not naive.violated(left, SENSITIVE, rho, p):
                return size
    raise AssertionError


def pluck(records: list[frozenset[str]], rho: str, p: int | str) -> sv.LocalRecoding:
    data = sv.Transactions.from_lists([sorted(record) for record in records])
    release = sv.anonymize(data, sv.Uncertainty(rho, SENSITIVE, p), "pluck")
    assert isinstance(release, sv.LocalRecoding)
    return release


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_a_thousand_random_databases_are_safe_and_bounded_below() -> None:
    chance = random.Random(30)
    n_least = n_tried = 0
    for number in range(1000):
        records = random_records(chance)
        rho, p = chance.choice(("1/3", "1/2", "1/5", "2/3")), chance.choice(("all", 1, 2))
        release = pluck(records, rho, p)
        size = None if p == "all" else p
        left = [frozenset(record) for record in release.published.to_lists()]
        assert not naive.violated(left, SENSITIVE, Fraction(rho), size)
        for before, after in zip(records, left, strict=True):
            assert before - set(SENSITIVE) == after - set(SENSITIVE)
            assert after <= before
        suppressed = sum(map(len, records)) - sum(map(len, left))
        assert release.details["entries_suppressed"] == suppressed
        assert release.details["lower_bound"] <= suppressed
        assert release.details["proven"] == (release.details["lower_bound"] == suppressed)
        if number % 5 == 0 and sum(len(record & set(SENSITIVE)) for record in records) <= 9:
            best = least(records, Fraction(rho), size)
            n_tried += 1
            n_least += best == suppressed
            assert release.details["lower_bound"] <= best <= suppressed
            if release.details["proven"]:
                assert best == suppressed
    assert n_tried > 50
    assert n_least > 0.9 * n_tried


def test_two_sensitive_items_together_need_one_entry_only() -> None:
    release = pluck([frozenset("st"), frozenset("a"), *[frozenset()] * 5], "1/2", "all")
    assert release.details["entries_suppressed"] == 1


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_neither_record_order_nor_a_second_run_matters() -> None:
    chance = random.Random(5)
    for _ in range(30):
        records = random_records(chance, 14)
        shuffled = chance.sample(records, len(records))
        first, second, again = (pluck(rows, "1/3", "all") for rows in (records, shuffled, records))
        assert first.published.to_lists() == again.published.to_lists()
        assert sorted(first.published.to_lists()) == sorted(second.published.to_lists())
