"""Whether ``item_counts.csv`` reveals more than it may: from the files, and with the original.

Written without the code that chooses the counts; ``docs/item-counts.md`` has the proof. For a category of s records:
each listed count is at least k and below s; not exactly one item is unlisted; and if none is, no set of at most m of
the items follows from the counts to have 1 to k - 1 people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from setveil.core import Dataset
from setveil.errors import one_line
from setveil.models import PrivacyModel
from setveil.releases import Release
from setveil.verify.book import read_book
from setveil.verify.published import read_published

FILE = "item_counts.csv"


def check_item_counts(release: Release, model: PrivacyModel | None, original: Dataset | None = None) -> list[str]:
    """Problems of the counts beside a release, one line each; with ``original`` also whether they are true.

    ``model``: None where its parameters are not known here, which a release with counts never has.
    """
    listed = dict(release.item_counts)
    if not listed:
        return []
    allowed = None if model is None else model.item_counts
    if allowed is None:
        return [f"{FILE}: releases of this privacy model have no such file."]
    k, largest = allowed
    categories, supports = _categories(release), _count_items(release.published)
    known = {item for members in categories.values() for item in members}
    problems = [f'{FILE}: "{one_line(item)}" is not an item of a category.' for item in sorted(set(listed) - known)]
    truth = None if original is None else _count_items(original)
    for label, members in sorted(categories.items()):
        counts = {item: listed[item] for item in members if item in listed}
        if counts:
            problems += _check_category(label, members, counts, supports[label], k, largest)
            if truth is not None:
                problems += _check_truth(label, members, counts, truth, k)
    return problems[:10]


def _categories(release: Release) -> dict[str, list[str]]:
    """The items of each published label that covers several."""
    book = read_book(release)
    if book is None or not release.is_uniform:
        return {}
    members: dict[str, list[str]] = defaultdict(list)
    for label, item in zip(book.labels.tolist(), book.items.tolist(), strict=True):
        members[release.published.vocabulary[label]].append(book.domain[item])
    return {label: items for label, items in members.items() if len(items) > 1}


def _count_items(records: Dataset) -> dict[str, int]:
    """The number of records of every label; a cluster counts its own."""

    def counted(records: Dataset) -> dict[str, int]:
        published = read_published(records)
        counts = np.bincount(published.items, minlength=len(published.labels)).tolist()
        return dict(zip(published.labels, counts, strict=True))

    return records.look(counted, lambda: dict(zip(records.vocabulary, records.supports.tolist(), strict=True)))


def _check_category(
    label: str, members: list[str], counts: Mapping[str, int], support: int, k: int, largest: float
) -> list[str]:
    name = one_line(label)
    for item, count in sorted(counts.items()):
        if count < k:
            return [f'{FILE}: "{one_line(item)}" is counted with {count:,}, fewer than k={k}.']
        if count >= support:
            return [f'{FILE}: "{one_line(item)}" is counted as often as its category "{name}", or more often.']
    n_unlisted = len(members) - len(counts)
    if n_unlisted == 1:
        return [f'{FILE}: all items of "{name}" but one are counted, which reveals that one.']
    if n_unlisted:
        return []
    # Every item is counted: what follows for the records that have several of them?
    spare = sum(counts.values()) - support
    if spare < 0:
        return [f'{FILE}: the counts of "{name}" add up to fewer than its {support:,} records.']
    least = support  # records that have all of the n_items most frequent ones, at least
    for n_items, count in enumerate(sorted(counts.values(), reverse=True), start=1):
        least += count - support
        most = spare // (n_items - 1) if n_items > 1 else support
        if 1 < n_items <= largest and least >= 1 and most < k:
            return [
                f'{FILE}: the counts of "{name}" reveal that {n_items} of its items are together in {least:,} to '
                f"{most:,} records, fewer than k={k}."
            ]
    return []


def _check_truth(
    label: str, members: list[str], counts: Mapping[str, int], truth: Mapping[str, int], k: int
) -> list[str]:
    """The counts are those of the original, and some unlisted item need not be rare."""
    for item, count in sorted(counts.items()):
        if truth.get(item, 0) != count:
            return [f'{FILE}: "{one_line(item)}" has another count in the original.']
    unlisted = [truth.get(item, 0) for item in members if item not in counts]
    if unlisted and all(0 < count < k for count in unlisted):
        return [f'{FILE}: every item of "{one_line(label)}" that is not counted has fewer than k={k} people.']
    return []
