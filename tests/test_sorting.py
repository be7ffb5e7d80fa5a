"""Sorting inside kernels, the verifier's own included."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.kernels.sorting import sort_values, stable_order
from setveil.verify.counting import _sort


@pytest.mark.parametrize("n", [0, 1, 2, 3, 24, 25, 200])
def test_sorts_agree_with_numpy(n: int) -> None:
    random = np.random.default_rng(n)
    for most in (1, 5, 10_000):
        for _ in range(30):
            values = random.integers(-most, most, size=n)
            for sort, given in ((sort_values, values.copy()), (_sort, values.astype(np.int32))):
                sort(given)
                assert given.tolist() == sorted(values.tolist())
            assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()
            assert stable_order(values / 3).tolist() == np.argsort(values / 3, kind="stable").tolist()
