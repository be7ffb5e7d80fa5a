"""The risk of records that are in many places is the risk of all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from setveil.core import Transactions
from setveil.risk import assess, distributed
from setveil.risk.assess import risk
from setveil.risk.distributed import distributed_risk
from tests.naive.scattered import Scattered


def some_data(seed: int) -> Transactions:
    random = np.random.default_rng(seed)
    n_items = int(random.integers(4, 14))
    weights = random.random(n_items) ** 2 + 0.02
    sizes = random.integers(0, n_items // 2 + 2, 80)
    return Transactions.from_lists(
        [[f"i{item}" for item in random.choice(n_items, size, False, weights / weights.sum())] for size in sizes]
    )


@pytest.mark.parametrize("max_pairs", [0, 1 << 24])
@pytest.mark.parametrize("budget", [None, 1, 150])
def test_the_same_table(budget: int | None, max_pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "MAX_PAIRS", max_pairs)
    n_sampled, verdicts = 0, set()
    for seed in range(18):
        for module in (assess, distributed):
            monkeypatch.setattr(module, "PATIENCE", (20, 200, 2_000)[seed % 3])
            monkeypatch.setattr(module, "N_SEARCHED", 30)
        data = some_data(seed)
        asked: dict[str, Any] = {"known": (1, 2, 3, 4, 9), "k": 2 + seed % 4, "seed": seed, "budget": budget}
        expected = risk(data, targets=40, **asked)
        assert distributed_risk(Scattered(data, 1 + seed % 4), targets=40, **asked) == expected
        sampled = [row for row in expected.rows if not row.exact]
        n_sampled += len(sampled)
        verdicts |= {row.below_k for row in sampled}
    assert (n_sampled > 20) == (budget is not None)
    assert budget is None or len(verdicts) > 5


def test_one_known_item_and_none_at_all() -> None:
    data = some_data(3)
    assert distributed_risk(Scattered(data, 2), known=(1,)) == risk(data, known=(1,))
    empty = Transactions.from_lists([[], []])
    assert distributed_risk(Scattered(empty, 2)) == risk(empty)
