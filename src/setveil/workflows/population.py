"""Journalist risk: how many people of a population match each published record (k-map), counted exactly.

A prosecutor knows that a person is in the data. A journalist does not, and has to choose among all people of the
population who match. A person matches a published record if the record can be what became of that person:

- every label of the record stands for an item of the person, each label for another one. Categories of a hierarchy
  either contain each other or are disjoint, so this is so if and only if every label covers at least as many items of
  the person as the record has labels within it (Hall's theorem);
- every item of the person is covered by a label of the record, unless single entries can be suppressed or no label
  covers the item at all. A person with an item that neither the release nor the data know matches no record;
- every known column shows a value that covers that of the person.

Sensitive items are not taken to be known. Records that are not what became of one person's record have no such matches:
``why_not`` says so, and the prosecutor risk applies.

Journalist risk is that of the attacker of the guarantee, as the prosecutor risk is. If this attacker knows up to m
items of a person, every set of m labels of a record is looked up in place of the record, without the second condition.
The people of all published records that match are among those found, so the risk is at most 1/k.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.arrays.mining import Postings, count_matches, index_rows, join_postings, list_matches
from setveil.core import Transactions, Vocabulary
from setveil.core.meaning import Meaning
from setveil.core.row_order import bounds_of, take_rows
from setveil.errors import InputError
from setveil.models import PrivacyModel
from setveil.releases import Release, RunRecord
from setveil.risk.column_classes import ColumnClasses
from setveil.workflows.inputs import as_transactions

MOST_SETS = 3_000_000  # sets of labels of all records; with more, whole records give an upper bound

_CATEGORIES = "categories overlap, so that matching people cannot be counted exactly"


def match_population(release: Release, record: RunRecord, population: Any, lacks_entries: bool) -> dict[str, Any]:
    """Matching people of what an attacker can know of each published record: the fewest, and the risk that follows; or
    why none can be counted. ``known``: the items that the attacker of the guarantee knows; None for whole records.
    ``whole``: the highest risk if whole records are known.

    ``lacks_entries``: single entries may have been suppressed. Every person of the data must be in the population, so
    that a published record with fewer matches than people is an error.
    """
    people = as_transactions(population).used_items()
    if reason := why_not(release):
        return {"people": people.n_records, "reason": reason}
    # Files do not say which items of a model are sensitive.
    sensitive = {*release.sensitive_items, *getattr(record.model, "sensitive", ())}
    looked_up = _LookedUp.of(release, record.data.vocabulary, people, sensitive)
    weights, matches = looked_up.whole(lacks_entries)
    if (matches < weights).any():
        n_missing = int((weights - np.minimum(matches, weights)).sum())
        raise InputError(
            f"--population: {n_missing:,} people of the data are not in the population; give one that contains them."
        )
    whole = float(1 / matches.min()) if len(matches) else 0.0
    reach, known = record.model.covered_items, None
    if reach is not None and reach < inf:
        parts = looked_up.parts(int(reach), record.model)
        matches, known = (matches, None) if parts is None else (parts, int(reach))
    return {
        "people": people.n_records,
        "known": known,
        "columns": looked_up.in_class is not None,
        "fewest": int(matches.min(initial=people.n_records)),
        "highest": float(1 / matches.min()) if len(matches) else 0.0,
        "mean": float((weights / matches).sum() / max(int(weights.sum()), 1)),
        "whole": whole,
    }


def why_not(release: Release) -> str:
    """Why matching people cannot be counted; empty where they can."""
    if not release.has_own_records:
        return "no published record belongs to a person"
    if not release.is_truthful:
        return "published records show items that their people do not have, so that anyone can match"
    return "" if _are_nested(release.meaning) else _CATEGORIES


def _are_nested(meaning: Meaning) -> bool:
    """Whether any two labels cover disjoint items, or one all items of the other."""
    owner = np.repeat(np.arange(len(meaning.sizes)), meaning.sizes)
    order = np.lexsort((-meaning.sizes[owner], meaning.cover.items))
    item, label = meaning.cover.items[order], owner[order]
    follows = np.flatnonzero(item[1:] == item[:-1])  # a label, then the next smaller one with the same item
    pairs, n_common = np.unique(np.column_stack((label[follows], label[follows + 1])), axis=0, return_counts=True)
    return bool((n_common == meaning.sizes[pairs[:, 1]]).all())


class _Shown(NamedTuple):
    """How many items of each person each label covers, and how many a matching record must cover."""

    keys: NDArray[np.int64]  # person times the number of labels, plus the label; ascending
    counts: NDArray[np.int64]  # of each key
    required: NDArray[np.int64]  # [people] -1 for people who match no record

    @classmethod
    def of(cls, meaning: Meaning, vocabulary: Vocabulary, people: Transactions, sensitive: set[str]) -> _Shown:
        """``vocabulary``: the items of the data, of which the release may have suppressed some."""
        item = meaning.domain.numbers(people.vocabulary)[people.items]
        is_known = vocabulary.numbers(people.vocabulary)[people.items] >= 0
        is_public = np.array([label not in sensitive for label in people.vocabulary], dtype=bool)[people.items]
        n_stranger = np.bincount(people.owners[(item < 0) & ~is_known & is_public], minlength=people.n_records)
        owners, item = people.owners[(item >= 0) & is_public], item[(item >= 0) & is_public]
        by_item = np.argsort(meaning.cover.items, kind="stable")
        bounds = np.searchsorted(meaning.cover.items[by_item], np.arange(len(meaning.domain) + 1))
        label_of = np.repeat(np.arange(len(meaning.sizes), dtype=np.int32), meaning.sizes)[by_item]
        indptr, labels = take_rows(bounds.astype(np.int64), label_of, item.astype(np.int64))
        n_labels = np.diff(indptr)
        keys, counts = np.unique(
            np.repeat(owners, n_labels) * len(meaning.sizes) + labels.astype(np.int64), return_counts=True
        )
        required = np.bincount(owners[n_labels > 0], minlength=people.n_records)
        return cls(keys, counts.astype(np.int64), np.where(n_stranger > 0, -1, required))

    def lists(self, n_labels: int, most: int) -> Postings:
        """For each label and number up to ``most`` the people of whom the label covers that many items."""
        times = np.minimum(self.counts, most)
        first = np.repeat(np.cumsum(times) - times, times)
        items = np.repeat(self.keys % n_labels * most, times) + np.arange(len(first)) - first
        n_of = np.bincount(np.repeat(self.keys // n_labels, times), minlength=len(self.required))
        return index_rows(bounds_of(n_of), items.astype(np.int32), n_labels * most)

    def of_pairs(self, people: NDArray[np.int64], labels: NDArray[np.int64], n_labels: int) -> NDArray[np.int64]:
        """The items of each of these people that these labels cover together, where each covers some."""
        at = np.searchsorted(self.keys, people[:, None] * n_labels + labels)
        return self.counts[at].sum(axis=1) if len(labels) else np.zeros(len(people), dtype=np.int64)


class _LookedUp(NamedTuple):
    """Published records, distinct in labels and columns, and the people of the population who can be theirs."""

    meaning: Meaning
    rows: Transactions  # public labels only
    classes: NDArray[np.int64]  # [rows] known columns
    weights: NDArray[np.int64]  # [rows] people of the data
    shown: _Shown
    in_class: Postings | None  # the people whose values each class covers; None without columns

    @classmethod
    def of(cls, release: Release, vocabulary: Vocabulary, people: Transactions, sensitive: set[str]) -> _LookedUp:
        """``vocabulary``: the items of the data."""
        column_classes = ColumnClasses.of(release.rows)
        rows = _of_labels(release.rows, [label not in sensitive for label in release.rows.vocabulary])
        in_class, classes = None, np.zeros(rows.n_records, dtype=np.int64)
        if column_classes is not None:
            in_class, classes = column_classes.people_by_class(people), column_classes.of_record
        first, inverse = _distinct(rows, classes)
        shown = _Shown.of(release.meaning, vocabulary, people, sensitive)
        return cls(release.meaning, rows.select(first), classes[first], np.bincount(inverse), shown, in_class)

    def whole(self, lacks_entries: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each published record its people in the data, and those who match it as a whole."""
        if lacks_entries:
            return self.weights, self._covered(self.rows, self.classes)
        rows, (lists, queries) = self.rows, self._queries(self.rows, self.classes)
        is_outer = _are_outer(self.meaning, rows)
        matches = np.zeros(rows.n_records, dtype=np.int64)
        for row in range(rows.n_records):
            found = list_matches(lists, queries[1][queries[0][row] : queries[0][row + 1]]).astype(np.int64)
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            covered = self.shown.of_pairs(found, rows.items[part][is_outer[part]].astype(np.int64), rows.n_items)
            matches[row] = int((covered == self.shown.required[found]).sum())
        return self.weights, matches

    def parts(self, size: int, model: PrivacyModel) -> NDArray[np.int64] | None:
        """For each published record the fewest people who match some of its labels; None if there are too many sets."""
        rows = self.rows
        if (observable := model.observable_items) is not None:
            is_known = np.isin(self.meaning.domain.labels, list(observable))[self.meaning.cover.items]
            rows = _of_labels(rows, np.add.reduceat(is_known, self.meaning.cover.indptr[:-1]) > 0)
        lengths = np.diff(rows.indptr)
        if sum(comb(length, min(size, length)) for length in lengths.tolist()) > MOST_SETS:
            return None
        sets, of_row = _subsets(rows, size)
        first, inverse = _distinct(sets, self.classes[of_row])
        matches = self._covered(sets.select(first), self.classes[of_row][first])[inverse]
        fewest = np.full(rows.n_records, len(self.shown.required), dtype=np.int64)
        np.minimum.at(fewest, of_row, matches)
        return fewest

    def _covered(self, rows: Transactions, classes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many people have items for all labels of each row, another item for each label."""
        lists, queries = self._queries(rows, classes)
        return count_matches(lists, (self.shown.required >= 0).astype(np.int64), queries)

    def _queries(
        self, rows: Transactions, classes: NDArray[np.int64]
    ) -> tuple[Postings, tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """The people of each label and number of items, then of each class; and the lists that each row asks for."""
        n_inside = _labels_inside(self.meaning, rows)
        most = int(n_inside.max(initial=1))
        lists = self.shown.lists(rows.n_items, most)
        indptr, items = rows.indptr, (rows.items.astype(np.int64) * most + n_inside - 1).astype(np.int32)
        if self.in_class is None:
            return lists, (indptr, items)
        asked = np.insert(items, indptr[1:], rows.n_items * most + classes).astype(np.int32)
        return join_postings(lists, self.in_class), (indptr + np.arange(len(indptr)), asked)


def _of_labels(rows: Transactions, is_kept: ArrayLike) -> Transactions:
    """The rows with these labels only, numbered as before."""
    return rows.recode(np.where(is_kept, np.arange(rows.n_items), -1).astype(np.int32), rows.vocabulary)


def _distinct(rows: Transactions, classes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of each kind of row and class, and the kind of each row."""
    number = rows.distinct().inverse * (int(classes.max(initial=0)) + 1) + classes
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)


