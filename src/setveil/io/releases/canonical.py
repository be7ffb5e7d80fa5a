"""The one form in which a release is written: what it says determines every byte.

Records stand in the order of their published content, groups are numbered by theirs, every label is quoted in one way.
So a file that is not in this form carries something besides the release, and a verifier can tell.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core import Layout, RemoteTransactions, Transactions, Vocabulary
from setveil.core.regular_files import open_regular
from setveil.core.row_order import sort_rows
from setveil.errors import InputError
from setveil.io.formats.registry import FORMATS
from setveil.io.releases.groups import encode_group_part, encode_groups
from setveil.io.releases.tables import (
    CODEBOOK,
    SENSITIVE,
    count_lines,
    encode_codebook,
    encode_counts,
    header_of_counts,
)
from setveil.io.transactions.reading import extension
from setveil.io.transactions.writing import encode_transactions
from setveil.releases import KINDS, Grouping, Release, RemoteGrouping, is_grouped

PARQUET_ABOVE = 10_000_000  # records of a grouping
PARTS = "published"  # the folder of the parts, where a cluster wrote the release
PART_SIZE = 1 << 18  # records of a part
COUNTED_AT_ONCE = 1 << 20  # bytes

Files = Iterable[tuple[str, Iterator[bytes]]]  # name and bytes, piece by piece


def bare_layout(layout: Layout, kind: str, keep_ids: bool) -> Layout:
    """A layout with no detail that its file does not show: names of columns would else tell of the input."""
    format = FORMATS[layout.name]
    if KINDS[kind].has_groups:
        return Layout(layout.name)
    has_ids = format.needs_ids or layout.long or keep_ids
    shown = [detail for detail in format.details if detail != "id_column" or has_ids]
    return Layout(layout.name, **{detail: getattr(layout, detail) for detail in shown})


def layout_of(release: Release, wanted: Layout, *, in_parts: bool = False) -> Layout:
    """The layout a release is written in: groupings have their own."""
    if not release.has_groups:
        return wanted
    is_large = in_parts or isinstance(release.published, RemoteTransactions)
    return Layout("parquet" if is_large or release.published.n_records > PARQUET_ABOVE else "jsonl")


def published_name(layout: Layout) -> str:
    """``published.csv`` and the like."""
    return "published" + extension(layout.name)


def part_name(number: int) -> str:
    """``published/part-00000.parquet`` and on."""
    return f"{PARTS}/part-{number:05d}.parquet"


def encode_part(rows: Transactions, layout: Layout) -> bytes:
    """The bytes of a part of the published records, which stand in canonical order."""
    return b"".join(encode_transactions(rows, layout))


def encode_release(
    release: Release, layout: Layout, *, keep_order: bool = False, keep_ids: bool = False, in_parts: bool = False
) -> tuple[Files, NDArray[np.int64]]:
    """The files of a release whose labels fit the layout, and the record at each place of the published one.

    ``in_parts``: the records as a folder of Parquet files, as they always are where records are on a cluster.
    """
    rows, name = release.published, published_name(layout)
    if isinstance(release, RemoteGrouping):
        return _files_elsewhere(release), np.empty(0, dtype=np.int64)
    if isinstance(rows, RemoteTransactions):
        made = rows.sorted_parts(PART_SIZE, partial(encode_part, layout=layout))
        files = ((part_name(number), iter([content])) for number, content in made)
        return chain(files, [(CODEBOOK, encode_codebook(release))]), np.empty(0, dtype=np.int64)
    if is_grouped(release):
        if keep_order or keep_ids:
            raise InputError(
                "a grouping cannot keep record order or ids: they would tell who is in which group; leave it out."
            )
        number, order = canonical_groups(release)
        numbers = number[release.group_of] + 1
        tables = [(CODEBOOK, encode_codebook(release)), (SENSITIVE, encode_counts(release, number))]
        if in_parts:
            runs = [order[start : start + PART_SIZE] for start in range(0, rows.n_records, PART_SIZE)]
            parts = [(part_name(place), _group_part(rows, numbers, run)) for place, run in enumerate(runs)]
            return [*parts, *tables], order
        return [(name, encode_groups(rows, numbers, order, layout.name)), *tables], order
    if keep_ids and rows.ids is None:
        raise InputError("the input has no record ids to keep; leave out --keep-ids.")
    order = np.arange(rows.n_records) if keep_order else rows.lexicographic_order()
    if in_parts:
        starts = range(0, rows.n_records, PART_SIZE)
        parts = [(part_name(number), _part(rows, order, start, layout)) for number, start in enumerate(starts)]
        return [*parts, (CODEBOOK, encode_codebook(release))], order
    published = encode_transactions(rows, layout, order=order, ids=rows.ids if keep_ids else None)
    return [(name, published), (CODEBOOK, encode_codebook(release))], order


def _part(rows: Transactions, order: NDArray[np.int64], start: int, layout: Layout) -> Iterator[bytes]:
    yield encode_part(rows.select(order[start : start + PART_SIZE]), layout)


def _group_part(rows: Transactions, numbers: NDArray[np.int64], run: NDArray[np.int64]) -> Iterator[bytes]:
    yield encode_group_part(rows.select(run), numbers[run])


def _files_elsewhere(release: RemoteGrouping) -> Files:
    """Parts and counts are made where the groups are."""
    with release.groups.in_order() as groups:
        for number, content in groups.parts(PART_SIZE, encode_group_part):
            yield part_name(number), iter([content])
        yield CODEBOOK, encode_codebook(release)
        yield SENSITIVE, chain([header_of_counts()], groups.counts(partial(count_lines, tuple(release.groups.counted))))


def check_form(
    folder: Path,
    release: Release,
    layout: Layout,
    *,
    keep_order: bool = False,
    keep_ids: bool = False,
    in_parts: bool = False,
) -> tuple[list[str], list[str]]:
    """Problems of files that say more than the release read from them, and what cannot be verified; one line each."""
    problems, unchecked = [], []
    try:
        files, _ = encode_release(release, layout, keep_order=keep_order, keep_ids=keep_ids, in_parts=in_parts)
        for name, pieces in files:
            if name.endswith(".parquet"):
                expected = b"".join(pieces)
                if _first_difference(folder / name, [expected]) is None:
                    continue
                if _same_table(folder / name, expected):
                    unchecked.append(
                        f"{name}: written by another version of Polars; content besides the records cannot be verified."
                    )
                else:
                    problems.append(
                        f"{name}: not in canonical form; it holds something that is no part of the release."
                    )
            elif (line := _first_difference(folder / name, pieces)) is not None:
                problems.append(
                    f"{name}: not in canonical form from line {line:,} on; it holds something that is no part of the "
                    "release."
                )
    except InputError as problem:
        problems.append(str(problem))
    return problems, unchecked


def _same_table(path: Path, expected: bytes) -> bool:
    """Whether two Parquet files have the same columns and rows."""
    import polars as pl

    with open_regular(path) as file:
        found = pl.read_parquet(io.BytesIO(file.read()))
    return found.equals(pl.read_parquet(io.BytesIO(expected))) and found.schema == pl.read_parquet_schema(
        io.BytesIO(expected)
    )


def _first_difference(path: Path, pieces: Iterable[bytes]) -> int | None:
    """The line of a file at which it ceases to be what was expected; None if it never does."""
    n_same = 0
    with open_regular(path) as file:
        for piece in pieces:
            found = file.read(len(piece))
            if found != piece:
                n_same += next((place for place, byte in enumerate(found) if byte != piece[place]), len(found))
                break
            n_same += len(piece)
        else:
            if not file.read(1):
                return None
        file.seek(0)
        line = 1
        while n_same and (some := file.read(min(n_same, COUNTED_AT_ONCE))):  # counted only where it matters
            line += some.count(b"\n")
            n_same -= len(some)
        return line


def canonical_groups(release: Grouping) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(number, order)``: groups numbered by sorted content, and records sorted by group number, then content."""
    rank = release.published.row_ranks()
    groups = release.group_of
    by_group = np.lexsort((rank, groups))
    # A group as a row of numbers: its records' ranks in order, then its sensitive counts above all ranks. Only items
    # that are counted have a say in the order.
    counted = [release.sensitive[item] for item in np.unique(release.count_item).tolist()]
    items = Vocabulary(counted).numbers(release.sensitive)[release.count_item]
    by_count = np.lexsort((release.count, items))
    is_new = (np.diff(items[by_count], prepend=-1) != 0) | (np.diff(release.count[by_count], prepend=-1) != 0)
    counts = np.empty(len(items), dtype=np.int64)
    counts[by_count] = len(rank) + np.cumsum(is_new)
    owner = np.concatenate((groups[by_group], release.count_group))
    content = np.concatenate((rank[by_group], counts))
    content = content[np.argsort(owner, kind="stable")]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=release.n_groups)))).astype(np.int64)
    n_codes = int(content.max(initial=0)) + 1
    places, _ = sort_rows(indptr, content.astype(np.int32), n_codes)
    number = np.empty(release.n_groups, dtype=np.int64)
    number[places] = np.arange(release.n_groups)
    return number, np.lexsort((rank, number[groups])) if release.n_groups else by_group
