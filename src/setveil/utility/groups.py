"""What a grouping cost: how well sensitive items can still be told from public ones, and how large the groups are."""

from __future__ import annotations

import numpy as np

from setveil.core import Grouping, Release, Transactions
from setveil.utility.reconstruction import PROTOCOLS, kl_error

N_QUERIES = 200  # per protocol: a look in passing; benchmarks ask more


def grouping_cost(original: Transactions, release: Release) -> dict[str, float | int | None]:
    """Reconstruction error under the three query protocols (r=4, seed 0), and the groups."""
    assert isinstance(release, Grouping)
    sizes = np.bincount(release.group_of, minlength=release.n_groups)
    metrics: dict[str, float | int | None] = {
        f"kl_{protocol}": kl_error(original, release, protocol, n_queries=N_QUERIES) for protocol in PROTOCOLS
    }
    metrics["n_groups"] = release.n_groups
    metrics["largest_group"] = int(sizes.max(initial=0))
    return metrics
