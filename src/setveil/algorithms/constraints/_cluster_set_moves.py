# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Moving single items from cluster to cluster while given constraints keep their records.

Beside the partition there is a lower bound for the support of every constraint's image: exact if it is 0, else at
least k. Moving an item takes at most its own records from the constraints through its old place, can give records to
constraints without any through its new place, and changes the image of the constraints it is in. Only what these
bounds leave open is counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.algorithms.constraints._cluster_moves import (
    ANYWHERE,
    FORBIDDEN,
    ClusterState,
    count_records_of,
    price_clusters,
    put_item,
)
from setveil.algorithms.constraints._clusters import Ints, Slots
from setveil.arrays.compiling import compiled


class Limits(NamedTuple):
    """Constraints over items, with what is known about their supports."""

    starts: Ints  # [n_sets + 1]
    items: Slots  # [n_members]
    item_starts: Ints  # [n_items + 1]
    item_sets: Ints  # [n_members] the constraints of every item
    bound: Ints  # [n_sets]
    fresh: Ints  # [n_sets] scratch: counts of the move under consideration
    touched: Ints  # [n_sets] scratch: the last look at a constraint
    seen: Ints  # [n_records] scratch: the last count that saw a record
    clock: Ints  # [3] of looks, of counts, and of items seen while counting


@compiled
def count_images(part: ClusterState, limits: Limits, begin: int, end: int, enough: int) -> None:
    """Write the supports of constraints ``begin`` … ``end`` to ``bound``, counted up to ``enough``."""
    wanted = np.zeros(len(part.size), dtype=np.int64)
    for number in range(begin, end):
        limits.bound[number] = _count_image(part, limits, number, wanted, enough)


@compiled
def _count_image(part: ClusterState, limits: Limits, number: int, wanted: Ints, enough: int) -> int:
    """Records with something of every place of a constraint's items; ``wanted`` is zero scratch."""
    members = limits.items[limits.starts[number] : limits.starts[number + 1]]
    n_wanted = 0
    rarest = part.place[members[0]]
    for item in members:
        place = part.place[item]
        if wanted[place] == 0:
            wanted[place] = 1
            n_wanted += 1
            if part.load[place] < part.load[rarest]:
                rarest = place
    count = np.int64(0)
    limits.clock[1] += 1
    limits.clock[2] += len(part.place)
    for item in range(len(part.place)):
        if part.place[item] != rarest:
            continue
        for row in part.item_records[part.item_starts[item] : part.item_starts[item + 1]]:
            if limits.seen[row] == limits.clock[1]:
                continue
            limits.seen[row] = limits.clock[1]
            limits.clock[2] += part.starts[row + 1] - part.starts[row]
            n_present = 0
            for other in part.items[part.starts[row] : part.starts[row + 1]]:
                place = part.place[other]
                if wanted[place] == 1:
                    wanted[place] = 2
                    n_present += 1
            for other in part.items[part.starts[row] : part.starts[row + 1]]:
                if wanted[part.place[other]] == 2:
                    wanted[part.place[other]] = 1
            if n_present == n_wanted:
                count += part.weight[row]
        if count >= enough:
            break
    for item in members:
        wanted[part.place[item]] = 0
    return count


@compiled
def move_items_under(
    part: ClusterState, limits: Limits, order: Slots, slack: Ints, k: int, enough: int, budget: int
) -> int:
    """Move each item of ``order`` to its best allowed place if that adds less than ``slack`` to the loss. Returns the
    moves.

    Stops when ``budget`` items have been seen while counting, in this and earlier calls.
    """
    change = np.empty(len(part.size), dtype=np.int64)
    wanted = np.zeros(len(part.size), dtype=np.int64)
    n_moves = 0
    for number in range(len(order)):
        if limits.clock[2] > budget:
            break
        item = order[number]
        price_clusters(part, item, ANYWHERE, change)
        for _ in range(4):
            target = np.argmin(change)
            if change[target] >= slack[number]:
                break
            if _try_move(part, limits, item, target, wanted, k, enough):
                n_moves += 1
                break
            change[target] = FORBIDDEN
    return n_moves


@compiled
def _try_move(part: ClusterState, limits: Limits, item: int, target: int, wanted: Ints, k: int, enough: int) -> bool:
    """Move the item; take it back and return False if a constraint is then in 1 … k - 1 records."""
    home = part.place[item]
    support = count_records_of(part, item)
    put_item(part, item, target)
    limits.clock[0] += 1
    look = limits.clock[0]
    fine = True
    for member in range(len(part.place)):
        place = part.place[member]
        if place != home and place != target:
            continue
        for number in limits.item_sets[limits.item_starts[member] : limits.item_starts[member + 1]]:
            if limits.touched[number] == look:
                continue
            limits.touched[number] = look
            bound = limits.bound[number]
            is_own = member == item or _has(limits, number, item)
            if not is_own and place == target and bound > 0 and not _meets(part, limits, number, home):
                limits.fresh[number] = bound  # it can only have gained
            elif not is_own and bound == 0 and not _meets(part, limits, number, target):
                limits.fresh[number] = 0  # it can only have lost
            elif not is_own and bound - support >= k:
                limits.fresh[number] = bound - support
            else:
                limits.fresh[number] = _count_image(part, limits, number, wanted, enough)
                if 0 < limits.fresh[number] < k:
                    fine = False
                    break
        if not fine:
            break
    if not fine:
        put_item(part, item, home)
        return False
    for member in range(len(part.place)):
        if part.place[member] == home or part.place[member] == target:
            for number in limits.item_sets[limits.item_starts[member] : limits.item_starts[member + 1]]:
                limits.bound[number] = limits.fresh[number]
    return True


@compiled
def _has(limits: Limits, number: int, item: int) -> bool:
    for member in limits.items[limits.starts[number] : limits.starts[number + 1]]:
        if member == item:
            return True
    return False


@compiled
def _meets(part: ClusterState, limits: Limits, number: int, place: int) -> bool:
    for member in limits.items[limits.starts[number] : limits.starts[number + 1]]:
        if part.place[member] == place:
            return True
    return False
