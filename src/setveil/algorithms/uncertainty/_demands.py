# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""The loop that lists what makes a sensitive item too certain.

Records are rows of items beside the sensitive item; the *holders*, the records with it, come first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.rows import sort_distinct

DONE, PAUSED, FULL, FLUSH = range(4)  # how ``gather_demands`` comes back
# Positions in its state
DEPTH, N_KNOWN, N_FOUND, N_OWNERS, NEED, STEPS, LIMIT, BUDGET = range(8)


@compiled
def _drop_equal(
    branches: NDArray[np.int64], first: int, last: int, rows: NDArray[np.int32], slots: NDArray[np.int64]
) -> int:
    """Empty each branch with the same holders as one before: it leads to the same closed itemsets."""
    steps = 0
    mask = len(slots) - 1
    for turn in range(2):  # enter them, then clean up
        for branch in range(first, last):
            begin = branches[branch, 1]
            length = branches[branch, 2] - begin
            mixed = np.uint64(length)
            for at in range(begin, begin + length):
                mixed = (mixed ^ np.uint64(rows[at])) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
            slot = np.int64(mixed & np.uint64(mask))
            steps += length + 1
            while slots[slot] != 0:
                if turn == 1:
                    slots[slot] = 0
                    slot = (slot + 1) & mask
                    continue
                other = slots[slot] - 1
                start = branches[other, 1]
                is_equal = branches[other, 2] - start == length
                place = 0
                while is_equal and place < length:
                    is_equal = rows[start + place] == rows[begin + place]
                    place += 1
                if is_equal:
                    branches[branch, 2] = begin
                    break
                slot = (slot + 1) & mask
            if turn == 0 and slots[slot] == 0:
                slots[slot] = branch + 1
    return steps


