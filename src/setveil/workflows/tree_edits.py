"""A hierarchy changed by hand, one step at a time: every step gives a new tree, so that steps can be taken back.

Nodes are named by their number in the tree that is changed; the new tree has numbers of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from setveil.core import Hierarchy, Transactions
from setveil.core.naming import JOINED
from setveil.errors import InputError, one_line


class Node(NamedTuple):
    """What is shown of a node."""

    number: int
    label: str
    n_items: int
    n_children: int
    support: int  # entries in the data that it stands for


def renamed(tree: Hierarchy, node: int, label: str) -> Hierarchy:
    """The tree with another name for a group; items keep theirs."""
    _need_group(tree, node)
    labels = list(tree.labels)
    labels[node] = _name(label)
    again = Hierarchy.from_parents(tree.parent.tolist(), labels, tree.derived_from_data)
    return replace(again, has_meaning=tree.has_meaning)


def moved(tree: Hierarchy, nodes: Sequence[int], target: int) -> Hierarchy:
    """The tree with some nodes and all below them under another group."""
    _need_group(tree, target)
    if not nodes:
        raise InputError("choose at least one item or category.")
    for node in nodes:
        if tree.covers(node, target):
            raise InputError(f"{_quoted(tree, node)} cannot go below itself.")
    return _without_empty_groups(tree, dict.fromkeys(nodes, target), [])


def merged(tree: Hierarchy, nodes: Sequence[int], label: str) -> Hierarchy:
    """The tree with a new group of some nodes that stand side by side."""
    parents = {int(tree.parent[node]) for node in nodes}
    if len(set(nodes)) < 2 or len(parents) != 1:
        raise InputError("choose at least two members of the same group.")
    return _without_empty_groups(tree, dict.fromkeys(nodes, tree.n_nodes), [(_name(label), parents.pop())])


def dissolved(tree: Hierarchy, node: int) -> Hierarchy:
    """The tree without a group; what was in it goes one step up."""
    _need_group(tree, node)
    if node == tree.root:
        raise InputError("the top covers all items and cannot be changed.")
    return _without_empty_groups(tree, dict.fromkeys(tree.children[node], int(tree.parent[node])), [])


def split(tree: Hierarchy, nodes: Sequence[int], label: str) -> Hierarchy:
    """The tree with some nodes of a group taken out of it, into a new group beside it."""
    parents = {int(tree.parent[node]) for node in nodes}
    if not nodes or len(parents) != 1:
        raise InputError("choose the items or categories to move out of their group.")
    group = parents.pop()
    if group < 0 or group == tree.root:
        raise InputError("the top covers all items and cannot be changed; put the chosen items into a group instead.")
    if len(set(nodes)) == len(tree.children[group]):
        raise InputError("at least one member must stay in the group; rename it instead.")
    return _without_empty_groups(tree, dict.fromkeys(nodes, tree.n_nodes), [(_name(label), int(tree.parent[group]))])


def _without_empty_groups(tree: Hierarchy, changes: dict[int, int], added: list[tuple[str, int]]) -> Hierarchy:
    """The tree after some nodes got other parents; groups that lost everything go, and do not become items."""
    parents = [*tree.parent.tolist(), *(parent for _, parent in added)]
    labels = [*tree.labels, *(label for label, _ in added)]
    for node, parent in changes.items():
        parents[node] = parent
    n_children = np.bincount([parent for parent in parents if parent >= 0], minlength=len(parents))
    gone = [node for node in range(tree.n_items, len(parents)) if n_children[node] == 0]
    lost = set()
    while gone:
        node = gone.pop()
        lost.add(node)
        above = parents[node]
        n_children[above] -= 1
        if n_children[above] == 0:
            gone.append(above)
    kept = [node for node in range(len(parents)) if node not in lost]
    number = {node: place for place, node in enumerate(kept)}
    again = Hierarchy.from_parents(
        [-1 if parents[node] < 0 else number[parents[node]] for node in kept],
        [labels[node] for node in kept],
        tree.derived_from_data,
    )
    return replace(again, has_meaning=tree.has_meaning)


def node_of(tree: Hierarchy, node: int, supports: Sequence[int]) -> Node:
    """What is shown of one node; ``supports`` of all nodes, as ``supports_below`` gives them."""
    return Node(node, tree.labels[node], int(tree.n_leaves[node]), len(tree.children[node]), int(supports[node]))


def supports_below(tree: Hierarchy, data: Transactions) -> list[int]:
    """Per node, how many entries of the data it stands for."""
    of_leaves = np.zeros(tree.n_items, dtype=np.int64)
    of_leaves[tree.leaf_of_items(data.vocabulary)] = data.supports
    total = np.concatenate(([0], np.cumsum(of_leaves[tree.leaf_order])))
    below: list[int] = (total[tree.last] - total[tree.first]).tolist()
    return below


def find_nodes(tree: Hierarchy, text: str, limit: int = 30) -> list[int]:
    """Nodes whose label holds the text, groups first."""
    wanted = text.casefold().strip()
    order = [*range(tree.n_items, tree.n_nodes), *range(tree.n_items)]
    found = (node for node in order if wanted in tree.labels[node].casefold())
    return [node for node, _ in zip(found, range(limit), strict=False)]


def unnamed(tree: Hierarchy, limit: int = 20) -> tuple[list[int], int]:
    """The largest groups that go by their members or a number, for lack of a name; and how many there are."""
    found = [node for node in range(tree.n_items, tree.n_nodes) if node != tree.root and _is_unnamed(tree, node)]
    found.sort(key=lambda node: (-int(tree.n_leaves[node]), node))
    return found[:limit], len(found)


def _is_unnamed(tree: Hierarchy, node: int) -> bool:
    label = tree.labels[node]
    if re.fullmatch(r"group \d+ of \d+ items", label):
        return True
    members = [tree.labels[leaf] for leaf in tree.leaves(node).tolist()]
    return label == f"{members[0]}..{members[-1]}" or (JOINED in label and set(label.split(JOINED)) == set(members))


def groups_with_items(tree: Hierarchy, data: Transactions, text: str, limit: int = 6) -> list[tuple[str, list[str]]]:
    """Categories whose label contains the text, with their items of the data; empty ones are skipped."""
    found = (node for node in find_nodes(tree, text, tree.n_nodes) if node >= tree.n_items)
    groups: list[tuple[str, list[str]]] = []
    for node in found:
        items = [label for leaf in tree.leaves(node).tolist() if (label := tree.labels[leaf]) in data.vocabulary]
        if items:
            groups.append((tree.labels[node], items))
        if len(groups) == limit:
            break
    return groups


def _need_group(tree: Hierarchy, node: int) -> None:
    if not tree.n_items <= node < tree.n_nodes:
        raise InputError("choose a group; items stay as the data has them.")


def _name(label: str) -> str:
    name = label.strip()
    if not name or not name.isprintable():
        raise InputError("give the group a name of visible characters.")
    return name


def _quoted(tree: Hierarchy, node: int) -> str:
    return f'"{one_line(tree.labels[node])}"'
