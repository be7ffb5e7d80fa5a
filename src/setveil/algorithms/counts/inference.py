# mypy: disable-error-code="call-arg"
"""Counts that reveal a small one: found, and repaired by suppressing listed sets.

A set Z of m + 1 listed items reveals an unlisted itemset in Z if all non-negative numbers of people in its cells that
agree with the published counts (rounding intervals, at most k - 1 people with an unlisted pair, the number of records)
give that itemset 1 to k - 1 people. An unlisted triple has at most ``few`` people, or about as
many as its rarest pair. ``docs/algorithms/counts/tally.md`` has the proof of which Z need not be looked
at: those in which no pair is exceeded by two of its triples, no item by its pairs, and the number of records not by the
items. HiGHS decides about the others, unless they are too many: then the table is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.counts import _suspects as loops
from setveil.errors import InfeasibleError
from setveil.models import Counts

Numbers = NDArray[np.int64]
AT_ONCE = 1 << 20  # sets looked at between two chances to stop
MOST_ROUNDS = 200
MOST_LOOKED, MOST_PROGRAMS = 60_000_000, 50_000  # sets of items looked at, and linear programs, in one search
MOST_FOUND = 20 * MOST_PROGRAMS  # a set can be found several times
NEAR = 1e-6


class Tables(NamedTuple):
    """Published counts by size; each itemset ascending."""

    n_items: int
    n_records: int
    few: int  # the most people of an unlisted triple that is not as frequent as one of its pairs
    singles: Numbers
    pairs: Numbers
    pair_counts: Numbers
    triples: Numbers
    triple_counts: Numbers

    @property
    def look_up(self) -> tuple[Numbers, Numbers]:
        """Counts of items, and keys and counts of pairs and triples, as ``loops.count_parts`` looks them up."""
        pair_keys = self.pairs[:, 0] * self.n_items + self.pairs[:, 1]
        first, second, third = self.triples.T
        new = np.concatenate((pair_keys, ((first + 1) * self.n_items + second) * self.n_items + third))
        table = np.full((1 << (2 * len(new) + 1).bit_length(), 2), -1, dtype=np.int64)
        loops.enter_counts(new, np.concatenate((self.pair_counts, self.triple_counts)), table)
        return np.column_stack((self.singles, np.ones_like(self.singles))), table


def sets_to_suppress(
    tables: Tables, is_repaired: bool, model: Counts, context: Context
) -> tuple[set[tuple[int, ...]], list[int]]:
    """Listed itemsets of two or three items to suppress, so that nothing is revealed, with every superset of each.

    Where counts of single items alone reveal something, also an item: then look again without it. ``is_repaired``:
    something was suppressed before.
    """
    gone: set[tuple[int, ...]] = set()
    programs: dict[int, Programs] = {}
    # Sets of three items first: what they reveal, they reveal with every fourth item.
    for z in sorted({min(size, tables.n_items) for size in range(3, model.m + 2)}) if model.m > 1 else ():
        is_changed = np.ones(tables.n_items, dtype=np.uint8)
        for _ in range(MOST_ROUNDS):
            fresh: set[tuple[int, ...]] = set()
            for items, parts in _offending(tables, z, is_changed, is_repaired or bool(gone), programs, model, context):
                listed = [
                    (mask.bit_count(), -int(parts[mask]), mask)
                    for mask in range(1, 1 << len(items)) if parts[mask] and mask.bit_count() > 1
                ]  # fmt: skip
                names = [tuple(item for at, item in enumerate(items) if mask >> at & 1) for *_, mask in sorted(listed)]
                if not names:  # the rarest item goes
                    return gone, [min(items, key=lambda item: (int(tables.singles[item]), -item))]
                if not fresh.intersection(names):
                    fresh.add(names[-1])  # of the largest sets the one that the fewest people have
            if not fresh:
                break
            gone |= fresh
            tables, further = _without(tables, fresh)
            gone |= further
            # Sets without a suppressed part have the same counts as before, and suppressing makes none suspected.
            is_changed[:] = 0
            is_changed[[item for one in fresh for item in one]] = 1
        else:
            raise InfeasibleError("too many counts reveal small ones; choose a larger k or r.", items=())
    return gone, []


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
    tables: Tables, z: int, is_changed: NDArray[np.uint8], is_repaired: bool, programs: dict[int, Programs],
    model: Counts, context: Context,
) -> Iterator[tuple[tuple[int, ...], Numbers]]:  # fmt: skip
    """Sets of z items that reveal something, with the counts of their parts; at least two items have changed."""
    if z < 2:
        return
    if z not in programs:
        programs[z] = Programs(z, tables.n_records, tables.few, model)
    found, n_found = [np.empty((0, 20), dtype=np.int64)], 0
    for some in _suspected(tables, z, is_changed, model, context):
        found.append(np.unique(some, axis=0))
        n_found += len(found[-1])
        if n_found > MOST_PROGRAMS:
            raise too_dense(model)
    for row in np.unique(np.concatenate(found), axis=0):
        context.step("looking for revealed counts")
        if len(programs[z].answers) > MOST_PROGRAMS:  # in all rounds
            raise too_dense(model)
        if programs[z].reveal(tuple(row[: 1 << z].tolist()), is_repaired):
            yield tuple(row[16 : 16 + z].tolist()), row[:16]


def _suspected(
    tables: Tables, z: int, is_changed: NDArray[np.uint8], model: Counts, context: Context
) -> Iterator[Numbers]:
    """Sets of z items that the shortcut does not clear, with the counts of their parts, int64[sets, 20]."""
    of_items, table = tables.look_up
    of_items[:, 1] = is_changed
    if z == tables.n_items or z == 2:
        row = np.zeros((1, 20), dtype=np.int64)
        row[0, 16 : 16 + z] = np.arange(z)
        row[0, : 1 << z] = part_counts(row[0, 16 : 16 + z], of_items, table)
        yield row
        return
    numbers = np.array([tables.n_records, z, model.k, model.r, tables.few, 0, MOST_LOOKED], dtype=np.int64)
    given = numbers, of_items, table
    low_pair, high_pair = rounding_ends(tables.pair_counts, model)
    high_item = np.minimum(rounding_ends(tables.singles, model)[1], tables.n_records)
    bounds, third, lows = _triples_of_pairs(tables, model)
    padded, n_triples = np.concatenate((lows, (0, 0))), np.diff(bounds)
    both = np.where(n_triples > 0, padded[bounds[:-1]], 0) + np.where(n_triples > 1, padded[bounds[:-1] + 1], 0)
    needs = np.minimum(np.maximum(low_pair, both), high_pair)
    if z == 4:
        near = np.column_stack((third, lows))
        yield from _joined(tables.pairs, bounds, near, high_pair, both > high_pair, given, model, context)
    owner = np.concatenate((tables.pairs[:, 0], tables.pairs[:, 1]))
    other, need = np.concatenate((tables.pairs[:, 1], tables.pairs[:, 0])), np.concatenate((needs, needs))
    order = np.lexsort((other, -need, owner))
    near, need = np.column_stack((other[order], need[order])), need[order]
    bounds = np.searchsorted(owner[order], np.arange(tables.n_items + 1))
    sums = np.concatenate(([0], np.cumsum(need)))
    together = sums[np.minimum(bounds[:-1] + z - 1, bounds[1:])] - sums[bounds[:-1]]
    items = np.arange(tables.n_items, dtype=np.int64)[:, None]
    yield from _joined(items, bounds, near, high_item, together > high_item, given, model, context)
    by_high = np.lexsort((items[:, 0], -high_item))
    for first in range(tables.n_items):
        if z * high_item[by_high[first]] <= tables.n_records:
            break
        context.step("looking for revealed counts")
        yield _grown(
            lambda found, f=first: loops.join_large(by_high, high_item[by_high], f, *given, found), numbers, model
        )


def _joined(
    fixed: Numbers, bounds: Numbers, near: Numbers, limits: Numbers, is_above: NDArray[np.bool_],
    given: Any, model: Counts, context: Context,
) -> Iterator[Numbers]:  # fmt: skip
    """The suspects of those rows of ``fixed`` that are above their limit, a few rows at a time."""
    rows = np.flatnonzero(is_above)
    work = np.cumsum(np.diff(bounds)[rows].astype(np.float64) ** 2)
    for some in np.split(rows, np.flatnonzero(np.diff((work // AT_ONCE).astype(np.int64))) + 1):
        context.step("looking for revealed counts")
        arrays = fixed, some, bounds, near, limits
        yield _grown(lambda found, a=arrays: loops.join_above(*a, *given, found), given[0], model)


def _grown(fill, numbers: Numbers, model: Counts) -> Numbers:  # type: ignore[no-untyped-def]
    """What ``fill`` lists, with as much room as it needs. Refused if too many sets would have to be looked at."""
    n_looked, n_room = numbers[loops.LOOKED], 4096
    while True:
        found = np.zeros((n_room, 20), dtype=np.int64)
        numbers[loops.LOOKED] = n_looked
        n = fill(found)
        if numbers[loops.LOOKED] > MOST_LOOKED or n > MOST_FOUND:
            raise too_dense(model)
        if n <= n_room:
            return found[:n]
        n_room = n


def too_dense(model: Counts) -> InfeasibleError:
    """Refused, because a table that cannot be checked completely must not be published."""
    advice = "choose m=2, or a larger k" if model.m == 3 else "choose a larger k"
    return InfeasibleError(
        f"the data is too dense for counts of {model.m} items: in too many sets of {model.m + 1} items, counts are "
        "near to each other or to the number of records, so that it cannot be checked what they reveal together; "
        f"{advice}.",
        items=(),
    )


def _triples_of_pairs(tables: Tables, model: Counts) -> tuple[Numbers, Numbers, Numbers]:
    """For each pair the bounds of its triples, their third items and their lower ends, which descend."""
    keys = tables.pairs[:, 0] * tables.n_items + tables.pairs[:, 1]
    order = np.argsort(keys)
    lows = np.tile(rounding_ends(tables.triple_counts, model)[0], 3)
    parts = [(0, 1, 2), (0, 2, 1), (1, 2, 0)]
    wanted = np.concatenate([tables.triples[:, a] * tables.n_items + tables.triples[:, b] for a, b, _ in parts])
    third = np.concatenate([tables.triples[:, c] for _, _, c in parts])
    owner = order[np.searchsorted(keys[order], wanted)]
    by_owner = np.lexsort((third, -lows, owner))
    bounds = np.searchsorted(owner[by_owner], np.arange(len(tables.pairs) + 1))
    return bounds, third[by_owner], lows[by_owner]


def part_counts(chosen: Numbers, of_items: Numbers, table: Numbers) -> tuple[int, ...]:
    """The published count of every part of a set (ascending) by its bits; 0 where it is not listed."""
    parts = np.zeros(16, dtype=np.int64)
    loops.count_parts(chosen, of_items, table, parts)
    return tuple(parts[: 1 << len(chosen)].tolist())


def rounding_ends(counts: Numbers, model: Counts) -> tuple[Numbers, Numbers]:
    """The smallest and the largest number of people that is published as each count."""
    is_least = counts == model.r * -(-model.k // model.r)
    return np.where(is_least, model.k, counts - model.r // 2), counts + (model.r + 1) // 2 - 1


class Programs:
    """The linear programs of sets of z items: cells are columns, parts are rows. HiGHS goes on from the last one."""

    def __init__(
        self, z: int, n_records: int, few: int, model: Counts, people: tuple[Numbers, Numbers] | None = None
    ) -> None:
        """``people``: the fewest and the most who have at least 1 … z of the items."""
        import highspy

        self.n_records, self.few, self.model = n_records, few, model
        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.setOptionValue("output_flag", False)
        self.solver.setOptionValue("threads", 1)
        self.inside = [[cell for cell in range(1 << z) if cell & part == part] for part in range(1 << z)]
        for _ in range(1 << z):
            self.solver.addVar(0.0, float(n_records))
        for cells in self.inside:
            self.solver.addRow(0.0, float(n_records), len(cells), np.array(cells, dtype=np.int32), np.ones(len(cells)))
        self.solver.changeRowBounds(0, float(n_records), float(n_records))
        for least, (fewest, most) in enumerate(zip(*people, strict=True) if people else (), start=1):
            cells = [cell for cell in range(1 << z) if cell.bit_count() >= least]
            numbers = np.array(cells, dtype=np.int32), np.ones(len(cells))
            self.solver.addRow(float(fewest), float(most), len(cells), *numbers)
        self.infeasible, self.maximize = highspy.HighsModelStatus.kInfeasible, highspy.ObjSense.kMaximize
        self.minimize = highspy.ObjSense.kMinimize
        self.answers: dict[tuple[tuple[int, ...], bool], bool] = {}

    def reveal(self, parts: tuple[int, ...], is_repaired: bool) -> bool:
        """Whether published counts of the parts (by bits; 0: not listed) reveal a small count."""
        if (parts, is_repaired) not in self.answers:
            self.answers[parts, is_repaired] = self._solve(parts, is_repaired)
        return self.answers[parts, is_repaired]

    def _solve(self, parts: tuple[int, ...], is_repaired: bool) -> bool:
        found = self._is_revealed(parts, self._cases(parts))
        if found is None and is_repaired:  # unlisted parts were suppressed: they can have any number of people
            anything = {part: self._ends(count, self.n_records) for part, count in enumerate(parts) if part}
            found = self._is_revealed(parts, [anything])
        return found is not False

    def _is_revealed(self, parts: tuple[int, ...], cases: Iterable[dict[int, tuple[int, int]]]) -> bool | None:
        """Whether an unlisted part has 1 to k - 1 people in all cases; None if no numbers fit any case."""
        left = {part for part, count in enumerate(parts) if part and not count}
        is_possible = False
        for case in cases:
            for part, (low, high) in case.items():
                self.solver.changeRowBounds(part, float(min(low, self.n_records)), float(min(high, self.n_records)))
            singles = (({part}, sense) for part in sorted(left) for sense in (self.minimize, self.maximize))
            for asked, sense in chain(((left, self.maximize), (left, self.minimize)), singles):
                if not asked & left:
                    continue
                people = self._people(asked, sense)
                if people is None:
                    break
                is_possible = True  # every solution shows something about all parts
                left -= {part for part in left if people[part] <= NEAR or np.floor(people[part] + NEAR) >= self.model.k}
            if not left:
                return False
        return True if is_possible else None

    def _cases(self, parts: tuple[int, ...]) -> Iterator[dict[int, tuple[int, int]]]:
        """Intervals of the numbers of people that the parts can have; unlisted triples can have few or many."""
        k, n = self.model.k, self.n_records
        choices: dict[int, list[tuple[int, int]]] = {}
        for part, count in enumerate(parts[1:], start=1):
            few = k - 1 if part.bit_count() <= min(self.model.m, 2) else n
            choices[part] = [self._ends(count, few)]
            if part.bit_count() == 3 and not count:
                rarest = min(parts[part ^ 1 << item] for item in range(4) if part >> item & 1)
                low, _ = self._ends(rarest, 0)
                if max(low, k) > self.few + 1:
                    choices[part] = [(0, self.few), (max(low, k), n)]
        for chosen in product(*choices.values()):
            yield dict(zip(choices, chosen, strict=True))

    def _ends(self, count: int, most: int) -> tuple[int, int]:
        """The numbers of people that are published as a count, or those of an unlisted part."""
        k, r = self.model.k, self.model.r
        if not count:
            return 0, most
        return k if count == r * -(-k // r) else count - r // 2, count + (r + 1) // 2 - 1

    def _people(self, asked: set[int], sense: object) -> list[float] | None:
        """How many people have each part where those with the parts asked for are together fewest or most; None if no
        numbers fit.
        """
        for cell in range(len(self.inside)):
            self.solver.changeColCost(cell, float(sum(cell & part == part for part in asked)))
        self.solver.changeObjectiveSense(sense)
        self.solver.run()
        if self.solver.getModelStatus() == self.infeasible:
            return None
        return list(self.solver.getSolution().row_value)
