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
    one_each = np.ones(data.n_records, dtype=np.int64)
    given_away = given_by_content(public, hidden, one_each) | _by_single_items(public, hidden)  # [hidden occurrences]
    implied = np.zeros(data.n_occurrences, dtype=bool)
    implied[np.flatnonzero(is_sensitive[data.items])] = given_away
    return implied


def given_by_content(public: Transactions, hidden: Transactions, times: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Every record with these public items, and with no others, holds the sensitive one, bool[hidden occurrences].

    ``times``: how many records each row stands for.
    """
    content = public.distinct().inverse
    width = max(hidden.n_items, 1)
    kinds, kind = np.unique(content[hidden.owners] * width + hidden.items, return_inverse=True)
    n_held, n_records = np.zeros(len(kinds), dtype=np.int64), np.zeros(len(times), dtype=np.int64)
    np.add.at(n_held, kind, times[hidden.owners])
    np.add.at(n_records, content, times)
    given_away: NDArray[np.bool_] = is_rule(n_held, n_records[kinds // width])[kind]
    return given_away


def is_rule(n_together: NDArray[np.int64], n_records: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether those who have something public, so many records, all hold the sensitive item, too."""
    always: NDArray[np.bool_] = (n_together == n_records) & (n_records >= FEWEST)
    return always


def _by_single_items(public: Transactions, hidden: Transactions) -> NDArray[np.bool_]:
    """Every record with one of the record's public items holds the sensitive one."""
    beside = public.select(hidden.owners)  # one row per sensitive occurrence
    width = max(public.n_items, 1)
    keys = np.repeat(hidden.items.astype(np.int64), beside.lengths) * width + beside.items
    kinds, kind, n_together = np.unique(keys, return_inverse=True, return_counts=True)
    n_records = public.supports[kinds % width] if public.n_items else np.zeros(0, dtype=np.int64)
    n_rules = np.bincount(beside.owners[is_rule(n_together, n_records)[kind]], minlength=hidden.n_occurrences)
    given_away: NDArray[np.bool_] = n_rules > 0
    return given_away
