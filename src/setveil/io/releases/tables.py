"""The two small tables of a release: ``codebook.csv`` and, for groupings, ``sensitive.csv``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core import Vocabulary
from setveil.core.regular_files import open_regular
from setveil.errors import InputError, one_line
from setveil.io.transactions.writing import field
from setveil.releases import Grouping, Release

CODEBOOK = "codebook.csv"
SENSITIVE = "sensitive.csv"
CODEBOOK_HEADER = ("published_item", "item")
SENSITIVE_HEADER = ("group", "item", "count")
LINES_AT_ONCE = 1 << 16
MOST_DIGITS = 15  # of a count; no file has as many records

Count = tuple[int, str, int]  # group, item, count


def encode_codebook(release: Release) -> Iterator[bytes]:
    """The bytes of ``codebook.csv``."""
    return _encode(CODEBOOK_HEADER, release.codebook_rows())


def read_codebook(folder: Path) -> list[tuple[str, str]]:
    """Rows of ``codebook.csv``; a malformed one is an error with its line."""
    return [(row[0], row[1]) for _, row in _read(folder / CODEBOOK, CODEBOOK_HEADER)]


def encode_counts(release: Grouping, number: NDArray[np.int64]) -> Iterator[bytes]:
    """The bytes of ``sensitive.csv``; ``number`` is the published number of each group, from 0."""
    yield header_of_counts()
    # Only items that are counted have a say in the order.
    counted = Vocabulary(release.sensitive[item] for item in np.unique(release.count_item).tolist())
    item_number = counted.numbers(release.sensitive)[release.count_item].astype(np.int64)
    order = np.lexsort((item_number, number[release.count_group]))
    for start in range(0, len(order), LINES_AT_ONCE):
        some = order[start : start + LINES_AT_ONCE]
        yield count_lines(counted.labels, number[release.count_group[some]] + 1, item_number[some], release.count[some])


def header_of_counts() -> bytes:
    """The first line of ``sensitive.csv``."""
    return b"".join(_encode(SENSITIVE_HEADER, ()))


def count_lines(
    labels: Sequence[str], groups: NDArray[np.int64], items: NDArray[np.int64], counts: NDArray[np.int64]
) -> bytes:
    """Lines of ``sensitive.csv``: the number of a group, an item by its number, its count."""
    named = [field(label, ",") for label in labels]
    rows = zip(groups.tolist(), items.tolist(), counts.tolist(), strict=True)
    return b"".join(b"%d,%b,%d\n" % (group, named[item], count) for group, item, count in rows)


def read_counts(folder: Path, n_groups: int) -> list[Count]:
    """Rows of ``sensitive.csv``, groups numbered from 0."""
    entries: list[Count] = []
    seen: set[tuple[int, str]] = set()
    for line, (group, item, count) in _read(folder / SENSITIVE, SENSITIVE_HEADER):
        where = f"{SENSITIVE}:{line}"
        if not all(text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS for text in (group, count)):
            raise InputError(f"{where}: group and count must be whole numbers of at most {MOST_DIGITS} digits.")
        if not 1 <= int(group) <= n_groups:
            raise InputError(f"{where}: there is no group {group}.")
        if int(count) < 1:
            raise InputError(f"{where}: a count must be at least 1.")
        if not item:
            raise InputError(f"{where}: a count without an item.")
        if (int(group), item) in seen:
            raise InputError(f'{where}: group {group} counts "{one_line(item)}" twice.')
        seen.add((int(group), item))
        entries.append((int(group) - 1, item, int(count)))
    return entries


def _encode(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    yield ",".join(header).encode() + b"\n"
    for row in rows:
        yield b",".join(field(cell, ",") for cell in row) + b"\n"


def _read(path: Path, header: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """``(line, fields)`` of the rows below the header."""
    name = path.name
    try:
        with io.TextIOWrapper(open_regular(path), encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            if next(reader, None) != list(header):
                raise InputError(f"{name}:1: the header must be {','.join(header)}.")
            for row in reader:
                if len(row) != len(header):
                    raise InputError(f"{name}:{reader.line_num}: expected {len(header)} fields, found {len(row)}.")
                yield reader.line_num, row
    except UnicodeDecodeError:
        raise InputError(f"{name}: is not UTF-8 text.") from None
    except (OSError, csv.Error) as problem:
        raise InputError(f"{name}: cannot be read as CSV ({one_line(str(problem), 80)}).") from None
