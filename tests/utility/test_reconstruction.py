"""Queries on groupings and what they lose."""

from __future__ import annotations

import gzip
import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from setveil.algorithms import Context, find
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from setveil.utility.reconstruction import (
    PROTOCOLS,
    Query,
    draw_queries,
    kl_divergences,
    query,
)
from tests.naive import degree as naive

PUBLIC, SECRETS = list("abcde"), ["x", "y"]

# The paper's Figure 1d: {Bob, David, Ellen} and {Andrea, Claire}.
SHOPPING = [
    ["wine", "meat", "viagra"],
    ["wine", "meat"],
    ["strawberries", "cream", "pregnancy test"],
    ["strawberries", "meat"],
    ["wine", "meat", "cream"],
]
FIGURE_1D = [0, 0, 1, 1, 0]


def figure_1d() -> Grouping:
    return Grouping.from_groups(Transactions.from_lists(SHOPPING), np.array(FIGURE_1D), ["viagra", "pregnancy test"])


def random_grouping(rng: random.Random) -> tuple[Transactions, Grouping, list[list[frozenset[str]]]]:
    n_groups = rng.randint(1, 4)
    records = [
        frozenset(rng.sample(PUBLIC, rng.randint(0, 5)) + [item for item in SECRETS if rng.random() < 0.3])
        for _ in range(rng.randint(1, 14))
    ]
    group_of = [rng.randrange(n_groups) for _ in records]
    groups = [[r for r, g in zip(records, group_of, strict=True) if g == group] for group in sorted(set(group_of))]
    data = Transactions.from_lists(sorted(record) for record in records)
    return data, Grouping.from_groups(data, np.array(group_of), SECRETS), groups


def test_query_on_the_papers_groups() -> None:
    release = figure_1d()
    found = query(release, "pregnancy test", ["cream", "strawberries"])
    assert (found.estimate, found.low, found.high) == (0.5, 0, 1)
    assert query(release, "pregnancy test", ["cream"], ["meat"]).estimate == 0.5  # Figure 2: all of 1, estimated half
    everyone = query(release, "viagra")
    assert (everyone.estimate, everyone.low, everyone.high) == (1.0, 1, 1)
    assert query(release, "viagra", ["wine", "meat"]).low == 1  # every record of the group fits


