"""Whether a table of counts is true of the original: what only its owner can check."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from setveil.core.progress import no_progress
from setveil.errors import name_some
from setveil.models import Counts, PrivacyModel
from setveil.releases import CountTable
from setveil.verify.published import Published

MOST_NAMED = 20


def check_counts(release: CountTable, source: Published, model: PrivacyModel | None) -> list[str]:
    """Every count is the rounded one of the original. Items and pairs, and triples where the certificate says so,
    are complete unless some were suppressed.

    Lengths are compared, too: each group but the largest has the rounded number of records.
    """
    if not isinstance(model, Counts):
        return ["the release is a table of counts, but its model is another one."]
    listed = _listed(release, source)
    unknown = [label for label in release.published.vocabulary if label not in set(source.labels)]
    if unknown:
        return [f"listed items that are not in the original: {name_some(unknown)}."]
    true = _supports(source, list(listed))
    problems = []
    for itemset, count in listed.items():
        if count != rounded(true[itemset], model):
            named = name_some([source.labels[item] for item in itemset])
            problems.append(f"counts.csv: the count of {named} is {count:,}, but {true[itemset]:,} people have it.")
    if not release.repaired:
        problems += _missing(source, listed, model)
        start = release.triples_from
        problems += _missing_triples(source, listed, model, start) if start is not None else []
    return [*problems[:MOST_NAMED], *_wrong_lengths(release, source, listed, model)]


def rounded(count: int, model: Counts) -> int:
    """A count as it is published; 0 for fewer than k people."""
    if count < model.k:
        return 0
    return max(-(-model.k // model.r) * model.r, (2 * count + model.r) // (2 * model.r) * model.r)


def _listed(release: CountTable, source: Published) -> dict[tuple[int, ...], int]:
    """The table over the items of the original."""
    place = {label: number for number, label in enumerate(source.labels)}
    number = [place.get(label, -1) for label in release.published.vocabulary]
    bounds, items = release.sets.indptr.tolist(), [number[item] for item in release.sets.items.tolist()]
    return {
        tuple(sorted(items[a:b])): count
        for (a, b), count in zip(pairwise(bounds), release.counts.tolist(), strict=True)
    }


def _supports(source: Published, itemsets: list[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
    """In how many original records each itemset is."""
    if not itemsets:
        return {}
    from setveil.verify.tables import Indexed, make_table  # loads Numba

    indexed = Indexed.of(make_table(source, progress=no_progress), no_progress)
    bounds = np.concatenate(([0], np.cumsum([len(one) for one in itemsets]))).astype(np.int64)
    flat = np.array([item for one in itemsets for item in one], dtype=np.int32)
    counts = indexed.count(bounds[:-1], bounds[1:], flat, 2**62)
    return dict(zip(itemsets, counts.tolist(), strict=True))


def _missing(source: Published, listed: dict[tuple[int, ...], int], model: Counts) -> list[str]:
    """Single items and pairs of at least k people that are not listed."""
    from scipy.sparse import csr_array

    shape = (source.n_records, len(source.labels))
    rows = csr_array((np.ones(len(source.items), dtype=np.int64), source.items, source.indptr), shape=shape)
    singles = np.bincount(source.items, minlength=len(source.labels))
    frequent = np.flatnonzero(singles >= model.k)
    missing: list[tuple[int, ...]] = [(item,) for item in frequent.tolist() if (item,) not in listed]
    if model.m >= 2:
        some = rows[:, frequent]
        both = (some.T @ some).tocoo()
        is_pair = (both.coords[0] < both.coords[1]) & (both.data >= model.k)
        found = zip(frequent[both.coords[0][is_pair]].tolist(), frequent[both.coords[1][is_pair]].tolist(), strict=True)
        missing += [pair for pair in found if pair not in listed]
    return [
        f"counts.csv: lacks {name_some([source.labels[item] for item in one])}, which at least k={model.k} people have."
        for one in sorted(missing)[:MOST_NAMED]
    ]


def _missing_triples(source: Published, listed: dict[tuple[int, ...], int], model: Counts, start: int) -> list[str]:
    """Triples of at least ``start`` people, and of fewer than each of their pairs, that are not listed."""
    near: dict[int, set[int]] = {}
    for one, two in (pair for pair in listed if len(pair) == 2):
        near.setdefault(one, set()).add(two)
    missing: list[tuple[int, ...]] = [
        (one, two, three)
        for one, others in near.items()
        for two in others
        for three in others & near.get(two, set())
        if (one, two, three) not in listed
    ]
    true = _supports(source, missing)
    return [
        f"counts.csv: lacks {name_some([source.labels[item] for item in one])}, which at least k={model.k} people have."
        for one in sorted(missing)
        if max(start, 1) <= rounded(true[one], model) < min(listed[pair] for pair in combinations(one, 2))
    ][:MOST_NAMED]


def _wrong_lengths(
    release: CountTable, source: Published, listed: dict[tuple[int, ...], int], model: Counts
) -> list[str]:
    is_listed = np.zeros(len(source.labels) + 1, dtype=np.int64)
    is_listed[[one[0] for one in listed if len(one) == 1]] = 1
    until = np.concatenate(([0], np.cumsum(is_listed[source.items])))
    lengths = until[source.indptr[1:]] - until[source.indptr[:-1]]
    groups = release.lengths.tolist()
    problems, true = [], []
    for place, (first, last, _) in enumerate(groups):
        is_inside = (lengths >= first) & ((lengths <= last) | (place == len(groups) - 1))
        true.append(int(is_inside.sum()))
    largest = max(range(len(groups)), key=lambda place: true[place], default=0)
    for place, (first, last, count) in enumerate(groups):
        if place != largest and count != rounded(true[place], model):
            problems.append(
                f"lengths.csv: {count:,} records with {first} to {last} items, but there are {true[place]:,}."
            )
    return problems
