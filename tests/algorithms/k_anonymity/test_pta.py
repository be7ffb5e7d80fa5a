"""PTA: the worked example of its paper, its figures, and a slow twin."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity import pta as module
from setveil.algorithms.k_anonymity._tours import score_windows
from setveil.algorithms.k_anonymity.pta import PTA, distances, equivalence_classes, map_groups, prim_tsp
from setveil.core import Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import KAnonymity
from setveil.orderings.gray import gray_order
from setveil.releases import Replacement
from tests.naive import k_anonymity as naive

# Figure 2 (b): T1 to T13, their quasi-identifier items and sensitive item.
EXAMPLE = [
    ("BD", "S1"), ("ABC", "S2"), ("CDE", "S3"), ("ACDE", "S3"), ("ABD", "S2"), ("BDE", "S4"), ("AC", "S5"),
    ("DE", "S6"), ("AE", "S7"), ("BD", "S2"), ("BD", "S1"), ("ACE", "S5"), ("BCD", "S7"),
]  # fmt: skip
SENSITIVE = [f"S{number}" for number in range(1, 8)]


def run(data: Transactions, k: int, **options: object) -> Replacement:
    return PTA(**options).run(data, KAnonymity(k), Context())  # type: ignore[arg-type]


class TestWorkedExample:
    """Section V, step by step; T numbers as in the paper."""

    public = Transactions.from_lists([list(items) for items, _ in EXAMPLE])

    def segment(self) -> tuple[list[int], Transactions]:
        order = gray_order(self.public, "id")
        part = np.array_split(order, 2)[0]
        return [int(number) + 1 for number in part], self.public.select(part)

    def test_order_and_segments(self) -> None:
        order = gray_order(self.public, "id") + 1
        assert order.tolist() == [8, 3, 13, 1, 10, 11, 6, 5, 2, 7, 12, 4, 9]
        assert self.segment()[0] == [8, 3, 13, 1, 10, 11, 6]

    def test_distance_matrix(self) -> None:
        assert distances(self.segment()[1]).tolist() == [
            [0, 1, 3, 2, 2, 2, 1],
            [1, 0, 2, 3, 3, 3, 2],
            [3, 2, 0, 1, 1, 1, 2],
            [2, 3, 1, 0, 0, 0, 1],
            [2, 3, 1, 0, 0, 0, 1],
            [2, 3, 1, 0, 0, 0, 1],
            [1, 2, 2, 1, 1, 1, 0],
        ]

    def test_loop_of_t8_is_the_shortest(self) -> None:
        names, segment = self.segment()
        (loop,) = prim_tsp([segment], Context())
        assert [names[node] for node in loop] == [8, 6, 1, 10, 11, 13, 3]
        rows = [frozenset(row) for row in segment.to_lists()]
        assert naive.prim_tsp(rows) == (6, loop.tolist())

    def test_groups_losses_and_votes(self) -> None:
        names, segment = self.segment()
        (loop,) = prim_tsp([segment], Context())
        start = map_groups(segment, loop, 3)
        groups = {names[loop[i]]: {names[loop[(start[i] + step) % 7]] for step in range(3)} for i in range(7)}
        assert groups == {
            8: {3, 8, 6},
            6: {8, 6, 1},
            1: {6, 1, 10},
            10: {1, 10, 11},
            11: {10, 11, 13},
            13: {11, 13, 3},
            3: {13, 3, 8},
        }
        loss = score_windows(segment.indptr, segment.items, segment.n_items, loop, 3)
        assert {names[loop[i]]: int(loss[start[i]]) for i in range(7)} == {8: 2, 6: 2, 1: 1, 10: 0, 11: 1, 13: 3, 3: 3}
        assert naive.centre([frozenset("BDE"), frozenset("BD"), frozenset("DE")]) == frozenset("BDE")  # Figure 6 (b)

    def test_classes_and_leftover(self) -> None:
        names, segment = self.segment()
        (loop,) = prim_tsp([segment], Context())
        window = equivalence_classes(segment, loop, 3)
        classes: dict[int, set[int]] = {}
        for place, number in enumerate(window.tolist()):
            classes.setdefault(number, set()).add(names[loop[place]])
        assert classes == {0: {1, 10, 11}, 1: {3, 8, 6}, -1: {13}}

    def test_published(self) -> None:
        data = Transactions.from_lists([[*items, secret] for items, secret in EXAMPLE])
        model = KAnonymity(3, SENSITIVE)
        release = PTA(segments=2, bits="id").run(data, model, Context())
        published = release.transactions()
        for number in (1, 10, 11, 13):
            assert published[number - 1] == {"B", "D", EXAMPLE[number - 1][1]}
        for number in (3, 6, 8):
            assert published[number - 1] == {"D", "E", EXAMPLE[number - 1][1]}
        assert sv.verify(release, model).holds
        assert release.details["leftovers"] == 1
        expected, _ = naive.pta([frozenset(items) for items, _ in EXAMPLE], 3, 2, "ABCDE")
        assert [row - set(SENSITIVE) for row in published] == [set(row) for row in expected]


def random_database(source: random.Random) -> list[list[str]]:
    items = "abcdefgh"[: source.randint(1, 8)]
    density = source.choice((0.1, 0.3, 0.6, 0.9))
    return [[item for item in items if source.random() < density] for _ in range(source.randint(2, 26))]


@pytest.mark.slow
def test_equals_its_twin() -> None:
    source = random.Random(4)
    for _ in range(1000):
        rows = random_database(source)
        data = Transactions.from_lists(rows)
        k, n_segments, recentre = source.randint(2, 6), source.randint(1, 4), source.random() < 0.3
        records = [frozenset(row) for row in rows]
        bits = list(data.vocabulary)
        by = source.choice(("id", "frequency"))
        if by == "frequency":
            bits.sort(key=lambda item: (-sum(item in record for record in records), item))
        if sum(map(bool, rows)) < k:
            if any(rows) or len(rows) < k:
                with pytest.raises(InfeasibleError):
                    run(data, k)
            continue
        whose = source.choice(("segment", "all"))
        release = run(data, k, segments=n_segments, bits=by, recentre=recentre, leftovers=whose)
        expected, n_left = naive.pta(records, k, n_segments, bits, recentre, whose)
        assert Counter(map(frozenset, release.transactions())) == Counter(expected)
        assert release.details["leftovers"] == n_left
        assert release.details["loss"] == sum(len(a ^ b) for a, b in zip(records, expected, strict=True))


@pytest.mark.parametrize(
    ("name", "k", "segments", "bits", "percent"),
    [
        ("mushroom", 15, 100, "id", 20.5),
        ("mushroom", 15, 150, "id", 21.1),
        ("mushroom", 15, 200, "id", 22.4),
        ("mushroom", 15, 100, "frequency", 15.8),
        ("mushroom", 15, 200, "frequency", 16.8),
        ("mushroom", 5, 100, "id", 11.6),
        ("mushroom", 5, 200, "id", 12.0),
        ("mushroom", 25, 100, "id", 25.6),
        ("mushroom", 25, 200, "id", 31.0),
        ("chess", 15, 60, "id", 16.6),
    ],
)
def test_expected_loss(
    real_data: Callable[[str], Path], name: str, k: int, segments: int, bits: str, percent: float
) -> None:
    data = sv.read(real_data(f"{name}.dat.gz"))
    release = run(data, k, segments=segments, bits=bits)
    assert release.details["loss_ratio"] * 100 == pytest.approx(percent, abs=0.05)
    assert sv.verify(release, KAnonymity(k)).holds
    if (name, k, segments, bits) == ("mushroom", 15, 100, "id"):
        assert release.details["leftovers"] == 1824


def test_slices_of_starts_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(1)
    data = Transactions.from_lists([[i for i in "abcdefghij" if source.random() < 0.5] for _ in range(120)])
    expected = run(data, 4, segment_size=40).transactions()
    monkeypatch.setattr(module, "DISTANCES_AT_ONCE", 5000)  # three starts of forty at a time
    assert run(data, 4, segment_size=40).transactions() == expected
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert run(data, 4, segment_size=40).transactions() == expected


def test_segments_are_never_smaller_than_k() -> None:
    data = Transactions.from_lists([["a"]] * 7 + [["b"]] * 8)
    release = run(data, 5, segments=100)
    assert release.details["segments"] == 3
    assert release.details["smallest_class"] >= 5


def test_the_default_keeps_segments_small() -> None:
    data = Transactions.from_lists([["a"], ["b"]] * 100)
    assert run(data, 2).details["segments"] == 3


def test_recentre_lets_leftovers_vote() -> None:
    rows = [["a"], ["a"], ["a", "b"], ["a", "b"], ["a", "b"]]
    records = [frozenset(row) for row in rows]
    for recentre in (False, True):
        release = run(Transactions.from_lists(rows), 3, segments=1, bits="id", recentre=recentre)
        expected, _ = naive.pta(records, 3, 1, "ab", recentre)
        assert Counter(map(frozenset, release.transactions())) == Counter(expected)


def test_leftovers_may_leave_their_segment() -> None:
    """Seven records in two segments: the first has one record of the kind that the second is made of."""
    rows = [["a", "b"]] * 3 + [["a", "b"], *[["c", "d"]] * 3]
    data = Transactions.from_lists(rows)
    own, any_segment = (run(data, 3, segments=2, bits="id", leftovers=whose) for whose in ("segment", "all"))
    assert own.details["leftovers"] == any_segment.details["leftovers"] == 1
    assert any_segment.details["loss"] == 0 < own.details["loss"]


def test_progress_and_cancelling() -> None:
    data = Transactions.from_lists([["a"], ["b"]] * 100)
    stages: list[str] = []
    PTA().run(data, KAnonymity(2), Context(progress=lambda stage, share: stages.append(stage)))
    assert dict.fromkeys(stages) == dict.fromkeys(["Gray sort", "shortest loops", "map and majority vote", "leftovers"])
    with pytest.raises(sv.CancelledError):
        PTA().run(data, KAnonymity(2), Context(cancelled=lambda: True))


@pytest.mark.parametrize("options", [{"segments": 0}, {"segment_size": 0}, {"segments": "many"}, {"segments": 1.5}])
def test_bad_segments(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"whole number|at least 1"):
        run(Transactions.from_lists([["a"]] * 5), 2, **options)


def test_a_segment_too_large_for_memory() -> None:
    data = Transactions.from_lists([["a"]] * 20_001)
    with pytest.raises(InputError, match="at least 2 segments"):
        run(data, 2, segments=1)
