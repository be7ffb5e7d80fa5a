"""LG by the book: one record at a time, nothing clever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from setveil.core import Hierarchy

Nodes = frozenset[int]


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
