"""What frequent itemsets and association rules are left (precision, recall, support error; rules kept, lost, new).

The original and the release are mined with the same threshold and compared in several views:

- ``published``: the release as it is, published items as they are. Each frequent itemset is compared with the truth:
  the number of original records with at least one of the items behind each published item. There is no recall here.
- ``level 1``, ``level 2``, …: both sides generalized to a level of the hierarchy (1 is directly below the root; an item
  that is not as deep stays itself). A published item that covers items of several nodes of the level is not
  visible there.
- ``items``: original items. Of the release only items that are published as themselves are visible.
- ``expand`` and ``probability``: original itemsets whose estimated support (see ``estimates``) reaches the threshold.
  Of a recoding their number follows from binomial coefficients; of the other generalizing kinds it is not known, and
  neither is precision.

*Precision* is the share of the release's itemsets that are frequent in truth, *recall* the share of the original's that
the release has, *support error* the mean of |support read − truth| / truth: over the release's itemsets in
``published``, over the original's in the estimated views, over the common ones elsewhere.

Rules have one item on the right: X → y with confidence support(X ∪ y)/support(X), from itemsets above the threshold.

With a hierarchy the levels are added up. F_i are the frequent itemsets at level i; the items are the last level. d_i
are the sets of F_i(original) that are not the image of a frequent itemset of the original one level finer.

- ML² (multiple level mining loss; Terrovitis, Mamoulis, Kalnis, VLDB Journal 2011):
  1 − Σ |F_i(original) ∩ F_i(release)| / Σ |F_i(original)|.
- dML² (differential): 1 − Σ |d_i ∩ F_i(release)| / Σ |d_i|. This is a reconstruction: paper 000 names the measure and
  does not define it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import count_matches, pack_postings, sorted_distinct
from setveil.core import Hierarchy, Itemsets, Transactions, Vocabulary
from setveil.errors import InputError
from setveil.releases import Release
from setveil.utility.estimates import ESTIMATORS, Estimator, SupportEstimates
from setveil.utility.itemsets import FrequentItemsets, as_min_support, frequent_itemsets

_LIMIT = 300_000  # itemsets per side

Supports = dict[tuple[int, ...], int]  # itemset, items ascending → support


@dataclass(frozen=True)
class ItemsetRow:
    """Frequent itemsets at one threshold in one view; ``None`` where a figure does not apply."""

    threshold: float
    min_support: int
    view: str
    n_original: int | None
    n_release: int | None
    precision: float | None
    recall: float | None
    support_error: float | None


@dataclass(frozen=True)
class RuleRow:
    """Association rules at one threshold in one view. In ``published``, ``n_original`` and ``lost`` do not apply."""

    threshold: float
    confidence: float
    view: str
    n_original: int | None
    kept: int  # in ``published``: true ones
    lost: int | None
    new: int  # in ``published``: false ones


@dataclass(frozen=True)
class MiningLossRow:
    """ML² and dML² at one threshold, with the numbers of itemsets behind them; a share of nothing is ``None``."""

    threshold: float
    min_support: int
    n_itemsets: int  # frequent in the original, all levels
    n_lost: int  # of these, not frequent in the release
    n_differential: int
    n_differential_lost: int
    ml2: float | None
    dml2: float | None


@dataclass(frozen=True)
class PatternTable:
    """All views at all thresholds. ``mining_loss`` is empty without a hierarchy."""

    itemsets: tuple[ItemsetRow, ...]
    rules: tuple[RuleRow, ...]
    mining_loss: tuple[MiningLossRow, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare_patterns(
    original: Transactions,
    release: Release,
    thresholds: Iterable[float] = (0.05, 0.01, 0.002),
    confidence: float = 0.5,
    max_size: int | None = 4,
    hierarchy: Hierarchy | None = None,
) -> PatternTable:
    """Mine both, compare in every view that applies. ``hierarchy``: that of the release unless given."""
    if not 0 < confidence <= 1:
        raise InputError(f"a confidence is a share above 0 and at most 1, not {confidence}.")
    hierarchy = hierarchy or release.hierarchy
    items: list[ItemsetRow] = []
    rules: list[RuleRow] = []
    losses: list[MiningLossRow] = []
    estimates = SupportEstimates.of(release, original.vocabulary)
    views = [*_levels(original, release, hierarchy), ("items", *_as_items(original, release))]
    for threshold in thresholds:
        min_support = as_min_support(threshold, original.n_records)
        found = frequent_itemsets(release.rows, min_support, max_size, _LIMIT)
        truth = _truth(original, release, found.itemsets)
        items.append(_published_row(threshold, found, truth))
        rules.append(_published_rules(threshold, confidence, found, truth))
        mined = []
        for view, before, after in views:
            ours, theirs = (
                _supports(frequent_itemsets(data, min_support, max_size, _LIMIT)) for data in (before, after)
            )
            mined.append((ours, theirs))
            items.append(_compared_row(threshold, min_support, view, ours, theirs))
            rules.append(_compared_rules(threshold, confidence, view, ours, theirs))
        if hierarchy is not None:
            losses.append(_mining_loss(threshold, min_support, mined, hierarchy, original.vocabulary))
        known = frequent_itemsets(original, min_support, max_size, _LIMIT)
        for estimator in ESTIMATORS:
            n_release = _count_estimated(estimates, found, max_size, estimator)
            items.append(_estimated_row(threshold, known, estimates, estimator, n_release))
    return PatternTable(tuple(items), tuple(rules), tuple(losses))


# -- views ------------------------------------------------------------------------------------------------------------


def _truth(original: Transactions, release: Release, itemsets: Itemsets) -> NDArray[np.int64]:
    """In how many original records each itemset of published items is true: some item behind each of them is there."""
    members = release.meaning.cover
    item = original.vocabulary.numbers(members.vocabulary)  # [domain], -1 for items that do not occur
    list_indptr, records = original.inverted()
    lists = []
    for published in members:
        own = item[published]
        parts = [records[list_indptr[i] : list_indptr[i + 1]] for i in own[own >= 0]]
        lists.append(sorted_distinct(np.concatenate(parts)) if parts else records[:0])
    postings = pack_postings(lists, original.n_records)
    return count_matches(postings, np.empty(0, dtype=np.int64), (itemsets.indptr, itemsets.items))


def _levels(
    original: Transactions, release: Release, hierarchy: Hierarchy | None
) -> list[tuple[str, Transactions, Transactions]]:
    """Original and release generalized to each inner level, over the same numbering."""
    if hierarchy is None:
        return []
    views = []
    for level in range(1, hierarchy.height):
        node = np.arange(hierarchy.n_nodes)
        while (hierarchy.depth[node] > level).any():
            node = np.where(hierarchy.depth[node] > level, hierarchy.parent[node], node)
        views.append((f"level {level}", *_raised(original, release, hierarchy, node[: hierarchy.n_items])))
    return views


def _raised(
    original: Transactions, release: Release, hierarchy: Hierarchy, node_of_leaf: NDArray[np.integer[Any]]
) -> tuple[Transactions, Transactions]:
    vocabulary = Vocabulary.presorted([str(node) for node in range(hierarchy.n_nodes)])  # only its length matters
    before = original.recode(node_of_leaf[hierarchy.leaf_of_items(original.vocabulary)], vocabulary)
    members = release.meaning.cover
    leaf = hierarchy.vocabulary.numbers(members.vocabulary)
    target = np.full(len(members), -1, dtype=np.int64)
    for published, own in enumerate(members):
        nodes = np.unique(np.where(leaf[own] >= 0, node_of_leaf[leaf[own]], -1))
        if len(nodes) == 1:
            target[published] = nodes[0]
    return before, release.rows.recode(target, vocabulary)


def _as_items(original: Transactions, release: Release) -> tuple[Transactions, Transactions]:
    """Items published as themselves, over the original's vocabulary."""
    members = release.meaning.cover
    item = original.vocabulary.numbers(members.vocabulary)
    target = np.full(len(members), -1, dtype=np.int64)
    alone = np.flatnonzero(np.diff(members.indptr) == 1)
    target[alone] = item[members.items[members.indptr[alone]]]
    return original, release.rows.recode(target, original.vocabulary)


