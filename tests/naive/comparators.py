"""MM, LG, LRA and VPA by the book: sets, itertools, nothing clever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from naive import km
from naive.sensitive import gray_order
from naive.verify import coherence

from setveil.core import Hierarchy, Transactions
from setveil.models import Coherence

Nodes = frozenset[int]


def mm(records: Sequence[frozenset[str]], model: Coherence, loss: str = "occurrences") -> list[str]:
    """The suppressed items, in the order of their suppression after those that are moles alone."""
    items = sorted({item for record in records for item in record})
    alone = Coherence(model.h, model.k, 1, model.sensitive)
    suppressed = sorted(itemset[0] for itemset, _ in coherence(records, alone)[0])
    while moles := coherence([record - set(suppressed) for record in records], model)[0]:

        def score(item: str, now: list[tuple[tuple[str, ...], int]] = moles) -> Fraction:
            n_moles = sum(item in itemset for itemset, _ in now)
            return Fraction(n_moles, sum(item in record for record in records) if loss == "occurrences" else 1)

        suppressed.append(max((item for item in reversed(items) if item not in model.sensitive), key=score))
    return suppressed


def is_coherent(records: Sequence[frozenset[str]], model: Coherence) -> bool:
    """The definition, set by set."""
    hidden = frozenset(model.sensitive)
    for record in records:
        for size in range(1, model.p + 1):
            for itemset in combinations(sorted(record - hidden), size):
                fitting = [other for other in records if other.issuperset(itemset)]
                shared = max((sum(item in other for other in fitting) for item in hidden), default=0)
                if len(fitting) < model.k or Fraction(shared * 100, len(fitting)) > Fraction(str(model.h)):
                    return False
    return True


def lg(records: Sequence[Sequence[str]], tree: Hierarchy, k: int) -> Counter[tuple[tuple[str, ...], frozenset[str]]]:
    """(record, published labels), counted; one record at a time, without weights."""
    number = {label: leaf for leaf, label in enumerate(tree.labels[: tree.n_items])}
    rows = sorted(tuple(sorted(number[label] for label in row)) for row in records)
    blank = [row for row in rows if not row]
    filled = sorted((row for row in rows if row), key=lambda row: (len(row), row))
    while filled and 0 < len(blank) < k:
        blank.append(filled.pop(0))
    if len(filled) < k:
        blank, filled = blank + filled, []
    published = [(row, Nodes()) for row in blank]
    if filled:
        published += _lg_partition(sorted(filled), Nodes([tree.root]), Nodes(), tree, k)
    labels = tree.published_labels
    return Counter(
        (tuple(tree.labels[leaf] for leaf in row), frozenset(labels[node] for node in nodes))
        for row, nodes in published
    )


def _price(tree: Hierarchy, node: int) -> int:
    return len(tree.leaves(node)) if len(tree.leaves(node)) > 1 else 0


def _expand(tree: Hierarchy, row: tuple[int, ...], node: int) -> tuple[int, tuple[int, ...]]:
    """What one record gains if a node is replaced by its children, and by which."""
    gain, children = 0, []
    for leaf in row:
        path = tree.ancestors(leaf)
        if node in path[1:]:
            child = path[path.index(node) - 1]
            children.append(child)
            gain += _price(tree, node) - _price(tree, child)
    return gain, tuple(sorted(set(children), key=lambda child: tree.preorder[child]))


def _lg_partition(
    rows: list[tuple[int, ...]], cut: Nodes, kept: Nodes, tree: Hierarchy, k: int
) -> list[tuple[tuple[int, ...], Nodes]]:
    choices = [node for node in cut - kept if node >= tree.n_items]
    if not choices:
        return [(row, cut) for row in rows]
    node = min(choices, key=lambda node: (-sum(_expand(tree, row, node)[0] for row in rows), tree.preorder[node]))
    groups: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for row in rows:
        groups.setdefault(_expand(tree, row, node)[1], []).append(row)
    left = [row for group in groups.values() if len(group) < k for row in group]
    groups = {children: group for children, group in groups.items() if len(group) >= k}
    if left and len(left) < k:
        if sum(len(group) - k for group in groups.values()) >= k - len(left):
            for row in sorted(
                (row for group in groups.values() for row in group), key=lambda r: (_expand(tree, r, node)[0], r)
            ):
                group = groups[_expand(tree, row, node)[1]]
                if len(left) < k and len(group) > k:
                    group.remove(row)
                    left.append(row)
        else:
            least = min(groups, key=lambda c: (sum(_expand(tree, row, node)[0] for row in groups[c]), c))
            left += groups.pop(least)
    published = _lg_partition(sorted(left), cut, kept | {node}, tree, k) if left else []
    for children, group in groups.items():
        published += _lg_partition(group, (cut - {node}) | set(children), kept, tree, k)
    return published


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
