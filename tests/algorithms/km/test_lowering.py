"""Lowering a cut of the hierarchy node by node: what its twin does, from any cut that is safe."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.algorithms import Context
from setveil.algorithms.km.aa_refine import AARefine
from setveil.algorithms.km.lowering import lower_entries
from setveil.models import KmAnonymity
from tests.naive.km_cases import cases
from tests.naive.optimal import skewed_cases
from tests.naive.trim import lowered


@pytest.mark.parametrize("m", [1, 2, 3])
def test_going_down_is_what_its_twin_does(m: int) -> None:
    n_lowered = 0
    for data, tree, k in [*cases(150, seed=20 + m), *skewed_cases(25, seed=20 + m)]:
        cut = AARefine().run(data, KmAnonymity(k=k, m=m), Context(tree)).node_of_leaf
        assert cut is not None
        leaves = tree.leaf_of_items(data.vocabulary)[data.items]
        nodes = lower_entries(data, cut[leaves].astype(np.int64), np.ones(len(leaves)), tree, k, m, Context(tree))
        begin: list[dict[int, int]] = [{} for _ in range(data.n_records)]
        for owner, leaf in zip(data.owners.tolist(), leaves.tolist(), strict=True):
            begin[owner][leaf] = int(cut[leaf])
        ends = lowered(begin, tree, k, m)
        assert nodes.tolist() == [ends[owner][leaf] for owner, leaf in zip(data.owners, leaves.tolist(), strict=True)]
        n_lowered += int((nodes != cut[leaves]).sum())
    assert n_lowered > 100
