# mypy: disable-error-code="call-arg"
"""Which sets of items must be looked at for what counts reveal, and what was found (``count_cells.py``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.models import Counts
from setveil.verify import count_cells as loops

Longs = NDArray[np.int64]


class Finding(NamedTuple):
    """A set of items that reveals a small count, or that no data can have (``itemset`` is then empty)."""

    items: tuple[int, ...]  # Z
    itemset: tuple[int, ...]  # what is revealed
    low: int
    high: int


class Listed(NamedTuple):
    """A table of counts as arrays: items, pairs and triples with their counts, each itemset ascending."""

    n_items: int
    n_records: int
    singles: Longs  # [n_items]
    pairs: Longs  # [pairs, 2]
    pair_counts: Longs
    triples: Longs  # [triples, 3]
    triple_counts: Longs


def find_revealed(
    table: Listed, model: Counts, progress: Progress, is_repaired: bool = False, few: int | None = None
) -> Finding | None:
    """The first set of at most m + 1 items that reveals that 1 to k - 1 people have an unlisted itemset.

    ``is_repaired``: listed sets were suppressed. Then counts that no data can have, if unlisted sets are taken to be
    rare, only show that one of these was suppressed. ``few``: unlisted triples have at most so many people,
    or as many as one of their pairs; None: any number.
    """
    z = min(model.m + 1, table.n_items)
    if model.m == 1 or z < 2:
        return None  # pairs are neither listed nor known to be rare
    given = given_of(table, model, is_repaired, few)
    chosen, found = np.zeros(z, dtype=np.int64), np.zeros(4, dtype=np.int64)
    work = np.zeros((4, 16), dtype=np.int64)
    if z == table.n_items:
        chosen[:] = np.arange(z)
        return finding(loops.look(chosen, given, found, work), chosen, found)
    for status in _looks(table, model, (given, chosen, found, work), progress):
        if status != loops.PLAIN:
            return finding(status, chosen, found)
    return None


def _looks(table: Listed, model: Counts, rest: Any, progress: Progress) -> Iterator[int]:
    """The cases (a), (b) and (c) of ``count_cells``."""
    low_pair, high_pair = ends(table.pair_counts, model)
    _, high_item = ends(table.singles, model)
    high_item = np.minimum(high_item, table.n_records)
    low_triple, _ = ends(table.triple_counts, model)
    pair_keys = table.pairs[:, 0] * table.n_items + table.pairs[:, 1]
    order = np.argsort(pair_keys)
    # The triples of each pair, those with the largest counts first.
    sides = [table.triples[:, [a, b]] for a, b in ((0, 1), (0, 2), (1, 2))]
    owner = order[np.searchsorted(pair_keys[order], np.concatenate([s[:, 0] * table.n_items + s[:, 1] for s in sides]))]
    third = np.concatenate([table.triples[:, 2], table.triples[:, 1], table.triples[:, 0]])
    lows = np.tile(low_triple, 3)
    by_pair = np.lexsort((third, -lows, owner))
    bounds = np.searchsorted(owner[by_pair], np.arange(len(table.pairs) + 1))
    third, lows = third[by_pair], lows[by_pair]
    padded = np.concatenate((lows, (0, 0)))
    n_triples = np.diff(bounds)
    both = np.where(n_triples > 0, padded[bounds[:-1]], 0) + np.where(n_triples > 1, padded[bounds[:-1] + 1], 0)
    needs = np.minimum(np.maximum(low_pair, both), high_pair)
    if model.m >= 3:
        for number in np.flatnonzero(both > high_pair).tolist():
            progress("looking for revealed counts", None)
            inside = slice(bounds[number], bounds[number + 1])
            one, two = table.pairs[number].tolist()
            yield loops.look_at_pair(one, two, third[inside], lows[inside], int(high_pair[number]), *rest)
    item = np.concatenate((table.pairs[:, 0], table.pairs[:, 1]))
    near, need = np.concatenate((table.pairs[:, 1], table.pairs[:, 0])), np.tile(needs, 2)
    by_item = np.lexsort((near, -need, item))
    bounds = np.searchsorted(item[by_item], np.arange(table.n_items + 1))
    near, need = near[by_item], need[by_item]
    most = int(high_item.max())
    for number in range(table.n_items):
        inside = slice(bounds[number], bounds[number + 1])
        if need[inside][: model.m].sum() > high_item[number]:
            progress("looking for revealed counts", number / table.n_items)
            yield loops.look_at_item(number, near[inside], need[inside], int(high_item[number]), most, *rest)
    largest = np.lexsort((np.arange(table.n_items), -high_item))
    for first in range(table.n_items):
        if high_item[largest[first]] * (model.m + 1) <= table.n_records:
            break
        progress("looking for revealed counts", None)
        yield loops.look_at_large(first, largest, high_item[largest], *rest)


def ends(counts: Longs, model: Counts) -> tuple[Longs, Longs]:
    """The smallest and the largest number of people that is published as each count."""
    k, r = model.k, model.r
    return np.where(counts == r * -(-k // r), k, counts - r // 2), counts + (r + 1) // 2 - 1


def given_of(table: Listed, model: Counts, is_repaired: bool, few: int | None) -> loops.Given:
    """All counts by the number of their itemset, and the numbers that are the same for all sets of items."""
    width = table.n_items + 1
    single_keys = np.arange(table.n_items, dtype=np.int64) + 1
    pair_keys = (table.pairs[:, 0] + 1) * width + table.pairs[:, 1] + 1
    triple_keys = ((table.triples[:, 0] + 1) * width + table.triples[:, 1] + 1) * width + table.triples[:, 2] + 1
    new_keys = np.concatenate((single_keys, pair_keys, triple_keys)).astype(np.int64)
    new_values = np.concatenate((table.singles, table.pair_counts, table.triple_counts)).astype(np.int64)
    keys = np.full(1 << (2 * len(new_keys) + 1).bit_length(), -1, dtype=np.int64)
    values = np.zeros(len(keys), dtype=np.int64)
    loops.fill_table(keys, values, new_keys, new_values)
    few = table.n_records if few is None else few
    return loops.Given(table.n_records, table.n_items, model.m, model.k, model.r, few, is_repaired, keys, values)


def finding(status: int, chosen: Longs, found: Longs) -> Finding | None:
    """What a loop says of a set of items."""
    if status == loops.PLAIN:
        return None
    items = tuple(chosen.tolist())
    if status == loops.IMPOSSIBLE:
        return Finding(items, (), 0, 0)
    part = int(found[0])
    return Finding(items, tuple(item for at, item in enumerate(items) if part >> at & 1), int(found[1]), int(found[2]))
