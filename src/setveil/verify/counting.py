# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""The verifier's own loops: equal rows, supports, and a walk over all itemsets of one size.

Nothing here is shared with the algorithms. Rows are CSR with the public items of a row first and its sensitive items,
if there are any, behind them: row ``r`` has public items ``items[indptr[r]:tails[r]]`` and sensitive ones
``items[tails[r]:indptr[r+1]]``, each part ascending. All counts are int64. Every loop can be left after a given number
of steps and resumed, so that no call takes long.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

Loop = TypeVar("Loop", bound=Callable[..., Any])

DONE, FOUND, PAUSED, FULL = 0, 1, 2, 3  # how `walk_itemsets` comes back

# Positions in Walk.state
DEPTH, WAITING, TAKEN, PREFIX_SUPPORT, N_FOUND, NEED_BRANCHES, NEED_POSITIONS = range(7)


def compiled(loop: Loop) -> Loop:
    """Plain Numba, kept on disk where a folder is writable.

    Numba compiles anew when the file of a loop has changed: loops here must call loops of this file only.
    """
    try:
        return _or_compile_again(njit(cache=True, nogil=True)(loop))
    except RuntimeError:  # there is no such folder
        return njit(nogil=True)(loop)


def _or_compile_again(loop: Loop) -> Loop:
    """The same loop, which is compiled again where its files on disk are damaged; Numba would raise an error."""
    kept = getattr(loop, "_cache", None)  # nothing is kept if Numba is switched off
    if kept is None:
        return loop
    load = kept.load_overload

    def load_or_forget(*wanted: Any) -> Any:
        try:
            return load(*wanted)
        except Exception:  # whatever unpickling broken files may raise
            with suppress(OSError):
                kept.flush()
            return None

    kept.load_overload = load_or_forget
    return loop


