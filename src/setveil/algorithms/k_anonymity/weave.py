"""Weave: optimal cuts of orderings, then moves and swaps along many orderings at once. The default for k-anonymity.

Our own. It takes the Gray order and the majority votes from PTA (Lin, Liu, Fournier-Viger, Hong 2016) and the optimal
cut from univariate microaggregation (Hansen, Mukherjee: A Polynomial Algorithm for Optimal Univariate
Microaggregation, TKDE 2003).

Guarantee: every published set of non-sensitive items occurs in at least k records, and with l in the model each class
has at least l different sensitive items. Preconditions: at least k records, and l different sensitive items that
occur. Cost: O(passes · (n log n + n · tries · length)) time and O(n) memory; blocks of records run side by side.

1. *Cut.* Records in Gray order (bits by frequency) form blocks. Each block is cut optimally into runs of k … 2k-1
   along its Gray orders by frequency and by id; the better cut counts.
2. *Weave*, several passes. Classes in the Gray order of their centres form new blocks, each pass with other bits, so
   that every boundary falls somewhere else. In each block classes of 2k or more are cut again, optimally, and those
   with equal centres become one. Then, one step after the other, a random record moves to the class of a neighbour in
   one of the pass's orderings, or changes places with one of its members, unless that raises the loss. Steps that
   leave the loss as it is are taken: they lead out of dead ends.

Exact duplicates are one row with copies: rows are drawn, not records, and sorted once. No step raises the loss, so the
result is never worse than the cut. The seed decides orderings and steps; nothing depends on the number of threads or on
the order of the input.

Departures from the papers
1. The cost of a run is the loss of its majority vote, not a sum of squares.
2. For k of 128 or more runs begin on a grid of k/64 records, so that the cost of a cut does not grow with k.
3. With l, classes that lack diversity are merged after the cut; no later cut or step gives it up again, and runs may
   then have up to 4k records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.k_anonymity._centres import vote_centres
from setveil.algorithms.k_anonymity._classes import MarkedRecords, cut_order, found_classes, total_loss, weave_classes
from setveil.algorithms.k_anonymity.centres import Records, map_in_batches, prepare
from setveil.algorithms.k_anonymity.shards import Solved, replace_distributed, shard_bounds, shard_records
from setveil.arrays.chance import chance_from
from setveil.core import Transactions
from setveil.engines.distributed import DistributedDataset
from setveil.errors import InputError
from setveil.models import KAnonymity
from setveil.orderings.gray import bits_of_items, gray_order, gray_orders
from setveil.releases import Replacement

BLOCK = 8192  # records that exchange places in one pass; a block's counts stay in the cache
REACH = 2  # neighbours on either side in each ordering
FINEST = 64  # a cut is tried at each record while k is below twice this
MOST_CELLS = 2**26  # counts per block: classes times items


class Block(NamedTuple):
    """A shard: some records with all they need."""

    number: int
    public: Transactions
    hidden: Transactions  # without items unless diversity is asked for
    class_of: NDArray[np.int64]  # [records] 0 … n_classes-1


@dataclass(frozen=True)
class Weave(Algorithm):
    """Optimal cuts of several orderings, improved by moves and swaps between classes."""

    passes: int = option(8, "number of passes; each forms new blocks and improves them", least=0)
    orderings: int = option(4, "number of Gray orderings per pass; neighbours in any of them may join classes", least=1)
    tries: int = option(20, "steps per distinct record and pass", least=0)
    shard_size: int | None = option(
        None, "number of records per shard; each shard, a run in Gray order, is anonymized separately", least=1
    )

    def run(self, data: Transactions, model: KAnonymity, context: Context) -> Replacement:
        """Cut, then weave pass by pass."""
        records = prepare(data, model)
        if not data.n_records:
            return records.unchanged()
        context.step("Gray sort")
        if self.shard_size is not None:
            return self._in_shards(records, context)
        class_of, centres, losses = self.weave(records, context)
        return records.release(class_of, {"loss_per_pass": losses}, centres)

    def weave(self, records: Records, context: Context) -> tuple[NDArray[np.int64], Transactions, list[int]]:
        """The class of each record, the centres, and the loss after the cut and after each pass."""
        class_of = records.diverse(cut_blocks(records, context))
        centres = records.vote(class_of)
        losses = [records.loss(class_of, centres)]
        while losses[-1] > 0 and len(losses) <= self.passes:
            class_of = self.weave_blocks(records, class_of, centres, len(losses) - 1, context)
            centres = records.vote(class_of)
            losses.append(records.loss(class_of, centres))
        return class_of, centres, losses

    def _in_shards(self, records: Records, context: Context) -> Replacement:
        """Every shard alone."""
        if records.l > 1:
            raise InputError("shards do not support l; remove the option shard_size.")
        order = gray_order(records.public)
        bounds = self._bounds(records.public.n_records, records.k)
        class_of = np.empty(len(order), dtype=np.int64)
        lengths, items, n_classes = [], [], 0
        for number, part in enumerate(np.split(order, bounds[1:-1])):
            context.step("weaving shards", number / (len(bounds) - 1))
            own, centres, _ = self.weave_shard(records.public.select(part), records.k, context.seed)
            class_of[part] = n_classes + own
            n_classes += centres.n_records
            lengths.append(centres.lengths)
            items.append(centres.items)
        indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64)
        everything = replace(records.public, indptr=indptr, items=np.concatenate(items))
        return records.release(class_of, {"shards": len(bounds) - 1}, everything)

    def run_distributed(self, data: DistributedDataset, model: KAnonymity, context: Context) -> Replacement:
        """Every shard alone, where the records are."""
        if self.shard_size is None:
            raise InputError(
                "weave exchanges records between all blocks; on Spark set its option shard_size, which gives the same "
                "release on one machine."
            )
        bounds = self._bounds(data.n_records, model.k)
        solve = partial(self.weave_shard, k=model.k, seed=context.seed)
        release, _ = replace_distributed(data, model, bounds, solve)
        return replace(release, details={**release.details, "shards": len(bounds) - 1})

    def weave_shard(self, shard: Transactions, k: int, seed: int) -> Solved:
        """Woven as if there were no other records."""
        records = shard_records(shard, k)
        own, centres, _ = self.weave(records, Context(seed=seed))
        class_of = np.empty_like(own)
        class_of[records.order] = own
        return class_of, centres, {}

    def _bounds(self, n_records: int, k: int) -> NDArray[np.int64]:
        assert self.shard_size is not None
        return shard_bounds(n_records, max(min(-(-n_records // self.shard_size), n_records // k), 1))

    def weave_blocks(
        self, records: Records, class_of: NDArray[np.int64], centres: Transactions, number: int, context: Context
    ) -> NDArray[np.int64]:
        """One pass: new blocks, woven side by side."""
        stage = f"weaving, pass {number + 1} of {self.passes}"
        context.step(stage, 0.0)
        tour = gray_order(centres, bits_of(centres, number, (context.seed, 0)))
        parts = regroup(class_of, tour, count_blocks(records))
        blocks = [make_block(records, part, place, class_of) for place, part in enumerate(parts)]
        work = partial(
            weave_block,
            k=records.k,
            l=records.l,
            n_orderings=self.orderings,
            tries=self.tries,
            seed=(context.seed, number),
        )
        return collect(parts, list(map_in_batches(context, stage, work, blocks, 2)))


def count_blocks(records: Records) -> int:
    """How many blocks: each large enough for many classes and small enough for their counts."""
    fitting = MOST_CELLS // max(records.public.n_items, 1) * records.k
    return max(records.public.n_records // max(min(BLOCK, fitting), 32 * records.k), 1)


def cut_blocks(records: Records, context: Context) -> NDArray[np.int64]:
    """Step 1: a class for each record, by the best cut of each block."""
    parts = context.engine.partition(gray_order(records.public), count_blocks(records))
    nothing = np.zeros(records.public.n_records, dtype=np.int64)
    blocks = [make_block(records, part, place, nothing) for place, part in enumerate(parts)]
    cuts = list(map_in_batches(context, "cutting", partial(cut_block, k=records.k), blocks, 4))
    return collect(parts, cuts)


def make_block(records: Records, part: NDArray[np.int64], number: int, class_of: NDArray[np.int64]) -> Block:
    """The given records as a shard, without items too rare to be in any centre: they are lost wherever they go."""
    public = records.public.select(part)
    public = public.keep_items(2 * public.supports > records.k)
    hidden = records.hidden.select(part)
    if records.l == 1:
        hidden = hidden.recode(np.full(hidden.n_items, -1), hidden.vocabulary)
    return Block(number, public, hidden, np.unique(class_of[part], return_inverse=True)[1])


def collect(parts: list[NDArray[np.int64]], cuts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Classes of all blocks, numbered on from block to block, int64[n_records]."""
    class_of = np.empty(sum(len(part) for part in parts), dtype=np.int64)
    n_classes = 0
    for part, cut in zip(parts, cuts, strict=True):
        class_of[part] = cut + n_classes
        n_classes += int(cut.max()) + 1
    return class_of


