"""What loops are given is held by their callers: the same results as from Python, and no reference is lost or left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.caching import NullCache
from numpy.typing import NDArray

from setveil.kernels import compiled


class Inner(NamedTuple):
    """A record in a record."""

    marks: NDArray[np.uint8]
    table: NDArray[np.int32]  # [2, 3]


class Outer(NamedTuple):
    """A record of arrays and numbers."""

    counts: NDArray[np.int64]
    inner: Inner
    factor: float
    by: int


class Step(NamedTuple):
    """A record of numbers alone."""

    at: int
    by: int


def a_record() -> Outer:
    """A new one."""
    inner = Inner(np.zeros(4, dtype=np.uint8), np.arange(6, dtype=np.int32).reshape(2, 3))
    return Outer(np.arange(5), inner, 0.5, 3)


@compiled
def raise_count(outer: Outer, step: Step) -> int:
    """Writes to an array of a record, from its end, too."""
    outer.counts[step.at] += step.by
    outer.inner.marks[step.at] = 1
    mark(outer.inner, -1)
    return int(outer.counts[-1])


@compiled
def mark(inner: Inner, at: int) -> None:
    """A part of a part."""
    inner.marks[at] += 2
    inner.table[at, -at] = inner.table[0, at] + 10


@compiled
def work(outer: Outer, turns: int) -> float:
    """Records are handed on in and after a loop; a variable is set in one branch only."""
    last = 0
    for turn in range(turns):
        if turn % 2:
            last = raise_count(outer, Step(turn, outer.by))
    total = 0.0
    for number in outer.counts:
        total += number * outer.factor
    return total + last + len(outer.inner.marks)


@compiled
def choose(first: NDArray[np.int64], second: NDArray[np.int64], how: int) -> NDArray[np.int64]:
    """Gives back what it was given, a part of it, or something new, after having changed its mind."""
    result = first
    for turn in range(how):
        result = second if turn % 2 == 0 else result[1:]
    if how > 3:
        result = np.zeros(len(result), dtype=np.int64)
        for at in range(len(second)):
            result[at % len(result)] += second[at]
    return result


@compiled
def pair_up(outer: Outer, fresh: bool) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Arrays of a record, one of them perhaps replaced."""
    counts = outer.counts
    if fresh:
        counts = np.zeros(3, dtype=np.int64)
    return counts, outer.inner.marks


@compiled
def add_up(numbers: NDArray[np.int64], short: NDArray[np.int32], at: np.uint64) -> int:
    """Keeps arrays of its own while it reads those of others."""
    kept = np.empty(len(numbers), dtype=np.int64)
    both = (numbers, kept)
    for place in range(len(numbers)):
        left, right = both
        right[place] = left[place] + short[place]
    window = kept[1:]
    return int(window[at]) + int(kept[-1])


@pytest.fixture(autouse=True)
def compile_now(monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel in (work, choose, pair_up, add_up):
        monkeypatch.setattr(kernel.dispatcher, "_cache", NullCache())  # type: ignore[attr-defined]


@pytest.mark.parametrize("turns", [0, 1, 2, 4])
def test_records_are_handed_on_as_they_are(turns: int) -> None:
    record, plain = a_record(), a_record()
    assert work(record, turns) == work.loop(plain, turns)  # type: ignore[attr-defined]
    assert record.counts.tolist() == plain.counts.tolist()
    assert record.inner.marks.tolist() == plain.inner.marks.tolist()
    assert record.inner.table.tolist() == plain.inner.table.tolist()


@pytest.mark.parametrize("how", range(6))
def test_arrays_that_come_back_live_on(how: int) -> None:
    first, second = np.arange(7), np.arange(10, 16)
    before = sys.getrefcount(first), sys.getrefcount(second)
    results = [choose(first, second, how) for _ in range(50)]
    expected = choose.loop(first, second, how)  # type: ignore[attr-defined]
    for result in results:
        assert result.tolist() == expected.tolist()
    del results, result, expected
    assert (sys.getrefcount(first), sys.getrefcount(second)) == before


@pytest.mark.parametrize("fresh", [False, True])
def test_arrays_of_a_record_that_come_back_live_on(fresh: bool) -> None:
    record = a_record()
    before = sys.getrefcount(record.counts), sys.getrefcount(record.inner.marks)
    for _ in range(50):
        counts, marks = pair_up(record, fresh)
        assert counts.tolist() == ([0, 0, 0] if fresh else [0, 1, 2, 3, 4])
        assert marks.tolist() == [0] * 4
    del counts, marks
    assert (sys.getrefcount(record.counts), sys.getrefcount(record.inner.marks)) == before


def test_own_arrays_are_given_back() -> None:
    from numba.core.runtime import _nrt_python, rtsys

    numbers, short = np.arange(6), np.arange(6, dtype=np.int32)
    found = add_up(numbers, short, np.uint64(2))
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(20):
        assert add_up(numbers, short, np.uint64(2)) == found == add_up.loop(numbers, short, 2)  # type: ignore[attr-defined]
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free >= 20
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free


OTHER_NUMBA = """
from setveil import kernels
kernels.KNOWN = "another"
from tests.kernels.test_lowering import a_record, work
record = a_record()
print(work(record, 4), record.counts.tolist(), type(work.dispatcher).__module__)
"""


def test_another_numba_compiles_in_its_own_way(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", OTHER_NUMBA]
    root = Path(__file__).parents[2]
    ran = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
    plain = a_record()
    expected = work.loop(plain, 4)  # type: ignore[attr-defined]
    assert ran.stdout == f"{expected} {plain.counts.tolist()} numba.core.registry\n"
