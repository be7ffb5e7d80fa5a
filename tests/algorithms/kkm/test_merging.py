"""RMERGE, TMERGE and RTMERGE against their slow twin."""

from __future__ import annotations

import pytest

from setveil.algorithms.kkm.merging import Merging, RMerge, RTMerge, TMerge
from tests.naive.kkm_merging import assert_clusters_of_the_twin, assert_safe_releases

ALGORITHMS = (RMerge, TMerge, RTMerge)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_clusters_are_those_of_the_slow_twin(algorithm: type[Merging]) -> None:
    assert_clusters_of_the_twin(algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_releases_are_safe_with_hierarchies_diversity_and_either_bound(algorithm: type[Merging]) -> None:
    assert_safe_releases(algorithm)
