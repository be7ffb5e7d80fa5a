# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Phase 1 of trim: number the itemsets that k records hold, and list who holds them.

An itemset is an earlier one, its *prefix*, and one more item, its largest. Itemset ``i`` below ``n_items`` is the
single item ``i``. A larger one is found in a hash table by its key, ``prefix * n_items + last item``. Every subset of
an itemset that k records hold is held by k records, too, so prefixes always have a number.

The arrays that all loops of trim share, as matrices with one row per record, entry or itemset:

- ``records`` int64[n_records + 1, 2]: START, the record's first entry; PAIRS, where its pairs begin in ``pairs``, or
  -1.
- ``entries`` int32[n_entries, 3]: ITEM, ascending in each record; KEPT, 1 if it is published; NEXT, 1 if it is to be.
- ``itemsets`` int32[n_itemsets, 4]: PREFIX (-1 for items) and LAST; COUNT, the records that show it now; WANTED, 0 if
  it was given up and no record may show it.
- ``table`` int64[2^bits, 2]: KEY, or FREE; NUMBER of the itemset.
- ``pairs`` int32: numbers of the pairs of positions (0, 1), (0, 2) … (1, 2) … of a record, looked up once. -1: rare.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.base import Context
from setveil.arrays.compiling import compiled
from setveil.arrays.hash_table import FREE, KEY, NUMBER, empty_table, find_number, find_place, larger_table, shift_for
from setveil.core import Transactions

Bools: TypeAlias = NDArray[np.bool_]
Bytes: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Shorts: TypeAlias = NDArray[np.int32]
Structs: TypeAlias = NDArray[np.void]

START, PAIRS = 0, 1
ITEM, KEPT, NEXT = 0, 1, 2
PREFIX, LAST, COUNT, WANTED = 0, 1, 2, 3

MOST_ITEMSETS = 20_000_000  # that are numbered, 16 bytes each and twice as much to find them
MOST_STEPS = 4_000_000_000  # of counting them
STEPS_PER_CALL = 30_000_000  # steps of a compiled call, well below half a second


class Limits(NamedTuple):
    """Numbers that loops need."""

    m: int
    n_items: int
    shift: int  # of a hash of 64 bits, to fall into the table
    k: int
    longest: int = 0  # records of more items are not searched when one of their itemsets is at stake
    nodes: int = 0  # of the search tree of a record
    fills: int = 0  # how often an itemset is filled up before it is given up


class Itemsets(NamedTuple):
    """All itemsets of at most m items that k records hold."""

    itemsets: Shorts  # [n_itemsets, 4]
    support: Shorts  # [n_itemsets] records that hold each in the original
    table: Ints  # [2^bits, 2]


