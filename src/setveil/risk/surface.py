"""What an attacker has in front of them: published records, the codebook, and what each record says about secrets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import (
    Postings,
    Queries,
    are_matches,
    count_matches,
    sorted_distinct,
    sum_over_matches,
)
from setveil.core import Itemsets, Transactions, Vocabulary
from setveil.core.meaning import Images
from setveil.core.row_order import distinct_rows, sort_rows, take_rows
from setveil.releases import Grouping, LocalRecoding, Recoding, Release

_PER_SLICE = 500_000_000  # records times targets searched between two chances to stop
_NO_WEIGHTS = np.empty(0, dtype=np.int64)
_NO_GROUPS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What an attacker finds out about each target."""

    n_candidates: NDArray[np.int64]  # records that fit what is known
    is_found: NDArray[np.bool_]  # whether the target's own is among them
    # The probability that the target has the secret asked for: its average over the candidates; over all records if
    # there is no candidate; nan where no secret is asked for.
    posterior: NDArray[np.float64]
    control: NDArray[np.float64]  # the same without the target's own record

    @property
    def n_others(self) -> NDArray[np.int64]:
        """Candidates besides the target's own record."""
        return self.n_candidates - self.is_found


@dataclass(frozen=True, eq=False)
class Surface:
    """Records to search, over images of the original's items."""

    images: Images
    postings: Postings  # of the images
    secrets: NDArray[np.float32]  # [secret items, records] how likely a record holds the secret, as far as one can tell
    group_of: NDArray[np.int64]  # [records] of a grouping; empty otherwise
    group_sizes: NDArray[np.int64]  # [groups]

    @classmethod
    def of_original(cls, original: Transactions, secrets: NDArray[np.integer]) -> Surface:
        """The original as if it were published as it is."""
        items = np.arange(original.n_items, dtype=np.int32)
        images = Images(items, np.arange(original.n_items + 1, dtype=np.int64), items, original)
        holds = np.zeros((len(secrets), original.n_records), dtype=np.float32)
        if len(secrets):
            indptr, records = original.inverted()
            for row, item in enumerate(secrets.tolist()):
                holds[row, records[indptr[item] : indptr[item + 1]]] = 1
        return cls(images, images.postings(), holds, _NO_GROUPS, _NO_GROUPS)

    @classmethod
    def of_release(cls, release: Release, vocabulary: Vocabulary, secrets: NDArray[np.integer]) -> Surface:
        """A release and its codebook, for an attacker who thinks in the items of ``vocabulary``."""
        images = release.meaning.images(vocabulary)
        postings = images.postings()
        if isinstance(release, Grouping):
            sizes = np.bincount(release.group_of, minlength=release.n_groups)
            shares = np.zeros(
                (len(release.sensitive) + 1, release.n_groups), dtype=np.float32
            )  # the last row serves strangers
            shares[release.count_item, release.count_group] = release.count / sizes[release.count_group]
            numbers = release.sensitive.numbers(vocabulary[int(item)] for item in secrets)
            return cls(images, postings, shares[numbers][:, release.group_of], release.group_of, sizes)
        return cls(images, postings, _read_secrets(release, images, secrets), _NO_GROUPS, _NO_GROUPS)

    def search(self, known: Itemsets, records: NDArray[np.int64], secrets: NDArray[np.int64]) -> Outcomes:
        """Look for targets of which ``known`` is known. ``records``: their own; ``secrets``: a row of ``secrets``, or
        -1.

        A known item that nothing published can stand for (it is suppressed) is of no use and is left aside.
        """
        queries = self._queries(known)
        once, again = self._distinct(queries, records, secrets)
        indptr, items = take_rows(*queries, once)
        parts = []
        step = max(100, _PER_SLICE // max(self.postings.n_records, 1))
        for first in range(0, max(len(once), 1), step):
            last = min(first + step, len(once))
            part = once[first:last]
            parts.append(self._search_some((indptr[first : last + 1], items), records[part], secrets[part]))
        return Outcomes(*(np.concatenate(columns)[again] for columns in zip(*parts, strict=True)))

    def _distinct(
        self, queries: Queries, records: NDArray[np.int64], secrets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of targets that are alike in everything one each, and for every target which of these it is like."""
        indptr, items = queries
        first_record = len(self.images)
        first_secret = first_record + self.postings.n_records + 1
        ends = np.repeat(indptr[1:], 2)
        marks = np.column_stack((first_record + records, first_secret + secrets)).ravel()
        rows = np.insert(items, ends, marks.astype(np.int32))
        bounds = indptr + 2 * np.arange(len(indptr))
        return distinct_rows(*sort_rows(bounds, rows, first_secret + int(secrets.max(initial=0)) + 1))

    def _search_some(
        self, queries: Queries, records: NDArray[np.int64], secrets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
        n_candidates = count_matches(self.postings, _NO_WEIGHTS, queries)
        is_found = are_matches(self.postings, queries, records)
        posterior, control = np.full(len(records), np.nan), np.full(len(records), np.nan)
        asked = np.flatnonzero(secrets >= 0)
        if len(asked):
            posterior[asked], control[asked] = self._infer(
                take_rows(*queries, asked), records[asked], secrets[asked], n_candidates[asked], is_found[asked]
            )
        return n_candidates, is_found, posterior, control

    def _queries(self, known: Itemsets) -> Queries:
        """The images of each itemset, each image once."""
        owners = np.repeat(np.arange(len(known)), np.diff(known.indptr))
        image = self.images.of_item[known.items].astype(np.int64)
        width = max(len(self.images), 1)
        keys = sorted_distinct((owners * width + image)[image >= 0])
        indptr = np.searchsorted(keys, np.arange(len(known) + 1) * width).astype(np.int64)
        return indptr, (keys % width).astype(np.int32)

    def _infer(
        self,
        queries: Queries,
        records: NDArray[np.int64],
        secrets: NDArray[np.int64],
        n_candidates: NDArray[np.int64],
        is_found: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Posterior with and without the target's own record, float64[targets] each."""
        own_group = self.group_of[records] if len(self.group_of) else records
        total, n_in_group = sum_over_matches(self.postings, queries, self.secrets, secrets, self.group_of, own_group)
        own = self.secrets[secrets, records].astype(np.float64)
        prior_total, n_records = self.secrets.sum(axis=1, dtype=np.float64)[secrets], self.secrets.shape[1]
        others, prior_others = total - own * is_found, prior_total - own
        if len(self.group_of):
            # Without the target its group has one record less and counts one occurrence of the secret less.
            size = self.group_sizes[own_group]
            own_without = np.where(size > 1, (own * size - 1) / np.maximum(size - 1, 1), 0.0)
            others += (n_in_group - is_found) * (own_without - own)
            prior_others += (size - 1) * (own_without - own)
        posterior = np.where(n_candidates > 0, total / np.maximum(n_candidates, 1), prior_total / n_records)
        n_others = n_candidates - is_found
        control = np.where(n_others > 0, others / np.maximum(n_others, 1), prior_others / max(n_records - 1, 1))
        return posterior, control


def _read_secrets(release: Release, images: Images, secrets: NDArray[np.integer]) -> NDArray[np.float32]:
    """How likely each record holds each secret: a published item that covers g items is taken as any one of them."""
    if isinstance(release, Recoding):
        sizes = np.bincount(release.target[release.target >= 0], minlength=release.published.n_items)
    elif isinstance(release, LocalRecoding):
        sizes = np.diff(release.cover.indptr)
    else:
        sizes = np.ones(release.published.n_items, dtype=np.int64)
    holds = np.zeros((len(secrets), release.published.n_records), dtype=np.float32)
    if not len(secrets):
        return holds
    list_indptr, records = release.published.inverted()
    for row, image in enumerate(images.of_item[secrets].tolist()):
        if image < 0:
            continue
        covering = images.published_items[images.indptr[image] : images.indptr[image + 1]]
        for published in covering[np.argsort(-sizes[covering], kind="stable")].tolist():  # the most specific comes last
            holds[row, records[list_indptr[published] : list_indptr[published + 1]]] = 1 / sizes[published]
    return holds
