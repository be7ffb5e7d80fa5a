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
