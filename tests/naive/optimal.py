"""The best cut by trying every one, and every set of its nodes to suppress."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from random import Random

from setveil.core import Hierarchy, Transactions
from tests.naive.counting import is_km_anonymous
from tests.naive.km import Database, Nodes
from tests.naive.km_cases import random_tree


def all_cuts(tree: Hierarchy, node: int) -> Iterator[Nodes]:
    """Every way to publish what lies below a node."""
    yield (node,)
    if tree.children[node]:
        for parts in product(*(list(all_cuts(tree, child)) for child in tree.children[node])):
            yield tuple(part for some in parts for part in some)


def recode(base: Database, nodes: Nodes) -> list[set[str]]:
    """Records as sets of the given nodes; leaves below none of them are suppressed."""
    return [{str(node) for node in nodes if record & set(base.tree.leaves(node).tolist())} for record in base.records]


def ncp_cost(base: Database, nodes: Nodes) -> int:
    """NCP times leaves times occurrences."""
    return base.cost({leaf: node for node in nodes for leaf in base.tree.leaves(node).tolist()})


def lm_cost(base: Database, nodes: Nodes) -> int:
    """LM times (leaves - 1) times occurrences; leaves below no node are suppressed."""
    leaves_with = {leaf: len(base.tree.leaves(node)) for node in nodes for leaf in base.tree.leaves(node).tolist()}
    return sum(leaves_with.get(item, base.tree.n_items) - 1 for record in base.records for item in record)


def least_ncp(base: Database, k: int, m: int | str) -> int:
    """The cost of the best valid cut."""
    cuts = all_cuts(base.tree, base.tree.root)
    return min(ncp_cost(base, cut) for cut in cuts if is_km_anonymous(recode(base, cut), k, m))


def least_lm(base: Database, k: int, m: int | str) -> int:
    """The cost of the best cut with suppressed nodes, each as a whole."""
    best = lm_cost(base, ())
    for cut in all_cuts(base.tree, base.tree.root):
        for n_kept in range(len(cut), 0, -1):
            for kept in combinations(cut, n_kept):
                if lm_cost(base, kept) < best and is_km_anonymous(recode(base, kept), k, m):
                    best = lm_cost(base, kept)
    return best


def lm_of_leaves(base: Database, node_of_leaf: dict[int, int]) -> int:
    """LM times (leaves - 1) times occurrences; leaves without a node are suppressed."""
    size = {leaf: len(base.tree.leaves(node)) for leaf, node in node_of_leaf.items()}
    return sum(size.get(item, base.tree.n_items) - 1 for record in base.records for item in record)


def least_lm_of_leaves(base: Database, k: int, m: int | str) -> int:
    """The cost of the best cut with any leaves suppressed, single ones below a published node included."""
    occurring = sorted(set().union(*base.records))
    best = lm_cost(base, ())
    for cut in all_cuts(base.tree, base.tree.root):
        node_of = {leaf: node for node in cut for leaf in base.tree.leaves(node).tolist()}
        for n_shown in range(len(occurring), 0, -1):
            for shown in combinations(occurring, n_shown):
                kept = {leaf: node_of[leaf] for leaf in shown}
                cost = lm_of_leaves(base, kept)
                if cost < best:
                    records = [{str(kept[leaf]) for leaf in record if leaf in kept} for record in base.records]
                    if is_km_anonymous(records, k, m):
                        best = cost
    return best


def skewed_cases(n: int, seed: int, items: str = "abcdefghijkl") -> Iterator[tuple[Transactions, Hierarchy, int]]:
    """More records and items than other cases, of which few are frequent: greedy cuts are not always the best here."""
    rng = Random(seed)
    for _ in range(n):
        weights = [1 / (place + 1) for place in range(len(items))]
        rng.shuffle(weights)
        rows = [sorted(set(rng.choices(items, weights, k=rng.randint(1, 4)))) for _ in range(rng.randint(10, 60))]
        yield Transactions.from_lists(rows), random_tree(rng, items), rng.randint(2, 5)
