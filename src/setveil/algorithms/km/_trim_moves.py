"""What trim does with many records: settle each, give up or fill up what has become rare, put back, revive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.km._trim_cover import cover_best, least_to_lose, loss_of
from setveil.algorithms.km._trim_holders import Lists, holders_of, mask_of_set, pick_promising, put_showing_first
from setveil.algorithms.km._trim_rows import (
    LONGEST,
    NONE,
    TINY,
    Scratch,
    State,
    free_to_join,
    gather_row,
    may_join,
    show_mask,
    show_places,
    shown_mask,
)
from setveil.algorithms.km._trim_sets import Sets, find_set
from setveil.arrays.compiling import compiled
from setveil.arrays.sorting import stable_order

SHORT = 24  # items of a row that is looked at as a whole with every change
BOUND, SETTLE, REPAIR = range(3)


class Task(NamedTuple):
    """What to do with rows, or with sets."""

    kind: int  # BOUND or SETTLE rows, REPAIR sets
    k: int
    budget: int  # steps
    fills: int = 0  # how often a set is filled up before it is given up
    others: int = 0  # rows looked at for that


@compiled
def work_on(
    state: State,
    sets: Sets,
    room: Scratch,
    lists: Lists,
    numbers: NDArray[np.int64],
    tries: NDArray[np.uint8],
    first: int,
    task: Task,
) -> tuple[int, float]:
    """Do it with rows or sets from ``numbers[first]`` on; where it stopped, and the sum of bounds.

    One loop for Python instead of three: they are made of the same parts, which are compiled once this way.
    """
    if task.kind == BOUND:
        return bound_rows(state, sets, room, numbers, first, task.budget)
    if task.kind == SETTLE:
        return settle_rows(state, sets, room, numbers, first, task.k, task.budget), 0.0
    return repair(state, sets, room, lists, numbers, tries, first, task), 0.0


@compiled
def weigh_row(state: State, sets: Sets, room: Scratch, row: int, shown: int, dropped: int) -> tuple[float, np.uint64]:
    """What the best choice of a row costs more than what it shows now, and what it leaves out.

    The choice shows the set ``shown``, or does not show the set ``dropped``; -1 for the other. An infinite answer:
    there is no such choice. Rows of more than 24 items are not looked at as a whole, to be quick: what they leave out
    may only come back if nothing but ``dropped`` is in its way.
    """
    everything = ~NONE >> np.uint64(64 - (state.indptr[row + 1] - state.indptr[row]))
    now = shown_mask(state.kept, state.indptr[row], state.indptr[row + 1])
    locked = fresh = NONE
    if dropped >= 0:
        fresh = mask_of_set(state, sets, row, dropped)
        fresh |= free_to_join(state, sets, row, now & ~fresh, everything & ~now)
    else:
        locked = mask_of_set(state, sets, row, shown)
        fresh = locked & ~now
    if state.indptr[row + 1] - state.indptr[row] <= SHORT:
        fresh = everything
    among = now | fresh
    if not gather_row(state, sets, room, row, now, among, fresh, shown, dropped):
        return np.inf, NONE
    best, loss = cover_best(state, room, row, locked, state.nodes)
    return loss - loss_of(state, room, row, among & ~now), best | (everything & ~among)


@compiled
def settle_row(state: State, sets: Sets, room: Scratch, row: int, k: int) -> None:
    """Let a row show the best it may: no dead set, least loss. With ``k`` > 0 rows too long for that only get back what
    is safe.
    """
    length = state.indptr[row + 1] - state.indptr[row]
    if length == 0:
        return
    now = everything = NONE
    is_listed = False
    if length <= LONGEST:
        now = shown_mask(state.kept, state.indptr[row], state.indptr[row + 1])
        everything = ~NONE >> np.uint64(64 - length)
        is_listed = gather_row(state, sets, room, row, now, everything, everything, -1, -1)
    if not is_listed:
        if k > 0:
            put_back(state, sets, room, row, k)
        else:
            settle_long_row(state, sets, room, row)
        return
    left_out = everything & ~now
    best, loss = cover_best(state, room, row, NONE, 4 * state.nodes)
    if has_dead(room, left_out) or loss < loss_of(state, room, row, left_out) - TINY:
        show_mask(state, sets, room, row, best)


@compiled
def drop_set(state: State, sets: Sets, room: Scratch, row: int, number: int) -> None:
    """Let a row that shows a set no longer show it."""
    start, end = state.indptr[row], state.indptr[row + 1]
    if end - start <= state.weighed:
        cost, left_out = weigh_row(state, sets, room, row, -1, number)
        if cost < np.inf:
            show_mask(state, sets, room, row, left_out)
            return
    worst = sets.last[number]
    while number >= 0:  # the item that is worth least; of equals the rarest, for its sets are the next to become rare
        item = sets.last[number]
        if (state.value[item], state.count[item]) < (state.value[worst], state.count[worst]):
            worst = item
        number = sets.prefix[number]
    for place in range(start, end):
        room.show[place - start] = state.kept[place] if state.items[place] != worst else 0
    show_places(state, sets, room, row)


@compiled
def has_dead(room: Scratch, left_out: np.uint64) -> bool:
    """Whether a gathered row would show a dead set."""
    for number in range(room.sizes[0]):
        if not room.dead[number] & left_out:
            return True
    return False


@compiled
def settle_long_row(state: State, sets: Sets, room: Scratch, row: int) -> None:
    """Drop the item with most dead pairs per value until there are none; then take items in, those not dropped
    first.
    """
    start, end = state.indptr[row], state.indptr[row + 1]
    length = end - start
    clash = np.zeros((length, length), dtype=np.uint8)
    clashes = np.zeros(length, dtype=np.int64)
    rank = np.zeros(length, dtype=np.int64)  # 0 for what was not dropped, else later ones first
    for first in range(length):
        for second in range(first + 1, length):
            found = find_set(sets, state.items[start + first], state.items[start + second]) if state.m > 1 else 0
            if found < 0 or state.wanted[found] == 0:
                clash[first, second] = clash[second, first] = 1
                clashes[first] += 1
                clashes[second] += 1
    for n_dropped in range(length):
        worst, worst_rate = -1, 0.0
        for at in range(length):
            if rank[at] == 0 and clashes[at] / state.value[state.items[start + at]] > worst_rate:
                worst, worst_rate = at, clashes[at] / state.value[state.items[start + at]]
        if worst < 0:
            break
        rank[worst] = length - n_dropped
        for at in range(length):
            clashes[at] -= clash[worst, at]
    for at in range(length):
        room.show[at] = 0
    for at in stable_order(rank):
        if may_join(state, sets, room, row, at, 0):
            room.show[at] = 1
    show_places(state, sets, room, row)


@compiled
def put_back(state: State, sets: Sets, room: Scratch, row: int, k: int) -> int:
    """Show every left out item of a row whose sets are all shown by k rows anyway; how many came back."""
    start, end = state.indptr[row], state.indptr[row + 1]
    for place in range(start, end):
        room.show[place - start] = state.kept[place]
    n_back = 0
    for at in range(end - start):
        if room.show[at] == 0 and may_join(state, sets, room, row, at, k):
            room.show[at] = 1
            n_back += 1
    if n_back:
        show_places(state, sets, room, row)
    return n_back


@compiled
def settle_rows(
    state: State, sets: Sets, room: Scratch, rows: NDArray[np.int64], first: int, k: int, budget: int
) -> int:
    """Settle rows from ``rows[first]`` on; where it stopped. ``k`` > 0: nothing that is safe may be broken."""
    done = first
    steps = 0
    while done < len(rows) and steps < budget:
        length = state.indptr[rows[done] + 1] - state.indptr[rows[done]]
        row = rows[done]
        done += 1
        steps += 1
        if k > 0 and shows_all(state, row):  # and what it shows is safe: there is nothing to win
            continue
        settle_row(state, sets, room, row, k)
        steps += length * length
    return done


@compiled
def shows_all(state: State, row: int) -> bool:
    """Whether nothing of a row is left out."""
    for place in range(state.indptr[row], state.indptr[row + 1]):
        if state.kept[place] == 0:
            return False
    return True


@compiled
def bound_rows(
    state: State, sets: Sets, room: Scratch, rows: NDArray[np.int64], first: int, budget: int
) -> tuple[int, float]:
    """What rows from ``rows[first]`` on lose at least, so that they show no dead set; where it stopped, and the sum.

    Without prices. The least hitting set if its search is finished; else disjoint dead sets, the cheapest item of each,
    or disjoint groups of items that make dead pairs only, all but the most valuable of each.
    """
    done, steps = first, 0
    total = 0.0
    while done < len(rows) and steps < budget:
        row = rows[done]
        done += 1
        length = state.indptr[row + 1] - state.indptr[row]
        steps += 1 + length * length
        least = 0.0
        everything = ~NONE >> np.uint64(64 - min(length, LONGEST))
        if 0 < length <= LONGEST and gather_row(state, sets, room, row, NONE, everything, everything, -1, -1):
            _, least = cover_best(state, room, row, NONE, 100 * state.nodes)
            if not room.sizes[2]:
                least = least_to_lose(room.dead, room.cheapest, 0, room.sizes[0], NONE)
                least = max(least, lose_all_but_one(state, sets, row))
        elif length > 0 and state.m > 1:
            least = lose_all_but_one(state, sets, row)
        total += least
    return done, total


@compiled
def lose_all_but_one(state: State, sets: Sets, row: int) -> float:
    """What a row loses at least because of its dead pairs: groups of items that make nothing but dead pairs show one
    item at most. Items with most dead pairs first, each joins the first group it can.
    """
    start, length = state.indptr[row], state.indptr[row + 1] - state.indptr[row]
    clash = np.zeros((length, length), dtype=np.uint8)
    n_clashes = np.zeros(length, dtype=np.int64)
    for one in range(length):
        for other in range(one + 1, length):
            if find_set(sets, state.items[start + one], state.items[start + other]) < 0:
                clash[one, other] = clash[other, one] = 1
                n_clashes[one] -= 1
                n_clashes[other] -= 1
    group = np.full(length, -1, dtype=np.int64)
    dearest = np.zeros(length, dtype=np.float64)
    n_groups = 0
    loss = 0.0
    for at in stable_order(n_clashes):
        fits = np.full(n_groups, 1, dtype=np.uint8)
        for other in range(length):
            if group[other] >= 0 and not clash[at, other]:
                fits[group[other]] = 0
        joined = n_groups
        for candidate in range(n_groups):
            if fits[candidate]:
                joined = candidate
                break
        if joined == n_groups:
            n_groups += 1
        group[at] = joined
        value = state.value[state.items[start + at]]
        loss += min(value, dearest[joined])
        dearest[joined] = max(value, dearest[joined])
    return loss


@compiled
def fill_up(
    state: State,
    sets: Sets,
    room: Scratch,
    number: int,
    others: NDArray[np.int64],
    need: int,
    at_most: float,
) -> bool:
    """Let ``need`` of the rows ``others`` show a set, if that costs no more than ``at_most`` in all."""
    costs = np.empty(len(others), dtype=np.float64)
    ways = np.empty(len(others), dtype=np.uint64)
    for at in range(len(others)):
        costs[at], ways[at] = weigh_row(state, sets, room, others[at], number, -1)
    order = stable_order(costs)
    total = 0.0
    for at in range(need):
        total += costs[order[at]]
    if total > at_most:
        return False
    state.wanted[number] = 1
    for at in range(need):
        show_mask(state, sets, room, others[order[at]], ways[order[at]])
    return True


@compiled
def repair(
    state: State,
    sets: Sets,
    room: Scratch,
    lists: Lists,
    rare: NDArray[np.int64],
    tries: NDArray[np.uint8],
    first: int,
    task: Task,
) -> int:
    """Sets shown by some rows, but fewer than k: fill each up to k rows or give it up, whichever costs less.

    ``tries`` counts how often each set was filled up. A set that no row shows is revived, if k rows lose nothing by it
    in all. Returns where it stopped.
    """
    k, most_tries, most_others = task.k, task.fills, task.others
    steps = 0
    done = first
    while done < len(rare) and steps < task.budget:
        number = rare[done]
        done += 1
        if state.count[number] >= k:
            continue
        holders = holders_of(state, sets, lists, number)
        n_showing = put_showing_first(state, sets, number, holders) if state.count[number] > 0 else 0
        steps += 1 + len(holders) // 8
        need = k - n_showing
        ways = np.zeros(n_showing, dtype=np.uint64)
        is_weighed = False
        others, seems = holders[:0], 0.0
        if need <= most_others and tries[number] < most_tries and (n_showing == 0 or 2 * n_showing >= k):
            others, seems = pick_promising(state, sets, number, holders[n_showing:], need, most_others)
            steps += len(holders)
        if len(others) > 0 and (n_showing > 0 or seems <= TINY):
            at_most = TINY  # a set that costs nothing to show may let others show more
            is_weighed = True
            for at in range(n_showing):
                row = holders[at]
                if state.indptr[row + 1] - state.indptr[row] > state.weighed:
                    at_most += 1.0
                    is_weighed = False
                else:
                    cost, ways[at] = weigh_row(state, sets, room, row, -1, number)
                    at_most += min(cost, 1.0 * LONGEST)
                    is_weighed &= cost < np.inf
            steps += 10 * (n_showing + len(others))
            if seems <= at_most and fill_up(state, sets, room, number, others, need, at_most):
                tries[number] += 1
                continue
        if n_showing > 0:
            for at in range(n_showing):
                if is_weighed:
                    show_mask(state, sets, room, holders[at], ways[at])
                else:
                    drop_set(state, sets, room, holders[at], number)
            state.wanted[number] = 0
            steps += 10 * n_showing
    return done
