"""UPCTA: the paper's example, its slow twin, figures of real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints.upcta import UPCTA
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity
from tests.naive.constraint_cases import (
    FIGURE_1A,
    answer,
    assert_constraints_as_the_twin,
    assert_itemsets_as_the_twin,
)
from tests.naive.constraints import occurring


def test_itemsets_of_up_to_m_items_as_the_twin_does_it() -> None:
    assert_itemsets_as_the_twin(UPCTA)


def test_given_constraints_as_the_twin_does_it() -> None:
    assert_constraints_as_the_twin(UPCTA)


def test_example_9_as_definition_1_has_it() -> None:
    data = Transactions.from_lists(map(list, FIGURE_1A))
    model = ConstraintAnonymity(3, [list("bef"), ["g"]], [["a"], ["b", "c"], ["d", "e", "f"], ["g"]], 15)
    clusters, suppressed = answer(UPCTA(order="static"), data, model) or (set(), set())
    assert clusters == {frozenset("a"), frozenset("bc"), frozenset("def")}
    assert suppressed == {"g"}


@pytest.mark.parametrize(("size", "suppressed"), [(25, 72), (50, 0)])
def test_utility_groups_on_click_streams(real_data: Callable[[str], Path], size: int, suppressed: int) -> None:
    data = sv.read(real_data("BMS1.dat.gz"))
    labels = list(data.vocabulary)
    groups = [labels[begin : begin + size] for begin in range(0, len(labels), size)]
    constraints = occurring(data.distinct().rows.to_lists(), 2)
    model = ConstraintAnonymity(5, constraints, groups, 15)
    assert UPCTA(order="static").run(data, model, Context()).details["suppressed_items"] == suppressed
