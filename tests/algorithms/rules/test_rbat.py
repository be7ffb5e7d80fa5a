"""rbat: the worked example, and brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from math import log2

import pytest

import setveil as sv
from tests.naive import rules as naive
from tests.naive.rules_cases import EXAMPLE, MODEL, parts_of, plain, random_ask, run

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def test_the_worked_example() -> None:
    """Its partition is not the best one: ``regroup`` finds that."""
    release = run(EXAMPLE, MODEL, "rbat")
    assert parts_of(release, "abcd") == [["a", "c"], ["b", "d"]]
    assert naive.utility_loss(EXAMPLE, parts_of(release, "abcd")) == Fraction(7, 20)
    assert release.details["ul_log2"] == pytest.approx(log2(7 / 20))


def test_rbat_on_a_thousand_random_databases() -> None:
    chance = random.Random(1)
    n_released = 0
    for _ in range(1000):
        records, model = random_ask(chance)
        public = sorted(set().union(*records) - set(model.sensitive))
        expected = naive.rbat(records, public, plain(model))
        try:
            release = run(records, model, "rbat")
        except sv.InfeasibleError:
            assert expected is None
            continue
        assert parts_of(release, "".join(public)) == expected
        assert sv.verify(release, model)
        n_released += 1
    assert n_released > 300
