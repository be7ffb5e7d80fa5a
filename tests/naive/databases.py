"""Small random databases from a plain seeded generator, for loops of thousands."""

from __future__ import annotations

import random

ITEMS = "abcdefgh"


def random_records(source: random.Random, max_records: int = 12, items: str = ITEMS) -> list[list[str]]:
    """Records over a few items, now skewed, now even; repeated and empty records are likely."""
    weights = [source.choice((1, 1, 4)) for _ in items]
    rows: list[list[str]] = []
    for _ in range(source.randint(0, max_records)):
        if rows and source.random() < 0.2:
            rows.append(list(source.choice(rows)))
        else:
            rows.append(sorted(set(source.choices(items, weights, k=source.randint(0, len(items))))))
    return rows


def random_paths(source: random.Random, items: str = ITEMS) -> list[list[str]]:
    """Leaf-to-root paths of a random tree over the items: ragged, with unary nodes now and then."""
    groups = [[[item]] for item in source.sample(items, len(items))]
    level = 0
    while len(groups) > 1:
        merged: list[list[list[str]]] = []
        while groups:
            size = min(source.randint(1, 4), len(groups))
            members, groups = groups[:size], groups[size:]
            if size > 1 or source.random() < 0.2:
                for path in (path for group in members for path in group):
                    path.append(f"n{level}.{len(merged)}")
            merged.append([path for group in members for path in group])
        groups = merged
        level += 1
    return [[*path, "top"] for path in groups[0]]


def random_cut(source: random.Random, paths: list[list[str]], suppress: float = 0.15) -> dict[str, str]:
    """Item → label of the node published instead, '' for nothing: a cut through the tree, some of its nodes left
    out.
    """
    chosen: dict[str, str] = {}
    decided: dict[str, str] = {}  # node → what everything below it becomes
    for path in paths:
        for node in reversed(path):  # from the top
            if node not in decided:
                go_on = node != path[0] and source.random() < 0.6
                decided[node] = "" if go_on else ("-" if source.random() < suppress else node)
            if decided[node]:
                chosen[path[0]] = decided[node].replace("-", "")
                break
    return chosen