# -- itemsets ---------------------------------------------------------------------------------------------------------


def _supports(found: FrequentItemsets) -> Supports:
    flat, bounds = found.itemsets.items.tolist(), found.itemsets.indptr.tolist()
    keys = (tuple(flat[start:end]) for start, end in zip(bounds[:-1], bounds[1:], strict=True))
    return dict(zip(keys, found.supports.tolist(), strict=True))


def _published_row(threshold: float, found: FrequentItemsets, truth: NDArray[np.int64]) -> ItemsetRow:
    errors = np.abs(found.supports - truth) / np.maximum(truth, 1)
    return ItemsetRow(
        threshold=threshold,
        min_support=found.min_support,
        view="published",
        n_original=None,
        n_release=len(found),
        precision=_mean(truth >= found.min_support),
        recall=None,
        support_error=_mean(errors),
    )


def _compared_row(threshold: float, min_support: int, view: str, ours: Supports, theirs: Supports) -> ItemsetRow:
    common = [itemset for itemset in ours if itemset in theirs]
    return ItemsetRow(
        threshold=threshold,
        min_support=min_support,
        view=view,
        n_original=len(ours),
        n_release=len(theirs),
        precision=len(common) / len(theirs) if theirs else None,
        recall=len(common) / len(ours) if ours else None,
        support_error=_mean([abs(theirs[itemset] - ours[itemset]) / ours[itemset] for itemset in common]),
    )


def _estimated_row(
    threshold: float, known: FrequentItemsets, estimates: SupportEstimates, estimator: Estimator, n_release: int | None
) -> ItemsetRow:
    supports = estimates.supports(known.itemsets, estimator)
    # An estimate that is the threshold but for rounding counts as reached.
    n_common = int((supports >= known.min_support - 1e-9).sum())
    return ItemsetRow(
        threshold=threshold,
        min_support=known.min_support,
        view=estimator,
        n_original=len(known),
        n_release=n_release,
        precision=n_common / n_release if n_release else None,
        recall=n_common / len(known) if len(known) else None,
        support_error=_mean(np.abs(supports - known.supports) / known.supports),
    )


