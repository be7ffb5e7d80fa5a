"""COAT: its slow twin, and figures of real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints.coat import COAT
from setveil.models import KmAnonymity
from tests.naive.constraint_cases import (
    assert_constraints_as_the_twin,
    assert_itemsets_as_the_twin,
    figures,
)


def test_itemsets_of_up_to_m_items_as_the_twin_does_it() -> None:
    assert_itemsets_as_the_twin(COAT)


def test_given_constraints_as_the_twin_does_it() -> None:
    assert_constraints_as_the_twin(COAT)


def test_coat_on_click_streams(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("BMS1.dat.gz"))
    assert figures(data, COAT(order="static").run(data, KmAnonymity(5, 2), Context())) == (137, 59, 0.0057, -444.5)
