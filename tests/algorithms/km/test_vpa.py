"""VPA against its twin, its promise on random databases, and figures on real data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.km.vpa import VPA
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.releases import Recoding
from setveil.verify import verify
from tests.naive import km
from tests.naive import parts as naive
from tests.naive.counting import is_km_anonymous
from tests.naive.km_cases import LIU_WANG, LIU_WANG_TREE, cases


def run_vpa(data: Transactions, tree: Hierarchy, k: int, m: int | str, depth: int = 1) -> Recoding:
    return VPA(depth).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_vpa_is_its_twin_and_keeps_its_promise() -> None:
    n_within = 0
    for number, (data, tree, k) in enumerate(cases(400, seed=31, items="abcdefghijkl")):
        depth, m = 1 + number % 2, 1 + number % 3
        release = run_vpa(data, tree, k, m, depth)
        base = km.Database(data, tree)
        cut = naive.vpa(base, k, m, depth)
        labels = [{tree.published_labels[cut[leaf]] for leaf in record} for record in base.records]
        assert release.transactions() == labels
        assert release.details["ncp"] == pytest.approx(base.ncp(cut))
        assert is_km_anonymous(release.transactions(), k, m)
        assert verify(release, KmAnonymity(k, m)).holds
        n_within += bool(release.details["moves_within_parts"])
    assert n_within > 100, "parts have something to do"


def test_vpa_for_all_itemsets() -> None:
    for data, tree, k in cases(100, seed=32):
        assert verify(run_vpa(data, tree, k, "all"), KmAnonymity(k, "all")).holds


def test_vpa_on_real_data(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(real_data("groceries_taxonomy.csv"))
    release = run_vpa(data, tree, 5, 2)
    assert verify(release, KmAnonymity(5, 2)).holds
    assert 0 < release.details["moves_within_parts"] < len(release.details["moves"])
    assert release.details["ncp"] == pytest.approx(0.0760, abs=5e-5), "here the same as AA"


def test_vpa_needs_a_depth() -> None:
    with pytest.raises(sv.InputError, match='"depth" must be at least 1'):
        run_vpa(Transactions.from_lists(LIU_WANG), LIU_WANG_TREE, 2, 2, depth=0)
