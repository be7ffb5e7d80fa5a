"""Clusters found in a release, and how well they fit the original records (Figure 17)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from setveil.core import Grouping, Transactions
from setveil.utility.reconstruction import _centres, _most_similar, _to_unit_length, _unit_vectors

N_ROUNDS = 20


def similarities(original: Transactions, release: Grouping, k: int, seed: int) -> tuple[float, float]:
    """The mean cosine of original records to centres found in the release, as a share of that to centres found in the
    original.

    The release is taken in two ways: every record with its public items and its group's shares of sensitive items, and
    every record as the mean of its group, which is what the group's members cannot be told apart by. All runs of
    spherical k-means start from the same original records.
    """
    truth, published = _unit_vectors(original, release)
    n_records, n_groups = release.published.n_records, release.n_groups
    member = sparse.csr_array(
        (np.ones(n_records), release.group_of, np.arange(n_records + 1)), shape=(n_records, n_groups)
    )
    means = _to_unit_length((member.T @ published).tocsr())
    filled = np.flatnonzero(original.lengths)
    first = np.random.default_rng(seed).choice(filled, size=min(k, len(filled)), replace=False)
    start = truth[np.sort(first)].toarray()  # [k, items]
    sizes = np.bincount(release.group_of, minlength=n_groups)

    def fit(vectors: sparse.csr_array, weights: np.ndarray) -> float:
        centres, nearest = start, np.full(vectors.shape[0], -1)
        weighted = (sparse.diags_array(weights) @ vectors).tocsr()
        for _ in range(N_ROUNDS):
            before, (nearest, _) = nearest, _most_similar(vectors, centres)
            if (nearest == before).all():
                break
            centres = _centres(weighted, nearest, centres)
        return float(_most_similar(truth, centres)[1][filled].mean())

    best = fit(truth, np.ones(truth.shape[0]))
    return fit(published, np.ones(n_records)) / best, fit(means, sizes.astype(float)) / best
