"""Published categories: how well they are counted, and whether what they put together belongs together.

A *category* is a published label that can stand for several items. Analysts who ask for the category itself ("any kind
of dairy") often get an exact answer where a single item has become an estimate.

- *Count*: how many people have any item of the category. The answer counts the records that show a label all of whose
  items belong to the category; the truth is the count in the original. Where nothing is suppressed the answer is exact
  in a recoding, and a lower bound in a local recoding.
- *Purity*: by the owner's hierarchy, the share of a category's items that belong to its commonest top-level branch,
  averaged over the published entries of categories. *Mixed*: the share of these entries whose category spans several
  branches. Not computed without a hierarchy of the owner: one derived from the data knows nothing about meaning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.releases import Release

MOST = 200  # categories that are counted: those that most records show

Covers = tuple[NDArray[np.int64], NDArray[np.integer], Vocabulary]  # of each published label its items, as CSR


def category_errors(original: Transactions, release: Release) -> dict[str, Any]:
    """Errors of the counts of published categories, and how pure they are; {} where there are none."""
    cover = release.meaning.cover
    indptr, items, domain = covers = cover.indptr, cover.items, cover.vocabulary
    sizes, supports = np.diff(indptr), release.published.supports
    general = np.flatnonzero((sizes > 1) & (supports > 0))
    if not len(general):
        return {}
    asked = general[np.argsort(-supports[general], kind="stable")][:MOST]
    number = original.vocabulary.numbers(domain)  # [domain] of the original, -1 for what does not occur
    before, after = original.inverted(), release.published.inverted()
    errors = []
    for category in asked.tolist():
        inside = np.zeros(len(domain) + 1, dtype=bool)
        inside[items[indptr[category] : indptr[category + 1]]] = True
        n_inside = np.add.reduceat(np.append(inside[items], 0), indptr[:-1]) * (sizes > 0)
        own = number[items[indptr[category] : indptr[category + 1]]]
        truth = _records_with(before, own[own >= 0], original.n_records)
        labels = np.flatnonzero((n_inside == sizes) & (sizes > 0))
        answer = _records_with(after, labels, original.n_records)
        errors.append(abs(answer - truth) / max(truth, 1))
    return {
        "n": len(asked),
        "median": float(np.median(errors)),
        "mean": float(np.mean(errors)),
        "largest": float(np.max(errors)),
        **_purity(release, covers, general),
    }


def _records_with(
    lists: tuple[NDArray[np.int64], NDArray[np.int64]], items: NDArray[np.integer], n_records: int
) -> int:
    """How many records have any of the items."""
    indptr, records = lists
    found = np.zeros(n_records, dtype=bool)
    for item in items.tolist():
        found[records[indptr[item] : indptr[item + 1]]] = True
    return int(found.sum())


def _purity(release: Release, covers: Covers, general: NDArray[np.int64]) -> dict[str, float]:
    tree = release.record.hierarchy if release.record is not None else None
    if tree is None or tree.derived_from_data:
        return {}
    indptr, items, domain = covers
    branch = _branches(tree)[tree.vocabulary.numbers(domain)]  # [domain]; what the tree lacks is a branch of its own
    shares = []
    for category in general.tolist():
        of_items = branch[items[indptr[category] : indptr[category + 1]]]
        shares.append(float(np.bincount(of_items - of_items.min()).max()) / len(of_items))
    weights = release.published.supports[general]
    pure = np.array(shares)
    return {
        "purity": float(np.average(pure, weights=weights)),
        "mixed": float(np.average(pure < 1, weights=weights)),
    }


def _branches(tree: Hierarchy) -> NDArray[np.int64]:
    """The top-level branch of each item, with one more entry for unknown ones, int64[items + 1]."""
    branch = np.arange(tree.n_items)
    while True:
        parent = tree.parent[branch]
        inner = (parent >= 0) & (parent != tree.root) & (branch != tree.root)
        if not inner.any():
            return np.append(branch, -1)
        branch = np.where(inner, parent, branch)
