"""Loops that other compiled loops call: one version for all whole numbers, the same results as from Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba.core.caching import NullCache

from setveil.kernels import Kernel, compiled


@compiled
def shifted(number: int, by: int) -> int:
    """A part of both loops below."""
    return number * 3 + by


@compiled
def total(numbers: np.ndarray, start: int) -> int:
    """Calls it with a constant, with short and with long integers."""
    result = shifted(1, 2)
    for index in range(len(numbers)):
        result += shifted(numbers[index], start)
    return result


@compiled
def mixed(bits: np.ndarray, share: float) -> float:
    """Unsigned and broken numbers stay what they are."""
    return halved(bits[0]) + halved(share)


@compiled
def halved(number: Any) -> Any:
    """Calls none."""
    return number / 2


@pytest.fixture(autouse=True)
def compile_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found on disk is not compiled, and then nothing is compiled for it."""
    for kernel in (total, mixed):
        monkeypatch.setattr(kernel.dispatcher, "_cache", NullCache())  # type: ignore[attr-defined]


def versions_of(kernel: Any) -> list[tuple[str, ...]]:
    assert isinstance(kernel, Kernel)
    return sorted(tuple(map(str, kinds)) for kinds in kernel._part.overloads)


def test_a_part_has_one_version_for_all_whole_numbers_with_a_sign() -> None:
    numbers = [5, -7, 2**31 - 1]
    for width in (np.int32, np.int64):
        assert total(np.array(numbers, dtype=width), 4) == total.loop(numbers, 4)  # type: ignore[attr-defined]
    assert versions_of(shifted) == [("int64", "int64")]


def test_parts_can_be_called_from_python_too() -> None:
    assert shifted(2**31 - 1, 1) == 3 * (2**31 - 1) + 1


def test_other_numbers_keep_their_kind() -> None:
    assert mixed(np.array([2**64 - 1], dtype=np.uint64), 5.0) == 2.0**63 + 2.5
    assert versions_of(halved) == [("float64",), ("uint64",)]
