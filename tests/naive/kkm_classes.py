"""Classes of columns and items with lists and sets: what they lose, and how the paper gathers and merges them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from setveil.core import Hierarchy

# -- losses -----------------------------------------------------------------------------------------------------------


def lowest(tree: Hierarchy, leaves: Iterable[int]) -> int:
    """The lowest node above all leaves."""
    paths = [tree.ancestors(leaf)[::-1] for leaf in set(leaves)]
    return int([nodes[0] for nodes in zip(*paths, strict=False) if len(set(nodes)) == 1][-1])


def node_loss(tree: Hierarchy, node: int) -> float:
    """NCP of a node."""
    n_leaves = len(tree.leaves(node))
    return n_leaves / tree.n_items if n_leaves > 1 else 0.0


def column_loss(trees: Sequence[Hierarchy], members: Sequence[tuple[int, ...]]) -> float:
    """What one of these people loses in all columns, on average over columns."""
    if not trees:
        return 0.0
    losses = [
        node_loss(tree, lowest(tree, values)) for tree, values in zip(trees, zip(*members, strict=True), strict=True)
    ]
    return sum(losses) / len(losses)


def estimated_loss(records: Sequence[Sequence[int]], k_one: int, k_two: int) -> float:
    """Entries lost in a first round: rare items, then per record the item in most rare pairs, until there is none."""
    support = Counter(item for record in records for item in record)
    frequent = [[item for item in record if support[item] >= k_one] for record in records]
    pairs = Counter(pair for record in frequent for pair in combinations(record, 2))
    lost = sum(map(len, records)) - sum(map(len, frequent))
    for record in frequent if k_two else []:
        left = list(record)
        while True:
            rare = [pair for pair in combinations(left, 2) if pairs[pair] < k_two]
            if not rare:
                break
            clashes = Counter(item for pair in rare for item in pair)
            worst = max(left, key=lambda item: (clashes[item], -support[item], left.index(item)))
            left.remove(worst)
            lost += 1
    return float(lost)


# -- the paper's clusters ---------------------------------------------------------------------------------------------

Cell = tuple[int, ...]
Member = tuple[Cell, tuple[int, ...]]  # leaves of the known columns, items


def gather(trees: Sequence[Hierarchy], people: Sequence[Member], k: int) -> list[list[Member]]:
    """Clusters of at least k people; ``people`` in the order of their cells."""
    left: dict[Cell, list[Member]] = {}
    for person in people:
        left.setdefault(person[0], []).append(person)
    clusters: list[list[Member]] = []
    while sum(map(len, left.values())) >= k:
        cell = min(left)
        cluster: list[Member] = []
        while True:
            missing = k - len(cluster)
            cluster += left[cell][:missing]
            left[cell] = left[cell][missing:]
            if not left[cell]:
                del left[cell]
            if len(cluster) == k:
                break
            own = [person[0] for person in cluster]
            cell = min(left, key=lambda other: (round(column_loss(trees, [*own, other]), 9), other))
        clusters.append(cluster)
    for cell in sorted(left):
        added = [_added(trees, cluster, left[cell]) for cluster in clusters]
        clusters[added.index(min(added))] += left[cell]
    return clusters


def _added(trees: Sequence[Hierarchy], one: Sequence[Member], other: Sequence[Member]) -> float:
    return round(_cost(trees, [*one, *other]) - _cost(trees, one) - _cost(trees, other), 9)


def _cost(trees: Sequence[Hierarchy], cluster: Sequence[Member]) -> float:
    return column_loss(trees, [person[0] for person in cluster]) * len(cluster)


def merged(
    trees: Sequence[Hierarchy], people: Sequence[Member], k: int, m: int, rule: str, delta: float
) -> list[list[Member]] | None:
    """RMERGE, TMERGE or RTMERGE without an item hierarchy; None if columns lose too much before any merge."""
    clusters = gather(trees, people, k)
    n_entries = max(sum(len(items) for _, items in people), 1)

    def item_cost(cluster: Sequence[Member]) -> float:
        return 0.0 if m == 0 else estimated_loss([items for _, items in cluster], k, 0 if m == 1 else k)

    if sum(_cost(trees, cluster) for cluster in clusters) / len(people) > delta + 1e-9:
        return None
    alive = dict(enumerate(clusters))
    is_open = set(alive)
    while True:
        waiting = [number for number in sorted(is_open) if number in alive and item_cost(alive[number]) > 0]
        if not waiting:
            return list(alive.values())
        one = max(waiting, key=lambda number: (item_cost(alive[number]), -number))
        rum = sum(_cost(trees, cluster) for cluster in alive.values()) / len(people)
        found = []
        for other in alive:
            if other == one:
                continue
            added = _added(trees, alive[one], alive[other])
            change = item_cost([*alive[one], *alive[other]]) - item_cost(alive[one]) - item_cost(alive[other])
            if rum + added / len(people) <= delta + 1e-9 and change <= 0:
                columns, items = added / len(people), change / n_entries
                rank = {"rmerge": columns, "tmerge": items, "rtmerge": columns + items}[rule]
                found.append((round(rank, 9), added, other))
        if not found:
            is_open.remove(one)
            continue
        partner = min(found)[2]
        alive[one] = [*alive[one], *alive.pop(partner)]
