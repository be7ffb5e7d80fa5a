"""Tables of counts, the slow way: sets, itertools, and a linear program for every set of items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import floor
from typing import Any

import numpy as np
from scipy.optimize import linprog

Record = frozenset[str]
Table = dict[frozenset[str], int]
Lengths = Sequence[tuple[int, int, int]]  # from, to, people


def rounded(count: int, k: int, r: int) -> int:
    """max(r * ceil(k / r), r * floor(count / r + 1/2))."""
    return max(-(-k // r) * r, r * floor(Fraction(count, r) + Fraction(1, 2)))


def interval(count: int, k: int, r: int, n: int) -> tuple[int, int]:
    """All numbers of people that are published as ``count``, by trying them."""
    fitting = [people for people in range(k, n + 1) if rounded(people, k, r) == count]
    return min(fitting), max(fitting)


def counts_of(records: Collection[Record], k: int, m: int, r: int) -> Table:
    """Rounded counts of all itemsets of at most m items in at least k records."""
    items = sorted(set().union(*records))
    found = {}
    for size in range(1, m + 1):
        for itemset in combinations(items, size):
            count = sum(set(itemset) <= record for record in records)
            if count >= k:
                found[frozenset(itemset)] = rounded(count, k, r)
    return found


def largest_below(start: int, k: int, r: int) -> int:
    """The largest number of people of an itemset that is not listed from the published count ``start`` on."""
    return max(people for people in range(start + 1) if people < k or rounded(people, k, r) < start)


def revealed(
    table: Table, n: int, k: int, m: int, r: int, few: int | None = None, lengths: Lengths = ()
) -> tuple[frozenset[str], float, float] | None:
    """An unlisted itemset that some set of m + 1 items shows to have 1 to k - 1 people; its extremes.

    ``few``: unlisted triples have at most so many people, or are rounded like their rarest pair; None: any number.
    ``lengths``: how many people have how many items.
    """
    items = sorted(set().union(*table)) if table else []
    z = min(m + 1, len(items))
    limits = [people_with(lengths, least, len(items) - z, k, r) for least in range(1, z + 1)] if lengths else []
    for chosen in combinations(items, min(m + 1, len(items))):
        cells = [frozenset(some) for size in range(len(chosen) + 1) for some in combinations(chosen, size)]
        extremes = dict.fromkeys((part for part in cells if part and part not in table), (float("inf"), -1.0))
        options = {part: _bounds(part, table, n, k, m, r, few) for part in cells if part}
        for case in product(*options.values()):
            bounds = dict(zip(options, case, strict=True))
            matrix = np.array([[float(part <= cell) for cell in cells] for part in bounds])
            of_lengths = [[float(len(cell) > least) for cell in cells] for least in range(len(limits))]
            below = np.concatenate((matrix, np.reshape(of_lengths, (-1, len(cells)))))
            rows, both = np.concatenate((below, -below)), [*bounds.values(), *limits]
            ends = [float(high) for _, high in both] + [-float(low) for low, _ in both]
            for number, part in enumerate(bounds):
                if part in table or extremes[part][0] <= 1e-6 or floor(extremes[part][1] + 1e-6) >= k:
                    continue  # listed, or harmless by an earlier case
                if (least := _smallest(matrix[number], rows, ends, n)) is None:
                    break
                most = -(_smallest(-matrix[number], rows, ends, n) or 0.0) if least > 1e-6 else -1.0
                extremes[part] = min(extremes[part][0], least), max(extremes[part][1], most)
        for part, (least, most) in extremes.items():
            if 1e-6 < least < float("inf") and floor(most + 1e-6) < k:
                return part, least, most
    return None


def people_with(lengths: Lengths, least: int, n_other: int, k: int, r: int) -> tuple[float, float]:
    """The fewest and the most people who have at least so many of some items, where ``n_other`` further items are
    listed. The group that is no multiple of r, or else the largest one, has what the others leave; the last one has no
    end.
    """
    n, counts = sum(count for *_, count in lengths), [count for *_, count in lengths]
    largest = max(range(len(counts)), key=lambda place: (counts[place] % r != 0, counts[place], -place))
    bounds = [(0, n) if place == largest else interval(count, k, r, n + r) for place, count in enumerate(counts)]
    must = [float(first - n_other >= least) for first, *_ in lengths]
    can = [float(last >= least or place == len(lengths) - 1) for place, (_, last, _) in enumerate(lengths)]
    fewest = linprog(must, A_eq=[[1.0] * len(counts)], b_eq=[n], bounds=bounds)
    most = linprog([-one for one in can], A_eq=[[1.0] * len(counts)], b_eq=[n], bounds=bounds)
    return float(fewest.fun or 0.0), -float(most.fun or 0.0)


def _smallest(costs: Any, rows: Any, ends: Any, n: int) -> float | None:
    """The smallest cost of cells that add up to n; None if there are none."""
    found = linprog(costs, rows, ends, [[1.0] * len(costs)], [n])
    return None if found.status == 2 else float(found.fun or 0.0)


def _bounds(
    part: frozenset[str], table: Table, n: int, k: int, m: int, r: int, few: int | None
) -> list[tuple[int, int]]:
    """Intervals, one of which the number of people is in."""
    if part in table:
        return [interval(table[part], k, r, n)]
    if len(part) <= min(m, 2):
        return [(0, k - 1)]
    if len(part) > 3 or few is None:
        return [(0, n)]
    rarest = min(table.get(part - {item}, 0) for item in part)
    return [(0, few)] + ([interval(rarest, k, r, n)] if rarest else [])
