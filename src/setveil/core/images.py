"""Where the items of the original may be found in a release, as anyone with the codebook can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core.release import LocalRecoding, Recoding, Release
from setveil.core.seam import call
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Images:
    """Items with the same image are found in the same published records.

    In a local recoding several published items can stand for an item; its image is the set of them. In the other kinds
    it is one published item.
    """

    of_item: NDArray[np.int32]  # [items] image of each item; -1 if no published record can hold it
    indptr: NDArray[np.int64]  # [images + 1]
    published_items: NDArray[np.int32]  # image j is published_items[indptr[j]:indptr[j+1]]
    published: Transactions

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def postings(self) -> Any:
        """The records that may hold the items of each image, for queries: ``arrays.mining.Postings``."""
        if np.array_equal(self.published_items, np.arange(self.published.n_items)) and len(self) == len(
            self.published_items
        ):  # every image is one published item
            return self.published.postings
        return call("Images.postings", self.record_lists(), self.published.n_records)

    def record_lists(self) -> list[NDArray[np.int64]]:
        """For each image the records that may hold its items, ascending."""
        list_indptr, records = self.published.inverted()
        lists = []
        for start, end in zip(self.indptr[:-1].tolist(), self.indptr[1:].tolist(), strict=True):
            parts = [records[list_indptr[p] : list_indptr[p + 1]] for p in self.published_items[start:end]]
            lists.append(parts[0] if len(parts) == 1 else _union(parts, self.published.n_records))
        return lists


def images_of(release: Release, vocabulary: Vocabulary) -> Images:
    """The images of the items of a vocabulary, usually that of the original."""
    n_published = release.published.n_items
    if isinstance(release, LocalRecoding):
        cover = release.cover
        published_of = Transactions.from_pairs(  # row: domain item, items: what can stand for it
            cover.items,
            np.repeat(np.arange(n_published), np.diff(cover.indptr)),
            len(cover.vocabulary),
            release.published.vocabulary,
        )
        sets, _, image = published_of.distinct()
        image = np.where(published_of.lengths > 0, image, -1)
        domain = cover.vocabulary.numbers(vocabulary)
        of_item = np.where(domain >= 0, image[domain], -1) if len(image) else np.full(len(vocabulary), -1)
        return Images(of_item.astype(np.int32), sets.indptr, sets.items, release.published)
    if isinstance(release, Recoding):
        target = np.append(release.target, -1)  # the last entry serves strangers
        of_item = target[release.domain.numbers(vocabulary)]
    else:
        of_item = release.published.vocabulary.numbers(vocabulary)
    identity = np.arange(n_published, dtype=np.int32)
    return Images(of_item.astype(np.int32), np.arange(n_published + 1, dtype=np.int64), identity, release.published)


def _union(lists: list[NDArray[np.int64]], n_records: int) -> NDArray[np.int64]:
    found = np.zeros(n_records, dtype=bool)
    for records in lists:
        found[records] = True
    return np.flatnonzero(found)
