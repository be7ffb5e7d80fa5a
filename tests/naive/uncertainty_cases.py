"""An example worked out by hand, and random records."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import setveil as sv
from tests.naive import uncertainty as naive

EXAMPLE = [
    "flu rash", "flu hiv", "cough hiv dep", "cough rash", "cough gout", "flu gout", "rash dep", "gout",
    "flu cough rash", "rash gout hiv",
]  # fmt: skip  # fmt: skip


TREE = [
    ("flu", "resp", "any"),
    ("cough", "resp", "any"),
    ("rash", "other", "any"),
    ("gout", "other", "any"),
    ("hiv", "any"),
    ("dep", "any"),
]


MODEL = sv.Uncertainty("1/3", ["hiv", "dep"])


def example() -> sv.Transactions:
    return sv.Transactions.from_lists([record.split() for record in EXAMPLE])


def random_records(chance: random.Random) -> list[frozenset[str]]:
    items = "abcd"[: chance.randint(1, 4)] + "st"[: chance.randint(1, 2)]
    share = chance.choice((0.3, 0.5, 0.7))
    drawn = [frozenset(item for item in items if chance.random() < share) for _ in range(chance.randint(1, 10))]
    return [*drawn, frozenset("a"), frozenset(items[-1])]


def random_cases(seed: int, n_cases: int) -> Iterator[tuple[list[frozenset[str]], sv.Uncertainty]]:
    """Records with two sensitive items, and what is asked for."""
    chance = random.Random(seed)
    for _ in range(n_cases):
        records = random_records(chance)
        yield (
            records,
            sv.Uncertainty(chance.choice(("1/3", "1/2", "1/5", "2/3")), ["s", "t"], chance.choice(("all", 1, 2))),
        )


def is_met(records: list[frozenset[str]], model: sv.Uncertainty) -> bool:
    """Whether no rule is violated, by brute force."""
    return not naive.violated(records, "st", Fraction(model.rho), None if model.p == "all" else model.p)


def released(
    records: list[frozenset[str]], model: sv.Uncertainty, algorithm: str, hierarchy: sv.Hierarchy | None = None
) -> list[frozenset[str]]:
    """The published records."""
    release = sv.anonymize([sorted(record) for record in records], model, algorithm, hierarchy)
    return [frozenset(record) for record in release.published.to_lists()]
