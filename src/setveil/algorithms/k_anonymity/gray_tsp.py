"""Gray-TSP: Gray sort and a genetic search for short tours.

Xue, Karras, Raïssi, Vaidya, Tan: Anonymizing Set-Valued Data by Nonreciprocal Recoding, KDD 2012, as far as Lin, Liu,
Fournier-Viger, Hong: PTA, IEEE Access 2016, describe and compare with it.

Guarantee: every published set of non-sensitive items occurs in at least k records.
Preconditions: at least k records.
Cost: O(generations · s) for each segment of s records, memory O(n + s²); segments run side by side.

Records are sorted in Gray order and cut into segments; in each segment a genetic search that starts from the Gray
order looks for a short cyclic tour; neighbours on the tour are anonymized together.

Departures from the paper
1. The original publishes each record generalized with its successors on the tour, so that k original records fit it,
   but published records are not identical. The model here asks for identical records: the tour is opened at its
   longest edge (the first among equals) and cut into runs of k, the remainder in the last one, each replaced by its
   majority.
2. The genetic search is ours: pairs chosen by a draw of two, order crossover, a random stretch turned round, the
   longest tour replaced. It depends on the seed and on the number of the segment only.
3. Segments as in PTA: sizes differ by at most one, longer first, at most n/k of them.
4. Runs with fewer than l different sensitive items are merged if the model asks for l.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Algorithm, Context, option
from setveil.algorithms.k_anonymity._tours import evolve_loop
from setveil.algorithms.k_anonymity.centres import cut_into_runs, map_in_batches, prepare
from setveil.algorithms.k_anonymity.pta import count_segments, distances
from setveil.arrays.chance import chance_from
from setveil.core import Transactions
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import Replacement


@dataclass(frozen=True)
class GrayTSP(Algorithm):
    """Runs of k on tours found by a genetic search."""

    segments: int | None = option(None, "number of segments, instead of their size", least=1)
    segment_size: int = option(80, "records per segment", least=1)
    bits: str = option("frequency", "the order of items in the Gray code, most significant first", ("frequency", "id"))
    population: int = option(30, "tours kept by the genetic search", least=1)
    generations: int = option(5000, "children made by the genetic search, per segment", least=1)

    def run(self, data: Transactions, model: KAnonymity, context: Context) -> Replacement:
        """Sort, find tours, cut, vote."""
        records = prepare(data, model)
        n_segments = count_segments(self.segments, self.segment_size, data.n_records, model.k)
        if not data.n_records:
            return records.unchanged()
        context.step("Gray sort")
        order = gray_order(records.public, self.bits)
        parts = context.engine.partition(order, n_segments)  # record numbers
        shards = [(number, records.public.select(part)) for number, part in enumerate(parts)]
        search = partial(find_tour, population=self.population, generations=self.generations, seed=context.seed)
        tours = map_in_batches(context, "genetic search", search, shards, 32)
        class_of = np.empty(data.n_records, dtype=np.int64)
        n_classes = 0
        for part, tour in zip(parts, tours, strict=True):
            run = cut_into_runs(tour, model.k)
            class_of[part] = n_classes + run
            n_classes += int(run.max()) + 1
        return records.release(records.diverse(class_of), {"segments": n_segments})


def find_tour(shard: tuple[int, Transactions], population: int, generations: int, seed: int) -> NDArray[np.int64]:
    """A short tour through a segment, opened at its longest edge, as positions in the segment."""
    number, segment = shard
    distance = distances(segment)
    _, loop = evolve_loop(distance, population, generations, chance_from(seed, number))
    edges = distance[loop, np.roll(loop, -1)]  # the edge after each place
    return np.roll(loop, -int(np.argmax(edges)) - 1)
