"""The small tables of a release: ``codebook.csv``, ``item_counts.csv`` and, for groupings, ``sensitive.csv``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core import Vocabulary
from setveil.core.regular_files import open_regular
from setveil.errors import InputError, one_line
from setveil.io.releases.names import guard, unguard
from setveil.io.transactions.writing import field
from setveil.releases import Release
from setveil.releases.grouping import SortedGroups

CODEBOOK = "codebook.csv"
SENSITIVE = "sensitive.csv"
ITEM_COUNTS = "item_counts.csv"
CODEBOOK_HEADER = ("published_item", "item")
NAMES = ("name", "published_name")  # further columns, where the owner gave names of items, and of categories
SENSITIVE_HEADER = ("group", "item", "count")
ITEM_COUNTS_HEADER = ("item", "count")
MOST_DIGITS = 15  # of a count; no file has as many records

Count = tuple[int, str, int]  # group, item, count


def encode_codebook(release: Release) -> Iterator[bytes]:
    """The bytes of ``codebook.csv``, with names of items and of categories if the owner gave any."""
    rows, names = release.codebook_rows(), release.names
    if not names:
        return encode_table(CODEBOOK_HEADER, rows)

    def name(label: str) -> str:
        return guard(names.get(label) or names.get(unguard(label), ""))

    named = [(label, item, name(item), name(label) if label != item else "") for label, item in rows]
    n_names = 2 if any(row[3] for row in named) else 1
    return encode_table((*CODEBOOK_HEADER, *NAMES[:n_names]), (row[: 2 + n_names] for row in named))


def read_codebook(folder: Path) -> list[tuple[str, str]]:
    """Rows of ``codebook.csv``; a malformed one is an error with its line."""
    return [(row[0], row[1]) for _, row in read_table(folder / CODEBOOK, CODEBOOK_HEADER, NAMES)]


def read_codebook_names(folder: Path) -> dict[str, str]:
    """Label → name, where ``codebook.csv`` has names; an item or category has one name, which is the first."""
    names: dict[str, str] = {}
    try:
        for _, row in read_table(folder / CODEBOOK, CODEBOOK_HEADER, NAMES):
            if len(row) == len(CODEBOOK_HEADER):
                break
            for label, name in zip((row[1], row[0]), row[2:], strict=False):
                names.setdefault(label, unguard(name))
    except InputError:  # whoever reads the codebook says what is wrong
        return {}
    return names


def encode_counts(counted: Vocabulary, groups: SortedGroups) -> Iterator[bytes]:
    """The bytes of ``sensitive.csv``."""
    yield from encode_table(SENSITIVE_HEADER, ())
    yield from groups.counts(partial(_count_lines, counted.labels))


def _count_lines(
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
    for line, (group, item, count) in read_table(folder / SENSITIVE, SENSITIVE_HEADER):
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


def split_labels(text: str, where: str) -> list[str]:
    """Labels that are joined by ``|``; ``\\`` stands before a ``|`` or ``\\`` that belongs to a label."""
    labels = [""]
    for piece in re.findall(r"[^|\\]+|\\.|[|\\]", text, re.DOTALL):
        if piece == "|":
            labels.append("")
        elif piece[0] != "\\" or piece in (r"\|", r"\\"):
            labels[-1] += piece.removeprefix("\\")
        else:
            raise InputError(f"{where}: write a \\ only before | or \\.")
    if "" in labels:
        raise InputError(f"{where}: an item has no name.")
    return labels


def encode_item_counts(release: Release) -> Iterator[bytes]:
    """The bytes of ``item_counts.csv``."""
    counts = release.item_counts
    return encode_table(ITEM_COUNTS_HEADER, ((label, str(counts[label])) for label in Vocabulary(counts)))


def read_item_counts(folder: Path) -> dict[str, int]:
    """Item → count from ``item_counts.csv``; empty where there is no such file."""
    counts: dict[str, int] = {}
    if not (folder / ITEM_COUNTS).is_file():
        return counts
    for line, (item, count) in read_table(folder / ITEM_COUNTS, ITEM_COUNTS_HEADER):
        where = f"{ITEM_COUNTS}:{line}"
        if not (count.isascii() and count.isdigit() and len(count) <= MOST_DIGITS):
            raise InputError(f"{where}: a count must be a whole number of at most {MOST_DIGITS} digits.")
        if not item or item in counts:
            raise InputError(f'{where}: "{one_line(item)}" is counted twice, or has no name.')
        counts[item] = int(count)
    return counts


def encode_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[bytes]:
    """The bytes of a small table."""
    yield ",".join(header).encode() + b"\n"
    encoded = _Fields()
    for row in rows:
        yield b",".join([encoded[cell] for cell in row]) + b"\n"


class _Fields(dict[str, bytes]):
    """Cells as they are written; most are there many times."""

    def __missing__(self, cell: str) -> bytes:
        self[cell] = found = field(cell, ",")
        return found


def read_table(path: Path, header: Sequence[str], further: Sequence[str] = ()) -> Iterator[tuple[int, list[str]]]:
    """``(line, fields)`` of the rows below the header, which may have the first of ``further`` columns."""
    name = path.name
    try:
        with io.TextIOWrapper(open_regular(path), encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            try:
                first = next(reader, None)
                if first in [[*header, *further[:n]] for n in range(1, len(further) + 1)]:
                    header = first
                if first != list(header):
                    raise InputError(f"{name}:1: the header must be {one_line(','.join(header), 200)}.")
                for row in reader:
                    if len(row) != len(header):
                        raise InputError(f"{name}:{reader.line_num}: expected {len(header)} fields, found {len(row)}.")
                    yield reader.line_num, row
            except csv.Error as problem:
                raise InputError(
                    f"{name}:{reader.line_num}: cannot be read as CSV ({one_line(str(problem), 80)})."
                ) from None
    except UnicodeDecodeError:
        raise InputError(f"{name}: is not UTF-8 text.") from None
    except OSError as problem:
        raise InputError(f"{name}: cannot be read ({one_line(str(problem), 80)}).") from None
