"""Sorting inside kernels, the verifier's own included."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil
from setveil.arrays.sorting import sort_values, stable_order
from setveil.verify.counting import _sort


@pytest.mark.parametrize("n", [0, 1, 2, 3, 24, 25, 200])
def test_sorts_agree_with_numpy(n: int) -> None:
    random = np.random.default_rng(n)
    for most in (1, 5, 10_000):
        for _ in range(30):
            values = random.integers(-most, most, size=n)
            pairs: list[Any] = [(sort_values, values.copy()), (_sort, values.astype(np.int32))]
            for sort, given in pairs:
                sort(given)
                assert given.tolist() == sorted(values.tolist())
            assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()
            assert stable_order(values / 3).tolist() == np.argsort(values / 3, kind="stable").tolist()


def test_no_kernel_uses_a_sort_that_numba_makes_from_closures() -> None:
    """See ``arrays.sorting``: such sorts can be linked wrongly when they come from the cache."""
    room = Path(setveil.__file__).parent
    files = [path for path in room.rglob("*.py") if "@compiled" in path.read_text(encoding="utf-8")]
    assert len(files) > 10
    for path in files:
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            if not any(isinstance(mark, ast.Name) and mark.id == "compiled" for mark in function.decorator_list):
                continue
            used = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
            used |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            assert not used & {"sort", "argsort", "sorted", "median", "partition"}, f"{path.name}: {function.name}"
