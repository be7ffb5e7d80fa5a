"""A release as files: ``published.*``, ``codebook.csv`` and, for groupings, ``sensitive.csv``.

Files carry nothing about the original that the release itself does not: records stand in canonical order (sorted by
published content), groups are numbered by sorted content, names depend on the hierarchy only.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from setveil.core import (
    Grouping,
    Itemsets,
    Layout,
    LocalRecoding,
    Recoding,
    Release,
    Replacement,
    Transactions,
    Vocabulary,
)
from setveil.core.transactions import sort_rows
from setveil.errors import InputError, name_some
from setveil.io.releases.groups import read_groups, write_groups
from setveil.io.transactions.reading import extension, read_written
from setveil.io.transactions.writing import write_transactions

CODEBOOK = "codebook.csv"
SENSITIVE = "sensitive.csv"
INTEGER_LAYOUTS = ("fimi", "spmf")
PARQUET_ABOVE = 10_000_000  # records of a grouping


@dataclass(frozen=True)
class Written:
    """What was written: enough to read it back."""

    files: tuple[str, ...]
    published: str
    layout: Layout
    order: NDArray[np.int64]  # [n_records] the input record at each place of the file; internal
    labels: tuple[str, ...] = ()  # [published items] their names in the file


def write_release(
    release: Release, folder: Path, layout: Layout, *, keep_order: bool = False, keep_ids: bool = False
) -> Written:
    """Write the release's files into an existing folder."""
    labels = names_for(release, layout)
    named = rename(release, labels)
    if isinstance(named, Grouping):
        suffix = ".parquet" if named.published.n_records > PARQUET_ABOVE else ".jsonl"
        written = _write_grouping(named, folder, "published" + suffix, keep_order, keep_ids)
        return replace(written, labels=tuple(labels))
    rows = named.published
    order = np.arange(rows.n_records) if keep_order else rows.lexicographic_order()
    if keep_ids and rows.ids is None:
        raise InputError("the input has no record ids to keep; leave out --keep-ids.")
    name = "published" + extension(layout.name)
    write_transactions(rows, folder / name, layout, order=order, ids=rows.ids if keep_ids else None)
    _write_csv(folder / CODEBOOK, ("published_item", "item"), codebook_rows(named))
    return Written((name, CODEBOOK), name, layout, order, tuple(labels))


def read_release(folder: Path, kind: str, published: str, layout: Layout, sensitive: Sequence[str] = ()) -> Release:
    """Read a release back from its files; records come in the order of the file."""
    path = folder / published
    if kind == Grouping.kind:
        rows, group_of = read_groups(path)
        return _read_grouping(folder, rows, group_of, sensitive)
    rows = read_written(path, layout)
    if kind == Replacement.kind:
        hidden = rows.vocabulary.numbers(sensitive)
        visible = np.ones(rows.n_items, dtype=bool)
        visible[hidden[hidden >= 0]] = False
        class_of = rows.keep_items(visible).distinct().inverse
        return Replacement(published=rows, class_of=class_of, sensitive=tuple(sensitive))
    book = read_codebook(folder)
    domain = Vocabulary({item for _, item in book})
    targets = rows.vocabulary.numbers(label for label, _ in book)
    items = domain.numbers(item for _, item in book)
    if kind == Recoding.kind:
        target = np.full(len(domain), -1, dtype=np.int32)
        target[items] = targets
        empty = np.zeros(len(domain), dtype=bool)
        empty[items[np.array([label == "" for label, _ in book], dtype=bool)]] = True
        return Recoding(published=rows, domain=domain, target=target, suppressed=empty)
    if kind == LocalRecoding.kind:
        known = targets >= 0
        cover = Transactions.from_pairs(targets[known], items[known], rows.n_items, domain)
        return LocalRecoding(published=rows, cover=Itemsets(cover.indptr, cover.items, domain))
    raise InputError(f'{folder}: certificate.json names an unknown kind of release "{kind}".')


def reorder_records(release: Release, order: NDArray[np.integer]) -> Release:
    """The same release with its records in another order."""
    published = release.published.select(order)
    if isinstance(release, Replacement):
        return replace(release, published=published, class_of=release.class_of[order])
    if isinstance(release, Grouping):
        return replace(release, published=published, group_of=release.group_of[order])
    return replace(release, published=published)


# -- names ------------------------------------------------------------------------------------------------------------


