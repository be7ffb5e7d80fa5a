"""RMERGE, TMERGE and RTMERGE: the same clusters as their slow twin, and safe releases."""

from __future__ import annotations

from typing import Literal

import numpy as np

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.kkm.merging import Clusters, Merging
from setveil.algorithms.kkm.people import People
from setveil.core import Hierarchy
from setveil.models import KKmAnonymity
from tests.naive.kkm import kkm, people_of
from tests.naive.kkm_cases import random_people
from tests.naive.kkm_classes import merged


def assert_clusters_of_the_twin(kind: type[Merging]) -> None:
    n_compared = 0
    for seed in range(100):
        random = np.random.default_rng(seed)
        data = random_people(random, 30)
        ms: tuple[int | Literal["all"], ...] = (0, 1, 2, "all")
        m = ms[int(random.integers(4))]
        model, delta = KKmAnonymity(k=int(random.integers(2, 5)), m=m), float(random.choice([0.2, 0.5, 0.8, 1.0]))
        try:
            people = People.of(data, model)
        except sv.InfeasibleError:
            continue
        members = [
            (tuple(people.cells[people.cell_of[place]].tolist()), tuple(people.rows.record(place).tolist()))
            for place in range(people.n_records)
        ]
        expected = merged(people.trees, members, model.k, 2 if m == "all" else int(m), kind.__name__.lower(), delta)
        clusters = Clusters(people, Context())
        if expected is None:
            assert "before any merge" in refusal(kind(delta=delta), data, model)
            continue
        clusters.merge(kind(delta=delta), delta, 0.0)
        found = [[members[place] for place in own.tolist()] for own in clusters.members if len(own)]
        assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
        assert kind(delta=delta).run(data, model, Context()).details["loss_of_columns"] <= delta + 1e-9
        n_compared += 1
    assert n_compared > 50


def refusal(algorithm: Merging, data: sv.Transactions, model: KKmAnonymity) -> str:
    """Why there is no release."""
    try:
        algorithm.run(data, model, Context())
    except sv.InfeasibleError as problem:
        return str(problem)
    return ""


def assert_safe_releases(kind: type[Merging]) -> None:
    n_feasible = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        data = random_people(random)
        has_secret = any(column.role == "sensitive" for column in data.columns or ())
        model = KKmAnonymity(k=2, m=2, sensitive=["0"] if seed % 3 == 0 else (), l=2 if has_secret else 1)
        tree = Hierarchy.balanced(data, 2) if data.n_items and seed % 2 else None
        bound, delta = ("columns", "items")[seed % 2], (0.6, 1.0)[seed % 5 > 2]
        try:
            release = kind(delta=delta, bound=bound).run(data, model, Context(tree))
        except sv.InfeasibleError:
            continue
        n_feasible += 1
        names = [column.name for column in data.columns or () if column.role == "known"]
        assert not kkm(people_of(release.published.rows), names, model, set(model.sensitive))[0]
        assert sv.verify(release, model).holds
        assert release.details[f"loss_of_{bound}"] <= delta + 1e-9
    assert n_feasible > 20
