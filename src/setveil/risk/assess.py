"""What c known items of a person reveal, for every number c asked for.

The attacker knows c items of a record, any c of its own, each choice as likely as another. The *support* of these items
is the number of records that contain them all; the attacker finds that many candidates and guesses right with
probability 1/support. Per c, over the records with at least c items:

- *singled out*: the share of records that c of their items single out: the mean over records of the share of a record's
  c-subsets that have support 1;
- *mean 1/support*: likewise, the attacker's average success;
- *maximum 1/support*: the worst case over all records and all c-subsets;
- *below k*: the share of records that have some c-subset with support below k.

Exact for c ≤ 2, and for larger c as long as the records have no more than ``budget`` c-subsets. Beyond that, records
are drawn at random (with replacement, one random c-subset each) and the figures carry 95 % intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import Lists, Postings, add_bits, count_matches, invert_rows, sort_rows_by_item
from setveil.arrays.sampling import draw_subsets
from setveil.arrays.threads import available_threads, map_in_order, slices_of
from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.core.seam import call
from setveil.errors import InputError
from setveil.models.base import whole_number
from setveil.risk._identifying import Rows, count_pairs, find_rare_subsets, tally_pairs, tally_subsets
from setveil.risk.intervals import Interval, wilson

QUICK = 12_000_000  # a budget for a look in passing: a fraction of a second
THOROUGH = 1_000_000_000  # the default budget: seconds
_PER_SLICE = 5_000_000  # subsets between two reports of progress
_HANDS = 2  # that count at the same time
MAX_PAIRS = 1 << 24  # different pairs of items that are counted in one table
N_SEARCHED = 1_000  # sampled records that are searched for a rare subset
PATIENCE = 20_000  # records gone through in each of these searches
_COUNTING = "counting what known items reveal"
_UNSEEN = np.iinfo(np.int64).max


@dataclass(frozen=True)
class RiskRow:
    """The figures for one number of known items; ``None`` where no record has that many items."""

    known: int
    n_records: int  # records with at least that many items
    share_of_records: float
    singled_out: float | None
    mean_inverse_support: float | None
    max_inverse_support: float | None
    below_k: float | None
    exact: bool = True
    n_targets: int | None = None  # sampled records, if not exact
    singled_out_interval: Interval | None = None  # 95 %, if not exact
    mean_inverse_support_interval: Interval | None = None
    below_k_interval: Interval | None = None
    note: str = ""


@dataclass(frozen=True, repr=False)
class RiskTable:
    """One row per number of known items, ascending."""

    n_records: int
    k: int
    seed: int
    rows: tuple[RiskRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        head = (
            f"{'known':>5} {'records':>10} {'singled out':>12} {'mean 1/supp.':>12} {'max 1/supp.':>12} "
            f"{f'below k={self.k}':>12}"
        )
        lines = [head]
        for row in self.rows:
            shares = (row.singled_out, row.mean_inverse_support, row.max_inverse_support, row.below_k)
            cells = " ".join(f"{'–' if share is None else f'{100 * share:.2f} %':>12}" for share in shares)
            lines.append(f"{row.known:>5} {row.n_records:>10,} {cells}{'' if row.exact else '  sampled'}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        header = ("known items", "records", "singled out", "mean 1/support", "max 1/support", f"below k={self.k}")
        rows = []
        for row in self.rows:
            shares = (row.singled_out, row.mean_inverse_support, row.max_inverse_support, row.below_k)
            cells = ["–" if share is None else f"{100 * share:.2f} %" for share in shares]
            rows.append((f"{row.known}{'' if row.exact else ' (sampled)'}", f"{row.n_records:,}", *cells))
        return str(call("card", "What known items of a person reveal", header=header, rows=rows))


def risk(
    data: Transactions,
    known: Iterable[int] = (1, 2, 3, 4),
    k: int = 5,
    seed: int = 0,
    progress: Progress = no_progress,
    budget: int | None = THOROUGH,
    targets: int = 5_000,
) -> RiskTable:
    """The risk table of some records.

    ``budget``: exact figures for c items if the distinct records have at most this many c-subsets (c ≤ 2: always);
    ``None`` asks for exact figures at any price. ``targets``: how many records are drawn otherwise.
    """
    sizes = checked_sizes(known, k, targets)
    progress("finding distinct records", None)
    view = _View.of(data)
    progress(_COUNTING, 0.0)
    n_exact = view.feasible_size(max(sizes, default=0), budget)
    totals, least = view.tally(n_exact, progress)
    rows = []
    for size in sizes:
        if not (view.lengths >= size).any():
            rows.append(empty_row(size))
        elif size <= n_exact:
            rows.append(_exact_row(view, size, k, totals[size - 1], least[:, size - 1]))
        else:
            rows.append(_sampled_row(view, size, k, least, np.random.default_rng((seed, size)), targets, progress))
    return RiskTable(data.n_records, k, seed, tuple(rows))


def checked_sizes(known: Iterable[int], k: int, targets: int) -> list[int]:
    """The numbers of known items, ascending."""
    whole_number(k, "k")
    whole_number(targets, "targets")
    sizes = sorted({whole_number(size, "known") for size in known})
    if not sizes:
        raise InputError("known is empty; give at least one number of known items, such as 1,2,3,4.")
    return sizes


@dataclass(frozen=True)
class _View:
    """Distinct records with their items renumbered, rarest first, so that prefixes become unique early."""

    rows: Rows
    lists: Lists
    lengths: NDArray[np.int64]  # [rows]
    singles: NDArray[np.int64]  # [items] supports

    @classmethod
    def of(cls, data: Transactions) -> _View:
        distinct, weights, _ = data.distinct()
        rank = np.empty(data.n_items, dtype=np.int32)
        rank[np.argsort(data.supports, kind="stable")] = np.arange(data.n_items)
        lists = invert_rows(distinct.indptr, rank[distinct.items], data.n_items)
        items = sort_rows_by_item(lists, distinct.indptr)
        return cls((distinct.indptr, items, weights), lists, distinct.lengths, np.sort(data.supports))

    @property
    def weights(self) -> NDArray[np.int64]:
        return self.rows[2]

    @cached_property
    def postings(self) -> Postings:
        return add_bits(self.lists, len(self.lengths))

    def n_subsets(self, size: int) -> NDArray[np.float64]:
        """How many subsets of that size each row has, float64[rows]."""
        count = np.ones(len(self.lengths))
        for taken in range(size):
            count *= np.maximum(self.lengths - taken, 0) / (taken + 1)
        return np.rint(count)

    def feasible_size(self, wanted: int, budget: int | None) -> int:
        """The largest size up to ``wanted`` for which all subsets may be looked at; 2 always may."""
        size = min(wanted, 2)
        while size < wanted and (budget is None or self.n_subsets(size + 1).sum() <= budget):
            size += 1
        return size

    def tally(self, n_known: int, progress: Progress) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """``totals[c-1]`` = over all records, the share of c-subsets of support 1, and the mean of 1/support;
        ``least[row, c-1]`` = the least support.
        """
        n_rows, n_items = len(self.lengths), len(self.lists[0]) - 1
        if n_rows and n_known == 2 and n_items * (n_items - 1) // 2 <= MAX_PAIRS:
            return self._tally_pairs(progress)
        hands = [_Hand.of(n_rows, n_known) for _ in range(_HANDS)]
        slices = self._slices_of_subsets(n_known)
        for start in range(0, len(slices), _HANDS):  # always the same hand for the same slice: sums keep their order
            jobs = list(zip(slices[start : start + _HANDS], hands, strict=False))
            for _ in map_in_order(lambda job: tally_subsets(self.rows, self.lists, *job[0], *job[1]), jobs):
                pass
            progress(_COUNTING, start / len(slices))
        for other in hands[1:]:
            hands[0].sums[...] += other.sums
            np.minimum(hands[0].least, other.least, out=hands[0].least)
        totals = np.zeros((n_known, 2))
        for size in range(1, n_known + 1):
            can = self.lengths >= size
            totals[size - 1] = self.weights[can] @ (hands[0].sums[can, size - 1] / self.n_subsets(size)[can, None])
        return totals, hands[0].least

    def _slices_of_subsets(self, n_known: int) -> list[tuple[int, int]]:
        """Runs of items of which about equally many subsets begin with one."""
        indptr, items, _ = self.rows
        n_after = (np.repeat(indptr[1:], self.lengths) - np.arange(1, len(items) + 1)).astype(np.float64)
        price = np.ones(len(items))
        for taken in range(n_known - 1):
            price *= np.maximum(n_after - taken, 0) / (taken + 1)
        n_items = len(self.lists[0]) - 1
        until = np.cumsum(np.bincount(items, weights=price, minlength=n_items)) if n_items else np.zeros(1)
        n_slices = max(_HANDS, int(until[-1] / _PER_SLICE))
        cuts = np.searchsorted(until, np.linspace(0, until[-1], n_slices + 1)[1:-1])
        bounds = np.unique(np.concatenate(([0], cuts, [n_items]))).tolist()
        return list(zip(bounds[:-1], bounds[1:], strict=True))

    def _tally_pairs(self, progress: Progress) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Two known items: all pairs are counted in one table per thread, then every row looks up its own."""
        indptr, _, weights = self.rows
        n_items = len(self.lists[0]) - 1
        least = np.full((len(weights), 2), _UNSEEN)
        slices = slices_of(indptr)
        n_threads = min(available_threads(), len(slices))
        narrow = np.int32 if int(weights.sum()) <= np.iinfo(np.int32).max else np.int64
        n_pairs = n_items * (n_items - 1) // 2
        tables: list[NDArray[Any]] = [np.zeros(n_pairs, dtype=narrow) for _ in range(n_threads)]
        for start in range(0, len(slices), n_threads):
            jobs = list(zip(slices[start : start + n_threads], tables, strict=False))
            for _ in map_in_order(lambda job: count_pairs(self.rows, *job[0], job[1]), jobs):
                pass
            progress(_COUNTING, start / len(slices) / 2)
        pairs = tables[0]
        for table in tables[1:]:
            pairs += table

        def tally_some(rows: tuple[int, int]) -> NDArray[np.float64]:
            totals = np.zeros((2, 2))
            tally_pairs(self.rows, *rows, self.singles, pairs, totals, least)
            return totals

        totals = np.zeros((2, 2))
        for number, some in enumerate(map_in_order(tally_some, slices)):  # in order, so that sums do not vary
            totals += some
            progress(_COUNTING, 0.5 + number / len(slices) / 2)
        return totals, least


