"""Published categories: how well they are counted, and whether what they put together belongs together.

A *category* is a published label that can cover several items. Analysts who ask for the category itself ("any kind
of dairy") often get an exact answer where a single item has become an estimate.

- *Count*: how many people have any item of the category. The answer counts the records that show a label all of whose
  items belong to the category; the truth is the count in the original. Where nothing is suppressed the answer is exact
  in a recoding, and a lower bound in a local recoding.
- *Purity*: by the owner's hierarchy, the share of a category's items that belong to its commonest top-level branch,
  averaged over the published entries of categories. *Mixed*: the share of these entries whose category spans several
  branches; *mixed of all*: the same entries as a share of all published ones. Not computed without a hierarchy that
  people made: one built from the data knows nothing about meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.arrays.mining import count_holders
from setveil.core import Hierarchy, Transactions
from setveil.releases import Release

MOST = 200  # categories that are counted: those that most records show


def category_errors(original: Transactions, release: Release) -> dict[str, Any]:
    """Errors of the counts of published categories, and how pure they are; {} where there are none."""
    cover = release.meaning.cover
    indptr, items, domain = cover.indptr, cover.items, cover.vocabulary
    sizes, supports = np.diff(indptr), release.published.supports
    general = np.flatnonzero((sizes > 1) & (supports > 0))
    if not len(general):
        return {}
    asked = general[np.argsort(-supports[general], kind="stable")][:MOST]
    number = original.vocabulary.numbers(domain)  # [domain] of the original, -1 for what does not occur
    before, after = original.postings, release.rows.postings
    errors = []
    for category in asked.tolist():
        inside = np.zeros(len(domain) + 1, dtype=bool)
        inside[items[indptr[category] : indptr[category + 1]]] = True
        n_inside = np.add.reduceat(np.append(inside[items], 0), indptr[:-1]) * (sizes > 0)
        own = number[items[indptr[category] : indptr[category + 1]]]
        truth = count_holders(before, own[own >= 0])
        labels = np.flatnonzero((n_inside == sizes) & (sizes > 0))
        answer = count_holders(after, labels)
        errors.append(abs(answer - truth) / max(truth, 1))
    return {
        "n": len(asked),
        "median": float(np.median(errors)),
        "mean": float(np.mean(errors)),
        "largest": float(np.max(errors)),
        **_purity(release),
    }


def _purity(release: Release) -> dict[str, float]:
    found = purity_of(release, release.record.hierarchy if release.record is not None else None)
    return {"purity": found.purity, "mixed": found.mixed, "mixed_of_all": found.mixed_of_all} if found else {}


@dataclass(frozen=True)
class Purity:
    """Whether what categories put together belongs together."""

    purity: float  # share of a category's items in its commonest branch, averaged over published entries
    mixed: float  # share of generalized entries whose category spans several branches
    mixed_of_all: float  # the same entries as a share of all published ones
    labels: tuple[str, ...]  # of these categories, the most frequent first


def purity_of(release: Release, tree: Hierarchy | None) -> Purity | None:
    """By the branches of a hierarchy that people made; None without one, or if nothing is generalized."""
    if tree is None or not tree.has_meaning:
        return None
    cover, supports = release.meaning.cover, release.published.supports
    general = np.flatnonzero((np.diff(cover.indptr) > 1) & (supports > 0))
    if not len(general):
        return None
    branch = np.append(tree.branches, -1)[tree.vocabulary.numbers(cover.vocabulary)]  # [domain]; -1: not in the tree
    shares = []
    for category in general.tolist():
        of_items = branch[cover.items[cover.indptr[category] : cover.indptr[category + 1]]]
        shares.append(float(np.unique(of_items, return_counts=True)[1].max()) / len(of_items))
    pure, weights = np.array(shares), supports[general]
    mixed = general[pure < 1]
    mixed = mixed[np.lexsort((mixed, -supports[mixed]))]
    return Purity(
        float(np.average(pure, weights=weights)),
        float(np.average(pure < 1, weights=weights)),
        float(weights[pure < 1].sum() / max(int(supports.sum()), 1)),
        tuple(release.published.vocabulary[int(category)] for category in mixed),
    )


def category_purity(original: Transactions, release: Release) -> dict[str, float | int | None]:
    """The figures of ``purity_of`` for the hierarchy of the run."""
    found = _purity(release)
    return {"category_purity": found["purity"], "mixed_ratio": found["mixed"]} if found else {}