def cut_block(block: Block, k: int) -> NDArray[np.int64]:
    """The best of the optimal cuts along the Gray orders by frequency and by id."""
    distinct, rows, order = as_rows(block)
    best = np.empty(0, dtype=np.int64)
    least = -1
    for along in gray_orders(distinct, ["frequency", "id"]):
        copies = copies_in(along, rows)
        loss, run = cut_run(rows, (distinct.n_items, block.hidden.n_items), copies, k, 1)
        if least < 0 or loss < least:
            best = np.empty(len(order), dtype=np.int64)
            best[order[copies]] = run
            least = loss
    return best


def cut_run(
    rows: MarkedRecords,
    n_items: tuple[int, int],
    order: NDArray[np.int64],
    k: int,
    l: int,  # noqa: E741
) -> tuple[int, NDArray[np.int64]]:
    """The optimal cut of an ordering of records; for a large k cuts fall on a grid, so that the cost does not grow
    with k.

    ``n_items`` are items and marks. Diverse runs may have to be longer than 2k-1.
    """
    grid = max(k // FINEST, 1)
    longest = 2 * (k + grid - 1) - 1 if l == 1 else 4 * (k + grid - 1)
    return cut_order(rows, *n_items, order, k, l, longest, grid)


def as_rows(block: Block) -> tuple[Transactions, MarkedRecords, NDArray[np.int64]]:
    """Distinct rows, the records as copies of them, and which record of the block each copy is.

    The copies' items are numbered by frequency, which keeps the counts of most occurrences close together.
    """
    distinct, weights, row_of = block.public.distinct()
    order = np.argsort(row_of, kind="stable")
    copies = np.concatenate(([0], np.cumsum(weights)))
    hidden = block.hidden.select(order)
    items = bits_of_items(distinct, "frequency")[distinct.items]
    parts = (distinct.indptr, items, copies, row_of[order], hidden.indptr, hidden.items)
    return distinct, MarkedRecords(*(part.astype(np.uint32) for part in parts)), order


def copies_in(order: NDArray[np.int64], rows: MarkedRecords) -> NDArray[np.int64]:
    """All copies in an ordering of the distinct rows."""
    first = rows.copies.astype(np.int64)
    n_copies = np.diff(first)[order]
    ends = np.cumsum(n_copies)
    copies: NDArray[np.int64] = np.arange(ends[-1]) + np.repeat(first[order] - ends + n_copies, n_copies)
    return copies


def regroup(class_of: NDArray[np.int64], tour: NDArray[np.int64], n_blocks: int) -> list[NDArray[np.int64]]:
    """The records of each block: whole classes as they follow on a tour, about equally many records in each."""
    ends = np.cumsum(np.bincount(class_of)[tour])
    block_of = np.empty(len(tour), dtype=np.int64)
    block_of[tour] = (ends - 1) * n_blocks // len(class_of)
    at = block_of[class_of]
    order = np.argsort(at, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(at[order])) + 1)


