"""Permutations whose places are found one by one."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.arrays.sampling import scatter


@pytest.mark.parametrize("n", [1, 2, 3, 5, 16, 17, 1000, 65537])
def test_no_two_places_meet(n: int) -> None:
    for seed in range(3):
        found = scatter(np.arange(n), n, seed)
        assert (np.sort(found) == np.arange(n)).all()
        some = np.arange(0, n, 3)
        assert (scatter(some, n, seed) == found[some]).all()
    assert not len(scatter(np.arange(0), n, 0))


def test_every_place_and_every_pair_of_places_is_as_likely() -> None:
    n, n_draws = 12, 6000
    places, pairs = np.zeros((n, n)), np.zeros((n, n))
    for seed in range(n_draws):
        found = scatter(np.arange(n), n, seed)
        places[np.arange(n), found] += 1
        pairs[found[0], found[1]] += 1
    for table, expected in ((places, n_draws / n), (pairs[~np.eye(n, dtype=bool)], n_draws / (n * (n - 1)))):
        assert 0.7 < ((table - expected) ** 2 / expected).mean() < 1.3
