"""LSH: buckets, neighbours and the number of tables."""

from __future__ import annotations

import numpy as np

from setveil.algorithms.base import Context
from setveil.algorithms.degree.groups import split_records
from setveil.algorithms.degree.lsh import LSH
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from tests.naive import degree as naive
from tests.naive.degree_cases import random_cases, run


def test_lsh_looks_only_into_its_buckets() -> None:
    for data, _, sensitive, p in random_cases(15, 150):
        split = split_records(data, PrivacyDegree(p, sensitive))
        public = [frozenset(row) for row in split.public.to_lists()]
        for projection in ("frequency", "uniform"):
            algorithm = LSH(w=2, B=3, projection=projection)
            tables = algorithm._build_tables(split, 3, Context(seed=4))
            rng = np.random.default_rng((4, 0x15A))
            supports, n_items = split.public.supports, split.public.n_items
            chance = supports / supports.sum() if projection == "frequency" and n_items else None
            drawn = [rng.choice(n_items, min(2, n_items), False, chance).tolist() for _ in range(3)] if n_items else []
            items = [[split.public.vocabulary[item] for item in table] for table in drawn] or [[]] * 3
            for number, seed in enumerate(split.telling.tolist()):
                spans = zip(tables.first[number], tables.last[number], strict=True)
                found = {int(n) for first, last in spans for n in tables.records[first:last]} - {seed}
                assert found == naive.lsh_candidates(public, seed, items, projection == "uniform")


def test_lsh_finds_the_exact_neighbours_if_its_buckets_hold_everybody() -> None:
    for data, _, sensitive, p in random_cases(16, 100):
        rare = Transactions.from_lists([*data.to_lists(), ["other"]])  # projected on "other", all records but one agree
        exact = run("nn", rare, PrivacyDegree(p, sensitive))
        approximate = run("lsh", rare, PrivacyDegree(p, sensitive), w=1, B=200, projection="uniform")
        assert (approximate.group_of == exact.group_of).all()


def test_number_of_tables_follows_equation_6() -> None:
    assert LSH()._number_of_tables() == 32
    assert LSH(delta=0.1)._number_of_tables() == 66  # not the 32 that the paper prints
