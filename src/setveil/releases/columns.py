"""Columns as they are published: a node of the column's hierarchy for every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from setveil.core.columns import Column, Columns
from setveil.core.itemsets import Itemsets
from setveil.core.row_order import bounds_of
from setveil.core.vocabulary import Vocabulary


def publish_columns(columns: Columns, nodes: Mapping[str, NDArray[np.integer]]) -> Columns:
    """The columns of a release: known ones are generalized, all others stay as they are.

    Args:
        columns: those of the data.
        nodes: by name of a known column the node of ``column.tree`` that is published for each record, int[n_records];
            a known column that is not named is published unchanged.

    Returns:
        The same columns in the same order. Values of known ones are labels of nodes, ``cover`` lists the original
        values that each covers, of the whole hierarchy.
    """
    return columns.replaced(
        publish_column(column, nodes.get(column.name, column.leaves[column.codes]))
        for column in columns.with_role("known")
    )


def publish_column(column: Column, nodes: NDArray[np.integer]) -> Column:
    """One known column with a node of its tree for each record."""
    tree = column.tree
    used, place = np.unique(nodes, return_inverse=True)
    labels = [tree.published_labels[node] for node in used.tolist()]
    values = Vocabulary(labels)
    number = values.numbers(labels)  # [used nodes]
    runs = [np.sort(tree.leaves(int(node))) for node in used[np.argsort(number)]]  # [values]
    indptr = bounds_of([len(run) for run in runs])
    items = np.concatenate(runs) if runs else np.empty(0, dtype=np.int32)
    cover = Itemsets(indptr, items.astype(np.int32), tree.vocabulary)
    return replace(column, values=values, codes=number[place.reshape(-1)].astype(np.int32), cover=cover)