def number_itemsets(records: Transactions, k: int, m: int, context: Context) -> Itemsets | None:
    """All itemsets of at most m items that k records hold, size by size; None if there are too many."""
    n_items = max(records.n_items, 1)
    items = np.arange(records.n_items, dtype=np.int32)
    prefix, last, support = np.full(records.n_items, -1, dtype=np.int32), items, records.supports.astype(np.int32)
    known, table = np.empty(0, dtype=np.int64), empty_table(16)
    steps = 0
    for size in range(2, m + 1):
        counts = empty_table(1 << 16)
        state = np.zeros(4, dtype=np.int64)
        while state[0] < records.n_records:
            context.step(f"counting itemsets of size {size}", float(state[0] / records.n_records))
            limits = Limits(size, n_items, shift_for(table), k)
            count_extensions(records.indptr, records.items, table, counts, state, limits, STEPS_PER_CALL)
            if steps + state[3] > MOST_STEPS or state[2] > 4 * MOST_ITEMSETS:
                return None
            if state[2] > len(counts) * 5 // 8:
                counts = larger_table(counts, 2 * int(state[2]))
        steps += int(state[3])
        frequent = counts[(counts[:, KEY] >= 0) & (counts[:, NUMBER] >= k)]
        frequent = frequent[np.argsort(frequent[:, KEY])]
        if not len(frequent):
            break
        known = np.concatenate((known, frequent[:, KEY]))
        if len(known) > MOST_ITEMSETS:
            return None
        table = larger_table(np.stack((known, records.n_items + np.arange(len(known))), axis=1), 2 * len(known))
        prefix = np.concatenate((prefix, (frequent[:, KEY] // n_items).astype(np.int32)))
        last = np.concatenate((last, (frequent[:, KEY] % n_items).astype(np.int32)))
        support = np.concatenate((support, frequent[:, NUMBER].astype(np.int32)))
    return Itemsets(np.stack((prefix, last, support, np.ones_like(support)), axis=1), support, table)


@compiled
def count_extensions(
    indptr: Ints, items: Shorts, table: Ints, counts: Ints, state: Ints, limits: Limits, budget: int
) -> None:
    """Count how many records hold each known itemset of ``limits.m - 1`` items with one more, from ``state[0]`` on.

    ``counts`` is a table whose NUMBER is the count. ``state`` is [next record, keys in use, room needed for the next
    record, steps so far]. Stops before a record for which ``counts`` may be too small, and after ``budget`` steps.
    """
    size, n_items = limits.m, limits.n_items
    bits = 0
    while (1 << bits) < len(counts):
        bits += 1
    at = np.zeros(size + 1, dtype=np.int64)
    number = np.zeros(size + 1, dtype=np.int64)
    steps = 0
    while state[0] < len(indptr) - 1 and steps < budget:
        start, end = indptr[state[0]], indptr[state[0] + 1]
        most = 1.0
        for chosen in range(size):
            most = most * (end - start - chosen) / (chosen + 1)
        is_safe = most < len(counts) // 8
        state[2] = state[1] + np.int64(most if is_safe else 0)
        for turn in range(1 if is_safe else 0, 2):  # first count how many there are, then count them
            if turn == 1 and state[2] > len(counts) * 5 // 8:
                break
            depth = 1
            at[1] = start - 1
            while depth > 0:
                at[depth] += 1
                if at[depth] >= end:
                    depth -= 1
                    continue
                if turn == 0 and depth == size:
                    state[2] += end - at[depth]
                    at[depth] = end
                    continue
                steps += turn
                item = np.int64(items[at[depth]])
                if depth < size:
                    number[depth] = item
                    if depth > 1:
                        number[depth] = find_number(table, limits.shift, number[depth - 1] * n_items + item)
                    if number[depth] >= 0:
                        depth += 1
                        at[depth] = at[depth - 1]
                    continue
                key = number[depth - 1] * n_items + item
                place = find_place(counts, 64 - bits, key)
                if counts[place, KEY] == FREE:
                    counts[place, KEY] = key
                    state[1] += 1
                counts[place, NUMBER] += 1
        if state[2] > len(counts) * 5 // 8:
            break
        state[0] += 1
    state[3] += steps


@compiled
def list_holders(
    records: Ints, entries: Shorts, table: Ints, near: Bytes, pairs: Shorts, fill: Ints, holders: Shorts,
    has_rare: Bytes, state: Ints, limits: Limits, budget: int,
) -> None:  # fmt: skip
    """Enter records into the lists of the itemsets they hold, and mark those that hold a rare one.

    ``fill`` is the next place in ``holders`` for each itemset, -1 for those without a list. The pairs of records that
    hold a rare itemset or one that is ``near`` to it are written down as long as there is room. ``state`` is [next
    record, pairs written].
    """
    at = np.zeros(limits.m + 1, dtype=np.int64)
    number = np.zeros(limits.m + 1, dtype=np.int64)
    steps = 0
    while state[0] < len(records) - 1 and steps < budget:
        record = state[0]
        state[0] += 1
        start, end = records[record, START], records[record + 1, START]
        written = state[1]
        writes = written + (end - start) * (end - start - 1) // 2 <= len(pairs)
        is_concerned = is_near = False
        depth = 1
        at[1] = start - 1
        while depth > 0:
            at[depth] += 1
            if at[depth] >= end:
                depth -= 1
                continue
            steps += 1
            found = np.int64(entries[at[depth], ITEM])
            if depth > 1:
                found = find_number(table, limits.shift, number[depth - 1] * limits.n_items + found)
            if depth == 2 and writes:
                pairs[written] = found
                written += 1
            if found < 0:
                is_concerned = True
                continue
            is_near |= near[found] == 1
            if fill[found] >= 0:
                holders[fill[found]] = record
                fill[found] += 1
            if depth < limits.m:
                number[depth] = found
                depth += 1
                at[depth] = at[depth - 1]
        has_rare[record] = 1 if is_concerned else 0
        if (is_concerned or is_near) and writes and limits.m > 1:
            records[record, PAIRS] = state[1]
            state[1] = written
