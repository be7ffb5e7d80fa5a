# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Loops over classes of records that are to become identical: optimal cuts of an ordering, moves and swaps.

The loss of a class of n records is what replacing them by their majority changes: per item the smaller of those with
it and those without. Written with ``count`` for the records that have an item, a record that joins a class costs

    (items of the class in more than half of it) + (items of the record) - 2·(common ones) - (those in exactly half of
    it)

because an item in exactly half of the class may as well stay or go. The same read backwards is what a record that
leaves saves. All losses are exact integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.chance import draw_below
from setveil.arrays.compiling import compiled
from setveil.arrays.mining import popcount

MOVE, SWAP = np.int64(0), np.int64(1)
MANY_MEMBERS = 64


class MarkedRecords(NamedTuple):
    """Records as copies of distinct rows. Marks (sensitive items) belong to the record and are only counted.

    Indices are unsigned, here and in ``Classes``: signed ones are checked for Python's count from the end, which takes
    a third of the time.
    """

    indptr: NDArray[np.uint32]  # [n_rows + 1]
    items: NDArray[np.uint32]
    copies: NDArray[np.uint32]  # [n_rows + 1] row j is that of records copies[j] … copies[j+1]-1
    of: NDArray[np.uint32]  # [n_records] the row of each record
    mark_indptr: NDArray[np.uint32]  # [n_records + 1]
    marks: NDArray[np.uint32]


class Classes(NamedTuple):
    """A partition of records with everything needed to price a step in the length of a record.

    Class c owns the slots ``first[c] … first[c+1]-1``: two more than it may have members, because ``tally`` counts the
    items that 0, 1, 2, … of its members have.
    """

    of: NDArray[np.uint32]  # [n_records]
    size: NDArray[np.int64]  # [n_classes]
    first: NDArray[np.uint32]  # [n_classes + 1]
    member: NDArray[np.uint32]  # [slots] records, the first size[c] of each class
    slot: NDArray[np.uint32]  # [n_records] where a record stands in ``member``
    count: NDArray[np.int16]  # [n_classes, n_items] int32 for very large classes
    tally: NDArray[np.int32]  # [slots]
    majority: NDArray[np.int64]  # [n_classes] items that more than half of the members have
    marked: NDArray[np.int32]  # [n_classes, n_marks]
    diversity: NDArray[np.int64]  # [n_classes] different marks


@compiled
def cut_order(
    rows: MarkedRecords,
    n_items: int,
    n_marks: int,
    order: NDArray[np.int64],
    k: int,
    l: int,  # noqa: E741
    longest: int,
    grid: int,
) -> tuple[int, NDArray[np.int64]]:
    """The cut of an ordering of records into runs of k … ``longest``, each with l different marks, with the least loss.

    Runs begin at multiples of ``grid``. Without marks and with a grid of 1 runs of more than 2k-1 are never needed:
    cutting one in two does not raise the loss. Returns the loss and the run of each place, int64[n]; among equal cuts
    the last run is the shortest. If there is no such cut, the loss is -1 and all positions are in run 0.
    """
    n = len(order)
    unreachable = np.int64(1) << 62
    least = np.full(n + 1, unreachable, dtype=np.int64)  # least loss of the first j records
    begin = np.zeros(n + 1, dtype=np.int64)  # where their last run begins
    least[0] = 0
    count = np.zeros(n_items, dtype=np.int64)
    tally = np.empty(longest + 2, dtype=np.int64)  # items that 0, 1, 2, … records of the run have
    seen = np.zeros(n_marks, dtype=np.int64)  # the last end for which a mark was met
    for end in range(k, n + 1):
        if end % grid and end < n:
            continue
        earliest = max(0, end - longest)
        tally[:] = 0
        loss = np.int64(0)
        majority = np.int64(0)
        diversity = 0
        for start in range(end - 1, earliest - 1, -1):  # the run grows backwards
            size = end - 1 - start
            loss += majority
            if size & 1:  # an item in just more than half is in exactly half once the run has grown
                majority -= tally[(size + 1) >> 1]
            record = order[start]
            row = rows.of[record]
            for place in range(rows.indptr[row], rows.indptr[row + 1]):
                held = count[rows.items[place]]
                loss += 1 - (2 * held >= size) - (2 * held > size)
                majority += (2 * held + 2 > size + 1) & (2 * held <= size + 1)
                tally[held] -= 1
                tally[held + 1] += 1
                count[rows.items[place]] = held + 1
            for place in range(rows.mark_indptr[record], rows.mark_indptr[record + 1]):
                diversity += seen[rows.marks[place]] != end
                seen[rows.marks[place]] = end
            if start % grid or size + 1 < k or (l > 1 and diversity < l):
                continue
            if least[start] + loss < least[end]:
                least[end] = least[start] + loss
                begin[end] = start
        for place in range(earliest, end):
            row = rows.of[order[place]]
            for other in range(rows.indptr[row], rows.indptr[row + 1]):
                count[rows.items[other]] = 0
    run = np.zeros(n, dtype=np.int64)
    if least[n] == unreachable:
        return -1, run
    n_runs, end = 0, n
    while end > 0:
        run[begin[end] : end] = n_runs
        n_runs += 1
        end = begin[end]
    return least[n], n_runs - 1 - run


