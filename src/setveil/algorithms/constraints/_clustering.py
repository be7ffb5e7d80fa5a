"""Clusters of items that grow by merging, and what is known about them at every moment.

A cluster is a slot: one of the item numbers it was made from. Merging two clusters keeps the slot with more records and
gives it the other's; ``first`` remembers the smallest item, which is what ties are broken by. Records are sets of slots with
the list of records of every slot; pairs of clusters that occur together are edges with the number of records that have
both. A merge touches the records of the smaller cluster and the edges of both, so that all merges together cost no more than
the pairs of items in the records plus the number of items for every merge, and no matrix of items by items is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms.constraints._merge_costs import Merge, compare_costs
from setveil.arrays.compile import compiled

MERGED, SUPPRESSED = np.int8(1), np.int8(2)  # what became of a slot that is no longer live

Ints = NDArray[np.int64]
Slots = NDArray[np.int32]


class Sets(NamedTuple):
    """Sets of slots; set ``i`` is ``members[start[i]:end[i]]`` in no order. ``links`` lead from a slot to its sets."""

    start: Ints  # [n_sets]
    end: Ints  # [n_sets] moves down when two members become one
    members: Slots  # [n_members]
    head: Ints  # [n_slots] first link of a slot, -1 if it has none
    tail: Ints  # [n_slots]
    n_links: Ints  # [n_slots]
    next: Ints  # [n_members] next link of the same slot
    owner: Slots  # [n_members] the set a link leads to


class Graph(NamedTuple):
    """Undirected edges between slots that occur together. Edge ``e`` has two halves, ``2e`` and ``2e + 1``."""

    head: Ints  # [n_slots] first half of a slot, -1 if it has none
    next: Slots  # [2 n_edges] next half of the same slot
    to: Slots  # [2 n_edges] the slot at the other end
    count: Ints  # [n_edges] records with both; 0 once the edge is gone
    into: Slots  # [n_edges] the edge that took over when both ends were merged into the ends of another; or itself


class Clusters(NamedTuple):
    """The state of the clustering."""

    records: Sets
    graph: Graph
    weight: Ints  # [n_sets] how many records look like this one
    size: Ints  # [n_slots] items in the cluster
    support: Ints  # [n_slots] records with at least one of them
    value: Ints  # [n_slots] the largest weight of its items, an integer
    toll: Ints  # [n_slots] sum of its items' penalties, an integer
    first: Slots  # [n_slots] its smallest item
    parent: Slots  # [n_slots] the slot it was merged into, itself while live
    fate: NDArray[np.int8]  # [n_slots] 0 while live
    group: Slots  # [n_slots] the utility group
    group_start: Ints  # [n_groups] the live slots of a group are mates[group_start:group_end]
    group_end: Ints  # [n_groups]
    mates: Slots  # [n_slots]
    place: Ints  # [n_slots] position in mates
    marks: Ints  # [n_slots] scratch, zero between calls
    edges: Ints  # [n_slots] scratch, -1 between calls
    n_suppressed: Ints  # [1] items


# -- sets of slots -------------------------------------------------------------------------------------------------


@compiled
def link_sets(start: Ints, end: Ints, members: Slots, n_slots: int) -> Sets:
    """Sets with their links, each slot's in ascending order of sets."""
    head = np.full(n_slots, -1, np.int64)
    tail = np.full(n_slots, -1, np.int64)
    n_links = np.zeros(n_slots, np.int64)
    follows = np.full(len(members), -1, np.int64)
    owner = np.empty(len(members), np.int32)
    for row in range(len(start)):
        for link in range(start[row], end[row]):
            owner[link] = row
            _append_link(head, tail, n_links, follows, members[link], link)
    return Sets(start, end, members, head, tail, n_links, follows, owner)


@compiled
def _append_link(head: Ints, tail: Ints, n_links: Ints, follows: Ints, slot: int, link: int) -> None:
    follows[link] = -1
    if tail[slot] < 0:
        head[slot] = link
    else:
        follows[tail[slot]] = link
    tail[slot] = link
    n_links[slot] += 1


