"""The supports of original itemsets as an analyst reads them off a release and its codebook.

Four ways to read a published item that covers several original ones:

- ``expand``: all of them are there. The support of an itemset is that of its image: the number of published records
  in which every item of it is covered by something published. An upper bound where nothing is suppressed.
- ``probability``: some non-empty subset of them is there, each as likely as another. A record whose published item
  covers g items holds r given ones of them with probability 2^(g-r)/(2^g-1), published items being independent; the
  support is the expected number of records.
- ``share``: each of the g items it covers is there with the chance 1/g, independently of the others: one of them on
  average. Most records have one item of a group, so this is the nearest to the truth; the two before are the papers'.
  Where the release has item counts, each item occurs by its own count.
- ``exact``: none of them is there. Only what is published as itself counts: a lower bound, to which everything
  vague only adds.

A suppressed item is in no record. In a replacement published items are read as they are. In a grouping public items are
exact; a sensitive item may belong to any record of a group that counts it (``expand``), or to each with the probability
count/size (``probability``). A table of counts is read in two ways: ``table`` takes listed counts and estimates the
others from their parts (``count_tables.py``), ``records`` counts in the records that were made from the table.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import (
    Lists,
    Postings,
    Queries,
    count_matches,
    invert_rows,
    list_matches,
    sorted_distinct,
)
from setveil.arrays.threads import for_slices
from setveil.core import Itemsets, Vocabulary
from setveil.core.meaning import Images
from setveil.errors import InputError
from setveil.releases import CountTable, Grouping, Release
from setveil.utility._estimates import EXACT, PROBABILITY, SHARE, sum_over_readings
from setveil.utility.count_tables import TableReader

Estimator = Literal["expand", "probability", "share", "exact", "table", "records"]
COVERS: tuple[Estimator, ...] = ("expand", "probability", "share", "exact")  # what a label that covers several may mean
ESTIMATORS: tuple[Estimator, ...] = ("expand", "probability")  # of the papers

_NEVER = 1e-9  # a chance that is as good as none, and has a logarithm
_AT_ONCE = 64  # itemsets of a slice
_ROWS: dict[Estimator, int] = {"probability": PROBABILITY, "share": SHARE, "exact": EXACT}
_NO_WEIGHTS = np.empty(0, dtype=np.int64)


class SupportEstimates:
    """A release as analysts read it who think in the items of ``vocabulary``; ``BY_KIND`` has one for each kind."""

    has_one_image = True  # what an item is published as does not depend on the record

    def __init__(self, release: Release, vocabulary: Vocabulary) -> None:
        self.release = release
        self.vocabulary = vocabulary
        self.images: Images = release.meaning.images(vocabulary)

    @staticmethod
    def of(release: Release, vocabulary: Vocabulary) -> SupportEstimates:
        """The estimates that suit the kind of the release."""
        return BY_KIND.get(release.kind, SupportEstimates)(release, vocabulary)

    @cached_property
    def postings(self) -> Postings:
        """Of each image."""
        found: Postings = self.images.postings()
        return found

    @cached_property
    def published_sizes(self) -> NDArray[np.int64]:
        """How many original items each published item covers, int64[published items]."""
        return self.release.published_sizes

    @cached_property
    def is_exact(self) -> bool:
        """Whether every published item covers one item only, so that all estimators agree."""
        return bool((self.published_sizes == 1).all())

    @cached_property
    def chances(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How likely a record that shows an item's category has the item, as if items of a category were independent
        of each other: the chance of each item before it is known that the record has one of them, float64[items]; and
        the chance that it has one, float64[published items]. Without counts the g items of a category have 1/g each.
        """
        release, sizes = self.release, self.published_sizes
        image = self.images.of_item
        chance = 1 / sizes[np.maximum(image, 0)] if len(sizes) else np.ones(len(self.vocabulary))
        some = np.ones(len(sizes))
        if not release.item_counts:
            return chance, some
        domain, cover = release.domain_items, release.meaning.cover
        listed = np.array([release.item_counts.get(label, -1) for label in domain], dtype=np.int64)
        of_domain = np.zeros(len(domain) + 1)  # the last entry serves unknown items
        for number, support in enumerate(release.published.supports.tolist()):
            items = cover[number]
            if (listed[items] >= 0).any():
                share = _shares(listed[items], support)
                some[number] = _chance_of_any(share)
                of_domain[items] = some[number] * share
        counted = of_domain[domain.numbers(self.vocabulary)]
        return np.where(counted > 0, counted, chance), some

    @property
    def estimators(self) -> tuple[Estimator, ...]:
        """The estimators whose answers can differ."""
        return ESTIMATORS if self.is_exact else COVERS

    def supports(self, itemsets: Itemsets, estimator: Estimator = "expand") -> NDArray[np.float64]:
        """The estimated support of each itemset over ``vocabulary``, float64[itemsets]."""
        if estimator not in get_args(Estimator):
            raise InputError(f'estimator must be one of {", ".join(get_args(Estimator))}, not "{estimator}".')
        return self._estimated(itemsets, estimator)

    def _estimated(self, itemsets: Itemsets, estimator: Estimator) -> NDArray[np.float64]:
        queries, is_lost = self._queries(itemsets)
        supports = count_matches(self.postings, _NO_WEIGHTS, queries).astype(np.float64)
        owners = np.repeat(np.arange(len(itemsets)), np.diff(itemsets.indptr))
        if estimator == "exact" and not self.is_exact:
            sizes = self.published_sizes[np.maximum(self.images.of_item[itemsets.items], 0)]
            is_lost |= np.bincount(owners[sizes > 1], minlength=len(itemsets)) > 0
        elif estimator == "share" and not self.is_exact:
            chance, some = self.chances
            exponent = np.bincount(owners, weights=np.log(chance[itemsets.items]), minlength=len(itemsets))
            images_of = np.repeat(np.arange(len(itemsets)), np.diff(queries[0]))
            exponent -= np.bincount(images_of, weights=np.log(some[queries[1]]), minlength=len(itemsets))
            supports *= np.exp(exponent)
        elif estimator == "probability" and not self.is_exact:
            # Each item halves the number of possible subsets; the empty subset is impossible for each published item.
            possible = -np.expm1(-np.log(2) * self.published_sizes[queries[1]])  # 1 - 2^-g
            images_of = np.repeat(np.arange(len(itemsets)), np.diff(queries[0]))
            exponent = -np.log(2) * np.diff(itemsets.indptr)
            exponent -= np.bincount(images_of, weights=np.log(possible), minlength=len(itemsets))
            supports *= np.exp(exponent)
        supports[is_lost] = 0
        return supports

    def _queries(self, itemsets: Itemsets) -> tuple[Queries, NDArray[np.bool_]]:
        """The images of each itemset, each image once; and which itemsets have an item that is nowhere."""
        owners = np.repeat(np.arange(len(itemsets)), np.diff(itemsets.indptr))
        image = self.images.of_item[itemsets.items].astype(np.int64)
        is_lost = np.bincount(owners[image < 0], minlength=len(itemsets)) > 0
        width = max(len(self.images), 1)
        keys = sorted_distinct((owners * width + image)[image >= 0])
        indptr = np.searchsorted(keys, np.arange(len(itemsets) + 1) * width).astype(np.int64)
        return (indptr, (keys % width).astype(np.int32)), is_lost


