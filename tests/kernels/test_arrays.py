"""Arrays that compiled loops make are what NumPy makes, whatever compiles them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.dispatcher import Dispatcher

from setveil.kernels import compiled


@compiled
def make_all(n: int, width: int) -> tuple[Any, ...]:
    """Types by name and by place, one dimension and two, what fills them of another type, and what Numba sees to."""
    flat = np.empty(n, np.int32)
    for at in range(n):
        flat[at] = at
    table = np.zeros((n, width), dtype=np.uint8)
    full = np.full(shape=(width, n), fill_value=-1, dtype=np.float64)
    return flat, table, full, np.full(3, True, dtype=np.bool_), np.zeros(0, dtype=np.uint64), np.zeros(width)


@compiled
def make_negative(n: int) -> int:
    """No such array."""
    return len(np.empty(n, dtype=np.int64))


@pytest.fixture(autouse=True)
def compile_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel in (make_all, make_negative):
        monkeypatch.setattr(kernel.dispatcher, "_cache", NullCache())  # type: ignore[attr-defined]


def test_arrays_are_those_of_numpy() -> None:
    for _ in range(100):  # memory that was used before
        for mine, theirs in zip(make_all(5, 3), make_all.loop(5, 3), strict=True):  # type: ignore[attr-defined]
            assert mine.dtype == theirs.dtype
            assert mine.flags.c_contiguous
            np.testing.assert_array_equal(mine, theirs)


def test_a_negative_size_is_an_error() -> None:
    with pytest.raises(ValueError, match="negative dimensions"):
        make_negative(-1)


def test_loops_of_others_are_compiled_beside() -> None:
    """The way in which arrays are made is noted where Numba looks for its own: both have to find theirs."""
    before, between, after = (_make_two() for _ in range(3))
    assert before(4) == 14
    make_all(5, 3)
    assert between(4) == 14
    make_negative(3)
    assert after(4) == 14


def _make_two() -> Dispatcher:
    def make_two(n: int) -> int:
        return np.full(n, 3, dtype=np.int64).sum() + np.zeros((n, 2), dtype=np.uint8).sum() + len(np.empty(2))

    return numba.njit(make_two)
