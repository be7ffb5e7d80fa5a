"""The two tables of a release of counts: ``counts.csv`` and ``lengths.csv``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from setveil.core import Transactions
from setveil.core.transactions import in_label_order
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError
from setveil.io.releases.tables import MOST_DIGITS, read_table, split_labels
from setveil.releases.count_table import COUNTS, COUNTS_HEADER, LENGTHS, LENGTHS_HEADER, CountTable, sorted_sets

MOST_RECORDS = 1 << 40


def read_count_table(folder: Path, rows: Transactions) -> CountTable:
    """The release of a folder whose records are read already; the number of the generator is not known yet."""
    sets: list[list[str]] = []
    counts: list[int] = []
    for line, (joined, count) in read_table(folder / COUNTS, COUNTS_HEADER):
        sets.append(split_labels(joined, f"{COUNTS}:{line}"))
        counts.append(_whole(count, f"{COUNTS}:{line}"))
    labels = {label for one in sets for label in one}
    vocabulary = Vocabulary(labels | set(rows.vocabulary))
    if len(vocabulary) > len(labels):
        raise InputError(f"the records have an item that {COUNTS} does not list.")
    number = {label: place for place, label in enumerate(vocabulary)}
    encoded = [sorted({number[label] for label in one}) for one in sets]
    if len(set(map(tuple, encoded))) < len(encoded) or any(map(_repeats, sets)):
        raise InputError(f"{COUNTS}: lists an itemset twice, or an item twice in one itemset.")
    lengths = [
        tuple(_whole(cell, f"{LENGTHS}:{line}") for cell in row)
        for line, row in read_table(folder / LENGTHS, LENGTHS_HEADER)
    ]
    if sum(row[2] for row in lengths) > MOST_RECORDS or any(
        row[0] > row[1] or row[1] > MOST_RECORDS for row in lengths
    ):
        raise InputError(f"{LENGTHS}: a range ends before it begins, or there are too many records.")
    sizes = np.array([len(one) for one in encoded], dtype=np.int64)
    flat = np.array([item for one in encoded for item in one], dtype=np.int32)
    ordered, values = sorted_sets(sizes, flat, np.array(counts, dtype=np.int64), vocabulary)
    published = rows if rows.vocabulary == vocabulary else rows.over(vocabulary)
    return CountTable(
        published=in_label_order(published),
        sets=ordered,
        counts=values,
        lengths=np.array(lengths, dtype=np.int64).reshape(-1, 3),
        generator=0,
    )


def _repeats(labels: list[str]) -> bool:
    return len(set(labels)) < len(labels)


def _whole(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise InputError(f"{where}: a number must be whole, of at most {MOST_DIGITS} digits.")
    return int(text)