class _Hand(NamedTuple):
    """What one of the hands that count at the same time has found."""

    sums: NDArray[np.float64]  # [row, c-1] number of its c-subsets of support 1, sum of 1/support
    least: NDArray[np.int64]  # [row, c-1] least support

    @classmethod
    def of(cls, n_rows: int, n_known: int) -> _Hand:
        return cls(np.zeros((n_rows, n_known, 2)), np.full((n_rows, n_known), _UNSEEN))


def empty_row(size: int) -> RiskRow:
    """No record has so many items."""
    return RiskRow(size, 0, 0.0, None, None, None, None, note=f"no record has {size} items or more")


def _exact_row(view: _View, size: int, k: int, totals: NDArray[np.float64], least: NDArray[np.int64]) -> RiskRow:
    can = view.lengths >= size
    weights = view.weights[can]
    n_below = int(weights[least[can] < k].sum())
    return exact_row(size, int(weights.sum()), int(view.weights.sum()), totals, int(least[can].min()), n_below)


def exact_row(
    size: int, n_records: int, n_all: int, totals: NDArray[np.float64], smallest: int, n_below: int
) -> RiskRow:
    """Of ``n_all`` records ``n_records`` have ``size`` items; ``totals`` are summed over these."""
    singled_out, mean_inverse = totals / n_records
    return RiskRow(
        known=size,
        n_records=n_records,
        share_of_records=n_records / n_all,
        singled_out=rounded(singled_out),
        mean_inverse_support=rounded(mean_inverse),
        max_inverse_support=1 / smallest,
        below_k=n_below / n_records,
    )


