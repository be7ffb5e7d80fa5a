"""Gray-TSP: tours, the genetic search, random numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity._tours import evolve_loop, loop_length
from setveil.algorithms.k_anonymity.gray_tsp import GrayTSP, find_tour
from setveil.algorithms.k_anonymity.pta import distances
from setveil.arrays.chance import chance_from, draw_below
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from tests.naive import k_anonymity as naive
from tests.naive.k_anonymity_cases import random_rows


class TestGrayTSP:
    def test_a_tour_visits_every_record_once_and_opens_at_its_longest_edge(self) -> None:
        source = random.Random(1)
        for _ in range(100):
            segment = Transactions.from_lists(random_rows(source))
            tour = find_tour((3, segment), population=5, generations=30, seed=2)
            assert sorted(tour.tolist()) == list(range(segment.n_records))
            far = distances(segment)
            assert far[tour[-1], tour[0]] == far[tour, np.roll(tour, 1)].max()

    def test_evolution_only_shortens(self) -> None:
        source = random.Random(2)
        for _ in range(50):
            data = Transactions.from_lists(random_rows(source))
            far = distances(data.select(gray_order(data)))
            lengths = [evolve_loop(far, 8, n, chance_from(0))[0] for n in (0, 10, 100, 400)]
            assert lengths == sorted(lengths, reverse=True)
            length, loop = evolve_loop(far, 8, 100, chance_from(0))
            assert length == loop_length(far, loop)
            assert length <= loop_length(far, np.arange(len(far)))
            rows = [frozenset(row) for row in data.select(gray_order(data)).to_lists()]
            assert length == sum(len(rows[a] ^ rows[b]) for a, b in zip(loop, np.roll(loop, 1), strict=True))

    def test_finds_the_shortest_of_small_loops(self) -> None:
        data = Transactions.from_lists(map(list, ["a", "ab", "abc", "bc", "c", "ac"]))  # a ring of neighbours
        assert evolve_loop(distances(data.select(np.array([0, 3, 1, 4, 2, 5]))), 10, 500, chance_from(1))[0] == 6

    def test_mushroom(self, real_data: Callable[[str], Path]) -> None:
        data = sv.read(real_data("mushroom.dat.gz"))
        release = GrayTSP(segments=100, bits="id", generations=2000).run(data, KAnonymity(15), Context())
        assert 0.215 < release.details["loss_ratio"] < 0.235  # PTA: 0.205
        assert sv.verify(release, KAnonymity(15)).holds

    def test_seed_decides(self) -> None:
        source = random.Random(5)
        data = Transactions.from_lists([[i for i in "abcdefghij" if source.random() < 0.5] for _ in range(100)])
        first, again, other = (GrayTSP(generations=30).run(data, KAnonymity(3), Context(seed=s)) for s in (1, 1, 2))
        assert first.transactions() == again.transactions() != other.transactions()

    def test_bad_options(self) -> None:
        for options in ({"population": 0}, {"generations": 0}):
            with pytest.raises(InputError, match="at least 1"):
                GrayTSP(**options).run(Transactions.from_lists([["a"], ["b"]]), KAnonymity(2), Context())


def test_random_numbers_are_those_of_the_twin() -> None:
    state = chance_from(7, 3)
    twin = naive.Chance(int(state[0]))
    assert [draw_below(state, n) for n in range(1, 2000)] == [twin.below(n) for n in range(1, 2000)]
