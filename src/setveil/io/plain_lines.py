"""Groupings as setveil writes them, read with arrays instead of one JSON value per line.

A chunk is *plain* if every line is ``{"group": 3, "items": ["a", "b"]}`` to the byte, without escapes and with labels of at
most eight bytes, as ids and codes are. Everything else is left to the JSON reader; both give the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

HEAD, KEY, TAIL = b'{"group": ', b', "items": [', b"]}"
QUOTE, NEWLINE, COMMA, SPACE, ZERO = b'"\n, 0'
SLOTS = 1 << 16
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd number whose multiples differ in their upper bits
Numbers = NDArray[np.int64]


class PlainLines:
    """Parses plain chunks; remembers the labels it has met."""

    def __init__(self, number: Callable[[str], int]) -> None:
        self.number = number
        self.slot_key = np.zeros(SLOTS, dtype=np.uint64)  # a label's bytes; 0 where the slot is free
        self.slot_number = np.zeros(SLOTS, dtype=np.int64)

    def parse(self, chunk: bytes) -> tuple[Numbers, Numbers, Numbers] | None:
        """Groups, lengths and label numbers of the lines of a chunk; None if it is not plain."""
        text = np.frombuffer(chunk, dtype=np.uint8)
        quotes, ends = np.flatnonzero(text == QUOTE), np.flatnonzero(text == NEWLINE)
        if (
            b"\\" in chunk
            or not chunk.endswith(b"\n")
            or len(quotes) % 2
            or np.count_nonzero(text < SPACE) != len(ends)
        ):
            return None
        starts = np.concatenate(([0], ends[:-1] + 1))  # [lines]
        opening, closing = quotes[::2], quotes[1::2]  # [strings]
        first = np.searchsorted(opening, starts)  # the string "group" of each line; "items" comes next
        lengths = np.diff(first, append=len(opening)) - 2
        if (lengths < 0).any() or (ends - starts < len(HEAD + KEY + TAIL)).any():
            return None
        key = opening[first + 1] - 2  # where ', "items": [' starts
        inside = key + len(KEY)
        is_label = np.ones(len(opening), dtype=bool)
        is_label[first] = is_label[first + 1] = False
        opening, closing = opening[is_label], closing[is_label]  # [labels]
        last = np.cumsum(lengths) - 1  # label that ends each line, if it has any
        filled = lengths > 0
        follows = np.ones(len(opening), dtype=bool)  # the label comes after another one of its line
        follows[(last - lengths + 1)[filled]] = False
        after = np.flatnonzero(follows)
        if not (
            _has(text, starts, HEAD)
            and _has(text, key, KEY)
            and _has(text, ends - 2, TAIL)
            and np.array_equal(inside[~filled], ends[~filled] - 2)
            and np.array_equal(opening[(last - lengths + 1)[filled]], inside[filled])
            and np.array_equal(closing[last[filled]], ends[filled] - 3)
            and (opening[after] - closing[after - 1] == 3).all()
            and _has(text, opening[after] - 2, b", ")
        ):
            return None
        groups = _digits(text, starts + len(HEAD), key)
        flat = self._numbers(text, opening + 1, closing)
        return None if groups is None or flat is None else (groups, lengths, flat)

    def _numbers(self, text: NDArray[np.uint8], start: Numbers, end: Numbers) -> Numbers | None:
        """The number of each label: looked up in a table, and the few not found there one by one."""
        width = end - start
        if len(width) and (width.min() < 1 or width.max() > 8):
            return None
        keys = np.zeros(len(width), dtype=np.uint64)
        for place in range(int(width.max(initial=0))):
            is_there = width > place
            byte = text[start[is_there] + place].astype(np.uint64)
            keys[is_there] = keys[is_there] << np.uint64(8) | byte
        slot = (keys * SPREAD) >> np.uint64(48)
        for key in np.unique(keys[self.slot_key[slot] != keys]).tolist():
            at = (key * int(SPREAD) & (1 << 64) - 1) >> 48
            if not self.slot_key[at]:
                self.slot_key[at] = key
                self.slot_number[at] = self.number(_label(key))
        numbers: Numbers = self.slot_number[slot]
        for place in np.flatnonzero(self.slot_key[slot] != keys).tolist():  # two labels share a slot
            numbers[place] = self.number(_label(int(keys[place])))
        return numbers


def _has(text: NDArray[np.uint8], at: Numbers, wanted: bytes) -> bool:
    """Whether the wanted bytes stand at all the places; all of them lie within the text."""
    return all((text[at + place] == byte).all() for place, byte in enumerate(wanted))


def _digits(text: NDArray[np.uint8], start: Numbers, end: Numbers) -> Numbers | None:
    """Whole numbers from 1, without leading zeros."""
    width = end - start
    if width.min(initial=1) < 1 or width.max(initial=1) > 18 or (text[start] == ZERO).any():
        return None
    value = np.zeros(len(start), dtype=np.int64)
    for place in range(int(width.max(initial=0))):
        is_there = width > place
        digit = text[start[is_there] + place].astype(np.int64) - ZERO
        if ((digit < 0) | (digit > 9)).any():
            return None
        value[is_there] = value[is_there] * 10 + digit
    return value


def _label(key: int) -> str:
    return key.to_bytes(8, "big").lstrip(b"\0").decode()
