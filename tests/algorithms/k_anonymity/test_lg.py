"""LG against its twin, its promise on random databases, and figures on real data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity.lg import LG
from setveil.core import Hierarchy, Transactions
from setveil.models import KAnonymity
from setveil.releases import LocalRecoding
from setveil.verify import verify
from tests.naive import lg as naive
from tests.naive.km_cases import LIU_WANG, LIU_WANG_TREE, cases


def run_lg(data: Transactions, tree: Hierarchy, model: KAnonymity) -> LocalRecoding:
    return LG().run(data, model, Context(hierarchy=tree))


def test_lg_example_of_liu_and_wang() -> None:
    release = run_lg(Transactions.from_lists(LIU_WANG), LIU_WANG_TREE, KAnonymity(2))
    assert ["".join(sorted(row)) for row in release.transactions()] == ["T", "Pfg", "KMf", "KMf", "Pfg", "T", "T", "T"]


def test_lg_is_its_twin_and_keeps_its_promise() -> None:
    n_suppressed = 0
    for data, tree, k in cases(600, seed=11, items="abcdefghij"):
        release = run_lg(data, tree, KAnonymity(k))
        rows = data.to_lists()
        assert Counter(zip(map(tuple, rows), map(frozenset, release.transactions()), strict=True)) == naive.lg(
            rows, tree, k
        )
        assert verify(release, KAnonymity(k)).holds
        n_suppressed += bool(release.details["suppressed_records"])
    assert n_suppressed > 10, "a few empty records are among the cases"


def test_lg_leaves_sensitive_items_alone() -> None:
    source = Random(8)
    for data, tree, k in cases(150, seed=12):
        hidden = set(source.sample("abcdefgh", 2))
        model = KAnonymity(k, sorted(hidden))
        release = run_lg(data, tree, model)
        assert verify(release, model).holds
        for before, after in zip(data.to_lists(), release.transactions(), strict=True):
            assert after & hidden == set(before) & hidden


def test_lg_does_not_depend_on_record_order_even_with_sensitive_items() -> None:
    source = Random(9)
    for data, tree, k in cases(200, seed=13):
        rows = data.to_lists()
        model = KAnonymity(k, ["a", "c", "e"])
        published = Counter(map(frozenset, run_lg(data, tree, model).transactions()))
        source.shuffle(rows)
        again = run_lg(Transactions.from_lists(rows), tree, model)
        assert Counter(map(frozenset, again.transactions())) == published


def test_lg_says_what_it_cannot_do() -> None:
    data = Transactions.from_lists(LIU_WANG)
    with pytest.raises(sv.InputError, match="l=2"):
        run_lg(data, LIU_WANG_TREE, KAnonymity(2, ["a"], 2))
    with pytest.raises(sv.InfeasibleError, match="fewer than k=9"):
        run_lg(data, LIU_WANG_TREE, KAnonymity(9))
    with pytest.raises(sv.InfeasibleError, match="there are 3 records"):
        run_lg(Transactions.from_lists([[], [], []]), LIU_WANG_TREE, KAnonymity(4))


def test_lg_on_real_data(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(real_data("groceries_taxonomy.csv"))
    release = run_lg(data, tree, KAnonymity(5))
    assert verify(release, KAnonymity(5)).holds
    assert sv.measure(data, release)["ncp"] < 0.3
