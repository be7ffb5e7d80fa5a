# mypy: disable-error-code="arg-type, assignment, no-any-return, return-value"
"""Algorithm 1 of Gkoulalas-Divanis and Loukides (2012) for one privacy constraint, lines 5 to 26.

The paper's names: p is the constraint, written as the clusters its items are in now; H(i) is the cluster of item i; σ
is the pair of clusters that is merged into ĩ. ``clusters`` holds the generalized data and H. UPCTA and COAT differ in
which merges they look at, and suppress where no merge is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.algorithms.constraints._clusters import (
    SUPPRESSED,
    Clusters,
    Slots,
    find_root,
    join_clusters,
    prune_edges,
    suppress_cluster,
)
from setveil.algorithms.constraints._merge_costs import Merge, compare_costs
from setveil.arrays.compiling import compiled


class Rules(NamedTuple):
    """How a constraint is protected."""

    k: int
    criterion: int
    rarest_only: int  # 1: only the rarest item that can be generalized is (COAT)
    mixed: int = (
        -1
    )  # the group of clusters of several branches of a hierarchy, which come last; -1: there are no branches


@compiled
def update_constraint(clusters: Clusters, items: Slots) -> Slots:
    """Lines 5-11: p with every item i replaced by H(i), each cluster once; what is suppressed leaves p."""
    p = np.empty(len(items), dtype=np.int32)
    n_slots = 0
    for item in items:  # 5
        slot = find_root(clusters.parent, item)  # 6-7
        if clusters.status[slot] != SUPPRESSED and clusters.marks[slot] == 0:  # 8-9
            clusters.marks[slot] = 1
            p[n_slots] = slot  # 10-11
            n_slots += 1
    for slot in p[:n_slots]:
        clusters.marks[slot] = 0
    return p[:n_slots]


@compiled
def protect_constraint(clusters: Clusters, p: Slots, rules: Rules) -> int:
    """Lines 12-26: merge, then suppress, until p is in no or at least k records; returns how many steps that took."""
    n_steps = 0
    while len(p) > 0 and 0 < count_support(clusters, p, rules.k) < rules.k:  # 12, 15
        kept, gone, _ = take_step(clusters, p, rules)  # 16-23, 25-26
        p = replace_members(p, kept, gone)  # 24
        n_steps += 1
    return n_steps


@compiled
def take_step(clusters: Clusters, p: Slots, rules: Rules) -> tuple[int, int, Slots]:
    """Lines 16-23 and 25-26: the best merge of one of p's clusters or, if none can be merged, the suppression of one.

    Returns the slot that stays (-1 for a suppression), the one that is gone, and the records that the first gained.
    """
    best = choose_merge(clusters, p, rules, 0)  # 16-21
    if best.right < 0 and rules.mixed >= 0:
        best = choose_merge(clusters, p, rules, 1)  # the last resort
    if best.right >= 0:
        return join_clusters(clusters, best.left, best.right, rules.mixed)  # 22-23, 25-26
    gone = choose_suppressed(clusters, p)
    suppress_cluster(clusters, gone)
    return np.int64(-1), np.int64(gone), np.empty(0, dtype=np.int32)


@compiled
def choose_merge(clusters: Clusters, p: Slots, rules: Rules, anywhere: int) -> Merge:
    """Lines 16-21: the cheapest merge σ of one of p's clusters, inside groups or anywhere. ``right`` is -1 if there is
    none.

    Ties: smallest i_m, then smallest i_s, clusters being ordered by their smallest item.
    """
    first = clusters.first
    start = _find_rarest_movable(clusters, p, anywhere) if rules.rarest_only == 1 else -1
    if start >= 0:
        return find_cheapest_partner(clusters, p[start], rules.criterion, anywhere)
    best = find_cheapest_partner(clusters, p[0], rules.criterion, anywhere)  # 16
    for number in range(1, len(p)):  # 17
        merge = find_cheapest_partner(clusters, p[number], rules.criterion, anywhere)  # 18
        if merge.right < 0:
            continue
        if best.right >= 0:
            sign = compare_costs(merge, best, rules.criterion)  # 19
            if sign > 0 or (sign == 0 and first[merge.left] > first[best.left]):
                continue
        best = merge  # 20-21
    return best


@compiled
def _find_rarest_movable(clusters: Clusters, p: Slots, anywhere: int) -> int:
    """Where in p the rarest cluster stands that has a partner left in its group, or at all (COAT); -1 if none has."""
    rarest = -1
    for number in range(len(p)):
        slot = p[number]
        group = clusters.group[slot]
        if anywhere == 0 and clusters.group_end[group] - clusters.group_start[group] < 2:
            continue
        if rarest < 0 or (clusters.support[slot], clusters.first[slot]) < (
            clusters.support[p[rarest]],
            clusters.first[p[rarest]],
        ):
            rarest = number
    return rarest


@compiled
def find_cheapest_partner(clusters: Clusters, slot: int, criterion: int, anywhere: int) -> Merge:
    """Line 18: the cheapest merge of one cluster i_m inside its group, or anywhere; ``right`` is -1 if it is alone."""
    graph, first, together = clusters.graph, clusters.first, clusters.marks
    prune_edges(graph, slot)
    half = graph.head[slot]
    while half >= 0:
        together[graph.to[half]] = graph.count[half >> 1]
        half = graph.next[half]
    own_loss = clusters.usefulness[slot] * clusters.support[slot]
    best = Merge(np.int64(slot), np.int64(-1), clusters.size[slot], np.int64(0), own_loss, np.int64(0), np.int64(0))
    lowest, highest = np.int64(clusters.group[slot]), np.int64(clusters.group[slot])
    if anywhere == 1:
        lowest, highest = np.int64(0), np.int64(len(clusters.group_start) - 1)
    for group in range(lowest, highest + 1):
        for place in range(clusters.group_start[group], clusters.group_end[group]):
            other = clusters.group_slots[place]
            if other == slot:
                continue
            support = clusters.support[slot] + clusters.support[other] - together[other]
            merge = Merge(
                np.int64(slot),
                np.int64(other),
                clusters.size[slot],
                clusters.size[other],
                own_loss,
                clusters.usefulness[other] * clusters.support[other],
                max(clusters.usefulness[slot], clusters.usefulness[other]) * support,
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


@compiled
def choose_suppressed(clusters: Clusters, p: Slots) -> int:
    """The cluster with the least penalty, then the smallest support, then the smallest item."""
    best = p[0]
    for slot in p:
        if (clusters.penalty[slot], clusters.support[slot], clusters.first[slot]) < (
            clusters.penalty[best],
            clusters.support[best],
            clusters.first[best],
        ):
            best = slot
    return best


@compiled
def replace_members(p: Slots, kept: int, gone: int) -> Slots:
    """Line 24: p after a step that concerned it."""
    result = np.empty(len(p) + 1, dtype=np.int32)
    n_slots = 0
    for slot in p:
        if slot != gone and slot != kept:
            result[n_slots] = slot
            n_slots += 1
    if kept >= 0:
        result[n_slots] = kept
        n_slots += 1
    return result[:n_slots]


@compiled
def count_support(clusters: Clusters, slots: Slots, enough: int) -> int:
    """Lines 12 and 15: the records with all of these live slots; may stop counting at ``enough``."""
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