@compiled
def found_classes(
    rows: MarkedRecords, class_of: NDArray[np.int64], count: NDArray[np.int16], marked: NDArray[np.int32], room: int
) -> Classes:
    """The state of a partition; each class may grow by ``room`` records. ``count`` and ``marked`` are zero on entry."""
    n_records, n_classes = len(class_of), len(count)
    first = np.zeros(n_classes + 1, dtype=np.int64)
    for record in range(n_records):
        first[class_of[record] + 1] += 1
    for c in range(n_classes):
        first[c + 1] += first[c] + room + 2
    classes = Classes(
        class_of.astype(np.uint32),
        np.zeros(n_classes, dtype=np.int64),
        first.astype(np.uint32),
        np.zeros(first[n_classes], dtype=np.uint32),
        np.zeros(n_records, dtype=np.uint32),
        count,
        np.zeros(first[n_classes], dtype=np.int32),
        np.zeros(n_classes, dtype=np.int64),
        marked,
        np.zeros(n_classes, dtype=np.int64),
    )
    for record in range(n_records):
        join(rows, classes, record, class_of[record])
    return classes


@compiled
def total_loss(classes: Classes) -> int:
    """The loss of all classes together."""
    loss = 0
    for c in range(len(classes.size)):
        for held in range(1, classes.size[c]):
            loss += classes.tally[classes.first[c] + held] * min(held, classes.size[c] - held)
    return loss


@compiled
def cost_of_joining(rows: MarkedRecords, classes: Classes, record: int, c: int) -> int:
    """By how much the loss of class c would grow if the record joined."""
    size = classes.size[c]
    cost = classes.majority[c]
    row = rows.of[record]
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        twice = 2 * classes.count[c, rows.items[place]]
        cost += 1 - (twice >= size) - (twice > size)
    return cost


@compiled
def gain_of_leaving(rows: MarkedRecords, classes: Classes, record: int) -> int:
    """By how much the loss of its class would shrink if the record left."""
    c = classes.of[record]
    size = classes.size[c]
    split = 0 if size & 1 else classes.tally[classes.first[c] + (size >> 1)]  # items in exactly half of the class
    return cost_of_joining(rows, classes, record, c) + split


@compiled
def join(rows: MarkedRecords, classes: Classes, record: int, c: int) -> None:
    """Put a record that is in no class into class c."""
    size = classes.size[c]
    if size & 1:
        classes.majority[c] -= classes.tally[classes.first[c] + ((size + 1) >> 1)]
    size += 1
    classes.size[c] = size
    row = rows.of[record]
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        change_count(classes, c, rows.items[place], 1)
    change_marks(rows, classes, record, c, 1)
    classes.of[record] = c
    classes.slot[record] = classes.first[c] + size - 1
    classes.member[classes.slot[record]] = record