def names_for(release: Release, layout: Layout) -> list[str]:
    """For each published item a label the layout can carry: integers in fimi and spmf, no delimiters elsewhere.

    Items of replacements and groupings are original items and keep their labels: no codebook could give them back.
    """
    if isinstance(release, Replacement | Grouping):
        return list(release.published.vocabulary)
    return _integer_names(release) if layout.name in INTEGER_LAYOUTS else _text_names(release, layout)


def rename(release: Release, names: list[str]) -> Release:
    """The same release with other labels, one per published item."""
    if names == list(release.published.vocabulary):
        return release
    vocabulary = Vocabulary(names)
    number = vocabulary.numbers(names)  # [published items] old number → new number
    published = release.published.recode(number, vocabulary)
    if isinstance(release, Recoding):
        target = np.where(release.target >= 0, number[release.target], -1).astype(np.int32)
        return replace(release, published=published, target=target)
    if isinstance(release, LocalRecoding):
        back = np.argsort(number)
        sets = [release.cover[int(old_number)] for old_number in back]
        indptr = np.concatenate(([0], np.cumsum([len(items) for items in sets]))).astype(np.int64)
        items = np.concatenate(sets) if sets else release.cover.items
        return replace(release, published=published, cover=Itemsets(indptr, items, release.cover.vocabulary))
    return replace(release, published=published)


def _stands_for_itself(release: Release) -> list[bool]:
    """Whether each published item is an original item, published as it is."""
    labels = release.published.vocabulary
    if isinstance(release, Recoding | LocalRecoding):
        book = release.codebook()
        return [book[label] == [label] for label in labels]
    return [True] * len(labels)


def _integer_names(release: Release) -> list[str]:
    """Original items keep their integer; generalized ones get fresh integers above the largest, in hierarchy order."""
    labels = list(release.published.vocabulary)
    intact = _stands_for_itself(release)
    if isinstance(release, Recoding | LocalRecoding):
        domain = release.domain if isinstance(release, Recoding) else release.cover.vocabulary
    else:
        domain = release.published.vocabulary
    numeric = all(label.isascii() and label.isdigit() for label in domain)
    base = max((int(label) for label in domain), default=0) if numeric else len(domain)
    own = {label: label if numeric else str(number) for number, label in enumerate(domain, start=1)}
    hierarchy = release.hierarchy if isinstance(release, Recoding | LocalRecoding) else None
    if hierarchy is not None:
        # Every inner node has its number, used or not: numbers depend on the hierarchy only.
        inner = [int(node) for node in hierarchy.in_preorder if node >= hierarchy.n_items]
        fresh = {hierarchy.published_labels[node]: str(base + place) for place, node in enumerate(inner, start=1)}
    else:
        merged = [label for label, is_intact in zip(labels, intact, strict=True) if not is_intact]
        if isinstance(release, Recoding | LocalRecoding):
            book = release.codebook()
            merged.sort(key=lambda label: int(domain.number(book[label][0])))
        fresh = {label: str(base + place) for place, label in enumerate(merged, start=1)}
    return [own[label] if is_intact else fresh[label] for label, is_intact in zip(labels, intact, strict=True)]


def _text_names(release: Release, layout: Layout) -> list[str]:
    """Names without the layout's delimiters and line breaks; original items keep theirs, the writer quotes them."""
    labels = list(release.published.vocabulary)
    forbidden = {"basket": layout.delimiter + '"\r\n', "long": layout.delimiter + '"\r\n'}.get(layout.name, "")
    if not forbidden:
        return labels
    intact = _stands_for_itself(release)
    domain = release.domain if isinstance(release, Recoding) else ()
    taken = set(labels) | set(domain)
    clean = str.maketrans(dict.fromkeys(forbidden, "_" if layout.delimiter == " " else " "))
    for place, (label, is_intact) in enumerate(zip(labels, intact, strict=True)):
        if is_intact or not set(forbidden) & set(label):
            continue
        base = candidate = " ".join(label.translate(clean).split())
        count = 2
        while candidate in taken:
            candidate, count = f"{base} ({count})", count + 1
        taken.add(candidate)
        labels[place] = candidate
    return labels


# -- codebook ---------------------------------------------------------------------------------------------------------


