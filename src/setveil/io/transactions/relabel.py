"""Labels changed all at once, by their vocabulary: cells that hold lists taken apart, blanks taken off."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary


def split_labels(data: Transactions, separator: str) -> Transactions:
    """Every label is a list: ``A|B`` becomes the items ``A`` and ``B``, without blanks around them."""
    if separator.isspace():
        return relabel(data, str.split)
    return relabel(data, lambda label: [part.strip() for part in label.split(separator)])


def strip_labels(data: Transactions) -> Transactions:
    """Without blanks around labels."""
    if not any(label != label.strip() for label in data.vocabulary):
        return data
    return relabel(data, lambda label: [label.strip()])


def drop_weights(data: Transactions) -> Transactions:
    """Orange writes ``bread=2`` for two breads; a set has one."""
    return relabel(data, lambda label: [re.sub(r"=[0-9]+(?:\.[0-9]+)?$", "", label).strip()])


def relabel(data: Transactions, parts_of: Callable[[str], Sequence[str]]) -> Transactions:
    """Replace every item by the items that its label stands for; empty labels are none."""
    parts = [[part for part in parts_of(label) if part] for label in data.vocabulary]
    vocabulary = Vocabulary({part for some in parts for part in some})
    n_parts = np.array([len(some) for some in parts], dtype=np.int64)
    flat = vocabulary.numbers(part for some in parts for part in some)
    first = np.cumsum(n_parts) - n_parts
    repeats = n_parts[data.items]  # [occurrences]
    owners = np.repeat(data.owners, repeats)
    offsets = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    items = flat[np.repeat(first[data.items], repeats) + offsets] if len(flat) else np.empty(0, dtype=np.int32)
    changed = Transactions.from_pairs(owners, items, data.n_records, vocabulary, data.ids, data.layout)
    return replace(changed, reading=data.reading)