@compiled
def leave(rows: MarkedRecords, classes: Classes, record: int) -> None:
    """Take a record out of its class; the last member gets its slot."""
    c = classes.of[record]
    row = rows.of[record]
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        change_count(classes, c, rows.items[place], -1)
    change_marks(rows, classes, record, c, -1)
    size = classes.size[c] - 1
    classes.size[c] = size
    if size & 1:
        classes.majority[c] += classes.tally[classes.first[c] + ((size + 1) >> 1)]
    last = classes.member[classes.first[c] + size]
    classes.slot[last] = classes.slot[record]
    classes.member[classes.slot[last]] = last


@compiled
def change_count(classes: Classes, c: int, item: int, by: int) -> None:
    """One member more or less has the item; the size of the class stays."""
    size = classes.size[c]
    before = classes.count[c, item]
    after = before + by
    classes.count[c, item] = after
    classes.tally[classes.first[c] + before] -= 1
    classes.tally[classes.first[c] + after] += 1
    classes.majority[c] += np.int64(2 * after > size) - np.int64(2 * before > size)


@compiled
def change_marks(rows: MarkedRecords, classes: Classes, record: int, c: int, by: int) -> None:
    """The marks of a record come to or leave class c."""
    for place in range(rows.mark_indptr[record], rows.mark_indptr[record + 1]):
        before = classes.marked[c, rows.marks[place]]
        classes.marked[c, rows.marks[place]] = before + by
        classes.diversity[c] += np.int64(before + by > 0) - np.int64(before > 0)


@compiled
def cost_of_swapping(
    rows: MarkedRecords, classes: Classes, record: int, other: int, stamp: NDArray[np.int64], step: int
) -> int:
    """By how much the loss would grow if two records of different classes changed places. Common items do not
    matter.

    ``stamp`` [n_items] holds numbers of earlier steps. No branches: which items are common cannot be predicted.
    """
    a, b = classes.of[record], classes.of[other]
    size_a, size_b = classes.size[a], classes.size[b]
    cost = np.int64(0)
    row, other_row = rows.of[record], rows.of[other]
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        item = rows.items[place]
        stamp[item] = step
        cost += cost_of_change(2 * classes.count[a, item], size_a, 2 * classes.count[b, item], size_b)
    for place in range(rows.indptr[other_row], rows.indptr[other_row + 1]):
        item = rows.items[place]
        here, there = 2 * classes.count[a, item], 2 * classes.count[b, item]
        common = -cost_of_change(here, size_a, there, size_b)  # was counted above
        cost += common if stamp[item] == step else cost_of_change(there, size_b, here, size_a)
    return cost


@compiled
def cost_of_change(leaves: int, size: int, comes: int, other_size: int) -> int:
    """What it costs that an item leaves a class and comes to another; both given as twice its count, and the size."""
    return (leaves > size + 1) - (leaves <= size) + (comes < other_size - 1) - (comes >= other_size)


@compiled
def swap(rows: MarkedRecords, classes: Classes, record: int, other: int) -> None:
    """Two records of different classes change places."""
    a, b = classes.of[record], classes.of[other]
    row, other_row = rows.of[record], rows.of[other]
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        change_count(classes, a, rows.items[place], -1)
        change_count(classes, b, rows.items[place], 1)
    for place in range(rows.indptr[other_row], rows.indptr[other_row + 1]):
        change_count(classes, b, rows.items[place], -1)
        change_count(classes, a, rows.items[place], 1)
    change_marks(rows, classes, record, a, -1)
    change_marks(rows, classes, other, b, -1)
    change_marks(rows, classes, record, b, 1)
    change_marks(rows, classes, other, a, 1)
    classes.of[record], classes.of[other] = b, a
    classes.slot[record], classes.slot[other] = classes.slot[other], classes.slot[record]
    classes.member[classes.slot[record]] = record
    classes.member[classes.slot[other]] = other


