"""What c known items of a person reveal, for every number c asked for.

The attacker knows c items of a record, any c of its own, each choice as likely as another. The *support* of these items
is the number of records that contain them all; the attacker finds that many candidates and guesses right with
probability 1/support. Per c, over the records with at least c items:

- *singled out*: the share of records that c of their items single out: the mean over records of the share of a record's
  c-subsets that have support 1;
- *mean 1/support*: likewise, the attacker's average success;
- *maximum 1/support*: the worst case over all records and all c-subsets;
- *below k*: the share of records that have some c-subset with support below k.

One figure is over all records: *worst singled out*, the share of those that some of their items single out, if up to c
are known: those of an attacker who knows the most identifying items of everybody (``worst.py``).

Where columns are known, the attacker knows them besides, and c may be 0: all of this is about records with the same
known columns.

Exact for c ≤ 2, and for larger c as long as the records have no more than ``budget`` c-subsets. Beyond that, records
are drawn at random (with replacement, one random c-subset each) and the figures carry 95 % intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import comb
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.mining import count_matches, invert_rows, sort_rows_by_item
from setveil.arrays.sampling import draw_subsets
from setveil.arrays.threads import for_slices
from setveil.core import Dataset, Transactions
from setveil.core.deferred import call
from setveil.core.progress import Progress, no_progress
from setveil.core.row_order import sort_rows
from setveil.core.tables import Tabular
from setveil.errors import InputError
from setveil.models.parameters import checked_seed, known_sizes, whole_number
from setveil.risk._identifying import find_rare_subsets
from setveil.risk.column_classes import ColumnClasses, items_by_class
from setveil.risk.exposure import ExposureRow
from setveil.risk.intervals import Interval, wilson
from setveil.risk.tallies import COUNTING, Tally, ranks_of, tally_all, tally_pairs
from setveil.risk.worst import Searched, with_worst

Csr: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int32]]

BUDGET = 40_000_000  # combinations; the default, for `setveil risk` and for every report alike: about a second
MAX_PAIRS = 1 << 24  # different pairs of items that are counted in one table
N_SEARCHED = 1_000  # sampled records that are searched for a rare subset
PATIENCE = 20_000  # records gone through in each of these searches
_SEARCHED_AT_ONCE = 50


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
    worst_singled_out: float | None = None  # of all records, by the most identifying of up to so many items
    worst_singled_out_interval: Interval | None = None  # 95 %, if not exact
    columns: tuple[str, ...] = ()  # known besides the items

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; columns only where some are known."""
        plain = asdict(self)
        columns = list(plain.pop("columns"))
        return {**plain, "columns": columns} if columns else plain


