"""Small random databases with hierarchies, from a seeded generator, and the example of the k^m paper."""

from __future__ import annotations

from random import Random

from setveil.core import Hierarchy, Transactions

PAPER = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
PAPER_TREE = Hierarchy.from_paths([["a1", "A"], ["a2", "A"], ["b1", "B"], ["b2", "B"]])


# The example of the paper on generalization with suppression; the name J is ours.
LIU_WANG = [row.split() for row in ("b c d", "a f g", "d f y z", "c d f x", "a b c f g", "e i", "e", "i")]
LIU_WANG_TREE = Hierarchy.from_paths(
    [path.split() for path in ("a H P T", "b H P T", "c K P T", "d K P T", "f J Q T", "g J Q T")]
    + [path.split() for path in ("x M Q T", "y M Q T", "z M Q T", "e T", "i T")]
)


def random_records(rng: Random, items: str, n_records: int) -> list[list[str]]:
    favourites = rng.sample(items, max(1, len(items) // 2))
    return [
        sorted({rng.choice(favourites if rng.random() < 0.7 else items) for _ in range(rng.randint(0, 5))})
        for _ in range(n_records)
    ]


def random_tree(rng: Random, items: str) -> Hierarchy:
    """Ragged, with unary nodes and labels that repeat those of items."""
    paths = [[item] for item in rng.sample(items, len(items))]
    groups = [[path] for path in paths]
    level = 0
    while len(groups) > 1:
        size = rng.randint(2, 4)
        merged = []
        for start in range(0, len(groups), size):
            members = [path for group in groups[start : start + size] for path in group]
            if start + 1 < len(groups) or rng.random() < 0.5:
                label = f"n{level}.{start}" if rng.random() < 0.8 else members[0][0]
                for path in members:
                    path.append(label)
            merged.append(members)
        groups, level = merged, level + 1
    return Hierarchy.from_paths(groups[0])


def cases(n: int, seed: int, items: str = "abcdefgh") -> list[tuple[Transactions, Hierarchy, int]]:
    """Databases with a hierarchy (which may have items that never occur) and a k they can reach, small ones first: the
    first that fails is the one to look at.
    """
    rng = Random(seed)
    found: list[tuple[Transactions, Hierarchy, int]] = []
    while len(found) < n:
        data = Transactions.from_lists(random_records(rng, items[: rng.randint(2, len(items))], rng.randint(1, 14)))
        n_filled = data.n_records - data.n_empty
        if n_filled > 1:
            found.append((data, random_tree(rng, items), rng.randint(2, min(4, n_filled))))
    return sorted(found, key=lambda case: case[0].n_occurrences)