@compiled
def diversity_without(rows: MarkedRecords, classes: Classes, record: int, newcomer: int) -> int:
    """Different marks in the class of a record once it has left and the newcomer (-1: nobody) has come."""
    c = classes.of[record]
    diversity = classes.diversity[c]
    for place in range(rows.mark_indptr[record], rows.mark_indptr[record + 1]):
        diversity -= classes.marked[c, rows.marks[place]] == 1
    if newcomer >= 0:
        for place in range(rows.mark_indptr[newcomer], rows.mark_indptr[newcomer + 1]):
            mark = rows.marks[place]
            left = classes.marked[c, mark]
            for own in range(rows.mark_indptr[record], rows.mark_indptr[record + 1]):
                left -= rows.marks[own] == mark
            diversity += left == 0
    return diversity


@compiled
def draw_copy(rows: MarkedRecords, state: NDArray[np.uint64], row: int) -> int:
    """A random record among the copies of a row."""
    n_copies = rows.copies[row + 1] - rows.copies[row]
    return rows.copies[row] + (draw_below(state, n_copies) if n_copies > 1 else 0)


@compiled
def saved_by_swapping(rows: MarkedRecords, classes: Classes, record: int) -> int:
    """What the class of a record would save if a record without items took its place."""
    c = classes.of[record]
    size, row, saved = classes.size[c], rows.of[record], np.int64(0)
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        twice = 2 * classes.count[c, rows.items[place]]
        saved += (twice <= size) - (twice > size + 1)
    return saved


@compiled
def bits_of_row(rows: MarkedRecords, row: int) -> np.uint64:
    """One of 64 bits for each item of a row; an item shares its bit with others."""
    bits = np.uint64(0)
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        bits |= np.uint64(1) << np.uint64(rows.items[place] & 63)
    return bits


@compiled
def cost_of_coming(rows: MarkedRecords, classes: Classes, row: int, c: int) -> int:
    """What it would cost class c if a row took the place of a member without items."""
    size, cost = classes.size[c], np.int64(0)
    for place in range(rows.indptr[row], rows.indptr[row + 1]):
        twice = 2 * classes.count[c, rows.items[place]]
        cost += (twice < size - 1) - (twice >= size)
    return cost


@compiled
def find_bits(
    rows: MarkedRecords, classes: Classes, row_bits: NDArray[np.uint64], c: int, digits: NDArray[np.uint64]
) -> tuple[np.uint64, np.uint64]:
    """The bits that at least half the members of a class have, and those that would be with one more; all of them if
    there are too many members.

    Members are counted for all bits at once: ``digits`` are those of the binary counts.
    """
    size = classes.size[c]
    if size >= 1 << len(digits):
        return ~np.uint64(0), ~np.uint64(0)
    digits[:] = 0
    for slot in range(classes.first[c], classes.first[c] + size):
        carry = row_bits[rows.of[classes.member[slot]]]
        digit = 0
        while carry:
            carry, digits[digit] = carry & digits[digit], carry ^ digits[digit]
            digit += 1
    return bits_above(digits, (size + 1) >> 1), bits_above(digits, size >> 1)


@compiled
def bits_above(digits: NDArray[np.uint64], least: int) -> np.uint64:
    """The bits whose count is at least this number."""
    more, equal = np.uint64(0), ~np.uint64(0)  # in the digits looked at
    for digit in range(len(digits) - 1, -1, -1):
        if (least >> digit) & 1:
            equal &= digits[digit]
        else:
            more |= equal & digits[digit]
            equal &= ~digits[digit]
    return more | equal


