"""The risk table of records on a cluster: the figures of ``assess``, counted by many workers.

Up to two known items, and few different items: supports of all pairs are counted, then every record looks up its own.
More known items, as far as the budget allows: the records with an item are brought together, for every item, and all
subsets that begin with it are counted there (the rarest item first, so that what follows is short). Beyond the budget
the records that ``assess`` would draw are drawn, and the supports of what is known of them are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb, fsum

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import add_bits, invert_rows, sort_rows_by_item
from setveil.core import Itemsets
from setveil.core.dataset import Csr, Dataset, Sparse
from setveil.core.progress import Progress, no_progress
from setveil.core.row_order import bounds_of
from setveil.engines.distributed import DistributedDataset, Found
from setveil.risk._identifying import count_pairs, find_rare_subsets, look_up_pairs, tally_subsets
from setveil.risk._meeting import Targets, find_common
from setveil.risk.assess import (
    BUDGET,
    MAX_PAIRS,
    N_SEARCHED,
    PATIENCE,
    RiskTable,
    Sampled,
    checked_sizes,
    feasible_size,
    known_of,
    rarest_first,
    rows_of,
)
from setveil.risk.tallies import COUNTING, UNSEEN, Tally, limits_of, no_tally, ranks_of
from setveil.risk.worst import Searched


def distributed_risk(
    data: Dataset,
    known: Iterable[int] = (1, 2, 3, 4),
    k: int = 5,
    seed: int = 0,
    progress: Progress = no_progress,
    budget: int | None = BUDGET,
    targets: int = 5_000,
) -> RiskTable:
    """The risk table of records on a cluster; see ``assess.risk``."""
    assert isinstance(data, DistributedDataset), "records in memory are counted by assess"
    sizes = checked_sizes(known, k, targets, seed)
    with data.kept():
        progress("finding distinct records", None)
        n_exact = max(sizes)
        if n_exact > 2:
            n_exact = feasible_size(data.distinct_by_length(), n_exact, budget)
        n_long = {size: int(data.by_length[size:].sum()) for size in sizes if size > n_exact}
        progress("drawing records", None)
        draws = Draws.of(data, {size: n for size, n in n_long.items() if n}, seed, targets)
        progress(COUNTING, 0.0)
        if n_exact <= 2 and data.n_items * (data.n_items - 1) // 2 <= MAX_PAIRS:
            tally = _tally_pairs(data, k, draws.searched)
        else:
            tally = _tally_by_item(data, n_exact, k, draws.searched)
        progress(COUNTING, 0.5)
        supports, verdicts = draws.supports(), draws.search(k, tally.is_below[0])
        alone = verdicts if k == 2 else draws.search(2, tally.is_below[1])
    found = {
        size: Sampled(supports[size], verdicts[size], Searched(draws.lengths(size), alone[size])) for size in alone
    }
    rows = rows_of(sizes, n_exact, data.by_length, tally, found, int(data.n_records == data.by_length[0] == 1))
    return RiskTable(data.n_records, k, seed, tuple(rows))


# -- all subsets ------------------------------------------------------------------------------------------------------


def _tally_pairs(data: DistributedDataset, k: int, searched: Csr) -> Tally:
    """All pairs are counted, then every record looks up its own."""
    n_items, singles = data.n_items, data.supports
    n_pairs, n_lengths = n_items * (n_items - 1) // 2, data.longest + 1

    def count(blocks: Iterator[Csr]) -> Sparse:
        table = np.zeros(n_pairs, dtype=np.int64)
        for indptr, items in blocks:
            count_pairs(indptr, items, table)
        positions = np.flatnonzero(table)
        return positions, table[positions]

    pairs = data.add_up(count, n_pairs)

    def look_up(blocks: Iterable[Csr]) -> Tally:
        tally = no_tally(n_lengths, 2, 0)
        for indptr, items in blocks:
            is_below = np.zeros((2, len(indptr) - 1), dtype=np.bool_)
            look_up_pairs(indptr, items, limits_of(k), singles, pairs, *tally[:3], is_below)
            tally = tally._replace(is_below=is_below)
        return tally

    parts = data.gather(lambda blocks: look_up(blocks)[:3])
    return Tally(
        _exact_sum([part[0] for part in parts]),
        np.min([part[1] for part in parts], axis=0),
        np.sum([part[2] for part in parts], axis=0),
        look_up([searched]).is_below,
    )


def _tally_by_item(data: DistributedDataset, n_known: int, k: int, searched: Csr) -> Tally:
    """``_tally_below`` for both limits."""
    tally = _tally_below(data, n_known, k, searched)
    other = tally if k == 2 else _tally_below(data, n_known, 2, searched)
    return tally._replace(
        below=np.stack((tally.below, other.below)), is_below=np.stack((tally.is_below, other.is_below))
    )


def _tally_below(data: DistributedDataset, n_known: int, k: int, searched: Csr) -> Tally:
    """The records with an item tell of all subsets that begin with it; the rarest item begins. For one limit only."""
    n_items, n_lengths, rank = data.n_items, data.longest + 1, ranks_of(data.supports)
    n_subsets = np.array([[comb(length, size) for size in range(1, n_known + 1)] for length in range(n_lengths)])
    shares = 1 / np.maximum(n_subsets.astype(np.float64), 1.0)  # [length, size]
    draws = np.random.default_rng(0).integers(0, np.iinfo(np.int64).max, n_items)
    wanted = _sums_of(searched, draws)

    def count(item: int, rows: Csr, weights: NDArray[np.int64]) -> Found:
        indptr, items = rows
        lists = invert_rows(indptr, rank[items], n_items)
        sums = np.zeros((len(weights), n_known, 2))
        least = np.full((len(weights), n_known), UNSEEN)
        ranked = (indptr, sort_rows_by_item(lists, indptr), weights)
        tally_subsets(ranked, lists, int(rank[item]), int(rank[item]) + 1, sums, least)
        lengths = np.diff(indptr)
        totals = np.einsum("r,rc,rct->ct", weights.astype(np.float64), shares[lengths], sums)
        smallest = np.full((n_lengths, n_known), UNSEEN)
        np.minimum.at(smallest, lengths, least)
        is_below = least < k
        marks = np.where(is_below.any(axis=1), is_below.argmax(axis=1), -1).astype(np.int8)
        some = np.flatnonzero((marks >= 0) & np.isin(_sums_of(rows, draws), wanted))
        found = {items[indptr[row] : indptr[row + 1]].tobytes() for row in some.tolist()}
        return (totals, smallest, found), marks

    tallies, marked = data.by_item(count)
    below = np.zeros((n_lengths, n_known), dtype=np.int64)
    for (length, mark), n_records in marked.items():
        below[length, mark : min(length, n_known)] += n_records
    found: set[bytes] = set().union(*(part[2] for part in tallies))
    indptr, items = searched
    is_below = [items[start:end].tobytes() in found for start, end in zip(indptr[:-1], indptr[1:], strict=True)]
    return Tally(
        _exact_sum([np.zeros((n_known, 2)), *(part[0] for part in tallies)]),
        np.min([np.full((n_lengths, n_known), UNSEEN), *(part[1] for part in tallies)], axis=0),
        below,
        np.array(is_below, dtype=np.bool_),
    )


def _sums_of(rows: Csr, draws: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for each row, the same for the same row."""
    until = bounds_of(draws[rows[1]])  # wraps around, which does no harm
    return until[rows[0][1:]] - until[rows[0][:-1]]


