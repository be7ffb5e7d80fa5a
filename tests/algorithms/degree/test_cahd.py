"""CAHD against its twin."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.degree.cahd import CAHD
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order, rcm_order
from tests.naive import degree as naive
from tests.naive.degree_cases import assert_degree, groups_of, random_cases


@pytest.mark.parametrize("ordering", ["gray", "rcm"])
@pytest.mark.parametrize("absorb", [False, True])
def test_cahd_forms_the_groups_of_its_twin(ordering: str, absorb: bool) -> None:
    rng = random.Random(2)
    for data, records, sensitive, p in random_cases(3, 300):
        alpha, kind = rng.randint(1, 2), rng.choice(["hamming", "common", "jaccard"])
        canonical = np.array(naive.canonical_order(records, sensitive))
        public = data.select(canonical).keep_items(np.array([label not in sensitive for label in data.vocabulary]))
        sequence = gray_order(public.used_items()) if ordering == "gray" else rcm_order(public.used_items())
        order = canonical[sequence].tolist()
        algorithm = CAHD(ordering=ordering, alpha=alpha, distance=kind, absorb=absorb)
        release = algorithm.run(data, PrivacyDegree(p, sensitive), Context())
        assert groups_of(release) == set(map(frozenset, naive.cahd(records, sensitive, p, order, alpha, kind, absorb)))
        assert_degree(release, records, sensitive, p)
