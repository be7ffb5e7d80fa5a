"""Numbering labels and ids: exact, whatever the hash does and wherever chunks end."""

from __future__ import annotations

import random

import numpy as np
import pytest

from setveil.io.transactions import labels as module
from setveil.io.transactions.labels import Ids, Labels, gather, tokens_of

WORDS = [
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


def mix_badly(keys: np.ndarray, word: np.ndarray) -> np.ndarray:
    return keys & np.uint64(0)  # every long text gets the same key


@pytest.fixture(params=["good hash", "bad hash"])
def hashing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "bad hash":
        monkeypatch.setattr(module, "_mix", mix_badly)


@pytest.mark.usefixtures("hashing")
@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_those_of_a_dict(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(100):
        words = rng.sample(WORDS, rng.randint(1, len(WORDS)))
        texts = rng.choices(words, k=rng.randint(1, 60))
        cuts = sorted(rng.choices(range(len(texts) + 1), k=rng.randint(0, 3)))
        labels, ids = Labels(), Ids()
        numbers: list[int] = []
        for start, end in zip([0, *cuts], [*cuts, len(texts)], strict=True):
            part = tokens_of(texts[start:end])
            assert gather(part) == b"".join(texts[start:end])
            numbers += labels.number(part).tolist()
            ids.add(part)
        names = labels.texts()
        assert [names[number].encode() for number in numbers] == texts
        records, n_records, kept = ids.number(keep_texts=True)
        first = list(dict.fromkeys(texts))
        assert kept == tuple(text.decode() for text in first)
        assert n_records == len(first)
        assert records.tolist() == [first.index(text) for text in texts]


def test_no_rows_no_records() -> None:
    records, n_records, kept = Ids().number(keep_texts=True)
    assert (len(records), n_records, kept) == (0, 0, ())


def test_slices_of_sorted_ids_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RUNS_AT_ONCE", 2)
    ids = Ids()
    texts = [b"a", b"b", b"a", b"c", b"b", b"a", b"c"]
    ids.add(tokens_of(texts))
    records, n_records, _ = ids.number(keep_texts=False)
    assert (records.tolist(), n_records) == ([0, 1, 0, 2, 1, 0, 2], 3)