def _exact_sum(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The sum of tables of numbers, which does not depend on their order."""
    shape = parts[0].shape
    flat = [fsum(values) for values in zip(*(part.ravel().tolist() for part in parts), strict=True)]
    return np.array(flat).reshape(shape)


# -- some subsets -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Draws:
    """The records that are drawn for each size, and which of their items are known."""

    data: DistributedDataset
    records: dict[int, Csr]  # by size; items with the rarest first
    known: dict[int, NDArray[np.int32]]  # by size, [targets, size]

    @classmethod
    def of(cls, data: DistributedDataset, n_long: dict[int, int], seed: int, n_targets: int) -> Draws:
        """``n_long``: how many records there are for each size that is sampled."""
        randoms = {size: np.random.default_rng((seed, size)) for size in n_long}
        positions = {size: randoms[size].integers(0, n, n_targets) for size, n in n_long.items()}
        found = data.records_at(positions) if positions else {}
        records = {size: rarest_first(rows, data.supports) for size, rows in found.items()}
        known = {size: known_of(rows, size, randoms[size]) for size, rows in records.items()}
        return cls(data, records, known)

    def lengths(self, size: int) -> NDArray[np.int64]:
        """Of the records that are searched for a rare subset."""
        return np.diff(self.records[size][0])[:N_SEARCHED]

    @property
    def searched(self) -> Csr:
        """The records of all sizes that are searched for a rare subset, items ascending."""
        parts = [_first_rows(rows, N_SEARCHED) for rows in self.records.values()]
        lengths = np.concatenate([np.diff(part[0]) for part in parts] or [np.empty(0, dtype=np.int64)])
        indptr = bounds_of(lengths)
        items = np.concatenate([part[1] for part in parts] or [np.empty(0, dtype=np.int32)])
        return indptr, sort_rows_by_item(invert_rows(indptr, items, self.data.n_items), indptr)

    def supports(self) -> dict[int, NDArray[np.int64]]:
        """The supports of what is known, for each size."""
        if not self.known:
            return {}
        lengths = [np.full(len(some), size, dtype=np.int64) for size, some in self.known.items()]
        indptr = bounds_of(np.concatenate(lengths))
        items = np.concatenate([some.ravel() for some in self.known.values()])
        found = self.data.supports_of(Itemsets(indptr, items, self.data.vocabulary))
        cuts = np.cumsum([len(some) for some in self.known.values()])[:-1]
        return dict(zip(self.known, np.split(found, cuts), strict=True))

    def search(self, k: int, is_below: NDArray[np.bool_]) -> dict[int, NDArray[np.int8]]:
        """Whether the first records of each size have a subset below k: 1 yes, 0 no, -1 if the search gave up.

        ``is_below``: those that a smaller subset decides.
        """
        rows: list[NDArray[np.int32]] = []
        sizes: list[int] = []
        for size, (indptr, items) in self.records.items():
            rows += np.split(items, indptr[1:-1])[:N_SEARCHED]
            sizes += [size] * (len(rows) - len(sizes))
        verdicts = np.ones(len(rows), dtype=np.int8)
        verdicts[~is_below] = -1
        leads = {
            number: reach
            for number in np.flatnonzero(~is_below).tolist()
            if (reach := _reach(self.data.supports[rows[number]], sizes[number]))
        }
        if leads:
            for number, verdict in self._replayed(rows, sizes, leads, k).items():
                verdicts[number] = verdict
        by_size = np.array(sizes, dtype=np.int64)
        return {size: verdicts[by_size == size] for size in self.records}

    def _replayed(
        self, rows: list[NDArray[np.int32]], sizes: list[int], leads: dict[int, int], k: int
    ) -> dict[int, int]:
        """The search in the records that it would go through, for each target that has any."""
        targets = _targets(rows, leads, self.data.n_items)
        supports = {number: self.data.supports[rows[number]] for number in leads}

        def meet(block: Csr) -> tuple[NDArray[np.int32], Csr]:
            met, indptr, positions = find_common(*block, targets)
            return met, (indptr, positions)

        def search(number: int, common: Csr, times: NDArray[np.int64]) -> int:
            own = supports[number]
            n = len(own)
            positions = np.concatenate((common[1], np.arange(n), np.arange(n))).astype(np.int32)
            indptr = np.concatenate((common[0], common[0][-1] + np.append(np.arange(1, n + 1), 2 * n)))
            met = np.zeros(n, dtype=np.int64)
            np.add.at(met, common[1], np.repeat(times, np.diff(common[0])))
            missing = own - met  # records that hold an item but were not gone through
            weights = np.concatenate((times, missing, [0]))
            itself = np.array([len(weights) - 1])
            postings = add_bits(invert_rows(indptr, positions, n), len(weights))
            return int(find_rare_subsets((indptr, positions, weights), postings, itself, sizes[number], k, PATIENCE)[0])

        return self.data.by_key(meet, search)


def _first_rows(rows: Csr, n: int) -> Csr:
    indptr = rows[0][: n + 1]
    return indptr, rows[1][: indptr[-1]]


def _reach(supports: NDArray[np.int64], size: int) -> int:
    """How many items of a record the search can begin with before its patience ends; supports ascend.

    Beginning with an item costs its support, and as much again for every second item that is tried.
    """
    spent = 0
    for place, support in enumerate(supports.tolist()[: len(supports) - size + 1]):
        if spent + support > PATIENCE:
            return place
        spent += support * (len(supports) - place - size + 2)
    return len(supports) - size + 1


def _targets(rows: list[NDArray[np.int32]], leads: dict[int, int], n_items: int) -> Targets:
    """Some of the rows for ``find_common``; ``leads`` says how many items of each lead to it. Others are empty."""
    parts, positions = [], []
    leading, led = [], []
    for number, row in enumerate(rows):
        order = np.argsort(row) if number in leads else np.empty(0, dtype=np.int64)
        parts.append(row[order])
        positions.append(order)
        leading.append(row[: leads.get(number, 0)])
        led.append(np.full(leads.get(number, 0), number))
    indptr = bounds_of([len(part) for part in parts])
    items = np.concatenate(leading)
    by_item = np.argsort(items, kind="stable")
    lead_indptr = bounds_of(np.bincount(items, minlength=n_items))
    return Targets(
        indptr,
        np.concatenate(parts).astype(np.int32),
        np.concatenate(positions).astype(np.int32),
        lead_indptr,
        np.concatenate(led)[by_item].astype(np.int32),
    )
