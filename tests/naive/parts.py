"""LRA and VPA by the book: the naive AA on parts of the records or of the items."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.core import Hierarchy, Transactions
from tests.naive import km
from tests.naive.degree import gray_order


def lra(records: Sequence[Sequence[str]], tree: Hierarchy, k: int, m: int, n_parts: int) -> list[set[str]]:
    """Gray order along the hierarchy, then the naive AA in each part."""
    order = [number for number in gray_order([frozenset(row) for row in records], leaves_of(tree)) if records[number]]
    n_parts = max(min(n_parts, len(order) // k), 1)
    published: list[set[str]] = [set() for _ in records]
    for part in range(n_parts):
        # The first parts take one record more each if the records do not divide evenly.
        size, more = divmod(len(order), n_parts)
        start = part * size + min(part, more)
        members = order[start : start + size + (part < more)]
        base = km.Database(Transactions.from_lists([records[number] for number in members]), tree)
        cut, _ = km.aa(base, k, m)
        for number, record in zip(members, base.records, strict=True):
            published[number] = {tree.published_labels[cut[leaf]] for leaf in record}
    return published


def leaves_of(tree: Hierarchy) -> list[str]:
    """Items depth first."""
    return [tree.labels[leaf] for leaf in tree.leaf_order]


def vpa(base: km.Database, k: int, m: int, depth: int) -> dict[int, int]:
    """The naive AA below each node of a depth, then below the root."""
    tree, cut = base.tree, km.bottom(base)
    tops = [node for node in tree.in_preorder.tolist() if tree.depth[node] == depth and node >= tree.n_items]
    for top in [*tops, tree.root]:
        for size in range(1, m + 1):
            order = base.order("frequency")
            below = {node for node in order if top in base.above[node] and node != top}
            paths = base.count_tree(order, [size], {node for node in below if base.is_available(node, cut)})
            for path in sorted(paths):
                itemset = [order[place] for place in path]
                if paths[path] < k and all(base.is_available(node, cut) for node in itemset):
                    higher = [_raised(tree, cut, int(tree.parent[node])) for node in itemset]
                    cut = min(higher, key=lambda choice: (base.cost(choice[1]), choice[0]))[1]
    return cut


def _raised(tree: Hierarchy, cut: dict[int, int], node: int) -> tuple[int, dict[int, int]]:
    """The depth-first rank of a node, and the cut that publishes it for all below."""
    return int(tree.preorder[node]), {**cut, **dict.fromkeys(tree.leaves(node).tolist(), node)}
