"""Cutting and numbering text in compiled loops, beside the plain way."""

from __future__ import annotations

import random

import numpy as np

from setveil.arrays.tokens import ODD, find_runs, number_texts, split_numbers, split_rows


def cut_numbers(text: bytes) -> tuple[list[bytes], list[int]]:
    """Tokens and how many each line has, by ``bytes.split``."""
    rows = [line.split() for line in text.split(b"\n")[:-1]]
    return [token for row in rows for token in row], [len(row) for row in rows]


def run_split_numbers(text: bytes) -> tuple[list[bytes], list[int]] | None:
    room = len(text) // 2 + 1
    starts, lengths = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    counts = np.empty(text.count(b"\n"), dtype=np.int64)
    n, n_lines = split_numbers(np.frombuffer(text, dtype=np.uint8), starts, lengths, counts)
    if n == ODD:
        return None
    assert n_lines == len(counts)
    pieces = zip(starts[:n].tolist(), lengths[:n].tolist(), strict=True)
    return [text[start : start + length] for start, length in pieces], counts.tolist()


def test_numbers_are_cut_as_split_cuts_them() -> None:
    rng = random.Random(1)
    for _ in range(300):
        signs = rng.choices(["0", "7", "42", " ", "\t", "\n", "\r\n"], k=rng.randint(0, 40))
        text = ("".join(signs) + "\n").encode()
        assert run_split_numbers(text) == cut_numbers(text)


def test_anything_else_than_numbers_is_odd() -> None:
    for text in (b"1 a\n", b"1 -2\n", b"1\r2\n", b"1,2\n", b"1\x0b2\n", "1 ²\n".encode()):
        assert run_split_numbers(text) is None


def run_split_rows(text: bytes, width: int) -> list[bytes] | None:
    room = text.count(b"\n") * width
    starts, lengths = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    n = split_rows(np.frombuffer(text, dtype=np.uint8), ord(","), width, starts, lengths)
    if n == ODD:
        return None
    pieces = zip(starts[:n].tolist(), lengths[:n].tolist(), strict=True)
    return [text[start : start + length] for start, length in pieces]


def test_rows_are_cut_at_the_delimiter() -> None:
    rng = random.Random(2)
    for _ in range(300):
        width, end = rng.randint(2, 4), rng.choice(["\n", "\r\n"])
        rows = [[rng.choice(["", "a", "é", "12", "x y"]) for _ in range(width)] for _ in range(rng.randint(1, 5))]
        text = "".join(",".join(row) + end for row in rows).encode()
        assert run_split_rows(text, width) == [field.encode() for row in rows for field in row]


def test_rows_that_need_a_closer_look_are_odd() -> None:
    for text in (b'a,"b"\n', b"a\n", b"a,b,c\n", b"\n", b"a,b\n\n", b"a\rb,c\n", b'a,b"\n'):
        assert run_split_rows(text, 2) is None
    assert run_split_rows(b"\n", 1) is None


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


def test_runs_begin_where_the_text_changes() -> None:
    rng = random.Random(4)
    for _ in range(100):
        texts = rng.choices([b"a", b"b", b"ab", b"x" * 20, b"x" * 19 + b"y"], k=rng.randint(1, 60))
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        buffer = np.frombuffer(b"".join(texts), dtype=np.uint8)
        step = rng.randint(1, 2)
        looked_at = texts[::step]
        heads = [place for place, text in enumerate(looked_at) if not place or looked_at[place - 1] != text]
        assert find_runs(buffer, np.cumsum(lengths) - lengths, lengths, 0, step).tolist() == heads
