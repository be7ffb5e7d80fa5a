"""k-anonymity: every set of non-sensitive items that is published, is published at least k times."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import times
from setveil.models import KAnonymity
from setveil.verify.published import Published
from setveil.verify.verdict import Verdict, Violation, in_braces

if TYPE_CHECKING:
    from setveil.verify.tables import Table


def check(published: Published, model: KAnonymity, progress: Progress) -> Verdict:
    """The first class that is too small or not diverse enough, by number of items, then ascending."""
    for violation, n_sensitive in islice(_failing(published, model, progress, limit=1), 1):
        size = violation.support
        who = f"{in_braces(violation.itemset)} is the non-sensitive part of {times(size, 'record')}"
        why = f"fewer than k={model.k}"
        if size >= model.k:
            why = f"which show {times(n_sensitive, 'different sensitive item')}, fewer than l={model.l}"
        return Verdict(False, violation.itemset, size, f"{who}, {why}.")
    return Verdict(True)


def violations(published: Published, model: KAnonymity, progress: Progress, limit: int) -> Iterator[Violation]:
    """Every class that is too small or not diverse enough."""
    for violation, _ in _failing(published, model, progress, limit):
        yield violation


def achieved(published: Published, model: KAnonymity, progress: Progress) -> dict[str, int | float]:
    """The size of the smallest class and, if the model asks for it, the fewest different sensitive items in one."""
    _, sizes, n_sensitive = _classes(published, model, progress)
    if not len(sizes):
        return {}
    result: dict[str, int | float] = {"smallest_class": int(sizes.min())}
    if model.l > 1:
        result["fewest_sensitive_items"] = int(n_sensitive.min())
    return result


def _classes(
    published: Published, model: KAnonymity, progress: Progress
) -> tuple[Table, NDArray[np.int64], NDArray[np.int64]]:
    """Public rows, the size of each class, and how many different sensitive items it shows."""
    from setveil.verify.tables import make_table, number_rows

    published = published.with_columns_as_items()  # they belong to what makes records equal
    table = make_table(published, published.sensitive(model.sensitive), progress)
    classes = table.public()
    # The same numbering as that of `public`: both go through the rows in order.
    class_of, _ = number_rows(table.indptr[:-1], table.tails, table.items, progress)
    n_hidden = table.indptr[1:] - table.tails
    positions = np.arange(n_hidden.sum()) + np.repeat(table.tails - np.cumsum(n_hidden) + n_hidden, n_hidden)
    width = max(len(table.labels), 1)
    shown = np.unique(np.repeat(class_of, n_hidden) * width + table.items[positions])
    return classes, classes.weights, np.bincount(shown // width, minlength=classes.n_rows).astype(np.int64)


def _failing(
    published: Published, model: KAnonymity, progress: Progress, limit: int
) -> Iterator[tuple[Violation, int]]:
    from setveil.verify.search import first_rows_at

    classes, sizes, n_sensitive = _classes(published, model, progress)
    fails = sizes < model.k
    if model.l > 1:
        fails |= n_sensitive < model.l
    for length in np.unique(classes.lengths[fails]).tolist():
        chosen = np.flatnonzero(fails & (classes.lengths == length))
        for number in first_rows_at(classes, chosen, limit).tolist():
            itemset = classes.names(classes.items[classes.indptr[number] : classes.indptr[number + 1]].tolist())
            yield Violation(itemset, int(sizes[number])), int(n_sensitive[number])
