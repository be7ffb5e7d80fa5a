"""What a grouping cost: how well sensitive items can still be told from public ones, and how large the groups are."""

from __future__ import annotations

from itertools import chain

import numpy as np

from setveil.core import Transactions
from setveil.releases import Grouping, Release, RemoteGrouping
from setveil.utility.reconstruction import PROTOCOLS, draw_queries, kl_divergences

N_QUERIES = 200  # per protocol: a look in passing; benchmarks ask more


def grouping_cost(original: Transactions, release: Release) -> dict[str, float | int | None]:
    """Reconstruction error under the three query protocols (r=4, seed 0), and the groups.

    Where records are on a cluster, nothing is reconstructed: that looks at all groups for each query.
    """
    assert isinstance(release, Grouping)
    public = original.supports[release.sensitive.numbers(original.vocabulary) < 0]
    metrics: dict[str, float | int | None] = {
        "exact_ratio": int(public.sum()) / original.n_occurrences if original.n_occurrences else None
    }
    if isinstance(release, RemoteGrouping):
        largest = int(release.groups.figures.sizes.max(initial=0))
        return {**metrics, "n_groups": release.n_groups, "largest_group": largest}
    sizes = np.bincount(release.group_of, minlength=release.n_groups)
    asked = [draw_queries(original, release.sensitive, protocol, 4, N_QUERIES, 0) for protocol in PROTOCOLS]
    divergences = kl_divergences(original, release, list(chain.from_iterable(asked)))
    for protocol, queries in zip(PROTOCOLS, asked, strict=True):
        mine, divergences = divergences[: len(queries)], divergences[len(queries) :]
        metrics[f"kl_{protocol}"] = float(mine.mean()) if len(mine) else 0.0
    metrics["n_groups"] = release.n_groups
    metrics["largest_group"] = int(sizes.max(initial=0))
    return metrics
