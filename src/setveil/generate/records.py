"""Records made from a published table of counts, and from nothing else.

``records`` of a release of model ``counts`` follow from ``counts.csv`` and ``lengths.csv`` alone: the seed is the
SHA-256 of both files, so that nobody can try seeds, and whoever has the files makes the same records again. Only whole
numbers are used. A generator is never changed; another one gets another number
(``tests/generate/test_records.py`` has records of each).

Generator 1:

1. *Lengths.* The records of a group get lengths spread evenly over its range. Their sum is adapted to the sum of the
   counts of single items, which wins.
2. *Deal.* Every item goes to as many records as its count says (``_swapping.deal``).
3. *Swap.* Two entries of different records are exchanged, so that counts of items and lengths stay. The cost is the
   sum of (n - t)^2 / (t + 1) over listed pairs and triples, n being the count in the records and t the published one.
   Pairs that are not listed cost something above k - 1. Swaps that raise the cost are made with a probability that
   falls from round to round (simulated annealing).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LATEST = 1  # the number of the generator that new releases use
LARGEST_RECORDS, LARGEST_ENTRIES = 20_000_000, 200_000_000
WIDEST = 5_000  # items whose pairs are fitted: the most frequent ones
ROUNDS = 8
SWAPS_PER_ENTRY, FEW_SWAPS, LEAST_PER_ENTRY = 80, 4_000_000, 3  # many for each entry where that is fast
PART = 16  # a predicted triple has this part of the weight of a listed one
ONE = 1 << 14  # the weight of a pair that nobody has
MOST_TRIPLES = 1_500_000  # triples that are fitted
SLICE = 1 << 18  # swaps between two calls of ``step``


class UnknownGeneratorError(ValueError):
    """The number of no generator."""


class TooLargeError(ValueError):
    """A table beyond what a generator takes."""


@dataclass(frozen=True, eq=False)
class CountedSets:
    """A published table as numbers: items are 0 … n_items - 1 in ascending order of their labels."""

    k: int
    singles: NDArray[np.int64]  # [n_items] the count of each item
    pairs: NDArray[np.int32]  # [pairs, 2]
    pair_counts: NDArray[np.int64]
    triples: NDArray[np.int32]  # [triples, 3]
    triple_counts: NDArray[np.int64]
    lengths: NDArray[np.int64]  # [groups, 3]: length_from, length_to, count

    @cached_property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.lengths[:, 2].sum())


class Rows(NamedTuple):
    """Records as CSR, each row ascending, rows in the order of their content."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]


def seed_of(counts_csv: bytes, lengths_csv: bytes) -> bytes:
    """SHA-256 of both files, one after the other."""
    return hashlib.sha256(counts_csv + lengths_csv).digest()


def no_step(share: float) -> None:
    """Called with the share that is done."""


_last: dict[tuple[int, bytes], Rows] = {}


def generate_records(number: int, table: CountedSets, seed: bytes, step: Callable[[float], object] = no_step) -> Rows:
    """The records of a table, by the generator with this number; ``seed``: 32 bytes that only this table has.

    The last result is kept, because a run that publishes asks for it twice.
    """
    if number not in GENERATORS:
        raise UnknownGeneratorError(f"record generator {number} is not known here")
    key = number, seed
    if key not in _last:
        made = GENERATORS[number](table, seed, step)
        _last.clear()
        _last[key] = made
    return _last[key]


