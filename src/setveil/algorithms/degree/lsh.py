"""LSH: approximate nearest neighbours, searched among records that fall into the same bucket of a hash table.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 4.2.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: B tables over all records; then per record with a sensitive item the records in its B buckets.

Departures from the paper
1. A group is accepted if the remaining records meet the degree *without* it; see ``nn``.
2. The paper projects on items drawn uniformly. On sparse data nearly every record then has none of them, and its bucket
   is nearly all the data. By default items are drawn by frequency instead, and a table does not hold records that have
   none of its items. ``projection="uniform"`` is the paper's.
3. With w=32 and p1=0.9, a search accuracy of 90 % takes B=66 tables by the paper's own equation 6, not 32. B=32 is the
   default as printed; ``delta=0.1`` derives B.
4. Ties: smaller Hamming distance, then lower record number, in canonical order; see ``nn``.
5. ``suppress_excess`` takes occurrences out instead of refusing.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree._grouping import Tables
from setveil.algorithms.degree.groups import DISTANCES, SUPPRESS_EXCESS, Split, split_records
from setveil.algorithms.degree.nn import group_by_neighbours
from setveil.core import Transactions
from setveil.core.row_order import bounds_of
from setveil.models import PrivacyDegree
from setveil.releases import Grouping


@dataclass(frozen=True)
class LSH(Algorithm):
    """Nearest neighbours through locality-sensitive hashing."""

    w: int = option(32, "items per projection", least=1, most=62)
    B: int = option(32, "number of projections, each with its hash table", least=1, most=1_000_000)
    delta: float | None = option(
        None, "derive B instead: the probability that a near neighbour is missed (0.1)", above=0.0, below=1.0
    )
    p1: float = option(0.9, "with delta: the probability that two near records agree in an item", above=0, below=1)
    projection: str = option("frequency", "how the items of a projection are drawn", ("frequency", "uniform"))
    distance: str = option("hamming", "the distance between records", DISTANCES)
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Build the hash tables, then NNGroup with an approximate search."""
        n_tables = self._number_of_tables()
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        tables = self._build_tables(split, n_tables, context)
        group_of = group_by_neighbours(split, self.distance, tables, context)
        share = float((tables.last - tables.first).mean()) / split.n_records if tables.first.size else 0.0
        return split.release(group_of, {"tables": n_tables, "mean_bucket_share": share})

    def _number_of_tables(self) -> int:
        """B, or what equation 6 derives from delta."""
        if self.delta is None:
            return self.B
        return ceil(log(1 / self.delta) / -log(1 - self.p1**self.w))

    def _build_tables(self, split: Split, n_tables: int, context: Context) -> Tables:
        """Buckets of all seeds in all tables."""
        rng = np.random.default_rng((context.seed, 0x15A))
        n_items, seeds = split.public.n_items, split.telling
        supports = split.public.supports
        chance = supports / supports.sum() if self.projection == "frequency" and n_items else None
        first, last = (np.zeros((len(seeds), n_tables), dtype=np.int64) for _ in range(2))
        nothing = np.empty(0, dtype=np.int64)
        buckets, n_stored = [nothing], 0
        for table in range(n_tables):
            context.step("hashing", table / n_tables)
            chosen = rng.choice(n_items, size=min(self.w, n_items), replace=False, p=chance) if n_items else nothing
            keys = _project(split.public, chosen)
            order = np.argsort(keys, kind="stable")
            if self.projection == "frequency":
                order = order[np.searchsorted(keys[order], 1) :]  # key 0: none of the items
            found = keys[order]
            first[:, table] = np.searchsorted(found, keys[seeds], side="left") + n_stored
            last[:, table] = np.searchsorted(found, keys[seeds], side="right") + n_stored
            buckets.append(order)
            n_stored += len(order)
        return Tables(first, last, np.concatenate(buckets))


def _project(public: Transactions, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of the chosen items each record has, one bit each, int64[n_records]."""
    bit = np.zeros(public.n_items, dtype=np.int64)
    bit[chosen] = 1 << np.arange(len(chosen), dtype=np.int64)
    total = bounds_of(bit[public.items])  # may overflow and wrap; differences are exact all the same
    return np.diff(total[public.indptr])
