"""Algorithms for the privacy degree: against their twins, on the paper's example, and on bad input."""

from __future__ import annotations

import random

import numpy as np
import pytest
from naive import sensitive as naive

from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.cahd import CAHD
from setveil.algorithms.nn import NN
from setveil.algorithms.random_groups import RandomGroups
from setveil.core import Grouping, Transactions
from setveil.errors import InfeasibleError, InputError, SetveilWarning
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order, rcm_order

NAMES = ["Bob", "David", "Claire", "Andrea", "Ellen"]
SHOPPING = [
    ["wine", "meat", "viagra"],
    ["wine", "meat"],
    ["strawberries", "cream", "pregnancy test"],
    ["strawberries", "meat"],
    ["wine", "meat", "cream"],
]
SHOPPING_SECRETS = ["viagra", "pregnancy test"]


def groups_of(release: Grouping) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(release.group_of == group).tolist()) for group in range(release.n_groups)}


def random_case(rng: random.Random) -> tuple[list[frozenset[str]], list[str], int] | None:
    """Records, sensitive items and a degree that can be reached."""
    n_public, n_sensitive = rng.randint(1, 7), rng.randint(1, 4)
    public = [f"q{number}" for number in range(n_public)]
    sensitive = [f"s{number}" for number in range(n_sensitive)]
    share = rng.choice([0.05, 0.15, 0.3])
    records = [
        frozenset(rng.sample(public, rng.randint(0, n_public)) + [item for item in sensitive if rng.random() < share])
        for _ in range(rng.randint(1, 24))
    ]
    most = max(sum(item in record for record in records) for item in sensitive)
    if not most or len(records) // most < 2:
        return None
    return (
        records,
        [item for item in sensitive if any(item in record for record in records)],
        rng.randint(2, len(records) // most),
    )


def random_cases(seed: int, n_cases: int) -> list[tuple[Transactions, list[frozenset[str]], list[str], int]]:
    rng = random.Random(seed)
    cases = []
    while len(cases) < n_cases:
        case = random_case(rng)
        if case is not None:
            cases.append((Transactions.from_lists(sorted(record) for record in case[0]), *case))
    return cases


def assert_degree(release: Grouping, records: list[frozenset[str]], sensitive: list[str], p: int) -> None:
    groups = [[records[number] for number in group] for group in groups_of(release)]
    assert naive.degree_holds(groups, sensitive, p)
    assert sorted(number for group in groups_of(release) for number in group) == list(range(len(records)))
    assert release.transactions() == [set(record) - set(sensitive) for record in records]


@pytest.mark.parametrize("kind", ["hamming", "common", "jaccard"])
def test_nn_forms_the_groups_of_its_twin(kind: str) -> None:
    for data, records, sensitive, p in random_cases(1, 700):
        release = NN(distance=kind).run(data, PrivacyDegree(p, sensitive), Context())
        assert groups_of(release) == set(map(frozenset, naive.nn(records, sensitive, p, kind)))
        assert_degree(release, records, sensitive, p)


@pytest.mark.parametrize("ordering", ["gray", "rcm"])
@pytest.mark.parametrize("absorb", [False, True])
def test_cahd_forms_the_groups_of_its_twin(ordering: str, absorb: bool) -> None:
    rng = random.Random(2)
    for data, records, sensitive, p in random_cases(3, 500):
        alpha, kind = rng.randint(1, 2), rng.choice(["hamming", "common", "jaccard"])
        public = data.keep_items(np.array([label not in sensitive for label in data.vocabulary])).used_items()
        order = (gray_order(public) if ordering == "gray" else rcm_order(public)).tolist()
        algorithm = CAHD(ordering=ordering, alpha=alpha, distance=kind, absorb=absorb)
        release = algorithm.run(data, PrivacyDegree(p, sensitive), Context())
        assert groups_of(release) == set(map(frozenset, naive.cahd(records, sensitive, p, order, alpha, kind, absorb)))
        assert_degree(release, records, sensitive, p)
