"""What compiled loops keep things in: arrays that grow, heaps, and numbers for hash tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled


@compiled
def grown(array: NDArray[Any], at_least: int) -> NDArray[Any]:
    """The array with room for more."""
    larger = np.empty(max(2 * len(array), at_least), dtype=array.dtype)
    for at in range(len(array)):  # copying a slice would compile the text of its error message, for seconds
        larger[at] = array[at]
    return larger


@compiled
def place_in(values: NDArray[Any], begin: int, end: int, wanted: int) -> int:
    """Where in the ascending ``values[begin:end]`` a value stands, or would stand."""
    while begin < end:
        middle = (begin + end) >> 1
        if values[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


# -- heaps: ``keys[:size]`` and what belongs to them, smallest key on top, of equal keys the smaller value ------------


@compiled
def push_heap(keys: NDArray[Any], values: NDArray[np.int64], size: int, key: Any, value: int) -> None:
    """Add to a heap of ``size`` entries."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] < key or (keys[above] == key and values[above] <= value):
            break
        keys[place], values[place] = keys[above], values[above]
        place = above
    keys[place], values[place] = key, value


@compiled
def pop_heap(keys: NDArray[Any], values: NDArray[np.int64], size: int) -> None:
    """Take the top off a heap of ``size`` entries."""
    keys[0], values[0] = keys[size - 1], values[size - 1]
    sink_in_heap(keys, values, 0, size - 1)


@compiled
def sink_in_heap(keys: NDArray[Any], values: NDArray[np.int64], place: int, size: int) -> None:
    """Let an entry sink until nothing smaller stands below it."""
    key, value = keys[place], values[place]
    while 2 * place + 1 < size:
        below = 2 * place + 1
        if below + 1 < size and (
            keys[below + 1] < keys[below] or (keys[below + 1] == keys[below] and values[below + 1] < values[below])
        ):
            below += 1
        if key < keys[below] or (key == keys[below] and value < values[below]):
            break
        keys[place], values[place] = keys[below], values[below]
        place = below
    keys[place], values[place] = key, value


# -- numbers for hash tables ------------------------------------------------------------------------------------------


@compiled
def mix_in(code: Any, item: int) -> Any:
    """A code of 64 bits that also depends on one more item."""
    code = (code ^ np.uint64(item)) * np.uint64(0x9E3779B97F4A7C15)
    return code ^ (code >> np.uint64(29))


@compiled
def hash_items(items: NDArray[np.int32], start: int, size: int) -> np.int64:
    """A number of 62 bits for ``items[start:start + size]`` in this order."""
    code = np.uint64(size)
    for place in range(start, start + size):
        code = mix_in(code, items[place])
    return np.int64(code >> np.uint64(2))


@compiled
def hash_members(items: NDArray[np.int32], start: int, size: int) -> np.int64:
    """A number of 62 bits for ``items[start:start + size]`` in any order."""
    code = np.uint64(size)
    for place in range(start, start + size):
        code += mix_in(mix_in(np.uint64(size), items[place]), size)
    return np.int64(code >> np.uint64(2))
