# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Records as bytes: labels put one behind the other, without an object per occurrence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled


class Texts(NamedTuple):
    """Pieces of text in one buffer: piece ``i`` is ``bytes[starts[i]:starts[i + 1]]``."""

    bytes: NDArray[np.uint8]
    starts: NDArray[np.int64]


def pack_texts(texts: Sequence[bytes]) -> Texts:
    """Pieces one behind the other."""
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    return Texts(np.frombuffer(b"".join(texts), dtype=np.uint8), starts)


def no_texts(n: int) -> Texts:
    """So many empty pieces."""
    return Texts(np.frombuffer(b"", dtype=np.uint8), np.zeros(n + 1, dtype=np.int64))


@compiled
def join_rows(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    labels: Texts,
    heads: Texts,
    marks: Texts,
    is_long: bool,
) -> NDArray[np.uint8]:
    """Records as ``head label between label end``; ``marks`` are (between, end), heads one per record.

    With ``is_long`` each item has a line of its own, ``head label end``. A record without items is ``head end``.
    """
    between, end = marks.starts[1], marks.starts[2] - marks.starts[1]
    size = 0
    for record in range(len(indptr) - 1):
        n_items = indptr[record + 1] - indptr[record]
        n_lines = max(n_items, 1) if is_long else 1
        size += n_lines * (heads.starts[record + 1] - heads.starts[record] + end)
        if not is_long:
            size += max(n_items - 1, 0) * between
        for place in range(indptr[record], indptr[record + 1]):
            size += labels.starts[items[place] + 1] - labels.starts[items[place]]
    out = np.empty(size, dtype=np.uint8)
    at, first, second = np.int64(0), np.int64(0), np.int64(1)  # no plain numbers: each would be compiled for itself
    for record in range(len(indptr) - 1):
        at = _copy(heads, record, out, at)
        for place in range(indptr[record], indptr[record + 1]):
            if place > indptr[record]:
                if is_long:
                    at = _copy(marks, second, out, at)
                    at = _copy(heads, record, out, at)
                else:
                    at = _copy(marks, first, out, at)
            at = _copy(labels, np.int64(items[place]), out, at)
        at = _copy(marks, second, out, at)
    return out


@compiled
def _copy(texts: Texts, number: int, out: NDArray[np.uint8], at: int) -> int:
    """Write one piece; returns where it ends."""
    for place in range(texts.starts[number], texts.starts[number + 1]):
        out[at] = texts.bytes[place]
        at += 1
    return at
