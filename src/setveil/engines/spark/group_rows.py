"""A group as one row of codes, so that sorting rows sorts groups.

Item i is code i + 1, and 0 ends a record. What is counted follows the last record of a published group: for each
sensitive item a code above those of all public items, then its count. So groups are compared record by record, then
count by count, and one that has nothing more comes first: the canonical order of groups.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.dataset import Csr
from setveil.core.row_order import sort_rows, take_rows
from setveil.engines.distributed_groups import side_by_side

END = 0


class Counts(NamedTuple):
    """How often groups count items, by group, then by item."""

    group: NDArray[np.int64]
    item: NDArray[np.int64]
    times: NDArray[np.int64]


class Groups(NamedTuple):
    """Some groups taken apart."""

    n_groups: int
    records: Csr  # one group after the other
    group_of: NDArray[np.int64]  # [records] ascending
    counts: Counts  # items as codes

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Records of each group."""
        return np.bincount(self.group_of, minlength=self.n_groups)


def chain_records(records: Csr, group_of: NDArray[np.int64], n_groups: int) -> Csr:
    """Groups as rows: their records in the given order, nothing counted."""
    indptr, items = take_rows(*records, np.argsort(group_of, kind="stable"))
    n_records = len(indptr) - 1
    ends = (np.arange(n_records + 1), np.full(n_records, END, dtype=np.int32))
    starts, codes = side_by_side((indptr, items + np.int32(1)), ends)
    sizes = np.bincount(group_of, minlength=n_groups)
    return starts[np.concatenate(([0], np.cumsum(sizes)))], codes


def chain_published(records: Csr, group_of: NDArray[np.int64], n_groups: int, counts: Counts) -> Csr:
    """Groups as they are published: records sorted by content, then the counts; items of counts are codes."""
    order, start = sort_rows(*records, int(records[1].max(initial=0)) + 1)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = start
    order = np.lexsort((rank, group_of))
    chained = chain_records(take_rows(*records, order), group_of[order], n_groups)
    pairs = np.column_stack((counts.item, counts.times)).astype(np.int32).ravel()
    n_pairs = np.bincount(counts.group, minlength=n_groups)
    return side_by_side(chained, (2 * np.concatenate(([0], np.cumsum(n_pairs))), pairs))


def take_apart(rows: Csr) -> Groups:
    """What rows of codes say."""
    indptr, codes = rows
    n_groups = len(indptr) - 1
    row_of = np.repeat(np.arange(n_groups), np.diff(indptr))
    ends = np.flatnonzero(codes == END)
    last_end = np.zeros(n_groups, dtype=np.int64)
    last_end[row_of[ends]] = ends  # the last one written stays
    is_count = np.arange(len(codes)) > last_end[row_of]
    is_item = (codes != END) & ~is_count
    until = np.cumsum(is_item)
    records = np.concatenate(([0], until[ends])).astype(np.int64), codes[is_item] - np.int32(1)
    pairs = codes[is_count].astype(np.int64).reshape(-1, 2)
    return Groups(n_groups, records, row_of[ends], Counts(row_of[is_count][::2], pairs[:, 0], pairs[:, 1]))
