"""Clusters found in a release, and how well they fit the original records (Figure 17)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from setveil.core import Transactions
from setveil.releases import Grouping

BLOCK = 500_000  # records compared with all centres at a time
N_ROUNDS = 20
Floats = NDArray[np.float64]


WAYS = ("records as published", "means of groups", "means of groups, what is left over as published")


def similarities(original: Transactions, release: Grouping, p: int, k: int, seed: int) -> tuple[float, float, float]:
    """The mean cosine of original records to centres found in the release; to be set against ``own_similarity``.

    The release is taken in three ways: every record with its public items and its group's shares of sensitive items;
    every record as the mean of its group, which is what the group's members cannot be told apart by; and so but for the
    large group of records that nobody needed. All runs of spherical k-means start from the same original records.
    """
    truth, published = _unit_vectors(original, release)
    start = _first_centres(original, truth, k, seed)
    n_records, n_groups = release.published.n_records, release.n_groups
    member = sparse.csr_array(
        (np.ones(n_records), release.group_of, np.arange(n_records + 1)), shape=(n_records, n_groups)
    )
    means = _to_unit_length((member.T @ published).tocsr())
    sizes = np.bincount(release.group_of, minlength=n_groups).astype(float)
    formed = sizes <= 2 * p
    left_over = np.flatnonzero(~formed[release.group_of])
    mixed = sparse.vstack((means[np.flatnonzero(formed)], published[left_over])).tocsr()
    found = (
        _centres_of(published, np.ones(n_records), start),
        _centres_of(means, sizes, start),
        _centres_of(mixed, np.append(sizes[formed], np.ones(len(left_over))), start),
    )
    one, two, three = (_fit(original, truth, centres) for centres in found)
    return one, two, three


def own_similarity(original: Transactions, release: Grouping, k: int, seed: int) -> float:
    """The same to centres found in the original records; of the release only its sensitive items matter."""
    truth, _ = _unit_vectors(original, release)
    start = _first_centres(original, truth, k, seed)
    return _fit(original, truth, _centres_of(truth, np.ones(truth.shape[0]), start))


def _first_centres(original: Transactions, truth: sparse.csr_array, k: int, seed: int) -> Floats:
    filled = np.flatnonzero(original.lengths)
    first = np.random.default_rng(seed).choice(filled, size=min(k, len(filled)), replace=False)
    return truth[np.sort(first)].toarray()  # [k, items]


def _centres_of(vectors: sparse.csr_array, weights: Floats, start: Floats) -> Floats:
    """Spherical k-means."""
    centres, nearest = start, np.full(vectors.shape[0], -1)
    weighted = (sparse.diags_array(weights) @ vectors).tocsr()
    for _ in range(N_ROUNDS):
        before, (nearest, _) = nearest, _most_similar(vectors, centres)
        if (nearest == before).all():
            break
        centres = _centres(weighted, nearest, centres)
    return centres


def _fit(original: Transactions, truth: sparse.csr_array, centres: Floats) -> float:
    """The mean cosine of the records that have items."""
    return float(_most_similar(truth, centres)[1][np.flatnonzero(original.lengths)].mean())


def _unit_vectors(original: Transactions, release: Grouping) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Records of the original and of the release as unit vectors over the same columns: public items, then
    sensitive.
    """
    labels = [label for label in original.vocabulary if label not in release.sensitive]
    column = {label: number for number, label in enumerate([*labels, *release.sensitive])}

    def rows(data: Transactions, width: int) -> sparse.csr_array:
        columns = np.array([column[label] for label in data.vocabulary], dtype=np.int64)[data.items]
        return sparse.csr_array((np.ones(len(columns)), columns, data.indptr), shape=(data.n_records, width))

    n_records, n_groups, m = release.published.n_records, release.n_groups, len(release.sensitive)
    share = release.count / np.bincount(release.group_of, minlength=n_groups)[release.count_group]
    of_group = sparse.csr_array((share, (release.count_group, release.count_item)), shape=(n_groups, m))
    of_record = sparse.csr_array(
        (np.ones(n_records), release.group_of, np.arange(n_records + 1)), shape=(n_records, n_groups)
    )
    published = sparse.hstack((rows(release.rows, len(labels)), of_record @ of_group), format="csr")
    return _to_unit_length(rows(original, len(column))), _to_unit_length(published)


def _to_unit_length(vectors: sparse.csr_array) -> sparse.csr_array:
    length = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    vectors.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(vectors.indptr))
    return vectors


def _most_similar(vectors: sparse.csr_array, centres: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The most similar centre of each vector (ties: the first) and its cosine; in blocks, to bound the memory."""
    nearest = np.empty(vectors.shape[0], dtype=np.int64)
    cosine = np.empty(vectors.shape[0])
    for first in range(0, vectors.shape[0], BLOCK):
        similar = vectors[first : first + BLOCK] @ centres.T
        nearest[first : first + BLOCK] = similar.argmax(axis=1)
        cosine[first : first + BLOCK] = similar.max(axis=1)
    return nearest, cosine


def _centres(vectors: sparse.csr_array, nearest: NDArray[np.int64], centres: Floats) -> Floats:
    """The direction of each cluster's sum, [k, items]; a cluster without vectors keeps its centre."""
    n_vectors, k = len(nearest), len(centres)
    member = sparse.csr_array((np.ones(n_vectors), nearest, np.arange(n_vectors + 1)), shape=(n_vectors, k))
    total = (member.T @ vectors).toarray()
    length = np.sqrt((total**2).sum(axis=1, keepdims=True))
    return np.where(length > 0, total / np.where(length > 0, length, 1.0), centres)
