"""What holds for every algorithm that refines the cut of another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from setveil.algorithms.base import Algorithm, Context
from setveil.models import KmAnonymity
from setveil.releases import Recoding
from tests.naive.counting import is_km_anonymous
from tests.naive.km import Database
from tests.naive.optimal import skewed_cases

Cost: TypeAlias = Callable[[Database, tuple[int, ...]], Any]


def assert_never_worse(plain: Algorithm, refined: Algorithm, cost: Cost, name: str) -> None:
    """Refining lowers the loss or changes nothing, and keeps the guarantee."""
    n_better = 0
    for data, tree, k in skewed_cases(150, seed=3):
        base = Database(data, tree)
        model, context = KmAnonymity(k, 2), Context(hierarchy=tree)
        before, after = plain.run(data, model, context), refined.run(data, model, context)
        losses = []
        for release in (before, after):
            assert isinstance(release, Recoding) and release.node_of_leaf is not None
            losses.append(cost(base, tuple(sorted({int(node) for node in release.node_of_leaf if node >= 0}))))
        assert losses[1] <= losses[0]
        assert (losses[1] < losses[0]) == (after.details["specialized"] + after.details["exchanged"] > 0)
        assert after.details[name] <= after.details[f"{name}_before_refining"]
        assert is_km_anonymous(after.transactions(), k, 2)
        n_better += losses[1] < losses[0]
    assert n_better >= 2


def assert_explained(algorithm: Algorithm, loss: str) -> None:
    """The costs of all moves add up to the loss, and every move has a witness."""
    for data, tree, k in skewed_cases(60, seed=4):
        base = Database(data, tree)
        details = algorithm.run(data, KmAnonymity(k, 2), Context(hierarchy=tree)).details
        assert abs(sum(move["cost"] for move in details["moves"]) - details[loss]) <= 1e-12
        number = {label: node for node, label in enumerate(tree.published_labels)}
        for move in details["moves"]:
            nodes = [number[label] for label in move["witness"]]
            assert 0 < move["support"] == base.support(nodes) < k