def codebook_rows(release: Release) -> list[tuple[str, str]]:
    """``(published_item, item)`` sorted by the published item's label, then the item's; suppressed and absent first."""
    labels = release.published.vocabulary
    if isinstance(release, Recoding):
        pairs = [
            (labels[number] if number >= 0 else "", item)
            for item, number in zip(release.domain, release.target.tolist(), strict=True)
        ]
        order = sorted(range(len(pairs)), key=lambda place: (int(release.target[place]), place))
        return [pairs[place] for place in order]
    if isinstance(release, LocalRecoding):
        covered = np.zeros(len(release.cover.vocabulary), dtype=bool)
        covered[release.cover.items] = True
        absent = [("", release.cover.vocabulary[int(item)]) for item in np.flatnonzero(~covered)]
        return absent + [
            (label, item) for label, items in zip(labels, release.cover.to_lists(), strict=True) for item in items
        ]
    return [(label, label) for label in labels]


def read_codebook(folder: Path) -> list[tuple[str, str]]:
    """Rows of ``codebook.csv``; a malformed one is an error with its line."""
    return [(row[0], row[1]) for row in _read_csv(folder / CODEBOOK, ("published_item", "item"))]


def _write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _read_csv(path: Path, header: Sequence[str]) -> Iterator[list[str]]:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            if next(reader, None) != list(header):
                raise InputError(f"{path}:1: the header must be {','.join(header)}.")
            for row in reader:
                if len(row) != len(header):
                    raise InputError(f"{path}:{reader.line_num}: expected {len(header)} fields, found {len(row)}.")
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"{path}: cannot be read as CSV ({problem}).") from None


# -- groupings --------------------------------------------------------------------------------------------------------


def _write_grouping(release: Grouping, folder: Path, name: str, keep_order: bool, keep_ids: bool) -> Written:
    if keep_order or keep_ids:
        raise InputError(
            "a grouping cannot keep record order or ids: they would tell who is in which group; leave it out."
        )
    number, order = canonical_groups(release)
    write_groups(folder / name, release.published, number + 1, release.group_of, order)
    by_number = np.lexsort((release.count_item, number[release.count_group]))
    rows = [
        (
            int(number[release.count_group[place]]) + 1,
            release.sensitive[int(release.count_item[place])],
            int(release.count[place]),
        )
        for place in by_number
    ]
    _write_csv(folder / SENSITIVE, ("group", "item", "count"), rows)
    _write_csv(folder / CODEBOOK, ("published_item", "item"), codebook_rows(release))
    layout = Layout("parquet" if name.endswith(".parquet") else "jsonl")
    return Written((name, CODEBOOK, SENSITIVE), name, layout, order)


def canonical_groups(release: Grouping) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """``(number, order)``: groups numbered by sorted content, and records sorted by group number, then content."""
    rank = release.published.row_ranks()
    groups = release.group_of
    by_group = np.lexsort((rank, groups))
    # A group as a row of numbers: its records' ranks in order, then its sensitive counts above all ranks.
    n_ranks = len(rank) + 1
    most = int(release.count.max(initial=0)) + 1
    counts = n_ranks + release.count_item.astype(np.int64) * most + release.count
    owner = np.concatenate((groups[by_group], release.count_group))
    content = np.concatenate((rank[by_group], counts))
    content = content[np.argsort(owner, kind="stable")]
    indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=release.n_groups)))).astype(np.int64)
    n_codes = int(content.max(initial=0)) + 1
    places, _ = sort_rows(indptr, content, n_codes)
    number = np.empty(release.n_groups, dtype=np.int64)
    number[places] = np.arange(release.n_groups)
    return number, np.lexsort((rank, number[groups])) if release.n_groups else by_group


def _read_grouping(folder: Path, rows: Transactions, group_of: NDArray[np.int64], sensitive: Sequence[str]) -> Grouping:
    n_groups = int(group_of.max(initial=0))
    entries: list[tuple[int, str, int]] = []
    for line, (group, item, count) in enumerate(_read_csv(folder / SENSITIVE, ("group", "item", "count")), start=2):
        where = f"{folder / SENSITIVE}:{line}"
        if not (group.isascii() and group.isdigit() and count.isascii() and count.isdigit()):
            raise InputError(f"{where}: group and count must be whole numbers.")
        if not 1 <= int(group) <= n_groups:
            raise InputError(f"{where}: there is no group {group}.")
        if int(count) < 1:
            raise InputError(f"{where}: a count must be at least 1.")
        entries.append((int(group) - 1, item, int(count)))
    vocabulary = Vocabulary(set(sensitive) | {item for _, item, _ in entries})
    if len({(group, item) for group, item, _ in entries}) != len(entries):
        twice = [item for _, item, _ in entries]
        raise InputError(f"{folder / SENSITIVE}: a group counts an item twice ({name_some(dict.fromkeys(twice), 3)}).")
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
