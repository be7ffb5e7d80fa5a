"""Large files are numbered in compiled loops, many chunks side by side: the same records and errors as small ones."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from setveil.arrays import threads
from setveil.core import Layout, Transactions
from setveil.errors import InputError
from setveil.io import source
from setveil.io.transactions import columns, labels, parquet, writing
from setveil.io.transactions.reading import read_transactions, read_written, write_transactions


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a few lines."""
    monkeypatch.setattr(source, "BLOCK", 64)


def compiled_everywhere(monkeypatch: pytest.MonkeyPatch, n_threads: int) -> None:
    monkeypatch.setattr(labels, "MANY", 0)
    monkeypatch.setattr(threads, "available_threads", lambda: n_threads)


def both_ways(text: bytes, layout: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transactions | str]:
    """What a file is without compiled loops, then with them, with one and three threads."""
    for n_threads in (0, 1, 3):
        with monkeypatch.context() as patch:
            if n_threads:
                compiled_everywhere(patch, n_threads)
            try:
                yield read_transactions(
                    io.BytesIO(text), format=layout, labels_as_they_are=True, keep_ids=layout == "long"
                )
            except InputError as problem:
                yield str(problem)


def are_equal(one: Transactions | str, other: Transactions | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and one == other
    return (one.to_lists(), one.vocabulary, one.ids, one.layout) == (
        other.to_lists(),
        other.vocabulary,
        other.ids,
        other.layout,
    )


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("layout", ["fimi", "long"])
def test_compiled_loops_read_the_same(layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    n_errors = 0
    for _ in range(150):
        text = (random_fimi(rng) if layout == "fimi" else random_long(rng)).encode()
        plain, *others = both_ways(text, layout, monkeypatch)
        n_errors += isinstance(plain, str)
        assert all(are_equal(plain, other) for other in others)
    assert 10 < n_errors < 140


def random_fimi(rng: random.Random) -> str:
    lines = [" ".join(rng.choices(["7", "07", "12", "3", "123456789012"], k=rng.randint(0, 6))) for _ in range(30)]
    if rng.random() < 0.4:
        lines[rng.randrange(30)] += rng.choice([" x", " -1", "\r7", " 1.5", "\0", "\t"])
    return rng.choice(["\n", "\r\n"]).join(lines) + rng.choice(["", "\n"])


def random_long(rng: random.Random) -> str:
    people = [f"person number {number}" if rng.random() < 0.3 else f"{number}" for number in range(8)]
    rows = [f"{rng.choice(people)},{rng.choice(['milk', 'beer', '', 'wine of the house', '7'])}" for _ in range(40)]
    if rng.random() < 0.5:
        rows.sort()
    if rng.random() < 0.5:
        rows[rng.randrange(40)] = rng.choice(["", "1", "1,2,3", '1,"a"', '"1"",2', ",a", "a\rb,c", '"x,y",z'])
    rows += [""] * rng.choice([0, 0, 2])
    return "id,item\n" + rng.choice(["\n", "\r\n"]).join(rows) + rng.choice(["", "\n"])


def test_large_files_are_written_and_scanned_as_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(9)
    rows = [rng.sample(["a", "b,c", "é", "long label of an item", "7"], rng.randint(0, 4)) for _ in range(50)]
    data = Transactions.from_lists(rows, ids=[f"person {number}" for number in range(50)])
    for layout in (Layout("long"), Layout("basket"), Layout("jsonl"), Layout("parquet"), Layout("parquet", long=True)):
        files = []
        for name in ("few", "many"):
            with monkeypatch.context() as patch:
                if name == "many":
                    compiled_everywhere(patch, 3)
                    patch.setattr(writing, "CHUNK", 7)
                    patch.setattr(parquet, "LARGE_FILE", 0)
                    patch.setattr(parquet, "LARGE_LISTS", 0)
                    patch.setattr(columns, "SCANNED", 11)
                path = tmp_path / name
                ids = None if layout.name == "basket" else data.ids
                write_transactions(data, path, layout, order=np.arange(50)[::-1], ids=ids)
                files.append(path.read_bytes())
                again = read_written(path, layout, keep_ids=ids is not None)
            assert again.to_lists() == data.to_lists()[::-1]
            assert again.ids == (None if ids is None else ids[::-1])
        assert files[0] == files[1]
