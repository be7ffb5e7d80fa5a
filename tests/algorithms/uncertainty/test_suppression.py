"""suppresscontrol, tdcontrol and the optimum of suppressing items: an example worked out by hand, and brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import pytest

import setveil as sv
from tests.naive import uncertainty as naive

EXAMPLE = [
    "flu rash", "flu hiv", "cough hiv dep", "cough rash", "cough gout", "flu gout", "rash dep", "gout",
    "flu cough rash", "rash gout hiv",
]  # fmt: skip
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


def test_the_violated_rules_of_the_example() -> None:
    violated = naive.violated([frozenset(record.split()) for record in EXAMPLE], ["hiv", "dep"], Fraction(1, 3))
    assert {("".join(sorted(f"{item} " for item in known)), item, share) for known, item, share in violated} == {
        ("cough hiv ", "dep", Fraction(1)),
        ("dep ", "hiv", Fraction(1, 2)),
        ("cough dep ", "hiv", Fraction(1)),
        ("gout rash ", "hiv", Fraction(1)),
    }


def test_suppresscontrol_takes_both_and_the_optimum_one() -> None:
    both = sv.anonymize(example(), MODEL, "suppresscontrol")
    assert both.codebook()[""] == ["dep", "hiv"]
    assert both.details["suppressed_occurrences"] == 5
    least = sv.anonymize(example(), MODEL, "optimal-suppression")
    assert least.codebook()[""] == ["hiv"]
    assert least.details["suppressed_occurrences"] == 3


def test_tdcontrol_ends_at_other_flu_cough() -> None:
    release = sv.anonymize(example(), MODEL, "tdcontrol", sv.Hierarchy.from_paths(TREE))
    assert release.details["loss"] == 5
    book = release.codebook()
    assert book["other"] == ["gout", "rash"]
    assert book[""] == ["dep"]
    assert sorted(book) == ["", "cough", "flu", "hiv", "other"]


def random_records(chance: random.Random) -> list[frozenset[str]]:
    items = "abcd"[: chance.randint(1, 4)] + "st"[: chance.randint(1, 2)]
    share = chance.choice((0.3, 0.5, 0.7))
    drawn = [frozenset(item for item in items if chance.random() < share) for _ in range(chance.randint(1, 10))]
    return [*drawn, frozenset("a"), frozenset(items[-1])]


@pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
def test_a_thousand_random_databases() -> None:
    chance = random.Random(30)
    tree = sv.Hierarchy.from_paths(
        [("a", "ab", "any"), ("b", "ab", "any"), ("c", "cd", "any"), ("d", "cd", "any"), ("s", "any"), ("t", "any")]
    )
    for number in range(1000):
        records = random_records(chance)
        rho, p = chance.choice(("1/3", "1/2", "1/5", "2/3")), chance.choice(("all", 1, 2))
        size, model = None if p == "all" else p, sv.Uncertainty(rho, ["s", "t"], p)
        data = sv.Transactions.from_lists([sorted(record) for record in records])
        greedy = sv.anonymize(data, model, "suppresscontrol").published.to_lists()
        assert not naive.violated([frozenset(record) for record in greedy], "st", Fraction(rho), size)
        optimum = sv.anonymize(data, model, "optimal-suppression").published.to_lists()
        assert not naive.violated([frozenset(record) for record in optimum], "st", Fraction(rho), size)
        best = max(
            sum(map(len, left))
            for n_gone in range(len(data.vocabulary) + 1)
            for gone in combinations(data.vocabulary, n_gone)
            if not naive.violated(left := [record - set(gone) for record in records], "st", Fraction(rho), size)
        )
        assert sum(map(len, optimum)) == best >= sum(map(len, greedy))
        if number % 5 == 0:
            release = sv.anonymize(data, model, "tdcontrol", tree)
            assert not naive.violated(
                [frozenset(record) for record in release.published.to_lists()], "st", Fraction(rho), size
            )