def _generate_1(table: CountedSets, seed: bytes, step: Callable[[float], object]) -> Rows:
    from setveil.generate import _swapping as loops

    n_records, n_items = table.n_records, len(table.singles)
    singles = np.minimum(table.singles, n_records)
    n_entries = int(singles.sum())
    if n_records > LARGEST_RECORDS or n_entries > LARGEST_ENTRIES or n_items >= 1 << 21:
        raise TooLargeError(f"{n_records:,} records with {n_entries:,} entries are beyond record generator 1")
    state = np.frombuffer(seed, dtype="<u8").astype(np.uint64)
    if not n_entries:
        return Rows(np.zeros(n_records + 1, dtype=np.int64), np.empty(0, dtype=np.int32))
    by_count = np.lexsort((np.arange(n_items), -singles))  # [rank] item
    rank = np.argsort(by_count)
    lengths = _spread(table.lengths, n_entries, table.k)
    records, items = np.empty(n_entries, dtype=np.int32), np.empty(n_entries, dtype=np.int32)
    loops.deal(lengths, singles[by_count], max(n_records // 8, 1), state, records, items)
    order = np.argsort(records, kind="stable")
    owner, entries = records[order], items[order]
    starts = np.zeros(n_records + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=n_records), out=starts[1:])
    if not loops.settle(starts, entries, n_records, state):
        return _without_repeats(owner, entries, n_records, by_count)
    _swap(table, rank, starts, owner, entries, state, step)
    return _without_repeats(owner, entries, n_records, by_count)


def spread_group(first: int, last: int, count: int, k: int, is_last: bool) -> NDArray[np.int64]:
    """The lengths of the records of a group, ascending.

    A group ends where at least k records are together, so that fewer than k have the lengths before its end: k // 2
    are spread evenly over these, and the others have the length at the end. The last group is spread evenly.
    """
    n_before = count if is_last or first == last else min(k // 2, count)
    width = last - first + (1 if is_last or first == last else 0)
    before = first + ((2 * np.arange(n_before, dtype=np.int64) + 1) * width) // (2 * max(n_before, 1))
    return np.concatenate((before, np.full(count - n_before, last, dtype=np.int64)))


def _spread(groups: NDArray[np.int64], n_entries: int, k: int) -> NDArray[np.int64]:
    """The length of each record, adapted until they add up to the number of entries."""
    rows = groups.tolist()
    lengths = [
        spread_group(first, last, count, k, place == len(rows) - 1) for place, (first, last, count) in enumerate(rows)
    ]
    spread = np.concatenate(lengths) if lengths else np.empty(0, dtype=np.int64)
    missing = n_entries - int(spread.sum())
    while missing:
        # One entry more or fewer in as many records as needed, evenly over those that have some.
        able = np.flatnonzero(spread > 0)
        able = able if len(able) else np.arange(len(spread))
        n_changed = min(abs(missing), len(able))
        chosen = able[(np.arange(n_changed, dtype=np.int64) * len(able)) // n_changed]
        spread[chosen] += 1 if missing > 0 else -1
        missing += -n_changed if missing > 0 else n_changed
    return spread


def _swap(
    table: CountedSets,
    rank: NDArray[np.int64],
    starts: NDArray[np.int64],
    owner: NDArray[np.int32],
    entries: NDArray[np.int32],
    state: NDArray[np.uint64],
    step: Callable[[float], object],
) -> None:
    """Simulated annealing; ``entries`` is changed."""
    from setveil.generate import _swapping as loops

    width = min(len(table.singles), WIDEST)
    pairs = rank[table.pairs].astype(np.int32)
    is_near = (pairs < width).all(axis=1)
    pairs, wanted = pairs[is_near], table.pair_counts[is_near]
    pair = np.empty((width, width, 2), dtype=np.int32)  # counts above what is wanted, and twice the weight
    pair[:, :, 0], pair[:, :, 1] = 1 - table.k, -2 * max(ONE // table.k, 1)
    for one, two in ((0, 1), (1, 0)):
        pair[pairs[:, one], pairs[:, two], 0] = -wanted
        pair[pairs[:, one], pairs[:, two], 1] = 2 * np.maximum(ONE // (wanted + 1), 1)
    keys, triple = _triples(table, rank, pair)
    loops.count_pairs(starts, entries, pair)
    loops.count_triples(starts, entries, pair, keys, triple)
    begin = np.zeros(len(table.singles) + 1, dtype=np.int64)
    np.cumsum(np.bincount(entries, minlength=len(table.singles)), out=begin[1:])
    where, slot = np.empty((2, len(entries)), dtype=np.int32)
    loops.list_positions(entries, begin, where, slot)
    rows = np.empty((len(entries), 3), dtype=np.int32)
    rows[:, 0], rows[:, 1], rows[:, 2] = entries, starts[owner], starts[owner + 1]
    bits, marks = loops.mark_in_triples(pair), loops.mark_keys(keys)
    n_swaps = min(SWAPS_PER_ENTRY * len(entries), max(FEW_SWAPS, LEAST_PER_ENTRY * len(entries)))
    per_round = n_swaps // ROUNDS + 1
    for turn in range(ROUNDS):
        temperature = ONE >> (2 + turn) if turn < ROUNDS - 1 else 0
        for done in range(0, per_round, SLICE):
            step((turn + done / per_round) / ROUNDS)
            loops.swap_entries(
                rows, pairs, begin, where, slot, pair, bits, marks, keys, triple, temperature,
                min(SLICE, per_round - done), state,
            )  # fmt: skip
    entries[:] = rows[:, 0]


def _triples(
    table: CountedSets, rank: NDArray[np.int64], pair: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """A table of the listed triples, and of those that pairs predict where they are few enough: keys, and counts above
    what is wanted with weights.
    """
    from setveil.generate import _swapping as loops

    triples = rank[table.triples].astype(np.int32)
    is_near = (triples < len(pair)).all(axis=1)
    triples, wanted = triples[is_near], table.triple_counts[is_near]
    if not len(triples):
        return _empty_table(0)
    keys, triple = _empty_table(len(triples))
    loops.enter_triples(triples, wanted, 1, keys, triple, pair)
    if len(triples) >= MOST_TRIPLES or table.n_records >= 1 << 26:
        return keys, triple
    singles = np.minimum(table.singles, table.n_records)[np.argsort(rank)]
    further, predicted = np.empty((MOST_TRIPLES - len(triples), 3), dtype=np.int32), np.empty(MOST_TRIPLES, np.int64)
    n_further = loops.list_predicted(table.n_records, singles, pair, keys, further, predicted)
    if n_further > len(further):
        return keys, triple
    keys, triple = _empty_table(len(triples) + n_further)
    loops.enter_triples(triples, wanted, 1, keys, triple, pair)
    loops.enter_triples(further[:n_further], predicted[:n_further], PART, keys, triple, pair)
    return keys, triple


def _empty_table(n_keys: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Room for so many keys, half of it empty; none at all is one place."""
    n_slots = 1 << (2 * n_keys).bit_length() if n_keys else 1
    return np.full(n_slots, -1, dtype=np.int64), np.zeros((n_slots, 2), dtype=np.int32)


def _without_repeats(
    owner: NDArray[np.int32], entries: NDArray[np.int32], n_records: int, by_count: NDArray[np.int64]
) -> Rows:
    """Rows ascending and without repeats."""
    width = max(len(by_count), 1)
    keys = np.sort(owner.astype(np.int64) * width + by_count[entries])
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    indptr = np.zeros(n_records + 1, dtype=np.int64)
    np.cumsum(np.bincount(keys // width, minlength=n_records), out=indptr[1:])
    return Rows(indptr, (keys % width).astype(np.int32))


GENERATORS: dict[int, Callable[[CountedSets, bytes, Callable[[float], object]], Rows]] = {1: _generate_1}
