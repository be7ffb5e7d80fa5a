"""PTA: Gray sort, shortest loops, majority votes.

Lin, Liu, Fournier-Viger, Hong: PTA: An Efficient System for Transaction Database Anonymization, IEEE Access 2016.

Guarantee: every published set of non-sensitive items occurs in at least k records.
Preconditions: at least k records.
Cost: O(n · s²) for n records in segments of s, memory O(n + s²); segments run side by side. With ``leftovers=all``
besides O(leftovers · classes), quadratic in the records.

Departures from the paper
1. PrimTSP adds the true edge before it moves an end, and the closing edge, as section V does; Algorithm 1 adds the
   distance from a node to itself. The last free node joins the star end.
2. Ties: the lowest position, the first start, the first group, the first class.
3. Leftovers join the nearest equivalence class (Algorithm 3 says "∈ MG"), by default of their segment, so that the
   cost stays linear: Algorithm 3 goes through one segment at a time. With ``leftovers=all`` they choose among the
   classes of all segments, as section IV-C can be read. Distances are between rows.
4. Segments differ in size by at most one, longer first, and there are at most n/k of them: in a smaller segment a group
   would wrap around and count records twice.
5. With ``recentre``, members who joined a class as leftovers vote, too.
6. Segments are given by size, so that the cost stays linear; ``segments`` gives their number, as in the paper.
7. Classes with equal centres are counted as one; classes with fewer than l different sensitive items are merged if the
   model asks for l.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.k_anonymity._centres import find_nearest
from setveil.algorithms.k_anonymity._tours import (
    choose_windows,
    find_loop,
    measure_distances,
    pack_segment,
    score_windows,
)
from setveil.algorithms.k_anonymity.centres import Records, map_in_batches, prepare
from setveil.algorithms.k_anonymity.shards import Solved, replace_distributed, shard_bounds, shard_records
from setveil.core import Transactions
from setveil.engines.distributed import DistributedDataset
from setveil.errors import InputError
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import Replacement

LARGEST_SEGMENT = 20_000  # its distances take 5 GB
DISTANCES_AT_ONCE = 200_000_000  # distances looked at per shard
NEAREST = 2_000_000  # centres looked at between two reports of progress


class Starts(NamedTuple):
    """Some start nodes of a segment."""

    segment: Transactions
    first: int
    last: int


@dataclass(frozen=True)
class PTA(Algorithm):
    """Pre-processing, travelling salesman, anonymization."""

    segments: int | None = option(None, "number of segments, instead of their size", least=1)
    segment_size: int = option(80, "records per segment", least=1)
    bits: str = option("frequency", "the order of items in the Gray code, most significant first", ("frequency", "id"))
    leftovers: str = option(
        "segment", "the classes that leftovers may join: those of their segment, or all", ("segment", "all")
    )
    recentre: bool = option(False, "vote again after the leftovers have joined")

    def run(self, data: Transactions, model: KAnonymity, context: Context) -> Replacement:
        """Pre-processing module, TSP module, anonymization module."""
        records = prepare(data, model)
        n_segments = count_segments(self.segments, self.segment_size, data.n_records, model.k)
        if not data.n_records:
            return records.unchanged()
        context.step("Gray sort")
        order = gray_order(records.public, self.bits)
        parts = context.engine.partition(order, n_segments)  # record numbers
        segments = [records.public.select(part) for part in parts]
        loops = prim_tsp(segments, context)
        founders = np.empty(data.n_records, dtype=np.int64)  # the class a record founds, -1 for leftovers
        segment_of = np.empty(data.n_records, dtype=np.int64)
        bounds = np.zeros(n_segments + 1, dtype=np.int64)  # classes of each segment
        for number, (part, segment, loop) in enumerate(zip(parts, segments, loops, strict=True)):
            if number % 1000 == 0:
                context.step("map and majority vote", number / n_segments)
            window = equivalence_classes(segment, loop, model.k)
            bounds[number + 1] = bounds[number] + window.max() + 1
            founders[part[loop]] = np.where(window < 0, -1, bounds[number] + window)
            segment_of[part] = number
        if self.leftovers == "all":
            segment_of[:], bounds = 0, bounds[[0, -1]]
        class_of, centres = add_leftovers(records, founders, segment_of, bounds, context)
        details = {"segments": n_segments, "leftovers": int((founders < 0).sum())}
        if model.l > 1:
            return records.release(records.diverse(class_of), details)
        return records.release(class_of, details, None if self.recentre else centres)

    def run_distributed(self, data: DistributedDataset, model: KAnonymity, context: Context) -> Replacement:
        """The same, segment by segment where the records are."""
        if self.leftovers == "all":
            raise InputError("leftovers=all compares all segments; use leftovers=segment on Spark, or --engine local.")
        n_segments = count_segments(self.segments, self.segment_size, data.n_records, model.k)
        bounds = shard_bounds(data.n_records, n_segments)
        solve = partial(solve_segment, k=model.k, recentre=self.recentre)
        release, counted = replace_distributed(data, model, bounds, solve, self.bits)
        details = {"segments": n_segments, "leftovers": counted["leftovers"]}
        return replace(release, details={**release.details, **details})


def solve_segment(segment: Transactions, k: int, recentre: bool) -> Solved:
    """One segment alone: the class of each record, the centres, and how many leftovers there were."""
    context, records = Context(), shard_records(segment, k)
    (loop,) = prim_tsp([segment], context)
    window = equivalence_classes(segment, loop, k)
    founders = np.empty(segment.n_records, dtype=np.int64)
    founders[loop] = window
    records = replace(records, order=np.arange(segment.n_records), public=segment)  # in the order of the loop
    bounds = np.array([0, window.max() + 1])
    class_of, centres = add_leftovers(records, founders, np.zeros(segment.n_records, dtype=np.int64), bounds, context)
    return class_of, records.vote(class_of) if recentre else centres, {"leftovers": int((founders < 0).sum())}


def count_segments(segments: int | None, segment_size: int, n_records: int, k: int) -> int:
    """How many segments there are, none of them smaller than k."""
    wanted = -(-n_records // segment_size) if segments is None else segments
    n_segments = max(min(wanted, n_records // k), 1)
    size = -(-n_records // n_segments)
    if size > LARGEST_SEGMENT:
        raise InputError(
            f"a segment of {size:,} records needs too much memory; use at least "
            f"{-(-n_records // LARGEST_SEGMENT):,} segments."
        )
    return n_segments


def prim_tsp(segments: list[Transactions], context: Context) -> list[NDArray[np.int64]]:
    """Algorithm 1: for each segment the shortest loop over all start nodes, as positions in the segment."""
    work = []
    for segment in segments:
        n = segment.n_records
        step = max(DISTANCES_AT_ONCE // n**2, 1)
        work += [Starts(segment, first, min(first + step, n)) for first in range(0, n, step)]
    n_each = max(DISTANCES_AT_ONCE // segments[0].n_records ** 3, 1)
    loops: list[NDArray[np.int64]] = []
    shortest = -1
    for starts, (length, loop) in zip(
        work, map_in_batches(context, "shortest loops", _loop_from, work, n_each), strict=True
    ):
        if starts.first == 0:
            loops.append(loop)
            shortest = length
        elif length < shortest:
            loops[-1], shortest = loop, length
    return loops


def _loop_from(starts: Starts) -> tuple[int, NDArray[np.int64]]:
    return find_loop(distances(starts.segment), starts.first, starts.last)


def distances(segment: Transactions) -> NDArray[np.int32]:
    """The Hamming distance matrix of a segment, int32[n, n]."""
    everything = np.arange(segment.n_records)
    return measure_distances(pack_segment(segment.indptr, segment.items, segment.n_items, everything))


def map_groups(segment: Transactions, loop: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Algorithm 2, mapping: where on the loop the group of each node begins, int64[n].

    A group are k neighbours with the node in the middle; with an even k it reaches one further to the side whose end is
    nearer to the node, to the right if both are equally near.
    """
    n = len(loop)
    reach = k // 2
    middle = np.arange(n)
    start = (middle - reach) % n
    if k % 2:
        return start
    left, right = loop[start], loop[(middle + reach) % n]
    return np.where(_distance(segment, left, loop) < _distance(segment, right, loop), start, (start + 1) % n)


