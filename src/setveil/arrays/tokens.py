# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Pieces of text in a byte buffer, compared and numbered without a Python object per occurrence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown

WORD = 8  # bytes that fit into a key


@compiled
def number_texts(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], first: int, step: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """``(numbers, positions)``: equal pieces have equal numbers in order of first use, and where each was used first.

    Pieces ``first``, ``first + step``, … are looked at; an empty one has the number -1. A piece of up to a word is its
    own key (there are no NUL bytes); longer ones are hashed, and pieces with equal keys are compared byte by byte.
    """
    n = (len(starts) - first + step - 1) // step
    numbers = np.empty(n, dtype=np.int32)
    positions = np.empty(1024, dtype=np.int64)
    keys = np.empty(1024, dtype=np.uint64)
    table = np.full(4096, -1, dtype=np.int32)
    n_known = 0
    for number in range(n):
        piece = first + number * step
        length = lengths[piece]
        if length == 0:
            numbers[number] = -1
            continue
        key = key_of(text, starts[piece], length)
        slot = slot_of(key, len(table))
        while table[slot] >= 0:
            known = table[slot]
            if keys[known] == key and is_same_text(text, starts, lengths, positions[known], piece):
                break
            slot = (slot + 1) & (len(table) - 1)
        if table[slot] < 0:
            if n_known == len(positions):
                positions = grown(positions, n_known + 1)
                keys = grown(keys, n_known + 1)
            positions[n_known] = piece
            keys[n_known] = key
            table[slot] = n_known
            n_known += 1
            numbers[number] = n_known - 1
            if 2 * n_known > len(table):
                table = larger_table(keys, n_known, 4 * len(table))
        else:
            numbers[number] = table[slot]
    return numbers, positions[:n_known]


@compiled
def key_of(text: NDArray[np.uint8], start: int, length: int) -> np.uint64:
    """The bytes of a short piece, a hash of a longer one."""
    key = np.uint64(0)
    for place in range(start, start + min(length, WORD)):
        key = (key << np.uint64(8)) | np.uint64(text[place])
    for place in range(start + WORD, start + length):
        key = (key ^ (key >> np.uint64(29)) ^ np.uint64(text[place])) * np.uint64(0x9E3779B97F4A7C15)
    return key


@compiled
def slot_of(key: np.uint64, size: int) -> int:
    """Where to look for a key first in a table whose size is a power of two."""
    mixed = (key ^ (key >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed >> np.uint64(32)) & np.uint64(size - 1))


@compiled
def is_same_text(
    text: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], one: int, other: int
) -> bool:
    """Whether two pieces with equal keys are equal."""
    if lengths[one] != lengths[other]:
        return False
    if lengths[one] > WORD:
        for place in range(lengths[one]):
            if text[starts[one] + place] != text[starts[other] + place]:
                return False
    return True


@compiled
def larger_table(keys: NDArray[np.uint64], n_known: int, size: int) -> NDArray[np.int32]:
    """A table of that size with the known keys in it."""
    table = np.full(size, -1, dtype=np.int32)
    for known in range(n_known):
        slot = slot_of(keys[known], size)
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = known
    return table
