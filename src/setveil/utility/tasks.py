"""What is left for the work the data is meant for: all task metrics of a release in one go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from setveil.core import Hierarchy, Transactions
from setveil.errors import InputError
from setveil.releases import Release
from setveil.utility.avg_re import avg_re, workload_i, workload_t
from setveil.utility.cooccurrence import compare_cooccurrence
from setveil.utility.estimates import ESTIMATORS
from setveil.utility.patterns import compare_patterns

_WORKLOADS = {"T": workload_t, "I": workload_i}


def measure_tasks(
    original: Transactions,
    release: Release,
    *,
    thresholds: Iterable[float] = (0.05, 0.01, 0.002),
    confidence: float = 0.5,
    max_size: int | None = 4,
    query_sizes: Iterable[int] = (2, 5),
    n_queries: int = 1000,
    hierarchy: Hierarchy | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """COUNT queries, frequent itemsets, rules, co-occurrence: lists of flat rows, ready for JSON and tables.

    What cannot be measured (no record is long enough for a query, too many itemsets at a threshold) is said in
    ``notes``.
    """
    notes: list[str] = []
    queries, itemsets, rules, mining_loss = [], [], [], []
    for size in query_sizes:
        try:
            workloads = {name: draw(original, n_queries, size, seed) for name, draw in _WORKLOADS.items()}
        except InputError as problem:
            notes.append(f"COUNT queries of {size} items: {problem}")
            continue
        queries += [
            {
                "workload": name,
                "size": size,
                "estimator": estimator,
                "avg_re": avg_re(original, release, drawn, estimator),
            }
            for name, drawn in workloads.items()
            for estimator in ESTIMATORS
        ]
    for threshold in thresholds:
        try:
            table = compare_patterns(original, release, (threshold,), confidence, max_size, hierarchy)
        except InputError as problem:
            notes.append(f"frequent itemsets at {threshold:g}: {problem}")
            continue
        itemsets += [asdict(row) for row in table.itemsets]
        rules += [asdict(row) for row in table.rules]
        mining_loss += [asdict(row) for row in table.mining_loss]
    cooccurrence = [
        {
            "estimator": row.estimator,
            "n_items": row.n_items,
            "l1": row.l1,
            "frobenius": row.frobenius,
            **{f"top_{n}_items": share for n, share in row.top_items.items()},
            **{f"top_{n}_pairs": share for n, share in row.top_pairs.items()},
        }
        for row in compare_cooccurrence(original, release).rows
    ]
    return {
        "count_queries": queries,
        "itemsets": itemsets,
        "rules": rules,
        "mining_loss": mining_loss,
        "cooccurrence": cooccurrence,
        "notes": notes,
    }
