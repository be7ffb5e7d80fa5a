"""What an attacker sees: published records, the codebook, and what each record says about sensitive items.

Two ways to match records with what is known of a target:

- ``every``: the candidates show every known item;
- ``most``: the candidates show most of the known items (best match). Where some record shows all of them, both ways
  give the same candidates.

Three ways to read labels: all of them; only those that cover one item (``exact_labels``); all, where those that
cover one item count double (``narrow_labels``). A known item that no label of that kind stands for anywhere is of
no use and is set aside.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import (
    Postings,
    Queries,
    are_matches,
    count_matches,
    join_postings,
    sorted_distinct,
    sum_over_matches,
)
from setveil.arrays.threads import for_slices
from setveil.core import Itemsets, Transactions, Vocabulary
from setveil.core.meaning import Images
from setveil.core.row_order import bounds_of, distinct_rows, sort_rows, take_rows
from setveil.releases import Release, is_grouped
from setveil.risk._best import find_best
from setveil.risk.column_classes import ColumnClasses, class_items, items_by_class

Match = Literal["every", "most"]

_PER_SLICE = 500_000_000  # records times targets searched between two chances to stop
_BEST_WORDS = 4_000_000  # words of 64 records written at a time
_BEST_SHARE = 16  # targets whose best matches one thread looks for at a time
_NO_WEIGHTS = np.empty(0, dtype=np.int64)
_NO_GROUPS = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What an attacker finds out about each target."""

    n_candidates: NDArray[np.int64]  # records that fit what is known
    is_found: NDArray[np.bool_]  # whether the target's own is among them
    n_others: NDArray[np.int64]  # records that fit if the target's own is taken out of the published data
    # The probability that the target has the secret asked for: its average over the candidates; over all records, or
    # those of the class, if there is no candidate; nan where no secret is asked for.
    posterior: NDArray[np.float64]
    control: NDArray[np.float64]  # the same without the target's own record

    def of_strangers(self) -> Outcomes:
        """The same where no published record is the target's own."""
        nobody = np.zeros_like(self.is_found)
        return replace(self, is_found=nobody, n_others=self.n_candidates, control=self.posterior)


