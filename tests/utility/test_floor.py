"""The least error of pair counts, against every count that a release may show."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.models import NUMBERS
from setveil.report.compare_page import map_chart
from setveil.utility.avg_re import least_error, true_supports, workload_t
from setveil.utility.floor import pair_floor
from setveil.workflows.compare import crowds_of
from tests.naive.databases import random_records


def test_no_allowed_count_is_nearer() -> None:
    source = random.Random(8)
    n_above = 0
    for _ in range(150):
        data = Transactions.from_lists(random_records(source, 14))
        k = source.randint(2, 5)
        floor = pair_floor(data, k, n=40)
        if not any(len(row) > 1 for row in data.to_lists()):
            assert floor is None
            continue
        queries = workload_t(data, 40, 2, 0)
        truth = true_supports(data, queries).tolist()
        rows = [set(row) for row in data.to_lists()]
        assert truth == [sum(set(pair) <= row for row in rows) for pair in queries.to_lists()]
        allowed = [0, *range(k, len(rows) + k)]
        best = sum(min(abs(count - t) / t for count in allowed) for t in truth) / len(truth)
        assert floor == pytest.approx(best)
        n_above += floor > 0
    assert n_above > 50


def test_releases_that_suppress_stay_above_it() -> None:
    """Their counts are read off as published: 0 or at least k."""
    data = sv.generate("quest", D=300, T=5, I=3, N=30, L=20, seed=1)
    for k in (3, 6):
        release = sv.anonymize(data, "km", k=k, m=2, algorithm="trim", options={"effort": "fast"})
        rows = release.transactions()
        pairs = {pair for row in rows for pair in combinations(sorted(row), 2)}
        assert all(sum(set(pair) <= row for row in rows) >= k for pair in pairs)
        error, floor = least_error(data, release), pair_floor(data, k)
        assert error is not None and floor is not None and error >= floor > 0


def test_settings_about_single_items_have_no_floor_of_pairs() -> None:
    settings = ({"k": 5, "m": 2}, {"k": 7, "m": "all"}, {"k": 9}, {"k": 3, "m": 1}, {"k": 2, "m": 0}, {"p": 4})
    assert crowds_of(settings) == {5, 7, 9}


def test_the_map_has_every_model_and_the_floors() -> None:
    known = dict.fromkeys((*NUMBERS, "kl"))
    row = {**known, "status": "ok", "algorithm": "trim", "hierarchy": "", "options": "", "published_items": 9}
    rows = [
        {**row, "id": "a", "model": "km", "singled_out": 0.2, "avg_re": 0.1, "k": 5, "m": 2},
        {**row, "id": "b", "model": "k-anonymity", "singled_out": 0.0, "avg_re": 0.6, "k": 5},
        {**row, "id": "c", "model": "degree", "singled_out": 0.9, "avg_re": 0.0, "p": 5, "kl": 0.1},
        {**row, "id": "d", "model": "km", "status": "time"},
    ]
    drawn = map_chart(rows, {5: 0.05})
    assert drawn is not None
    assert [name for _, name in drawn["key"]] == ["km", "k-anonymity", "degree"]
    assert drawn["chart"].count("<a href") == 3 and "floor at k=5: 5.0 %" in drawn["chart"]
    assert "Groupings" in drawn["how"]
    assert map_chart([], {}) is None
