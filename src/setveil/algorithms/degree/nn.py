"""NN: each record with a sensitive item is grouped with its p-1 nearest neighbours.

Ghinita, Kalnis, Tao: Anonymous Publication of Sensitive Transactional Data, TKDE 2011, section 4.1.

Guarantee: in every group each sensitive item belongs to at most one in p of the records.
Preconditions: no sensitive item in more than one in p of all records (or ``suppress_excess``).
Cost: per record with a sensitive item, the records that share a public item with it. That grows with the square of the
data; ``lsh`` and ``cahd`` do not.

Departures from the paper
1. A group is accepted if the remaining records meet the degree *without* it; the printed test uses the number of
   records before the group is removed, and leftovers may then not meet the degree.
2. A seed that finds fewer than p-1 neighbours stays ungrouped; the printed code does not say.
3. Neighbours are found exactly through an inverted index, not by scanning all records.
4. The distance is a choice: Hamming (the paper's), most items in common, Jaccard. Ties: smaller Hamming distance, then
   lower record number. Records are numbered, and seeds taken, in canonical order (by public, then by sensitive items):
   the paper takes them as they come, and then the groups depend on the order of the file.
5. ``suppress_excess`` takes occurrences out instead of refusing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.degree import _grouping as kernels
from setveil.algorithms.degree.groups import DISTANCES, SUPPRESS_EXCESS, Split, split_records
from setveil.core import Transactions
from setveil.models import PrivacyDegree
from setveil.releases import Grouping

SEEDS_PER_REPORT = 200  # seeds between two progress reports


@dataclass(frozen=True)
class NN(Algorithm):
    """Exact nearest neighbours."""

    distance: str = option("hamming", "the distance between records", DISTANCES)
    suppress_excess: bool = SUPPRESS_EXCESS

    def run(self, data: Transactions, model: PrivacyDegree, context: Context) -> Grouping:
        """NNGroup over all records with sensitive items, in canonical order."""
        context.step("feasibility")
        split = split_records(data, model, self.suppress_excess, context.seed)
        return split.release(group_by_neighbours(split, self.distance, no_tables(), context), {})


def no_tables() -> kernels.Tables:
    """Search among all records."""
    nothing = np.empty((0, 0), dtype=np.int64)
    return kernels.Tables(nothing, nothing, np.empty(0, dtype=np.int64))


def group_by_neighbours(split: Split, distance: str, tables: kernels.Tables, context: Context) -> NDArray[np.int64]:
    """The group of each record, -1 for leftovers, int64[n_records]."""
    public = kernels.Rows(split.public.indptr, split.public.items)
    hidden = kernels.Rows(split.hidden.indptr, split.hidden.items)
    search, state, seeds = _index_of(split.public), split.nothing_grouped(), split.telling
    kind = DISTANCES.index(distance)
    for first in range(0, len(seeds), SEEDS_PER_REPORT):
        context.step("grouping", first / len(seeds))
        some = (first, seeds[first : first + SEEDS_PER_REPORT])
        kernels.form_groups_by_neighbours(some, split.p, kind, public, hidden, search, tables, state)
    return state.group_of


def _index_of(public: Transactions) -> kernels.NeighbourIndex:
    """The inverted index and room for a search."""
    n_records = public.n_records
    indptr, records = public.inverted()
    shortest = np.argsort(public.lengths, kind="stable")
    place_short = np.empty(n_records, dtype=np.int64)
    place_short[shortest] = np.arange(n_records)
    return kernels.NeighbourIndex(
        indptr=indptr,
        ends=indptr[1:].copy(),
        records=records.astype(np.int64),
        shortest=shortest,
        place_short=place_short,
        next_short=np.arange(n_records + 1, dtype=np.int64),
        common=np.zeros(n_records, dtype=np.int64),
        found=np.empty(n_records, dtype=np.int64),
        distance=np.empty(n_records, dtype=np.float64),
        hamming=np.empty(n_records, dtype=np.int64),
    )
