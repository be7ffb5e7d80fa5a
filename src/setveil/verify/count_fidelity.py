"""Whether a table of counts is true of the original: what only its owner can check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.errors import InputError, name_some
from setveil.models import Counts, PrivacyModel
from setveil.releases import CountTable
from setveil.verify.published import Published

MOST_NAMED = 20
Longs = NDArray[np.int64]


def check_counts(release: CountTable, source: Published, model: PrivacyModel | None) -> list[str]:
    """Every count is the rounded one of the original. Items and pairs, and triples where the certificate says so,
    are complete unless some were suppressed.

    Lengths are compared, too: each group but the largest has the rounded number of records.
    """
    if not isinstance(model, Counts):
        return ["the release is a table of counts, but its model is another one."]
    unknown = [label for label in release.published.vocabulary if label not in set(source.labels)]
    if unknown:
        return [f"listed items that are not in the original: {name_some(unknown)}."]
    names, tables = _listed(release, source, model)
    wrong, lacking = [], []
    for size, (listed, counts) in enumerate(tables, start=1):
        start = release.triples_from if size == 3 else 1
        for keys, people, (first, end) in _itemsets(source, names, size):
            here = slice(*np.searchsorted(listed, (first, end)))
            true = _look_up(keys, people, listed[here])
            for place in np.flatnonzero(_rounded(true, model) != counts[here])[:MOST_NAMED].tolist():
                named, count = _named(listed[here][place], size, names, source), counts[here][place]
                wrong.append(f"counts.csv: the count of {named} is {count:,}, but {true[place]:,} people have it.")
            if release.repaired or start is None:
                continue
            is_missing = (people >= max(start, model.k)) & ~np.isin(keys, listed[here])
            if size == 3:
                rarest = np.min([_look_up(*tables[1], part) for part in _pairs(keys[is_missing], len(names))], axis=0)
                published = _rounded(people[is_missing], model)
                is_missing[is_missing] = (published >= start) & (published < rarest)
            for key in keys[is_missing][:MOST_NAMED].tolist():
                named = _named(key, size, names, source)
                lacking.append(f"counts.csv: lacks {named}, which at least k={model.k} people have.")
    is_listed = np.zeros(len(source.labels) + 1, dtype=np.int64)
    is_listed[names[tables[0][0]]] = 1
    return [*wrong[:MOST_NAMED], *lacking[:MOST_NAMED], *_wrong_lengths(release, source, is_listed, model)]


def _rounded(people: Longs, model: Counts) -> Longs:
    """Counts as they are published; 0 for fewer than k people."""
    k, r = model.k, model.r
    return np.where(people < k, 0, np.maximum(-(-k // r) * r, (2 * people + r) // (2 * r) * r))


def _listed(release: CountTable, source: Published, model: Counts) -> tuple[Longs, list[tuple[Longs, Longs]]]:
    """The items of the original that are listed or have k people, ascending; and for each size the listed itemsets with
    their counts, ascending. An itemset is the number that its items' places among these items give.
    """
    place = {label: number for number, label in enumerate(source.labels)}
    number = np.array([place[label] for label in release.published.vocabulary], dtype=np.int64)
    is_frequent = np.bincount(source.items, minlength=len(source.labels)) >= model.k
    is_frequent[number] = True
    names = np.flatnonzero(is_frequent)
    if len(names) >= 1 << 20:
        raise InputError("the original has too many items to compare counts.")
    number, sizes = np.searchsorted(names, number), np.diff(release.sets.indptr)
    tables = []
    for size in range(1, model.m + 1):
        chosen = np.flatnonzero(sizes == size)
        items = np.sort(number[release.sets.items[release.sets.indptr[chosen][:, None] + np.arange(size)]], axis=1)
        keys = items @ len(names) ** np.arange(size - 1, -1, -1, dtype=np.int64)
        order = np.argsort(keys)
        tables.append((keys[order], release.counts[chosen][order]))
    return names, tables


def _itemsets(source: Published, names: Longs, size: int) -> Iterator[tuple[Longs, Longs, tuple[int, int]]]:
    """All itemsets of one size that somebody has, ascending, and how many people have them, piece by piece; and the
    numbers from the first to the end that a piece covers.
    """
    from scipy.sparse import csr_array

    shape, width = (source.n_records, len(source.labels)), len(names)
    rows = csr_array((np.ones(len(source.items), dtype=np.int32), source.items, source.indptr), shape=shape)[:, names]
    if size == 1:
        yield np.arange(width), np.asarray(rows.sum(axis=0), dtype=np.int64), (0, width)
    elif size == 2:
        yield *_together(rows, 0, width), (0, width**2)
    else:
        columns = rows.tocsc()
        for item in range(width):
            owners = columns.indices[columns.indptr[item] : columns.indptr[item + 1]]
            begin = item * width**2
            yield *_together(rows[owners][:, item + 1 :], begin + (item + 1) * (width + 1), width), (
                begin, begin + width**2,
            )  # fmt: skip


def _together(rows: Any, begin: int, width: int) -> tuple[Longs, Longs]:
    """The pairs of columns that rows have, as numbers from ``begin`` on, ascending, and how many rows have them."""
    both = (rows.T @ rows).tocoo()
    one, two = (part.astype(np.int64) for part in both.coords)
    keys, is_pair = begin + one * width + two, one < two
    order = np.argsort(keys[is_pair])
    return keys[is_pair][order], both.data[is_pair][order].astype(np.int64)


def _look_up(keys: Longs, values: Longs, wanted: Longs) -> Longs:
    """The values of some keys, 0 for unknown ones; ``keys`` ascend."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0)


def _pairs(triples: Longs, width: int) -> tuple[Longs, Longs, Longs]:
    """The numbers of the three pairs of each triple."""
    one, two, three = triples // width**2, triples // width % width, triples % width
    return one * width + two, one * width + three, two * width + three


def _named(key: int, size: int, names: Longs, source: Published) -> str:
    """The labels of an itemset."""
    width = len(names)
    return name_some([source.labels[names[int(key) // width**power % width]] for power in range(size - 1, -1, -1)])


def _wrong_lengths(release: CountTable, source: Published, is_listed: Longs, model: Counts) -> list[str]:
    until = np.concatenate(([0], np.cumsum(is_listed[source.items])))
    lengths = until[source.indptr[1:]] - until[source.indptr[:-1]]
    groups, n_groups = release.lengths.tolist(), len(release.lengths)
    within = [
        (lengths >= first) & ((lengths <= last) | (place == n_groups - 1))
        for place, (first, last, _) in enumerate(groups)
    ]
    true = np.array([int(is_inside.sum()) for is_inside in within], dtype=np.int64)
    is_wrong = _rounded(true, model) != release.lengths[:, 2]
    is_wrong &= np.arange(n_groups) != np.append(true, 0).argmax()  # the largest group has what the others leave
    return [
        f"lengths.csv: {count:,} records with {first} to {last} items, but there are {true[place]:,}."
        for place, (first, last, count) in enumerate(groups)
        if is_wrong[place]
    ]
