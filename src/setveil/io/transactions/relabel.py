"""Labels changed all at once, by their vocabulary: cells that hold lists taken apart, blanks taken off."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from setveil.core.transactions import Transactions
from setveil.core.vocabulary import Vocabulary
from setveil.io.transactions.labels import Numbered


def split_labels(data: Transactions, separator: str) -> Transactions:
    """Every label is a list: ``A|B`` becomes the items ``A`` and ``B``, without blanks around them."""
    return relabel(data, partial(_parts, separator))


def split_cells(cells: Numbered, separator: str) -> tuple[NDArray[np.int64], Numbered]:
    """``(rows, parts)``: the parts of every cell one after the other, and the row each comes from."""
    parts = [_parts(separator, text.decode()) for text in cells.texts]
    known: dict[str, int] = {}
    numbers = np.array([known.setdefault(part, len(known)) for some in parts for part in some], dtype=np.int32)
    n_parts = np.array([*map(len, parts), 0], dtype=np.int64)
    first = np.cumsum(n_parts) - n_parts
    repeats = n_parts[cells.numbers]
    offsets = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    rows = np.repeat(np.arange(len(cells.numbers)), repeats)
    return rows, Numbered(
        numbers[np.repeat(first[cells.numbers], repeats) + offsets], [text.encode() for text in known]
    )


def _parts(separator: str, text: str) -> list[str]:
    return text.split() if separator.isspace() else [part.strip() for part in text.split(separator)]


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
    return replace(changed, reading=data.reading, columns=data.columns)
