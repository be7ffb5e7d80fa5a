# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops over rules: records are bits, one row of words per cluster and per right side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.mining import popcount


@compiled
def fill_bits(owners: NDArray[np.int64], rows: NDArray[np.int64], bits: NDArray[np.uint64]) -> None:
    """Set the bit of record ``owners[j]`` in row ``rows[j]``; rows below 0 are passed over."""
    for place in range(len(owners)):
        if rows[place] >= 0:
            bits[rows[place], owners[place] >> 6] |= np.uint64(1) << np.uint64(owners[place] & 63)


@compiled
def count_union(bits: NDArray[np.uint64], row: int, others: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Records with ``row`` or the other row, for each other row."""
    for number in range(len(others)):
        other = others[number]
        total = 0
        for word in range(bits.shape[1]):
            total += np.int64(popcount(bits[row, word] | bits[other, word]))
        counts[number] = total


@compiled
def count_rules(
    bits: NDArray[np.uint64],
    cluster_of: NDArray[np.int64],  # [public items] row of ``bits``
    starts: NDArray[np.int64],  # [rules + 1] into ``known``
    known: NDArray[np.int64],  # public items of the left sides
    sides: NDArray[np.uint64],  # [right sides] records with it
    limits: NDArray[np.int64],  # [rules, 5] right side, k, numerator and denominator of the share, surplus allowed
    which: NDArray[np.int64],  # the rules to count
    alone: NDArray[np.int64],  # [which]
    surplus: NDArray[np.int64],  # [which] records with both sides above what the share allows, 0 or less if none
    stops: bool,  # at the first rule that is violated
) -> int:
    """Count rules in the clustering; where the first violated one stands in ``which``, or how many there are."""
    n_words = bits.shape[1]
    rows = np.empty(len(cluster_of) + 1, dtype=np.int64)
    first = len(which)
    for number in range(len(which)):
        rule = which[number]
        n_rows = 0
        for place in range(starts[rule], starts[rule + 1]):
            row = cluster_of[known[place]]
            is_new = True
            for other in range(n_rows):
                is_new = is_new and rows[other] != row
            if is_new:
                rows[n_rows] = row
                n_rows += 1
        side = limits[rule, 0]
        n_alone = 0
        n_both = 0
        for word in range(n_words):
            mask = bits[rows[0], word]
            for other in range(1, n_rows):
                mask &= bits[rows[other], word]
            if mask != 0:
                n_alone += np.int64(popcount(mask))
                n_both += np.int64(popcount(mask & sides[side, word]))
        above = n_both - n_alone * limits[rule, 2] // limits[rule, 3]
        alone[number] = n_alone
        surplus[number] = above
        if first == len(which) and (0 < n_alone < limits[rule, 1] or above > limits[rule, 4]):
            first = number
            if stops:
                break
    return first


@compiled
def list_matches(
    bits: NDArray[np.uint64],
    starts: NDArray[np.int64],  # [rules + 1] into ``known``
    known: NDArray[np.int64],
    which: NDArray[np.int64],  # the rules to list
    bounds: NDArray[np.int64],  # [which + 1] where the records of each begin
    records: NDArray[np.int64],  # filled
) -> None:
    """The records that match the left side of each rule, ascending."""
    for number in range(len(which)):
        rule, place = which[number], bounds[number]
        for word in range(bits.shape[1]):
            mask = bits[known[starts[rule]], word]
            for other in range(starts[rule] + 1, starts[rule + 1]):
                mask &= bits[known[other], word]
            while mask != 0:
                lowest = mask & (~mask + np.uint64(1))
                records[place] = word * 64 + np.int64(popcount(lowest - np.uint64(1)))
                place += 1
                mask ^= lowest


@compiled
def hit_sides(
    bounds: NDArray[np.int64],  # [records + 1] into ``sides``
    sides: NDArray[np.int64],  # the rules whose left sides each record must not match
    starts: NDArray[np.int64],
    known: NDArray[np.int64],
    rank: NDArray[np.int64],  # [public items] of equal ones the lowest is taken; below 0 is never taken
    slots: NDArray[np.int64],  # [sides] filled with the items that are taken, record by record
    taken: NDArray[np.int64],  # [records] filled with how many are taken of each
) -> None:
    """An item of each left side, as few as possible per record: the item of most sides again and again."""
    n_sides = np.zeros(len(rank), dtype=np.int64)
    is_open = np.ones(len(sides), dtype=np.bool_)
    end = 0
    for record in range(len(bounds) - 1):
        n_open = bounds[record + 1] - bounds[record]
        while n_open > 0:
            best = -1
            for number in range(bounds[record], bounds[record + 1]):
                if is_open[number]:
                    for place in range(starts[sides[number]], starts[sides[number] + 1]):
                        slot = known[place]
                        if rank[slot] >= 0:
                            n_sides[slot] += 1
                            is_more = best < 0 or n_sides[slot] > n_sides[best]
                            if is_more or (n_sides[slot] == n_sides[best] and rank[slot] < rank[best]):
                                best = slot
            for number in range(bounds[record], bounds[record + 1]):
                if is_open[number]:
                    for place in range(starts[sides[number]], starts[sides[number] + 1]):
                        n_sides[known[place]] = 0
                        if known[place] == best:
                            is_open[number] = False
                            n_open -= 1
            slots[end] = best
            end += 1
            taken[record] += 1


@compiled
def give_back(
    bits: NDArray[np.uint64],  # [public items] changed; all ones for an item that is in no record
    starts: NDArray[np.int64],
    known: NDArray[np.int64],
    by_slot: NDArray[np.int64],  # the rules of each public item, one after the other
    slot_starts: NDArray[np.int64],  # [public items + 1] into ``by_slot``
    alone: NDArray[np.int64],  # [rules] records that match; changed
    limits: NDArray[np.int64],
    entries: NDArray[np.int64],  # [entries, 2] public item and record of what is suppressed
) -> int:
    """Show entries again that complete no left side but such that many records match; how many."""
    n_back = 0
    for number in range(len(entries)):
        slot, record = entries[number, 0], entries[number, 1]
        word, bit = record >> 6, np.uint64(1) << np.uint64(record & 63)
        if bits[slot, word] & bit:
            continue
        is_safe = True
        for turn in range(2):  # look, then count
            for at in range(slot_starts[slot], slot_starts[slot + 1]):
                rule = by_slot[at]
                matches = True
                for place in range(starts[rule], starts[rule + 1]):
                    if known[place] != slot and not bits[known[place], word] & bit:
                        matches = False
                        break
                if matches and turn == 1:
                    alone[rule] += 1
                elif matches and alone[rule] < limits[rule, 1]:
                    is_safe = False
                    break
            if not is_safe:
                break
        if is_safe:
            bits[slot, word] |= bit
            n_back += 1
    return n_back
