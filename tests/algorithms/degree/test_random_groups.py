"""Random groups: the degree, and nothing but chance."""

from __future__ import annotations

from collections import Counter

from setveil.core import Transactions
from setveil.models import PrivacyDegree
from tests.naive.degree_cases import assert_degree, groups_of, random_cases, run


def test_the_degree_holds() -> None:
    for number, (data, records, sensitive, p) in enumerate(random_cases(6, 500)):
        assert_degree(run("random", data, PrivacyDegree(p, sensitive), number), records, sensitive, p)


def test_likeness_does_not_matter() -> None:
    """One holder of a sensitive item, two records like hers and six others: each is her partner equally often."""
    data = Transactions.from_lists([["a", "b", "s"], ["a", "b"], ["a", "b"], *(["c", f"d{n}"] for n in range(6))])
    partners: Counter[int] = Counter()
    for seed in range(800):
        groups = groups_of(run("random", data, PrivacyDegree(2, ["s"]), seed))
        partners.update(next(group for group in groups if 0 in group) - {0})
    assert sum(partners.values()) == 800
    assert all(60 <= partners[record] <= 145 for record in range(1, 9))  # 100 expected, standard deviation 9.4
