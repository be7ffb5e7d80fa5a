"""AvgRE: how far COUNT queries are off on average (Gkoulalas-Divanis, Loukides 2012).

A query asks how many records contain an itemset of original items. Its relative error is |answer − truth| / truth,
where the answer is read off the release (``estimates``) and the truth is the count in the original (taken as 1 where it
is 0, which only queries given by hand can have). AvgRE is the mean over a workload. The workload decides the figure,
so it is drawn with a seed and reported by name:

- *T*: a random subset of a random record;
- *I*: a random item, and with it random items of a random record that contains it: rare items weigh more;
- *frequent*: random frequent itemsets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import count_matches
from setveil.arrays.sampling import draw_subsets
from setveil.core import Itemsets, Transactions
from setveil.errors import InputError
from setveil.models.parameters import whole_number
from setveil.releases import Release
from setveil.utility.categories import category_errors
from setveil.utility.columns import mixed_errors, summary_of
from setveil.utility.estimates import Estimator, SupportEstimates

ITEMS_TIMES_RECORDS = 200_000_000  # distinct items asked for times records to look at: a second or two
FEWEST_ITEMS = 200

Workload = Itemsets | Iterable[Iterable[str]]


def avg_re(original: Transactions, release: Release, workload: Workload, estimator: Estimator = "expand") -> float:
    """The average relative error of a workload."""
    return float(relative_errors(original, release, workload, estimator).mean())


def relative_errors(
    original: Transactions, release: Release, workload: Workload, estimator: Estimator = "expand"
) -> NDArray[np.float64]:
    """The relative error of each query, float64[queries]. Queries are itemsets over the original's vocabulary, or
    labels.
    """
    queries = _as_itemsets(original, workload)
    truth = true_supports(original, queries)
    answers = SupportEstimates.of(release, original.vocabulary).supports(queries, estimator)
    return np.asarray(np.abs(answers - truth) / np.maximum(truth, 1))


def query_errors(original: Transactions, release: Release, n: int = 1000, seed: int = 0) -> dict[str, Any]:
    """How far counts of single items, pairs and triples are off, with each estimator; {} where nobody has any item.

    Queries are drawn as workload *T*: what people have often is asked for often. ``median`` and ``mean`` (AvgRE) are of
    the relative errors, ``largest`` is the largest of them, ``deciles`` are the errors that 10 %, 20 % … 90 % of the
    answers do not exceed. ``countable`` says which share of the *distinct* items can still be counted: there every
    item weighs the same. ``mixed``: counts by known columns and items together (``columns.py``). ``categories``
    is about counts of published categories (``categories.py``).
    """
    estimates = SupportEstimates.of(release, original.vocabulary)
    found: dict[str, Any] = {"n": n}
    for name, size in (("singles", 1), ("pairs", 2), ("triples", 3)):
        if (original.lengths >= size).any():
            queries, drawn = workload_t(original, n, size, seed).distinct()
            found[name] = {
                estimator: summary_of(errors[drawn])
                for estimator, errors in _errors_by_reading(original, estimates, queries)
            }
    if len(found) == 1:
        return {}
    categories, mixed = category_errors(original, release), mixed_errors(original, release, seed)
    return {
        **found,
        **({"mixed": {"probability": mixed}} if mixed else {}),
        "countable": _countable(original, estimates, seed),
        **({"categories": categories} if categories else {}),
    }


def _countable(original: Transactions, estimates: SupportEstimates, seed: int) -> dict[str, Any]:
    """Which share of the distinct items is counted within 10 % and within 25 % of the truth, with the estimator that
    counts most of them well. Where asking for all would take long, items drawn at random are asked for.
    """
    items = np.flatnonzero(original.supports > 0)
    most = max(FEWEST_ITEMS, ITEMS_TIMES_RECORDS // max(original.n_records, 1))
    if len(items) > most:
        items = np.sort(np.random.default_rng((seed, 1, 4)).choice(items, most, replace=False))
    asked = _itemsets(original, items[:, None].astype(np.int32))
    shares = [
        (float((errors <= 0.10).mean()), float((errors <= 0.25).mean()), estimator)
        for estimator, errors in _errors_by_reading(original, estimates, asked)
    ]
    within_10, within_25, estimator = max(shares, key=lambda one: one[:2])
    return {"within_10": within_10, "within_25": within_25, "n_items": len(items), "estimator": estimator}


def least_error(original: Transactions, release: Release, n: int = 1000, seed: int = 0) -> float | None:
    """AvgRE of pairs, drawn as workload *T*, with the estimator that suits the release best.

    Single items are asked for where nobody has two; None where nobody has any.
    """
    size = int(min(original.lengths.max(initial=0), 2))
    if not size:
        return None
    queries, drawn = workload_t(original, n, size, seed).distinct()
    found = _errors_by_reading(original, SupportEstimates.of(release, original.vocabulary), queries)
    return min(float(errors[drawn].mean()) for _, errors in found)


def _errors_by_reading(
    original: Transactions, estimates: SupportEstimates, queries: Itemsets
) -> Iterator[tuple[Estimator, NDArray[np.float64]]]:
    """The relative error of each query with each estimator."""
    truth = true_supports(original, queries)
    for estimator in estimates.estimators:
        yield estimator, np.abs(estimates.supports(queries, estimator) - truth) / np.maximum(truth, 1)


def true_supports(original: Transactions, queries: Itemsets) -> NDArray[np.int64]:
    """In how many records of the original each itemset is contained."""
    return count_matches(original.postings, np.empty(0, dtype=np.int64), (queries.indptr, queries.items))


def workload_t(data: Transactions, n: int = 1000, size: int = 5, seed: int = 0) -> Itemsets:
    """``n`` queries: a random subset of ``size`` items of a random record that has as many."""
    long = _long_records(data, n, size)
    random = np.random.default_rng((seed, size))
    records = random.choice(long, n)
    positions = draw_subsets(data.lengths[records], size, random)
    return _itemsets(data, data.items[data.indptr[records][:, None] + positions])


def workload_i(data: Transactions, n: int = 1000, size: int = 5, seed: int = 0) -> Itemsets:
    """``n`` queries: an item drawn uniformly, a random record that contains it, and ``size - 1`` more items of that
    record.

    Records with fewer than ``size`` items are left aside, and so are items that occur in no other.
    """
    long = data.select(_long_records(data, n, size))
    random = np.random.default_rng((seed, size, 1))
    list_indptr, records = long.inverted()
    items = random.choice(np.flatnonzero(long.supports > 0), n)
    rows = records[list_indptr[items] + random.integers(0, long.supports[items])]
    # The others are drawn from the record without the item: positions at or after the item's own move up by one.
    position = np.array([np.searchsorted(long.record(int(row)), item) for row, item in zip(rows, items, strict=True)])
    others = draw_subsets(long.lengths[rows] - 1, size - 1, random)
    others += others >= position[:, None]
    chosen = np.concatenate((position[:, None], others), axis=1)
    return _itemsets(data, long.items[long.indptr[rows][:, None] + chosen])


def _long_records(data: Transactions, n: int, size: int) -> NDArray[np.int64]:
    whole_number(n, "the number of queries")
    whole_number(size, "the size of a query")
    records = np.flatnonzero(data.lengths >= size)
    if not len(records):
        raise InputError(f"no record has {size} items to ask for; choose smaller queries.")
    return records


def _itemsets(data: Transactions, items: NDArray[np.int32]) -> Itemsets:
    """From int32[queries, size]."""
    n, size = items.shape
    return Itemsets(np.arange(0, n * size + 1, size, dtype=np.int64), np.sort(items, axis=1).ravel(), data.vocabulary)


def _as_itemsets(original: Transactions, workload: Workload) -> Itemsets:
    if not isinstance(workload, Itemsets):
        rows = [list(query) for query in workload]
        encoded, unknown = Itemsets.from_lists(rows, original.vocabulary)
        if unknown:
            position, labels = next(iter(unknown.items()))
            raise InputError(f'query {position + 1} asks for "{labels[0]}", which the data does not have.')
        workload = encoded
    if not len(workload):
        raise InputError("the workload has no queries.")
    return workload
