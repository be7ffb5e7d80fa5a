"""PCTA: the paper's examples, its slow twin, figures of real data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints.pcta import PCTA
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.utility.loss import ncp
from tests.naive.constraint_cases import (
    FIGURE_1A,
    answer,
    assert_constraints_as_the_twin,
    assert_itemsets_as_the_twin,
    figures,
)
from tests.naive.constraints import Clustering


def test_itemsets_of_up_to_m_items_as_the_twin_does_it() -> None:
    assert_itemsets_as_the_twin(PCTA)


def test_given_constraints_as_the_twin_does_it() -> None:
    assert_constraints_as_the_twin(PCTA)


def test_example_8_as_definition_1_has_it() -> None:
    """The third merge printed is not the cheapest one; the supports are right."""
    data = Transactions.from_lists(map(list, FIGURE_1A))
    model = ConstraintAnonymity(3, [list("abef")])
    clusters, suppressed = answer(PCTA(), data, model) or (set(), set())
    assert clusters == {frozenset("ab"), frozenset("ce"), frozenset("dfg")}
    assert not suppressed
    slow = Clustering([frozenset(row) for row in FIGURE_1A], 3)
    slow.enforce([list("abef")])
    assert slow.log == ["df", "ab", "ce", "dfg"]


def test_example_3_utility_loss_of_one_item() -> None:
    slow = Clustering([frozenset(row) for row in FIGURE_1A], 3)
    assert slow.support([frozenset("ab")]) == 5
    assert Fraction(3 * 5, 127 * 6) == Fraction(slow.loss(frozenset("ab")), 127 * 6)


def test_weights_and_penalties_come_from_files_and_are_checked(tmp_path: Path) -> None:
    data = Transactions.from_lists(map(list, ["ab", "ac", "bd", "cd", "a", "b"]))
    weights = tmp_path / "weights.csv"
    weights.write_text("item,weight\na,0.5\n" + "b,0.25\n")
    model = KmAnonymity(2, 2)
    by_file = answer(PCTA(weights=str(weights)), data, model)
    assert by_file == answer(PCTA(weights={"a": 0.5, "b": 0.25}), data, model)
    weights.write_text("a,2\n")
    with pytest.raises(sv.InputError, match="from 0 to 1"):
        PCTA(weights=str(weights)).run(data, model, Context())
    weights.write_text("a,1\na,1\n")
    with pytest.raises(sv.InputError, match=r"weights.csv:2: item \"a\" occurs twice"):
        PCTA(weights=str(weights)).run(data, model, Context())
    with pytest.raises(sv.InputError, match="no such file"):
        PCTA(weights=str(tmp_path / "none.csv")).run(data, model, Context())
    assert answer(PCTA(penalty=3), data, model) == answer(PCTA(), data, model)


STATIC = {2: (101, 15, 0.0092, -488.3), 5: (79, 16, 0.0113, -487.9), 10: (81, 15, 0.0113, -487.5),
          25: (61, 15, 0.0150, -485.4), 50: (43, 22, 0.0238, -478.3)}  # fmt: skip  # fmt: skip


@pytest.mark.parametrize("k", STATIC)
def test_pcta_on_click_streams(real_data: Callable[[str], Path], k: int) -> None:
    data = sv.read(real_data("BMS1.dat.gz"))
    assert figures(data, PCTA(order="static").run(data, KmAnonymity(k, 2), Context())) == STATIC[k]


def test_pcta_by_mass_on_click_streams(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("BMS1.dat.gz"))
    mass = PCTA(order="static", criterion="delta-mass").run(data, KmAnonymity(5, 2), Context())
    assert round(ncp(data, mass), 4) == 0.0062