def bits_of(data: Transactions, number: int, seed: tuple[int, int]) -> str | NDArray[np.int64]:
    """The bits of the n-th ordering: by frequency, by id in the first pass, then shuffled."""
    if seed[1] == 0 and number < 2:
        return ("frequency", "id")[number]
    # Raw words, because NumPy promises stable streams only for them.
    return np.argsort(np.random.PCG64((*seed, number)).random_raw(data.n_items), kind="stable")


def weave_block(
    block: Block,
    k: int,
    l: int,  # noqa: E741
    n_orderings: int,
    tries: int,
    seed: tuple[int, int],
) -> NDArray[np.int64]:
    """Step 2 in one block: cut large classes again, then moves and swaps. The class of each record, int64[records]."""
    distinct, rows, order = as_rows(block)
    orders = gray_orders(distinct, [bits_of(distinct, number, seed) for number in range(n_orderings)])
    n_marks = block.hidden.n_items if l > 1 else 0
    class_of = cut_large_classes(rows, (distinct.n_items, n_marks), block.class_of[order], orders[0], k, l)
    class_of = join_equal_classes(rows, distinct, class_of)
    n_classes = int(class_of.max()) + 1
    room = 2 * k
    largest = int(np.bincount(class_of).max()) + room
    count = np.zeros((n_classes, distinct.n_items), dtype=np.int16 if largest < 2**15 else np.int32)
    classes = found_classes(rows, class_of, count, np.zeros((n_classes, n_marks), dtype=np.int32), room)
    if total_loss(classes) > 0:
        state = chance_from(*seed, block.number)
        n_steps = tries * distinct.n_records + len(order)  # some more where rows have many copies
        weave_classes(rows, classes, neighbours_in(orders), k, l, n_steps, state)
    woven = np.empty(len(order), dtype=np.int64)
    woven[order] = classes.of
    return woven


