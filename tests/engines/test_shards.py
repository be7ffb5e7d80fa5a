"""Shards side by side: results in order, failures, and who may use how many processors."""

from __future__ import annotations

import threading
import time

import pytest

from setveil.arrays.threads import available_threads
from setveil.engines import LocalEngine


def test_results_are_in_the_order_of_the_shards() -> None:
    def work(number: int) -> int:
        time.sleep(0.002 * (5 - number % 5))
        return number * number

    assert LocalEngine().map_shards(work, range(20)) == [number * number for number in range(20)]
    assert LocalEngine().map_shards(work, []) == []


def test_a_failing_shard_is_told_and_drops_the_rest() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        if number == 1:
            raise KeyError("shard 1")
        time.sleep(0.005)

    with pytest.raises(KeyError, match="shard 1"):
        LocalEngine().map_shards(work, range(200))
    assert len(begun) < 200


def test_threads_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    everything = available_threads()
    assert everything >= 1
    for text, expected in (("1", 1), ("100000", everything), ("0", everything), ("many", everything)):
        monkeypatch.setenv("NUMBA_NUM_THREADS", text)
        assert available_threads() == expected
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    here = threading.get_ident()
    assert LocalEngine().map_shards(lambda _: threading.get_ident(), range(3)) == [here] * 3
