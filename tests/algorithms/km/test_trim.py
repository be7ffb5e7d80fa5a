"""Trim against an exhaustive optimum, its bound, and what it promises."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.km import trim_search as module
from setveil.algorithms.km._trim_itemsets import number_itemsets
from setveil.algorithms.km.trim import EFFORTS, Trim
from setveil.algorithms.km.trim_search import Search
from tests.naive.trim import is_km_anonymous, itemset_counts, least_left_out


def random_records(rng: random.Random, n_records: int, n_items: int, longest: int) -> list[frozenset[str]]:
    items = [chr(97 + number) for number in range(n_items)]
    weights = [1 / (number + 1) for number in range(n_items)]
    return [frozenset(rng.choices(items, weights, k=rng.randint(1, longest))) for _ in range(n_records)]


def trimmed(records: list[frozenset[str]], k: int, m: int | str, **options: object) -> sv.Release:
    return sv.anonymize(
        sv.Transactions.from_lists([sorted(record) for record in records]),
        sv.KmAnonymity(k=k, m=m),  # type: ignore[arg-type]
        algorithm="trim",
        options=options,
    )


def test_small_databases_against_the_exhaustive_optimum() -> None:
    rng = random.Random(7)
    lost = optimum = 0
    times: list[float] = []
    for _ in range(2000):
        m = rng.choice((1, 2, 2, 3))
        records = random_records(rng, rng.randint(3, 5), rng.randint(2, 4), 3)
        least = least_left_out(records, 2, m)
        release = trimmed(records, 2, m)
        left = [frozenset(record) for record in release.transactions()]
        assert all(shown <= record for shown, record in zip(left, records, strict=True))
        assert is_km_anonymous(left, 2, m)
        n_gone = release.details["entries_left_out"]
        assert n_gone == sum(map(len, records)) - sum(map(len, left))
        assert release.details["lower_bound"] * sum(map(len, records)) <= least + 1e-9
        assert n_gone >= least
        lost, optimum = lost + n_gone, optimum + least
        if least:
            times.append(n_gone / least)
    average = sum(times) / len(times)
    print(f"{len(times)} databases: {average:.4f} times the optimum on average, {lost / optimum:.4f} in all")
    assert average <= 1.15 and lost <= 1.15 * optimum


@pytest.mark.parametrize("m", [1, 2, 3, 4, "all"])
def test_larger_databases_keep_the_promise_and_nothing_is_added(m: int | str) -> None:
    rng = random.Random(11)
    for k in (2, 5):
        records = random_records(rng, 300, 12, 9)
        release = trimmed(records, k, m)
        left = [frozenset(record) for record in release.transactions()]
        assert all(shown <= record for shown, record in zip(left, records, strict=True))
        assert sv.verify(release, sv.KmAnonymity(k=k, m=m)).holds  # type: ignore[arg-type]
        if m == "all":
            assert all(sum(shown <= other for other in left) >= k for shown in left)
        else:
            assert is_km_anonymous(left, k, int(m))
        assert release.details["share_left_out"] >= release.details["lower_bound"] - 1e-12


@pytest.mark.long
def test_records_with_more_itemsets_than_there_is_room_for() -> None:
    """Forty items make 91,390 sets of four, nearly all of them rare or given up."""
    rng = random.Random(17)
    items = [f"i{number}" for number in range(44)]
    records = [frozenset(rng.sample(items, 40)) for _ in range(6)] + [frozenset(rng.sample(items, 5))] * 3
    release = trimmed(records, 4, 4)
    assert sv.verify(release, sv.KmAnonymity(k=4, m=4)).holds


def test_long_records_are_trimmed_too() -> None:
    rng = np.random.default_rng(3)
    records = [
        frozenset(f"i{item}" for item in np.flatnonzero(rng.random(120) < (0.6 if number < 6 else 0.05)))
        for number in range(200)
    ]
    release = trimmed(records, 4, 2)
    assert is_km_anonymous([frozenset(record) for record in release.transactions()], 4, 2)


def test_all_items_known_of_long_records() -> None:
    """Records of more items than a search looks at: every published one is contained in k of them, and some is left."""
    rng = np.random.default_rng(19)
    records = [frozenset(f"i{item}" for item in np.flatnonzero(rng.random(300) < 0.5)) for _ in range(60)]
    release = trimmed(records, 3, "all")
    left = [frozenset(record) for record in release.transactions()]
    assert all(shown <= record for shown, record in zip(left, records, strict=True))
    assert all(sum(shown <= other for other in left) >= 3 for shown in left)
    assert any(left) and release.details["method"] == "whole records"
    assert release.details["share_left_out"] >= release.details["lower_bound"] - 1e-12


@pytest.mark.parametrize("m", [2, 3, 4])
def test_annealed_records_show_no_dead_itemset_and_all_counts_are_right(m: int) -> None:
    rng = random.Random(23)
    for k in (2, 3, 5):
        rows = sv.Transactions.from_lists([sorted(record) for record in random_records(rng, 120, 24, 7)])
        rows = rows.keep_items(rows.supports >= k)
        numbered = number_itemsets(rows, k, m, Context())
        assert numbered is not None
        search = Search(rows, numbered, np.ones(rows.n_items), k, m, EFFORTS["normal"], Context())
        search.choose(search.concerned)
        before = search.kept.copy()
        for number in range(3):
            search.anneal(number)
            shown = [
                frozenset(rows.items[start:end][search.kept[start:end] == 1].tolist())
                for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
            ]
            held = itemset_counts([frozenset(record) for record in rows.to_lists()], m)
            labels = list(rows.vocabulary)
            counts = itemset_counts([frozenset(labels[item] for item in record) for record in shown], m)
            assert all(held[itemset] >= k for itemset in counts)
            assert sorted(search.count[search.count > 0].tolist()) == sorted(counts.values())
        assert not np.array_equal(before, search.kept)


@pytest.mark.parametrize("m", [2, 3])
def test_room_for_the_pairs_of_few_records_is_enough(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Annealing needs the pairs of a record; without them the record is safe all the same."""
    records = random_records(random.Random(29), 60, 14, 7)
    for room in (0, 40, 200):
        monkeypatch.setattr(module, "MOST_PAIRS", room)
        release = Trim().run(sv.Transactions.from_lists([sorted(r) for r in records]), sv.KmAnonymity(3, m), Context())
        left = [frozenset(record) for record in release.transactions()]
        assert is_km_anonymous(left, 3, m)
        assert 0 < release.details["entries_left_out"] < 100


