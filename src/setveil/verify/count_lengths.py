# mypy: disable-error-code="call-arg"
"""Whether the lengths of records reveal a small count together with the counts.

``lengths.csv`` says how many people have each number of listed items. So no more people have at least s of the items
of Z than have at least s items, and whoever has more items than there are beside Z has items of Z. If every solution of
the counts leaves room for that, lengths exclude none. Two bounds hold for the people with s or more items of Z: the sum
of its items by s, and, where an unlisted pair has fewer than k people, the sum of its pairs by the s (s - 1) / 2 pairs
that each of them has. Where neither is small enough the linear program gets the rows of the lengths, too.
"""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.models import Counts
from setveil.verify import count_cells as loops
from setveil.verify.count_inference import Finding, Listed, ends, finding, given_of

Longs = NDArray[np.int64]

MOST_SETS = 200_000  # sets Z that are looked at; a table with more needs lengths that the bounds allow for


def reveal_with_lengths(
    table: Listed, lengths: list[tuple[int, int, int]], model: Counts, progress: Progress, is_repaired: bool,
    few: int | None,
) -> Finding | None:  # fmt: skip
    """The first set of at most m + 1 items that reveals a small count together with the lengths. A finding without
    items: there are too many such sets to look at.
    """
    z = min(model.m + 1, table.n_items)
    if len(lengths) < 2 or z < 2:
        return None
    certain, people = _people(lengths, table, z, model)
    highs = ends(table.singles, model)[1].tolist()
    pairs = dict(zip(map(tuple, table.pairs.tolist()), ends(table.pair_counts, model)[1].tolist(), strict=True))
    is_rare = model.m > 1 and not is_repaired

    def has_room(items: list[int], both: list[int]) -> bool:
        by_pairs = sum(both) if is_rare else None
        return not people[0].any() and all(
            room * s >= sum(items) or (by_pairs is not None and s > 1 and room * s * (s - 1) // 2 >= by_pairs)
            for s, room in enumerate(certain, start=1)
        )

    n_pairs = z * (z - 1) // 2
    most = sorted([*pairs.values(), *[model.k - 1] * n_pairs])[-n_pairs:]
    if has_room(sorted(highs)[-z:], most):
        return None
    given = given_of(table, model, is_repaired, few)
    found = np.zeros(4, dtype=np.int64)
    chosen_sets = combinations(range(table.n_items), z)
    for number, items in enumerate(islice(chosen_sets, MOST_SETS)):
        if number % 1000 == 0:
            progress("looking for revealed counts", None)
        if has_room([highs[one] for one in items], [pairs.get(two, model.k - 1) for two in combinations(items, 2)]):
            continue
        chosen = np.array(items, dtype=np.int64)
        status = loops.look_with_lengths(chosen, given, people, found)
        if status != loops.PLAIN:
            return finding(status, chosen, found)
    return None if next(chosen_sets, None) is None else Finding((), (), 0, 0)


def _people(lengths: list[tuple[int, int, int]], table: Listed, z: int, model: Counts) -> tuple[list[int], Longs]:
    """For s from 1 to z: how many people certainly have s items or more, and the fewest and the most people with s or
    more items of Z, int64[2, z].
    """
    counts = np.array([count for *_, count in lengths], dtype=np.int64)
    low, high = (part.tolist() for part in ends(counts, model))
    rests = np.flatnonzero(counts % model.r)  # the largest group has what the others leave
    largest = int(rests[0]) if len(rests) else int(counts.argmax())
    low[largest], high[largest] = (
        table.n_records - sum(end for place, end in enumerate(others) if place != largest) for others in (high, low)
    )
    certain, people = [], np.zeros((2, z), dtype=np.int64)
    for s in range(1, z + 1):
        reaching = [place for place, (_, last, _) in enumerate(lengths) if last >= s or place == len(lengths) - 1]
        certain.append(_at_least(reaching, low, high, table.n_records))
        others = [place for place in range(len(lengths)) if place not in reaching]
        people[1, s - 1] = table.n_records - _at_least(others, low, high, table.n_records)
        forced = [place for place, (first, _, _) in enumerate(lengths) if first >= s + table.n_items - z]
        people[0, s - 1] = _at_least(forced, low, high, table.n_records)
    return certain, people


def _at_least(groups: list[int], low: list[int], high: list[int], n_records: int) -> int:
    """How many people are in some of the groups at least."""
    others = sum(end for place, end in enumerate(high) if place not in groups)
    return max(sum(low[place] for place in groups), n_records - others, 0) if groups else 0
