"""Counts that reveal a small one: found, and repaired by suppressing listed sets.

A set Z of m + 1 listed items reveals an unlisted itemset in Z if all non-negative numbers of people in its cells that
agree with the published counts (rounding intervals, at most k - 1 people with an unlisted pair, the number of records)
give that itemset 1 to k - 1 people. ``docs/algorithms/counts/tally.md`` has the proof of which Z need not be looked
at: those in which no pair is exceeded by two of its triples, no item by its pairs, and the number of records not by the
items. HiGHS decides about the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.counts import _suspects as loops
from setveil.errors import InfeasibleError
from setveil.models import Counts

Numbers = NDArray[np.int64]
AT_ONCE = 1 << 20  # sets looked at together
MOST_ROUNDS = 200
NEAR = 1e-6


class Tables(NamedTuple):
    """Published counts by size; itemsets ascending, keys of itemsets ascending."""

    n_items: int
    n_records: int
    singles: Numbers
    pairs: Numbers
    pair_counts: Numbers
    triples: Numbers
    triple_counts: Numbers

    @property
    def look_up(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Keys and counts of pairs, and of triples."""
        pair_keys = self.pairs[:, 0] * self.n_items + self.pairs[:, 1]
        triple_keys = (self.triples[:, 0] * self.n_items + self.triples[:, 1]) * self.n_items + self.triples[:, 2]
        by_pair, by_triple = np.argsort(pair_keys), np.argsort(triple_keys)
        return pair_keys[by_pair], self.pair_counts[by_pair], triple_keys[by_triple], self.triple_counts[by_triple]


def sets_to_suppress(
    tables: Tables, is_repaired: bool, model: Counts, context: Context
) -> tuple[set[tuple[int, ...]], list[int]]:
    """Listed itemsets of two or three items to suppress, so that nothing is revealed, with every superset of each.

    Where counts of single items alone reveal something, also an item: then look again without it. ``is_repaired``:
    something was suppressed before.
    """
    gone: set[tuple[int, ...]] = set()
    if model.m == 1:
        return gone, []
    for _ in range(MOST_ROUNDS):
        offending = list(_offending(tables, is_repaired or bool(gone), model, context))
        if not offending:
            return gone, []
        fresh: set[tuple[int, ...]] = set()
        for items, parts in offending:
            listed = [
                (mask.bit_count(), -int(parts[mask]), mask)
                for mask in range(1, 1 << len(items)) if parts[mask] and mask.bit_count() > 1
            ]  # fmt: skip
            names = [tuple(item for at, item in enumerate(items) if mask >> at & 1) for *_, mask in sorted(listed)]
            if not names:  # the rarest item goes
                return gone, [min(items, key=lambda item: (int(tables.singles[item]), -item))]
            if not fresh.intersection(names):
                fresh.add(names[-1])  # of the largest sets the one that the fewest people have
        gone |= fresh
        tables, further = _without(tables, fresh)
        gone |= further
    raise InfeasibleError("too many counts reveal small ones; choose a larger k or r.", items=())


def _without(tables: Tables, gone: set[tuple[int, ...]]) -> tuple[Tables, set[tuple[int, ...]]]:
    """The tables without some itemsets and without what contains them; which these are."""
    kept_pairs = np.array([tuple(one) not in gone for one in tables.pairs.tolist()], dtype=bool)
    lost = [tuple(one) in gone or any(part in gone for part in combinations(one, 2)) for one in tables.triples.tolist()]
    kept_triples = ~np.array(lost, dtype=bool)
    further = {tuple(one) for one, is_lost in zip(tables.triples.tolist(), lost, strict=True) if is_lost}
    return (
        tables._replace(
            pairs=tables.pairs[kept_pairs],
            pair_counts=tables.pair_counts[kept_pairs],
            triples=tables.triples[kept_triples],
            triple_counts=tables.triple_counts[kept_triples],
        ),
        further,
    )


def _offending(
    tables: Tables, is_repaired: bool, model: Counts, context: Context
) -> Iterator[tuple[tuple[int, ...], Numbers]]:
    """Sets that reveal something, with the counts of their parts."""
    z = min(model.m + 1, tables.n_items)
    look_up, programs = tables.look_up, None
    given = tables.n_records, tables.n_items, model.k, model.r, tables.singles, *look_up
    for sets in _suspected(tables, z, model, context):
        context.step("looking for revealed counts")
        sets = np.sort(sets, axis=1)
        found = np.zeros((len(sets), 20), dtype=np.int64)
        n_found = loops.keep_suspects(np.ascontiguousarray(sets), *given, found)
        for row in np.unique(found[:n_found], axis=0):
            parts = tuple(row[: 1 << z].tolist())
            context.step("looking for revealed counts")
            programs = programs or Programs(z, tables.n_records, model)
            if programs.reveal(parts, is_repaired):
                yield tuple(row[16 : 16 + z].tolist()), row[:16]


