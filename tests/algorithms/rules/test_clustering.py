"""What both algorithms for rules count with."""

from __future__ import annotations

import random
from fractions import Fraction

import setveil as sv
from setveil.algorithms.rules.clustering import largest_below, needed_rules


def test_what_another_rule_implies_is_left_away_and_nothing_else() -> None:
    model = sv.RuleAnonymity(
        5, "1/2", ["a => S", "a => S,T", "a,b => S", "a => S [k=9]", "b => S,T [k=2]", "b => S [c=2/3]", "b => T"]
    )
    kept = {str(rule) for rule in needed_rules(model)}
    assert kept == {"a => S [k=9, c=1/2]", "a,b => S", "b => S [k=5, c=2/3]", "b => T"}


def test_a_large_denominator_is_replaced_by_one_that_allows_the_same() -> None:
    chance = random.Random(3)
    for _ in range(500):
        below, most = chance.randint(2, 10**18), chance.randint(1, 40)
        share = Fraction(chance.randint(1, below - 1), below)
        found = largest_below(share, most)
        assert [int(found * count) for count in range(most + 1)] == [int(share * count) for count in range(most + 1)]
        assert found.denominator <= most or found == share