def _count_estimated(
    estimates: SupportEstimates, found: FrequentItemsets, max_size: int | None, estimator: Estimator
) -> int | None:
    """How many original itemsets have an estimated support of the threshold or more.

    Their image is a frequent itemset of published items. With sizes g of these, the number of original itemsets of R
    items with that image is the coefficient of z^R in the product of (1+z)^g − 1; the estimate depends on R and the
    image only.
    """
    if not estimates.has_one_image:
        return None
    sizes = estimates.published_sizes
    total = 0
    for itemset, support in _supports(found).items():
        groups = [int(sizes[item]) for item in itemset]
        if estimator == "expand" and max_size is None:
            n_itemsets = 1
            for size in groups:
                n_itemsets *= 2**size - 1
            total += n_itemsets
            continue
        largest = sum(groups) if max_size is None else max_size
        if estimator == "probability":
            most_likely = support / float(np.prod([1 - 0.5**size for size in groups]))
            while largest and most_likely * 0.5**largest < found.min_support - 1e-9:
                largest -= 1
        total += sum(_count_by_size(groups, largest))
    return total


def _count_by_size(groups: list[int], largest: int) -> list[int]:
    """Coefficients of z^0 … z^largest in the product of (1+z)^g − 1."""
    counts = [1] + [0] * largest
    for size in groups:
        grown = [0] * (largest + 1)
        for before, count in enumerate(counts):
            if count:
                for taken in range(1, min(size, largest - before) + 1):
                    grown[before + taken] += count * comb(size, taken)
        counts = grown
    return counts


def _mining_loss(
    threshold: float,
    min_support: int,
    mined: list[tuple[Supports, Supports]],
    hierarchy: Hierarchy,
    vocabulary: Vocabulary,
) -> MiningLossRow:
    """``mined``: frequent itemsets of original and release from level 1 down to the items, which are the last."""
    # One level up: the parent of a node of exactly the finer level. A less deep item stays itself.
    parent, depth = hierarchy.parent.tolist(), hierarchy.depth.tolist()
    leaf = hierarchy.leaf_of_items(vocabulary).tolist()
    counts = [0, 0, 0, 0]  # itemsets, lost ones, the same of the differential ones
    images: set[tuple[int, ...]] = set()
    for level in range(len(mined), 0, -1):
        ours, theirs = mined[level - 1]
        is_last = level == len(mined)
        for itemset in ours:
            is_lost, is_new = itemset not in theirs, itemset not in images
            for index, applies in enumerate((True, is_lost, is_new, is_new and is_lost)):
                counts[index] += applies
        nodes = ([leaf[item] for item in itemset] if is_last else itemset for itemset in ours)
        images = {
            tuple(sorted({parent[node] if depth[node] == level else node for node in itemset})) for itemset in nodes
        }
    n_itemsets, n_lost, n_differential, n_differential_lost = counts
    return MiningLossRow(
        threshold,
        min_support,
        n_itemsets,
        n_lost,
        n_differential,
        n_differential_lost,
        ml2=n_lost / n_itemsets if n_itemsets else None,
        dml2=n_differential_lost / n_differential if n_differential else None,
    )


# -- rules ------------------------------------------------------------------------------------------------------------


def _published_rules(threshold: float, confidence: float, found: FrequentItemsets, truth: NDArray[np.int64]) -> RuleRow:
    supports = _supports(found)
    true = dict(zip(supports, truth.tolist(), strict=True))
    rules = rules_of(supports, confidence)
    n_true = sum(
        true[itemset] >= found.min_support and true[itemset] >= confidence * true[_without(itemset, item)] - 1e-9
        for itemset, item in rules
    )
    return RuleRow(threshold, confidence, "published", None, n_true, None, len(rules) - n_true)


def _compared_rules(threshold: float, confidence: float, view: str, ours: Supports, theirs: Supports) -> RuleRow:
    before, after = rules_of(ours, confidence), rules_of(theirs, confidence)
    kept = len(before & after)
    return RuleRow(threshold, confidence, view, len(before), kept, len(before) - kept, len(after) - kept)


def rules_of(supports: Supports, confidence: float) -> set[tuple[tuple[int, ...], int]]:
    """Rules (itemset, its item on the right) with at least that confidence; all subsets must be among the supports."""
    return {
        (itemset, item)
        for itemset, support in supports.items()
        if len(itemset) > 1
        for item in itemset
        if support >= confidence * supports[_without(itemset, item)] - 1e-9
    }


def _without(itemset: tuple[int, ...], item: int) -> tuple[int, ...]:
    return tuple(other for other in itemset if other != item)


def _mean(values: Any) -> float | None:
    return float(np.mean(values)) if len(values) else None
