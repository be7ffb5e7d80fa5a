"""Blocks: groups from the public items alone, changed only by rules that treat all their members alike. The default.

Our own. Published groups in the sense of Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data,
TKDE 2011. Their algorithms choose partners to suit the record with the sensitive item, and that shows: within a group
the longest, the most typical or the last record is the one far more often than 1 in p. Here nothing about a member can
tell.

Guarantee: in every group each sensitive item belongs to at most one in p of the records; and whoever knows every
public item, this program and the published groups, but nothing that makes one record likelier than another beforehand,
finds each member of a group equally likely to be the holder.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: a Gray order; per block, ``2 * reach`` records for each item of its longest one; then ``passes`` exchanges per
record, each looking at two blocks; then at most ``MOST_KINDS`` kinds of pairs for each that is taken. O(n) memory,
and a number for each pair and sensitive item.

1. *The remainder.* Records without sensitive items, drawn at random, are a group of their own, so that the others make
   whole pairs of blocks of p records.
2. *Blocks.* The record with the most public items takes those most like it (Jaccard), then the next one that is still
   free, and so on; then records change places between blocks while that brings records with the same public items
   together. Similar blocks stand in pairs. Sensitive items are not looked at. Which of several records with equal
   public items goes where is drawn at random.
3. *Joining.* A pair in which a sensitive item occurs twice is mixed, if that is not enough with other pairs that are
   chosen by what they hold; see ``joining``.

Why this tells nothing: step 2 does not depend on who is sensitive. Step 3 depends on it through what the records of
each pair hold, never through which records these are: who of those that hold the same goes where is drawn. It does not
know which pair is which, either, so exchanging what two of one set hold gives the same groups with the same
probability. Together, any member of a group can be moved to the place of any other.
``docs/algorithms/degree/blocks.md`` has the argument in full, and its limits.

Departures from the paper: all of it; only the form of the release is theirs.

The draws depend on the seed and on a digest of all records, so they are the same for the same data in any order, and
nobody who does not know all of it can repeat them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree import _blocks as kernels
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.gathering import gather, holders_of, pair_blocks
from setveil.algorithms.degree.groups import SUPPRESS_EXCESS, Split, narrow_rows, secret_draws, split_records
from setveil.algorithms.degree.joining import Parts, join_parts
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order
from setveil.releases import Grouping

EXCHANGES_PER_REPORT = 20_000  # exchanges tried between two progress reports
MOST_STEPS = 20_000_000  # exchanges tried in all, beyond one per record
FEWEST = 40  # blocks; fewer are not paired
SCALE = 1 << 16  # logarithms are compared as whole numbers of this fineness


@dataclass(frozen=True)
class BlocksOfRecords(Algorithm):
    """Groups that do not depend on who is sensitive."""

    reach: int = option(
        64, "candidates on either side in Gray order, per item of the record that starts a block", least=1
    )
    passes: int = option(2, "exchanges tried per record to make blocks more similar", least=0)
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Set the remainder aside, form blocks, join blocks."""
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        rng = secret_draws(split, context.seed)
        group_of = np.zeros(split.n_records, dtype=np.int64)
        width, n_blocks, n_over = plan(split)
        if not n_blocks:
            return split.release(group_of, {"blocks": 0})
        remainder = draw_remainder(split, n_over, rng)
        context.step("ordering")
        order = shuffle_equals(split.public, gray_order(split.public), rng)
        order = order[~np.isin(order, remainder)]
        rows = split.public.select(order)
        members = self._form_blocks(rows, split.p, context)
        if width > 1:
            members = pair_blocks(rows, members, self.reach, context)
        context.step("joining")
        parts = order[members].reshape(-1, width * split.p)
        groups = join_parts(Parts(parts, split.hidden, split.p), rng)
        for number, records in enumerate((*groups, remainder) if groups else ()):
            group_of[records] = number
        return split.release(group_of, {"blocks": n_blocks})

    def _form_blocks(self, rows: Transactions, size: int, context: Context) -> NDArray[np.int64]:
        """The records of each block, int64[blocks, size]: gathered around the longest, then improved by exchanges."""
        seeds = np.argsort(-rows.lengths, kind="stable")  # those with the most items first: they have the fewest likes
        gathered = gather(rows, size, seeds, self.reach, context).members.ravel().astype(np.int64)
        stored, holders = rows.select(gathered), holders_of(rows)  # records of a block side by side: fetched together
        place = np.empty(rows.n_records, dtype=np.int32)
        place[gathered] = numbers = np.arange(rows.n_records, dtype=np.int32)
        public, holders = narrow_rows(stored), Rows(holders.indptr, place[holders.items])
        assignment = kernels.BlockAssignment(numbers.reshape(-1, size).copy(), numbers // size, numbers % size)
        random = np.array([88172645463325252 + context.seed % 2**32], dtype=np.uint64)
        cost, n_records = surprise_table(size), rows.n_records
        n_steps = min(self.passes * n_records, max(n_records, MOST_STEPS)) if len(assignment.members) > 1 else 0
        for first in range(0, n_steps, n_records):
            for start in range(0, min(n_records, n_steps - first), EXCHANGES_PER_REPORT):
                context.step("exchanging records", (first + start) / n_steps)
                leavers = place[start : min(start + EXCHANGES_PER_REPORT, n_records, n_steps - first)]
                kernels.exchange_records(leavers, public, holders, cost, assignment, random)
        return gathered[assignment.members]


def plan(split: Split) -> tuple[int, int, int]:
    """Blocks that stand together from the start, blocks, and records that are left over and have to be silent.

    It depends on the numbers of records, of all and of silent ones. No blocks if there are too few silent ones.
    """
    n_silent = int((split.hidden.lengths == 0).sum())
    for width in (2, 1):
        n_over = split.n_records % (split.p * width)
        n_blocks = (split.n_records - n_over) // split.p
        if n_over <= n_silent and n_blocks >= (FEWEST if width > 1 else 1):
            return width, n_blocks, n_over
    return 1, 0, 0


def draw_remainder(split: Split, n_records: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """So many records without sensitive items, drawn at random."""
    silent = np.flatnonzero(split.hidden.lengths == 0)
    return np.sort(rng.choice(silent, n_records, replace=False))


def shuffle_equals(public: Transactions, order: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The order, with records of equal public items drawn in random sequence; they must stand side by side."""
    ranks = public.row_ranks()[order]
    run = np.concatenate(([0], np.cumsum(ranks[1:] != ranks[:-1])))
    shuffled: NDArray[np.int64] = order[np.lexsort((rng.random(len(order)), run))]
    return shuffled


def surprise_table(size: int) -> NDArray[np.int64]:
    """What an occurrence costs of an item that n of a block's records hold, int64[size + 2]: log2(size / n), scaled."""
    table = np.zeros(size + 2, dtype=np.int64)
    table[1:] = np.round(SCALE * np.log2(size / np.arange(1, size + 2)))
    return table
