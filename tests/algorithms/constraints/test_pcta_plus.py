"""pcta+: safe, and never more suppressed than by COAT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.constraints._cluster_moves import (
    ANYWHERE,
    ClusterState,
    _is_stuck,
    fill_together,
    move_items,
    price_clusters,
)
from setveil.algorithms.constraints.coat import COAT
from setveil.algorithms.constraints.pcta_plus import PCTAPlus
from setveil.algorithms.constraints.upcta import UPCTA
from setveil.core import Transactions
from setveil.models import ConstraintAnonymity, KmAnonymity
from setveil.utility.loss import ncp
from tests.naive.constraint_cases import (
    some_ask,
)


def test_releases_keep_their_promise_and_pcta_plus_never_suppresses_more() -> None:
    compared = 0
    for seed in range(700):
        records, ask = some_ask(seed)
        if not any(records):
            continue
        data = Transactions.from_lists(map(sorted, records))
        models: list[object] = [KmAnonymity(ask["k"], ask["m"])]
        models.append(ConstraintAnonymity(ask["k"], ask["constraints"], ask["groups"] or None, ask["bound"]))
        for model in models:
            found: dict[str, int | None] = {}
            for name, algorithm in (("pcta+", PCTAPlus(sweeps=seed % 3)), ("upcta", UPCTA()), ("coat", COAT())):
                try:
                    release = algorithm.run(data, model, Context(seed=seed))
                except sv.InfeasibleError:
                    found[name] = None
                    continue
                verdict = sv.verify(release, model)
                assert verdict.holds, (seed, name, verdict)
                found[name] = release.details["suppressed_items"]
            if found["coat"] is not None:
                assert found["pcta+"] is not None
                assert found["pcta+"] <= found["coat"]
                compared += 1
    assert compared > 600


def test_pcta_plus_on_click_streams(real_data: Callable[[str], Path]) -> None:
    data = sv.read(real_data("BMS1.dat.gz"))
    better = PCTAPlus().run(data, KmAnonymity(5, 2), Context())
    assert ncp(data, better) < 0.0035


def test_items_that_supports_of_pairs_show_to_be_stuck_cannot_be_moved() -> None:
    rng = np.random.default_rng(11)
    n_items, n_stuck, n_moved = 7, 0, 0
    for _ in range(150):
        records = [sorted(rng.choice(n_items, rng.integers(1, 5), replace=False).tolist()) for _ in range(40)]
        data = Transactions.from_lists([[str(item) for item in record] for record in records])
        if data.n_items < n_items:
            continue
        part = state_of(data, rng.integers(0, n_items, n_items).astype(np.int32), rng)
        bare = part._replace(both=np.zeros((0, 0), dtype=np.int32))
        for item in rng.permutation(n_items).astype(np.int32):
            slack, k = rng.integers(0, 400, 1), int(rng.integers(2, 30))
            change = np.empty(n_items, dtype=np.int64)
            price_clusters(part, item, ANYWHERE, change)
            is_stuck = _is_stuck(part, item, change, slack[0], k)
            n_moves = move_items(bare, np.array([item], dtype=np.int32), slack, k)  # changes the arrays of both
            assert not (is_stuck and n_moves)
            n_stuck += is_stuck
            n_moved += n_moves
    assert min(n_stuck, n_moved) > 30


def state_of(data: Transactions, place: np.ndarray, rng: np.random.Generator) -> ClusterState:
    """Items at these places; each record stands for one to three."""
    n_items, weight = data.n_items, rng.integers(1, 4, data.n_records)
    item_starts, item_records = data.inverted()
    mass = np.bincount(data.items, weights=weight[data.owners], minlength=n_items).astype(np.int64)
    load = np.bincount(place, weights=mass, minlength=n_items).astype(np.int64)
    together, both = (np.zeros((n_items, n_items), dtype=np.int32) for _ in range(2))
    group, size = np.zeros(n_items, dtype=np.int32), np.bincount(place, minlength=n_items)
    shape = (mass, group, place, size, load, group.copy(), together, both)
    part = ClusterState(data.indptr, data.items, weight, item_starts, item_records, *shape)
    fill_together(part, part.place, together)
    fill_together(part, np.arange(n_items, dtype=np.int32), both)
    return part