@compiled
def rename_member(sets: Sets, kept: int, gone: int) -> tuple[Slots, Slots]:
    """Put ``kept`` in the place of ``gone`` in every set. Returns the sets that gained ``kept``, and those that had both."""
    gained = np.empty(sets.n_links[gone], np.int32)
    had_both = np.empty(sets.n_links[gone], np.int32)
    n_gained = n_both = 0
    link = sets.head[gone]
    while link >= 0:
        following = sets.next[link]
        row = sets.owner[link]
        position = -1
        both = False
        for place in range(sets.start[row], sets.end[row]):
            if sets.members[place] == gone:
                position = place
            elif sets.members[place] == kept:
                both = True
        if both:
            sets.end[row] -= 1
            sets.members[position] = sets.members[sets.end[row]]
            had_both[n_both] = row
            n_both += 1
        else:
            sets.members[position] = kept
            _append_link(sets.head, sets.tail, sets.n_links, sets.next, kept, link)
            gained[n_gained] = row
            n_gained += 1
        link = following
    _forget_links(sets, gone)
    return gained[:n_gained], had_both[:n_both]


@compiled
def drop_member(sets: Sets, gone: int) -> None:
    """Take a slot out of every set."""
    link = sets.head[gone]
    while link >= 0:
        row = sets.owner[link]
        sets.end[row] -= 1
        for place in range(sets.start[row], sets.end[row]):
            if sets.members[place] == gone:
                sets.members[place] = sets.members[sets.end[row]]
                break
        link = sets.next[link]
    _forget_links(sets, gone)


@compiled
def _forget_links(sets: Sets, slot: int) -> None:
    sets.head[slot] = -1
    sets.tail[slot] = -1
    sets.n_links[slot] = 0


# -- co-occurrence -------------------------------------------------------------------------------------------------


@compiled
def count_pairs(records: Sets, weight: Ints, starts: Ints) -> tuple[Slots, Ints]:
    """Larger partners of each slot and the records with both; those of slot ``i`` begin at ``starts[i]``.

    Called twice: with zeros it only writes the number of partners of slot ``i`` to ``starts[i + 1]``.
    """
    n_slots = len(records.head)
    n_pairs = starts[n_slots]
    partner = np.empty(n_pairs, np.int32)
    count = np.empty(n_pairs, np.int64)
    together = np.zeros(n_slots, np.int64)
    found = np.empty(n_slots, np.int32)
    for slot in range(n_slots):
        n_found = 0
        link = records.head[slot]
        while link >= 0:
            row = records.owner[link]
            for place in range(records.start[row], records.end[row]):
                other = records.members[place]
                if other > slot:
                    if together[other] == 0:
                        found[n_found] = other
                        n_found += 1
                    together[other] += weight[row]
            link = records.next[link]
        if n_pairs == 0:
            starts[slot + 1] = n_found
        for position in range(n_found):
            other = found[position]
            if n_pairs > 0:
                partner[starts[slot] + position] = other
                count[starts[slot] + position] = together[other]
            together[other] = 0
    return partner, count


@compiled
def build_graph(starts: Ints, partner: Slots, count: Ints) -> Graph:
    """Edges from pairs."""
    n_slots = len(starts) - 1
    head = np.full(n_slots, -1, np.int64)
    follows = np.full(2 * len(partner), -1, np.int32)
    to = np.empty(2 * len(partner), np.int32)
    for slot in range(n_slots):
        for edge in range(starts[slot], starts[slot + 1]):
            other = partner[edge]
            to[2 * edge] = other
            to[2 * edge + 1] = slot
            follows[2 * edge] = head[slot]
            head[slot] = 2 * edge
            follows[2 * edge + 1] = head[other]
            head[other] = 2 * edge + 1
    return Graph(head, follows, to, count, np.arange(len(count)).astype(np.int32))


@compiled
def _prune_edges(graph: Graph, slot: int) -> None:
    """Unlink the edges of a slot that are gone."""
    before = np.int64(-1)
    half = graph.head[slot]
    while half >= 0:
        following = graph.next[half]
        if graph.count[half >> 1] > 0:
            before = half
        elif before < 0:
            graph.head[slot] = following
        else:
            graph.next[before] = following
        half = following


