"""Which items occur together, as far as the release tells: co-occurrence matrix, top items, top pairs.

The matrix holds the support of every pair of the ``n_items`` most frequent items of the original. Its entries are read
off the release by both estimators of ``estimates``. Errors are relative: *L1* is the sum of |entry read − entry| over
the sum of entries, *Frobenius* the root of the sum of squares likewise. *Top n* is the share of the original's n most
frequent items (pairs of the matrix) that are among the n most frequent as read; ties go to the lower item number on
both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Itemsets, Transactions
from setveil.models.parameters import whole_number
from setveil.releases import Release
from setveil.utility.avg_re import true_supports
from setveil.utility.estimates import ESTIMATORS, Estimator, SupportEstimates


@dataclass(frozen=True)
class CooccurrenceRow:
    """One estimator's figures; ``None`` where the matrix is empty."""

    estimator: Estimator
    n_items: int
    l1: float | None
    frobenius: float | None
    top_items: dict[int, float]  # n → overlap
    top_pairs: dict[int, float]


@dataclass(frozen=True)
class CooccurrenceTable:
    """One row per estimator."""

    rows: tuple[CooccurrenceRow, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def compare_cooccurrence(
    original: Transactions, release: Release, n_items: int = 100, n_top: Iterable[int] = (10, 25, 50)
) -> CooccurrenceTable:
    """Compare what occurs together in the original and as read off the release."""
    whole_number(n_items, "n_items")
    wanted = [whole_number(n, "n_top") for n in n_top]
    frequent = np.sort(np.argsort(-original.supports, kind="stable")[:n_items])
    pairs = _pairs(original, frequent)
    singles = _singles(original)
    true_pairs, true_singles = true_supports(original, pairs), original.supports
    estimates = SupportEstimates.of(release, original.vocabulary)
    rows = []
    for estimator in ESTIMATORS:
        read_pairs, read_singles = estimates.supports(pairs, estimator), estimates.supports(singles, estimator)
        rows.append(
            CooccurrenceRow(
                estimator=estimator,
                n_items=len(frequent),
                l1=_relative(np.abs(read_pairs - true_pairs).sum(), true_pairs.sum()),
                frobenius=_relative(np.linalg.norm(read_pairs - true_pairs), np.linalg.norm(true_pairs)),
                top_items={n: _overlap(true_singles, read_singles, n) for n in wanted if len(true_singles)},
                top_pairs={n: _overlap(true_pairs, read_pairs, n) for n in wanted if len(true_pairs)},
            )
        )
    return CooccurrenceTable(tuple(rows))


def _pairs(original: Transactions, items: NDArray[np.int64]) -> Itemsets:
    first, second = np.triu_indices(len(items), 1)
    flat = np.stack((items[first], items[second]), axis=1).ravel().astype(np.int32)
    return Itemsets(np.arange(0, len(flat) + 1, 2, dtype=np.int64), flat, original.vocabulary)


def _singles(original: Transactions) -> Itemsets:
    items = np.arange(original.n_items, dtype=np.int32)
    return Itemsets(np.arange(original.n_items + 1, dtype=np.int64), items, original.vocabulary)


def _overlap(true: NDArray[Any], read: NDArray[Any], n: int) -> float:
    return len(np.intersect1d(_top(true, n), _top(read, n))) / min(n, len(true))


def _top(supports: NDArray[Any], n: int) -> NDArray[np.int64]:
    """Positions of the n largest; estimates that differ by rounding only are ties."""
    return np.argsort(-np.round(supports.astype(np.float64), 9), kind="stable")[:n]


def _relative(error: Any, total: Any) -> float | None:
    return float(error / total) if total else None
