"""Trees as nested tuples ``(label, [subtrees])``: everything a Hierarchy knows, by walking."""

from __future__ import annotations

import random

Tree = tuple[str, list["Tree"]]  # a leaf has no subtrees


def random_tree(rng: random.Random, n_leaves: int, repeat: float = 0.0) -> Tree:
    """Ragged, with unary groups; with ``repeat`` some groups take a label that is used elsewhere."""
    labels = [f"i{number}" for number in range(n_leaves)]
    forest: list[Tree] = [(label, []) for label in labels]
    count = 0
    while len(forest) > 1 or not forest[0][1]:
        size = min(rng.choice([1, 2, 2, 3, 4]), len(forest))
        start = rng.randrange(len(forest) - size + 1)
        label = rng.choice(labels) if rng.random() < repeat else f"g{count}"
        labels.append(label)
        count += 1
        forest[start : start + size] = [(label, forest[start : start + size])]
    return forest[0]


def walk(tree: Tree, above: tuple[str, ...] = ()) -> list[tuple[Tree, tuple[str, ...]]]:
    """Every subtree in preorder, with the labels above it from the root down."""
    label, below = tree
    return [(tree, above), *(entry for child in below for entry in walk(child, (*above, label)))]


def leaves(tree: Tree) -> list[str]:
    return [label for (label, below), _ in walk(tree) if not below]


def paths(tree: Tree) -> list[list[str]]:
    """Leaf to root, leaf by leaf."""
    return [[label, *reversed(above)] for (label, below), above in walk(tree) if not below]


def parents_and_labels(tree: Tree) -> tuple[list[int], list[str]]:
    parents: list[int] = []
    labels: list[str] = []

    def visit(node: Tree, parent: int) -> None:
        number = len(labels)
        parents.append(parent)
        labels.append(node[0])
        for child in node[1]:
            visit(child, number)

    visit(tree, -1)
    return parents, labels