def test_query_is_the_mean_over_all_placements() -> None:
    rng = random.Random(5)
    for _ in range(600):
        data, release, groups = random_grouping(rng)
        occurring = [item for item in PUBLIC if item in release.published.vocabulary]
        wanted = set(rng.sample(occurring, rng.randint(0, min(2, len(occurring)))))
        unwanted = set(rng.sample(occurring, rng.randint(0, min(2, len(occurring))))) - wanted
        for item in SECRETS:
            expected, low, high = naive.estimate(groups, SECRETS, item, wanted, unwanted)
            found = query(release, item, wanted, unwanted)
            assert found.estimate == pytest.approx(float(expected))
            assert (found.low, found.high) == (low, high)
            truth = sum(item in r and wanted <= r and not unwanted & r for r in map(set, data.to_lists()))
            assert found.low <= truth <= found.high


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("wine", [], []), "not a sensitive item"),
        (("viagra", ["viagra"], []), "is sensitive"),
        (("viagra", ["beer"], []), 'unknown public item "beer"'),
        (("viagra", ["wine"], ["wine"]), "asked for and excluded"),
    ],
)
def test_query_rejects_what_cannot_be_asked(asked: tuple[str, list[str], list[str]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        query(figure_1d(), *asked)


def test_divergence_is_its_definition() -> None:
    rng = random.Random(6)
    for _ in range(400):
        data, release, groups = random_grouping(rng)
        items = [item for item in SECRETS if item in data.vocabulary]
        if not items:
            continue
        asked = Query(rng.choice(items), tuple(rng.sample(PUBLIC, rng.randint(0, 4))))
        found = kl_divergences(data, release, [asked])[0]
        assert found == pytest.approx(naive.kl_divergence(groups, asked.sensitive, asked.items), abs=1e-12)


def kl_error(
    data: Transactions, release: Grouping, protocol: str = "uniform", r: int = 4, n_queries: int = 20, seed: int = 0
) -> float:
    queries = draw_queries(data, release.sensitive, protocol, r, n_queries, seed)
    return float(kl_divergences(data, release, queries).mean())


def test_error_is_zero_if_groups_are_uniform_and_the_same_for_any_order() -> None:
    data = Transactions.from_lists([["a", "x"], ["a"], ["b", "c"], ["b", "c", "x"]])
    release = Grouping.from_groups(data, np.array([0, 0, 1, 1]), ["x"])
    assert all(kl_error(data, release, protocol, r=2, n_queries=20) == 0 for protocol in PROTOCOLS)
    data = Transactions.from_lists([["a", "x"], ["a"], ["b", "c"], ["b", "c"]])
    mixed = Grouping.from_groups(data, np.array([0, 1, 0, 1]), ["x"])
    other = data.select(np.array([3, 1, 0, 2]))
    again = Grouping.from_groups(other, np.array([1, 1, 0, 0]), ["x"])
    assert kl_error(data, mixed, r=2, n_queries=20) > 0
    assert kl_error(data, mixed, r=2, n_queries=20) == pytest.approx(kl_error(data, again, r=2, n_queries=20))


def test_queries_follow_their_protocol() -> None:
    rows = [["common", "x", "near"]] + [["common"]] * 30 + [["rare", "y"], ["common", "y"]]
    data = Transactions.from_lists(rows)
    for protocol in PROTOCOLS:
        queries = draw_queries(data, ["x", "y", "absent"], protocol, 1, 400, seed=1)
        assert queries == draw_queries(data, ["x", "y", "absent"], protocol, 1, 400, seed=1)
        assert {asked.sensitive for asked in queries} == {"x", "y"}
        first = [asked.items[0] for asked in queries if asked.sensitive == "x"]
        share = first.count("common") / len(first)
        assert share == pytest.approx({"uniform": 1 / 3, "frequency": 32 / 34, "cooccurring": 1 / 2}[protocol], abs=0.1)
        assert ("rare" in first) == (protocol != "cooccurring")
    assert all(len(asked.items) == 4 for asked in draw_queries(data, ["x"], "uniform", 8, 5, seed=0))
    assert draw_queries(data, ["absent"], "uniform", 2, 5, seed=0) == []
    with pytest.raises(InputError, match="protocol"):
        draw_queries(data, ["x"], "other", 2, 5, seed=0)
    with pytest.raises(InputError, match="r, the number"):
        draw_queries(data, ["x"], "uniform", 0, 5, seed=0)


def test_suppressed_occurrences_cost_something_finite() -> None:
    data = Transactions.from_lists([["a", "x"], ["b", "x"], ["c"], ["d"]])
    fewer = Transactions.from_lists([["a", "x"], ["b"], ["c"], ["d"]])
    release = Grouping.from_groups(fewer, np.array([0, 1, 0, 1]), ["x"])
    assert 0 < kl_error(data, release, r=2, n_queries=50) < math.inf


@pytest.mark.slow
def test_the_default_has_the_lowest_error_on_real_data(real_data: Callable[[str], Path]) -> None:
    """Mean over two seeds; a seed draws the sensitive items and the queries, the same for every algorithm."""
    with gzip.open(real_data("BMS2.dat.gz"), "rt") as lines:
        data = Transactions.from_lists(line.split() for line in lines)
    errors: dict[str, list[list[float]]] = {}
    for seed in range(2):
        drawn = np.random.default_rng(seed).choice(data.n_items, size=10, replace=False)
        model = PrivacyDegree(10, [data.vocabulary[int(item)] for item in drawn])
        for name in ("nn+", "nn", "cahd", "random"):
            release = find(name).load()().run(data, model, Context(seed=seed))
            assert isinstance(release, Grouping)
            row = [kl_error(data, release, protocol, n_queries=300, seed=seed) for protocol in PROTOCOLS]
            errors.setdefault(name, []).append(row)
    mean = {name: np.mean(rows, axis=0) for name, rows in errors.items()}
    assert all((mean["nn+"] < mean[other]).all() for other in ("nn", "cahd", "random")), mean
    assert all((mean[other] < mean["random"]).all() for other in ("nn", "cahd")), mean
