"""Synthetic data with a seed: the same bytes on every machine, chunk by chunk, of any size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from setveil.core.columns import Columns
from setveil.core.transactions import Transactions
from setveil.errors import InputError
from setveil.generate.patients import (
    patients,
    patients_groups,
    patients_hierarchy,
    patients_names,
    patients_sensitive,
)
from setveil.generate.quest import quest

__all__ = [
    "collect",
    "patients",
    "patients_groups",
    "patients_hierarchy",
    "patients_names",
    "patients_sensitive",
    "quest",
]


def collect(chunks: Iterable[Transactions]) -> Transactions:
    """All chunks as one; they share a vocabulary."""
    known = list(chunks)
    if not known:
        raise InputError("nothing was generated; ask for at least one record.")
    ends = np.cumsum([0, *(chunk.n_occurrences for chunk in known)])
    indptr = np.concatenate([[0], *(chunk.indptr[1:] + end for chunk, end in zip(known, ends, strict=False))])
    ids = None if known[0].ids is None else tuple(label for chunk in known for label in chunk.ids or ())
    items = np.concatenate([chunk.items for chunk in known])
    columns = None
    if known[0].columns is not None:
        parts = [chunk.columns for chunk in known if chunk.columns is not None]
        columns = Columns(
            tuple(
                replace(column, codes=np.concatenate([part[column.name].codes for part in parts]))
                for column in known[0].columns
            )
        ).with_used_values()
    return Transactions(indptr, items, known[0].vocabulary, ids, known[0].layout, columns=columns)
