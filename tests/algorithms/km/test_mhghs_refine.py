"""mhghs+refine: never worse than mHgHs."""

from __future__ import annotations

from setveil.algorithms.km.hghs import MHgHs
from setveil.algorithms.km.mhghs_refine import MHgHsRefine
from tests.naive.optimal import lm_cost
from tests.naive.refine_cases import assert_explained, assert_never_worse


def test_never_worse_than_mhghs() -> None:
    assert_never_worse(MHgHs(), MHgHsRefine(), lm_cost, "lm")


def test_the_explanation_adds_up() -> None:
    assert_explained(MHgHsRefine(), "lm")
