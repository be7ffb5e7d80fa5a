"""Weave: optimal cuts, moves and swaps, each against a slow twin; how little is lost on real data."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms.base import Context
from setveil.algorithms.k_anonymity import weave as module
from setveil.algorithms.k_anonymity._classes import (
    MarkedRecords,
    bits_of_row,
    cut_order,
    find_bits,
    found_classes,
    total_loss,
    weave_classes,
)
from setveil.algorithms.k_anonymity.pta import PTA
from setveil.algorithms.k_anonymity.weave import (
    Block,
    Weave,
    as_rows,
    copies_in,
    cut_large_classes,
    join_equal_classes,
    neighbours_in,
)
from setveil.algorithms.registry import default_for
from setveil.arrays.chance import chance_from
from setveil.core import Transactions
from setveil.errors import InputError
from setveil.models import KAnonymity
from setveil.releases import Replacement
from tests.naive import k_anonymity as naive

Record = frozenset[str]


def random_block(source: random.Random, n_most: int = 24) -> Block:
    items = "abcdefg"[: source.randint(1, 7)]
    density = source.choice((0.1, 0.4, 0.7))
    n = source.randint(2, n_most)
    rows = [[item for item in items if source.random() < density] for _ in range(n)]
    rows += source.choices(rows, k=source.randint(0, 6))  # duplicates
    marks = [source.sample("xyz", source.choice((0, 1, 1, 2))) for _ in rows]
    return Block(0, Transactions.from_lists(rows), Transactions.from_lists(marks), np.zeros(len(rows), dtype=np.int64))


def records_of(
    distinct: Transactions, rows: MarkedRecords, hidden: Transactions, order: np.ndarray
) -> tuple[list[Record], list[Record]]:
    """Items and marks of each record, as the kernels number them."""
    items = [frozenset(row) for row in distinct.to_lists()]
    return [items[row] for row in rows.of], [frozenset(row) for row in hidden.select(order).to_lists()]


def test_a_cut_is_the_best_of_all() -> None:
    source = random.Random(0)
    n_none = 0
    for _ in range(800):
        block = random_block(source, 14)
        distinct, rows, order = as_rows(block)
        items, marks = records_of(distinct, rows, block.hidden, order)
        k, l, grid = source.randint(1, 5), source.choice((1, 1, 2, 3)), source.choice((1, 1, 2, 3))  # noqa: E741
        longest = source.choice((2 * k - 1, 2 * (k + grid - 1) - 1, 4 * k))
        along = np.array(source.sample(range(len(items)), len(items)))
        loss, run = cut_order(rows, distinct.n_items, block.hidden.n_items, along, k, l, longest, grid)
        expected = naive.best_cut([items[r] for r in along], [marks[r] for r in along], k, l, longest, grid)
        if expected is None:
            n_none += 1
            assert loss == -1
            assert not run.any()
            continue
        begins = [place for place in range(len(run)) if place == 0 or run[place] != run[place - 1]]
        assert (loss, *begins) == expected
        assert run.tolist() == np.cumsum(np.isin(np.arange(len(run)), begins[1:])).tolist()
    assert 50 < n_none < 700


def test_every_number_of_records_can_be_cut_on_the_grid() -> None:
    for k in (1, 2, 7, 130, 200):
        for n in range(k, 5 * k + 3, 1 + k // 40):
            block = Block(0, Transactions.from_lists([["a"]] * n), Transactions.from_lists([[]] * n), np.zeros(n, int))
            _, rows, _ = as_rows(block)
            _, run = module.cut_run(rows, (1, 0), copies_in(np.arange(1), rows), k, 1)
            assert np.bincount(run).min() >= k
            if n >= 4 * k:
                assert run.max() > 0


def test_moves_and_swaps_equal_their_twin() -> None:
    source = random.Random(1)
    n_changed = 0
    for number in range(400):
        block = random_block(source)
        distinct, rows, order = as_rows(block)
        items, marks = records_of(distinct, rows, block.hidden, order)
        n, k, l = len(items), source.randint(1, 4), source.choice((1, 1, 2))  # noqa: E741
        if n < k:
            continue
        begin = module.cut_run(rows, (distinct.n_items, block.hidden.n_items), np.arange(n), k, l)[1]
        if l > 1 and len(frozenset().union(*marks)) < l:
            continue
        n_classes, room = int(begin.max()) + 1, source.randint(0, 3)
        n_rows = distinct.n_records
        orders = [np.array(source.sample(range(n_rows), n_rows)) for _ in range(2)]
        near = neighbours_in(orders)
        shape = (n_classes, distinct.n_items), (n_classes, block.hidden.n_items)
        classes = found_classes(rows, begin, np.zeros(shape[0], np.int16), np.zeros(shape[1], np.int32), room)
        groups = [np.flatnonzero(begin == c).tolist() for c in range(n_classes)]
        before = total_loss(classes)
        assert before == naive.total([[items[r] for r in members] for members in groups])

        state = chance_from(number)
        chance = naive.Chance(int(state[0]))
        gain = weave_classes(rows, classes, near, k, l, 60, state)
        copies = [list(range(rows.copies[row], rows.copies[row + 1])) for row in range(n_rows)]
        names = [frozenset(row) for row in distinct.to_lists()]
        naive.weave(names, copies, marks, groups, near.tolist(), k, l, room, 60, chance)
        woven = [[int(r) for r in classes.member[classes.first[c] :][: classes.size[c]]] for c in range(n_classes)]
        assert woven == groups
        assert int(state[0]) == chance.state
        assert all(classes.of[r] == c for c, members in enumerate(groups) for r in members)
        assert before - gain == total_loss(classes) == naive.total([[items[r] for r in g] for g in groups])
        assert min(map(len, groups)) >= k
        n_changed += gain > 0
    assert n_changed > 50


def test_large_classes_are_cut_and_equal_ones_joined_without_loss() -> None:
    source = random.Random(2)
    for _ in range(300):
        block = random_block(source, 40)
        distinct, rows, order = as_rows(block)
        items, marks = records_of(distinct, rows, block.hidden, order)
        n, k, l = len(items), source.randint(1, 4), source.choice((1, 2))  # noqa: E741
        class_of = np.sort(np.array([source.randrange(3) for _ in range(n)]))
        class_of = np.unique(class_of, return_inverse=True)[1]
        if np.bincount(class_of).min() < k:
            continue

        def cost(numbers: np.ndarray, items: list[Record] = items) -> int:
            return naive.total([[items[r] for r in np.flatnonzero(numbers == c)] for c in set(numbers.tolist())])

        def diversity(numbers: np.ndarray, marks: list[Record] = marks) -> list[int]:
            return [
                len(frozenset().union(*(marks[r] for r in np.flatnonzero(numbers == c)))) for c in set(numbers.tolist())
            ]

        along = np.array(source.sample(range(distinct.n_records), distinct.n_records))
        finer = cut_large_classes(rows, (distinct.n_items, block.hidden.n_items), class_of, along, k, l)
        assert cost(finer) <= cost(class_of)
        assert np.bincount(finer).min() >= k
        if l > 1 and min(diversity(class_of)) >= l:
            assert min(diversity(finer)) >= l
        if l == 1:
            assert np.bincount(finer).max() < 2 * k
        joined = join_equal_classes(rows, distinct, finer)
        assert cost(joined) == cost(finer)
        centres = [naive.centre([items[r] for r in np.flatnonzero(joined == c)]) for c in set(joined.tolist())]
        assert len(set(centres)) == len(centres)


def test_neighbours() -> None:
    near = neighbours_in([np.array([2, 0, 3, 1])])
    assert near.tolist() == [[2, 3, 1, 1], [3, 2, 0, 0], [1, 0, 3, 3], [0, 1, 2, 2]]


def run(data: Transactions, k: int, seed: int = 0, **options: int) -> Replacement:
    return Weave(**options).run(data, KAnonymity(k), Context(seed=seed))


def baskets(n: int, seed: int = 0) -> Transactions:
    source = random.Random(seed)
    return Transactions.from_lists([[i for i in "abcdefghijkl" if source.random() < 0.4] for _ in range(n)])


def test_passes_never_raise_the_loss() -> None:
    data = baskets(600)
    losses = run(data, 5).details["loss_per_pass"]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
    assert run(data, 5, passes=0).details["loss"] == losses[0]


def test_blocks_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    data = baskets(900)
    whole = run(data, 3)
    monkeypatch.setattr(module, "BLOCK", 100)
    in_blocks = run(data, 3)
    assert sv.verify(in_blocks, KAnonymity(3)).holds
    assert in_blocks.transactions() != whole.transactions()
    assert in_blocks.details["loss"] < 1.15 * whole.details["loss"]
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert run(data, 3).transactions() == in_blocks.transactions()


def test_the_seed_decides() -> None:
    data = baskets(300)
    assert run(data, 4, seed=1).transactions() == run(data, 4, seed=1).transactions()
    assert run(data, 4, seed=1).transactions() != run(data, 4, seed=2).transactions()


def test_enough_copies_of_every_record_cost_nothing() -> None:
    rows = baskets(60).to_lists() * 7
    release = run(Transactions.from_lists(rows), 7)
    assert release.details["loss_per_pass"] == [0]
    assert release.transactions() == [set(row) for row in rows]


def test_copies_are_lent_where_one_is_missing() -> None:
    data = Transactions.from_lists([["a", "b"]] * 4 + [["a"]] * 20)
    release = run(data, 5)
    assert release.details["loss"] == 1  # one {a} becomes {a, b}; merging all would cost 4


@pytest.mark.slow  # other kernels are compiled for it
def test_very_large_classes_are_counted_right() -> None:
    data = Transactions.from_lists([["a", "b"], ["a"]] * 20_000)
    release = run(data, 15_000)
    assert release.details["loss"] < 20  # the cut is 109 records off
    assert release.details["classes"] == 2
    assert sv.verify(run(data, 30_000), KAnonymity(30_000)).holds


def test_diversity_is_kept_while_weaving(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(4)
    rows = [[*row, source.choice(["x", "y", "z", "-"])] for row in baskets(500).to_lists()]
    data = Transactions.from_lists(rows)
    for block in (8192, 64):
        monkeypatch.setattr(module, "BLOCK", block)
        for l in (2, 3):  # noqa: E741
            model = KAnonymity(3, ["x", "y", "z"], l)
            release = Weave().run(data, model, Context())
            assert sv.verify(release, model).holds
            losses = release.details["loss_per_pass"]
            assert losses == sorted(losses, reverse=True)
            assert losses[-1] < 0.9 * losses[0]


@pytest.mark.parametrize("options", [{"passes": -1}, {"orderings": 0}, {"tries": -1}])
def test_bad_options(options: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must be at least"):
        run(baskets(20), 2, **options)


def test_progress_and_cancelling() -> None:
    stages: list[str] = []
    Weave(passes=2).run(baskets(50), KAnonymity(2), Context(progress=lambda stage, share: stages.append(stage)))
    assert list(dict.fromkeys(stages)) == ["Gray sort", "cutting", "weaving, pass 1 of 2", "weaving, pass 2 of 2"]
    with pytest.raises(sv.CancelledError):
        Weave().run(baskets(50), KAnonymity(2), Context(cancelled=lambda: True))


def test_is_the_default() -> None:
    assert default_for("k-anonymity").name == "weave"


@pytest.mark.parametrize(("name", "percent", "pta_percent"), [("mushroom", 12.4, 15.8), ("chess", 11.0, 16.6)])
def test_dense_data(real_data: Callable[[str], Path], name: str, percent: float, pta_percent: float) -> None:
    data = sv.read(real_data(f"{name}.dat.gz"))
    release = run(data, 15)
    assert release.details["loss_ratio"] * 100 < percent < pta_percent
    assert sv.verify(release, KAnonymity(15)).holds


@pytest.mark.slow
@pytest.mark.parametrize("k", [5, 25])
@pytest.mark.parametrize("file", ["mushroom.dat.gz", "chess.dat.gz", "groceries.csv.gz", "BMS1.dat.gz", "BMS2.dat.gz"])
def test_beats_pta_clearly_everywhere(real_data: Callable[[str], Path], file: str, k: int) -> None:
    data = sv.read(real_data(file))
    ours = run(data, k, passes=3).details["loss"]
    theirs = min(PTA(bits=bits).run(data, KAnonymity(k), Context()).details["loss"] for bits in ("id", "frequency"))
    assert ours < 0.95 * theirs


def test_the_bits_of_a_class_are_those_that_half_its_members_have() -> None:
    source = random.Random(3)
    for size in (2, 3, 4, 5, 8, 13, 31, 63, 64, 90):
        records = [sorted(source.sample(range(150), source.randint(0, 30))) for _ in range(size + 3)]
        public = Transactions.from_lists([str(item) for item in row] for row in records)
        hidden = public.recode(np.full(public.n_items, -1), public.vocabulary)
        block = Block(0, public, hidden, np.zeros(len(records), dtype=np.int64))
        distinct, rows, _ = as_rows(block)
        class_of = np.repeat([0, 1], [size, 3])
        count = np.zeros((2, distinct.n_items), np.int16)
        classes = found_classes(rows, class_of, count, np.zeros((2, 0), np.int32), 4)
        n_rows = distinct.n_records
        row_bits = np.array([bits_of_row(rows, row) for row in range(n_rows)], dtype=np.uint64)
        for row in range(n_rows):
            own = rows.items[rows.indptr[row] : rows.indptr[row + 1]].tolist()
            assert int(row_bits[row]) == sum({1 << item % 64 for item in own})
        halves, nearly = find_bits(rows, classes, row_bits, 0, np.empty(6, dtype=np.uint64))
        having = [sum(int(row_bits[rows.of[member]]) >> bit & 1 for member in range(size)) for bit in range(64)]
        for found, least in ((halves, size / 2), (nearly, (size - 1) / 2)):
            expected = [size > 63 or number >= least for number in having]
            assert [bool(int(found) >> bit & 1) for bit in range(64)] == expected
