"""Blocks: groups from the public items alone, joined only by rules that treat all their members alike. The default.

Our own. Published groups in the sense of Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data,
TKDE
2011. Their algorithms choose partners to suit the record with the sensitive item, and that shows: within a group the
longest, the most typical or the last record is the one far more often than 1 in p. Here nothing about a member can
tell.

Guarantee: in every group each sensitive item belongs to at most one in p of the records; and whoever knows every
public item, this program and the published groups, but nothing that makes one record likelier than another beforehand,
finds each member of a group equally likely to be the holder. Preconditions: no sensitive item in more than one in p of
all records (or ``suppress_excess``). Cost: a Gray order, then ``passes`` exchanges per record, each looking at two
blocks; O(n) memory.

1. *Blocks.* Records in Gray order are cut into blocks of p records, a fifth of them of one more, so that no record is
   left. Then records change places between blocks while that lowers the entropy of the blocks' public items. Sensitive
   items are not looked at. Which of several records with equal public items goes where is drawn at random.
2. *Joining*, separately among blocks of equal size. A unit is a block at first. A unit in which a sensitive item is too
   frequent *fails*; it is joined with as many units without any sensitive item as it needs, drawn at random from all
   there are. If these run out, the other units are paired along the order, and a pair of which one fails is joined.
   Pairs are the units of the next round, until none fails.
3. If units run out, all records are one group.

Why this tells nothing: step 1 does not depend on who is sensitive. Step 2 depends on it through the numbers of
sensitive items per unit alone, so exchanging members of a block changes nothing; and it treats the units of a round
alike, so exchanging two units of one joined group gives the same groups with the same probability. Together, any
member of a group can be moved to the place of any other. ``docs/algorithms/degree/blocks.md`` has the argument in
full, and its limits.

Departures from the paper: all of it; only the form of the release is theirs.

The draws depend on the seed and on a digest of all records, so they are the same for the same data in any order, and
nobody who does not know all of it can repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree import _blocks as kernels
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.groups import SUPPRESS_EXCESS, secret_draws, split_records
from setveil.core import Grouping, Transactions
from setveil.errors import InputError
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order

SLICE = 20_000  # exchanges tried between two progress reports
MOST_STEPS = 20_000_000  # exchanges tried in all, beyond one per record
SCALE = 1 << 20  # entropies are compared as whole numbers of this fineness


@dataclass(frozen=True)
class BlocksOfRecords(Algorithm):
    """Groups that do not depend on who is sensitive."""

    passes: int = option(10, "exchanges tried per record to make blocks more alike", least=0)
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Cut into blocks, exchange records, join blocks."""
        if self.passes < 0:
            raise InputError(f'option "passes" must be at least 0, not {self.passes}.')
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        if not split.n_records:
            return split.release(np.empty(0, dtype=np.int64), {})
        rng = secret_draws(split, context.seed)
        context.step("ordering")
        order = shuffle_equals(split.public, gray_order(split.public), rng)
        sizes = block_sizes(split.n_records, split.p)
        block_of = self._exchange(split.public.select(order), sizes, context)
        context.step("joining")
        hidden = split.hidden.select(order)
        joined = join_blocks(sizes, block_of[hidden.owners], hidden.items, split.p, rng)
        group_of = np.empty(split.n_records, dtype=np.int64)
        group_of[order] = joined[block_of]
        return split.release(group_of, {"blocks": len(sizes), "joined_groups": _n_joined(joined)})

    def _exchange(self, rows: Transactions, sizes: NDArray[np.int64], context: Context) -> NDArray[np.int64]:
        """The block of each record, int64[n_records]: cut in the given order, then improved."""
        blocks = cut_into_blocks(sizes)
        index = rows.inverted()
        public, holders = Rows(rows.indptr, rows.items), Rows(index[0], index[1])  # type: ignore[arg-type]
        cost = entropy_table(int(sizes.min()))
        here, there, own = (np.zeros(rows.n_items, dtype=np.int64) for _ in range(3))
        random = np.array([88172645463325252 + context.seed % 2**32], dtype=np.uint64)
        desk = kernels.Desk(here, there, own, random)
        n_records = rows.n_records
        n_steps = min(self.passes * n_records, max(n_records, MOST_STEPS)) if len(sizes) > 1 else 0
        for first in range(0, n_steps, n_records):
            for start in range(0, min(n_records, n_steps - first), SLICE):
                context.step("exchanging records", (first + start) / n_steps)
                span = (start, min(start + SLICE, n_records, n_steps - first))
                kernels.exchange_records(span, public, holders, cost, blocks, desk)
        return blocks.block_of


