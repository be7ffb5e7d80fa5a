"""OA: the paper's example, every cut tried on random databases, and the expected figures on real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from setveil.algorithms.base import Context
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.oa import OA, number_of_cuts
from setveil.core import Hierarchy, Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import KmAnonymity
from setveil.releases import Recoding
from tests.naive import km as naive
from tests.naive.counting import is_km_anonymous
from tests.naive.km_cases import PAPER, PAPER_TREE, cases


def run(data: Transactions, tree: Hierarchy, k: int, m: int | Literal["all"], **options: int) -> Recoding:
    return OA(**options).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_paper_example() -> None:
    release = run(Transactions.from_lists(PAPER), PAPER_TREE, k=2, m=2)
    assert release.transactions() == [{"A", "b1", "b2"}, {"A", "b1"}, {"A", "b1", "b2"}, {"A", "b2"}]
    assert release.details["ncp"] == pytest.approx(2.5 / 11)
    assert number_of_cuts(PAPER_TREE) == 5  # Fig. 3


def test_no_cut_is_better() -> None:
    for data, tree, k in cases(250, seed=31, items="abcdefg"):
        base = naive.Database(data, tree)
        assert number_of_cuts(tree) == len(naive.cuts_below(tree, tree.root))
        for m in (1, 2, 3):
            release = run(data, tree, k, m)
            assert release.node_of_leaf is not None
            cut = dict(enumerate(release.node_of_leaf.tolist()))
            assert is_km_anonymous(release.transactions(), k, m)
            assert base.cost(cut) == naive.least_cost(base, k, m)
            assert release.details["ncp"] == pytest.approx(base.ncp(cut), abs=1e-15)


def test_all_sizes() -> None:
    for data, tree, k in cases(100, seed=32):
        assert is_km_anonymous(run(data, tree, k, "all").transactions(), k, "all")


def test_odd_asks() -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([["a", "b", "c"]]), 2)
    assert run(Transactions.from_lists([]), tree, 3, 2).transactions() == []
    assert run(Transactions.from_lists([[], []]), tree, 3, 2).transactions() == [set(), set()]
    assert run(Transactions.from_lists([["a", "b"]] * 2), tree, 2, 2).transactions() == [{"a", "b"}] * 2
    with pytest.raises(InfeasibleError):
        run(Transactions.from_lists([["a"], ["b"], []]), tree, 3, 1)


def test_too_many_cuts() -> None:
    data = Transactions.from_lists([list(range(200))] * 3)
    with pytest.raises(InputError, match=r'about 10\^\d+ cuts.*"optimal"'):
        run(data, Hierarchy.balanced(data, 2), 2, 2)
    with pytest.raises(InputError, match=r"has 5 cuts.*max_cuts=4"):
        run(Transactions.from_lists(PAPER), PAPER_TREE, 2, 2, max_cuts=4)


def test_expected_figures(real_data: Callable[[str], Path]) -> None:
    """The first 10,000 records of BMS-WebView-2, dense rank of the item modulo 40, fan-out 4, k=100, m=2."""
    from setveil.io.transactions.reading import read_transactions

    whole = read_transactions(real_data("BMS2.dat.gz"))
    first = whole.select(np.arange(10_000))
    data = Transactions.from_lists([[int(item) % 40 for item in first.record(row)] for row in range(10_000)])
    tree = Hierarchy.balanced(data, 4)
    assert round(run(data, tree, 100, 2).details["ncp"], 6) == 0.044309
    assert round(AA().run(data, KmAnonymity(100, 2), Context(hierarchy=tree)).details["ncp"], 6) == 0.063812
