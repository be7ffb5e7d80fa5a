"""Heaps, arrays that grow, hash numbers."""

from __future__ import annotations

import heapq
import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from setveil.arrays.containers import grown, hash_items, hash_members, pop_heap, push_heap


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_a_heap_gives_the_smallest_key_then_the_smallest_value(kind: type) -> None:
    source = random.Random(1)
    for _ in range(50):
        keys: NDArray[Any] = np.empty(200, dtype=kind)
        values = np.empty(200, dtype=np.int64)
        twin: list[tuple[float, int]] = []
        for _ in range(150):
            if twin and source.random() < 0.4:
                assert (keys[0], values[0]) == heapq.heappop(twin)
                pop_heap(keys, values, len(twin) + 1)
            else:
                entry = kind(source.randint(0, 9)), source.randint(0, 9)
                push_heap(keys, values, len(twin), *entry)
                heapq.heappush(twin, entry)
        while twin:
            assert (keys[0], values[0]) == heapq.heappop(twin)
            pop_heap(keys, values, len(twin) + 1)


def test_growing_keeps_what_is_there() -> None:
    larger = grown(np.arange(5, dtype=np.int32), 7)
    assert len(larger) == 10
    assert larger.dtype == np.int32
    assert larger[:5].tolist() == [0, 1, 2, 3, 4]
    assert len(grown(larger, 99)) == 99


def test_hash_numbers_depend_on_what_they_should() -> None:
    items = np.array([9, 3, 1, 3, 1, 7], dtype=np.int32)
    assert hash_items(items, 1, 2) == hash_items(items, 3, 2) != hash_items(items[::-1].copy(), 1, 2)
    assert hash_members(items, 1, 2) == hash_members(np.array([1, 3], dtype=np.int32), 0, 2)
    numbers = {int(kernel(np.array([a, b], dtype=np.int32), 0, 2)) for kernel in (hash_items, hash_members)
               for a in range(60) for b in range(a, 60)}  # fmt: skip
    assert len(numbers) == 2 * 60 * 61 // 2
    assert 0 <= min(numbers) <= max(numbers) < 2**62