def cut_large_classes(
    rows: MarkedRecords,
    n_items: tuple[int, int],
    class_of: NDArray[np.int64],
    order: NDArray[np.int64],
    k: int,
    l: int,  # noqa: E741
) -> NDArray[np.int64]:
    """Cut classes of 2k or more along an ordering of the distinct rows, which never raises the loss."""
    copies = copies_in(order, rows)
    members = copies[np.argsort(class_of[copies], kind="stable")]  # class by class, each in order
    ends = np.cumsum(np.bincount(class_of))
    n_classes = len(ends)
    result = class_of.copy()
    for large in np.flatnonzero(np.diff(ends, prepend=0) >= 2 * k).tolist():
        own = members[ends[large - 1] if large else 0 : ends[large]]
        _, run = cut_run(rows, n_items, own, k, l)
        result[own] = np.where(run == 0, large, n_classes + run - 1)
        n_classes += int(run[-1])
    return result


def join_equal_classes(rows: MarkedRecords, distinct: Transactions, class_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Classes with equal centres become one: no record changes, and members can be spared that could not before."""
    members = np.argsort(class_of, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(class_of))))
    row_of = rows.of[members].astype(np.int64)
    indptr, items = vote_centres(distinct.indptr, distinct.items, distinct.n_items, row_of, bounds)
    return replace(distinct, indptr=indptr, items=items).distinct().inverse[class_of]


def neighbours_in(orders: list[NDArray[np.int64]]) -> NDArray[np.int32]:
    """The rows up to REACH positions away in any of the orderings, int32[n_rows, 2 · REACH · orderings]; ends meet."""
    n_rows = len(orders[0])
    result = np.empty((n_rows, 2 * REACH * len(orders)), dtype=np.int32)
    column = 0
    for order in orders:
        for shift in range(1, REACH + 1):
            for turn in (shift, -shift):
                result[order, column] = np.roll(order, turn)
                column += 1
    return result
