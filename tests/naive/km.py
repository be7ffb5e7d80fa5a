"""The k^m family by the book: explicit count-trees, all candidates, Python sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations, product

from setveil.core import Hierarchy, Transactions
from tests.naive.counting import is_km_anonymous

Nodes = tuple[int, ...]


class Database:
    """Records as sets of leaves of a hierarchy, with the few questions the algorithms ask."""

    def __init__(self, data: Transactions, tree: Hierarchy) -> None:
        leaf = {label: number for number, label in enumerate(tree.labels[: tree.n_items])}
        self.tree = tree
        self.records = [frozenset(leaf[label] for label in row) for row in data.to_lists()]
        self.above = {node: set(tree.ancestors(node)) for node in range(tree.n_nodes)}  # itself included
        self.expanded = [frozenset().union(*(self.above[item] for item in record)) for record in self.records]

    def related(self, a: int, b: int) -> bool:
        return a in self.above[b] or b in self.above[a]

    def support(self, nodes: Iterable[int]) -> int:
        wanted = set(nodes)
        return sum(1 for record in self.expanded if wanted <= record)

    def cost(self, cut: dict[int, int]) -> int:
        """NCP times (leaves × occurrences)."""
        sizes = [len(self.tree.leaves(cut[item])) for record in self.records for item in record]
        return sum(size for size in sizes if size > 1)

    def ncp(self, cut: dict[int, int]) -> float:
        total = sum(len(record) for record in self.records) * self.tree.n_items
        return self.cost(cut) / total if total else 0.0

    def order(self, tree_order: str) -> list[int]:
        """All nodes but the root, as the count-tree orders them."""

        def key(node: int) -> tuple[int, int, int, int]:
            frequency = -self.support([node]) if tree_order == "frequency" else 0
            return frequency, -len(self.tree.leaves(node)), int(self.tree.depth[node]), int(self.tree.preorder[node])

        return sorted((node for node in range(self.tree.n_nodes) if node != self.tree.root), key=key)

    def count_tree(self, order: list[int], sizes: Iterable[int], allowed: set[int]) -> Counter[Nodes]:
        """Paths (as places in ``order``) of the given lengths and their supports."""
        rank = {node: place for place, node in enumerate(order)}
        paths: Counter[Nodes] = Counter()
        for record in self.expanded:
            places = sorted(rank[node] for node in record if node in allowed and node != self.tree.root)
            for size in sizes:
                for path in combinations(places, size):
                    if not any(self.related(order[a], order[b]) for a, b in combinations(path, 2)):
                        paths[path] += 1
        return paths

    def absorb(self, nodes: Iterable[int]) -> frozenset[int]:
        """Without the nodes that lie below another one."""
        given = set(nodes)
        return frozenset(node for node in given if not (self.above[node] - {node}) & given)

    def is_available(self, node: int, cut: dict[int, int]) -> bool:
        """On the cut or above it."""
        return all(node in self.above[cut[leaf]] for leaf in self.tree.leaves(node).tolist())

    def find_generalization(self, itemset: Nodes, cut: dict[int, int], k: int) -> dict[int, int]:
        """The cheapest way to raise the items of an itemset until it is frequent enough, as the new cut."""
        best: tuple[tuple[int, int, int, Nodes], dict[int, int]] | None = None
        for choice in product(*(self.tree.ancestors(node) for node in itemset)):
            targets = self.absorb(choice)
            if self.support(targets) < k:
                continue
            raised = sorted(self.tree.preorder[node] for node in targets - set(itemset))
            new_cut = dict(cut)
            for node in targets - set(itemset):
                for leaf in self.tree.leaves(node).tolist():
                    new_cut[leaf] = node
            # Steps matter for unary nodes only: a node with the same leaves costs the same, and the lower one says
            # more.
            steps = sum(self.tree.ancestors(node).index(goal) for node, goal in zip(itemset, choice, strict=True))
            key = (self.cost(new_cut), len(raised), steps, tuple(raised))
            if best is None or key < best[0]:
                best = key, new_cut
        assert best is not None
        return best[1]


def bottom(base: Database) -> dict[int, int]:
    return {leaf: leaf for leaf in range(base.tree.n_items)}


def aa(base: Database, k: int, m: int, tree_order: str = "frequency") -> tuple[dict[int, int], list[tuple[Nodes, int]]]:
    """The cut, and the itemsets that forced a move with their supports."""
    cut, moves = bottom(base), []
    order = base.order(tree_order)
    for size in range(1, m + 1):
        allowed = {node for node in order if base.is_available(node, cut)}
        paths = base.count_tree(order, [size], allowed)
        for path in sorted(paths):
            itemset = tuple(order[place] for place in path)
            if paths[path] < k and all(base.is_available(node, cut) for node in itemset):
                moves.append((itemset, paths[path]))
                cut = base.find_generalization(itemset, cut, k)
    return cut, moves


def da(base: Database, k: int, m: int, tree_order: str = "frequency") -> tuple[dict[int, int], list[tuple[Nodes, int]]]:
    """A preorder walk over one count-tree of all sizes; a leaf is a path that no other path extends."""
    cut, moves = bottom(base), []
    order = base.order(tree_order)
    paths = base.count_tree(order, range(1, m + 1), set(order))
    inner = {path[:-1] for path in paths}
    for path in sorted(paths):
        itemset = tuple(order[place] for place in path)
        if path not in inner and paths[path] < k and all(base.is_available(node, cut) for node in itemset):
            moves.append((itemset, paths[path]))
            cut = base.find_generalization(itemset, cut, k)
    return cut, moves


def minimal_threats(base: Database, k: int, m: int) -> dict[frozenset[int], int]:
    """Itemsets of unrelated nodes that occur in fewer than k records and have no such subset."""
    nodes = [node for node in range(base.tree.n_nodes) if node != base.tree.root]
    found: dict[frozenset[int], int] = {}
    for size in range(1, m + 1):
        for itemset in combinations(nodes, size):
            if any(base.related(a, b) for a, b in combinations(itemset, 2)):
                continue
            support = base.support(itemset)
            if 0 < support < k and not any(smaller < set(itemset) for smaller in found):
                found[frozenset(itemset)] = support
    return found


def cuts_below(tree: Hierarchy, node: int) -> list[dict[int, int]]:
    """All cuts of the subtree of a node, as leaf → node."""
    whole = dict.fromkeys(tree.leaves(node).tolist(), node)
    if node < tree.n_items:
        return [whole]
    parts = product(*(cuts_below(tree, child) for child in tree.children[node]))
    return [whole, *({leaf: goal for part in choice for leaf, goal in part.items()} for choice in parts)]


def recode(base: Database, cut: dict[int, int]) -> list[frozenset[int]]:
    """Published records; -1 suppresses."""
    return [frozenset(cut[item] for item in record if cut[item] >= 0) for record in base.records]


def least_cost(base: Database, k: int, m: int) -> int:
    """The cost of the best cut that is k^m-anonymous."""
    cuts = cuts_below(base.tree, base.tree.root)
    return min(base.cost(cut) for cut in cuts if is_km_anonymous(recode(base, cut), k, m))


class Hghs:
    """Top-down search of the cuts, greedy suppression below: everything recomputed for every cut.

    Costs are multiplied by (leaves of the hierarchy - 1) to stay whole.
    """

    def __init__(self, base: Database, k: int, m: int, floor: frozenset[int] = frozenset()) -> None:
        """``floor``: nodes that are not split any more."""
        self.base, self.k, self.m, self.floor = base, k, m, floor
        self.n_leaves = base.tree.n_items

    def contract(self, node: int) -> int:
        while node >= self.base.tree.n_items and len(self.base.tree.children[node]) == 1 and node not in self.floor:
            node = self.base.tree.children[node][0]
        return node

    def parts(self, node: int) -> list[int]:
        if node in self.floor or node < self.base.tree.n_items:
            return []
        return [self.contract(child) for child in self.base.tree.children[node]]

    def occurrences(self, node: int) -> int:
        return sum(len(record & set(self.base.tree.leaves(node).tolist())) for record in self.base.records)

    def suppression_cost(self, node: int) -> int:
        return self.occurrences(node) * (self.n_leaves - len(self.base.tree.leaves(node)))

    def suppress(self, cut: frozenset[int]) -> list[int]:
        def first_to_keep(node: int) -> tuple[int, int, int]:
            return -self.suppression_cost(node), -self.occurrences(node), int(self.base.tree.preorder[node])

        kept: list[int] = []
        suppressed = []
        for node in sorted(cut, key=first_to_keep):
            others = (itemset for size in range(self.m) for itemset in combinations(kept, size))
            if any(0 < self.base.support([*itemset, node]) < self.k for itemset in others):
                suppressed.append(node)
            else:
                kept.append(node)
        return suppressed

    def cost(self, cut: frozenset[int]) -> int:
        generalized = sum(self.occurrences(node) * (len(self.base.tree.leaves(node)) - 1) for node in cut)
        return generalized + sum(self.suppression_cost(node) for node in self.suppress(cut))

    def search(self) -> tuple[frozenset[int], list[int], list[int]]:
        """The cut, what is suppressed of it, and the costs of the cuts on the way."""
        cut = frozenset([self.contract(self.base.tree.root)])
        costs = [self.cost(cut)]
        while True:
            splits = [
                (cut - {node}) | set(self.parts(node))
                for node in sorted(cut, key=lambda node: self.base.tree.preorder[node])
                if self.parts(node)
            ]
            better = min(splits, key=self.cost, default=cut)
            if self.cost(better) >= costs[-1]:
                return cut, self.suppress(cut), costs
            cut = better
            costs.append(self.cost(cut))


def mhghs(base: Database, k: int, m: int) -> list[tuple[frozenset[int], list[int], int]]:
    """Cut, suppressed nodes and cost of every round."""
    rounds = []
    floor: frozenset[int] = frozenset()
    for size in range(1, m + 1):
        cut, suppressed, costs = Hghs(base, k, size, floor).search()
        rounds.append((cut, suppressed, costs[-1]))
        floor = cut
    return rounds
