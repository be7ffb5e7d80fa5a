"""aa+refine: never worse than AA."""

from __future__ import annotations

import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.aa_refine import AARefine
from setveil.errors import CancelledError
from setveil.models import KmAnonymity
from tests.naive.km_cases import cases
from tests.naive.optimal import ncp_cost
from tests.naive.refine_cases import assert_explained, assert_never_worse


def test_never_worse_than_aa() -> None:
    assert_never_worse(AA(), AARefine(), ncp_cost, "ncp")


def test_the_explanation_adds_up() -> None:
    assert_explained(AARefine(), "ncp")


def test_cancellation() -> None:
    data, tree, k = next(iter(cases(1, seed=24)))
    with pytest.raises(CancelledError):
        AARefine().run(data, KmAnonymity(k, 2), Context(hierarchy=tree, cancelled=lambda: True))
