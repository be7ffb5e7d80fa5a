"""PermMondrian against its twin."""

from __future__ import annotations

from setveil.models import PrivacyDegree
from tests.naive import degree as naive
from tests.naive.degree_cases import assert_degree, groups_of, random_cases, run


def test_permmondrian_forms_the_groups_of_its_twin() -> None:
    for data, records, sensitive, p in random_cases(5, 500):
        release = run("permmondrian", data, PrivacyDegree(p, sensitive))
        assert groups_of(release) == set(map(frozenset, naive.permmondrian(records, sensitive, p)))
        assert_degree(release, records, sensitive, p)
