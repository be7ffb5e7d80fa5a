# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Clusters of items that grow by merging, and what is known about them at every moment (the paper's generalized data
and H).

A cluster is a slot: one of the item numbers it was made from. Merging two clusters keeps the slot with more records and
gives it the other's; ``first`` remembers the smallest item, which is what ties are broken by. Records are sets of
slots with the list of records of every slot; pairs of clusters that occur together are edges with the number of
records that have both. A merge touches the records of the smaller cluster and the edges of both, so that all merges
together cost no more than the pairs of items in the records plus the number of items for every merge, and no matrix of
items by items is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.compiling import compiled
from setveil.arrays.containers import grown

LIVE, MERGED, SUPPRESSED = np.int8(0), np.int8(1), np.int8(2)  # what became of a slot

Ints = NDArray[np.int64]
Slots = NDArray[np.int32]


class LinkedSets(NamedTuple):
    """LinkedSets of slots; set ``i`` is ``members[start[i]:end[i]]`` in no order. ``links`` lead from a slot to its
    sets.
    """

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

    records: LinkedSets
    graph: Graph
    weight: Ints  # [n_sets] how many records look like this one
    size: Ints  # [n_slots] items in the cluster
    support: Ints  # [n_slots] records with at least one of them
    usefulness: Ints  # [n_slots] the largest weight of its items, an integer
    penalty: Ints  # [n_slots] sum of its items' penalties, an integer
    first: Slots  # [n_slots] its smallest item
    parent: Slots  # [n_slots] the slot it was merged into, itself while live
    status: NDArray[np.int8]  # [n_slots] live, merged or suppressed
    group: Slots  # [n_slots] the utility group, or the branch of the hierarchy
    group_start: Ints  # [n_groups] the live slots of a group are group_slots[group_start:group_end]
    group_end: Ints  # [n_groups]
    group_slots: Slots  # [n_slots, and as many more if there is a group of mixed clusters]
    place_in_group: Ints  # [n_slots] position in group_slots
    marks: Ints  # [n_slots] scratch, zero between calls
    edges: Ints  # [n_slots] scratch, -1 between calls


# -- sets of slots -------------------------------------------------------------------------------------------------


@compiled
def link_sets(start: Ints, end: Ints, members: Slots, n_slots: int) -> LinkedSets:
    """LinkedSets with their links, each slot's in ascending order of sets."""
    head = np.full(n_slots, -1, dtype=np.int64)
    tail = np.full(n_slots, -1, dtype=np.int64)
    n_links = np.zeros(n_slots, dtype=np.int64)
    follows = np.full(len(members), -1, dtype=np.int64)
    owner = np.empty(len(members), dtype=np.int32)
    for row in range(len(start)):
        for link in range(start[row], end[row]):
            owner[link] = row
            _append_link(head, tail, n_links, follows, members[link], link)
    return LinkedSets(start, end, members, head, tail, n_links, follows, owner)


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
def rename_member(sets: LinkedSets, kept: int, gone: int) -> tuple[Slots, Slots]:
    """Put ``kept`` in the place of ``gone`` in every set. Returns the sets that gained ``kept``, and those that had
    both.
    """
    gained = np.empty(sets.n_links[gone], dtype=np.int32)
    had_both = np.empty(sets.n_links[gone], dtype=np.int32)
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
def drop_member(sets: LinkedSets, gone: int) -> None:
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
def _forget_links(sets: LinkedSets, slot: int) -> None:
    sets.head[slot] = -1
    sets.tail[slot] = -1
    sets.n_links[slot] = 0


# -- co-occurrence -------------------------------------------------------------------------------------------------