@compiled
def _sort(values: NDArray[np.int32]) -> None:
    """Sort in place, ascending, by a heap.

    Not Numba's own sort: that is made from closures whose cached code is distinguished by a counter only, and can be
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


class Rows(NamedTuple):
    """Distinct rows with weights."""

    indptr: NDArray[np.int64]  # [n_rows + 1]
    tails: NDArray[np.int64]  # [n_rows] where the sensitive items of a row begin
    items: NDArray[np.int32]
    weights: NDArray[np.int64]  # [n_rows]
    live: NDArray[np.uint8]  # [n_rows] 0 if no itemset of this row can be what is looked for


class Index(NamedTuple):
    """Where each public item stands: positions ``bounds[i]:bounds[i+1]`` belong to item ``i``."""

    bounds: NDArray[np.int64]  # [n_public + 1]
    positions: NDArray[np.int64]  # positions in Rows.items, ascending per item
    owners: NDArray[np.int32]  # the row of each place
    masks: NDArray[np.uint64]  # [n_rows] one bit per public item modulo 64, to reject rows at a glance


class Walk(NamedTuple):
    """A paused depth-first walk over prefixes of a fixed number of items, in ascending order.

    The first ``n_public`` branches are the items themselves and point into Index; a branch further up the stack is an
    item that can follow the current prefix, and points into ``positions`` and ``owners`` here: the rows that hold both.
    """

    prefix: NDArray[np.int32]  # [length]
    next: NDArray[np.int64]  # [length] next branch to take at each depth
    last: NDArray[np.int64]  # [length] where the branches of each depth end
    filled: NDArray[np.int64]  # [length] where the positions of each depth end
    item: NDArray[np.int32]  # [branches]
    begin: NDArray[np.int64]  # [branches]
    end: NDArray[np.int64]  # [branches]
    support: NDArray[np.int64]  # [branches]
    positions: NDArray[np.int64]
    owners: NDArray[np.int32]
    counts: NDArray[np.int64]  # [n_items] scratch, all 0 between prefixes
    sizes: NDArray[np.int64]  # [n_items] scratch, all 0 between prefixes
    touched: NDArray[np.int32]  # [n_items] items found behind the prefix
    state: NDArray[np.int64]  # [7]
    found: NDArray[np.int32]  # [room, length + 1] itemsets found since the caller last looked
    found_support: NDArray[np.int64]  # [room, 2] support of the prefix, and of all of it


@compiled
def count_pairs(
    indptr: NDArray[np.int64], items: NDArray[np.int32], begin: int, end: int, table: NDArray[np.int32]
) -> None:
    """Add rows ``begin:end`` to the supports of their pairs; see ``verify.dense`` for the positions."""
    for row in range(begin, end):
        for high in range(indptr[row] + 1, indptr[row + 1]):
            y = np.int64(items[high])
            base = y * (y - 1) // 2
            for low in range(indptr[row], high):
                table[np.uint64(base + items[low])] += 1


@compiled
def count_triples(
    indptr: NDArray[np.int64], items: NDArray[np.int32], begin: int, end: int, table: NDArray[np.int32]
) -> None:
    """Add rows ``begin:end`` to the supports of their triples; see ``verify.dense`` for the positions."""
    for row in range(begin, end):
        for high in range(indptr[row] + 2, indptr[row + 1]):
            z = np.int64(items[high])
            for middle in range(indptr[row] + 1, high):
                y = np.int64(items[middle])
                base = z * (z - 1) * (z - 2) // 6 + y * (y - 1) // 2
                for low in range(indptr[row], middle):
                    table[np.uint64(base + items[low])] += 1


@compiled
def number_equal_rows(
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    items: NDArray[np.int32],
    table: NDArray[np.int32],
    known_starts: NDArray[np.int64],
    known_ends: NDArray[np.int64],
    numbers: NDArray[np.int64],
    n_known: int,
) -> int:
    """Give equal rows equal numbers, in order of first appearance; returns how many distinct rows are known now.

    ``table`` is a hash table (a power of two in size, -1 where free); rows are compared item by item, so that a clash
    of hashes costs time and nothing else.
    """
    last_slot = len(table) - 1
    for row in range(len(starts)):
        length = ends[row] - starts[row]
        mix = np.uint64(14695981039346656037)
        for place in range(starts[row], ends[row]):
            mix = (mix ^ np.uint64(items[place])) * np.uint64(1099511628211)
            mix ^= mix >> np.uint64(29)
        slot = np.int64(mix >> np.uint64(1)) & last_slot
        while True:
            known = table[slot]
            if known < 0:
                table[slot] = n_known
                known_starts[n_known] = starts[row]
                known_ends[n_known] = ends[row]
                numbers[row] = n_known
                n_known += 1
                break
            equal = known_ends[known] - known_starts[known] == length
            offset = 0
            while equal and offset < length:
                equal = items[known_starts[known] + offset] == items[starts[row] + offset]
                offset += 1
            if equal:
                numbers[row] = known
                break
            slot = (slot + 1) & last_slot
    return n_known


@compiled
def copy_rows(
    starts: NDArray[np.int64], ends: NDArray[np.int64], items: NDArray[np.int32], out: NDArray[np.int32], at: int
) -> int:
    """Write rows one behind the other from place ``at`` on; returns where they end."""
    for row in range(len(starts)):
        for place in range(starts[row], ends[row]):
            out[at] = items[place]
            at += 1
    return at


@compiled
def set_items_aside(
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    items: NDArray[np.int32],
    number: NDArray[np.int32],
    n_public: int,
    out: NDArray[np.int32],
    tails: NDArray[np.int64],
) -> None:
    """Renumber items, and put those numbered ``n_public`` and up behind the others of their row; ``tails``: where."""
    for row in range(len(starts)):
        at = starts[row]
        for place in range(starts[row], ends[row]):
            if number[items[place]] < n_public:
                out[at] = number[items[place]]
                at += 1
        tails[row] = at
        for place in range(starts[row], ends[row]):
            if number[items[place]] >= n_public:
                out[at] = number[items[place]]
                at += 1


@compiled
def count_items(
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    items: NDArray[np.int32],
    weights: NDArray[np.int64],
    supports: NDArray[np.int64],
    n_rows: NDArray[np.int64],
) -> None:
    """Add the weight of every row to the support of its items, and one to their number of rows."""
    for row in range(len(starts)):
        for place in range(starts[row], ends[row]):
            supports[items[place]] += weights[row]
            n_rows[items[place]] += 1


@compiled
def fill_index(
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    items: NDArray[np.int32],
    first_row: int,
    cursor: NDArray[np.int64],
    index: Index,
) -> None:
    """Enter rows ``first_row`` onwards into the index; ``cursor[i]`` is the next free place of item ``i``."""
    for row in range(len(starts)):
        mask = np.uint64(0)
        for place in range(starts[row], ends[row]):
            item = items[place]
            index.positions[cursor[item]] = place
            index.owners[cursor[item]] = first_row + row
            cursor[item] += 1
            mask |= np.uint64(1) << np.uint64(item & 63)
        index.masks[first_row + row] = mask


@compiled
def _row_contains(rows: Rows, row: int, wanted: NDArray[np.int32], skip: int) -> bool:
    """Whether the public part of a row holds every wanted item (ascending) but the one at position ``skip``."""
    place, end = rows.indptr[row], rows.tails[row]
    for position in range(len(wanted)):
        if position == skip:
            continue
        while place < end and rows.items[place] < wanted[position]:
            place += 1
        if place == end or rows.items[place] != wanted[position]:
            return False
    return True


@compiled
def _support_up_to(
    rows: Rows, index: Index, wanted: NDArray[np.int32], skip: int, enough: int, steps: NDArray[np.int64]
) -> int:
    """The support of the wanted items but the one at ``skip``; counting stops once ``enough`` is reached."""
    rarest = -1
    mask = np.uint64(0)
    for position in range(len(wanted)):
        if position == skip:
            continue
        item = wanted[position]
        mask |= np.uint64(1) << np.uint64(item & 63)
        if rarest < 0 or index.bounds[item + 1] - index.bounds[item] < index.bounds[rarest + 1] - index.bounds[rarest]:
            rarest = item
    total = 0
    for at in range(index.bounds[rarest], index.bounds[rarest + 1]):
        steps[0] += 1
        row = index.owners[at]
        if index.masks[row] & mask == mask and _row_contains(rows, row, wanted, skip):
            total += rows.weights[row]
            if total >= enough:
                break
    return total


@compiled
def count_supports(
    rows: Rows,
    index: Index,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    items: NDArray[np.int32],
    enough: NDArray[np.int64],
    supports: NDArray[np.int64],
    budget: int,
) -> int:
    """Supports of itemsets ``items[starts[j]:ends[j]]`` (not empty); returns how many were done within the budget.

    A support that reaches ``enough[j]`` is not counted further.
    """
    steps = np.zeros(1, dtype=np.int64)
    for number in range(len(starts)):
        if steps[0] > budget:
            return number
        supports[number] = _support_up_to(rows, index, items[starts[number] : ends[number]], -1, enough[number], steps)
    return len(starts)


@compiled
def _leads_to_live(
    rows: Rows, positions: NDArray[np.int64], owners: NDArray[np.int32], begin: int, end: int, missing: int
) -> bool:
    """Whether some live row has at least ``missing`` public items behind its place."""
    for at in range(begin, end):
        row = owners[at]
        if rows.live[row] != 0 and rows.tails[row] - positions[at] - 1 >= missing:
            return True
    return False


@compiled
def _gather_followers(
    rows: Rows,
    walk: Walk,
    positions: NDArray[np.int64],
    owners: NDArray[np.int32],
    branch: int,
    depth: int,
    k: int,
) -> bool:
    """Stack the items that follow the prefix in at least ``k`` records, with their positions; False if there is no
    room.
    """
    counts, sizes, touched = walk.counts, walk.sizes, walk.touched
    n_touched = 0
    for at in range(walk.begin[branch], walk.end[branch]):
        row = owners[at]
        for place in range(positions[at] + 1, rows.tails[row]):
            item = rows.items[place]
            if sizes[item] == 0:
                touched[n_touched] = item
                n_touched += 1
            sizes[item] += 1
            counts[item] += rows.weights[row]
    n_kept = 0
    n_positions = 0
    for position in range(n_touched):
        item = touched[position]
        if counts[item] >= k:
            n_positions += sizes[item]
            touched[n_kept], touched[position] = item, touched[n_kept]
            n_kept += 1
    first = walk.last[depth]
    filled = walk.filled[depth]
    fits: bool = first + n_kept <= len(walk.item) and filled + n_positions <= len(walk.positions)
    if fits:
        _sort(touched[:n_kept])
        for position in range(n_kept):
            item = touched[position]
            walk.item[first + position] = item
            walk.begin[first + position] = filled
            walk.end[first + position] = filled
            walk.support[first + position] = counts[item]
            filled += sizes[item]
            sizes[item] = -1 - (first + position)  # from here on: the branch of a kept item
        for at in range(walk.begin[branch], walk.end[branch]):
            row = owners[at]
            for place in range(positions[at] + 1, rows.tails[row]):
                if sizes[rows.items[place]] < 0:
                    follower = -1 - sizes[rows.items[place]]
                    walk.positions[walk.end[follower]] = place
                    walk.owners[walk.end[follower]] = row
                    walk.end[follower] += 1
        walk.next[depth + 1] = first
        walk.last[depth + 1] = first + n_kept
        walk.filled[depth + 1] = filled
    else:
        walk.state[NEED_BRANCHES] = first + n_kept
        walk.state[NEED_POSITIONS] = filled + n_positions
    for position in range(n_touched):
        counts[touched[position]] = 0
        sizes[touched[position]] = 0
    return fits


@compiled
def _is_minimal(rows: Rows, index: Index, walk: Walk, k: int, steps: NDArray[np.int64]) -> bool:
    """Whether every proper subset of the rare itemset in hand, whose prefix is frequent, is frequent."""
    itemset = walk.found[walk.state[N_FOUND]]
    depth = len(walk.prefix) - 1
    # Without the prefix's last item it is frequent if the new item is a branch beside that one.
    low, high = walk.next[depth], walk.last[depth]
    while low < high:
        middle = (low + high) // 2
        if walk.item[middle] < itemset[-1]:
            low = middle + 1
        else:
            high = middle
    if low == walk.last[depth] or walk.item[low] != itemset[-1] or walk.support[low] < k:
        return False
    for position in range(depth):  # noqa: SIM110 - Numba knows no generators
        if _support_up_to(rows, index, itemset, position, k, steps) < k:
            return False
    return True


@compiled
def walk_itemsets(
    rows: Rows, index: Index, walk: Walk, k: int, over: int, under: int, shares: bool, twin: int, budget: int
) -> int:
    """Go on with the walk; FOUND (there is no more room for finds), DONE, PAUSED (call again) or FULL (grow the stack).

    Prefixes are sets of ``len(walk.prefix)`` public items with support ≥ k. Without ``shares`` the walk finds each
    prefix with one more public item whose support is below k while that of all its proper subsets is not. With
    ``shares`` it finds each prefix, and a sensitive item, of whose records more than ``over/under`` hold that item; not
    the item that stands in the prefix under a number smaller by ``twin``.
    Finds are in ascending order; ``state[N_FOUND]`` says how many there are, and the caller sets it back to 0.
    """
    length = len(walk.prefix)
    size = length if shares else length + 1
    state, counts, touched = walk.state, walk.counts, walk.touched
    steps = np.zeros(1, dtype=np.int64)
    while True:
        while state[TAKEN] < state[WAITING]:
            if state[N_FOUND] == len(walk.found):
                return FOUND
            if steps[0] > budget:
                return PAUSED
            steps[0] += 1
            item = touched[state[TAKEN]]
            support = counts[item]
            counts[item] = 0
            state[TAKEN] += 1
            for place in range(length):  # copying a slice would compile the text of its error message, for seconds
                walk.found[state[N_FOUND], place] = walk.prefix[place]
            walk.found[state[N_FOUND], length] = item
            walk.found_support[state[N_FOUND], 0] = state[PREFIX_SUPPORT]
            walk.found_support[state[N_FOUND], 1] = support
            if shares:
                counts_as_find = support * under > over * state[PREFIX_SUPPORT]
            else:
                counts_as_find = support < k and _is_minimal(rows, index, walk, k, steps)
            if counts_as_find:
                state[N_FOUND] += 1
        if state[N_FOUND] == len(walk.found):
            return FOUND
        if steps[0] > budget:
            return PAUSED
        depth = state[DEPTH]
        if walk.next[depth] == walk.last[depth]:
            if depth == 0:
                return DONE
            state[DEPTH] -= 1
            continue
        branch = walk.next[depth]
        walk.next[depth] += 1
        steps[0] += 1
        positions = index.positions if depth == 0 else walk.positions
        owners = index.owners if depth == 0 else walk.owners
        begin, end = walk.begin[branch], walk.end[branch]
        if walk.support[branch] < k or not _leads_to_live(rows, positions, owners, begin, end, size - depth - 1):
            continue
        walk.prefix[depth] = walk.item[branch]
        if depth + 1 < length:
            if not _gather_followers(rows, walk, positions, owners, branch, depth, k):
                walk.next[depth] -= 1
                return FULL
            steps[0] += 2 * (walk.filled[depth + 1] - walk.filled[depth]) + end - begin
            state[DEPTH] += 1
            continue
        # A whole prefix: count what its records hold besides.
        n_touched = 0
        for at in range(begin, end):
            row = owners[at]
            first = rows.tails[row] if shares else positions[at] + 1
            last = rows.indptr[row + 1] if shares else rows.tails[row]
            steps[0] += last - first + 1
            for place in range(first, last):
                item = rows.items[place]
                if counts[item] == 0:
                    touched[n_touched] = item
                    n_touched += 1
                counts[item] += rows.weights[row]
        state[PREFIX_SUPPORT] = walk.support[branch]
        n_waiting = 0
        for position in range(n_touched):
            item = touched[position]
            hit = counts[item] * under > over * state[PREFIX_SUPPORT] if shares else counts[item] < k
            for place in range(length if hit and twin > 0 else 0):
                hit = hit and walk.prefix[place] != item - twin
            if hit:
                touched[n_waiting] = item
                n_waiting += 1
            else:
                counts[item] = 0
        _sort(touched[:n_waiting])
        state[WAITING] = n_waiting
        state[TAKEN] = 0
