"""Privacy constraints made from data: what an attacker might know.

Every generator yields label tuples, ascending, each once; ``policy.constraints.write_lists`` writes them to a file.

    occurring(data, m)                    all itemsets of 1 … m items that some record has
    rare_records(data, k)                 Pgen: records in fewer than k records, without those that another one contains
    in_support_range(data, low, high, m)  itemsets of 1 … m items in low … high records
    per_group(visits, data)               the items of every visit (or other group of occurrences) as one constraint
    random_pairs(data, share, n)          PR1–PR5: n pairs over a random share of the items
    random_mix(data, shares, n)           PR6–PR9: n itemsets, a share of them of size 1, 2, 3, …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import ceil

import numpy as np

from setveil.algorithms.base import Context
from setveil.algorithms.constraints.clusters import understand
from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError
from setveil.models import KmAnonymity

PAIR_SHARES = {"PR1": 0.02, "PR2": 0.05, "PR3": 0.10, "PR4": 0.25, "PR5": 0.50}
SIZE_SHARES = {
    "PR6": (0.33, 0.33, 0.33, 0.01),
    "PR7": (0.30, 0.30, 0.30, 0.10),
    "PR8": (0.25, 0.25, 0.25, 0.25),
    "PR9": (0.167, 0.167, 0.166, 0.50),
}

Constraint = tuple[str, ...]


def occurring(data: Transactions, m: int, progress: Progress = no_progress) -> Iterator[Constraint]:
    """Size by size, by first item; one first item's itemsets are held at a time."""
    for itemset, _ in _counted(data, m, progress):
        yield itemset


def rare_records(data: Transactions, k: int) -> Iterator[Constraint]:
    """What complete k-anonymity (``km -m all``) protects."""
    if data.n_records - data.n_empty < k:
        kept = [row for row in data.distinct().rows.to_lists() if row]
        supersets = [frozenset(row) for row in kept]
        yield from (tuple(row) for row in kept if not any(frozenset(row) < other for other in supersets))
        return
    ask = understand(data, KmAnonymity(k, "all"), Context())
    starts, slots = ask.sets
    labels = ask.data.vocabulary.labels
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield tuple(labels[slot] for slot in slots[begin:end])


def in_support_range(
    data: Transactions, low: int, high: int, m: int, progress: Progress = no_progress
) -> Iterator[Constraint]:
    """Everything that many records have, and no more: say, what is rare but not unique."""
    if not 1 <= low <= high:
        raise InputError(
            f"a support range must start at 1 or above and must not end below its start, not from {low} to {high}."
        )
    for itemset, support in _counted(data, m, progress):
        if low <= support <= high:
            yield itemset


def per_group(visits: Transactions, data: Transactions | None = None) -> Iterator[Constraint]:
    """Each distinct non-empty record of ``visits`` as a constraint; with ``data``, only items that are in its
    vocabulary.
    """
    seen: set[Constraint] = set()
    for row in visits.distinct().rows.to_lists():
        constraint = tuple(label for label in row if data is None or label in data.vocabulary)
        if constraint and constraint not in seen:
            seen.add(constraint)
            yield constraint


def random_pairs(data: Transactions, share: float, n: int | None = None, seed: int = 0) -> Iterator[Constraint]:
    """Pairs of a random share of the items: all of them, or n drawn without repeats."""
    random = np.random.default_rng(seed)
    n_chosen = min(max(2, ceil(share * data.n_items)), data.n_items)
    chosen = np.sort(random.choice(data.n_items, n_chosen, replace=False)).tolist()
    pairs = list(combinations(chosen, 2))
    if n is not None and n < len(pairs):
        pairs = [pairs[number] for number in np.sort(random.choice(len(pairs), n, replace=False)).tolist()]
    for one, other in pairs:
        yield data.vocabulary[one], data.vocabulary[other]


def random_mix(data: Transactions, shares: Sequence[float], n: int = 1000, seed: int = 0) -> Iterator[Constraint]:
    """Itemsets that occur: ``shares[i]`` of them with i + 1 items, drawn from random records; fewer if there are not
    enough.
    """
    random = np.random.default_rng(seed)
    counts = [round(share * n) for share in shares]
    counts[-1] += n - sum(counts)
    for size, count in enumerate(counts, start=1):
        long_enough = np.flatnonzero(data.lengths >= size)
        found: dict[tuple[int, ...], None] = {}
        for _ in range(100 * count if len(long_enough) else 0):
            if len(found) == count:
                break
            record = data.record(int(long_enough[random.integers(len(long_enough))]))
            found[tuple(sorted(random.choice(record, size, replace=False).tolist()))] = None
        yield from (tuple(data.vocabulary[item] for item in itemset) for itemset in sorted(found))


def _counted(data: Transactions, m: int, progress: Progress) -> Iterator[tuple[Constraint, int]]:
    if m < 1:
        raise InputError(f"m must be at least 1, not {m}.")
    distinct = data.distinct()
    rows = [row.tolist() for row in (distinct.rows.record(number) for number in range(distinct.rows.n_records))]
    weights = distinct.weights.tolist()
    holders: list[list[tuple[int, int]]] = [[] for _ in range(data.n_items)]  # per item: row, position
    for number, row in enumerate(rows):
        for position, item in enumerate(row):
            holders[item].append((number, position))
    for size in range(1, min(m, data.longest) + 1):
        for item in range(data.n_items):
            progress(f"itemsets of size {size}", item / data.n_items)
            counts: Counter[tuple[int, ...]] = Counter()
            for number, position in holders[item]:
                for tail in combinations(rows[number][position + 1 :], size - 1):
                    counts[tail] += weights[number]
            for tail in sorted(counts):
                yield tuple(data.vocabulary[number] for number in chain((item,), tail)), counts[tail]