def shuffle_equals(public: Transactions, order: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The order, with records of equal public items drawn in random sequence; they must stand side by side."""
    ranks = public.row_ranks()[order]
    run = np.concatenate(([0], np.cumsum(ranks[1:] != ranks[:-1])))
    shuffled: NDArray[np.int64] = order[np.lexsort((rng.random(len(order)), run))]
    return shuffled


def block_sizes(n_records: int, p: int) -> NDArray[np.int64]:
    """Sizes of the blocks, int64[blocks]: first those with one record more, then the others; all at least p."""
    n_blocks = max(4 * n_records // (4 * p + 1), 1)
    size, n_larger = divmod(n_records, n_blocks)
    sizes = np.full(n_blocks, size, dtype=np.int64)
    sizes[:n_larger] += 1
    return sizes


def cut_into_blocks(sizes: NDArray[np.int64]) -> kernels.Blocks:
    """Records 0, 1, … in blocks of these sizes."""
    starts = np.concatenate(([0], np.cumsum(sizes)))
    places = np.arange(starts[-1])
    return kernels.Blocks(starts, places.copy(), np.repeat(np.arange(len(sizes)), sizes), places.copy())


def entropy_table(smallest: int) -> NDArray[np.int64]:
    """What an item costs that n of a block's records hold: int64[2, smallest + 2], for blocks of that size and one
    more.
    """
    table = np.zeros((2, smallest + 2), dtype=np.int64)
    for row, size in enumerate((smallest, smallest + 1)):
        share = np.arange(1, size) / size
        entropy = -share * np.log2(share) - (1 - share) * np.log2(1 - share)
        table[row, 1:size] = np.round(SCALE * size * entropy)
    return table


# -- joining ----------------------------------------------------------------------------------------------------------


class _Units(NamedTuple):
    """The units of a round."""

    most: NDArray[np.int64]  # [units] the count of the most frequent sensitive item
    fails: NDArray[np.bool_]  # [units]


def join_blocks(
    sizes: NDArray[np.int64],
    block: NDArray[np.int64],
    item: NDArray[np.int32],
    p: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """The group of each block, int64[blocks]; ``block`` and ``item`` tell of every sensitive occurrence."""
    joined = np.arange(len(sizes))
    n_larger = int((sizes > sizes.min()).sum())
    for first, last in ((0, n_larger), (n_larger, len(sizes))):
        inside = (block >= first) & (block < last)
        if inside.any() and not _join_equal_blocks(
            joined[first:last], int(sizes[first]), block[inside] - first, item[inside].astype(np.int64), p, rng
        ):
            return np.zeros(len(sizes), dtype=np.int64)
    return joined


def _join_equal_blocks(
    joined: NDArray[np.int64],
    size: int,
    block: NDArray[np.int64],
    item: NDArray[np.int64],
    p: int,
    rng: np.random.Generator,
) -> bool:
    """Write into ``joined`` which of these blocks, all of one size, are one group; False if the degree is out of
    reach.
    """
    unit_of = np.arange(len(joined))  # [blocks] its unit, -1 once its group is settled
    fails = np.ones(len(joined), dtype=bool)  # of the units; before the first round any may
    while True:
        most = _largest_counts(unit_of[block], item, len(fails))
        fails &= most * p > size
        if not fails.any():
            return True
        if len(fails) == 1:
            return False
        blocks_of = np.argsort(unit_of, kind="stable")[int((unit_of < 0).sum()) :].reshape(len(fails), -1)
        is_left = _join_with_silent(joined, blocks_of, _Units(most, fails), size, p, rng)
        if not (fails & is_left).any():
            return True
        if int(is_left.sum()) % 2 and not _settle_one(is_left, fails, rng):
            return False
        left = np.flatnonzero(is_left)
        pairs = left.reshape(-1, 2)
        fails_pair: NDArray[np.bool_] = fails[pairs[:, 0]] | fails[pairs[:, 1]]
        for one, other in pairs[fails_pair]:
            joined[blocks_of[[one, other]]] = joined[blocks_of[one, 0]]
        pair_of = np.full(len(fails) + 1, -1, dtype=np.int64)  # the last entry serves blocks that are settled
        pair_of[left] = np.arange(len(left)) // 2
        unit_of, fails, size = pair_of[unit_of], fails_pair, 2 * size


def _largest_counts(unit: NDArray[np.int64], item: NDArray[np.int64], n_units: int) -> NDArray[np.int64]:
    """How often the most frequent sensitive item of each unit occurs there, int64[n_units]; unit -1 does not count."""
    width = int(item.max(initial=0)) + 1
    kept = unit >= 0
    keys, counts = np.unique(unit[kept] * width + item[kept], return_counts=True)
    most = np.zeros(n_units, dtype=np.int64)
    np.maximum.at(most, keys // width, counts)
    return most


def _join_with_silent(
    joined: NDArray[np.int64],
    blocks_of: NDArray[np.int64],
    units: _Units,
    size: int,
    p: int,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Join units that fail with units without sensitive items, while there are some; which units are left,
    bool[units].
    """
    is_left = np.ones(len(units.most), dtype=bool)
    silent = rng.permutation(np.flatnonzero(units.most == 0))
    n_used = 0
    for unit in rng.permutation(np.flatnonzero(units.fails)):
        n_needed = -(-int(units.most[unit]) * p // size) - 1
        if n_used + n_needed <= len(silent):
            together = np.concatenate(([unit], silent[n_used : n_used + n_needed]))
            joined[blocks_of[together]] = joined[blocks_of[unit, 0]]
            is_left[together] = False
            n_used += n_needed
    return is_left


def _settle_one(is_left: NDArray[np.bool_], fails: NDArray[np.bool_], rng: np.random.Generator) -> bool:
    """Where the units left do not make pairs, one that does not fail, drawn at random, stays as it is."""
    fine = np.flatnonzero(is_left & ~fails)
    if len(fine):
        is_left[rng.choice(fine)] = False
    return bool(len(fine))


def _n_joined(joined: NDArray[np.int64]) -> int:
    """Groups of several blocks."""
    return int((np.bincount(joined) > 1).sum())
