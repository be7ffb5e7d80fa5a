"""The cost of a grouping: how well sensitive items can be reconstructed from public ones, and the sizes of groups."""

from __future__ import annotations

from itertools import chain

from setveil.core import Dataset, Transactions
from setveil.releases import Grouping
from setveil.utility.reconstruction import PROTOCOLS, draw_queries, kl_divergences

N_QUERIES = 200  # per protocol: an estimate; benchmarks draw more


def grouping_cost(original: Dataset, release: Grouping) -> dict[str, float | int | None]:
    """Reconstruction error under the three query protocols (r=4, seed 0), and the groups.

    Where records are on a cluster, nothing is reconstructed: that looks at all groups for each query.
    """
    public = original.supports[release.sensitive.numbers(original.vocabulary) < 0]
    metrics: dict[str, float | int | None] = {
        "exact_ratio": int(public.sum()) / original.n_occurrences if original.n_occurrences else None
    }
    sizes, _ = release.size_counts()
    of_groups = {"n_groups": release.n_groups, "largest_group": int(sizes.max(initial=0))}
    return {**metrics, **original.look(lambda rows: _reconstruction(rows, release), dict), **of_groups}


def _reconstruction(rows: Transactions, release: Grouping) -> dict[str, float]:
    asked = [draw_queries(rows, release.sensitive, protocol, 4, N_QUERIES, 0) for protocol in PROTOCOLS]
    divergences = kl_divergences(rows, release, list(chain.from_iterable(asked)))
    metrics = {}
    for protocol, queries in zip(PROTOCOLS, asked, strict=True):
        mine, divergences = divergences[: len(queries)], divergences[len(queries) :]
        metrics[f"kl_{protocol}"] = float(mine.mean()) if len(mine) else 0.0
    return metrics