@dataclass(frozen=True, repr=False)
class RiskTable(Tabular):
    """One row per number of known items, ascending; shares are numbers between 0 and 1.

    Examples:
        >>> import setveil as sv
        >>> table = sv.risk("baskets.txt", known=(1, 2))
        >>> table["singled_out"], table.filter(known=2)["singled_out"]
        ([0.0, 0.5], [0.5])
        >>> table.to_polars().columns[:4]
        ['known', 'n_records', 'share_of_records', 'singled_out']
    """

    n_records: int
    k: int
    seed: int
    rows: tuple[RiskRow, ...]
    inference: tuple[ExposureRow, ...] = ()  # what known items reveal about further ones, where it was asked for

    @classmethod
    def of_nobody(cls, published: Dataset, k: int, known: Sequence[int] = (1, 2, 3, 4)) -> RiskTable:
        """Of published records that belong to nobody: no known items match the record of a person."""
        lengths, n_all = published.rows.lengths, max(published.n_records, 1)
        n_long = [int((lengths >= size).sum()) for size in known]
        rows = (RiskRow(size, n, n / n_all, 0.0, 0.0, 0.0, 0.0, True) for size, n in zip(known, n_long, strict=True))
        return cls(published.n_records, k, 0, tuple(rows))

    def records(self) -> list[dict[str, Any]]:
        """A row per number of known items."""
        return [asdict(row) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int | str) -> Any:
        """A row by its number, or the figures of a column by its name."""
        return [getattr(row, place) for row in self.rows] if isinstance(place, str) else self.rows[place]

    def plot(self) -> Any:
        """A chart of the share of people who are singled out, as a figure of Matplotlib.

        Raises:
            InputError: Matplotlib is not installed.
        """
        return call("RiskTable.plot", self)

    def to_dict(self) -> dict[str, Any]:
        rows = [row.to_dict() for row in self.rows]
        return {**asdict(self), "rows": rows, "inference": [row.to_dict() for row in self.inference]}

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
        if self.inference:
            lines.append(
                f"{'known':>5} {'certain':>12} {'control':>12} {'likely':>12} {'control':>12}  of a further item"
            )
        for inferred in self.inference:
            rates = (inferred.certain, inferred.certain_control, inferred.likely, inferred.likely_control)
            lines.append(f"{inferred.known:>5} " + " ".join(f"{f'{100 * rate.value:.2f} %':>12}" for rate in rates))
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
    budget: int | None = BUDGET,
    targets: int = 5_000,
) -> RiskTable:
    """The risk table of some records.

    ``budget``: exact figures for c items if the distinct records have at most this many c-subsets (c ≤ 2: always);
    ``None`` asks for exact figures, however long that takes. ``targets``: how many records are drawn otherwise.
    """
    sizes = checked_sizes(known, k, targets, seed)
    progress("finding distinct records", None)
    column_classes = ColumnClasses.of(data)
    by_columns = () if column_classes is None else (_by_columns(column_classes, k),)
    if column_classes is not None:
        data = items_by_class(data, column_classes)
    n_exact = _feasible_size(data, max(sizes), budget)
    n_of_length = np.bincount(data.lengths, minlength=1)
    n_long = {size: int(n_of_length[size:].sum()) for size in sizes}  # records with so many items
    progress("drawing records", None)
    drawn = _draw(data, {size: n for size, n in n_long.items() if size > n_exact and n}, seed, targets)
    searched = np.concatenate([np.empty(0, dtype=np.int64), *(some.records[:N_SEARCHED] for some in drawn.values())])
    progress(COUNTING, 0.0)
    if n_exact <= 2 and data.n_items * (data.n_items - 1) // 2 <= MAX_PAIRS:
        tally = tally_pairs(data, k, searched, progress)
    else:
        tally = tally_all(data, n_exact, k, searched, progress)
    is_below = np.split(tally.is_below, max(len(drawn), 1), axis=1)
    sampled = {}
    for (size, some), below in zip(drawn.items(), is_below, strict=False):
        supports = _supports(data, some.known, progress)
        verdicts = _search_rare(data, some, k, below[0])
        alone = verdicts if k == 2 else _search_rare(data, some, 2, below[1], verdicts != 0 if k > 2 else None)
        sampled[size] = Sampled(supports, verdicts, Searched(np.diff(some.rows[0])[:N_SEARCHED], alone))
    columns = () if column_classes is None else column_classes.columns.names
    n_alike = (
        np.full(data.n_records, data.n_records)
        if column_classes is None
        else column_classes.sizes[column_classes.of_record]
    )
    n_unique = int((n_alike[data.lengths == 0] == 1).sum())
    rows = rows_of(sizes, n_exact, n_of_length, tally, sampled, n_unique)
    return RiskTable(data.n_records, k, seed, (*by_columns, *(replace(row, columns=columns) for row in rows)))


class Sampled(NamedTuple):
    """What was found about drawn records."""

    supports: NDArray[np.int64]  # [targets] of some of their items
    verdicts: NDArray[np.int8]  # of a search for a subset below k: 1 yes, 0 no, -1 where it gave up
    alone: Searched  # the same for a subset that nobody else has


def rows_of(
    sizes: Sequence[int],
    n_exact: int,
    n_of_length: NDArray[np.int64],
    tally: Tally,
    sampled: Mapping[int, Sampled],
    n_unique: int,
) -> list[RiskRow]:
    """A row per number of known items: exact up to ``n_exact``, from samples beyond. ``n_of_length``: records by number
    of items; ``n_unique``: records without items that are singled out by their columns.
    """
    rows = []
    for size in sizes:
        n_long, n_all = int(n_of_length[size:].sum()), int(n_of_length.sum())
        if not n_long:
            rows.append(empty_row(size))
        elif size <= n_exact:
            least, n_below = int(tally.least[size:, size - 1].min()), int(tally.below[0, size:, size - 1].sum())
            rows.append(exact_row(size, n_long, n_all, tally.totals[size - 1], least, n_below))
        else:
            some, smallest = sampled[size], int(tally.least[size:].min())
            rows.append(sampled_row(size, n_long, n_all, some.supports, smallest, some.verdicts))
    found = {size: some.alone for size, some in sampled.items()}
    return with_worst(rows, n_of_length, tally.below[1], n_unique, found)


def _by_columns(column_classes: ColumnClasses, k: int) -> RiskRow:
    """What the columns alone reveal."""
    n_records = len(column_classes.of_record)
    supports = column_classes.sizes[column_classes.of_record]
    if not n_records:
        return replace(empty_row(0), note="there are no records", columns=column_classes.columns.names)
    totals = np.array([float((supports == 1).sum()), float((1 / supports).sum())])
    row = exact_row(0, n_records, n_records, totals, int(supports.min()), int((supports < k).sum()))
    return replace(row, columns=column_classes.columns.names, worst_singled_out=row.singled_out)


def checked_sizes(known: Iterable[int], k: int, targets: int, seed: int) -> list[int]:
    """The numbers of known items, ascending."""
    whole_number(k, "k")
    whole_number(targets, "targets")
    checked_seed(seed)
    sizes = known_sizes(known)
    if not sizes:
        raise InputError("known is empty; give at least one number of known items, such as 1,2,3,4.")
    return sizes


