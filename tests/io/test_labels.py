"""Numbering labels and ids: exact wherever chunks end, by the dictionary for few and by the compiled loop for many."""

from __future__ import annotations

import random

import pytest

from setveil.io.transactions import labels as module
from setveil.io.transactions.labels import Ids, Labels, number_apart, tokens_of

WORDS = [
    b"",
    b"a",
    b"b",
    b"ab",
    b"12345678",
    b"123456789",
    b"123456780",
    b"1234567812345678",
    b"x" * 40,
    b"x" * 39 + b"y",
    b"x" * 600,
]


@pytest.mark.parametrize("many", [1, module.MANY])
@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_those_of_a_dict(seed: int, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", many)
    rng = random.Random(seed)
    for _ in range(100):
        words = rng.sample(WORDS[1:], rng.randint(1, len(WORDS) - 1))
        texts = rng.choices(words, k=rng.randint(1, 60))
        cuts = sorted(rng.choices(range(len(texts) + 1), k=rng.randint(0, 3)))
        labels, ids = Labels(), Ids()
        numbers: list[int] = []
        for start, end in zip([0, *cuts], [*cuts, len(texts)], strict=True):
            part = tokens_of(texts[start:end])
            numbers += labels.number(part).tolist()
            ids.add(number_apart(part))
        names = labels.texts()
        assert [names[number].encode() for number in numbers] == texts
        rows = ids.rows(keep_texts=True)
        first = list(dict.fromkeys(texts))
        assert rows.ids == tuple(text.decode() for text in first)
        assert rows.n_records == len(first)
        assert rows.of_row.tolist() == [first.index(text) for text in texts]


@pytest.mark.parametrize("many", [1, module.MANY])
def test_rows_of_nobody_are_one_record(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY", many)
    ids = Ids()
    for texts in ([b"x", b"", b"NA"], [b"", b"x", b"NA", b"NA"]):
        ids.add(number_apart(tokens_of(texts)))
    rows = ids.rows(keep_texts=False)
    assert rows.n_records == 3
    assert (rows.of_row == rows.nobody[""]).tolist() == [False, True, False, True, False, False, False]
    assert rows.seen is not None and rows.seen.nobody == {"NA": 3}


def test_no_rows_no_records() -> None:
    rows = Ids().rows(keep_texts=True)
    assert (len(rows.of_row), rows.n_records, rows.ids) == (0, 0, ())
