"""What tables of counts reveal beyond their guarantee: python -m benchmarks.counts_together [FILE …] [-k 5].

`verify` looks at every set of m + 1 listed items. Here attackers look at more items, or at two tables.

Without a file: *every* original of a few people over one or two items more than m + 1. An attacker lists all originals
of a table that `verify` accepts; counted are the originals where this shows that 1 to k - 1 people have an unlisted
set of at most m items.

With files: releases of real data. *More items*: the sets of m + 2 and m + 3 items with the narrowest counts. A linear
program says whether nobody need have any unlisted set (*plain*). For the others integer programs say whether an
unlisted set of at most m items must have 1 to k - 1 people. *Two tables of the same people* (with k and r, and with
another r) are looked at in the same way. *One person less*: a table of everybody and one without one person; what
changes is an itemset of that person.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

import setveil as sv
from setveil.algorithms.counts.tally import round_counts
from setveil.core import Transactions
from setveil.releases import CountTable
from setveil.verify.count_inference import Listed, find_revealed

TINY = [(4, 5, 2, 2), (4, 6, 2, 2), (4, 7, 3, 2), (5, 5, 2, 3)]
NEAR, LOOKED = 4, 2_000  # further candidates for a place; sets by rank and at random
PROGRAMS = 200  # sets that are not plain for which integer programs are solved
LEFT = 200  # people of whom each is left out of a second table
SMALL = 1e-6

Longs = NDArray[np.int64]
Set = tuple[int, ...]


# -- tiny data: every original -----------------------------------------------------------------------------------------


class Tiny(NamedTuple):
    """All data of a few people over a few items, by their published tables."""

    tables: Longs  # [tables, parts] counts of all parts of the items, by their bits; 0: not listed
    n_originals: Longs  # [tables]
    revealed: NDArray[np.bool_]  # [tables, parts] all originals have 1 to k - 1 people with it
    sizes: Longs  # [parts] items


def enumerate_originals(n_items: int, n: int, k: int, m: int) -> Tiny:
    """Tables with r=k that list all items, before anything is suppressed."""
    masks = np.arange(1, 1 << n_items)
    sizes = np.array([int(mask).bit_count() for mask in masks])
    inside = ((np.arange(1 << n_items)[:, None] & masks) == masks).astype(np.int8)
    supports, last = np.zeros((1, len(masks)), dtype=np.int8), np.zeros(1, dtype=np.int64)
    for _ in range(n):  # one person more, with a record that does not come before that of the last one
        grown = [(supports[last <= cell] + inside[cell], int((last <= cell).sum())) for cell in range(1 << n_items)]
        supports = np.concatenate([people for people, _ in grown])
        last = np.repeat(np.arange(1 << n_items), [number for _, number in grown])
    counts = np.where(supports >= k, round_counts(supports.astype(np.int64), k, k), 0).astype(np.int8)
    counts[:, sizes > m] = 0
    for at in np.flatnonzero(sizes == 3):
        pairs = [(int(masks[at]) ^ 1 << item) - 1 for item in range(n_items) if masks[at] >> item & 1]
        counts[:, at] *= counts[:, at] < counts[:, pairs].min(axis=1)
    is_whole = (counts[:, sizes == 1] > 0).all(axis=1)
    counts, supports = counts[is_whole], supports[is_whole]
    keys = np.ascontiguousarray(counts).view([("", np.int8)] * len(masks)).ravel()
    found, owner = np.unique(keys, return_inverse=True)
    tables = found.view(np.int8).reshape(len(found), -1).astype(np.int64)
    is_harmless = tables > 0
    for part in range(len(masks)):
        is_many = (supports[:, part] == 0) | (supports[:, part] >= k)
        is_harmless[:, part] |= np.bincount(owner, weights=is_many, minlength=len(tables)) > 0
    return Tiny(tables, np.bincount(owner), ~is_harmless, sizes)


def as_listed(table: Longs, n_items: int, n: int) -> Listed:
    """The verifier's arrays of a table."""
    masks = np.arange(1, 1 << n_items)
    by_size = []
    for size in (1, 2, 3):
        places = [at for at in range(len(masks)) if int(masks[at]).bit_count() == size and table[at]]
        sets = [[item for item in range(n_items) if masks[at] >> item & 1] for at in places]
        order = sorted(range(len(sets)), key=lambda place: sets[place])
        by_size += [np.array([sets[place] for place in order], dtype=np.int64).reshape(-1, size)]
        by_size += [table[[places[place] for place in order]].astype(np.int64)]
    return Listed(n_items, n, by_size[1], *by_size[2:])


