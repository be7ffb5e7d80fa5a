# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Moving single items from cluster to cluster while every occurring item and pair of clusters keeps k records.

Clusters are numbered 0, 1, …; a cluster may be empty. ``together[a, b]`` is the number of records with something of
both clusters, ``together[a, a]`` the support of one. Only the records of the moved item change, so a move is judged by
looking at them, unless the supports of pairs of items show already that none is allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.constraints._clusters import Ints, Slots
from setveil.arrays.compiling import compiled

FORBIDDEN = np.int64(1) << 62
NOWHERE, ANYWHERE = -1, -2  # where an item may go, if not to one place only


class ClusterState(NamedTuple):
    """The records, and where every item is: the clusters of pcta+ while items move."""

    starts: Ints  # [n_records + 1]
    items: Slots  # [n_occurrences]
    weight: Ints  # [n_records]
    item_starts: Ints  # [n_items + 1]
    item_records: Ints  # [n_occurrences] the records of every item
    mass: Ints  # [n_items] occurrences times weight of the item
    group: Slots  # [n_items] items of different groups never share a place
    place: Slots  # [n_items]
    size: Ints  # [n_clusters] items
    load: Ints  # [n_clusters] sum of mass
    owner: Slots  # [n_clusters] group of the items there
    together: NDArray[np.int32]  # [n_clusters, n_clusters]
    both: NDArray[np.int32]  # [n_items, n_items] the same for items; [0, 0] if larger than the data


@compiled
def fill_together(part: ClusterState, place_of: Slots, together: NDArray[np.int32]) -> None:
    """Count the records of every pair of places into a matrix of zeros."""
    seen = np.full(len(together), -1, dtype=np.int64)
    found = np.empty(len(together), dtype=np.int32)
    for row in range(len(part.starts) - 1):
        n_found = 0
        for item in part.items[part.starts[row] : part.starts[row + 1]]:
            place = place_of[item]
            if seen[place] != row:
                seen[place] = row
                found[n_found] = place
                n_found += 1
        for one in found[:n_found]:
            for other in found[:n_found]:
                together[one, other] += part.weight[row]


@compiled
def loss_of(size: int, load: int) -> int:
    """What a cluster costs: its size for every occurrence in it, nothing for an item alone."""
    return size * load if size > 1 else 0


@compiled
def move_items(part: ClusterState, order: Slots, slack: Ints, k: int) -> int:
    """Move each item of ``order`` to its best allowed place if that adds less than ``slack`` to the loss. Returns the
    moves.
    """
    n_clusters = len(part.size)
    here = np.zeros(n_clusters, dtype=np.int64)  # items of the present record at each place
    with_item = np.empty(n_clusters, dtype=np.int64)  # records of the item with something of each other place
    lost = np.empty(n_clusters, dtype=np.int64)  # of these, records where the item is alone at its place
    gained = np.empty(n_clusters, dtype=np.int64)
    change = np.empty(n_clusters, dtype=np.int64)
    n_moves = 0
    for number in range(len(order)):
        item = order[number]
        price_clusters(part, item, ANYWHERE, change)
        if change[np.argmin(change)] >= slack[number] or _is_stuck(part, item, change, slack[number], k):
            continue
        lost_support = _look_at_records(part, item, here, with_item, lost)
        allowed = find_way_out(part, item, lost, lost_support, k)
        if allowed == NOWHERE:
            continue
        if allowed >= 0:
            price_clusters(part, item, allowed, change)
        for _ in range(30):
            target = np.argmin(change)
            if change[target] >= slack[number]:
                break
            if not _is_too_rare(part, target, with_item, k):
                pair = _look_at_target(part, item, target, here, gained)
                if _can_enter(part, item, target, with_item[target], gained, pair, k):
                    _move(part, item, target, lost, lost_support, with_item[target], gained, pair)
                    n_moves += 1
                    break
            change[target] = FORBIDDEN
    return n_moves


@compiled
def _is_stuck(part: ClusterState, item: int, change: Ints, slack: int, k: int) -> bool:
    """Whether the supports of pairs of items show that no move is allowed. False if looking at records costs less.

    Records with an item and something of a place are at most the sum over the items of this place, and at least the
    largest of them.
    """
    home, n_items = part.place[item], len(part.both)
    if n_items == 0 or part.size[home] * n_items > 10 * (part.item_starts[item + 1] - part.item_starts[item]):
        return False
    left = np.zeros(len(part.size), dtype=np.int64)  # at most so many records have something that stays behind
    most = np.zeros(len(part.size), dtype=np.int64)  # at most and at least so many have the item
    least = np.zeros(len(part.size), dtype=np.int64)
    for member in range(n_items):
        place = part.place[member]
        if place != home:
            most[place] += part.both[item, member]
            least[place] = max(least[place], part.both[item, member])
        elif member != item:
            for other in range(n_items):
                left[part.place[other]] += part.both[member, other]
    only = ANYWHERE
    for place in range(len(left)):
        if 0 < left[place] < min(k, part.together[home, place]):
            if place == home or only >= 0:
                return True
            only = place
    for target in range(len(change)):
        if change[target] < slack and (only < 0 or target == only):
            for place in range(len(most)):
                shared = part.together[target, place]
                if least[place] > shared and most[place] + shared < k:
                    break
            else:
                return False
    return True