def _feasible_size(data: Transactions, wanted: int, budget: int | None) -> int:
    """The largest size up to ``wanted`` for which all subsets of distinct records may be looked at; 2 always may."""
    if wanted <= 2 or budget is None:
        return wanted
    n_of_length = np.bincount(data.lengths)
    one_in = 4 * sum(int(n) * comb(length, 3) for length, n in enumerate(n_of_length)) // max(5 * budget, 1)
    if one_in > 1:
        # Far too many, unless most records are the same. If the distinct ones of a part are too many, that settles it.
        filled = np.flatnonzero(data.lengths)
        sums = np.add.reduceat(data.items, data.indptr[filled], dtype=np.int32)
        part = filled[sums % one_in == 0]  # equal records go together
        if feasible_size(np.bincount(data.select(part).distinct().rows.lengths), 3, budget) == 2:
            return 2
    return feasible_size(np.bincount(data.distinct().rows.lengths), wanted, budget)


def feasible_size(n_of_length: Sequence[int] | NDArray[np.int64], wanted: int, budget: int | None) -> int:
    """The same, from how many distinct records there are of each length."""
    size = min(wanted, 2)
    while size < wanted and (
        budget is None or sum(int(n) * comb(length, size + 1) for length, n in enumerate(n_of_length)) <= budget
    ):
        size += 1
    return size


class _Drawn(NamedTuple):
    """Records drawn at random, and what is known of them."""

    records: NDArray[np.int64]
    rows: Csr  # their items, rarest first
    known: NDArray[np.int32]  # [records, known items]


def _draw(data: Transactions, n_long: dict[int, int], seed: int, n_targets: int) -> dict[int, _Drawn]:
    """Records of at least so many items, drawn by their positions in lexicographic order: the order of the file does
    not matter. ``n_long``: how many there are.
    """
    drawn: dict[int, _Drawn] = {}
    if not n_long:
        return drawn
    order, _ = sort_rows(data.indptr, data.items, data.n_items)  # not kept: it is as large as the data's bounds
    for size, n_records in n_long.items():
        random = np.random.default_rng((seed, size))
        positions = random.integers(0, n_records, n_targets)
        targets = order[data.lengths[order] >= size][positions]
        some = data.select(targets)
        rows = rarest_first((some.indptr, some.items), data.supports)
        drawn[size] = _Drawn(targets, rows, known_of(rows, size, random))
    return drawn


def rarest_first(rows: Csr, supports: NDArray[np.int64]) -> Csr:
    """The same rows, the rarest item of each first."""
    indptr, items = rows
    rank = ranks_of(supports)
    lists = invert_rows(indptr, rank[items], len(supports))
    item_at = np.argsort(rank).astype(np.int32)
    return indptr, item_at[sort_rows_by_item(lists, indptr)]


def known_of(rows: Csr, size: int, random: np.random.Generator) -> NDArray[np.int32]:
    """So many items of each row, drawn at random, int32[rows, size]."""
    indptr, items = rows
    known: NDArray[np.int32] = items[indptr[:-1][:, None] + draw_subsets(np.diff(indptr), size, random)]
    return known


def empty_row(size: int) -> RiskRow:
    """No record has so many items."""
    return RiskRow(size, 0, 0.0, None, None, None, None, note=f"no record has {size} items or more")


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


def _supports(data: Transactions, itemsets: NDArray[np.int32], progress: Progress) -> NDArray[np.int64]:
    n_itemsets, size = itemsets.shape
    stage = f"sampling what {size} known items reveal"
    progress(stage, 0.0)
    indptr = np.arange(0, n_itemsets * size + 1, size, dtype=np.int64)
    queries = indptr, np.ascontiguousarray(itemsets).ravel()
    one_each = np.empty(0, dtype=np.int64)
    return count_matches(data.postings, one_each, queries, lambda share: progress(stage, share))


def _search_rare(
    data: Transactions, drawn: _Drawn, k: int, is_below: NDArray[np.bool_], may_be: NDArray[np.bool_] | None = None
) -> NDArray[np.int8]:
    """Whether the first records have a subset below k: 1 yes, 0 no, -1 if the search gave up. ``is_below``: those that
    a smaller subset decides; ``may_be``: those that have one below a larger k, or of which that is not known.
    """
    may_be = np.ones(len(is_below), dtype=bool) if may_be is None else may_be
    verdicts = may_be.astype(np.int8)
    open_question = np.flatnonzero(may_be & ~is_below)
    size, rows = drawn.known.shape[1], (*drawn.rows, np.empty(0, dtype=np.int64))

    def search(first: int, last: int) -> None:
        some = open_question[first:last]
        verdicts[some] = find_rare_subsets(rows, data.postings, some, size, k, PATIENCE)

    for_slices(
        search, [(first, first + _SEARCHED_AT_ONCE) for first in range(0, len(open_question), _SEARCHED_AT_ONCE)]
    )
    return verdicts