@pytest.mark.parametrize("m", [2, "all"])
def test_the_order_of_records_does_not_matter(m: int | str) -> None:
    rng = random.Random(5)
    records = random_records(rng, 200, 10, 6)
    shuffled = rng.sample(records, len(records))
    once = sorted(sorted(record) for record in trimmed(records, 3, m).transactions())
    again = sorted(sorted(record) for record in trimmed(shuffled, 3, m).transactions())
    assert once == again


def test_weights_say_what_stays() -> None:
    records = [frozenset("ab")] * 2 + [frozenset("a"), frozenset("a"), frozenset("b"), frozenset("b"), frozenset("b")]
    keeps_a = trimmed(records, 3, 2, weights={"a": 5})
    keeps_b = trimmed(records, 3, 2, weights={"b": 5})
    assert sum("a" in record for record in keeps_a.transactions()) == 4
    assert sum("b" in record for record in keeps_b.transactions()) == 5


@pytest.mark.parametrize("weights", [{"z": 1.0}, {"a": -1.0}, {"a": 0.0}, {"a": float("nan")}, 3])
def test_bad_weights_are_refused(weights: object) -> None:
    with pytest.raises(sv.InputError):
        trimmed([frozenset("ab")] * 3, 2, 2, weights=weights)


def test_edges() -> None:
    with pytest.raises(sv.InfeasibleError):
        trimmed([frozenset("ab")] * 3, 4, 2)
    same = trimmed([frozenset("abc")] * 5, 5, "all")
    assert same.transactions() == [{"a", "b", "c"}] * 5
    assert trimmed([frozenset("a")] * 5, 5, 2).transactions() == [{"a"}] * 5
    nothing = trimmed([frozenset(letter) for letter in "abcde"], 2, 2)
    assert nothing.transactions() == [set()] * 5
    assert nothing.details["share_left_out"] == 1.0 == nothing.details["lower_bound"]


def test_the_worked_example_of_the_docs() -> None:
    records = ["bread milk", "bread milk brie", "milk beer", "milk beer", "beer brie", "bread"]
    release = trimmed([frozenset(record.split()) for record in records], 2, 2)
    shown = ["bread milk", "bread milk", "milk beer", "milk beer", "beer", "bread"]
    assert release.transactions() == [set(record.split()) for record in shown]
    assert release.details["entries_left_out"] == 2
    assert release.details["times_the_bound"] == 1.0


def test_loops_are_plain_python_without_numba() -> None:
    """So that they can be read and debugged: the worked example again, nothing compiled."""
    program = (
        "import setveil as sv; "
        "records = ['bread milk', 'bread milk brie', 'milk beer', 'milk beer', 'beer brie', 'bread']; "
        "release = sv.anonymize([text.split() for text in records], 'km', k=2, m=2, algorithm='trim'); "
        "print(release.details['entries_left_out'])"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "ignore", "-c", program]  # hashes wrap around, which NumPy warns about
    assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "2\n"


def test_calls_are_shorter_for_wide_records_and_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run can be cancelled between two calls: with many itemsets per record a call takes fewer records."""
    narrow, wide = np.full(10, 4), np.full(10, 60)
    assert module.steps_per_call(narrow, 2) == module.steps_per_call(narrow, 3) == module.STEPS_PER_CALL
    assert module.steps_per_call(wide, 2) > module.STEPS_PER_CALL // 2
    assert module.steps_per_call(wide, 3) < module.STEPS_PER_CALL // 15
    records = random_records(random.Random(5), 60, 9, 6)
    n_steps = []
    kept = []
    for steps in (module.STEPS_PER_CALL, 100):
        stages: list[str] = []
        monkeypatch.setattr(module, "STEPS_PER_CALL", steps)
        context = Context(progress=lambda stage, share, stages=stages: stages.append(stage))
        release = Trim().run(sv.Transactions.from_lists(records), sv.KmAnonymity(3, 3), context)
        n_steps.append(len(stages))
        kept.append(release.transactions())
    assert n_steps[0] < n_steps[1]
    assert kept[0] == kept[1]
