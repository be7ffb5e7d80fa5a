"""Sensitive items that something public gives away.

A public item that occurs only together with a sensitive one tells of it wherever it is seen, and so do public items as
a whole where all records that have exactly these hold it. No group hides that. Such sensitive occurrences are left
out: a recipient then sees the public items without any hint, as he does where the sensitive item never was.

One record alone is no rule: what occurs once implies nothing that anybody could know.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions

FEWEST = 2  # records that make a rule


def implied_occurrences(data: Transactions, is_sensitive: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which occurrences are sensitive items that public ones imply, bool[n_occurrences]."""
    public, hidden = data.keep_items(~is_sensitive), data.keep_items(is_sensitive)
    given_away = _by_content(public, hidden) | _by_single_items(public, hidden)  # [hidden occurrences]
    implied = np.zeros(data.n_occurrences, dtype=bool)
    implied[np.flatnonzero(is_sensitive[data.items])] = given_away
    return implied


def _by_content(public: Transactions, hidden: Transactions) -> NDArray[np.bool_]:
    """Every record with these public items, and with no others, holds the sensitive one."""
    content = public.distinct()
    width = max(hidden.n_items, 1)
    kinds, kind, n_held = np.unique(
        content.inverse[hidden.owners] * width + hidden.items, return_inverse=True, return_counts=True
    )
    n_records = content.weights[kinds // width]
    is_rule: NDArray[np.bool_] = (n_held == n_records) & (n_records >= FEWEST)
    given_away: NDArray[np.bool_] = is_rule[kind]
    return given_away


def _by_single_items(public: Transactions, hidden: Transactions) -> NDArray[np.bool_]:
    """Every record with one of the record's public items holds the sensitive one."""
    beside = public.select(hidden.owners)  # one row per sensitive occurrence
    width = max(public.n_items, 1)
    keys = np.repeat(hidden.items.astype(np.int64), beside.lengths) * width + beside.items
    kinds, kind, n_together = np.unique(keys, return_inverse=True, return_counts=True)
    n_records = public.supports[kinds % width] if public.n_items else np.zeros(0, dtype=np.int64)
    is_rule = (n_together == n_records) & (n_records >= FEWEST)
    n_rules = np.bincount(beside.owners[is_rule[kind]], minlength=hidden.n_occurrences)
    given_away: NDArray[np.bool_] = n_rules > 0
    return given_away
