"""Comparing and numbering text in compiled loops, beside the plain way."""

from __future__ import annotations

import random

import numpy as np

from setveil.arrays.tokens import number_texts


def test_equal_texts_have_equal_numbers() -> None:
    rng = random.Random(3)
    words = [b"", b"a", b"b", b"aa", b"12345678", b"123456789", b"123456780", b"x" * 40, b"x" * 39 + b"y"]
    words += [str(number).encode() for number in range(7000)]  # so many that the table has to grow
    for step in (1, 2, 3):
        texts = [rng.choice(words) for _ in range(20_000)]
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        starts = np.cumsum(lengths) - lengths
        buffer = np.frombuffer(b"".join(texts), dtype=np.uint8)
        first = rng.randrange(step)
        looked_at = texts[first::step]
        numbers, places = number_texts(buffer, starts, lengths, first, step)
        known: dict[bytes, int] = {}
        assert numbers.tolist() == [known.setdefault(text, len(known)) if text else -1 for text in looked_at]
        assert [texts[place] for place in places.tolist()] == list(known)