@dataclass(frozen=True, eq=False)
class Surface:
    """Records to search, over images of the original's items."""

    images: Images
    postings: Postings  # of the images, then of the exact ones, then of the classes where columns are known
    secrets: NDArray[np.float32]  # [secret items, records] how likely a record holds the secret, as far as one can tell
    group_of: NDArray[np.int64]  # [records] of a grouping; empty otherwise
    group_sizes: NDArray[np.int64]  # [groups]
    hints: NDArray[np.float32]  # [secret items, records] the same for any of the secrets that a label covers
    covering: Images  # of all labels, also where ``images`` are those of exact ones
    labels: Postings  # of the published labels: the records that show one, or one that covers part of its items
    label_sizes: NDArray[np.int64]  # [published labels] items that each covers
    column_classes: ColumnClasses | None = None  # the classes; None where no column is known
    item_counts: NDArray[np.int64] = field(default_factory=lambda: _NO_GROUPS)  # [items] published ones, 0 for none
    exact: Images | None = None  # of labels that cover one item, where these count besides
    placed: list[Transactions] = field(default_factory=list)  # made when asked for, and shared by all views

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
        ones = np.ones(original.n_items, dtype=np.int64)
        shown = images, original.postings, ones
        surface = cls(images, images.postings(), holds, _NO_GROUPS, _NO_GROUPS, holds, *shown)
        return surface._with_classes(ColumnClasses.of(original))

    @classmethod
    def of_release(cls, release: Release, vocabulary: Vocabulary, secrets: NDArray[np.integer]) -> Surface:
        """A release and its codebook, for an attacker who thinks in the items of ``vocabulary``."""
        images = release.meaning.images(vocabulary)
        postings = images.postings()
        shown = images, release.meaning.narrower().postings(), release.meaning.sizes
        if is_grouped(release):
            sizes = release.group_sizes
            shares = np.zeros(
                (len(release.sensitive) + 1, release.n_groups), dtype=np.float32
            )  # the last row serves unknown items
            shares[release.count_item, release.count_group] = release.count / sizes[release.count_group]
            numbers = release.sensitive.numbers(vocabulary[int(item)] for item in secrets)
            holds = shares[numbers][:, release.group_of]
            surface = cls(images, postings, holds, release.group_of, sizes, holds, *shown)
            return surface._with_classes(ColumnClasses.of(release.rows))
        weights = 1 / np.maximum(release.meaning.sizes, 1)
        holds = _read_secrets(release, images, secrets, weights)
        covered = _sensitive_shares(release, vocabulary, secrets)
        is_same = np.array_equal(covered[covered > 0], weights[covered > 0])  # no label covers several secrets
        hints = holds if is_same else _read_secrets(release, images, secrets, covered)
        counts = np.array([release.item_counts.get(label, 0) for label in vocabulary], dtype=np.int64)
        surface = cls(images, postings, holds, _NO_GROUPS, _NO_GROUPS, hints, *shown, item_counts=counts)
        return surface._with_classes(ColumnClasses.of(release.rows))

    def _with_classes(self, column_classes: ColumnClasses | None) -> Surface:
        if column_classes is None:
            return self
        return replace(
            self, column_classes=column_classes, postings=join_postings(self.postings, column_classes.postings)
        )

    def exact_labels(self, release: Release, vocabulary: Vocabulary) -> Surface:
        """The same records for an attacker who uses only labels that cover one item; itself if all do."""
        if (release.meaning.sizes == 1).all():
            return self
        images = release.meaning.of_single_items().images(vocabulary)
        return replace(self, images=images, postings=images.postings())._with_classes(self.column_classes)

    def narrow_labels(self, exact: Surface) -> Surface:
        """The same records for an attacker to whom labels that cover one item count double; itself if all do.

        ``exact``: the view of the attacker who uses no others.
        """
        if exact is self:
            return self
        postings = join_postings(self.images.postings(), exact.images.postings())
        return replace(self, exact=exact.images, postings=postings)._with_classes(self.column_classes)

    def search(
        self,
        known: Itemsets,
        records: NDArray[np.int64],
        secrets: NDArray[np.int64],
        match: Match = "every",
        classes: NDArray[np.int64] | None = None,
    ) -> Outcomes:
        """Look for targets of which ``known`` is known. ``records``: their own; ``secrets``: a row of ``secrets``, or
        -1; ``classes``: where to look, where columns are known.
        """
        queries = self.queries(known, classes, is_counted=match == "most")
        once, again = self._distinct(queries, records, secrets)
        indptr, items = take_rows(*queries, once)
        parts = []
        step = max(100, _PER_SLICE // max(self.postings.n_records, 1))
        for first in range(0, max(len(once), 1), step):
            last = min(first + step, len(once))
            part = once[first:last]
            some = (indptr[first : last + 1] - indptr[first], items[indptr[first] : indptr[last]])
            parts.append(self._search_some(some, records[part], secrets[part], match))
        return Outcomes(*(np.concatenate(columns)[again] for columns in zip(*parts, strict=True)))

    def _distinct(
        self, queries: Queries, records: NDArray[np.int64], secrets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Of targets that are alike in everything one each, and for every target which of these it is like."""
        indptr, items = queries
        first_record = len(self.postings.dense)
        first_secret = first_record + self.postings.n_records + 1
        ends = np.repeat(indptr[1:], 2)
        marks = np.column_stack((first_record + records, first_secret + secrets)).ravel()
        rows = np.insert(items, ends, marks.astype(np.int32))
        bounds = indptr + 2 * np.arange(len(indptr))
        return distinct_rows(*sort_rows(bounds, rows, first_secret + int(secrets.max(initial=0)) + 1))

    def probabilities(
        self, queries: Queries, records: NDArray[np.int64], secrets: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How likely each target holds the secret asked for, or another that its label covers as well: with and
        without the target's own record (-1: there is none).
        """
        has_own = records >= 0
        own = np.maximum(records, 0)
        n_candidates = count_matches(self.postings, _NO_WEIGHTS, queries)
        is_found = are_matches(self.postings, queries, own) & has_own
        return self._infer(queries, own, secrets, n_candidates, is_found, self.hints)

    def covering_labels(
        self, owners: NDArray[np.int64], items: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each item of an owner every label that can cover it: ``(owners, labels)``."""
        image = self.covering.of_item[items]
        owners, image = owners[image >= 0], image[image >= 0]
        bounds, labels = take_rows(self.covering.indptr, self.covering.published_items, image)
        return np.repeat(owners, np.diff(bounds)), labels.astype(np.int64)

    def shows(self, records: NDArray[np.int64], labels: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether each record shows the label beside it, or one that covers part of its items."""
        return are_matches(self.labels, (np.arange(len(labels) + 1, dtype=np.int64), labels), records)

    @property
    def uses_exact_labels(self) -> bool:
        """Whether the attacker uses only labels that cover one item, and there are others."""
        return self.images is not self.covering and self.exact is None

    def shows_label(self, records: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each record shows the label beside it."""
        postings = self.covering.published.rows.postings
        return are_matches(postings, (np.arange(len(labels) + 1, dtype=np.int64), labels.astype(np.int32)), records)

    @property
    def placed_records(self) -> Transactions:
        """The published records, over ``placed_labels``."""
        if not self.placed:
            rows = self.covering.published.rows
            self.placed.append(rows if self.column_classes is None else items_by_class(rows, self.column_classes))
        return self.placed[0]

    def placed_labels(self, records: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int32]:
        """The number in ``placed_records`` of each label in the class of the record beside it, which shows it."""
        if self.column_classes is None:
            return labels.astype(np.int32)
        numbers = class_items(self.covering.published.rows, self.column_classes)
        width = max(self.covering.published.n_items, 1)
        return np.searchsorted(numbers, self.column_classes.of_record[records] * width + labels).astype(np.int32)

    @cached_property
    def label_supports(self) -> NDArray[np.int64]:
        """The number of records of each list of ``labels``, int64[published labels]."""
        n_labels = len(self.label_sizes)
        one_each = np.arange(n_labels + 1, dtype=np.int64), np.arange(n_labels, dtype=np.int32)
        return count_matches(self.labels, _NO_WEIGHTS, one_each)

    def _search_some(
        self, queries: Queries, records: NDArray[np.int64], secrets: NDArray[np.int64], match: Match
    ) -> tuple[NDArray[np.generic], ...]:
        """The columns of ``Outcomes``."""
        n_candidates = count_matches(self.postings, _NO_WEIGHTS, queries)
        is_found = are_matches(self.postings, queries, records)
        n_others = n_candidates - is_found
        posterior, control = np.full(len(records), np.nan), np.full(len(records), np.nan)
        asked = np.flatnonzero(secrets >= 0)
        if len(asked):
            posterior[asked], control[asked] = self._infer(
                take_rows(*queries, asked),
                records[asked],
                secrets[asked],
                n_candidates[asked],
                is_found[asked],
                self.secrets,
            )
        columns = n_candidates, is_found, n_others, posterior, control
        if match == "most":
            unmatched = np.flatnonzero(n_others == 0)  # elsewhere the best match shows everything
            n_words = -(-self.postings.n_records // 64)
            step = max(_BEST_SHARE, _BEST_WORDS // max(n_words, 1))
            for first in range(0, len(unmatched), step):
                some = unmatched[first : first + step]
                found = self._best_of(take_rows(*queries, some), records[some], secrets[some])
                for column, values in zip(columns, found, strict=True):
                    column[some] = values
        return columns

    def _best_of(
        self, queries: Queries, records: NDArray[np.int64], secrets: NDArray[np.int64]
    ) -> tuple[NDArray[np.generic], ...]:
        """The columns of ``Outcomes`` for best matches."""
        n_words = -(-self.postings.n_records // 64)
        masks = np.empty((len(records), 2, n_words), dtype=np.uint64)
        counts = np.zeros((len(records), 2), dtype=np.int64)
        slices = [(at, min(at + _BEST_SHARE, len(records))) for at in range(0, len(records), _BEST_SHARE)]
        for_slices(lambda first, last: find_best(self.postings, queries, records, first, last, masks, counts), slices)
        word, bit = records >> 6, (records & 63).astype(np.uint64)
        is_found = (masks[np.arange(len(records)), 0, word] >> bit) & np.uint64(1) > 0
        posterior, control = np.full(len(records), np.nan), np.full(len(records), np.nan)
        for target in np.flatnonzero(secrets >= 0).tolist():
            values = self.secrets[secrets[target]].astype(np.float64)
            bits = np.unpackbits(masks[target].view(np.uint8), axis=1, bitorder="little", count=len(values)) > 0
            posterior[target] = values[bits[0]].mean()
            own, is_other = int(records[target]), bits[1]
            if len(self.group_of):
                values = values + (self.group_of == self.group_of[own]) * (
                    self._without(own, values[own]) - values[own]
                )
            control[target] = values[is_other].mean() if is_other.any() else 0.0
        return counts[:, 0], is_found, counts[:, 1], posterior, control

    def queries(self, known: Itemsets, classes: NDArray[np.int64] | None = None, is_counted: bool = False) -> Queries:
        """The images of each itemset, each image once; with ``is_counted`` once for every known item.

        ``classes``: the class of each target, which every candidate is in; it counts more than all items together.
        """
        return self.in_classes(self._images_of(known, is_counted), classes, is_counted)

    def in_classes(self, queries: Queries, classes: NDArray[np.int64] | None, is_counted: bool = False) -> Queries:
        """Itemsets of images, each with its class, where columns are known."""
        if self.column_classes is None:
            return queries
        assert classes is not None, "attackers know the columns"
        indptr, items = queries
        n_times = 1 + int(np.diff(indptr).max(initial=0)) if is_counted else 1
        n_lists = len(self.images) + (0 if self.exact is None else len(self.exact))
        lists = (n_lists + classes).astype(np.int32)
        rows = np.insert(items, np.repeat(indptr[1:], n_times), np.repeat(lists, n_times))
        return indptr + n_times * np.arange(len(indptr)), rows

    def _images_of(self, known: Itemsets, is_counted: bool) -> Queries:
        owners = np.repeat(np.arange(len(known)), np.diff(known.indptr))
        image = self.images.of_item[known.items].astype(np.int64)
        if self.exact is not None:
            alone = self.exact.of_item[known.items].astype(np.int64)
            owners, image = np.tile(owners, 2), np.append(image, np.where(alone < 0, -1, alone + len(self.images)))
        width = max(int(image.max(initial=0)) + 1, 1)
        keys = (owners * width + image)[image >= 0]
        keys = np.sort(keys) if is_counted else sorted_distinct(keys)
        indptr = np.searchsorted(keys, np.arange(len(known) + 1) * width).astype(np.int64)
        return indptr, (keys % width).astype(np.int32)

    def _without(self, records: NDArray[np.int64] | int, own: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """How likely the others of a target's group hold the target's sensitive item if the target is taken out: the
        group has one record less and counts one entry less.
        """
        size = self.group_sizes[self.group_of[records]]
        return np.where(size > 1, (own * size - 1) / np.maximum(size - 1, 1), 0.0)

    def _infer(
        self,
        queries: Queries,
        records: NDArray[np.int64],
        secrets: NDArray[np.int64],
        n_candidates: NDArray[np.int64],
        is_found: NDArray[np.bool_],
        holds: NDArray[np.float32],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Posterior with and without the target's own record, float64[targets] each."""
        own_group = self.group_of[records] if len(self.group_of) else records
        total, n_in_group = sum_over_matches(self.postings, queries, holds, secrets, self.group_of, own_group)
        own = holds[secrets, records].astype(np.float64)
        without = self._without(records, own) - own if len(self.group_of) else np.zeros_like(own)
        others, n_others = total - own * is_found + (n_in_group - is_found) * without, n_candidates - is_found
        posterior, control = total / np.maximum(n_candidates, 1), others / np.maximum(n_others, 1)
        unmatched = np.flatnonzero(n_others == 0)  # there the class says something, or all records
        if self.column_classes is None:
            n_records, prior = holds.shape[1], holds.sum(axis=1, dtype=np.float64)[secrets]
            n_mates = self.group_sizes[own_group] - 1 if len(self.group_of) else np.zeros_like(own_group)
            posterior = np.where(n_candidates > 0, posterior, prior / n_records)
            control[unmatched] = (prior - own + n_mates * without)[unmatched] / max(n_records - 1, 1)
        elif len(unmatched) and (np.diff(queries[0]) > 1).any():
            alone = np.arange(len(unmatched) + 1), queries[1][queries[0][1:][unmatched] - 1]  # the class comes last
            n_alone = count_matches(self.postings, _NO_WEIGHTS, alone)
            own_records, asked = records[unmatched], secrets[unmatched]
            is_own = are_matches(self.postings, alone, own_records)
            by_class = self._infer(alone, own_records, asked, n_alone, is_own, holds)
            posterior[unmatched] = np.where(n_candidates[unmatched] > 0, posterior[unmatched], by_class[0])
            control[unmatched] = by_class[1]
        return posterior, control


def _sensitive_shares(release: Release, vocabulary: Vocabulary, secrets: NDArray[np.integer]) -> NDArray[np.float64]:
    """The share of the items of each published label that are secrets, float64[published labels]."""
    cover = release.meaning.cover
    is_secret = np.zeros(len(cover.vocabulary) + 1, dtype=np.int64)  # the last entry serves unknown items
    is_secret[cover.vocabulary.numbers(vocabulary[int(item)] for item in secrets)] = 1
    is_secret[-1] = 0
    until = bounds_of(is_secret[cover.items])
    n_secrets = until[cover.indptr[1:]] - until[cover.indptr[:-1]]
    shares: NDArray[np.float64] = n_secrets / np.maximum(release.meaning.sizes, 1)
    return shares


def _read_secrets(
    release: Release, images: Images, secrets: NDArray[np.integer], weights: NDArray[np.float64]
) -> NDArray[np.float32]:
    """How likely each record holds each secret: the largest of the weights of the labels it shows that cover it."""
    holds = np.zeros((len(secrets), release.published.n_records), dtype=np.float32)
    if not len(secrets):
        return holds
    list_indptr, records = release.rows.inverted()
    for row, image in enumerate(images.of_item[secrets].tolist()):
        if image < 0:
            continue
        covering = images.published_items[images.indptr[image] : images.indptr[image + 1]]
        for published in covering[np.argsort(weights[covering], kind="stable")].tolist():  # the largest comes last
            holds[row, records[list_indptr[published] : list_indptr[published + 1]]] = weights[published]
    return holds
