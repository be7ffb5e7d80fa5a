"""The one form in which a release is written: what it says determines every byte.

Records stand in the order of their published content, groups are numbered by theirs, every label is quoted in one way.
So a file that is not in this form carries something besides the release, and a verifier can tell.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core import Layout, Transactions
from setveil.core.regular_files import open_regular
from setveil.errors import InputError
from setveil.io.formats.registry import FORMATS, written_format
from setveil.io.releases.columns import COLUMNS, encode_columns
from setveil.io.releases.people import SUFFIXES, encode_group_part, encode_people, people_layout
from setveil.io.releases.tables import (
    CODEBOOK,
    ITEM_COUNTS,
    SENSITIVE,
    encode_codebook,
    encode_counts,
    encode_item_counts,
)
from setveil.io.transactions.writing import encode_transactions
from setveil.releases import KINDS, Release, is_grouped

PARQUET_ABOVE = 10_000_000  # records of a grouping
PARTS = "published"  # the folder of the parts, where a cluster wrote the release
PART_SIZE = 1 << 18  # records of a part
COUNTED_AT_ONCE = 1 << 20  # bytes

Files = Iterable[tuple[str, Iterator[bytes]]]  # name and bytes, piece by piece


def bare_layout(layout: Layout, kind: str, keep_ids: bool, has_columns: bool = False) -> Layout:
    """A layout with no detail that its file does not show: names of columns would else tell of the input."""
    if KINDS[kind].has_groups or has_columns:
        return Layout(layout.name)
    format = FORMATS[layout.name]
    has_ids = format.needs_ids or layout.long or keep_ids
    shown = [detail for detail in format.details if detail != "id_column" or has_ids]
    return Layout(layout.name, **{detail: getattr(layout, detail) for detail in shown})


def layout_of(release: Release, wanted: Layout, *, in_parts: bool = False) -> Layout:
    """The layout a release is written in: groupings have their own, and so have releases with columns."""
    if release.published.columns:
        return Layout("jsonl") if release.has_groups else people_layout(wanted.name)
    if not release.has_groups:
        return wanted
    is_large = in_parts or release.published.written_in_parts
    return Layout("parquet" if is_large or release.published.n_records > PARQUET_ABOVE else "jsonl")


def published_name(layout: Layout, kind: str) -> str:
    """``published.csv`` and the like."""
    return KINDS[kind].file_stem + (SUFFIXES.get(layout.name) or written_format(layout.name).suffix)


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
    if release.no_order and (keep_order or keep_ids):
        raise InputError(f"a {release.kind} cannot keep record order or ids: {release.no_order}; remove it.")
    if release.published.columns and keep_ids:
        raise InputError("a release with columns cannot contain record ids; remove --keep-ids.")
    if keep_ids and release.published.ids is None:
        raise InputError("the input has no record ids to keep; remove --keep-ids.")
    if in_parts or release.published.written_in_parts:
        return _parts_of(release, layout), np.empty(0, dtype=np.int64)
    rows, name = release.rows, published_name(layout, release.kind)
    tables = [(CODEBOOK, encode_codebook(release)), *release.further_tables()]
    if release.item_counts:
        tables.append((ITEM_COUNTS, encode_item_counts(release)))
    if rows.columns:
        tables.append((COLUMNS, encode_columns(rows.columns)))
    if is_grouped(release):
        groups = release.canonical()
        order, numbers = groups.order, groups.number[release.group_of] + 1
        tables.insert(1, (SENSITIVE, encode_counts(release.counted, groups)))
        return [(name, encode_people(rows, order, layout.name, numbers)), *tables], order
    if rows.columns:
        order = np.arange(rows.n_records) if keep_order else np.argsort(rows.ranks(), kind="stable")
        return [(name, encode_people(rows, order, layout.name)), *tables], order
    order = np.arange(rows.n_records) if keep_order else rows.lexicographic_order()
    published = encode_transactions(rows, layout, order=order, ids=rows.ids if keep_ids else None)
    return [(name, published), *tables], order


def _parts_of(release: Release, layout: Layout) -> Files:
    """Parts and counts are made where the records are."""
    if not is_grouped(release):
        yield from _named(release.published.sorted_parts(PART_SIZE, partial(encode_part, layout=layout)))
        yield CODEBOOK, encode_codebook(release)
        if release.item_counts:
            yield ITEM_COUNTS, encode_item_counts(release)
        return
    with release.in_order() as groups:
        yield from _named(groups.parts(PART_SIZE, encode_group_part))
        yield CODEBOOK, encode_codebook(release)
        yield SENSITIVE, encode_counts(release.counted, groups)


def _named(parts: Iterable[tuple[int, bytes]]) -> Files:
    return ((part_name(number), iter([content])) for number, content in parts)


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
                        f"{name}: not in canonical form; it contains something that is not part of the release."
                    )
            elif (line := _first_difference(folder / name, pieces)) is not None:
                problems.append(
                    f"{name}: not in canonical form from line {line:,} on; it contains something that is not part of "
                    "the release."
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