@compiled
def _join_edges(clusters: Clusters, kept: int, gone: int, shared: Slots) -> None:
    """Give ``kept`` the edges of ``gone``; ``shared`` are the records that had both and would count twice."""
    graph, edges, marks = clusters.graph, clusters.edges, clusters.marks
    _prune_edges(graph, kept)
    half = graph.head[kept]
    while half >= 0:
        edges[graph.to[half]] = half >> 1
        half = graph.next[half]
    half = graph.head[gone]
    while half >= 0:
        following = graph.next[half]
        edge, other = half >> 1, graph.to[half]
        if other == kept:
            graph.count[edge] = 0
        elif graph.count[edge] > 0 and edges[other] >= 0:
            graph.count[edges[other]] += graph.count[edge]
            graph.count[edge] = 0
            graph.into[edge] = edges[other]
        elif graph.count[edge] > 0:
            graph.to[half ^ 1] = kept
            graph.next[half] = graph.head[kept]
            graph.head[kept] = half
        half = following
    graph.head[gone] = -1
    for row in shared:
        for place in range(clusters.records.start[row], clusters.records.end[row]):
            marks[clusters.records.members[place]] += clusters.weight[row]
    half = graph.head[kept]
    while half >= 0:
        other = graph.to[half]
        edges[other] = -1
        if other != gone:
            graph.count[half >> 1] -= marks[other]
        half = graph.next[half]
    for row in shared:
        for place in range(clusters.records.start[row], clusters.records.end[row]):
            marks[clusters.records.members[place]] = 0


# -- merging and suppressing ---------------------------------------------------------------------------------------


@compiled
def merge_clusters(clusters: Clusters, left: int, right: int) -> tuple[int, int, Slots]:
    """Merge two live clusters. Returns the slot that stays, the one that is gone, and the records that the first gained."""
    kept, gone = left, right
    if clusters.records.n_links[gone] > clusters.records.n_links[kept]:
        kept, gone = right, left
    gained, shared = rename_member(clusters.records, kept, gone)
    _join_edges(clusters, kept, gone, shared)
    for row in gained:
        clusters.support[kept] += clusters.weight[row]
    clusters.size[kept] += clusters.size[gone]
    clusters.value[kept] = max(clusters.value[kept], clusters.value[gone])
    clusters.toll[kept] += clusters.toll[gone]
    clusters.first[kept] = min(clusters.first[kept], clusters.first[gone])
    clusters.parent[gone] = kept
    clusters.fate[gone] = MERGED
    _leave_group(clusters, gone)
    return kept, gone, gained


@compiled
def suppress_cluster(clusters: Clusters, slot: int) -> None:
    """Take all items of a live cluster out of the data."""
    drop_member(clusters.records, slot)
    half = clusters.graph.head[slot]
    while half >= 0:
        clusters.graph.count[half >> 1] = 0
        half = clusters.graph.next[half]
    clusters.graph.head[slot] = -1
    clusters.fate[slot] = SUPPRESSED
    clusters.n_suppressed[0] += clusters.size[slot]
    _leave_group(clusters, slot)


@compiled
def _leave_group(clusters: Clusters, slot: int) -> None:
    group = clusters.group[slot]
    clusters.group_end[group] -= 1
    last = clusters.mates[clusters.group_end[group]]
    clusters.mates[clusters.place[slot]] = last
    clusters.place[last] = clusters.place[slot]


@compiled
def find_root(parent: Slots, number: int) -> int:
    """What a slot or an edge has been merged into, by now."""
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number


@compiled
def count_support(clusters: Clusters, slots: Slots, enough: int) -> int:
    """Records with all of these live slots; may stop counting at ``enough``."""
    records, marks = clusters.records, clusters.marks
    if len(slots) == 0:
        return enough
    rarest = slots[0]
    for slot in slots:
        if records.n_links[slot] < records.n_links[rarest]:
            rarest = slot
    if len(slots) == 1:
        return clusters.support[rarest]
    for slot in slots:
        marks[slot] = 1
    count = np.int64(0)
    link = records.head[rarest]
    while link >= 0 and count < enough:
        row = records.owner[link]
        n_present = 0
        for place in range(records.start[row], records.end[row]):
            n_present += marks[records.members[place]]
        if n_present == len(slots):
            count += clusters.weight[row]
        link = records.next[link]
    for slot in slots:
        marks[slot] = 0
    return count


# -- the cheapest merge ---------------------------------------------------------------------------------------------


