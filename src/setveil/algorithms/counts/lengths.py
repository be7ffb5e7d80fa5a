"""How many listed items records have, in groups of at least k records, and whether these numbers reveal something.

Lengths tell how many people have at least s of some z items: no more than have at least s items at all, and no fewer
than have at least s items beside all others. They reveal nothing beyond the counts if every solution of the counts
fits: of all z items, the people with s or more of them are at most the sum of the items divided by s, and at most the
sum of the pairs divided by s (s - 1) / 2. Otherwise the linear programs are solved with these rows.
"""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.algorithms.counts.inference import Programs, Tables, part_counts, rounding_ends
from setveil.generate.records import spread_group
from setveil.models import Counts

MOST_SETS, MOST_PROGRAMS = 100_000, 2_000  # of z items, looked at one by one


def length_groups(
    lengths: NDArray[np.int64], n_entries: int, k: int, r: int, is_one: bool = False
) -> NDArray[np.int64]:
    """``(length_from, length_to, count)`` of each group, ascending, int64[groups, 3].

    Counts are rounded to multiples of r, except that of the largest group, which has the rest. ``n_entries``: the sum
    of the published counts of single items, which decides how far the last group reaches. ``is_one``: one group.
    """
    n_records = len(lengths)
    if not n_records:
        return np.empty((0, 3), dtype=np.int64)
    groups: list[tuple[int, int]] = []  # the first length, and the number of records
    begin, waiting = 0, 0
    for length, count in enumerate(np.bincount(lengths).tolist()):
        waiting += count
        if waiting >= k:
            groups.append((begin, waiting))
            begin, waiting = length + 1, 0
    groups = groups if groups and not is_one else [(0, n_records - waiting)]
    groups[-1] = groups[-1][0], groups[-1][1] + waiting
    while True:
        counts = [max(r * -(-k // r), r * ((2 * count + r) // (2 * r))) for _, count in groups]
        largest = max(range(len(groups)), key=lambda place: groups[place][1])
        counts[largest] = n_records - sum(counts[:largest]) - sum(counts[largest + 1 :])
        if counts[largest] >= k or len(groups) == 1:
            break
        # Rounding took more records than there are: join the two groups with the fewest records.
        place = min(range(len(groups) - 1), key=lambda place: groups[place][1] + groups[place + 1][1])
        groups[place : place + 2] = [(groups[place][0], groups[place][1] + groups[place + 1][1])]
    firsts = [first for first, _ in groups]
    lasts = [first - 1 for first in firsts[1:]]
    others = zip(firsts[:-1], lasts, counts[:-1], strict=True)
    rest = n_entries - sum(int(spread_group(*one, k, False).sum()) for one in others)
    reach = -(-2 * rest // max(counts[-1], 1)) - firsts[-1]  # evenly spread lengths up to here add up
    lasts.append(max(firsts[-1], min(reach, 2 * firsts[-1])) if firsts[-1] else max(reach, 0))
    return np.column_stack((firsts, lasts, counts)).astype(np.int64)


def do_lengths_reveal(
    tables: Tables, lengths: NDArray[np.int64], is_repaired: bool, model: Counts, context: Context
) -> bool:
    """Whether z = m + 1 items may reveal a small count together with the lengths, although they do not without.

    Where there are no more than z items, lengths would be counts of their cells: yes, whatever the lengths are.
    """
    z = model.m + 1
    if len(lengths) < 2:
        return False
    if tables.n_items <= z:
        return True
    sure, (fewest, most) = people_with(lengths, tables.n_items, z, model)
    _, highs = rounding_ends(tables.singles, model)
    pair_highs = rounding_ends(tables.pair_counts, model)[1] if model.m > 1 else np.empty(0, dtype=np.int64)
    counts_pairs = model.m > 1 and not is_repaired  # otherwise an unlisted pair can have any number of people
    rare = np.full(comb(z, 2), model.k - 1)
    top = np.sort(np.concatenate((pair_highs, rare)))[-comb(z, 2) :].sum() if counts_pairs else None
    if not fewest.any() and _fits(np.sort(highs)[-z:].sum(), top, sure):
        return False
    if comb(tables.n_items, z) > MOST_SETS:
        return True
    chosen = np.array(list(combinations(range(tables.n_items), z)), dtype=np.int64)
    of_pair = np.full((tables.n_items, tables.n_items), model.k - 1, dtype=np.int64)
    of_pair[tables.pairs[:, 0], tables.pairs[:, 1]] = pair_highs
    together = np.sum([of_pair[chosen[:, a], chosen[:, b]] for a, b in combinations(range(z), 2)], axis=0)
    if not fewest.any():
        chosen = chosen[~_fits(highs[chosen].sum(axis=1), together if counts_pairs else None, sure)]
    if len(chosen) > MOST_PROGRAMS:
        return True
    programs, looked_up = Programs(z, tables.n_records, tables.few, model, (fewest, most)), tables.look_up
    for one in chosen:
        context.step("looking for revealed counts")
        if programs.reveal(part_counts(one, *looked_up), is_repaired):
            return True
    return False


def _fits(items: NDArray[np.int64], pairs: NDArray[np.int64] | None, sure: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether no more people can have s of z items than certainly have s items; ``items`` and ``pairs``: the sums of
    their upper ends.
    """
    fits = np.ones(np.shape(items), dtype=bool)
    for s, people in enumerate(sure.tolist(), start=1):
        is_few = s * people >= items
        fits &= is_few if pairs is None or s == 1 else is_few | (comb(s, 2) * people >= pairs)
    return fits


def people_with(
    lengths: NDArray[np.int64], n_items: int, z: int, model: Counts
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For s from 1 to z: how many people certainly have s items or more, and the fewest and the most people who have s
    or more of any z items, as lengths tell.
    """
    (lows, highs), counts = rounding_ends(lengths[:, 2], model), lengths[:, 2]
    n_records = counts.sum()  # is public; the largest group has what the others leave, which need not be a multiple
    largest = int(np.lexsort((-np.arange(len(counts)), counts, counts % model.r > 0))[-1])
    lows[largest], highs[largest] = (n_records - (ends.sum() - ends[largest]) for ends in (highs, lows))
    least = np.arange(1, z + 1)[:, None]
    can_be = np.append(lengths[:-1, 1], np.iinfo(np.int64).max) >= least  # [s, groups] the last group has no end
    must_be = lengths[:, 0] >= least + n_items - z

    def fewest(is_in: NDArray[np.bool_]) -> NDArray[np.int64]:
        people: NDArray[np.int64] = np.maximum(is_in @ lows, n_records - ~is_in @ highs)
        return people

    most = np.minimum(can_be @ highs, n_records - ~can_be @ lows)
    return fewest(can_be), (np.maximum(fewest(must_be) * must_be.any(axis=1), 0), most)