@compiled
def count_larger_partners(records: LinkedSets, weight: Ints, most: int) -> tuple[Ints, Slots, Ints]:
    """Larger partners of each slot and the records with both; those of slot ``i`` begin at the first result's entry
    ``i``. Stops when there are more than ``most`` pairs.
    """
    n_slots = len(records.head)
    starts = np.zeros(n_slots + 1, dtype=np.int64)
    partner = np.empty(1024, dtype=np.int32)
    count = np.empty(1024, dtype=np.int64)
    together = np.zeros(n_slots, dtype=np.int64)
    n_pairs = np.int64(0)
    for slot in range(n_slots):
        if n_pairs > most:
            break
        if n_pairs + n_slots > len(partner):
            partner, count = grown(partner, n_pairs + n_slots), grown(count, n_pairs + n_slots)
        link = records.head[slot]
        while link >= 0:
            row = records.owner[link]
            for place in range(records.start[row], records.end[row]):
                other = records.members[place]
                if other > slot:
                    if together[other] == 0:
                        partner[n_pairs] = other
                        n_pairs += 1
                    together[other] += weight[row]
            link = records.next[link]
        for pair in range(starts[slot], n_pairs):
            count[pair] = together[partner[pair]]
            together[partner[pair]] = 0
        starts[slot + 1] = n_pairs
    return starts, partner[:n_pairs], count[:n_pairs]


@compiled
def build_graph(starts: Ints, partner: Slots, count: Ints) -> Graph:
    """Edges from pairs."""
    n_slots = len(starts) - 1
    head = np.full(n_slots, -1, dtype=np.int64)
    follows = np.full(2 * len(partner), -1, dtype=np.int32)
    to = np.empty(2 * len(partner), dtype=np.int32)
    for slot in range(n_slots):
        for edge in range(starts[slot], starts[slot + 1]):
            other = partner[edge]
            to[2 * edge] = other
            to[2 * edge + 1] = slot
            follows[2 * edge] = head[slot]
            head[slot] = 2 * edge
            follows[2 * edge + 1] = head[other]
            head[other] = 2 * edge + 1
    into = np.empty(len(count), dtype=np.int32)
    for edge in range(len(count)):
        into[edge] = edge
    return Graph(head, follows, to, count, into)


@compiled
def prune_edges(graph: Graph, slot: int) -> None:
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
    prune_edges(graph, kept)
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
    """Merge two live clusters. Returns the slot that stays, the one that is gone, and the records that the first
    gained.
    """
    kept, gone = left, right
    if clusters.records.n_links[gone] > clusters.records.n_links[kept]:
        kept, gone = right, left
    gained, shared = rename_member(clusters.records, kept, gone)
    _join_edges(clusters, kept, gone, shared)
    for row in gained:
        clusters.support[kept] += clusters.weight[row]
    clusters.size[kept] += clusters.size[gone]
    clusters.usefulness[kept] = max(clusters.usefulness[kept], clusters.usefulness[gone])
    clusters.penalty[kept] += clusters.penalty[gone]
    clusters.first[kept] = min(clusters.first[kept], clusters.first[gone])
    clusters.parent[gone] = kept
    clusters.status[gone] = MERGED
    _leave_group(clusters, gone)
    return kept, gone, gained


@compiled
def join_clusters(clusters: Clusters, left: int, right: int, mixed: int) -> tuple[int, int, Slots]:
    """Merge two live clusters; if their groups differ, what comes of it moves to the group ``mixed``."""
    differ = clusters.group[left] != clusters.group[right]
    kept, gone, gained = merge_clusters(clusters, left, right)
    if differ and clusters.group[kept] != mixed:
        _leave_group(clusters, kept)
        place = clusters.group_end[mixed]
        clusters.group[kept] = mixed
        clusters.group_slots[place] = kept
        clusters.place_in_group[kept] = place
        clusters.group_end[mixed] += 1
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
    clusters.status[slot] = SUPPRESSED
    _leave_group(clusters, slot)


@compiled
def _leave_group(clusters: Clusters, slot: int) -> None:
    group = clusters.group[slot]
    clusters.group_end[group] -= 1
    last = clusters.group_slots[clusters.group_end[group]]
    clusters.group_slots[clusters.place_in_group[slot]] = last
    clusters.place_in_group[last] = clusters.place_in_group[slot]


@compiled
def find_root(parent: Slots, number: int) -> int:
    """What a slot or an edge has been merged into, by now."""
    while parent[number] != number:
        parent[number] = parent[parent[number]]
        number = parent[number]
    return number
