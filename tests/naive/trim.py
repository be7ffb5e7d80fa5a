"""The least that has to be left out, by trying everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from setveil.core import Hierarchy

Records = Sequence[frozenset[str]]


def is_km_anonymous(records: Records, k: int, m: int) -> bool:
    """Whether every itemset of at most m items occurs in no record or in k."""
    return all(count >= k for count in itemset_counts(records, m).values())


def itemset_counts(records: Records, m: int) -> Counter[tuple[str, ...]]:
    """In how many records each itemset of at most m items occurs."""
    return Counter(
        itemset for record in records for size in range(1, m + 1) for itemset in combinations(sorted(record), size)
    )


def least_left_out(records: Records, k: int, m: int) -> int:
    """The smallest number of entries whose removal makes the records k^m-anonymous."""
    entries = [(number, item) for number, record in enumerate(records) for item in sorted(record)]
    for n_gone in range(len(entries) + 1):
        for gone in combinations(entries, n_gone):
            left = [record - {item for owner, item in gone if owner == number} for number, record in enumerate(records)]
            if is_km_anonymous(left, k, m):
                return n_gone
    raise AssertionError("leaving out everything is always safe")


Shown = list[dict[int, int]]  # of each record: leaf -> node


def lowered(records: Shown, tree: Hierarchy, k: int, m: int) -> Shown:
    """Nodes replaced by their children wherever that is safe, the node that loses most first."""
    todo = {node for record in records for node in record.values()}
    while todo:
        node = min(todo, key=lambda one: (-_loss(records, tree, one), one))
        todo.remove(node)
        if tree.children[node]:
            records = _lower_node(records, tree, node, k, m)
            todo |= {shown for record in records for shown in record.values() if shown in tree.children[node]}
    return records


def _loss(records: Shown, tree: Hierarchy, node: int) -> int:
    return (len(tree.leaves(node)) - 1) * sum(shown == node for record in records for shown in record.values())


def _lower_node(records: Shown, tree: Hierarchy, node: int, k: int, m: int) -> Shown:
    """All records show children of the node; then one after another goes back that meets a rare combination, as it is
    or going back.
    """

    def child(leaf: int) -> int:
        return next(one for one in tree.children[node] if leaf in tree.leaves(one))

    low = [{leaf: child(leaf) if shown == node else shown for leaf, shown in record.items()} for record in records]
    now = list(low)
    changed = True
    while changed:
        changed = False
        for number, record in enumerate(records):
            counts = _counts(now, m)
            if now[number] != record and any(
                0 < counts[labels] < k for labels in (*_sets(low[number], m), *_sets(record, m))
            ):
                now[number] = record
                changed = True
    return now


def _sets(record: dict[int, int], m: int) -> list[tuple[int, ...]]:
    labels = sorted(set(record.values()))
    return [itemset for size in range(1, m + 1) for itemset in combinations(labels, size)]


def _counts(records: Shown, m: int) -> Counter[tuple[int, ...]]:
    return Counter(itemset for record in records for itemset in _sets(record, m))


def added(
    fixed: Sequence[set[int]], offered: Sequence[set[int]], worth: Sequence[float], k: int, m: int
) -> list[set[int]]:
    """The labels of each record when offers are added: as many as are safe beside what is published before.

    Records take turns: the offer with most rare combinations per worth is withdrawn, the smallest label of equals.
    Then offers return, in turn, that make nothing rare.
    """
    shown = [one | other for one, other in zip(fixed, offered, strict=True)]

    def rare(labels: set[int]) -> list[tuple[int, ...]]:
        counts = Counter(itemset for record in shown for itemset in _subsets(record, m))
        return [itemset for itemset in _subsets(labels, m) if 0 < counts[itemset] < k]

    changed = True
    while changed:
        changed = False
        for record, keeps in zip(shown, fixed, strict=True):
            while found := rare(record):
                hits = {label: sum(label in itemset for itemset in found) for label in record - keeps}
                record.remove(min(hits, key=lambda label: (-hits[label] / worth[label], label)))
                changed = True
    for record, keeps, offers in zip(shown, fixed, offered, strict=True):
        for label in sorted(offers - keeps - record):
            record.add(label)
            if any(label in itemset for itemset in rare(record)):
                record.remove(label)
    return shown


def generalized(records: Shown, tree: Hierarchy, k: int, m: int) -> Shown:
    """What is suppressed (-1) is offered as nodes, level by level, from the parents of the leaves up."""
    records = [dict(record) for record in records]
    above = {leaf: int(tree.parent[leaf]) for record in records for leaf in record}
    while any(node >= 0 for node in above.values()):
        offers = [
            {leaf: above[leaf] for leaf, node in record.items() if node < 0 and _tells(tree, above[leaf])}
            for record in records
        ]
        fixed = [set(record.values()) - {-1} for record in records]
        worth = [1 / len(tree.leaves(node)) for node in range(tree.n_nodes)]
        shown = added(fixed, [set(record.values()) for record in offers], worth, k, m)
        for record, offer, labels in zip(records, offers, shown, strict=True):
            record.update({leaf: node for leaf, node in offer.items() if node in labels})
        above = {leaf: int(tree.parent[node]) if node >= 0 else -1 for leaf, node in above.items()}
    return records


def _tells(tree: Hierarchy, node: int) -> bool:
    return node >= 0 and 1 < len(tree.leaves(node)) < tree.n_items


def _subsets(labels: set[int], m: int) -> list[tuple[int, ...]]:
    return [itemset for size in range(1, m + 1) for itemset in combinations(sorted(labels), size)]
