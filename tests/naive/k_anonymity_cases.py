"""Random records for k-anonymity."""

from __future__ import annotations

import random


def random_rows(source: random.Random, n_most: int = 30) -> list[list[str]]:
    items = "abcdefgh"[: source.randint(1, 8)]
    density = source.choice((0.1, 0.4, 0.8))
    return [[item for item in items if source.random() < density] for _ in range(source.randint(1, n_most))]
