"""GSC against its twin, and on real data."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity.gsc import GSC
from setveil.core import Transactions
from setveil.models import KAnonymity
from tests.naive import k_anonymity as naive
from tests.naive.k_anonymity_cases import random_rows


class TestGSC:
    def test_equals_its_twin(self) -> None:
        source = random.Random(0)
        for _ in range(500):
            rows = random_rows(source)
            k = source.randint(2, 5)
            if sum(map(bool, rows)) < k:
                continue
            data = Transactions.from_lists(rows)
            release = GSC(bits="id").run(data, KAnonymity(k), Context())
            expected = naive.gsc([frozenset(row) for row in rows], k, list(data.vocabulary))
            assert Counter(map(frozenset, release.transactions())) == Counter(expected)

    def test_mushroom(self, real_data: Callable[[str], Path]) -> None:
        data = sv.read(real_data("mushroom.dat.gz"))
        release = GSC().run(data, KAnonymity(15), Context())
        assert release.details["loss_ratio"] == pytest.approx(0.1550, abs=0.0001)
        assert sv.verify(release, KAnonymity(15)).holds