def _distance(segment: Transactions, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Hamming distances between the records a[j] and b[j]."""
    width = max(segment.n_items, 1)
    one, other = segment.select(a), segment.select(b)
    common = np.intersect1d(one.owners * width + one.items, other.owners * width + other.items, assume_unique=True)
    return one.lengths + other.lengths - 2 * np.bincount(common // width, minlength=len(a))


def equivalence_classes(segment: Transactions, loop: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Algorithm 3, lines 3 to 12: the class each place of the loop founds, -1 for leftovers, int64[n]."""
    loss = score_windows(segment.indptr, segment.items, segment.n_items, loop, k)
    return choose_windows(map_groups(segment, loop, k), loss, k)


def add_leftovers(
    records: Records,
    founders: NDArray[np.int64],
    segment_of: NDArray[np.int64],
    bounds: NDArray[np.int64],
    context: Context,
) -> tuple[NDArray[np.int64], Transactions]:
    """Algorithm 3, lines 13 to 15: leftovers join the class with the nearest centre; ``bounds`` are the classes of a
    segment.
    """
    centres = records.vote(founders)
    left = np.flatnonzero(founders < 0)
    class_of = founders.copy()
    n_each = max(NEAREST // max(int(np.diff(bounds).max()), 1), 1)
    for first in range(0, len(left), n_each):
        context.step("leftovers", first / len(left))
        some = left[first : first + n_each]
        class_of[some] = find_nearest(
            records.public.indptr,
            records.public.items,
            some,
            bounds[segment_of[some]],
            bounds[segment_of[some] + 1],
            centres.indptr,
            centres.items,
        )
    return class_of, centres
