"""What known items of a person reveal about further ones.

The attacker knows c items of a target and looks at the *candidates*, the records that fit (all records where none
does). What they show is what the attacker concludes. A *further item* is an item of the target that is not known:

- where sensitive items are named, each sensitive item of the target. Its probability is the mean over the candidates of
  what each record says about it: a label of which a share s of the items is sensitive counts s (1 for the item's own
  name), a group counts by its share of people with the item;
- where none is named, any other item of the target. Its probability is the share of the candidates that show it under
  its own name. Where the release has item counts, it is the share of the candidates that show the item's category,
  times the share of people of the category who have the item.

A target counts as *certain* if some further item has probability 1, as *likely* if some has more than 1/2. Only items
that the target really has count, so a wrong conclusion is none. Where no item is named, *certain category* says of how
many targets a further label is certain, whatever it covers: every candidate shows it, it covers an item of the target
that is not known, and no known item explains it. In a local recoding a record also shows a label if it shows one that
covers only items of that label.

The same without the target's own record is the control: what the attacker concludes about people who are not in the
data. Counts are integers wherever records either show a label or not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import Queries, count_matches
from setveil.arrays.threads import for_slices
from setveil.core import Itemsets
from setveil.core.row_order import bounds_of, take_rows
from setveil.risk._revealing import count_further
from setveil.risk.knowledge import Group, People
from setveil.risk.surface import Surface

_AT_ONCE = 64  # targets that one thread looks at before the next slice
_ROUNDING = 1e-7  # of means of fractions


class Conclusions(NamedTuple):
    """What the attacker concludes about each target; bool[targets] each, and the highest probability."""

    certain: NDArray[np.bool_]
    likely: NDArray[np.bool_]
    category: NDArray[np.bool_] | None  # None where sensitive items are named
    highest: float | None  # the largest probability of a named item; None where none is named


class Revealed(NamedTuple):
    """Conclusions with and without the target's own record, about the targets that can be asked about."""

    asked: NDArray[np.bool_]  # [targets]
    found: Conclusions
    control: Conclusions


def reveal(
    surface: Surface,
    people: People,
    group: Group,
    known: Itemsets,
    own: NDArray[np.int64],
    classes: NDArray[np.int64] | None = None,
) -> Revealed:
    """What ``known`` items of the targets reveal about further ones. ``own``: their records, -1 if they have none;
    ``classes``: their classes, where columns are known.

    Asked about are all targets, or those with a sensitive item where such items are named.
    """
    if len(surface.secrets):
        return _of_named(surface, people, group, _queries(surface, known, classes), own)
    owners, labels, counts = _further_labels(surface, people, group, known)
    n_targets = len(known)
    indptr = np.searchsorted(owners, np.arange(n_targets + 1)).astype(np.int64)
    n_fitting = np.zeros((n_targets, 2), dtype=np.int64)
    n_showing = np.zeros((len(labels), 2), dtype=np.int64)
    queries = _queries(surface, known, classes)
    shown = surface.labels, surface.label_supports

    def count(first: int, last: int) -> None:
        some, further = (queries[0][first : last + 1], queries[1]), (indptr[first : last + 1], labels)
        count_further(surface.postings, some, *shown, further, own[first:last], n_fitting[first:last], n_showing)

    for_slices(
        count,
        [(first, min(first + _AT_ONCE, n_targets)) for first in range(0, n_targets, _AT_ONCE)],
    )
    has_own = own[owners] >= 0
    shows_own = surface.shows(np.maximum(own[owners], 0), labels) & has_own
    taken_out = np.column_stack((np.zeros_like(has_own), has_own)), np.column_stack((np.zeros_like(has_own), shows_own))
    among = n_fitting[owners]
    n_all = np.where(among > 0, among, surface.postings.n_records - taken_out[0])
    n_with = np.where(among > 0, n_showing, surface.label_supports[labels][:, None] - taken_out[1])
    is_item = surface.label_sizes[labels] == 1
    counts, among_label = np.where(is_item, 1, counts), np.where(is_item, 1, surface.label_supports[labels])

    def concluded(side: int) -> Conclusions:
        is_certain = (n_with[:, side] == n_all[:, side]) & (n_all[:, side] > 0)
        is_likely = 2 * n_with[:, side] * counts > n_all[:, side] * among_label

        def some(marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
            return np.bincount(owners[marks], minlength=n_targets) > 0

        return Conclusions(some(is_certain & is_item), some(is_likely), some(is_certain), None)

    return Revealed(np.ones(n_targets, dtype=bool), concluded(0), concluded(1))


def _further_labels(
    surface: Surface, people: People, group: Group, known: Itemsets
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Labels that cover an item of a target that is not known, and no known one: ``(targets, labels, counts)``,
    ascending. The count is the largest published one of such an item, 0 if none is published.
    """
    own = people.data.select(group.records)
    width = max(people.data.n_items, 1)
    known_of = np.repeat(np.arange(len(known)), np.diff(known.indptr))
    unknown = np.setdiff1d(own.owners * width + own.items, known_of * width + known.items, assume_unique=True)
    further = surface.covering_labels(unknown // width, unknown % width)
    explained = surface.covering_labels(known_of, known.items)
    width = max(len(surface.label_sizes), 1)
    pairs = np.setdiff1d(further[0] * width + further[1], explained[0] * width + explained[1])
    counts = np.zeros(len(pairs), dtype=np.int64)
    if surface.item_counts.any():  # then every item has one label
        items = unknown % max(people.data.n_items, 1)
        place = np.searchsorted(pairs, further[0] * width + further[1])
        place = np.minimum(place, max(len(pairs) - 1, 0))
        covered = surface.item_counts[items[surface.covering.of_item[items] >= 0]]
        is_pair = pairs[place] == further[0] * width + further[1] if len(pairs) else np.zeros(len(place), dtype=bool)
        np.maximum.at(counts, place[is_pair], covered[is_pair])
    return pairs // width, (pairs % width).astype(np.int32), counts


def _queries(surface: Surface, known: Itemsets, classes: NDArray[np.int64] | None) -> Queries:
    """What to look for. Where columns are known and no record of the class fits the items, the class alone."""
    queries = surface.queries(known, classes)
    if surface.column_classes is None:
        return queries
    indptr, items = queries
    is_alone = count_matches(surface.postings, np.empty(0, dtype=np.int64), queries) == 0
    lengths = np.where(is_alone, 1, np.diff(indptr))
    kept = np.repeat(~is_alone, np.diff(indptr))
    kept[indptr[1:] - 1] = True  # the class comes last
    return bounds_of(lengths), items[kept]


def _of_named(surface: Surface, people: People, group: Group, searched: Queries, own: NDArray[np.int64]) -> Revealed:
    """The same for named items: every sensitive item of every target is asked for."""
    n_targets = len(group.records)
    private = people.private.select(group.records)
    target, secret = private.owners, private.items.astype(np.int64)
    queries = take_rows(*searched, target)
    found, control = surface.probabilities(queries, own[target], secret)
    asked = private.lengths > 0

    def concluded(probability: NDArray[np.float64]) -> Conclusions:
        best = np.zeros(n_targets)
        np.maximum.at(best, target, probability)
        highest = float(probability.max()) if len(probability) else None
        return Conclusions(best[asked] >= 1 - _ROUNDING, best[asked] > 0.5 + _ROUNDING, None, highest)

    return Revealed(asked, concluded(found), concluded(control))
