"""Data sets of the benchmarks: files of the data folder, and synthetic ones with a seed in place of two FIMI data sets.

``quest`` stands in for T10I4D100K (the same generator and settings), ``retail`` for the baskets of a supermarket: a few
items that half of all people buy, and thousands of items that almost nobody buys.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.commands import SETVEIL, run_measured

RETAIL_RECORDS, RETAIL_ITEMS, RETAIL_MEAN = 88_162, 16_470, 10.3
STAPLES = (0.575, 0.478, 0.177, 0.172, 0.17)  # shares of records that hold each of the most frequent items


class DataSet(NamedTuple):
    """A file of records, and the hierarchy it is generalized along."""

    name: str
    path: Path
    hierarchy: str = "fanout:5"


def data_sets(data: Path, folder: Path) -> list[DataSet]:
    """The files of ``data``, unpacked into ``folder``, and the synthetic ones, made there unless they are there."""
    found = [
        DataSet("groceries", data / "groceries.csv.gz", str(data / "groceries_taxonomy.csv")),
        DataSet("mushroom", data / "mushroom.dat.gz"),
        DataSet("BMS1", unpack(data / "BMS1.dat.gz", folder)),
        DataSet("BMS2", unpack(data / "BMS2.dat.gz", folder)),
    ]
    return [*found, DataSet("quest", quest(folder, 100_000)), DataSet("retail", retail(folder))]


def unpack(path: Path, folder: Path) -> Path:
    """The file without its compression."""
    target = folder / path.stem
    if not target.exists():
        with gzip.open(path) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file)
    return target


def quest(folder: Path, n_records: int) -> Path:
    """Quest baskets: T10.I4, 1,000 items."""
    path = folder / f"quest{n_records}.dat"
    if not path.exists():
        run_measured([*SETVEIL, "generate", "quest", "-D", str(n_records), "-o", str(path)], folder / "stdout", {})
    return path


def retail(folder: Path, n_records: int = RETAIL_RECORDS, n_items: int = RETAIL_ITEMS, seed: int = 0) -> Path:
    """Heavy-tailed baskets: items are drawn with chances that fall with their rank, some together with an earlier one.

    Lengths are gamma distributed with a mean of about ten. A quarter of the draws take a partner of an item that the
    basket has: each item has five partners of similar frequency, so that there are pairs that are no accident.
    """
    path = folder / f"retail{n_records}x{n_items}.dat"
    if path.exists():
        return path
    rng = np.random.default_rng(seed)
    lengths = 1 + rng.gamma(1.2, (RETAIL_MEAN - sum(STAPLES) - 0.25) / 1.2, n_records).astype(np.int64)
    owners = np.repeat(np.arange(n_records), lengths)
    rank = np.arange(n_items - len(STAPLES))
    chances = (rank + 30.0) ** -1.25
    drawn = rng.choice(len(rank), size=len(owners), p=chances / chances.sum())
    partners = np.minimum(rank[:, None] + rng.integers(1, 40 + rank[:, None] // 10, size=(len(rank), 5)), len(rank) - 1)
    follows = np.flatnonzero((owners[1:] == owners[:-1]) & (rng.random(max(len(owners) - 1, 0)) < 0.25)) + 1
    drawn[follows] = partners[drawn[follows - 1], rng.integers(0, 5, size=len(follows))]
    staples = [np.flatnonzero(rng.random(n_records) < share) for share in STAPLES]
    records = np.concatenate((owners, *staples))
    numbers = np.concatenate((drawn + len(STAPLES), *(np.full(len(who), item) for item, who in enumerate(staples))))
    label = rng.permutation(n_items)
    rows = [set[int]() for _ in range(n_records)]
    for record, item in zip(records.tolist(), label[numbers].tolist(), strict=True):
        rows[record].add(item)
    path.write_text("".join(" ".join(map(str, sorted(row))) + "\n" for row in rows), encoding="ascii")
    return path