@compiled
def gather_demands(
    records: NDArray[np.int64],  # [records, 3] where the items begin, where they end, weight
    items: NDArray[np.int32],
    levels: NDArray[np.int64],  # [depth, 4] next branch, end of branches, end of rows, known items before this depth
    branches: NDArray[np.int64],  # [branches, 4] item, begin, end of holders, end
    rows: NDArray[np.int32],  # the records of each branch
    known: NDArray[np.int32],  # [n_items + 1] the known items of the current node
    owners: NDArray[np.int32],  # the holders of each itemset found, one after the other
    found: NDArray[np.int64],  # [room, 2] end in ``owners``, demand
    state: NDArray[np.int64],
    allowed: NDArray[np.int64],  # [n_records + 1] how many of so many records may be holders
) -> int:
    """List itemsets whose holders are more than allowed among all records with it, and by how many.

    ``state[LIMIT]``: the most items; 0: closed itemsets of any size that two distinct holders have. It comes back after
    ``state[BUDGET]`` steps.
    """
    size_limit, n_items, n_slots = state[LIMIT], len(known), 1
    while n_slots <= 2 * n_items:
        n_slots *= 2
    slots = np.zeros(n_slots, dtype=np.int64)  # all 0 between nodes
    counts, touched = np.zeros((n_items, 2), dtype=np.int64), np.empty(n_items, dtype=np.int32)  # the same
    inside = np.zeros(n_items, dtype=np.int64)  # 1 for known items
    for place in range(state[N_KNOWN]):
        inside[known[place]] = 1
    steps = 0
    while True:
        if steps > state[BUDGET]:
            state[STEPS] += steps
            return PAUSED
        depth = state[DEPTH]
        if levels[depth, 0] == levels[depth, 1]:
            if depth == 0:
                state[STEPS] += steps
                return DONE
            for place in range(levels[depth, 3], state[N_KNOWN]):
                inside[known[place]] = 0
            state[N_KNOWN] = levels[depth, 3]
            state[DEPTH] -= 1
            continue
        branch = levels[depth, 0]
        item, begin, split, end = branches[branch, 0], branches[branch, 1], branches[branch, 2], branches[branch, 3]
        if split == begin:  # the same holders as a smaller item
            levels[depth, 0] += 1
            continue
        before = state[N_KNOWN]
        n_known = before
        n_touched = 0
        both = 0
        n_entries = 0
        for at in range(begin, split):
            row = rows[at]
            both += records[row, 2]
            n_entries += records[row, 1] - records[row, 0] + 1
            for place in range(records[row, 0], records[row, 1]):
                other = items[place]
                if counts[other, 0] == 0:
                    touched[n_touched] = other
                    n_touched += 1
                counts[other, 0] += 1
        steps += n_entries
        is_new = True  # whether no smaller item leads to the same closed itemset
        n_next = 0
        for position in range(n_touched):
            other = touched[position]
            if inside[other] == 1:
                counts[other, 0] = 0
            elif other == item or (size_limit == 0 and counts[other, 0] == split - begin):
                is_new = is_new and other >= item
                known[n_known] = other
                n_known += 1
                counts[other, 0] = 0
            elif other < item or (size_limit == 0 and counts[other, 0] == 1):
                counts[other, 0] = 0
            else:
                touched[n_next] = other
                n_next += 1
        if not is_new:
            for position in range(n_next):
                counts[touched[position], 0] = 0
            levels[depth, 0] += 1
            continue
        for place in range(before, n_known):
            inside[known[place]] = 1
        alone = both
        last = split
        for at in range(split, end):
            row = rows[at]
            has = 0
            steps += records[row, 1] - records[row, 0] + 1
            for place in range(records[row, 0], records[row, 1]):
                has += inside[items[place]]
            if has == n_known:
                rows[last] = row
                last += 1
                alone += records[row, 2]
        branches[branch, 3] = last
        goes_on = n_next > 0 and (size_limit == 0 or n_known < size_limit)
        is_last = goes_on and n_known + 1 == size_limit  # counts are enough then
        n_rows_below = 0
        if goes_on:
            sort_distinct(touched, 0, n_next)
            if is_last:
                for position in range(n_next):
                    counts[touched[position], 0] = 1  # as a mark; what follows adds weights
            else:
                for position in range(n_next):
                    n_rows_below += counts[touched[position], 0]
            for at in range(begin if is_last else split, last):
                row = rows[at]
                steps += records[row, 1] - records[row, 0]
                for place in range(records[row, 0], records[row, 1]):
                    other = items[place]
                    if counts[other, 0] > 0:
                        if not is_last:
                            counts[other, 1] += 1
                            n_rows_below += 1
                        elif at < split:
                            counts[other, 0] += records[row, 2]
                        else:
                            counts[other, 1] += records[row, 2]
        answer = DONE
        first = levels[depth, 2]
        if (
            not is_last
            and goes_on
            and (
                first + n_rows_below > len(rows) or levels[depth, 1] + n_next > len(branches) or depth + 2 > len(levels)
            )
        ):
            answer = FULL
            state[NEED] = first + n_rows_below
        elif state[N_OWNERS] + n_entries > len(owners) or state[N_FOUND] + 1 + n_next > len(found):
            answer = FLUSH
        if answer != DONE:
            for position in range(n_next):
                counts[touched[position], 0] = 0
                counts[touched[position], 1] = 0
            for place in range(before, n_known):
                inside[known[place]] = 0
            state[STEPS] += steps
            return answer
        levels[depth, 0] += 1
        for position in range(-1, n_next if is_last else 0):
            n_both, n_alone = both, alone
            if position >= 0:
                other = touched[position]
                n_both = counts[other, 0] - 1
                n_alone = n_both + counts[other, 1]
                counts[other, 0] = 0
                counts[other, 1] = 0
            demand = n_both - allowed[n_alone]
            if demand > 0:
                to = state[N_OWNERS]
                for at in range(begin, split):
                    has_all = position < 0
                    if not has_all:
                        for place in range(records[rows[at], 0], records[rows[at], 1]):
                            has_all = has_all or items[place] == touched[position]
                    if has_all:
                        owners[to] = rows[at]
                        to += 1
                state[N_OWNERS] = to
                found[state[N_FOUND], 0] = to
                found[state[N_FOUND], 1] = demand
                state[N_FOUND] += 1
        if not goes_on or is_last:
            for position in range(n_next):
                counts[touched[position], 0] = 0
            for place in range(before, n_known):
                inside[known[place]] = 0
            continue
        # One branch per item that may follow, with the rows that have it: holders first.
        n_branches = levels[depth, 1]
        at = first
        for position in range(n_next):
            other = touched[position]
            branches[n_branches + position, 0] = other
            branches[n_branches + position, 1] = at
            branches[n_branches + position, 2] = at + counts[other, 0]
            at += counts[other, 0] + counts[other, 1]
            branches[n_branches + position, 3] = at
            counts[other, 1] = branches[n_branches + position, 1] + 1  # where its next row goes, plus 1
            counts[other, 0] = 1
        for source in range(begin, last):
            row = rows[source]
            for place in range(records[row, 0], records[row, 1]):
                other = items[place]
                if counts[other, 0] > 0:
                    rows[counts[other, 1] - 1] = row
                    counts[other, 1] += 1
        for position in range(n_next):
            counts[touched[position], 0] = 0
            counts[touched[position], 1] = 0
        if size_limit == 0:
            steps += _drop_equal(branches, n_branches, n_branches + n_next, rows, slots)
        levels[depth + 1, 0] = n_branches
        levels[depth + 1, 1] = n_branches + n_next
        levels[depth + 1, 2] = at
        levels[depth + 1, 3] = before
        state[N_KNOWN] = n_known
        state[DEPTH] += 1
