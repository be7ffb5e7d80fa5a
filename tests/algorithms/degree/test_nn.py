"""NN against its twin."""

from __future__ import annotations

import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.degree.nn import NN
from setveil.models import PrivacyDegree
from tests.naive import degree as naive
from tests.naive.degree_cases import assert_degree, groups_of, random_cases


@pytest.mark.parametrize("kind", ["hamming", "common", "jaccard"])
def test_nn_forms_the_groups_of_its_twin(kind: str) -> None:
    for data, records, sensitive, p in random_cases(1, 400):
        release = NN(distance=kind).run(data, PrivacyDegree(p, sensitive), Context())
        assert groups_of(release) == set(map(frozenset, naive.nn(records, sensitive, p, kind)))
        assert_degree(release, records, sensitive, p)