@compiled
def find_cheapest_partner(clusters: Clusters, slot: int, criterion: int) -> Merge:
    """The best merge of a live slot inside its utility group; ``right`` is -1 if it is alone there."""
    graph, first, together = clusters.graph, clusters.first, clusters.marks
    _prune_edges(graph, slot)
    half = graph.head[slot]
    while half >= 0:
        together[graph.to[half]] = graph.count[half >> 1]
        half = graph.next[half]
    own_loss = clusters.value[slot] * clusters.support[slot]
    best = Merge(np.int64(slot), np.int64(-1), clusters.size[slot], np.int64(0), own_loss, np.int64(0), np.int64(0))
    group = clusters.group[slot]
    for place in range(clusters.group_start[group], clusters.group_end[group]):
        other = clusters.mates[place]
        if other == slot:
            continue
        support = clusters.support[slot] + clusters.support[other] - together[other]
        merge = Merge(
            np.int64(slot),
            np.int64(other),
            clusters.size[slot],
            clusters.size[other],
            own_loss,
            clusters.value[other] * clusters.support[other],
            max(clusters.value[slot], clusters.value[other]) * support,
        )
        if best.right >= 0:
            sign = compare_costs(merge, best, criterion)
            if sign > 0 or (sign == 0 and first[other] > first[best.right]):
                continue
        best = merge
    half = graph.head[slot]
    while half >= 0:
        together[graph.to[half]] = 0
        half = graph.next[half]
    return best


# -- protecting one constraint -------------------------------------------------------------------------------------


class Rules(NamedTuple):
    """How a constraint is protected."""

    k: int
    criterion: int
    rarest_only: int  # 1: only the rarest item that can be generalized is (COAT)


@compiled
def protect_constraint(clusters: Clusters, slots: Slots, rules: Rules, log: Slots, n_logged: int) -> int:
    """Merge, then suppress, until the records with all these live slots are none or at least k.

    Writes every step to ``log`` as ``kept, gone`` and returns the new length. ``log`` must have room for all slots twice.
    """
    image = slots
    while len(image) > 0:
        support = count_support(clusters, image, rules.k)
        if support == 0 or support >= rules.k:
            break
        kept, gone, _ = take_step(clusters, image, rules)
        image = _follow(image, kept, gone)
        log[n_logged] = kept
        log[n_logged + 1] = gone
        n_logged += 2
    return n_logged


@compiled
def take_step(clusters: Clusters, image: Slots, rules: Rules) -> tuple[int, int, Slots]:
    """The best merge of one of these clusters or, if none can be merged, the suppression of one.

    Returns the slot that stays (-1 for a suppression), the one that is gone, and the records that the first gained.
    """
    best = choose_merge(clusters, image, rules)
    if best.right >= 0:
        return merge_clusters(clusters, best.left, best.right)
    gone = choose_suppressed(clusters, image)
    suppress_cluster(clusters, gone)
    return np.int64(-1), np.int64(gone), np.empty(0, np.int32)


@compiled
def choose_merge(clusters: Clusters, image: Slots, rules: Rules) -> Merge:
    """The cheapest merge of one of these clusters; ties: smallest left, then smallest right. ``right`` is -1 for none."""
    first = clusters.first
    start = -1
    if rules.rarest_only == 1:
        for number in range(len(image)):
            slot = image[number]
            group = clusters.group[slot]
            if clusters.group_end[group] - clusters.group_start[group] < 2:
                continue
            if start < 0 or (clusters.support[slot], first[slot]) < (
                clusters.support[image[start]],
                first[image[start]],
            ):
                start = number
    if start >= 0:
        return find_cheapest_partner(clusters, image[start], rules.criterion)
    best = find_cheapest_partner(clusters, image[0], rules.criterion)
    for number in range(1, len(image)):
        merge = find_cheapest_partner(clusters, image[number], rules.criterion)
        if merge.right < 0:
            continue
        if best.right >= 0:
            sign = compare_costs(merge, best, rules.criterion)
            if sign > 0 or (sign == 0 and first[merge.left] > first[best.left]):
                continue
        best = merge
    return best


@compiled
def choose_suppressed(clusters: Clusters, image: Slots) -> int:
    """The cluster with the least penalty, then the smallest support, then the smallest item."""
    best = image[0]
    for slot in image:
        if (clusters.toll[slot], clusters.support[slot], clusters.first[slot]) < (
            clusters.toll[best],
            clusters.support[best],
            clusters.first[best],
        ):
            best = slot
    return best


@compiled
def _follow(image: Slots, kept: int, gone: int) -> Slots:
    """The image after a step that concerned it."""
    result = np.empty(len(image) + 1, np.int32)
    n_slots = 0
    for slot in image:
        if slot != gone and slot != kept:
            result[n_slots] = slot
            n_slots += 1
    if kept >= 0:
        result[n_slots] = kept
        n_slots += 1
    return result[:n_slots]