def _suspected(tables: Tables, z: int, model: Counts, context: Context) -> Iterator[Numbers]:
    """Sets of z items that the shortcut does not clear, in runs of bounded size."""
    if z < 2:
        return
    if z == tables.n_items or z == 2:
        yield np.arange(tables.n_items, dtype=np.int64)[None, :z]
        return
    low_pair, high_pair = rounding_ends(tables.pair_counts, model)
    high_item = np.minimum(rounding_ends(tables.singles, model)[1], tables.n_records)
    needs = low_pair.copy()
    if len(tables.triples):
        for number, third, lows in _triples_of_pairs(tables, model):
            both = int(lows[:2].sum())
            needs[number] = min(max(needs[number], both), high_pair[number])
            if len(third) > 1 and both > high_pair[number]:
                yield from _grown(
                    lambda sets, n=number, t=third, v=lows: loops.join_above(
                        tables.pairs[n], t, v, int(high_pair[n]), 2, tables.n_items, sets
                    ), z
                )  # fmt: skip
    owner = np.concatenate((tables.pairs[:, 0], tables.pairs[:, 1]))
    other, need = np.concatenate((tables.pairs[:, 1], tables.pairs[:, 0])), np.concatenate((needs, needs))
    order = np.lexsort((other, -need, owner))
    bounds = np.searchsorted(owner[order], np.arange(tables.n_items + 1))
    for item in range(tables.n_items):
        inside = order[bounds[item] : bounds[item + 1]]
        if need[inside][: z - 1].sum() > high_item[item]:
            yield from _grown(
                lambda sets, i=item, some=inside: loops.join_above(
                    np.array([i]), other[some], need[some], int(high_item[i]), z - 1, tables.n_items, sets
                ), z
            )  # fmt: skip
    by_high = np.lexsort((np.arange(tables.n_items), -high_item))
    for first in range(tables.n_items):
        if z * high_item[by_high[first]] <= tables.n_records:
            break
        yield from _grown(
            lambda sets, f=first: loops.join_large(by_high, high_item[by_high], tables.n_records, z, f, sets), z
        )


def _grown(fill, z: int) -> Iterator[Numbers]:  # type: ignore[no-untyped-def]
    """What ``fill`` lists, with as much room as it needs."""
    sets = np.empty((4096, z), dtype=np.int64)
    n = fill(sets)
    if n > len(sets):
        sets = np.empty((n, z), dtype=np.int64)
        fill(sets)
    if n:
        yield sets[:n]


def _triples_of_pairs(tables: Tables, model: Counts) -> Iterator[tuple[int, Numbers, Numbers]]:
    """For each pair with triples: its place, the third items and the lower ends of the triples, descending."""
    keys = tables.pairs[:, 0] * tables.n_items + tables.pairs[:, 1]
    order = np.argsort(keys)
    lows = np.tile(rounding_ends(tables.triple_counts, model)[0], 3)
    parts = [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
    wanted = np.concatenate([tables.triples[:, a] * tables.n_items + tables.triples[:, b] for a, b, _ in parts])
    third = np.concatenate([tables.triples[:, c] for _, _, c in parts])
    owner = order[np.searchsorted(keys[order], wanted)]
    by_owner = np.lexsort((third, -lows, owner))
    owner, third, lows = owner[by_owner], third[by_owner], lows[by_owner]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    for start, end in zip(starts, np.append(starts[1:], len(owner)), strict=True):
        yield int(owner[start]), third[start:end], lows[start:end]


def rounding_ends(counts: Numbers, model: Counts) -> tuple[Numbers, Numbers]:
    """The smallest and the largest number of people that is published as each count."""
    is_least = counts == model.r * -(-model.k // model.r)
    return np.where(is_least, model.k, counts - model.r // 2), counts + (model.r + 1) // 2 - 1


class Programs:
    """The linear programs of sets of z items: cells are columns, parts are rows. HiGHS goes on from the last one."""

    def __init__(self, z: int, n_records: int, model: Counts) -> None:
        import highspy

        self.n_records, self.model = n_records, model
        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.inside = [[cell for cell in range(1 << z) if cell & part == part] for part in range(1 << z)]
        for _ in range(1 << z):
            self.solver.addVar(0.0, float(n_records))
        for cells in self.inside:
            self.solver.addRow(0.0, float(n_records), len(cells), np.array(cells, dtype=np.int32), np.ones(len(cells)))
        self.solver.changeRowBounds(0, float(n_records), float(n_records))
        self.infeasible, self.maximize = highspy.HighsModelStatus.kInfeasible, highspy.ObjSense.kMaximize
        self.minimize = highspy.ObjSense.kMinimize
        self.answers: dict[tuple[tuple[int, ...], bool], bool] = {}

    def reveal(self, parts: tuple[int, ...], is_repaired: bool) -> bool:
        """Whether published counts of the parts (by bits; 0: not listed) reveal a small count."""
        if (parts, is_repaired) not in self.answers:
            self.answers[parts, is_repaired] = self._solve(parts, is_repaired)
        return self.answers[parts, is_repaired]

    def _solve(self, parts: tuple[int, ...], is_repaired: bool) -> bool:
        k, r = self.model.k, self.model.r
        for part, count in enumerate(parts[1:], start=1):
            low, high = 0, k - 1 if part.bit_count() <= min(self.model.m, 2) else self.n_records
            if count:
                low = k if count == r * -(-k // r) else count - r // 2
                high = count + (r + 1) // 2 - 1
            self.solver.changeRowBounds(part, float(min(low, self.n_records)), float(min(high, self.n_records)))
        for part, count in enumerate(parts[1:], start=1):
            if count:
                continue
            minimum = self._extreme(part, self.minimize)
            if minimum is None:
                return not is_repaired
            if minimum > NEAR:
                maximum = self._extreme(part, self.maximize)
                if maximum is not None and np.floor(maximum + NEAR) < k:
                    return True
        return False

    def _extreme(self, part: int, sense: object) -> float | None:
        """The smallest or the largest number of people with a part; None if no numbers fit."""
        for cell in range(len(self.inside)):
            self.solver.changeColCost(cell, 1.0 if cell & part == part else 0.0)
        self.solver.changeObjectiveSense(sense)
        self.solver.run()
        if self.solver.getModelStatus() == self.infeasible:
            return None
        return float(self.solver.getObjectiveValue())