def _shares(listed: NDArray[np.int64], support: int) -> NDArray[np.float64]:
    """The share of a category's records that has each item; ``listed`` is -1 where it is not known. Items that are not
    listed get equal parts of the records that the listed ones leave, and at least one person each.
    """
    is_listed = listed >= 0
    left = support - int(listed[is_listed].sum())
    rest = max(left / max(int((~is_listed).sum()), 1), 1.0)
    return np.asarray(np.where(is_listed, listed, min(rest, support)) / support)


def _chance_of_any(shares: NDArray[np.float64]) -> float:
    """q with q = 1 − Π(1 − q·share): independent items with the chances q·share, one of which a record must have, are
    in these shares of the records. Where the shares add up to 1, no record has two items, and q is nearly 0.
    """
    low, high = _NEVER, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if 1 - np.prod(1 - middle * shares) > middle:
            low = middle
        else:
            high = middle
    return low


class LocalEstimates(SupportEstimates):
    """An item may be published differently in different records."""

    has_one_image = False
    _read: tuple[Itemsets, NDArray[np.float64]] | None = None  # the itemsets asked for last, and their estimates

    def _estimated(self, itemsets: Itemsets, estimator: Estimator) -> NDArray[np.float64]:
        if estimator == "expand" or self.is_exact:
            return super()._estimated(itemsets, estimator)
        return self._by_record(itemsets, estimator)

    def _by_record(self, itemsets: Itemsets, estimator: Estimator) -> NDArray[np.float64]:
        """In each matching record an item is read from the most specific published item that covers it."""
        if self._read is None or self._read[0] is not itemsets:
            once, again = self._differing(itemsets)
            self._read = itemsets, self._sum_all(once)[:, again]
        estimated: NDArray[np.float64] = self._read[1][_ROWS[estimator]].copy()
        return estimated

    def _differing(self, itemsets: Itemsets) -> tuple[Itemsets, NDArray[np.int64]]:
        """One of all itemsets with the same images, which are read in the same way; and the place of each in these."""
        lengths = np.diff(itemsets.indptr)
        if not len(lengths) or (lengths != lengths[0]).any():
            return itemsets, np.arange(len(itemsets))
        items = itemsets.items.reshape(len(itemsets), -1)
        _, first, again = np.unique(
            np.sort(self.images.of_item[items], axis=1), axis=0, return_index=True, return_inverse=True
        )
        bounds = np.arange(len(first) + 1, dtype=np.int64) * lengths[0]
        return Itemsets(bounds, items[first].ravel(), itemsets.vocabulary), again.reshape(-1)

    def _sum_all(self, itemsets: Itemsets) -> NDArray[np.float64]:
        """The estimates of all estimators, float64[estimators, itemsets]."""
        rows, sums = self.release.rows, np.zeros((len(_ROWS), len(itemsets)))
        arrays = (itemsets.indptr, itemsets.items), self._covering(itemsets), self.inverted, self.published_sizes
        for_slices(
            lambda *bounds: sum_over_readings(*arrays, rows.n_records, bounds, sums),
            [(first, min(first + _AT_ONCE, len(itemsets))) for first in range(0, len(itemsets), _AT_ONCE)],
        )
        return sums

    @cached_property
    def inverted(self) -> Lists:
        """The records of each published item."""
        rows = self.release.rows
        return invert_rows(rows.indptr, rows.items, rows.n_items)

    def _covering(self, itemsets: Itemsets) -> Lists:
        """The published items that cover each entry of the itemsets, the most specific last."""
        images, covering = self.images, self.images.published_items
        owners = np.repeat(np.arange(len(images)), np.diff(images.indptr))
        covering = covering[np.lexsort((-self.published_sizes[covering], owners))]
        image = images.of_item[itemsets.items]
        n_covering = np.where(image >= 0, np.diff(images.indptr)[image], 0)
        indptr = np.append(0, np.cumsum(n_covering))
        positions = np.arange(indptr[-1]) + np.repeat(images.indptr[:-1][image] - indptr[:-1], n_covering)
        return indptr, covering[positions]