def tiny_row(n_items: int, n: int, k: int, m: int) -> str:
    """A line of the table of tiny data."""
    tiny = enumerate_originals(n_items, n, k, m)
    small = tiny.sizes <= m
    model, few = sv.Counts(k=k, m=m), k - 1 if m == 3 else None
    revealing = np.flatnonzero(tiny.revealed[:, small].any(axis=1))
    accepted = [
        number for number in revealing.tolist()
        if find_revealed(as_listed(tiny.tables[number], n_items, n), model, lambda *_: None, False, few) is None
    ]  # fmt: skip
    n_all, n_found = int(tiny.n_originals.sum()), int(tiny.n_originals[accepted].sum())
    n_before = int(tiny.n_originals[revealing].sum())
    return (
        f"| {m} | {n_items} | {n} | {k} | {n_all:,} | {100 * n_before / n_all:.1f} % | {100 * n_found / n_all:.2f} % |"
    )


# -- real data: the narrowest sets of more items -----------------------------------------------------------------------


class Table:
    """Intervals of the numbers of people that one or two tables of the same people leave."""

    def __init__(self, releases: Sequence[CountTable], models: Sequence[sv.Counts]) -> None:
        self.n = releases[0].published.n_records
        self.k, self.m = min(model.k for model in models), models[0].m
        self.labels = releases[0].published.vocabulary
        self.ends: dict[Set, tuple[int, int]] = {}
        for release, model in zip(releases, models, strict=True):
            number = self.labels.numbers(release.published.vocabulary)
            bounds, items = release.sets.indptr.tolist(), number[release.sets.items].tolist()
            for a, b, count in zip(bounds, bounds[1:], release.counts.tolist(), strict=False):
                least = model.r * -(-model.k // model.r)
                low = model.k if count == least else count - model.r // 2
                one = tuple(sorted(items[a:b]))
                before = self.ends.get(one, (0, self.n))
                self.ends[one] = max(low, before[0]), min(count + (model.r + 1) // 2 - 1, before[1])
        # An unlisted triple has at most this many people in every table, or as many as its rarest pair.
        starts = [release.triples_from or self.n for release in releases]
        ends = [start - model.r // 2 - 1 for start, model in zip(starts, models, strict=True)]
        self.few = max(self.k - 1, min(ends)) if self.m == 3 else self.n
        # The further items of the listed sets of an item or a pair, those of the most people first.
        self.near: dict[Set, list[int]] = {}
        for one in sorted(self.ends, key=lambda one: (-self.ends[one][0], one)):
            for item in one if len(one) > 1 else ():
                self.near.setdefault(tuple(other for other in one if other != item), []).append(item)

    def rows(self, chosen: Set) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], list[Set]]:
        """Rows of the program over the cells of a set, their lower and upper ends, and what each row is about."""
        z, parts, matrix, lows, highs = len(chosen), [], [], [], []
        cells = np.arange(1 << z)
        for size in range(1, self.m + 1):
            for places in combinations(range(z), size):
                part = tuple(chosen[place] for place in places)
                mask = sum(1 << place for place in places)
                low, high = self.ends.get(part, (0, self.k - 1 if size < 3 else self.few))
                parts.append(part)
                matrix.append((cells & mask) == mask)
                lows.append(low)
                highs.append(high)
        return np.array(matrix, dtype=np.float64), np.array(lows, dtype=np.float64), np.array(highs, float), parts

    def revealed(self, chosen: Set) -> list[tuple[Set, int, int]]:
        """Unlisted sets of at most m items that 1 to k - 1 people have in every original that fits."""
        matrix, lows, highs, parts = self.rows(chosen)
        unlisted = [number for number, part in enumerate(parts) if part not in self.ends]
        least = self._extreme(matrix[unlisted].sum(axis=0), matrix, lows, highs, parts)
        if not unlisted or (least is not None and least <= SMALL):
            return []
        found = []
        for number in unlisted:
            fewest = self._extreme(matrix[number], matrix, lows, highs, parts)
            if fewest is None or fewest <= SMALL:
                continue
            most = -(self._extreme(-matrix[number], matrix, lows, highs, parts) or 0.0)
            if round(most) < self.k:
                found.append((parts[number], round(fewest), round(most)))
        return found

    def _extreme(
        self, costs: NDArray[np.float64], matrix: NDArray[np.float64], lows: NDArray[np.float64],
        highs: NDArray[np.float64], parts: list[Set],
    ) -> float | None:  # fmt: skip
        """The smallest cost, by an integer program: unlisted triples have few people, or as many as a pair."""
        switches = []
        for number, part in enumerate(parts):
            pairs = list(combinations(part, 2))
            if len(part) == 3 and part not in self.ends and all(pair in self.ends for pair in pairs):
                rarest = max(min(self.ends[pair][0] for pair in pairs), self.k)
                switches.append((number, rarest))
        n_cells, n_switches = matrix.shape[1], len(switches)
        wide = np.zeros((len(matrix), n_switches))
        tops, bottoms = highs.copy(), lows.copy()
        extra, ends = np.zeros((n_switches, n_cells + n_switches)), np.zeros(n_switches)
        for place, (number, rarest) in enumerate(switches):  # people ≤ few + n·switch, people ≥ rarest·switch
            wide[number, place] = -float(self.n)
            bottoms[number] = -np.inf
            extra[place, :n_cells], extra[place, n_cells + place] = matrix[number], -float(rarest)
        rows = np.concatenate((np.column_stack((matrix, wide)), extra))
        total = np.append(np.ones(n_cells), np.zeros(n_switches))[None, :]
        limits = [
            LinearConstraint(rows, np.concatenate((bottoms, ends)), np.append(tops, np.full(n_switches, np.inf))),
            LinearConstraint(total, [self.n], [self.n]),
        ]
        upper = np.append(np.full(n_cells, float(self.n)), np.ones(n_switches))
        found = milp(
            np.append(costs, np.zeros(n_switches)), integrality=np.ones(n_cells + n_switches),
            bounds=Bounds(0, upper), constraints=limits, options={"time_limit": 20.0},
        )  # fmt: skip
        return None if found.status == 2 else 0.0 if found.fun is None else float(found.mip_dual_bound)


def narrowest(table: Table, size: int, seed: int) -> list[Set]:
    """Sets in which the pairs of an item, or the triples of a pair, are together the most above its people, by the
    ends of the intervals; and as many drawn at random from sets of items that lie together.
    """
    found: dict[Set, float] = {tuple(range(min(size, len(table.labels)))): 0.0}
    for inner, near in table.near.items():
        most = table.ends[inner][1]
        for others in combinations(near[: size - len(inner) + NEAR], size - len(inner)):
            excess = sum(table.ends[tuple(sorted((*inner, other)))][0] for other in others) / most
            one = tuple(sorted((*inner, *others)))
            found[one] = max(found.get(one, 0.0), excess)
    ordered = sorted(found, key=lambda one: (-found[one], one))
    random = np.random.default_rng(seed)
    drawn = random.permutation(len(ordered))[:LOOKED].tolist()
    return list(dict.fromkeys(ordered[:LOOKED] + [ordered[number] for number in drawn]))


class Plain:
    """Whether nobody need have an unlisted set: a linear program of which only the ends of the rows change."""

    def __init__(self, table: Table, size: int) -> None:
        import highspy

        self.table, self.solver = table, highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.setOptionValue("output_flag", False)
        self.feasible = highspy.HighsModelStatus.kOptimal
        for _ in range(1 << size):
            self.solver.addVar(0.0, float(table.n))
        matrix, *_ = table.rows(tuple(range(size)))
        for row in np.concatenate((matrix, np.ones((1, 1 << size)))):
            cells = np.flatnonzero(row).astype(np.int32)
            self.solver.addRow(0.0, float(table.n), len(cells), cells, np.ones(len(cells)))
        self.solver.changeRowBounds(len(matrix), float(table.n), float(table.n))

    def is_plain(self, chosen: Set) -> bool:
        """Whether some original that fits the intervals has no people with unlisted sets of this set."""
        _, lows, highs, parts = self.table.rows(chosen)
        for number, part in enumerate(parts):
            self.solver.changeRowBounds(number, lows[number], highs[number] if part in self.table.ends else 0.0)
        self.solver.run()
        return bool(self.solver.getModelStatus() == self.feasible)


def looked(table: Table, size: int, seed: int) -> str:
    """Cells of a line: sets looked at, those that are not plain, those that reveal something."""
    chosen, plain = narrowest(table, size, seed), Plain(table, size)
    tight = [one for one in chosen if not plain.is_plain(one)]
    found = [one for one in tight[:PROGRAMS] if table.revealed(one)]
    example = f" ({', '.join(table.labels[item] for item in found[0])})" if found else ""
    of_some = f" of the first {PROGRAMS}" if len(tight) > PROGRAMS else ""
    return f"{len(chosen):,} | {len(tight):,} | {len(found):,}{of_some}{example}"


def release_of(data: Transactions, model: sv.Counts) -> CountTable:
    """A table of counts."""
    release = sv.anonymize(data, model)
    assert isinstance(release, CountTable)
    return release


def people_left_out(data: Transactions, model: sv.Counts, seed: int) -> str:
    """Of how many people an item follows from the table of everybody and that of everybody else: a set is counted that
    was not, or is counted otherwise. Tables before suppression, by the counts of the sets of each person.
    """
    random, release = np.random.default_rng(seed), release_of(data, model)
    bounds, items = release.sets.indptr.tolist(), release.sets.items.tolist()
    labels = [release.published.vocabulary[item] for item in items]
    rows = data.over(data.vocabulary)
    listed = {frozenset(labels[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)}
    able = np.flatnonzero(data.lengths > 0)
    chosen = random.choice(able, min(LEFT, len(able)), replace=False)
    holders: list[set[int]] = [set() for _ in range(data.n_items)]
    for person in range(rows.n_records):
        for item in rows.items[rows.indptr[person] : rows.indptr[person + 1]].tolist():
            holders[item].add(person)
    n_found = 0
    for person in chosen.tolist():
        own = rows.items[rows.indptr[person] : rows.indptr[person + 1]].tolist()
        for size in range(1, model.m + 1):
            if any(_changes(one, holders, model, data, listed) for one in combinations(own, size)):
                n_found += 1
                break
    return f"{100 * n_found / len(chosen):.0f} % of {len(chosen)}"


def _changes(
    one: Set, holders: list[set[int]], model: sv.Counts, data: Transactions, listed: set[frozenset[str]]
) -> bool:
    """Whether the published count of an itemset changes if one person less has it."""
    if frozenset(data.vocabulary[item] for item in one) not in listed:
        return False
    people = len(set.intersection(*(holders[item] for item in one)))
    before, after = round_counts(np.array([people, people - 1]), model.k, model.r).tolist()
    return people - 1 < model.k or before != after


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--first", type=int, help="so many records of each file only")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", sv.SetveilWarning)
    if not asked.files:
        print("| m | items | people | k | originals | revealed by counts | revealed by accepted tables |")
        print("|---" * 7 + "|")
        for tiny in TINY:
            print(tiny_row(*tiny), flush=True)
        return
    print("| data | m | table | items | sets looked at | not plain | revealing |\n|---|---|---|---|---|---|---|")
    for path in asked.files:
        data = sv.read(path)
        data = data.select(np.arange(min(asked.first or data.n_records, data.n_records)))
        for m in (2, 3):
            one, other = sv.Counts(k=asked.k, m=m), sv.Counts(k=asked.k, m=m, r=asked.k + 2)
            releases = [release_of(data, model) for model in (one, other)]
            for name, table in (
                (f"r={one.r}", Table(releases[:1], [one])),
                (f"r={other.r}", Table(releases[1:], [other])),
                (f"r={one.r} and r={other.r}", Table(releases, [one, other])),
            ):
                for size in (m + 1, m + 2, m + 3):
                    print(f"| {path.name} | {m} | {name} | {size} | {looked(table, size, 0)} |", flush=True)
        print(f"{path.name}: with a table of one person less, an item follows of", end=" ")
        print(people_left_out(data, sv.Counts(k=asked.k), 0), flush=True)


if __name__ == "__main__":
    main()