@compiled
def _look_at_records(part: ClusterState, item: int, here: Ints, with_item: Ints, lost: Ints) -> int:
    """Fill ``with_item`` and ``lost``; returns the records in which the item is alone at its place."""
    with_item[:] = 0
    lost[:] = 0
    home = part.place[item]
    alone = np.int64(0)
    for row in part.item_records[part.item_starts[item] : part.item_starts[item + 1]]:
        members = part.items[part.starts[row] : part.starts[row + 1]]
        for other in members:
            here[part.place[other]] += 1
        is_alone = here[home] == 1
        if is_alone:
            alone += part.weight[row]
        for other in members:
            place = part.place[other]
            if here[place] > 0 and place != home:
                with_item[place] += part.weight[row]
                if is_alone:
                    lost[place] += part.weight[row]
            here[place] = 0
    return alone


@compiled
def find_way_out(part: ClusterState, item: int, lost: Ints, lost_support: int, k: int) -> int:
    """``NOWHERE`` if what stays behind would be too rare; the only possible target if one pair would; ``ANYWHERE`` if
    nothing would.
    """
    home = part.place[item]
    if part.size[home] == 1:
        return ANYWHERE
    if part.together[home, home] - lost_support < k:
        return NOWHERE
    only = ANYWHERE
    for place in range(len(lost)):
        if lost[place] > 0 and 0 < part.together[home, place] - lost[place] < k:
            if only >= 0:
                return NOWHERE
            only = place
    return only


@compiled
def price_clusters(part: ClusterState, item: int, only: int, change: Ints) -> None:
    """What moving to each place adds to the loss, or to one ``only`` if that is not negative.

    One empty cluster stands for all of them; clusters of other groups are forbidden.
    """
    home = part.place[item]
    mass = part.mass[item]
    saved = loss_of(part.size[home], part.load[home]) - loss_of(part.size[home] - 1, part.load[home] - mass)
    change[:] = FORBIDDEN
    seen_empty = part.size[home] == 1  # it is alone already
    for place in range(len(part.size)):
        if place == home or (only >= 0 and place != only):
            continue
        if part.size[place] == 0:
            if seen_empty:
                continue
            seen_empty = True
        elif part.owner[place] != part.group[item]:
            continue
        grown = loss_of(part.size[place] + 1, part.load[place] + mass) - loss_of(part.size[place], part.load[place])
        change[place] = grown - saved


@compiled
def _is_too_rare(part: ClusterState, target: int, with_item: Ints, k: int) -> bool:
    """Whether the target and some place would be in 1 … k - 1 records, seen without looking at records.

    The item is with that place in more records than the target, so it would bring new ones.
    """
    for place in range(len(with_item)):
        if with_item[place] > part.together[target, place] and with_item[place] + part.together[target, place] < k:
            return True
    return False


@compiled
def _look_at_target(part: ClusterState, item: int, target: int, here: Ints, gained: Ints) -> int:
    """Fill ``gained``: records the target would newly share with each place; returns what it then shares with the old
    home.
    """
    gained[:] = 0
    home = part.place[item]
    pair = np.int64(part.together[home, target])
    for row in part.item_records[part.item_starts[item] : part.item_starts[item + 1]]:
        members = part.items[part.starts[row] : part.starts[row + 1]]
        for other in members:
            here[part.place[other]] += 1
        is_new = here[target] == 0
        if is_new and here[home] > 1:
            pair += part.weight[row]
        elif not is_new and here[home] == 1:
            pair -= part.weight[row]
        for other in members:
            place = part.place[other]
            if here[place] > 0 and is_new and place != home and place != target:
                gained[place] += part.weight[row]
            here[place] = 0
    return pair


@compiled
def _can_enter(part: ClusterState, item: int, target: int, shared: int, gained: Ints, pair: int, k: int) -> bool:
    home = part.place[item]
    if part.together[target, target] + count_records_of(part, item) - shared < k:
        return False
    if part.size[home] > 1 and 0 < pair < k:
        return False
    for place in range(len(gained)):
        if gained[place] > 0 and part.together[target, place] + gained[place] < k:
            return False
    return True


@compiled
def count_records_of(part: ClusterState, item: int) -> int:
    """The support of an item."""
    total = np.int64(0)
    for row in part.item_records[part.item_starts[item] : part.item_starts[item + 1]]:
        total += part.weight[row]
    return total


@compiled
def _move(
    part: ClusterState, item: int, target: int, lost: Ints, lost_support: int, shared: int, gained: Ints, pair: int
) -> None:
    home, together = part.place[item], part.together
    for place in range(len(part.size)):
        if place != home and place != target:
            together[home, place] -= lost[place]
            together[place, home] = together[home, place]
            together[target, place] += gained[place]
            together[place, target] = together[target, place]
    together[home, home] -= lost_support
    together[target, target] += count_records_of(part, item) - shared
    kept = pair if part.size[home] > 1 else 0
    together[home, target] = kept
    together[target, home] = kept
    put_item(part, item, target)


@compiled
def put_item(part: ClusterState, item: int, target: int) -> None:
    """An item is at another place from now on."""
    home = part.place[item]
    part.place[item] = target
    part.size[home] -= 1
    part.size[target] += 1
    part.load[home] -= part.mass[item]
    part.load[target] += part.mass[item]
    part.owner[target] = part.group[item]
