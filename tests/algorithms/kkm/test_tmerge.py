"""TMERGE against its slow twin."""

from __future__ import annotations

from setveil.algorithms.kkm.tmerge import TMerge
from tests.naive.kkm_merging import assert_clusters_of_the_twin, assert_safe_releases


def test_clusters_are_those_of_the_slow_twin() -> None:
    assert_clusters_of_the_twin(TMerge)


def test_releases_are_safe_with_hierarchies_diversity_and_either_bound() -> None:
    assert_safe_releases(TMerge)