def rounded(figure: float) -> float:
    """Without the digits that depend on the order in which fractions were added up."""
    return round(float(figure), 12)


def _sampled_row(
    view: _View,
    size: int,
    k: int,
    least: NDArray[np.int64],
    random: np.random.Generator,
    n_targets: int,
    progress: Progress,
) -> RiskRow:
    """``least``: exact for smaller sizes, where a subset of support s proves that a larger one has s or less."""
    can = np.flatnonzero(view.lengths >= size)
    last_record = np.cumsum(view.weights[can])
    n_records = int(last_record[-1])
    targets = can[np.searchsorted(last_record, random.integers(0, n_records, n_targets), side="right")]
    indptr, items, _ = view.rows
    known = items[indptr[targets][:, None] + draw_subsets(view.lengths[targets], size, random)]  # [targets, size]
    supports = _supports(view, known, progress)
    verdicts = _search_rare(view, targets[:N_SEARCHED], size, k, least)
    return sampled_row(size, n_records, int(view.weights.sum()), supports, int(least[can].min()), verdicts)


def sampled_row(
    size: int, n_records: int, n_all: int, supports: NDArray[np.int64], smallest: int, verdicts: NDArray[np.int8]
) -> RiskRow:
    """From the supports of a subset of each target, the smallest support of smaller subsets, and what a search among
    some targets found: 1 for a subset below k, 0 for none, -1 where it gave up.
    """
    n_targets = len(supports)
    singled_out, mean_inverse = float((supports == 1).mean()), rounded((1 / supports).mean())
    smallest = min(int(supports.min()), smallest)
    bound = [] if smallest == 1 else ["maximum 1/support is a lower bound"]
    surely, possibly = float((verdicts == 1).mean()), float((verdicts != 0).mean())
    return RiskRow(
        known=size,
        n_records=n_records,
        share_of_records=n_records / n_all,
        singled_out=singled_out,
        mean_inverse_support=mean_inverse,
        max_inverse_support=1 / smallest,
        below_k=surely,
        exact=False,
        n_targets=n_targets,
        singled_out_interval=wilson(singled_out, n_targets),
        mean_inverse_support_interval=wilson(mean_inverse, n_targets),
        below_k_interval=(wilson(surely, len(verdicts))[0], wilson(possibly, len(verdicts))[1]),
        note="; ".join([f"sampled: {n_targets:,} records drawn at random, 95 % intervals", *bound]),
    )


def _supports(view: _View, itemsets: NDArray[np.int32], progress: Progress) -> NDArray[np.int64]:
    n_itemsets, size = itemsets.shape
    stage = f"sampling what {size} known items reveal"
    progress(stage, 0.0)
    indptr = np.arange(0, n_itemsets * size + 1, size, dtype=np.int64)
    queries = indptr, np.ascontiguousarray(itemsets).ravel()
    return count_matches(view.postings, view.weights, queries, lambda share: progress(stage, share))


def _search_rare(
    view: _View, targets: NDArray[np.int64], size: int, k: int, least: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Whether each target has a subset below k: 1 yes, 0 no, -1 if the search gave up."""
    verdicts = np.ones(len(targets), dtype=np.int8)
    open_question = np.flatnonzero(least[targets, -1] >= k)  # smaller subsets do not decide
    verdicts[open_question] = find_rare_subsets(view.rows, view.lists, targets[open_question], size, k, PATIENCE)
    return verdicts
