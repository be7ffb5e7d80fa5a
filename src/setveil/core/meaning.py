"""What published items cover, and where original items may be found, as anyone with the codebook can tell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Dataset
from setveil.core.itemsets import Itemsets
from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary

SPARSE = 8  # lists with fewer records than one in so many are merged by sorting


@dataclass(frozen=True, eq=False)
class Meaning:
    """The original items that each published item covers."""

    cover: Itemsets  # [published items] over the items that the release speaks of
    published: Dataset

    @classmethod
    def identity(cls, published: Dataset) -> Meaning:
        """Every published item is an original item."""
        n_items = published.n_items
        every = np.arange(n_items, dtype=np.int32)
        return cls(Itemsets(np.arange(n_items + 1, dtype=np.int64), every, published.vocabulary), published)

    @property
    def domain(self) -> Vocabulary:
        """The items that the release speaks of."""
        return self.cover.vocabulary

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many items each published item covers, int64[published items]."""
        return np.diff(self.cover.indptr)

    @cached_property
    def are_intact(self) -> list[bool]:
        """Whether each published item is an original item under its own name, and covers nothing else."""
        first = self.cover.items[np.minimum(self.cover.indptr[:-1], max(len(self.cover.items) - 1, 0))]
        return [
            size == 1 and self.domain[int(item)] == label
            for label, size, item in zip(self.published.vocabulary, self.sizes.tolist(), first, strict=True)
        ]

    @cached_property
    def covered(self) -> NDArray[np.bool_]:
        """Which items of the domain some published item covers."""
        is_covered = np.zeros(len(self.domain), dtype=bool)
        is_covered[self.cover.items] = True
        return is_covered

    def of_single_items(self) -> Meaning:
        """The same without what published items cover that cover several."""
        is_single = self.sizes == 1
        indptr = np.concatenate(([0], np.cumsum(is_single))).astype(np.int64)
        items = self.cover.items[np.repeat(is_single, self.sizes)]
        return Meaning(Itemsets(indptr, items, self.domain), self.published)

    def members(self, number: int, most: int | None = None) -> list[str]:
        """The first items that a published item covers."""
        items = self.cover[number] if most is None else self.cover[number][:most]
        return [self.domain[item] for item in items.tolist()]

    def narrower(self) -> Images:
        """For each published item those that imply it: they cover nothing that it does not cover, itself included."""
        cover, n_published = self.cover, self.published.n_items
        every = np.arange(n_published, dtype=np.int32)
        owner = np.repeat(every, self.sizes)
        if len(np.unique(cover.items)) == len(cover.items):  # no item is covered twice
            return Images(every, np.arange(n_published + 1, dtype=np.int64), every, self.published)
        by_item = np.argsort(cover.items, kind="stable")
        bounds = np.searchsorted(cover.items[by_item], np.arange(len(self.domain) + 1))
        first = cover.items[cover.indptr[:-1][self.sizes > 0]]  # whatever covers all of a label covers its first item
        narrow, broad = [every[self.sizes == 0]], [every[self.sizes == 0]]
        in_label = np.zeros(len(self.domain), dtype=bool)
        for label, item in zip(every[self.sizes > 0].tolist(), first.tolist(), strict=True):
            in_label[cover[label]] = True
            others = owner[by_item[bounds[item] : bounds[item + 1]]]
            n_common = np.array([int(in_label[cover[int(other)]].sum()) for other in others])
            around = others[n_common == self.sizes[label]]
            narrow.append(np.full(len(around), label, dtype=np.int32))
            broad.append(around)
            in_label[cover[label]] = False
        pairs = Transactions.from_pairs(
            np.concatenate(broad), np.concatenate(narrow), n_published, self.published.vocabulary
        )
        return Images(every, pairs.indptr, pairs.items, self.published)

    @cached_property
    def _images(self) -> dict[Vocabulary, Images]:
        """Those asked for so far: metrics and attackers share their index."""
        return {}

    def forget_index(self) -> None:
        """Forget the images asked for so far, and their index."""
        self._images.clear()

    def images(self, vocabulary: Vocabulary) -> Images:
        """Where the items of a vocabulary, usually that of the original, may be found."""
        if vocabulary not in self._images:
            self._images[vocabulary] = self._find_images(vocabulary)
        return self._images[vocabulary]

    def _find_images(self, vocabulary: Vocabulary) -> Images:
        n_published = self.published.n_items
        published_of = Transactions.from_pairs(  # row: domain item, items: what covers it
            self.cover.items, np.repeat(np.arange(n_published), self.sizes), len(self.domain), self.published.vocabulary
        )
        domain = self.domain.numbers(vocabulary)
        if published_of.longest <= 1:  # every item has one image, which is a published item
            of_domain = np.full(len(self.domain) + 1, -1, dtype=np.int32)  # the last entry serves unknown items
            of_domain[:-1][published_of.lengths > 0] = published_of.items
            identity = np.arange(n_published, dtype=np.int32)
            return Images(of_domain[domain], np.arange(n_published + 1, dtype=np.int64), identity, self.published)
        sets, _, image = published_of.distinct()
        image = np.append(np.where(published_of.lengths > 0, image, -1), -1)
        return Images(image[domain].astype(np.int32), sets.indptr, sets.items, self.published)


@dataclass(frozen=True, eq=False)
class Images:
    """Items with the same image are found in the same published records.

    In a local recoding several published items can cover an item; its image is the set of them. In the other kinds
    it is one published item.
    """

    of_item: NDArray[np.int32]  # [items] image of each item; -1 if no published record can hold it
    indptr: NDArray[np.int64]  # [images + 1]
    published_items: NDArray[np.int32]  # image j is published_items[indptr[j]:indptr[j+1]]
    published: Dataset

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def postings(self) -> Any:
        """The records that may hold the items of each image, for queries: ``arrays.mining.Postings``."""
        if np.array_equal(self.published_items, np.arange(self.published.n_items)) and len(self) == len(
            self.published_items
        ):  # every image is one published item
            return self.published.rows.postings
        return self._packed

    @cached_property
    def _packed(self) -> Any:
        from setveil.arrays.mining import pack_postings

        return pack_postings(self.record_lists(), self.published.n_records)

    def record_lists(self) -> list[NDArray[np.integer]]:
        """For each image the records that may hold its items, ascending."""
        list_indptr, records = self.published.rows.inverted()
        lists: list[NDArray[np.integer]] = []
        for start, end in zip(self.indptr[:-1].tolist(), self.indptr[1:].tolist(), strict=True):
            parts = [records[list_indptr[p] : list_indptr[p + 1]] for p in self.published_items[start:end]]
            lists.append(parts[0] if len(parts) == 1 else _union(parts, self.published.n_records))
        return lists


def _union(lists: list[NDArray[np.int32]], n_records: int) -> NDArray[np.integer]:
    if lists and sum(map(len, lists)) * SPARSE < n_records:
        together = np.sort(np.concatenate(lists))
        return together[np.concatenate(([True], together[1:] != together[:-1]))[: len(together)]]
    found = np.zeros(n_records, dtype=bool)
    for records in lists:
        found[records] = True
    return np.flatnonzero(found)
