"""GSC and Gray-TSP, and what all algorithms for k-anonymity share: feasibility, diversity, figures."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from naive import k_anonymity as naive

import setveil as sv
from setveil.algorithms.base import Algorithm, Context
from setveil.algorithms.k_anonymity._tours import evolve_loop, loop_length
from setveil.algorithms.k_anonymity.centres import prepare
from setveil.algorithms.k_anonymity.gray_tsp import GrayTSP, find_tour
from setveil.algorithms.k_anonymity.gsc import GSC
from setveil.algorithms.k_anonymity.pta import PTA, distances
from setveil.algorithms.k_anonymity.weave import Weave
from setveil.arrays.chance import chance_from, draw_below
from setveil.core import Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order

EVERY = [PTA(), GSC(), GrayTSP(generations=50), Weave(passes=2, tries=5)]


def random_rows(source: random.Random, n_most: int = 30) -> list[list[str]]:
    items = "abcdefgh"[: source.randint(1, 8)]
    density = source.choice((0.1, 0.4, 0.8))
    return [[item for item in items if source.random() < density] for _ in range(source.randint(1, n_most))]


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


@pytest.mark.parametrize("algorithm", EVERY, ids=lambda a: type(a).__name__)
class TestEvery:
    def test_promise_figures_and_sensitive_items(self, algorithm: Algorithm) -> None:
        source = random.Random(3)
        n_feasible = 0
        for _ in range(250):
            rows = random_rows(source)
            items = sorted({item for row in rows for item in row})
            sensitive = source.sample(items, source.randint(0, len(items)))
            model = KAnonymity(source.randint(2, 5), sensitive, source.choice((1, 2, 3)) if sensitive else 1)
            try:
                release = algorithm.run(Transactions.from_lists(rows), model, Context())
            except InfeasibleError:
                occurring = {item for row in rows for item in row} & set(sensitive)
                assert sum(map(bool, rows)) < model.k or len(occurring) < model.l
                continue
            n_feasible += 1
            verdict = sv.verify(release, model)
            assert verdict.holds, verdict.reason
            published = release.transactions()
            pairs = [(set(before), after) for before, after in zip(rows, published, strict=True)]
            assert all(before & set(sensitive) == after & set(sensitive) for before, after in pairs)
            figures = release.details
            assert figures["added"] == sum(len(after - before) for before, after in pairs)
            assert figures["removed"] == sum(len(before - after) for before, after in pairs)
            assert figures["loss"] == figures["added"] + figures["removed"]
            assert figures["loss_ratio"] == figures["loss"] / max(sum(map(len, rows)), 1)
            classes: dict[frozenset[str], list[set[str]]] = {}
            for after in published:
                classes.setdefault(frozenset(after - set(sensitive)), []).append(after & set(sensitive))
            assert figures["classes"] == len(classes) == len(set(release.class_of.tolist()))
            assert figures["smallest_class"] == min(map(len, classes.values()))
            assert figures["largest_class"] == max(map(len, classes.values()))
            assert (figures["empty_centres"] > 0) == (frozenset() in classes)
            assert figures["records_with_empty_centre"] == len(classes.get(frozenset(), []))
            assert figures["homogeneous_classes"] == sum(bool(set.intersection(*own)) for own in classes.values())
        assert n_feasible > 100

    def test_no_records(self, algorithm: Algorithm) -> None:
        assert algorithm.run(Transactions.from_lists([]), KAnonymity(3), Context()).transactions() == []

    def test_fewer_records_than_k(self, algorithm: Algorithm) -> None:
        with pytest.raises(InfeasibleError, match="2 records, fewer than k=3"):
            algorithm.run(Transactions.from_lists([["a"], ["b"]]), KAnonymity(3), Context())

    def test_too_few_sensitive_items_are_named(self, algorithm: Algorithm) -> None:
        data = Transactions.from_lists([["a", "x"], ["b", "y"]] * 4)
        with pytest.raises(InfeasibleError, match='only 2 occur: "x", "y"') as caught:
            algorithm.run(data, KAnonymity(2, ["x", "y", "z"], 3), Context())
        assert caught.value.items == ("x", "y")

    def test_input_order_does_not_matter(self, algorithm: Algorithm) -> None:
        source = random.Random(8)
        for _ in range(40):
            rows = random_rows(source)
            if sum(map(bool, rows)) < 3:
                continue
            shuffled = source.sample(rows, len(rows))
            model = KAnonymity(3, ["b", "d"])
            published = [algorithm.run(Transactions.from_lists(r), model, Context()) for r in (rows, shuffled)]
            assert len({tuple(sorted(map(tuple, map(sorted, r.transactions())))) for r in published}) == 1


def test_classes_are_merged_along_the_gray_order_of_their_centres() -> None:
    source = random.Random(9)
    for _ in range(300):
        n = source.randint(4, 24)
        rows = [
            [i for i in "abc" if source.random() < 0.5] + source.choices("xyz", k=source.randint(0, 2))
            for _ in range(n)
        ]
        l = source.randint(2, 3)  # noqa: E741
        if len({item for row in rows for item in row} & set("xyz")) < l:
            continue
        records = prepare(Transactions.from_lists(rows), KAnonymity(2, list("xyz"), l))
        class_of = np.array([source.randrange(5) for _ in range(n)])
        class_of = np.unique(class_of, return_inverse=True)[1]
        tour = gray_order(records.vote(class_of)).tolist()
        marks = [frozenset(row) for row in records.hidden.to_lists()]
        expected = naive.merge_until_diverse([np.flatnonzero(class_of == c).tolist() for c in tour], marks, l)
        merged = records.diverse(class_of)
        assert sorted(map(sorted, expected)) == sorted(
            np.flatnonzero(merged == c).tolist() for c in set(merged.tolist())
        )
