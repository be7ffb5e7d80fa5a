# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value, type-arg, operator"
"""The loops of record generator 1: deal items to records, then swap entries between records.

Whole numbers only, so that every machine makes the same records. Nothing here is ever changed: another way to make
records is another file with another number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

Loop = TypeVar("Loop", bound=Callable[..., Any])

ONE = 1 << 14  # the weight of a pair that nobody has

Counts = NDArray[np.int64]
Items = NDArray[np.int32]
State = NDArray[np.uint64]  # [4] of the random numbers


def compiled(loop: Loop) -> Loop:
    """Plain Numba, kept on disk where a folder is writable. Loops here call loops of this file only."""
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # there is no such folder
        return njit(nogil=True)(loop)


@compiled
def _draw(state: State) -> Any:
    """The next 64 random bits (xoshiro256**)."""
    one = state[1] * np.uint64(5)
    result = ((one << np.uint64(7)) | (one >> np.uint64(57))) * np.uint64(9)
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return result


@compiled
def _below(state: State, limit: int) -> int:
    """A random number from 0 to ``limit`` - 1; ``limit`` is below 2^31."""
    return np.int64(((_draw(state) >> np.uint64(33)) * np.uint64(limit)) >> np.uint64(31))


@compiled
def _surprise(state: State) -> int:
    """-log2 of a random number between 0 and 1, in units of 2^-16, linear between powers of two."""
    bits = _draw(state) | np.uint64(1)
    whole = 0
    while bits < np.uint64(1 << 63):
        bits <<= np.uint64(1)
        whole += 1
    rest = np.int64((bits << np.uint64(1)) >> np.uint64(48))
    return np.int64(whole * 65536 + 65536 - rest)


@compiled
def deal(lengths: Counts, counts: Counts, dense: int, state: State, records: Items, items: Items) -> int:
    """Deal every item to as many different records as its count says; how many entries there are.

    ``items`` and ``records`` get the entries. Items of more than ``dense`` records are dealt one by one, evenly over
    the room that records have left. The others go into the positions that are left in random order; where a record
    would get an item twice, the entry goes to another record.
    """
    n_records, n_items = len(lengths), len(counts)
    room = lengths.copy()
    n = 0
    order = np.arange(n_records)
    for at in range(n_records - 1, 0, -1):
        other = _below(state, at + 1)
        order[at], order[other] = order[other], order[at]
    is_taken = np.zeros(n_records, dtype=np.uint8)
    for item in range(n_items):
        if counts[item] <= dense:
            continue
        total = np.int64(0)
        for record in range(n_records):
            is_taken[record] = 0
            total += max(room[record], 0)
        wanted = counts[item]
        passed, point, n_taken = np.int64(0), np.int64(_below(state, max(total // max(wanted, 1), 1))), np.int64(0)
        for place in range(n_records):  # every (total / wanted)-th place of the room
            record = order[place]
            passed += max(room[record], 0)
            if n_taken < wanted and passed * wanted > point:
                is_taken[record] = 1
                n_taken += 1
                while point < passed * wanted:
                    point += total
        if n_taken < wanted:  # those with the most room left take the rest
            largest = np.int64(0)
            for record in range(n_records):
                largest = max(largest, room[record])
            need = largest
            while n_taken < wanted:
                for place in range(n_records):
                    record = order[place]
                    if n_taken < wanted and is_taken[record] == 0 and room[record] == need:
                        is_taken[record] = 1
                        n_taken += 1
                need -= 1
        for record in range(n_records):
            if is_taken[record]:
                records[n] = record
                items[n] = item
                room[record] -= 1
                n += 1
    n_dense = n
    n_left = np.int64(0)
    for item in range(n_items):
        if counts[item] <= dense:
            for _ in range(counts[item]):
                items[n] = item
                n += 1
                n_left += 1
    place = n_dense
    for record in range(n_records):
        for _ in range(max(room[record], 0)):
            if place < n:
                records[place] = record
                place += 1
    while place < n:  # there are fewer positions than entries
        records[place] = _below(state, n_records)
        place += 1
    for at in range(n - 1, n_dense, -1):
        other = n_dense + _below(state, at - n_dense + 1)
        items[at], items[other] = items[other], items[at]
    return n


@compiled
def settle(starts: Counts, entries: Items, n_records: int, state: State) -> bool:
    """Swap entries until no record has an item twice; whether that succeeded. ``entries`` are in order of records."""
    owner = np.empty(len(entries), dtype=np.int32)
    for record in range(n_records):
        for place in range(starts[record], starts[record + 1]):
            owner[place] = record
    for _ in range(8):
        n_twice = 0
        for record in range(n_records):
            for place in range(starts[record], starts[record + 1]):
                if not _has(entries, starts[record], place, entries[place]):
                    continue
                n_twice += 1
                first = _below(state, len(entries))
                for step in range(len(entries)):
                    other = first + step
                    if other >= len(entries):
                        other -= len(entries)
                    to = owner[other]
                    if to == record or _has(entries, starts[to], starts[to + 1], entries[place]):
                        continue
                    if _has(entries, starts[record], starts[record + 1], entries[other]):
                        continue
                    entries[place], entries[other] = entries[other], entries[place]
                    break
        if n_twice == 0:
            return True
    return False


@compiled
def _has(entries: Items, start: int, end: int, item: int) -> bool:
    for place in range(start, end):
        if entries[place] == item:
            return True
    return False


@compiled
def count_pairs(starts: Counts, entries: Items, pair: NDArray[np.int32]) -> None:
    """Add the pairs of all records to ``pair[:, :, 0]``, which has the negative of what is wanted."""
    width = pair.shape[0]
    for record in range(len(starts) - 1):
        for one in range(starts[record], starts[record + 1]):
            if entries[one] >= width:
                continue
            for two in range(starts[record], starts[record + 1]):
                if one != two and entries[two] < width:
                    pair[entries[one], entries[two], 0] += 1


@compiled
def _slot(keys: Counts, key: int) -> int:
    """The place of a key, or the empty place where it would be; the number of positions is a power of two."""
    mask = np.uint64(len(keys) - 1)
    place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    at = np.int64(place & mask)
    while keys[at] != key and keys[at] >= 0:
        at = np.int64((np.uint64(at) + np.uint64(1)) & mask)
    return at


@compiled
def _key(one: int, two: int, three: int) -> int:
    """A triple as a number, whatever its order."""
    if one > two:
        one, two = two, one
    if two > three:
        two, three = three, two
    if one > two:
        one, two = two, one
    return ((np.int64(one) << 21) | np.int64(two)) << 21 | np.int64(three)


@compiled
def enter_triples(
    triples: Items, wanted: Counts, part: int, keys: Counts, triple: NDArray[np.int32], pair: NDArray[np.int32]
) -> None:
    """Put triples into a table: ``triple[:, 0]`` is the negative of what is wanted, ``triple[:, 1]`` the weight, of
    which the part ``1 / part`` is taken. The weights of their pairs become odd.
    """
    for number in range(len(triples)):
        one, two, three = triples[number, 0], triples[number, 1], triples[number, 2]
        key = _key(one, two, three)
        at = _slot(keys, key)
        keys[at] = key
        triple[at, 0] = -wanted[number]
        triple[at, 1] = max(ONE // (part * (wanted[number] + 1)), 1)
        pair[one, two, 1] |= 1
        pair[two, one, 1] |= 1
        pair[one, three, 1] |= 1
        pair[three, one, 1] |= 1
        pair[two, three, 1] |= 1
        pair[three, two, 1] |= 1


@compiled
def _is_in_triple(pair: NDArray[np.int32], one: int, two: int) -> bool:
    """Only listed pairs are, and these have a positive weight."""
    weight = pair[one, two, 1]
    return weight > 0 and weight & 1 == 1


@compiled
def count_triples(
    starts: Counts, entries: Items, pair: NDArray[np.int32], keys: Counts, triple: NDArray[np.int32]
) -> None:
    """Add the triples of all records to ``triple[:, 0]``."""
    width = pair.shape[0]
    for record in range(len(starts) - 1):
        for one in range(starts[record], starts[record + 1]):
            for two in range(one + 1, starts[record + 1]):
                if entries[one] >= width or entries[two] >= width:
                    continue
                if not _is_in_triple(pair, entries[one], entries[two]):
                    continue
                for three in range(two + 1, starts[record + 1]):
                    if entries[three] < width and _is_in_triple(pair, entries[one], entries[three]):
                        at = _slot(keys, _key(entries[one], entries[two], entries[three]))
                        if keys[at] >= 0:
                            triple[at, 0] += 1


@compiled
def _high(one: Any, two: Any) -> Any:
    """The upper 64 bits of a product of two numbers of 64 bits."""
    mask = np.uint64(0xFFFFFFFF)
    a, b, c, d = one >> np.uint64(32), one & mask, two >> np.uint64(32), two & mask
    middle = (b * d >> np.uint64(32)) + (a * d & mask) + (b * c & mask)
    return a * c + (a * d >> np.uint64(32)) + (b * c >> np.uint64(32)) + (middle >> np.uint64(32))


@compiled
def predict_triple(n_records: int, a: int, b: int, c: int, ab: int, ac: int, bc: int) -> int:
    """What counts of items and pairs predict for a triple, in sixteenths of a record.

    The distribution of largest entropy: t (a-only) (b-only) (c-only) = (ab-only) (ac-only) (bc-only) (none), by
    bisection. Counts are below 2^26, so that a product of two is below 2^60.
    """
    low = 16 * max(0, ab + ac - a, ab + bc - b, ac + bc - c)
    high = 16 * min(ab, ac, bc, n_records - a - b - c + ab + ac + bc)
    while high - low > 1:
        t = (low + high) >> 1
        one, two = t * (16 * (a - ab - ac) + t), (16 * (b - ab - bc) + t) * (16 * (c - ac - bc) + t)
        three = (16 * ab - t) * (16 * ac - t)
        four = (16 * bc - t) * (16 * (n_records - a - b - c + ab + ac + bc) - t)
        left, right = _high(np.uint64(one), np.uint64(two)), _high(np.uint64(three), np.uint64(four))
        if left == right:
            is_more = np.uint64(one) * np.uint64(two) > np.uint64(three) * np.uint64(four)
        else:
            is_more = left > right
        if is_more:
            high = t
        else:
            low = t
    return max(low, 0)


@compiled
def list_predicted(
    n_records: int, singles: Counts, pair: NDArray[np.int32], keys: Counts, triples: Items, wanted: Counts
) -> int:
    """All triples whose pairs are listed and that are not themselves in ``keys``, with what pairs predict; how many
    there are, which may be more than there is room for. ``pair`` has no counts yet.
    """
    width = pair.shape[0]
    n = 0
    near = np.empty(width, dtype=np.int32)
    for one in range(width):
        n_near = 0
        for two in range(one + 1, width):
            if pair[one, two, 1] > 0:
                near[n_near] = two
                n_near += 1
        for at in range(n_near):
            for beyond in range(at + 1, n_near):
                two, three = near[at], near[beyond]
                if pair[two, three, 1] <= 0:
                    continue
                if len(keys) > 1 and keys[_slot(keys, _key(one, two, three))] >= 0:
                    continue
                if n < len(triples):
                    triples[n, 0], triples[n, 1], triples[n, 2] = one, two, three
                    wanted[n] = (8 + predict_triple(
                        n_records, singles[one], singles[two], singles[three],
                        -np.int64(pair[one, two, 0]), -np.int64(pair[one, three, 0]), -np.int64(pair[two, three, 0]),
                    )) >> 4  # fmt: skip
                n += 1
        if n > len(triples):
            break
    return n


@compiled
def mark_in_triples(pair: NDArray[np.int32]) -> State:
    """One bit for every two items: whether a triple in the table has them, uint64[items, items / 64]."""
    width = pair.shape[0]
    bits = np.zeros((width, (width + 63) // 64), dtype=np.uint64)
    for one in range(width):
        for two in range(width):
            if one != two and _is_in_triple(pair, one, two):
                bits[one, two >> 6] |= np.uint64(1) << np.uint64(two & 63)
    return bits


@compiled
def mark_keys(keys: Counts) -> State:
    """Four bits for every place of a table of triples, of which each key sets one: most other keys find theirs unset,
    so that the table itself is rarely asked in vain.
    """
    marks = np.zeros(max(len(keys) >> 4, 1), dtype=np.uint64)
    for key in keys:
        if key >= 0:
            at = _mark(marks, key)
            marks[at >> np.uint64(6)] |= np.uint64(1) << (at & np.uint64(63))
    return marks


@compiled
def _mark(marks: State, key: int) -> Any:
    """The bit of a key; the number of words is a power of two."""
    mixed = np.uint64(key) * np.uint64(0xD6E8FEB86659FD93)
    return (mixed >> np.uint64(24)) & np.uint64(64 * len(marks) - 1)


@compiled
def _has_bit(bits: State, one: int, two: int) -> Any:
    return (bits[one, two >> 6] >> np.uint64(two & 63)) & np.uint64(1)


@compiled
def _pair_change(item: int, other: int, step: int, pair: NDArray[np.int32]) -> int:
    """By how much the cost changes if ``step`` records more have a pair. A negative weight counts only an excess."""
    weight = np.int64(pair[item, other, 1])
    change, half = 1 + 2 * step * np.int64(pair[item, other, 0]), weight >> 1
    if weight < 0:
        half = -half
        change = max(change, np.int64(0)) if step > 0 else min(change, np.int64(0))
    return half * change


@compiled
def _triple_change(
    item: int, skip: int, step: int, rows: Items, bits: State, marks: State, keys: Counts, triple: NDArray[np.int32],
    near: Items, is_done: bool,
) -> int:  # fmt: skip
    """The same for all triples of ``item`` with two items of the record of the entry ``skip``, which is passed over;
    ``is_done``: count them as well. ``near`` is room for the items of a record.
    """
    change, width, n_near = np.int64(0), bits.shape[0], 0
    if item >= width:
        return change
    for place in range(rows[skip, 1], rows[skip, 2]):
        other = rows[place, 0]
        if place != skip and other < width and _has_bit(bits, item, other):
            near[n_near] = other
            n_near += 1
    for one in range(n_near):
        for two in range(one + 1, n_near):
            if not _has_bit(bits, near[one], near[two]):
                continue
            key = _key(item, near[one], near[two])
            mark = _mark(marks, key)
            if not (marks[mark >> np.uint64(6)] >> (mark & np.uint64(63))) & np.uint64(1):
                continue
            at = _slot(keys, key)
            if keys[at] >= 0:
                change += np.int64(triple[at, 1]) * (1 + 2 * step * np.int64(triple[at, 0]))
                if is_done:
                    triple[at, 0] += step
    return change


@compiled
def _count_pair(item: int, near: int, step: int, pair: NDArray[np.int32]) -> None:
    pair[item, near, 0] += step
    pair[near, item, 0] += step


@compiled
def list_positions(entries: Items, begin: Counts, where: Items, slot: Items) -> None:
    """For each item the positions of its entries, ``where[begin[item]:begin[item + 1]]``, and for each place where it
    stands there.
    """
    filled = begin.copy()
    for place in range(len(entries)):
        item = entries[place]
        where[filled[item]] = place
        slot[place] = filled[item]
        filled[item] += 1


@compiled
def _has_item(rows: Items, place: int, item: int) -> bool:
    """Whether the record of an entry has an item."""
    for other in range(rows[place, 1], rows[place, 2]):
        if rows[other, 0] == item:
            return True
    return False


@compiled
def swap_entries(
    rows: Items, pairs: Items, begin: Counts, where: Items, slot: Items, pair: NDArray[np.int32], bits: State,
    marks: State, keys: Counts, triple: NDArray[np.int32], temperature: int, n_swaps: int, state: State,
) -> int:  # fmt: skip
    """Try ``n_swaps`` swaps of two entries of different records; how many were made. ``rows``: for each entry the item,
    and the first and the last place of its record, side by side, because they are read together.

    A swap that raises the cost by x is made with a probability of about 2^(-x / temperature). Every fourth swap brings
    together two items of a listed pair that too few records have.
    """
    width = pair.shape[0]
    has_triples = len(keys) > 1
    n_made = 0
    in_left, in_right = np.zeros(len(begin), dtype=np.int32), np.zeros(len(begin), dtype=np.int32)
    near_items = np.empty(len(begin), dtype=np.int32)
    for turn in range(n_swaps):
        if turn & 3 == 3 and len(pairs):
            number = _below(state, len(pairs))
            side = _below(state, 2)
            item, near = pairs[number, side], pairs[number, 1 - side]
            if pair[item, near, 0] >= 0:
                continue
            one = np.int64(where[begin[item] + _below(state, begin[item + 1] - begin[item])])
            partner = where[begin[near] + _below(state, begin[near + 1] - begin[near])]
            two = rows[partner, 1] + _below(state, rows[partner, 2] - rows[partner, 1])
            if two == partner:
                continue
        else:
            one, two = np.int64(_below(state, len(rows))), np.int64(_below(state, len(rows)))
        item, other = rows[one, 0], rows[two, 0]
        start, end, first, last = rows[one, 1], rows[one, 2], rows[two, 1], rows[two, 2]
        if start == first or item == other or _has_item(rows, two, item) or _has_item(rows, one, other):
            continue
        room = (temperature * (_surprise(state) >> 4)) >> 12
        change = np.int64(0)
        for place in range(start, end):
            in_left[rows[place, 0]] = turn + 1
        for place in range(first, last):
            in_right[rows[place, 0]] = turn + 1
        for place in range(start, end):
            near = rows[place, 0]
            if place == one or near >= width or in_right[near] == turn + 1:
                continue
            if item < width:
                change += _pair_change(item, near, -1, pair)
            if other < width:
                change += _pair_change(other, near, 1, pair)
        for place in range(first, last):
            near = rows[place, 0]
            if place == two or near >= width or in_left[near] == turn + 1:
                continue
            if other < width:
                change += _pair_change(other, near, -1, pair)
            if item < width:
                change += _pair_change(item, near, 1, pair)
        if change > (2 * room + ONE if has_triples else room):
            continue
        if has_triples:
            change += _triple_change(item, one, -1, rows, bits, marks, keys, triple, near_items, False)
            change += _triple_change(item, two, 1, rows, bits, marks, keys, triple, near_items, False)
            change += _triple_change(other, two, -1, rows, bits, marks, keys, triple, near_items, False)
            change += _triple_change(other, one, 1, rows, bits, marks, keys, triple, near_items, False)
            if change > room:
                continue
            _triple_change(item, one, -1, rows, bits, marks, keys, triple, near_items, True)
            _triple_change(item, two, 1, rows, bits, marks, keys, triple, near_items, True)
            _triple_change(other, two, -1, rows, bits, marks, keys, triple, near_items, True)
            _triple_change(other, one, 1, rows, bits, marks, keys, triple, near_items, True)
        for place in range(start, end):
            near = rows[place, 0]
            if place == one or near >= width:
                continue
            if item < width:
                _count_pair(item, near, -1, pair)
            if other < width:
                _count_pair(other, near, 1, pair)
        for place in range(first, last):
            near = rows[place, 0]
            if place == two or near >= width:
                continue
            if other < width:
                _count_pair(other, near, -1, pair)
            if item < width:
                _count_pair(item, near, 1, pair)
        rows[one, 0], rows[two, 0] = other, item
        where[slot[one]], where[slot[two]] = two, one
        slot[one], slot[two] = slot[two], slot[one]
        n_made += 1
    return n_made
