"""Groupings as setveil writes them, taken apart with arrays instead of one JSON value per line.

A chunk is *plain* if every line is ``{"group": 3, "items": ["a", "b"]}`` to the byte and nothing is escaped.
Everything else is left to the JSON reader; both give the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.io.transactions.labels import Tokens, padded

HEAD, KEY, TAIL = b'{"group": ', b', "items": [', b"]}"
QUOTE, NEWLINE, SPACE, ZERO = b'"\n 0'
Positions = NDArray[np.int64]


class Lines(NamedTuple):
    """Some records: the group and the number of items of each, and their labels one after the other."""

    groups: NDArray[np.int64]
    lengths: NDArray[np.int64]
    labels: Tokens


def split_plain(chunk: bytes) -> Lines | None:
    """The records of a chunk of whole lines; None if it is not plain."""
    buffer = padded(chunk)
    text = buffer[: len(chunk)]
    quotes, ends = np.flatnonzero(text == QUOTE), np.flatnonzero(text == NEWLINE)
    if b"\\" in chunk or not chunk.endswith(b"\n") or len(quotes) % 2 or np.count_nonzero(text < SPACE) != len(ends):
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
    last = np.cumsum(lengths) - 1  # the label that ends each line, if it has any
    filled = lengths > 0
    leads = (last - lengths + 1)[filled]  # the label that begins each filled line
    follows = np.ones(len(opening), dtype=bool)
    follows[leads] = False
    after = np.flatnonzero(follows)
    if not (
        _has(text, starts, HEAD)
        and _has(text, key, KEY)
        and _has(text, ends - 2, TAIL)
        and np.array_equal(inside[~filled], ends[~filled] - 2)
        and np.array_equal(opening[leads], inside[filled])
        and np.array_equal(closing[last[filled]], ends[filled] - 3)
        and (opening[after] - closing[after - 1] == 3).all()
        and _has(text, opening[after] - 2, b", ")
        and (closing - opening > 1).all()
    ):
        return None
    groups = _whole_numbers(text, starts + len(HEAD), key)
    return None if groups is None else Lines(groups, lengths, Tokens(buffer, opening + 1, closing - opening - 1))


def _has(text: NDArray[np.uint8], at: Positions, wanted: bytes) -> bool:
    """Whether the wanted bytes stand at all the positions; all of them lie within the text."""
    return all((text[at + place] == byte).all() for place, byte in enumerate(wanted))


def _whole_numbers(text: NDArray[np.uint8], start: Positions, end: Positions) -> NDArray[np.int64] | None:
    """Numbers from 1, without leading zeros."""
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
