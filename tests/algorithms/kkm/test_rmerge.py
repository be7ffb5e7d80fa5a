"""RMERGE against its slow twin."""

from __future__ import annotations

from setveil.algorithms.kkm.rmerge import RMerge
from tests.naive.kkm_merging import assert_clusters_of_the_twin, assert_safe_releases


def test_clusters_are_those_of_the_slow_twin() -> None:
    assert_clusters_of_the_twin(RMerge)


def test_releases_are_safe_with_hierarchies_diversity_and_either_bound() -> None:
    assert_safe_releases(RMerge)
