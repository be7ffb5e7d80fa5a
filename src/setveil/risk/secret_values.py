"""Values of sensitive columns as sensitive items, ``column=value``: attackers try to infer both in the same way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setveil.core import Itemsets, Transactions, Vocabulary
from setveil.core.naming import fresh_name
from setveil.releases import LocalRecoding, Release

MOST_CELLS = 50_000_000  # values of all sensitive columns times records


def with_secret_values(original: Transactions, release: Release) -> tuple[Transactions, Release, list[str]]:
    """The original and the release with one more item per sensitive column, and the labels of these items.

    Nothing changes where no sensitive column is published, or where there are too many values to look at.
    """
    published = release.rows
    names = [] if published.columns is None else list(published.columns.with_role("sensitive").names)
    if not names or original.columns is None or not isinstance(release, LocalRecoding):
        return original, release, []
    columns = original.columns.named(names)
    if sum(len(column.values) for column in columns) * original.n_records > MOST_CELLS:
        return original, release, []
    taken = {*original.vocabulary, *published.vocabulary, *release.cover.vocabulary}
    label_of: dict[tuple[str, str], str] = {}
    for column in columns:
        for value in column.values:
            label = label_of[column.name, value] = fresh_name(f"{column.name}={value}", taken)
            taken.add(label)
    labels = list(label_of.values())
    covered = dict(zip(published.vocabulary, release.cover.to_lists(), strict=True))
    shown = _with_items(published, label_of)
    rows = [covered.get(label, [label]) for label in shown.vocabulary]
    cover, _ = Itemsets.from_lists(rows, Vocabulary({*release.cover.vocabulary, *labels}))
    return _with_items(original, label_of), replace(release, published=shown, cover=cover), labels


def _with_items(data: Transactions, label_of: dict[tuple[str, str], str]) -> Transactions:
    assert data.columns is not None
    vocabulary = Vocabulary({*data.vocabulary, *label_of.values()})
    owners, items = [data.owners], [vocabulary.numbers(data.vocabulary)[data.items]]
    for name in dict.fromkeys(name for name, _ in label_of):
        column = data.columns[name]
        numbers = vocabulary.numbers(label_of.get((name, value), "") for value in column.values)
        owners.append(np.arange(data.n_records))
        items.append(numbers[column.codes])
    made = Transactions.from_pairs(np.concatenate(owners), np.concatenate(items), data.n_records, vocabulary)
    return replace(made, columns=data.columns)