@compiled
def weave_classes(
    rows: MarkedRecords,
    classes: Classes,
    neighbours: NDArray[np.int32],
    k: int,
    l: int,  # noqa: E741
    n_steps: int,
    state: NDArray[np.uint64],
) -> int:
    """Random moves and swaps between the classes of neighbouring rows, none of which raises the loss; returns the gain.

    Each step draws a row, one of its ``neighbours`` [n_rows, n_neighbours] and a copy of each. If they are in different
    classes, the first moves to the other's class, or, where its own has no member to spare, changes places with a
    random member of that class. No class falls below k members or l different marks.

    Most steps are refused, and most of these without a look at counts. What a record saves by leaving holds until its
    class changes. An item that comes costs 1, or saves 1 if about half of the class have it; there are at most as many
    of these as the bits of the row and the class have in common, and items that share a bit.
    """
    n_rows, n_neighbours = neighbours.shape
    n_records, n_classes = len(classes.of), len(classes.size)
    total = 0
    stamp = np.full(classes.count.shape[1], -1, dtype=np.int64)
    row_bits = np.empty(n_rows, dtype=np.uint64)
    n_certain = np.empty(n_rows, dtype=np.int64)  # items that cost 1 if no bits are in common, minus all others
    for row in range(n_rows):
        row_bits[row] = bits_of_row(rows, row)
        n_certain[row] = 2 * popcount(row_bits[row]) - np.int64(rows.indptr[row + 1] - rows.indptr[row])
    changed = np.zeros(n_classes, dtype=np.int64)  # the last step that changed a class
    bits = np.zeros((n_classes, 2), dtype=np.uint64)
    digits = np.empty(6, dtype=np.uint64)
    bits_at = np.zeros(n_classes, dtype=np.int64)  # the step that found them
    saved = np.zeros((n_records, 2), dtype=np.int64)
    saved_at = np.zeros((n_records, 2), dtype=np.int64)
    for step in range(1, n_steps + 1):
        row = draw_below(state, n_rows)
        record = draw_copy(rows, state, row)
        own = classes.of[record]
        target = classes.of[draw_copy(rows, state, neighbours[row, draw_below(state, n_neighbours)])]
        if target == own:
            continue
        size = classes.size[target]
        is_move = classes.size[own] > k and size + 2 < classes.first[target + 1] - classes.first[target]
        for c in (own, target):
            if bits_at[c] <= changed[c]:
                bits[c, MOVE], bits[c, SWAP] = find_bits(rows, classes, row_bits, c, digits)
                bits_at[c] = step
        if is_move:
            if saved_at[record, MOVE] <= changed[own]:
                saved[record, MOVE] = gain_of_leaving(rows, classes, record)
                saved_at[record, MOVE] = step
            gain = saved[record, MOVE]
            least = classes.majority[target] + n_certain[row] - 2 * popcount(row_bits[row] & bits[target, MOVE])
            if gain == 0 or gain < least:
                continue
            gain -= cost_of_joining(rows, classes, record, target)
            if gain < 0 or (l > 1 and diversity_without(rows, classes, record, -1) < l):
                continue
            leave(rows, classes, record)
            join(rows, classes, record, target)
        else:
            other = np.int64(classes.member[classes.first[target] + draw_below(state, size)])
            other_row = rows.of[other]
            if other_row == row:
                continue
            for one in (record, other):
                if saved_at[one, SWAP] <= changed[classes.of[one]]:
                    saved[one, SWAP] = saved_by_swapping(rows, classes, one)
                    saved_at[one, SWAP] = step
            gain = saved[record, SWAP] + saved[other, SWAP]  # items that both have do not add to it
            gain -= n_certain[other_row] - 2 * popcount(row_bits[other_row] & bits[own, SWAP])
            if gain < n_certain[row] - 2 * popcount(row_bits[row] & bits[target, SWAP]):
                continue
            if gain < cost_of_coming(rows, classes, row, target):
                continue
            gain = -cost_of_swapping(rows, classes, record, other, stamp, step)
            if gain < 0 or (
                l > 1
                and min(
                    diversity_without(rows, classes, record, other), diversity_without(rows, classes, other, record)
                )
                < l
            ):
                continue
            swap(rows, classes, record, other)
        changed[own] = changed[target] = step
        total += gain
    return total
