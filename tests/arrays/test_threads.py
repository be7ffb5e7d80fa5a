"""Parts side by side: results and errors in the order of the parts."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from setveil.arrays import threads
from setveil.arrays.threads import map_in_order, slices_of


@pytest.fixture(params=[1, 2, 5])
def n_threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(threads, "available_threads", lambda: request.param)
    return int(request.param)


@pytest.mark.usefixtures("n_threads")
def test_results_come_in_order() -> None:
    assert list(map_in_order(lambda part: part * part, range(50))) == [part * part for part in range(50)]
    assert list(map_in_order(str, [])) == []


def test_parts_are_not_taken_far_ahead(n_threads: int) -> None:
    taken: list[int] = []

    def supply() -> Iterator[int]:
        for part in range(100):
            taken.append(part)
            yield part

    results = map_in_order(lambda part: part, supply())
    assert next(results) == 0
    assert len(taken) <= n_threads + 2
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() < 20


@pytest.mark.usefixtures("n_threads")
def test_the_first_error_in_order_is_raised() -> None:
    def supply() -> Iterator[int]:
        yield from range(4)
        raise OSError("the supply")

    def work(part: int) -> int:
        if part == 2:
            raise ValueError("part 2")
        return part

    with pytest.raises(ValueError, match="part 2"):
        list(map_in_order(work, supply()))
    with pytest.raises(OSError, match="the supply"):
        list(map_in_order(lambda part: part, supply()))


def test_slices_cover_all_rows() -> None:
    indptr = np.array([0, 3, 3, 8, 9, 9], dtype=np.int64)
    for at_once in (1, 2, 4, 100):
        slices = slices_of(indptr, at_once)
        assert [row for first, last in slices for row in range(first, last)] == list(range(5))
    assert slices_of(np.array([0], dtype=np.int64)) == []