def _subsets(rows: Transactions, size: int) -> tuple[Transactions, NDArray[np.int64]]:
    """All sets of ``size`` labels of each row, all its labels where it has fewer; and the row of each set."""
    lengths = np.diff(rows.indptr)
    items, owners, n_labels = [], [], []
    for length in np.unique(lengths).tolist():
        of_length = np.flatnonzero(lengths == length)
        chosen = np.array(list(combinations(range(length), min(size, length))), dtype=np.int64)
        items.append(rows.items[rows.indptr[of_length][:, None, None] + chosen].reshape(-1))
        owners.append(np.repeat(of_length, len(chosen)))
        n_labels.append(np.full(len(owners[-1]), chosen.shape[1], dtype=np.int64))
    indptr = bounds_of(np.concatenate(n_labels))
    sets = replace(rows, indptr=indptr, items=np.concatenate(items), columns=None, ids=None)
    return sets, np.concatenate(owners)


def _labels_inside(meaning: Meaning, rows: Transactions) -> NDArray[np.int64]:
    """For each entry the labels of its record that lie within its label, itself included, int64[entries]."""
    return np.bincount(_pairs(meaning, rows)[0], minlength=len(rows.items)).astype(np.int64)


def _are_outer(meaning: Meaning, rows: Transactions) -> NDArray[np.bool_]:
    """For each entry whether it lies within no other label of its record, bool[entries]."""
    is_outer = np.ones(len(rows.items), dtype=bool)
    outer, inner = _pairs(meaning, rows)
    is_outer[inner[inner != outer]] = False
    return is_outer


def _pairs(meaning: Meaning, rows: Transactions) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Entries of the same record of which one's label lies within that of the other: ``(outer, inner)``."""
    inside = meaning.narrower()
    indptr, labels = take_rows(inside.indptr, inside.published_items, rows.items.astype(np.int64))
    outer = np.repeat(np.arange(len(rows.items)), np.diff(indptr))
    keys, width = rows.owners * rows.n_items + rows.items, rows.n_items  # ascending
    wanted = rows.owners[outer] * width + labels
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    is_there = keys[at] == wanted if len(keys) else np.zeros(0, dtype=bool)
    return outer[is_there], at[is_there]
