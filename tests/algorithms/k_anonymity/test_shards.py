"""Shards are solved alone, and so with the same result wherever that happens."""

from __future__ import annotations

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.k_anonymity import shards
from setveil.algorithms.k_anonymity.pta import PTA
from setveil.algorithms.k_anonymity.weave import Weave
from setveil.core import Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import KAnonymity
from setveil.report.changes import shape_of
from setveil.utility import measure
from tests.naive.scattered import Scattered


def some_data(seed: int) -> Transactions:
    random = np.random.default_rng(seed)
    n_items = int(random.integers(4, 12))
    sizes = random.integers(0, n_items // 2 + 2, 130)
    rows = [[f"i{item}" for item in random.choice(n_items, size, replace=False)] for size in sizes]
    return Transactions.from_lists(rows)


@pytest.mark.parametrize(
    "algorithm",
    [
        PTA(segment_size=20),
        PTA(segments=3, recentre=True, bits="id"),
        Weave(shard_size=40, passes=2, tries=3),
        Weave(shard_size=1000, passes=1),
    ],
    ids=repr,
)
def test_the_same_release_where_the_records_are_elsewhere(
    algorithm: Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(6):
        data, model = some_data(seed), KAnonymity(k=2 + seed % 4)
        monkeypatch.setattr(shards, "PER_TASK", (1, 45, 1000)[seed % 3])
        here = algorithm.run(data, model, Context(seed=seed))
        remote = Scattered(data, 1 + seed % 3)
        there = algorithm.run_distributed(remote, model, Context(seed=seed))
        assert there.details == here.details
        assert isinstance(there.published, Scattered)
        assert sorted(there.published.whole.to_lists()) == sorted(here.published.to_lists())
        assert measure(remote, there) == measure(data, here)
        assert sv.verify(there.published.whole, model)
        labels = list(here.published.vocabulary)
        assert shape_of(there, labels) == shape_of(here, labels)


def test_shards_are_woven_alone() -> None:
    data = some_data(1)
    whole = Weave(shard_size=130).run(data, KAnonymity(k=3), Context())
    assert whole.transactions() == Weave().run(data, KAnonymity(k=3), Context()).transactions()
    parts = Weave(shard_size=30).run(data, KAnonymity(k=3), Context())
    assert parts.details["shards"] == 5
    assert parts.details["loss"] >= whole.details["loss"]
    assert sv.verify(parts, KAnonymity(k=3))


def test_what_shards_cannot_do() -> None:
    remote = Scattered(some_data(2), 2)
    for algorithm, model, words in (
        (PTA(leftovers="all"), KAnonymity(k=3), "leftovers=segment"),
        (Weave(), KAnonymity(k=3), "set its option shard_size"),
        (PTA(), KAnonymity(k=3, sensitive=("i1",)), "remove them on Spark"),
    ):
        with pytest.raises(InputError, match=words):
            algorithm.run_distributed(remote, model, Context())
    with pytest.raises(InputError, match="shards do not support l"):
        Weave(shard_size=20).run(some_data(2), KAnonymity(k=3, sensitive=("i1", "i2"), l=2), Context())
    with pytest.raises(InfeasibleError, match="fewer than k=500"):
        PTA().run(remote, KAnonymity(k=500), Context())
