"""A metric."""

from __future__ import annotations

import setveil as sv
from setveil.utility.measure import Family


def kept_items(original: sv.Transactions, release: sv.Release) -> dict[str, float | int | None]:
    """The share of distinct items that are still published."""
    n_items = int((original.supports > 0).sum())
    return {"toy_kept": int((release.published.supports > 0).sum()) / n_items if n_items else None}


KEPT = Family("toyveil.metric:kept_items", labels={"toy_kept": "share of items still published (toy)"})
