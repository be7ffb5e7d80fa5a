"""LRA against its twin, its promise on random databases, and AA as its limit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.km.aa import AA
from setveil.algorithms.km.lra import LRA
from setveil.core import Hierarchy, Transactions
from setveil.models import KmAnonymity
from setveil.releases import LocalRecoding
from setveil.verify import verify
from tests.naive import parts as naive
from tests.naive.counting import is_km_anonymous
from tests.naive.km_cases import LIU_WANG, LIU_WANG_TREE, cases


def run_lra(data: Transactions, tree: Hierarchy, k: int, m: int | str, **options: int | str) -> LocalRecoding:
    return LRA(**options).run(data, KmAnonymity(k, m), Context(hierarchy=tree))


def test_lra_is_its_twin_and_keeps_its_promise() -> None:
    n_local = 0
    for number, (data, tree, k) in enumerate(cases(300, seed=21)):
        n_parts, m = 1 + number % 4, 1 + number % 3
        release = run_lra(data, tree, k, m, parts=n_parts)
        assert release.transactions() == naive.lra(data.to_lists(), tree, k, m, n_parts)
        assert is_km_anonymous(release.transactions(), k, m)
        assert verify(release, KmAnonymity(k, m)).holds
        n_local += any(len(set(nodes)) > 1 for nodes in nodes_of_items(data, release).values())
    assert n_local > 50, "items are published as different nodes often enough"


def nodes_of_items(data: Transactions, release: LocalRecoding) -> dict[int, list[int]]:
    assert release.node_of_occurrence is not None
    nodes: dict[int, list[int]] = {}
    for item, node in zip(data.items.tolist(), release.node_of_occurrence.tolist(), strict=True):
        nodes.setdefault(item, []).append(node)
    return nodes


@pytest.mark.parametrize("bits", ["hierarchy", "frequency", "id"])
def test_lra_for_all_itemsets_in_every_order(bits: str) -> None:
    for data, tree, k in cases(60, seed=22):
        release = run_lra(data, tree, k, "all", parts=3, bits=bits)
        assert verify(release, KmAnonymity(k, "all")).holds


def test_lra_in_one_part_is_aa(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("groceries.csv.gz"))
    tree = Hierarchy.from_file(real_data("groceries_taxonomy.csv"))
    model = KmAnonymity(5, 2)
    aa = AA().run(data, model, Context(hierarchy=tree))
    assert run_lra(data, tree, 5, 2, parts=1).transactions() == aa.transactions()
    assert verify(run_lra(data, tree, 5, 2, parts=7), model).holds


def test_lra_needs_a_part() -> None:
    with pytest.raises(sv.InputError, match='"parts" must be at least 1'):
        run_lra(Transactions.from_lists(LIU_WANG), LIU_WANG_TREE, 2, 2, parts=0)
