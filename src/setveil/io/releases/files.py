"""A release as files: ``published.*``, ``codebook.csv`` and, for groupings, ``sensitive.csv``.

Files carry nothing about the original that the release itself does not: records stand in canonical order (sorted by
published content), groups are numbered by sorted content, names depend on the hierarchy only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Itemsets, Layout, Transactions, Vocabulary
from setveil.core.columns import Columns
from setveil.core.regular_files import open_regular
from setveil.errors import InputError
from setveil.io.releases.canonical import PARTS, encode_release, layout_of, published_name
from setveil.io.releases.columns import COLUMNS, encode_columns, with_cover
from setveil.io.releases.count_tables import read_count_table
from setveil.io.releases.names import guard, names_for
from setveil.io.releases.people import Roles, read_people
from setveil.io.releases.tables import (
    CODEBOOK,
    encode_codebook,
    read_codebook,
    read_codebook_names,
    read_counts,
    read_item_counts,
)
from setveil.io.transactions.reading import read_written
from setveil.releases import KINDS, CountTable, Grouping, LocalRecoding, Recoding, Release, Replacement
from setveil.releases.columns import publish_column


@dataclass(frozen=True)
class Written:
    """What was written: enough to read it back."""

    files: tuple[str, ...]
    published: str
    layout: Layout
    order: NDArray[np.int64]  # [n_records] the input record at each place of the file; internal
    labels: tuple[str, ...] = ()  # [published items] their names in the file


def write_release(
    release: Release,
    folder: Path,
    layout: Layout,
    *,
    keep_order: bool = False,
    keep_ids: bool = False,
    safe_csv: bool = False,
    public_items: Collection[str] = (),
    owners_folder: Path | None = None,
) -> Written:
    """Write the release's files into an existing folder; ``safe_csv``: with labels no spreadsheet takes for a formula.

    Of items that are not published the codebook names those in ``public_items`` only; the one in ``owners_folder``
    names all.
    """
    layout = layout_of(release, layout)
    if release.published.columns:
        rows = release.rows.with_used_values()
        unchanged = (column for column in rows.columns or () if column.role == "known" and column.cover is None)
        covered = Columns(tuple(rows.columns or ())).replaced(
            publish_column(column, column.leaves[column.codes]) for column in unchanged
        )
        release = replace(release, published=replace(rows, columns=covered))
    public = release.named_only(public_items)
    if release.published.columns:
        named = Columns(tuple(column.named_only() for column in release.rows.columns or ()))
        public = replace(public, published=replace(public.rows, columns=named))
    labels = names_for(public, layout)  # by what is shown: the numbers of items must not show where others are missing
    whole, is_whole = release.renamed(labels), public is release
    public = whole if is_whole else public.renamed(labels)
    if safe_csv:
        whole = whole.relabelled(guard)
        public = whole if is_whole else public.relabelled(guard)
        labels = [guard(label) for label in labels]
    if owners_folder is not None:
        _write(owners_folder / CODEBOOK, encode_codebook(whole))
        if whole.published.columns:
            _write(owners_folder / COLUMNS, encode_columns(whole.published.columns))
    del whole  # as large as the data
    files, order = encode_release(public, layout, keep_order=keep_order, keep_ids=keep_ids)
    names = []
    for name, pieces in files:
        _write(folder / name, pieces)
        names.append(name)
    published = PARTS if public.published.written_in_parts else published_name(layout, public.kind)
    return Written(tuple(names), published, layout, order, tuple(labels))


def _write(path: Path, pieces: Iterator[bytes]) -> None:
    path.parent.mkdir(exist_ok=True)  # the folder of the parts
    with open(path, "wb") as file:
        file.writelines(pieces)


class PublishedParts(Protocol):
    """The parts of a release that something else has read."""

    @property
    def rows(self) -> Dataset:
        """Their records."""

    def release(self, kind: str, sensitive: Sequence[str]) -> Release | None:
        """The release of a kind; None for a kind that is made from ``rows``."""


def read_release(
    folder: Path,
    kind: str,
    published: str,
    layout: Layout,
    sensitive: Sequence[str] = (),
    *,
    keep_ids: bool = False,
    parts: PublishedParts | None = None,
    columns: Roles = (),
) -> Release:
    """Read a release back from its files; records come in the order of the file.

    ``parts``: its parts, if they were read already. ``columns``: names and roles of its columns.
    """
    if kind not in KINDS:
        raise InputError(f'{folder}: certificate.json names an unknown kind of release "{kind}".')
    path, has_groups = folder / published, KINDS[kind].has_groups
    release = None if parts is None else parts.release(kind, sensitive)
    if release is None and (columns or has_groups):
        people, group_of = read_people(path, layout.name, columns, has_groups)
        if people.columns is not None:
            people = replace(people, columns=with_cover(people.columns, folder))
        if has_groups:
            release = _read_grouping(folder, people, group_of, sensitive)
        else:
            release = MAKERS[kind](people, folder, sensitive)
    elif release is None:
        release = MAKERS[kind](_read_rows(path, layout, keep_ids) if parts is None else parts.rows, folder, sensitive)
    return replace(release, names=read_codebook_names(folder), item_counts=read_item_counts(folder))


def _count_table(rows: Dataset, folder: Path, sensitive: Sequence[str]) -> CountTable:
    return read_count_table(folder, rows.rows)


def _replacement(rows: Dataset, folder: Path, sensitive: Sequence[str]) -> Replacement:
    hidden = rows.vocabulary.numbers(sensitive)
    visible = np.ones(rows.n_items, dtype=bool)
    visible[hidden[hidden >= 0]] = False
    class_of = rows.rows.keep_items(visible).distinct().inverse
    return Replacement(published=rows, class_of=class_of, sensitive=tuple(sensitive))


def _recoding(rows: Dataset, folder: Path, sensitive: Sequence[str]) -> Recoding:
    book = read_codebook(folder)
    domain = Vocabulary({item for _, item in book})
    items = domain.numbers(item for _, item in book)
    target = np.full(len(domain), -1, dtype=np.int32)
    target[items] = rows.vocabulary.numbers(label for label, _ in book)
    empty = np.zeros(len(domain), dtype=bool)
    empty[items[np.array([label == "" for label, _ in book], dtype=bool)]] = True
    return Recoding(published=rows, domain=domain, target=target, suppressed=empty)


def _local_recoding(rows: Dataset, folder: Path, sensitive: Sequence[str]) -> LocalRecoding:
    book = read_codebook(folder)
    domain = Vocabulary({item for _, item in book})
    targets, items = rows.vocabulary.numbers(label for label, _ in book), domain.numbers(item for _, item in book)
    known = targets >= 0
    cover = Transactions.from_pairs(targets[known], items[known], rows.n_items, domain)
    return LocalRecoding(published=rows, cover=Itemsets(cover.indptr, cover.items, domain))


# From the published records; groupings need more.
MAKERS: dict[str, Callable[[Dataset, Path, Sequence[str]], Release]] = {
    Recoding.kind: _recoding,
    LocalRecoding.kind: _local_recoding,
    Replacement.kind: _replacement,
    CountTable.kind: _count_table,
}


def _read_rows(path: Path, layout: Layout, keep_ids: bool) -> Transactions:
    """The published records: a file, or its parts one after the other."""
    if path.name != PARTS:
        with open_regular(path) as file:
            return read_written(file, layout, keep_ids)
    parts = []
    for part in sorted(path.glob("part-*.parquet")):
        with open_regular(part) as file:
            parts.append(read_written(file, layout))
    vocabulary = Vocabulary({label for part in parts for label in part.vocabulary})
    parts = [part.over(vocabulary) for part in parts]
    lengths = np.concatenate([part.lengths for part in parts]) if parts else np.empty(0, dtype=np.int64)
    items = np.concatenate([part.items for part in parts]) if parts else np.empty(0, dtype=np.int32)
    return Transactions.from_rows(lengths, items, vocabulary, layout)


def _read_grouping(folder: Path, rows: Transactions, group_of: NDArray[np.int64], sensitive: Sequence[str]) -> Grouping:
    entries = read_counts(folder, int(group_of.max(initial=0)))
    vocabulary = Vocabulary(set(sensitive) | {item for _, item, _ in entries})
    groups = np.array([group for group, _, _ in entries], dtype=np.int64)
    items = vocabulary.numbers(item for _, item, _ in entries)
    order = np.lexsort((items, groups))
    return Grouping(
        published=rows,
        group_of=group_of - 1,
        sensitive=vocabulary,
        count_group=groups[order],
        count_item=items[order],
        count=np.array([count for _, _, count in entries], dtype=np.int64)[order],
    )
