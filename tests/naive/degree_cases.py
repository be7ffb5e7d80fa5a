"""Random cases for the privacy degree, and what holds of their groups."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from setveil.algorithms import find, make_algorithm
from setveil.algorithms.base import Context
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping
from tests.naive import degree as naive


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
    records = naive.publishable(records, sensitive)
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
    cases: list[tuple[Transactions, list[frozenset[str]], list[str], int]] = []
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


def run(name: str, data: Transactions, model: PrivacyDegree, seed: int = 0, **options: Any) -> Grouping:
    release = make_algorithm(find(name).load(), name, options).run(data, model, Context(seed=seed))
    assert isinstance(release, Grouping)
    return release
