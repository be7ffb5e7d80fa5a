# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""The verifier's own walk over what a sensitive item occurs with: closed itemsets, or all of at most p items.

Rows are CSR over the items beside one sensitive item. The *holders* are the records with that item; they come first.
Nothing here is shared with the algorithms. All counts are int64. The walk can be left after a given number of steps
and resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core.progress import Progress
from setveil.errors import UncheckedError
from setveil.verify.counting import compiled
from setveil.verify.tables import Table, number_rows

BUDGET = 20_000_000  # steps per compiled call
MOST_STEPS = 4_000_000_000  # steps, before the answer is "cannot be verified"

DONE, PAUSED, FULL, FLUSH = range(4)  # how ``walk_rules`` comes back
# Places in the walk's state
DEPTH, N_KNOWN, N_FOUND, N_MEMBERS, NEED, OVER, UNDER, RISES, STEPS = range(9)


@compiled  # as in counting.py: Numba notices changes in the file of a loop only
def _sort(values: NDArray[np.int32]) -> None:
    """Sort in place, ascending, by a heap.

    Not Numba's own sort: that is made from closures whose cached code is told apart by a counter only, and can be
    linked wrongly with that of other cached loops.
    """
    n = len(values)
    for turn in range(n // 2 + n - 1):  # first make a heap, then take its largest value again and again
        if turn < n // 2:
            at, end = n // 2 - 1 - turn, n
        else:
            at, end = 0, n - 1 - (turn - n // 2)
            values[0], values[end] = values[end], values[0]
        value = values[at]
        child = 2 * at + 1
        while child < end:
            if child + 1 < end and values[child] < values[child + 1]:
                child += 1
            if values[child] <= value:
                break
            values[at] = values[child]
            at = child
            child = 2 * at + 1
        values[at] = value


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
def walk_rules(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.int64],
    levels: NDArray[np.int64],  # [depth, 4] next branch, end of branches, end of rows, known items before this depth
    branches: NDArray[np.int64],  # [branches, 4] item, begin, end of holders, end
    rows: NDArray[np.int32],
    known: NDArray[np.int32],  # the known items of the current node
    inside: NDArray[np.int64],  # [n_items] 1 for known items
    counts: NDArray[np.int64],  # [n_items, 2] scratch, all 0 between nodes
    touched: NDArray[np.int32],  # [n_items] scratch
    slots: NDArray[np.int64],  # [a power of two above 2 * n_items] scratch, all 0 between nodes
    members: NDArray[np.int32],  # known items of the rules found, one rule after the other
    found: NDArray[np.int64],  # [room, 3] end in ``members``, records with both, records with the known items
    state: NDArray[np.int64],
    size_limit: int,  # 0: closed itemsets of any size that two rows of holders have
    budget: int,
) -> int:
    """List rules above the threshold OVER/UNDER; if it RISES, only those above all before."""
    steps = 0
    while True:
        if steps > budget:
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
        for at in range(begin, split):
            row = rows[at]
            both += weights[row]
            steps += indptr[row + 1] - indptr[row] + 1
            for place in range(indptr[row], indptr[row + 1]):
                other = items[place]
                if counts[other, 0] == 0:
                    touched[n_touched] = other
                    n_touched += 1
                counts[other, 0] += 1
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
            steps += indptr[row + 1] - indptr[row] + 1
            for place in range(indptr[row], indptr[row + 1]):
                has += inside[items[place]]
            if has == n_known:
                rows[last] = row
                last += 1
                alone += weights[row]
        branches[branch, 3] = last
        goes_on = n_next > 0 and (size_limit == 0 or n_known < size_limit)
        is_last = goes_on and n_known + 1 == size_limit  # counts are enough then
        n_places = 0
        if goes_on:
            _sort(touched[:n_next])
            if is_last:
                for position in range(n_next):
                    counts[touched[position], 0] = 1  # as a mark; what follows adds weights
            else:
                for position in range(n_next):
                    n_places += counts[touched[position], 0]
            for at in range(begin if is_last else split, last):
                row = rows[at]
                steps += indptr[row + 1] - indptr[row]
                for place in range(indptr[row], indptr[row + 1]):
                    other = items[place]
                    if counts[other, 0] > 0:
                        if not is_last:
                            counts[other, 1] += 1
                            n_places += 1
                        elif at < split:
                            counts[other, 0] += weights[row]
                        else:
                            counts[other, 1] += weights[row]
        room = n_known + 1 if not is_last else (n_next + 1) * (n_known + 1)
        answer = DONE
        first = levels[depth, 2]
        if (
            not is_last
            and goes_on
            and (first + n_places > len(rows) or levels[depth, 1] + n_next > len(branches) or depth + 2 > len(levels))
        ):
            answer = FULL
            state[NEED] = first + n_places
        elif state[N_MEMBERS] + room > len(members) or state[N_FOUND] + 1 + n_next > len(found):
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
            if n_both * state[UNDER] > state[OVER] * n_alone:
                if state[RISES] == 1:
                    state[OVER] = n_both
                    state[UNDER] = n_alone
                at = state[N_MEMBERS]
                for place in range(n_known):
                    members[at + place] = known[place]
                at += n_known
                if position >= 0:
                    members[at] = touched[position]
                    at += 1
                state[N_MEMBERS] = at
                number = state[N_FOUND]
                found[number, 0] = at
                found[number, 1] = n_both
                found[number, 2] = n_alone
                state[N_FOUND] = number + 1
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
            for place in range(indptr[row], indptr[row + 1]):
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


@dataclass
class Steps:
    """The work that was done, to give up beyond a limit."""

    progress: Progress
    done: int = 0

    def add(self, steps: int) -> None:
        self.done += steps
        self.progress("verify", None)
        if self.done > MOST_STEPS:
            raise UncheckedError(
                f"more than {MOST_STEPS:,} entries of records would have to be compared; choose a smaller -p."
            )


def rules_above(
    table: Table, item: int, threshold: Fraction, p: int | str, rises: bool, steps: Steps
) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Rules that reveal ``item`` with more than ``threshold``: known items, records with both, records with these.

    With ``p="all"`` only the largest of all known items that the same holders have; if the threshold ``rises``, only
    rules above all before. Items are numbered as in ``table``.
    """
    context = _Surroundings.of(table, item, is_deep=p == "all")
    if not context.n_holders:
        return
    if p == "all":
        for rule in context.whole_holders():
            if (confidence := Fraction(rule[1], rule[2])) > threshold:
                threshold = confidence if rises else threshold
                yield rule
        steps.add(len(context.items))
        context = context.shared()
    indptr, items, weights, others, n_holders = context
    n_items = len(others)
    longest = int(np.diff(indptr[: n_holders + 1]).max())
    levels = np.zeros((longest + 3, 4), dtype=np.int64)
    branches = np.zeros((n_items + 16, 4), dtype=np.int64)
    rows = np.empty(len(weights) + 2 * len(items) + 16, dtype=np.int32)
    rows[: len(weights)] = np.arange(len(weights))
    branches[0] = (-1, 0, n_holders, len(weights))
    levels[0] = (0, 1, len(weights), 0)
    known, inside = np.empty(n_items + 1, dtype=np.int32), np.zeros(n_items + 1, dtype=np.int64)
    counts, touched = np.zeros((n_items + 1, 2), dtype=np.int64), np.empty(n_items + 1, dtype=np.int32)
    slots = np.zeros(1 << (2 * n_items + 2).bit_length(), dtype=np.int64)
    size_limit = 0 if p == "all" else min(int(p), longest + 1)
    members = np.empty(max(100_000, 2 * (n_items + 1) * (max(size_limit, 1) + 1), 4 * n_items), dtype=np.int32)
    found = np.empty((max(10_000, 2 * n_items + 2), 3), dtype=np.int64)
    state = np.zeros(9, dtype=np.int64)
    state[OVER], state[UNDER], state[RISES] = threshold.numerator, threshold.denominator, rises
    answer = PAUSED
    while answer != DONE:
        before = int(state[STEPS])
        answer = walk_rules(
            indptr, items, weights, levels, branches, rows, known, inside, counts, touched, slots, members, found,
            state, size_limit, BUDGET,
        )  # fmt: skip
        steps.add(int(state[STEPS]) - before)
        begin = 0
        for end, both, alone in found[: state[N_FOUND]].tolist():
            yield tuple(np.sort(others[members[begin:end]]).tolist()), both, alone
            begin = end
        state[N_FOUND] = state[N_MEMBERS] = 0
        if answer == FULL:
            rows = np.concatenate((rows, np.empty(max(int(state[NEED]), len(rows)), dtype=np.int32)))
            branches = np.concatenate((branches, np.zeros((len(branches) + n_items, 4), dtype=np.int64)))
            levels = np.concatenate((levels, np.zeros_like(levels)))


class _Surroundings(NamedTuple):
    """Rows over the items that occur beside a sensitive item; holders first."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    weights: NDArray[np.int64]
    others: NDArray[np.int64]  # the items' numbers in the table
    n_holders: int

    @classmethod
    def of(cls, table: Table, item: int, is_deep: bool) -> _Surroundings:
        """``is_deep``: rows that are not holders are taken together where they are equal. A walk over few items takes
        less time than finding them.
        """
        row_of = np.repeat(np.arange(table.n_rows), np.diff(table.indptr))
        is_holder = np.zeros(table.n_rows, dtype=bool)
        is_holder[row_of[table.items == item]] = True
        supports = np.bincount(table.items[is_holder[row_of]], minlength=len(table.labels))
        supports[item] = 0
        rows = table.indptr, table.items, table.weights
        return cls._over(supports > 0, *rows, is_holder, np.arange(len(supports)), is_deep)

    @classmethod
    def _over(
        cls,
        is_kept: NDArray[np.bool_],
        indptr: NDArray[np.int64],
        items: NDArray[np.int32],
        weights: NDArray[np.int64],
        is_holder: NDArray[np.bool_],
        others: NDArray[np.int64],
        is_deep: bool = True,
    ) -> _Surroundings:
        """Over some items only."""
        chosen = np.flatnonzero(is_kept)
        number = np.full(len(is_kept) + 1, -1, dtype=np.int32)
        number[chosen] = np.arange(len(chosen), dtype=np.int32)
        local = number[items]
        row_of = np.repeat(np.arange(len(weights)), np.diff(indptr))
        parts = []
        for side in (is_holder, ~is_holder):
            kept = (local >= 0) & side[row_of]
            lengths, entries = np.bincount(row_of[kept], minlength=len(weights))[side], local[kept]
            ends = np.cumsum(lengths)
            if side is is_holder or not is_deep:
                parts.append((lengths, entries, weights[side]))
                continue
            numbers, first = number_rows(ends - lengths, ends, entries)
            total = np.zeros(len(first), dtype=np.int64)
            np.add.at(total, numbers, weights[side])
            taken = np.zeros(len(lengths), dtype=bool)
            taken[first] = True
            parts.append((lengths[taken], entries[np.repeat(taken, lengths)], total[np.argsort(first)]))
        bounds = np.zeros(len(parts[0][2]) + len(parts[1][2]) + 1, dtype=np.int64)
        np.cumsum(np.concatenate((parts[0][0], parts[1][0])), out=bounds[1:])
        entries = np.concatenate((parts[0][1], parts[1][1])).astype(np.int32)
        return cls(bounds, entries, np.concatenate((parts[0][2], parts[1][2])), others[chosen], len(parts[0][2]))

    def shared(self) -> _Surroundings:
        """Over the items that two rows of holders have: all others are in whole holders only."""
        supports = np.bincount(self.items[: self.indptr[self.n_holders]], minlength=len(self.others))
        is_holder = np.arange(len(self.weights)) < self.n_holders
        return self._over(supports > 1, self.indptr, self.items, self.weights, is_holder, self.others)

    def whole_holders(self) -> Iterator[tuple[tuple[int, ...], int, int]]:
        """The rules whose known items are all items of one holder."""
        owners = np.repeat(np.arange(len(self.weights), dtype=np.int32), np.diff(self.indptr))
        bounds = np.concatenate(([0], np.cumsum(np.bincount(self.items, minlength=len(self.others))))).astype(np.int64)
        lists = owners[np.argsort(self.items, kind="stable")]
        both, alone = np.zeros((2, self.n_holders), dtype=np.int64)
        count_supersets(self.indptr, self.items, self.weights, bounds, lists, self.n_holders, both, alone)
        bounds, named = self.indptr.tolist(), self.others[self.items]
        known = [tuple(np.sort(named[bounds[row] : bounds[row + 1]]).tolist()) for row in range(self.n_holders)]
        yield from sorted(zip(known, both.tolist(), alone.tolist(), strict=True))


@compiled
def count_supersets(
    indptr: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.int64],
    bounds: NDArray[np.int64],
    lists: NDArray[np.int32],
    n_holders: int,
    both: NDArray[np.int64],
    alone: NDArray[np.int64],
) -> None:
    """How many holders, and how many rows in all, have all items of each holder."""
    inside = np.zeros(len(bounds), dtype=np.uint8)
    for row in range(n_holders):
        length = indptr[row + 1] - indptr[row]
        rarest = np.int64(-1)
        for place in range(indptr[row], indptr[row + 1]):
            item = items[place]
            inside[item] = 1
            if rarest < 0 or bounds[item + 1] - bounds[item] < bounds[rarest + 1] - bounds[rarest]:
                rarest = np.int64(item)
        n_candidates = bounds[rarest + 1] - bounds[rarest] if length > 0 else len(weights)
        for number in range(n_candidates):
            other = np.int64(lists[bounds[rarest] + number]) if length > 0 else number
            has = 0
            for place in range(indptr[other], indptr[other + 1]):
                has += inside[items[place]]
            if has == length:
                alone[row] += weights[other]
                if other < n_holders:
                    both[row] += weights[other]
        for place in range(indptr[row], indptr[row + 1]):
            inside[items[place]] = 0