class GroupEstimates(SupportEstimates):
    """Public items are exact; sensitive items are counted per group."""

    has_one_image = False
    is_exact = False
    estimators = ESTIMATORS  # nothing covers several items

    release: Grouping

    def _estimated(self, itemsets: Itemsets, estimator: Estimator) -> NDArray[np.float64]:
        """Public items select the records, the counts of groups say how likely the sensitive ones are."""
        release = self.release
        hidden = release.sensitive.numbers(self.vocabulary)  # [items], -1 for public ones
        sizes = release.group_sizes
        shares = np.zeros((len(release.sensitive), release.n_groups))
        shares[release.count_item, release.count_group] = release.count / sizes[release.count_group]
        if estimator == "expand":
            shares = np.ceil(shares)
        supports = np.zeros(len(itemsets))
        for number, itemset in enumerate(itemsets):
            public = self.images.of_item[itemset[hidden[itemset] < 0]]
            if (public < 0).any():
                continue
            rows = list_matches(self.postings, np.sort(public))
            of_group = shares[hidden[itemset[hidden[itemset] >= 0]]].prod(axis=0)
            supports[number] = of_group[release.group_of[rows]].sum()
        return supports


class TableEstimates(SupportEstimates):
    """Counts are listed, or estimated from listed ones; or they are counted in the records."""

    is_exact = False
    estimators = ("table", "records")

    release: CountTable

    @cached_property
    def table(self) -> TableReader:
        return TableReader(self.release)

    def _estimated(self, itemsets: Itemsets, estimator: Estimator) -> NDArray[np.float64]:
        if estimator == "records":
            queries, is_lost = self._queries(itemsets)
            supports = count_matches(self.postings, _NO_WEIGHTS, queries).astype(np.float64)
            supports[is_lost] = 0
            return supports
        number = self.release.published.vocabulary.numbers(self.vocabulary)
        return np.array(
            [self.table.count(tuple(sorted(number[one].tolist())))[0] for one in itemsets], dtype=np.float64
        )


BY_KIND: dict[str, type[SupportEstimates]] = {
    "local-recoding": LocalEstimates,
    "grouping": GroupEstimates,
    "count-table": TableEstimates,
}
