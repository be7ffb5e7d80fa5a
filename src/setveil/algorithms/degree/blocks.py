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
record, each looking at two blocks; O(n) memory.

1. *The remainder.* n mod p records without sensitive items, drawn at random, are a group of their own, so that the
   others make whole blocks of p records.
2. *Blocks.* The record with the most public items takes those most like it (Jaccard), then the next one that is still
   free, and so on; then records change places between blocks while that brings records with the same public items
   together. Sensitive items are not looked at. Which of several records with equal public items goes where is drawn at
   random.
3. *Joining.* Blocks in which a sensitive item occurs twice are mixed with blocks without any sensitive item, which are
   drawn at random; see ``joining``. So groups have p records wherever that is possible.

Why this tells nothing: step 2 does not depend on who is sensitive. Step 3 depends on it through the numbers of
sensitive items per block alone, so exchanging members of a block changes nothing; and it treats blocks alike, so
exchanging two blocks of one set gives the same groups with the same probability. Together, any member of a group can be
moved to the place of any other. ``docs/algorithms/degree/blocks.md`` has the argument in full, and its limits.

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
from setveil.algorithms.degree import _gathering as gathering
from setveil.algorithms.degree._grouping import Rows
from setveil.algorithms.degree.groups import SUPPRESS_EXCESS, Split, secret_draws, split_records
from setveil.algorithms.degree.joining import Blocks, join_blocks
from setveil.core import Grouping, Transactions
from setveil.models import PrivacyDegree
from setveil.orderings import gray_order

SLICE = 20_000  # exchanges tried between two progress reports
MOST_STEPS = 20_000_000  # exchanges tried in all, beyond one per record
SCALE = 1 << 16  # logarithms are compared as whole numbers of this fineness


@dataclass(frozen=True)
class BlocksOfRecords(Algorithm):
    """Groups that do not depend on who is sensitive."""

    reach: int = option(64, "records looked at on either side, per item of the record that gathers a block", least=1)
    passes: int = option(5, "exchanges tried per record to make blocks more alike", least=0)
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """Set the remainder aside, form blocks, join blocks."""
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        rng = secret_draws(split, context.seed)
        n_blocks, n_over = divmod(split.n_records, split.p)
        remainder = draw_remainder(split, n_over, rng)
        group_of = np.zeros(split.n_records, dtype=np.int64)
        if remainder is None or not n_blocks:
            return split.release(group_of, {"blocks": 0})
        context.step("ordering")
        order = shuffle_equals(split.public, gray_order(split.public), rng)
        order = order[~np.isin(order, remainder)]
        members = order[self._form_blocks(split.public.select(order), split.p, context)]
        context.step("joining")
        groups = join_blocks(Blocks(members, split.hidden), rng)
        for number, records in enumerate((*groups, remainder) if groups else ()):
            group_of[records] = number
        return split.release(group_of, {"blocks": n_blocks})

    def _form_blocks(self, rows: Transactions, size: int, context: Context) -> NDArray[np.int64]:
        """The records of each block, int64[blocks, size]: gathered around the longest, then improved by exchanges."""
        index = rows.inverted()
        public, holders = Rows(rows.indptr, rows.items), Rows(index[0], index[1])  # type: ignore[arg-type]
        seating = self._gather(rows, public, holders, size, context)
        zeros = [np.zeros(rows.n_items, dtype=np.int64) for _ in range(5)]
        tallies, is_own = (kernels.Tally(*zeros[:2]), kernels.Tally(*zeros[2:4])), zeros[4]
        random = np.array([88172645463325252 + context.seed % 2**32], dtype=np.uint64)
        cost, n_records = surprise_table(size), rows.n_records
        n_steps = min(self.passes * n_records, max(n_records, MOST_STEPS)) if len(seating.members) > 1 else 0
        for first in range(0, n_steps, n_records):
            for start in range(0, min(n_records, n_steps - first), SLICE):
                context.step("exchanging records", (first + start) / n_steps)
                span = (start, min(start + SLICE, n_records, n_steps - first))
                kernels.exchange_records(span, public, holders, cost, seating, tallies, is_own, random)
        return seating.members

    def _gather(self, rows: Transactions, public: Rows, holders: Rows, size: int, context: Context) -> kernels.Seating:
        """Blocks of similar records, those with the most items first: they have the fewest likes."""
        n_records = rows.n_records
        seating = seat_nobody(n_records, size)
        free, room = all_free(rows), room_for(rows)
        seeds = np.argsort(-rows.lengths, kind="stable")
        n_blocks = 0
        for start in range(0, n_records, SLICE):
            context.step("gathering similar records", start / n_records)
            some = seeds[start : start + SLICE]
            n_blocks = gathering.gather_blocks(some, n_blocks, self.reach, public, holders, free, room, seating)
        return seating


def draw_remainder(split: Split, n_records: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """So many records without sensitive items, drawn at random; None if there are not enough."""
    silent = np.flatnonzero(split.hidden.lengths == 0)
    return np.sort(rng.permutation(silent)[:n_records]) if n_records <= len(silent) else None


def shuffle_equals(public: Transactions, order: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """The order, with records of equal public items drawn in random sequence; they must stand side by side."""
    ranks = public.row_ranks()[order]
    run = np.concatenate(([0], np.cumsum(ranks[1:] != ranks[:-1])))
    shuffled: NDArray[np.int64] = order[np.lexsort((rng.random(len(order)), run))]
    return shuffled


def seat_nobody(n_records: int, size: int) -> kernels.Seating:
    """Blocks of this size with nobody in them."""
    nobody = np.full(n_records, -1, dtype=np.int64)
    return kernels.Seating(nobody.reshape(-1, size).copy(), nobody.copy(), nobody.copy())


def all_free(rows: Transactions) -> gathering.Free:
    """No record is in a block."""
    by_item = np.argsort(rows.items, kind="stable")
    place = np.empty(rows.n_occurrences, dtype=np.int64)
    place[by_item] = np.arange(rows.n_occurrences)
    holders, records = np.arange(rows.n_occurrences + 1), np.arange(rows.n_records + 1)
    return gathering.Free(place, holders, holders.copy(), records, records.copy())


def room_for(rows: Transactions) -> gathering.Room:
    """Room for a search among these records."""
    return gathering.Room(
        seen=np.full(rows.n_records, -1, dtype=np.int64),
        found=np.empty(rows.n_records, dtype=np.int64),
        likeness=np.empty(rows.n_records, dtype=np.float64),
        is_own=np.zeros(rows.n_items, dtype=np.int64),
    )


def surprise_table(size: int) -> NDArray[np.int64]:
    """What an occurrence costs of an item that n of a block's records hold, int64[size + 2]: log2(size / n), scaled."""
    table = np.zeros(size + 2, dtype=np.int64)
    table[1:] = np.round(SCALE * np.log2(size / np.arange(1, size + 2)))
    return table
