"""Journalist risk: how many people of a population match each published record (k-map), counted exactly.

A prosecutor knows that a person is in the data. A journalist does not, and has to choose among all people of the
population who match. That is only possible where every item is published the same way in every record: then the
population can be recoded like the data, and a person matches a record if both show the same labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.core import Transactions
from setveil.errors import InputError
from setveil.releases import Recoding, Release, RunRecord
from setveil.workflows.inputs import as_transactions


def match_population(release: Release, record: RunRecord, population: Any) -> dict[str, Any]:
    """Matching people of each published record: the fewest, and the risk that follows.

    People with an item that the release does not know match no record. Every person of the data must be in the
    population, so that a published record without any match is an error.
    """
    if not isinstance(release, Recoding):
        raise InputError(
            f"--population: a {release.kind} publishes the same item in different ways, so that matching people cannot "
            "be counted exactly; use a recoding (--algorithm aa), or leave out --population."
        )
    people = as_transactions(population).used_items()
    known = release.with_items(record.data.vocabulary)  # suppressed items are known to the owner
    place = known.domain.numbers(people.vocabulary)
    is_stranger = place < 0
    target = np.where(is_stranger, -1, known.target[place])  # -1 as an index is replaced at once
    has_stranger = np.zeros(people.n_records, dtype=bool)
    has_stranger[people.owners[is_stranger[people.items]]] = True
    labels = release.published.vocabulary
    shown = people.recode(target, labels).select(np.flatnonzero(~has_stranger))
    counts: dict[bytes, int] = {}
    for row in _rows(shown):
        counts[row] = counts.get(row, 0) + 1
    rows, weights, _ = release.rows.distinct()
    matches = np.array([counts.get(row, 0) for row in _rows(rows)], dtype=np.int64)
    if (matches < weights).any():
        n_missing = int((weights - np.minimum(matches, weights)).sum())
        raise InputError(
            f"--population: {n_missing:,} people of the data are not in the population; give one that contains them."
        )
    return {
        "people": people.n_records,
        "fewest": int(matches.min(initial=people.n_records)),
        "highest": float(1 / matches.min()) if len(matches) else 0.0,
        "mean": float((weights / matches).sum() / max(int(weights.sum()), 1)),
    }


def _rows(data: Transactions) -> list[bytes]:
    """Each record as a key."""
    items, bounds = np.ascontiguousarray(data.items, dtype=np.int32), data.indptr.tolist()
    return [items[first:last].tobytes() for first, last in zip(bounds, bounds[1:], strict=False)]
